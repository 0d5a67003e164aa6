"""Modal forces of the supports of an arm in a posture in which they are strained.

The supports are unstrained in the posture of the arm itself. A support along a direction e is strained by ``e . (p -
p0)`` of the tip's position; one about e in space by ``e . phi``, where phi is the rotation vector of the tip's axes, in
the plane by the angle. The force of the first is along e. The moment of the second is along the gradient of ``e . phi``
by small rotations, which is e where phi is small or parallel to e.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from jaxmodal.arm.arm import Arm
from jaxmodal.arm.arrays import beam_values
from jaxmodal.modes.planar_shapes import ModeShapes
from jaxmodal.modes.spatial_shapes import SpatialModeShapes
from jaxmodal.moves.planar_inertia import planar_tips, tip_places
from jaxmodal.moves.spatial_inertia import spatial_tips
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.arms.arm import AnyArm, SpatialArm
from jaxmodal.statics.beam_arrays import SUPPORTS

#: half of an angle of rotation, rad, whose square is negligible beside 1
_SMALL = 1e-4


def is_supported(arm: AnyArm) -> bool:
    """Return whether a tip has a support of nonzero stiffness."""
    return any(
        stiffness > 0.0 for link in arm.links for stiffness in link.springs_to_ground.values()
    )


def refuse_half_turns(arm: Any, postures: Floats) -> None:
    """Raise an error if a tip with a support of kind "rotation" passes half a turn along joint angles (P, n).

    There the rotation vector changes its sign, and with it the moment of the support. Planar arms have no such support.

    Raises
    ------
    ArmError
        With the support and the posture.
    """
    held = {
        k: place
        for k, link in enumerate(arm.links)
        for place, support in enumerate(getattr(link, "supports", ()), start=1)
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


def planar_support_forces(arm: Arm, shapes: ModeShapes, unstrained: Arm) -> Floats:
    """Return the modal forces (K,) of the supports in the posture of ``arm``, whose modes are ``shapes``."""
    tips, turned = planar_tips(arm, shapes), np.asarray(shapes.psi)[:, :, -1]
    (here, angles), (before, angles_before) = map(tip_places, (arm, unstrained))
    strain = np.stack([(here - before).real, (here - before).imag, angles - angles_before])
    own = np.stack([tips[..., 0], tips[..., 1], turned])
    none = np.zeros(len(arm.links))
    beams = beam_values(arm)
    given = (getattr(beams, name) for name in SUPPORTS)
    stiffness = np.stack([none if k is None else np.asarray(k) for k in given])
    found: Floats = -np.einsum("dn,dn,dkn->k", stiffness, strain, own)
    return found


def spatial_support_forces(
    arm: SpatialArm, shapes: SpatialModeShapes, unstrained: SpatialArm
) -> Floats:
    """Return the modal forces (K,) of the supports in the posture of ``arm``, whose modes are ``shapes``."""
    tips, turned = spatial_tips(arm, shapes), np.asarray(shapes.rotation)[:, :, -1]
    found = np.zeros(len(tips))
    if not is_supported(arm):
        return found
    places = zip(arm.links, arm.frames(), unstrained.frames(), strict=True)
    for k, (link, here, before) in enumerate(places):
        way = here.tip - before.tip
        turn = Rotation.from_matrix(here.axes @ before.axes.T).as_rotvec()
        for support in link.supports:
            direction = np.array([float(x) for x in support.direction])
            direction /= np.linalg.norm(direction)
            if support.kind == "rotation":
                strain, given = direction @ turn, turned[:, k] @ _turning(direction, turn)
            else:
                strain, given = direction @ way, tips[:, k] @ direction
            found -= float(support.stiffness) * strain * given
    return found


def _turning(direction: Floats, turn: Floats) -> Floats:
    """Return the gradient of ``direction . turn`` (a rotation vector) by small rotations about the ground's axes."""
    half = 0.5 * float(np.linalg.norm(turn))
    across = np.cross(turn, direction)
    share = (1.0 - half / np.tan(half)) / (4.0 * half**2) if half > _SMALL else 1.0 / 12.0
    found: Floats = direction + 0.5 * across + share * np.cross(turn, across)
    return found
