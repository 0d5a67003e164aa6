"""Outputs of ports of an arm in space: from the motion of a section of one link, or from a joint spring."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jaxmodal.response.driven.ports import RELATIVE, Port
from jaxmodal.runtime.array_types import Floats
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.modes.motions import Frame
from jaxmodal.spatial.parts.geometry import Position


class Reading(NamedTuple):
    """Output of a port; as an input, its load acts with the same coefficients.

    Attributes
    ----------
    link : int
        Index of the link from 0.
    station : float
        x/L of the section; 0 for a rigid link.
    row : array, shape (6,)
        Coefficients of the section's displacements and rotations, in its axes.
    give : float
        Coefficient of the deflection of the spring about the axis of the link's joint; 0 for a rigid joint.
    carried : array, shape (6,)
        Coefficients of the rigid motions of the arm at joint 1, along and about the ground's x, y, z.
    """

    link: int
    station: float
    row: Floats
    give: float
    carried: Floats


def reading_of(each: Port, arm: SpatialArm, frame: Frame) -> Reading:
    """Return the `Reading` of a port that is not at the base; ``frame`` is that of its link."""
    index = arm.num_links - 1 if each.link is None else each.link - 1
    link, zero = arm.links[index], np.zeros(6)
    if each.direction == RELATIVE:  # a rigid joint has no spring that a torque could deflect
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
    """Return the motion (6,) of joint 1, in ground axes, of a port of the base.

    ``frame`` is that of link 1.
    """
    return _shares(each, frame.axes, np.zeros(3))


def carried_in_space(arm: SpatialArm, inputs: Sequence[Port], outputs: Sequence[Port]) -> Floats:
    """Return the output motions of the rigid arm that moves with its base, shape (outputs, inputs); 0 for forces."""
    frames = arm.frames()
    at_base = [motion_of_base(x, frames[0]) if x.place == "base" else np.zeros(6) for x in inputs]
    places = [arm.num_links - 1 if x.link is None else x.link - 1 for x in outputs]
    read = [reading_of(x, arm, frames[k]).carried for x, k in zip(outputs, places, strict=True)]
    return np.array(read) @ np.array(at_base).T


def _from_end(each: Port, arm: SpatialArm, index: int) -> Floats:
    """Return a place relative to the end of the elastic part of its link (for a joint, to its start), in link axes."""
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
    """Return the coefficients of a port for the motion (6,) of a point.

    ``offset`` is the position of the port relative to the point, in ground axes.
    """
    within = axes if each.direction.startswith("link_") else np.eye(3)
    direction = within[:, "xyz".index(each.direction[-1])]
    if each.turns:
        return np.concatenate([np.zeros(3), direction])
    return np.concatenate([direction, np.cross(offset, direction)])
