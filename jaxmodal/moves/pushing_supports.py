"""Modal forces of the supports of an arm, when its joints move it away from where they are unstrained.

They are unstrained in the posture of the arm itself. One along a direction e takes ``e . (p - p0)`` of the tip's place,
one about it in space ``e . phi`` of the rotation vector of the tip's axes, in the plane the angle.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from jaxmodal.arm.arm import Arm
from jaxmodal.arm.arrays import beam_values
from jaxmodal.modes.planar_shapes import ModeShapes
from jaxmodal.modes.spatial_shapes import SpatialModeShapes
from jaxmodal.moves.planar_inertia import planar_tips, tip_places
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.statics.beam_arrays import SUPPORTS

Floats = NDArray[np.float64]


def support_stiffnesses(link: Any) -> Iterator[tuple[str, float]]:
    """The springs between the tip of a link of either kind and the ground: their addresses there, and stiffnesses."""
    for name in SUPPORTS:
        if getattr(link, name, None) is not None:
            yield name, float(getattr(link, name))
    for number, support in enumerate(getattr(link, "supports", ()), start=1):
        yield f"support{number}.stiffness", float(support.stiffness)


def is_supported(arm: Arm | SpatialArm) -> bool:
    """Whether a tip stands on a spring."""
    return any(stiffness > 0.0 for link in arm.links for _, stiffness in support_stiffnesses(link))


def planar_support_forces(arm: Arm, shapes: ModeShapes, unstrained: Arm) -> Floats:
    """Modal forces (K,) of the supports in the posture of ``arm``, whose modes are ``shapes``."""
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
    """Modal forces (K,) of the supports in the posture of ``arm``, whose modes are ``shapes``."""
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
