"""A flexible arm as a chain of rigid pieces on hinges with springs, for formats of rigid robots.

A flexible link is divided at the points of Gauss quadrature; each point has the compliance of the link times its
quadrature weight. With two points or more, the compliance at the end of the link is exact. Mass, centre of gravity and
inertia are exact as well, because the rigid pieces between the points have the mass distribution of the link.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxmodal.runtime.array_types import Floats
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.modes.values import LinkValues, arm_values
from jaxmodal.spatial.parts.bodies import RigidBody
from jaxmodal.spatial.parts.links import SpatialLink
from jaxmodal.spatial.robots.bodies import NOTHING, Lump, beam_lump
from jaxmodal.statics.link_parts import Rotor

#: kinds of flexibility of a point: kind of the joint, index of its axis in the section, rigidity of the link
WAYS = {
    "stretch": ("slide", 0, "stretching"),
    "shear_y": ("slide", 1, "shearing_y"),
    "shear_z": ("slide", 2, "shearing_z"),
    "twist": ("hinge", 0, "torsion"),
    "bend_y": ("hinge", 1, "bending_y"),
    "bend_z": ("hinge", 2, "bending_z"),
}
IN_PLANE = ("stretch", "shear_y", "bend_z")
#: least ratio of shear to bending compliance at the end of a link for which its points slide
_SHEARS = 1e-2


class PieceJoint(NamedTuple):
    """A hinge or slide at the origin of a piece, in the axes of the piece.

    ``stiffness`` is the stiffness of its spring, inf if rigid; a motor moves the joint together with the rest position
    of the spring. ``rotor`` is inertia and gear ratio; ``held`` is True if the rotor is on the motor side of the
    spring, not on the link side. ``group`` is the index of its fitted stiffness factor, -1 if it has none.
    """

    name: str
    kind: str
    axis: Floats
    stiffness: float = math.inf
    damping: float = 0.0
    motor: bool = False
    limits: tuple[float, float] | None = None
    speed: float | None = None
    rotor: tuple[float, float] = (0.0, 1.0)
    held: bool = False
    group: int = -1


class Piece(NamedTuple):
    """A rigid piece: ``place`` and ``turn`` are its position and rotation in the previous piece with all joints at 0.

    ``lump`` is its mass, and ``reach`` the position of its end, both in its axes.
    """

    name: str
    place: Floats
    turn: Floats
    joints: tuple[PieceJoint, ...]
    lump: Lump
    reach: Floats


class Chain(NamedTuple):
    """The pieces of an arm, starting at the ground; the first is fixed to the ground or to the springs of the base.

    ``groups`` are the names of the fitted factors; ``tip`` is the position of the arm's tip in the last piece.
    """

    pieces: tuple[Piece, ...]
    groups: tuple[str, ...]
    tip: Floats

    @property
    def joints(self) -> list[PieceJoint]:
        """All joints, starting at the base."""
        return [joint for piece in self.pieces for joint in piece.joints]

    @property
    def motors(self) -> list[PieceJoint]:
        """The joints that motors move."""
        return [joint for joint in self.joints if joint.motor]

    def scaled(self, factors: Floats) -> Chain:
        """Return the chain with the stiffness and damping of each group multiplied by a factor."""

        def changed(joint: PieceJoint) -> PieceJoint:
            factor = 1.0 if joint.group < 0 else float(factors[joint.group])
            return joint._replace(
                stiffness=joint.stiffness * factor, damping=joint.damping * factor
            )

        pieces = [p._replace(joints=tuple(map(changed, p.joints))) for p in self.pieces]
        return self._replace(pieces=tuple(pieces))

    def locked(self, posture: Floats) -> Chain:
        """Return the chain with its motors locked in a posture, so that they are no longer joints."""
        positions, shift = iter(posture), np.zeros(3)
        pieces = []
        for piece in self.pieces:
            turn, place, kept = piece.turn, piece.place + shift, []
            shift = np.zeros(3)
            for joint in piece.joints:
                if not joint.motor:
                    kept.append(joint)
                    continue
                if joint.kind == "slide":  # it comes after the springs of its piece
                    shift = next(positions) * joint.axis
                else:  # a hinge comes before them
                    turn = turn @ rotation(joint.axis, next(positions))
                if math.isfinite(joint.stiffness):
                    name = f"{joint.name}_spring"
                    kept.append(joint._replace(name=name, motor=False, limits=None, speed=None))
            lump = piece.lump._replace(centre=piece.lump.centre + shift)
            reach = piece.reach + shift
            pieces.append(Piece(piece.name, place, turn, tuple(kept), lump, reach))
        return self._replace(pieces=tuple(pieces), tip=pieces[-1].reach)


def rotation(axis: Floats, angle: float) -> Floats:
    """Return the matrix of a rotation about a unit vector."""
    x, y, z = axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross)


def chain_of(
    arm: SpatialArm, pieces: Sequence[int], ways: Sequence[str], slides: bool | None
) -> Chain:
    """Return the chain of an arm with a number of points in each link, flexible in the given `WAYS`.

    ``slides`` is True if points slide, False if not; None: only where shear is significant.
    """
    straight = arm.with_posture(np.zeros(len(arm.joints)))
    columns = arm_values(straight.links, straight.payload, straight.base_stiffness).links
    values = [jax.tree_util.tree_map(lambda x: x[..., 0], link) for link in columns]
    names = joint_names(arm)
    builder = _Builder(ways, slides, set(names))
    first = arm.links[0]
    builder.add("base", np.zeros(3), np.eye(3), _base_joints(arm), _lump(first.stator))
    for number, (link, value) in enumerate(zip(arm.links, values, strict=True), start=1):
        name = names[arm.joints.index(number)] if number in arm.joints else ""
        after = arm.links[number] if number < arm.num_links else None
        carried = (link.body, arm.payload if after is None else after.stator)
        builder.link(number, link, value, name, pieces[number - 1], carried)
    last = builder.pieces[-1]
    return Chain(tuple(builder.pieces), tuple(builder.groups), last.reach)


def joint_names(arm: SpatialArm) -> list[str]:
    """Return a unique name for each joint of an arm: its own name, or one with its number."""
    found: list[str] = []
    for number in arm.joints:
        name = arm.links[number - 1].name or f"joint{number}"
        while name in found:
            name += "_"
        found.append(name)
    return found


class _Builder:
    """Builder of a chain; pieces are added from the base outward."""

    def __init__(self, ways: Sequence[str], slides: bool | None, taken: set[str]) -> None:
        self.ways, self.slides = ways, slides
        self.taken = taken
        self.pieces: list[Piece] = []
        self.groups: list[str] = []

    def add(
        self,
        name: str,
        place: Floats,
        turn: Floats,
        joints: Iterable[PieceJoint],
        lump: Lump,
    ) -> None:
        self.pieces.append(Piece(name, place, turn, tuple(joints), lump, np.zeros(3)))

    def more(self, lump: Lump, reach: Floats) -> None:
        """Add a further body to the last piece, and move its end."""
        last = self.pieces[-1]
        self.pieces[-1] = last._replace(lump=last.lump + lump, reach=reach)

    def link(
        self,
        number: int,
        link: SpatialLink,
        value: LinkValues,
        name: str,
        count: int,
        tips: Sequence[RigidBody | None],
    ) -> None:
        joints = self._joints(link, value, name)
        place = self.pieces[-1].reach
        hub = _lump(link.hub)
        self.add(f"link{number}", place, value.rotation, joints, hub)
        start = value.base_offset
        if link.prismatic:
            start = np.array([0.0, *start[1:]])
        length = float(link.length)
        if link.rigid:
            ends = [0.0, length]
        else:
            points, weights = np.polynomial.legendre.leggauss(count)
            ends = [0.0, *(0.5 * length * (1.0 + points)), length]
        along, mount = np.array([1.0, 0.0, 0.0]), np.eye(3)
        for k, (low, high) in enumerate(itertools.pairwise(ends)):
            origin = start + low * along if k == 0 else np.zeros(3)
            if k > 0:
                ways = self._points(number, link, value, k, 0.5 * float(weights[k - 1]) * length)
                self.add(f"link{number}_{k + 1}", self.pieces[-1].reach, np.eye(3), ways, NOTHING)
            part = NOTHING
            if high > low and float(link.mass) > 0.0:
                part = beam_lump(link.replace(length=high - low), mount, origin)
            self.more(part, origin + (high - low) * along)
        tip = self.pieces[-1].reach + value.end_offset
        for body in tips:
            self.more(_lump(body, tip), tip)

    def _name(self, wanted: str) -> str:
        while wanted in self.taken:
            wanted += "_"
        self.taken.add(wanted)
        return wanted

    def _joints(self, link: SpatialLink, value: LinkValues, name: str) -> list[PieceJoint]:
        """Return the joints for a joint of the arm, in link axes: its own motion, and its further springs."""
        if link.segment:
            return []
        axis = value.directions[-1, 3:]
        limits, speed = link.joint_limits, link.joint_velocity_limit
        springs = [
            PieceJoint(
                self._name(f"{name}_spring{number}"),
                "hinge" if spring.kind == "rotation" else "slide",
                _unit(spring.direction),
                float(spring.stiffness),
                float(spring.damping or 0.0),
            )
            for number, spring in enumerate(link.joint_springs, start=1)
            if math.isfinite(float(spring.stiffness))
        ]
        if link.prismatic:
            slide = PieceJoint(
                name, "slide", np.array([1.0, 0.0, 0.0]), motor=True, limits=limits, speed=speed
            )
            for k, spring in enumerate(springs):
                if (
                    spring.kind == "slide" and abs(spring.axis[0]) == 1.0
                ):  # along the same axis as the slide
                    slide = slide._replace(stiffness=spring.stiffness, damping=spring.damping)
                    return [*springs[:k], *springs[k + 1 :], slide]
            return [*springs, slide]
        stiffness = float(link.joint_stiffness)
        springy = math.isfinite(stiffness)
        rotor = link.moving_rotor or Rotor(0.0, 1.0)
        turning = PieceJoint(
            name,
            "hinge",
            axis,
            stiffness,
            float(link.joint_damping or 0.0) if springy else 0.0,
            motor=True,
            limits=limits,
            speed=speed,
            rotor=(float(rotor.inertia), float(rotor.ratio)),
            held=link.motor == "held" or not springy,
        )
        return [turning, *springs]

    def _points(
        self, number: int, link: SpatialLink, value: LinkValues, k: int, share: float
    ) -> Iterator[PieceJoint]:
        """Yield the joints at one point, with the stiffness of the link's share at this point."""
        for way in self._kinds(value):
            kind, axis, rigidity = WAYS[way]
            self.groups.append(f"link{number} {way} {k}")
            stiffness = float(getattr(value.beam, rigidity)) / share
            yield PieceJoint(
                self._name(f"link{number}_{way}{k}"),
                kind,
                value.roll[:, axis],
                stiffness,
                stiffness * float(link.kelvin_voigt_time or 0.0),
                group=len(self.groups) - 1,
            )

    def _kinds(self, value: LinkValues) -> list[str]:
        """Return the kinds of flexibility of the points of a link."""
        beam = value.beam
        square = float(beam.length) ** 2
        ratios = {
            "shear_y": 3.0 * float(beam.bending_z / beam.shearing_y) / square,
            "shear_z": 3.0 * float(beam.bending_y / beam.shearing_z) / square,
        }
        slides = self.slides
        if slides is None:
            slides = any(ratio > _SHEARS for way, ratio in ratios.items() if way in self.ways)
        return [way for way in self.ways if slides or WAYS[way][0] == "hinge"]


def _base_joints(arm: SpatialArm) -> list[PieceJoint]:
    """Return slides along and hinges about the ground axes, for a base with diagonal stiffness."""
    if arm.base_stiffness is None:
        return []
    stiffness = np.diag(np.array(arm.base_stiffness.rows(), float))
    return [
        PieceJoint(f"base_{kind}_{letter}", kind, axis, float(stiffness[3 * turns + k]))
        for turns, kind in enumerate(("slide", "hinge"))
        for k, (letter, axis) in enumerate(zip("xyz", np.eye(3), strict=True))
    ]


def _lump(body: RigidBody | None, origin: Any = 0.0) -> Lump:
    if body is None:
        return NOTHING
    centre = np.zeros(3) if body.centre is None else np.array([float(x) for x in body.centre])
    tensor = np.zeros((3, 3)) if body.inertia is None else np.array(body.inertia.rows(), float)
    return Lump(float(body.mass), centre + origin, tensor)


def _unit(direction: Any) -> Floats:
    vector = np.array([float(x) for x in direction])
    return np.asarray(vector / np.linalg.norm(vector))
