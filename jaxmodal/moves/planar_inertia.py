"""Inertia forces of a rigid planar arm moved by its joints, at all points with mass.

The points are those of `jaxmodal.eigenspaces.modal_mass.mass_points`, link by link, in the axes of each link.
"""

from __future__ import annotations

import numpy as np

from jaxmodal.arm.arm import Arm
from jaxmodal.arm.arrays import beam_values
from jaxmodal.eigenspaces.modal_mass import quadrature
from jaxmodal.modes.planar_shapes import ModeShapes
from jaxmodal.runtime.array_types import Complexes, Floats
from jaxmodal.statics.beam_arrays import BeamArrays
from jaxmodal.statics.link_parts import Offset


def planar_inertia(arm: Arm, shapes: ModeShapes, rates: Floats, changes: Floats) -> Floats:
    """Return masses times accelerations, (C, D), for C pairs of joint rates and accelerations, (C, n) each."""
    beams, count = beam_values(arm), rates.shape[0]
    rows, masses = len(arm.links), np.asarray(shapes.masses)
    joints = np.zeros((rows, rates.shape[1]))
    joints[np.array(arm.joints) - 1, np.arange(rates.shape[1])] = 1.0
    turns = np.cumsum(joints, axis=0)
    rate, change = rates @ turns.T, changes @ turns.T  # of each link
    absolute = np.exp(1j * np.cumsum(np.asarray(beams.joint_angle)))
    length = np.asarray(beams.length)
    start, tip = _complex(beams.start), _complex(beams.reach)
    # acceleration per distance from the joint, in link axes; and the acceleration of the joint
    factor = 1j * change - rate**2
    own = np.cumsum(factor * tip * absolute, axis=1) - factor * tip * absolute
    of_joint = own * absolute.conj()
    bodies = _complex(beams.tip.centre())
    points = _points_per_link(beams, masses, rows)
    along = start[:, None] + quadrature(points)[0] * length[:, None]
    nodes = of_joint[:, :, None] + factor[:, :, None] * along
    parts = [_with_turn(nodes, change[:, :, None])]
    parts.append(_with_turn(of_joint + factor * (tip + bodies), change))
    if beams.hub is not None:
        parts.append(_with_turn(of_joint + factor * _complex(beams.hub.centre()), change))
    if beams.rotor is not None:
        gears = np.array([(link.moving_rotor or (0.0, 0.0))[1] for link in arm.links], np.float64)
        before = np.concatenate([np.zeros((count, 1)), change[:, :-1]], axis=1)
        parts.append(before + gears * (changes @ joints.T))
    return np.concatenate([part.reshape(count, -1) for part in parts], axis=1) * masses


def planar_tips(arm: Arm, shapes: ModeShapes) -> Floats:
    """Return mode shapes at the tips of the links, (K, n, 2), m in base axes; taken at the last station."""
    beams = beam_values(arm)
    offset = _complex(beams.end)
    turn = np.exp(1j * np.cumsum(np.asarray(beams.joint_angle)))
    further = 1j * np.asarray(shapes.psi)[:, :, -1] * offset * turn
    moved: Floats = np.asarray(shapes.displacement)[:, :, -1]
    return moved + np.stack([further.real, further.imag], axis=-1)


def tip_places(arm: Arm) -> tuple[Complexes, Floats]:
    """Places of the tips of the rigid links, x + i y in m, and the angles of the links, rad, (n,) each."""
    beams = beam_values(arm)
    angles = np.cumsum(np.asarray(beams.joint_angle))
    tip = _complex(beams.reach)
    return np.cumsum(tip * np.exp(1j * angles)), angles


def _complex(place: Offset) -> Complexes:
    x, y = map(np.asarray, place)
    return np.asarray(x + 1j * y)


def _points_per_link(beams: BeamArrays, masses: Floats, rows: int) -> int:
    lumped = 3 + 3 * (beams.hub is not None) + (beams.rotor is not None)
    return (masses.size // rows - lumped) // 3


def _with_turn(moved: Complexes, turned: Floats) -> Floats:
    return np.stack([moved.real, moved.imag, np.broadcast_to(turned, moved.shape)], axis=-1)
