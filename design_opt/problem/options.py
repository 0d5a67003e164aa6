"""What a search may be told: its method, starts, seed, tolerance and iterations."""

from __future__ import annotations

from typing import Any

from design_opt.problem.errors import ProblemError
from jaxmodal.arm.quantities import shown
from jaxmodal.runtime.errors import suggestion

METHODS = ("slsqp", "augmented_lagrangian")
#: starts of a search, and iterations of a start, at most
STARTS, ITERATIONS = 10_000, 1_000_000


def check_options(method: Any, starts: Any, seed: Any, tolerance: Any, max_iterations: Any) -> None:
    """Refuse what a search cannot be told.

    Raises
    ------
    ProblemError
        The message names the option, its value and what is allowed.
    """
    if method not in METHODS:
        raise ProblemError(
            f"method = {shown(method)} is unknown; choose one of {', '.join(map(repr, METHODS))}."
            f"{suggestion(str(method)[:100], METHODS)}"
        )
    ranges = {
        "starts": (starts, 1, STARTS),
        "max_iterations": (max_iterations, 1, ITERATIONS),
        "seed": (seed, 0, 2**63 - 1),
    }
    for key, (value, least, most) in ranges.items():
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not whole or not least <= value <= most:
            raise ProblemError(
                f"{key} = {shown(value)}: must be a whole number from {least} to {most:,}."
            )
    number = isinstance(tolerance, (int, float)) and not isinstance(tolerance, bool)
    if not number or not 1e-12 <= tolerance <= 1e-1:
        raise ProblemError(f"tolerance = {shown(tolerance)}: must be between 1e-12 and 0.1.")
