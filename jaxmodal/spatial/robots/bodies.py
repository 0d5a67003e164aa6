"""What moves with a joint of a robot, as rigid bodies at the ends of a link, beside its beam where it has one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jaxmodal.runtime.errors import ArmError, within
from jaxmodal.spatial.parts.bodies import RigidBody
from jaxmodal.spatial.parts.links import SpatialLink
from jaxmodal.spatial.robots.chains import Part

#: whether the mass of a beam is inside the inertial of its link, or beside it
STRUCTURAL_MASS = ("inside", "beside")


class Lump(NamedTuple):
    """A rigid body in some axes: mass, centre of gravity, and tensor about that."""

    mass: float
    centre: np.ndarray
    tensor: np.ndarray

    def __add__(self, other: Lump) -> Lump:  # type: ignore[override]
        """Both as one; about their common centre, so that small tensors far out keep their digits."""
        mass = self.mass + other.mass
        if mass == 0.0:
            return Lump(mass, self.centre, self.tensor + other.tensor)
        centre = (self.mass * self.centre + other.mass * other.centre) / mass
        apart = _of_point(self.mass * other.mass / mass, other.centre - self.centre)
        return Lump(mass, centre, self.tensor + other.tensor + apart)

    def without(self, other: Lump) -> Lump:
        """What is left of it beside another, lighter one."""
        mass = self.mass - other.mass
        centre = (self.mass * self.centre - other.mass * other.centre) / mass
        apart = _of_point(self.mass * other.mass / mass, other.centre - self.centre)
        return Lump(mass, centre, self.tensor - other.tensor - apart)

    def body(self, origin: np.ndarray) -> RigidBody | None:
        """The body seen from a place in the same axes; None for none."""
        if self.mass == 0.0 and not np.any(self.tensor):
            return None
        seen = tuple(map(float, self.centre - origin))
        return RigidBody(self.mass, seen, 0.5 * (self.tensor + self.tensor.T))  # type: ignore[arg-type]


NOTHING = Lump(0.0, np.zeros(3), np.zeros((3, 3)))


def _of_point(mass: float, place: np.ndarray) -> np.ndarray:
    """The tensor of a mass at a place."""
    return mass * (place @ place * np.eye(3) - np.outer(place, place))


def checked(part: Part) -> Lump:
    """The lump of a link that moves, in the axes of the frame that it moves with.

    Raises
    ------
    ArmError
        No body has such a tensor; with the name of the link.
    """
    own = part.link.inertial
    if own is None:
        return NOTHING
    with within(f"link {part.link.name!r}: inertial: "):
        Lump(*own).body(np.zeros(3))
    turn = part.place[:3, :3]
    centre = turn @ own.centre + part.place[:3, 3]
    return Lump(own.mass, centre, turn @ own.tensor @ turn.T)


def beam_lump(link: SpatialLink, mount: np.ndarray) -> Lump:
    """A beam from the origin along the first column of ``mount``, as if it were rigid."""
    values, length = link.section_values, float(link.length)
    rotary = float(link.density or 0.0) * length
    iy, iz = float(values.second_moment_y), float(values.second_moment_z)
    mass = float(link.mass)
    bent = mass * length * length / 12.0
    tensor = np.diag([rotary * (iy + iz), bent + rotary * iy, bent + rotary * iz])
    return Lump(mass, 0.5 * length * mount[:, 0], mount @ tensor @ mount.T)


def at_ends(
    parts: Sequence[Part], way: np.ndarray, beam: Lump, structural_mass: str
) -> tuple[Lump, Lump]:
    """The lumps that are fixed to the base and to the tip of a beam: each part to the end nearer to its centre.

    The link's own inertial is the first of the parts; with its mass inside, the beam is taken off it.

    Raises
    ------
    ArmError
        What is left beside the beam is no body.
    """
    hub, tip = NOTHING, NOTHING
    for number, part in enumerate(parts):
        own = checked(part)
        if number == 0 and structural_mass == "inside":
            own = _less_beam(part, own, beam)
        near = own.centre @ way < 0.5 * (way @ way)
        hub, tip = (hub + own, tip) if near else (hub, tip + own)
    return hub, tip


def _less_beam(part: Part, own: Lump, beam: Lump) -> Lump:
    """What an inertial has beyond the beam that is inside it."""
    mass = own.mass - beam.mass
    remedy = (
        "give structural_mass = 'beside' where the inertial is that of motors and covers alone, or a lighter section "
        "or material"
    )
    if abs(mass) <= 1e-9 * own.mass:  # the beam is all of it
        return NOTHING
    if mass < 0.0:
        raise ArmError(
            f"link {part.link.name!r}: its beam has {beam.mass:.6g} kg, its inertial only {own.mass:.6g} kg; {remedy}."
        )
    left = own.without(beam)
    try:
        left.body(np.zeros(3))
    except ArmError as error:
        raise ArmError(
            f"link {part.link.name!r}: what its inertial has beside the beam, {mass:.6g} of {own.mass:.6g} kg, "
            f"is no body: {error} To go on, {remedy}."
        ) from error
    return left
