"""Rigid bodies that move with a joint of a robot, lumped at the ends of a link and separated from its beam."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.parts.bodies import RigidBody
from jaxmodal.spatial.parts.geometry import as_inertia
from jaxmodal.spatial.parts.links import SpatialLink
from jaxmodal.spatial.robots.chains import Part

#: whether the inertial of a link includes the mass of its beam, or excludes it
STRUCTURAL_MASS = ("inside", "beside")


class Lump(NamedTuple):
    """A rigid body in given axes: mass, centre of gravity, and inertia tensor about it."""

    mass: float
    centre: np.ndarray
    tensor: np.ndarray

    def __add__(self, other: Lump) -> Lump:  # type: ignore[override]
        """Return both bodies as one.

        It is computed about the common centre, which preserves the digits of small distant tensors.
        """
        mass = self.mass + other.mass
        if mass == 0.0:
            return Lump(mass, self.centre, self.tensor + other.tensor)
        centre = (self.mass * self.centre + other.mass * other.centre) / mass
        apart = _of_point(self.mass * other.mass / mass, other.centre - self.centre)
        return Lump(mass, centre, self.tensor + other.tensor + apart)

    def without(self, other: Lump) -> Lump:
        """Return the remaining body after a lighter one is removed."""
        mass = self.mass - other.mass
        centre = (self.mass * self.centre - other.mass * other.centre) / mass
        apart = _of_point(self.mass * other.mass / mass, other.centre - self.centre)
        return Lump(mass, centre, self.tensor - other.tensor - apart)

    def body(self, origin: np.ndarray, inertia_check: bool = True) -> RigidBody | None:
        """Return the body relative to an origin in the same axes; None if it has neither mass nor inertia."""
        if self.mass == 0.0 and not np.any(self.tensor):
            return None
        seen: Any = tuple(map(float, self.centre - origin))
        tensor: Any = 0.5 * (self.tensor + self.tensor.T)
        try:
            return RigidBody(self.mass, seen, tensor)
        except ArmError:
            if inertia_check:
                raise
        unchecked = as_inertia("inertia", tensor, check=False)  # the warning is for the arm
        return RigidBody(self.mass, seen, unchecked, inertia_check=False)

    @property
    def possible(self) -> bool:
        """Whether the inertia tensor is physically possible."""
        try:
            self.body(self.centre)
        except ArmError:
            return False
        return True


NOTHING = Lump(0.0, np.zeros(3), np.zeros((3, 3)))


def _of_point(mass: float, place: np.ndarray) -> np.ndarray:
    """Return the inertia tensor of a point mass at a position."""
    return mass * (place @ place * np.eye(3) - np.outer(place, place))


def lump_of(part: Part) -> Lump:
    """Return the inertial of a link, in the axes of the frame with which it moves."""
    own = part.link.inertial
    if own is None:
        return NOTHING
    turn = part.place[:3, :3]
    centre = turn @ own.centre + part.place[:3, 3]
    return Lump(own.mass, centre, turn @ own.tensor @ turn.T)


def total_of(parts: Iterable[Part]) -> Lump:
    """Return all given links as one body."""
    return sum(map(lump_of, parts), start=NOTHING)


def beam_lump(link: SpatialLink, mount: np.ndarray, start: np.ndarray) -> Lump:
    """Return a beam treated as rigid, from ``start`` along the first column of ``mount``."""
    values, length = link.section_values, float(link.length)
    rotary = float(link.density or 0.0) * length
    iy, iz = float(values.second_moment_y), float(values.second_moment_z)
    mass = float(link.mass)
    bent = mass * length * length / 12.0
    roll = 0.0 if link.section_roll is None else float(link.section_roll)
    sine, cosine = math.sin(roll), math.cos(roll)
    turned = mount @ np.array([[1.0, 0.0, 0.0], [0.0, cosine, -sine], [0.0, sine, cosine]])
    tensor = np.diag([rotary * (iy + iz), bent + rotary * iy, bent + rotary * iz])
    return Lump(mass, start + 0.5 * length * mount[:, 0], turned @ tensor @ turned.T)


def at_ends(
    parts: Sequence[Part], ends: tuple[np.ndarray, np.ndarray], beam: Lump, structural_mass: str
) -> tuple[Lump, Lump]:
    """Divide the parts into the bodies at the base and at the tip of a beam; each part goes to the nearer of ``ends``.

    The first part is the link's own inertial. If ``structural_mass`` is ``"inside"``, the beam is subtracted from it.

    Raises
    ------
    ArmError
        If the remainder after subtraction of the beam is not a possible body.
    """
    hub, tip, way = NOTHING, NOTHING, ends[1] - ends[0]
    for number, part in enumerate(parts):
        own = lump_of(part)
        if number == 0 and structural_mass == "inside":
            own = _less_beam(own, beam)
        near = (own.centre - ends[0]) @ way < 0.5 * (way @ way)
        hub, tip = (hub + own, tip) if near else (hub, tip + own)
    return hub, tip


def _less_beam(own: Lump, beam: Lump) -> Lump:
    """Return the inertial of a link minus the beam inside it."""
    mass = own.mass - beam.mass
    remedy = (
        "give structural_mass = 'beside' where the inertial is that of motors and covers alone, or a lighter section "
        "or material"
    )
    if abs(mass) <= 1e-9 * own.mass:  # the beam has all the mass
        return NOTHING
    if mass < 0.0:
        raise ArmError(
            f"its beam has {beam.mass:.6g} kg, its inertial only {own.mass:.6g} kg; {remedy}."
        )
    left = own.without(beam)
    try:
        left.body(left.centre)
    except ArmError as error:
        raise ArmError(
            f"the rest of its inertial without the beam, {mass:.6g} of {own.mass:.6g} kg, is impossible: "
            f"{error} To go on, {remedy}."
        ) from error
    return left
