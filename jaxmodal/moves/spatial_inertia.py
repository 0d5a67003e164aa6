"""Inertia forces of a rigid arm in space moved by its joints, at all points with mass.

The points are those of `jaxmodal.spatial.modes.motions.mass_points`. The rotation of a body has nine entries there; the
first three carry the whole moment.
"""

from __future__ import annotations

import numpy as np

from jaxmodal.eigenspaces.modal_mass import quadrature
from jaxmodal.modes.spatial_shapes import SpatialModeShapes
from jaxmodal.runtime.array_types import Floats
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.modes.modal_model import ModalModel, modal_model
from jaxmodal.spatial.modes.motions import Frame, frames, line_inertia, mass_and_centre
from jaxmodal.spatial.stiffness.matrices import skew

#: number of entries of a body: three for its centre and nine for its rotation
_BODY = 12


def spatial_inertia(
    arm: SpatialArm, shapes: SpatialModeShapes, rates: Floats, changes: Floats
) -> Floats:
    """Return masses times accelerations, (C, D), for C pairs of joint rates and accelerations, (C, n) each."""
    model, count = modal_model(arm.model(shapes.frequencies.theory)), rates.shape[0]
    links = model.values.links
    size = (np.asarray(shapes.masses).size - _BODY * (3 * len(links) - 1)) - len(links)
    nodes, weights = quadrature(size // (6 * len(links)))
    column = {number - 1: k for k, number in enumerate(arm.joints)}
    zero = np.zeros((count, 3))
    before = Carried(zero, zero, zero)
    axes, parts = np.eye(3), []
    for i, (link, frame) in enumerate(zip(links, frames(links), strict=True)):
        axis = frame.axes @ link.directions[-1][3:]
        rate, change = (
            x[:, column[i]] if i in column else np.zeros(count) for x in (rates, changes)
        )
        own = before.turned(axis, rate, change)
        along = frame.start + nodes[:, None] * (frame.end - frame.start)
        parts.append(_along(model, i, frame, own, along - frame.joint, weights))
        tip = own.moved(frame.tip - frame.joint)
        parts.append(_body(link.tip, frame.axes, tip))
        parts.append(_body(link.hub, frame.axes, own))
        inertia, gears = arm.links[i].moving_rotor or (0.0, 0.0)
        spin = before.rate @ axis + gears * rate
        if i > 0:  # the first stator is on the clamped base
            carrier = _body(link.stator, axes, before)
            carrier[:, 3:6] += inertia * spin[:, None] * np.cross(before.rate, axis) @ axes
            parts.append(carrier)
        parts.append(inertia * (before.change @ axis + gears * change)[:, None])
        before, axes = tip, frame.axes
    return np.concatenate(parts, axis=1)


def spatial_tips(arm: SpatialArm, shapes: SpatialModeShapes) -> Floats:
    """Return mode shapes at the links' tips, (K, n, 3), m in ground axes; taken at the last station."""
    moved, turned = (np.asarray(x)[:, :, -1] for x in (shapes.displacement, shapes.rotation))
    found: Floats = moved + np.cross(turned, np.array([x.tip - x.end for x in arm.frames()]))
    return found


class Carried:
    """Motion of a point of a rigid part, in the axes of the ground, (C, 3) each.

    ``rate`` and ``change`` are the angular velocity and acceleration of the part, ``pull`` is the acceleration of the
    point.
    """

    def __init__(self, rate: Floats, change: Floats, pull: Floats) -> None:
        self.rate, self.change, self.pull = rate, change, pull

    def turned(self, axis: Floats, rate: Floats, change: Floats) -> Carried:
        """Return the motion, at this point, of the part beyond a joint."""
        spin = rate[:, None] * axis
        grown = self.change + change[:, None] * axis + np.cross(self.rate, spin)
        return Carried(self.rate + spin, grown, self.pull)

    def at(self, place: Floats) -> Floats:
        """Return the acceleration of a point of the part at an offset from this one, (C, 3)."""
        rate = self.rate
        return self.pull + np.cross(self.change, place) + np.cross(rate, np.cross(rate, place))

    def moved(self, place: Floats) -> Carried:
        """Return the motion of another point of the same part."""
        return Carried(self.rate, self.change, self.at(place))


def _moment(inertia: Floats, rate: Floats, change: Floats) -> Floats:
    """Return the inertia moment of a body with this tensor, in body axes."""
    return change @ inertia.T + np.cross(rate, rate @ inertia.T)


def _along(
    model: ModalModel, number: int, frame: Frame, own: Carried, places: Floats, weights: Floats
) -> Floats:
    per_length = line_inertia(model, number)
    length, section = model.values.links[number].beam.length, frame.section
    pull = np.stack([own.at(place) @ section for place in places], axis=1)
    moment = _moment(np.diag(per_length[3:]), own.rate @ section, own.change @ section)
    forces = np.concatenate(
        [per_length[:3] * pull, np.broadcast_to(moment[:, None], pull.shape)], axis=-1
    )
    return np.asarray(weights[:, None] * length * forces).reshape(own.rate.shape[0], -1)


def _body(matrix: Floats, axes: Floats, place: Carried) -> Floats:
    mass, centre = mass_and_centre(matrix)
    cross = skew(centre)
    inertia = matrix[3:, 3:] + mass * (cross @ cross)
    found = np.zeros((place.rate.shape[0], _BODY))
    found[:, :3] = mass * (place.at(axes @ centre) @ axes)
    found[:, 3:6] = _moment(inertia, place.rate @ axes, place.change @ axes)
    return found
