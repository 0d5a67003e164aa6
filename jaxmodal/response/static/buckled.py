"""Detection of driven arms that static forces buckle: their equations have a solution, but no steady response."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import numpy as np
from jax import lax

from jaxmodal.arithmetic.operations import Arithmetic
from jaxmodal.arm.arm import Arm
from jaxmodal.arm.columns import columns_of, unpacked
from jaxmodal.arm.loaded import under_forces
from jaxmodal.arm.serial_arms import SerialArm
from jaxmodal.batches.variants import buckled
from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.dynamic_stiffness.evaluation import Model
from jaxmodal.dynamic_stiffness.rigid_motions import number_of_zero_modes
from jaxmodal.frequencies.models import PlanarModel, TracedModel
from jaxmodal.frequencies.stability import number_unstable
from jaxmodal.runtime.errors import UncertifiedError
from jaxmodal.runtime.namespace import Array, is_traced, to_host, xp
from jaxmodal.runtime.statuses import Status
from jaxmodal.statics.beam_arrays import BeamArrays


def require_stable(arm: SerialArm, model: Model) -> None:
    """Refuse a concrete arm, with its ``model``, that static forces buckle.

    Raises
    ------
    UncertifiedError
    """
    if model.unstable:
        raise buckled_error(arm, "steady response")


def buckled_error(arm: SerialArm, what: str) -> UncertifiedError:
    """Return the error for a result that a buckled arm does not have."""
    name = f"arm {arm.name!r}" if arm.name else "the arm"
    return UncertifiedError(
        f"{name} has no {what}, for {Status.unstable.cause}; {Status.unstable.remedy}."
    )


def buckled_arms(
    arm: Arm,
    flags: Theory,
    of: PlanarModel | TracedModel | tuple[Sequence[str], np.ndarray],
    invalid: Array,
) -> Array:
    """Return True, shape (cells,), for the valid arms that static forces buckle.

    The count is that of `natural_frequencies`. ``of`` is as for `systems.system_of`.
    """
    if not under_forces(arm):
        return xp.zeros_like(invalid)
    if isinstance(of, tuple):
        packed = columns_of(arm, *of)
        beams = unpacked(packed.packed)
        with np.errstate(all="ignore"):
            free = np.asarray(number_of_zero_modes(beams))
            return np.asarray(buckled(packed, flags, free)) & ~invalid
    known, broken = to_host(lax.stop_gradient((of.beams, invalid)))
    if is_traced((known, broken)):
        return _buckled_when_traced(known, flags) & ~broken
    return np.array([PlanarModel(known, flags, bool(broken[0])).unstable])


@jax.jit
def _buckled_when_traced(beams: BeamArrays, flags: Theory) -> Array:
    """Return True, shape (1,), if static forces buckle the arm.

    Counted in float64, which may misjudge an arm close to its critical load.
    """
    free = number_of_zero_modes(beams)
    found: Array = number_unstable(beams, flags, free, Arithmetic.float64)[None] > 0
    return found
