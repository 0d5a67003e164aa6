"""What ports of an arm in space read: of the motion of a section of one link, or of the spring about a joint's axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaxmodal.response.driven.ports import RELATIVE, Port
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.modes.motions import Frame
from jaxmodal.spatial.parts.geometry import Position

Floats = NDArray[np.float64]


class Reading(NamedTuple):
    """What a port reads; as an input its load acts there by the same shares.

    Attributes
    ----------
    link : int
        Index of the link from 0.
    station : float
        x/L of the section; 0 of a rigid link.
    row : array, shape (6,)
        Shares of the section's displacements and rotations, in its axes.
    give : float
        Share of the angle by which the spring about the axis of the link's joint gives; 0 of a rigid joint.
    carried : array, shape (6,)
        Shares of the motions of the rigid arm with the place of joint 1, along x, y, z of the ground and about them.
    """

    link: int
    station: float
    row: Floats
    give: float
    carried: Floats


def reading_of(each: Port, arm: SpatialArm, frame: Frame) -> Reading:
    """What a port reads that is not of the base; ``frame`` is that of its link."""
    index = arm.num_links - 1 if each.link is None else each.link - 1
    link, zero = arm.links[index], np.zeros(6)
    if each.direction == RELATIVE:  # a rigid joint has no spring that a torque could turn
        return Reading(index, 0.0, zero, float(not np.isinf(link.joint_stiffness)), zero)
    given = {"joint": 0.0, "tip": 1.0, "payload": 1.0}.get(each.place, each.station)
    assert given is not None
    from_end, station = _from_end(each, arm, index), 0.0 if link.rigid else given
    if link.rigid:
        from_end = from_end + np.array([given * link.length, 0.0, 0.0])
    offset = frame.axes @ from_end
    at = frame.start + station * (frame.end - frame.start)
    row = _shares(each, frame.axes, offset)
    seen = np.concatenate([row[:3] @ frame.section, row[3:] @ frame.section])
    return Reading(index, station, seen, 0.0, _shares(each, frame.axes, at + offset))


def motion_of_base(each: Port, frame: Frame) -> Floats:
    """The motion (6,) of the place of joint 1, in the axes of the ground, that a port of the base stands for.

    ``frame`` is that of link 1.
    """
    return _shares(each, frame.axes, np.zeros(3))


def carried_in_space(arm: SpatialArm, inputs: Sequence[Port], outputs: Sequence[Port]) -> Floats:
    """Motions of the outputs that the rigid arm makes with its base, shape (outputs, inputs); 0 for forces."""
    frames = arm.frames()
    at_base = [motion_of_base(x, frames[0]) if x.place == "base" else np.zeros(6) for x in inputs]
    places = [arm.num_links - 1 if x.link is None else x.link - 1 for x in outputs]
    read = [reading_of(x, arm, frames[k]).carried for x, k in zip(outputs, places, strict=True)]
    return np.array(read) @ np.array(at_base).T


def _from_end(each: Port, arm: SpatialArm, index: int) -> Floats:
    """A place seen from the end of what is elastic of its link, or of a joint from its start, in the link's axes."""
    link = arm.links[index]
    if each.place == "link":
        return np.zeros(3)
    if each.place == "joint":
        return -_vector(link.base_offset)
    centre = arm.payload.centre if each.place == "payload" else None
    return _vector(link.end_offset) + _vector(centre)


def _vector(position: Position | None) -> Floats:
    return np.zeros(3) if position is None else np.array(list(position))


def _shares(each: Port, axes: Floats, offset: Floats) -> Floats:
    """What a port reads of the motion (6,) of a place from which it is at ``offset``, in the axes of the ground."""
    within = axes if each.direction.startswith("link_") else np.eye(3)
    direction = within[:, "xyz".index(each.direction[-1])]
    if each.turns:
        return np.concatenate([np.zeros(3), direction])
    return np.concatenate([direction, np.cross(offset, direction)])
