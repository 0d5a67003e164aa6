"""Headings of written equations in every language: kind, arm, and order of the coordinates."""

from __future__ import annotations

from jaxmodal import __version__
from jaxmodal.symbolic.equations import WrittenEquations
from jaxmodal.symbolic.schedule import operation_counts


def arguments_of(equations: WrittenEquations) -> list[tuple[str, tuple[str, ...]]]:
    """Return the arguments q and rate, and acceleration if tau is computed, with the names of their entries."""
    found = [("q", equations.coordinates), ("rate", equations.rates)]
    if equations.accelerations:
        found.append(("acceleration", equations.accelerations))
    return found


def heading(equations: WrittenEquations, form: str) -> list[str]:
    """Return the lines of a heading; the first is a title."""
    posed = dict(equations.posed)
    integrals = posed.pop("integrals")
    choices = ", ".join(f"{name} = {value!r}" for name, value in posed.items())
    counts = operation_counts(equations)
    lines = [
        f"Equations of motion of an arm with flexible links, written by jaxmodal {__version__} for {form}.",
        "B(q) q'' + h(q, q') + K q + D q' + c(q') + g(q) = Q u, in SI units and radians.",
        f"Posed with {choices}; integrals {integrals}.",
        f"Operations: {counts.additions} additions, {counts.multiplications} multiplications, "
        f"{counts.functions} functions.",
        "",
        f"q = ({', '.join(equations.coordinates)})",
        *_rates(equations),
        "",
    ]
    for name, meaning in equations.meanings.items():
        shape = " by ".join(str(size) for size in equations.shapes[name])
        lines.append(f"{name}: {meaning}, {shape}")
    return lines


def _rates(equations: WrittenEquations) -> list[str]:
    """Return the lines on rates and accelerations; those of a free base are not derivatives of coordinates."""
    if len(equations.rates) == len(equations.coordinates):
        also = ", acceleration their accelerations" if equations.accelerations else ""
        return [f"rate holds their rates{also}."]
    own = ", ".join(equations.rates[-6:])
    lines = [
        f"rate holds their rates but for the pose of the base, and last ({own}), in the axes of the base.",
        "The quaternion must have length 1.",
    ]
    if equations.accelerations:
        lines.insert(1, "acceleration holds the derivatives of rate.")
    return lines
