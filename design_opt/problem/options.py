"""Options of a search: method, starts, seed, tolerance and iterations."""

from __future__ import annotations

import dataclasses
from typing import Any

from design_opt.problem.errors import ProblemError
from jaxmodal.arm.arguments import is_finite, is_whole
from jaxmodal.arm.quantities import shown
from jaxmodal.runtime.errors import suggestion

METHODS = ("slsqp", "augmented_lagrangian")
#: most starts of a search, and most iterations of a start
STARTS, ITERATIONS = 10_000, 1_000_000


@dataclasses.dataclass(frozen=True)
class SolverOptions:
    """Options of a search: the table ``[solver]`` of a problem file, and arguments of `optimise`.

    Raises
    ------
    ProblemError
        If an option is invalid; the message names it, its value and what is allowed.
    """

    method: str = "slsqp"
    starts: int = 1
    seed: int = 0
    tolerance: float = 1e-6
    max_iterations: int = 300

    def __post_init__(self) -> None:
        method, tolerance = self.method, self.tolerance
        if method not in METHODS:
            raise ProblemError(
                f"method = {shown(method)} is unknown; choose one of {', '.join(map(repr, METHODS))}."
                f"{suggestion(str(method)[:100], METHODS)}"
            )
        ranges = {
            "starts": (self.starts, 1, STARTS),
            "max_iterations": (self.max_iterations, 1, ITERATIONS),
            "seed": (self.seed, 0, 2**63 - 1),
        }
        for key, (value, least, most) in ranges.items():
            if not is_whole(value, least, most):
                raise ProblemError(
                    f"{key} = {shown(value)}: must be a whole number from {least} to {most:,}."
                )
        if not is_finite(tolerance) or not 1e-12 <= tolerance <= 1e-1:
            raise ProblemError(f"tolerance = {shown(tolerance)}: must be between 1e-12 and 0.1.")

    @property
    def keywords(self) -> dict[str, Any]:
        """The options as arguments of `optimise`, by name."""
        return dataclasses.asdict(self)
