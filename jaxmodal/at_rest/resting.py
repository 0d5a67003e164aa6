"""The choice between planar arms and arms in space in equilibrium under dead loads."""

from __future__ import annotations

from jaxmodal.arm.arm import require_arm
from jaxmodal.at_rest.in_space import SpatialAtRest
from jaxmodal.at_rest.loads import Asked
from jaxmodal.at_rest.planar import PlanarAtRest
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.spatial.arms.arm import AnyArm, SpatialArm


def resting(
    arm: AnyArm, theory: TheoryName, what: str, asked: Asked, or_axial: bool = False
) -> PlanarAtRest | SpatialAtRest:
    """Return an arm in equilibrium under loads and its own.

    With ``or_axial`` an axial force in a link is load enough; ``what`` names the caller in messages.

    Raises
    ------
    ArmError
        If it is not one concrete arm, does not suit the theory, has no load, or is not held against its loads.
    """
    require_arm(arm)
    if isinstance(arm, SpatialArm):
        return SpatialAtRest.of(arm, theory, what, asked, or_axial)
    return PlanarAtRest.of(arm, theory, what, asked, or_axial)
