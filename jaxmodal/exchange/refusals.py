"""Checks for arms that cannot be lumped, and conversion of planar arms to arms in space that stay in their plane."""

from __future__ import annotations

from typing import Any

import numpy as np

from jaxmodal.arm.arm import require_arm
from jaxmodal.arm.quantities import shown
from jaxmodal.arm.refusals import refuse_loads
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import is_traced
from jaxmodal.runtime.precision import require_x64
from jaxmodal.spatial.arms.arm import AnyArm, SpatialArm
from jaxmodal.spatial.arms.planar import kept_in_its_plane
from jaxmodal.spatial.arms.plausibility import why_still


def require_lumpable(arm: Any) -> None:
    """Raise an error for an arm that `lumped` does not support.

    Raises
    ------
    ArmError
        If the arm is not supported; the message names the value and the remedy.
    """
    require_x64()
    require_arm(arm)
    if is_traced(arm):
        raise ArmError(
            "arm: holds traced values, and a file holds numbers; give a concrete arm, outside of jax.jit, jax.vmap and "
            "jax.grad."
        )
    arm.to_dict()  # refuses values of many arms
    refuse_loads(arm, "an arm of rigid pieces")
    for number, link in enumerate(arm.links, start=1):
        _refuse_held(link, number)
        free = [s.stiffness_at for s in link.springs_of_joint if s.stiffness == 0.0]
        if free:
            raise ArmError(
                f"link{number}.{free[0]} = 0: leaves the arm free, and zero frequencies have no relative errors; "
                "give a stiffness above 0."
            )


def _refuse_held(link: Any, number: int) -> None:
    """Raise an error for supports and axial forces, which a fit could imitate only for some frequencies."""
    held = [(name, value) for name, value in link.springs_to_ground.items() if value]
    held += [("axial_force", link.axial_force)] if link.axial_force else []
    for name, value in held[:1]:
        raise ArmError(
            f"link{number}.{name} = {shown(value)}: rigid pieces have neither supports nor axial "
            "forces; leave it out."
        )


def arm_in_space(arm: AnyArm) -> tuple[SpatialArm, bool]:
    """Return an arm as an arm in space, and True if it is planar; errors as of `require_lumpable`."""
    made = kept_in_its_plane(arm)
    _require_separate_springs(made)
    return made, made is not arm


def _require_separate_springs(arm: SpatialArm) -> None:
    """Refuse an elastic base that couples its directions, and an arm without frequencies."""
    if arm.base_stiffness is not None:
        matrix = np.array(arm.base_stiffness.rows(), float)
        if np.any(matrix != np.diag(np.diag(matrix))):
            raise ArmError(
                "base_stiffness: has off-diagonal entries, and springs of joints are not coupled; give the six "
                "values of a diagonal."
            )
    if (still := why_still(arm)) is not None:
        raise ArmError(
            f"arm: {still.reason}, so there are no frequencies to hand on; {still.remedy}."
        )
