"""Names of coordinates and of integrals, in code and in formulas."""

from __future__ import annotations

import numpy as np

from jaxmodal.dynamics.model import FlexibleModel

#: letters of the modal coordinates, in formulas
_LETTERS = {
    "mode": r"\delta",
    "stretch": "u",
    "torsion": r"\varphi",
    "bending_xy": "v",
    "bending_xz": "w",
    "spring": r"\sigma",
    "displacement": "s",
    "rotation": r"\alpha",
}


def parted(number: int) -> str:
    """Return the comma between two indices where they would run together, else an empty string."""
    return "," if number > 9 else ""


def dotted(latex: str, dots: str) -> str:
    """Return a letter with its index, with dots above the letter alone."""
    letter, _, index = latex.partition("_")
    return dots.format(letter) + (f"_{index}" if index else "")


def owner_of(model: FlexibleModel, place: int) -> tuple[int, int | None]:
    """Return the link (or piece) and the mode of a coordinate; for a joint or motor, the joint and None."""
    n = model.num_links
    if place < n:
        return place, None
    found = np.argwhere(model.layout.places == place)
    if len(found):
        link = int(found[0, 0])
        return link, place - int(model.layout.places[link].min())
    return model.layout.driven.tolist().index(place), None


def coordinate_names(model: FlexibleModel) -> list[tuple[str, str, str, str]]:
    """Return name in code, name in formulas, meaning and unit of each coordinate, except those of a free base."""
    names = []
    turns = model.layout.turns
    for place in range(model.layout.size):
        owner, mode = owner_of(model, place)
        n = owner + 1
        if mode is not None:
            names.append(_modal_name(model.layout.names[place]))
        elif place >= model.num_links:
            what, unit = ("angle", "rad") if turns[owner] else ("position", "m")
            meaning = f"{what} of the motor of joint {n} behind its gear"
            names.append((f"motor_{n}", rf"\chi_{{{n}}}", meaning, unit))
        elif turns[place]:
            names.append((f"theta_{n}", rf"\theta_{{{n}}}", f"angle of joint {n}", "rad"))
        else:
            names.append((f"slide_{n}", rf"d_{{{n}}}", f"position of joint {n}", "m"))
    return names


def _modal_name(name: str) -> tuple[str, str, str, str]:
    """Return the same for a modal coordinate, from its name in the layout."""
    of, _, own = name.partition(".")
    kind, number = own.rstrip("0123456789"), own.lstrip("abcdefghijklmnopqrstuvwxyz_")
    n = of.removeprefix("link")
    if of == "base":
        shown, meaning = f"{_LETTERS[kind]}_{{{number}}}", f"{kind} {number} of the base"
        return (
            f"base_{kind}_{number}",
            shown,
            meaning,
            "m" if kind == "displacement" else "rad",
        )
    shown = f"{_LETTERS[kind]}_{{{n}{parted(int(n))}{number}}}"
    if kind == "mode":
        return f"delta_{n}_{number}", shown, f"modal coordinate {number} of link {n}", "unit"
    what = "the joint of link" if kind == "spring" else "link"
    meaning = f"coordinate {number} of {kind} of {what} {n}".replace("_", " in ")
    return f"{kind}_{n}_{number}", shown, meaning, "unit"


def integral_name(
    n: int, m: int, a: int, b: int, marks: list[tuple[str, str]]
) -> tuple[str, str, str, str]:
    """Return name, formula, meaning and unit of the scalar product of functions a <= b of link n."""
    (first, shown), (second, other) = marks[a], marks[b]

    def shape(k: int) -> bool:
        return 2 <= k < 2 + m

    integrand = f"{shown}^2" if a == b and a > 0 else " ".join(filter(None, (shown, other)))
    meaning = rf"$\int {integrand}\,\mathrm{{d}}m$ of link {n}"
    index = f"{n}{parted(n)}"
    if (a, b) == (0, 0):
        return f"m_{n}", f"m_{{{n}}}", f"mass of link {n} and all that rides on it", "kg"
    if (a, b) == (0, 1):
        return f"md_{n}", f"(md)_{{{n}}}", f"first moment of link {n}: {meaning}", "kg m"
    if (a, b) == (1, 1):
        return f"Jo_{n}", f"J_{{o{n}}}", f"inertia of link {n} about its joint: {meaning}", "kg m^2"
    if a == 0 and shape(b):
        return f"v_{n}_{second}", f"v_{{{index}{second}}}", meaning, "kg m per unit"
    if a == 1 and shape(b):
        return f"w_{n}_{second}", f"w_{{{index}{second}}}", meaning, "kg m^2 per unit"
    if shape(a) and shape(b):
        return (
            f"z_{n}_{first}_{second}",
            f"z_{{{index}{first}{second}}}",
            meaning,
            "kg m^2 per unit^2",
        )
    letter, order = ("gamma", "2") if a < 2 else (("lambda", "3") if shape(a) else ("mu", "4"))
    unit = {"1": "kg m", "x": "kg m^2"}.get(first, "kg m^2")
    return (
        f"{letter}_{n}_{first}_{second}",
        rf"\{letter}_{{{index}{first},{second}}}",
        meaning,
        f"{unit} per unit^{order}",
    )
