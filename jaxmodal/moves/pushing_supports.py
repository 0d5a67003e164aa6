"""Modal forces of the supports of an arm in space in a posture in which they are strained.

The supports are unstrained in the posture of the arm itself. A support along a direction e is strained by ``e . (p -
p0)`` of the tip's position, one about e by ``e . phi``, where phi is the rotation vector of the tip's axes.
The force of the first is along e. The moment of the second is along the gradient of ``e . phi`` by small rotations,
which is e where phi is small or parallel to e.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from jaxmodal.modes.spatial_shapes import SpatialModeShapes
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.arms.arm import SpatialArm

Floats = NDArray[np.float64]

#: half of an angle of rotation, rad, whose square is negligible beside 1
_SMALL = 1e-4


def is_supported(arm: SpatialArm) -> bool:
    """Return whether a tip has a support of nonzero stiffness."""
    return any(float(s.stiffness) > 0.0 for link in arm.links for s in link.supports)


def refuse_half_turns(arm: SpatialArm, postures: Floats) -> None:
    """Raise an error if a tip with a support of kind "rotation" passes half a turn along joint angles (P, n).

    There the rotation vector changes its sign, and with it the moment of the support.

    Raises
    ------
    ArmError
        With the support and the posture.
    """
    held = {
        k: place
        for k, link in enumerate(arm.links)
        for place, support in enumerate(link.supports, start=1)
        if support.kind == "rotation" and float(support.stiffness) > 0.0
    }
    if not held:
        return
    home, before = arm.frames(), dict[int, Floats]()
    for angles in postures:
        frames = arm.with_values(
            {f"link{k}.joint_angle": x for k, x in zip(arm.joints, angles.tolist(), strict=True)}
        ).frames()
        for k, place in held.items():
            turn = Rotation.from_matrix(frames[k].axes @ home[k].axes.T).as_rotvec()
            if np.linalg.norm(turn - before.get(k, turn)) > np.pi:
                raise ArmError(
                    f"link{k + 1}.support{place}: the move turns the tip by more than half a turn from where this "
                    f"support of kind 'rotation' is unstrained, between postures near {np.degrees(angles).round(1)} "
                    "degrees; must be less, or give the arm another posture or no such support."
                )
            before[k] = turn


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
            if support.kind == "rotation":
                strain, given = direction @ turn, turned[:, k] @ _turning(direction, turn)
            else:
                strain, given = direction @ way, at_tip @ direction
            found -= float(support.stiffness) * strain * given
    return found


def _turning(direction: Floats, turn: Floats) -> Floats:
    """Return the gradient of ``direction . turn`` (a rotation vector) by small rotations about the ground's axes."""
    half = 0.5 * float(np.linalg.norm(turn))
    across = np.cross(turn, direction)
    share = (1.0 - half / np.tan(half)) / (4.0 * half**2) if half > _SMALL else 1.0 / 12.0
    found: Floats = direction + 0.5 * across + share * np.cross(turn, across)
    return found
