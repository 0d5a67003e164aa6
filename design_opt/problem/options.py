"""What a search may be told: its method, starts, seed, tolerance and iterations."""

from __future__ import annotations

from typing import Any

from design_opt.problem.errors import ProblemError
from jaxmodal.arm.arguments import is_finite, is_whole
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
        if not is_whole(value, least, most):
            raise ProblemError(
                f"{key} = {shown(value)}: must be a whole number from {least} to {most:,}."
            )
    if not is_finite(tolerance) or not 1e-12 <= tolerance <= 1e-1:
        raise ProblemError(f"tolerance = {shown(tolerance)}: must be between 1e-12 and 0.1.")
