"""Modal forces of the supports of an arm in space in a posture in which they are strained.

The supports are unstrained in the posture of the arm itself. A support along a direction e is strained by ``e . (p -
p0)`` of the tip's position, one about e by ``e . phi``, where phi is the rotation vector of the tip's axes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from jaxmodal.modes.spatial_shapes import SpatialModeShapes
from jaxmodal.spatial.arms.arm import SpatialArm

Floats = NDArray[np.float64]


def is_supported(arm: SpatialArm) -> bool:
    """Return whether a tip has a support of nonzero stiffness."""
    return any(float(s.stiffness) > 0.0 for link in arm.links for s in link.supports)


def support_forces(arm: SpatialArm, shapes: SpatialModeShapes, unstrained: SpatialArm) -> Floats:
    """Return the modal forces (K,) of the supports in the posture of ``arm``, whose modes are ``shapes``."""
    moved, turned = (np.asarray(x)[:, :, -1] for x in (shapes.displacement, shapes.rotation))
    found = np.zeros(moved.shape[0])
    if not is_supported(arm):
        return found
    places = zip(arm.links, arm.frames(), unstrained.frames(), strict=True)
    for k, (link, here, before) in enumerate(places):
        at_tip = moved[:, k] + np.cross(turned[:, k], here.tip - here.end)
        way = here.tip - before.tip
        turn = Rotation.from_matrix(here.axes @ before.axes.T).as_rotvec()
        for support in link.supports:
            direction = np.array([float(x) for x in support.direction])
            direction /= np.linalg.norm(direction)
            turning = support.kind == "rotation"
            strain, own = (turn, turned[:, k]) if turning else (way, at_tip)
            found -= float(support.stiffness) * (direction @ strain) * (own @ direction)
    return found
