"""The choice between planar arms and arms in space in equilibrium under dead loads."""

from __future__ import annotations

from typing import Any

from jaxmodal.arm.kinds import ByKind
from jaxmodal.at_rest.in_space import SpatialAtRest
from jaxmodal.at_rest.loads import Asked
from jaxmodal.at_rest.planar import PlanarAtRest
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.spatial.arms.arm import AnyArm

_AT_REST: ByKind[Any] = ByKind(PlanarAtRest, SpatialAtRest)


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
    found: PlanarAtRest | SpatialAtRest = _AT_REST.of(arm).of(arm, theory, what, asked, or_axial)
    return found
