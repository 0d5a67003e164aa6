"""Functions of the user in a problem: which they are, and which variables have an effect without them."""

from __future__ import annotations

from typing import Any

from design_opt.problem.designs import OWN
from design_opt.problem.problem import Problem
from jaxmodal.arm.addresses import resolve_address


def functions(problem: Problem) -> list[Any]:
    """Return the user-defined functions of objectives, constraints and variables."""
    of_parts = [part.function for part in problem.parts if hasattr(part, "function")]
    return [*of_parts, *(f for v in problem.space.variables for f in v.maps.values())]


def idle_variables(problem: Problem) -> list[str]:
    """Return the names of variables that are joint positions alone, where all sets in use have positions of their own.

    Parts of the user's own may read any value, so that every variable has an effect.
    """
    own_set = OWN in problem.used_sets
    if own_set or any(map(_is_of_the_user, problem.parts)):
        return []
    arm = problem.arm
    positions = {f"link{i}.{arm.position_of(i)}" for i in arm.joints}
    return [
        variable.name
        for variable in problem.space.variables
        if positions.issuperset(
            single
            for address in (*variable.addresses, *variable.follow, *variable.maps)
            for single in resolve_address(arm, address)
        )
    ]


def _is_of_the_user(part: Any) -> bool:
    package = __name__.partition(".")[0]
    return hasattr(part, "function") or type(part).__module__.partition(".")[0] != package
