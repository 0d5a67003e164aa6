"""Judgement of the stability of an arm at rest, and of how near its loads are to the critical ones."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence

from jaxmodal.runtime.errors import ArmError, LargeDeflectionWarning
from jaxmodal.statics.load_factors import Loaded, factors

#: loads are small if the critical ones are more than this times as large; second-order theory then adds at most some 10
#: % to deflections
_SMALL_LOADS = 10.0


def judge_stability(problem: Loaded) -> None:
    """Refuse loads beyond the critical ones, and warn of loads that are not small compared with them."""
    if problem.never():
        return
    if not problem.unstable(1.0):
        if not problem.unstable(_SMALL_LOADS) or problem.moves_without_strain():
            return
    elif problem.moves_without_strain():
        raise ArmError(
            "the loads push the arm out of this posture, in which no spring holds it: this equilibrium is unstable; "
            "give its free joints stiffness, or support a tip beyond them."
        )
    factor = next(factors(problem)).value
    if not math.isfinite(factor):
        raise ArmError(
            "the loads are so far beyond what the arm can bear that no critical load was found; check them and their "
            "units (m/s^2, N, N m)."
        )
    if problem.unstable(1.0):
        raise ArmError(
            f"the loads buckle the arm: its critical load is {factor:.12g} times them; "
            "lower them, or stiffen or support the arm (jaxmodal.buckling finds the factor)."
        )
    warnings.warn(
        f"the critical load is {factor:.12g} times these loads, which are not small in comparison: the arm "
        f"deflects more than by linear theory, by some {100.0 / (factor - 1.0):.2g} % (jaxmodal.buckling finds "
        f"the factor{problem.exact}).",
        LargeDeflectionWarning,
        stacklevel=3,
    )


def rigid_error() -> ArmError:
    """Return the error for an arm that is rigid throughout."""
    return ArmError(
        "the arm is rigid throughout: nothing in it can buckle; make a link or a joint elastic."
    )


def mechanism_error(free: Sequence[str]) -> ArmError:
    """Return the error for an arm that moves without strain when it has no load; ``free`` are its free springs."""
    what = f" ({', '.join(free)} = 0)" if free else ""
    return ArmError(
        f"the arm moves without strain{what}, a mechanism without load; give its free joints stiffness, or "
        "support a tip beyond them."
    )
