"""Arms in space as columns of numbers: every link of one kind, whatever it is made of, so that one program serves all.

All that lies between the elastic parts of two links is brought to their ends, in the axes of their sections: one body
at the outer end (tip, stator of the next link, payload), one at the base (hub, rigid bar), the joint's springs and
rotor there, and one turn and offset to the link before. What an arm has not is the identity, or zero. An elastic base
becomes rigid links without length, whose joints have its springs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from jaxmodal.arithmetic.operations import Arithmetic
from jaxmodal.dynamic_stiffness.beams import MemberConstants, member_constants
from jaxmodal.runtime.namespace import Array
from jaxmodal.spatial.stiffness.constants import JointSpring, LinkConstants, Rotor
from jaxmodal.spatial.stiffness.matrices import cross, product, transposed
from jaxmodal.spatial.stiffness.members import plane_beams
from jaxmodal.spatial.stiffness.model import SpatialModel
from jaxmodal.spatial.stiffness.transformations import shifted, turned


@dataclasses.dataclass(frozen=True)
class Layout:
    """What programs know of an arm beside its shape.

    Attributes
    ----------
    springs : int
        Springs of every joint; those that a joint lacks are rigid.
    rotors, rigid : bool
        Whether any joint has a rotor, and whether any link is rigid.
    """

    springs: int
    rotors: bool
    rigid: bool

    def joined(self, other: Layout) -> Layout:
        """One that has room for what either has."""
        return Layout(
            max(self.springs, other.springs), self.rotors | other.rotors, self.rigid | other.rigid
        )


class Body(NamedTuple):
    """Mass matrix of a rigid body about an end: mass, mass times centre, inertia (xx, xy, xz, yy, yz, zz)."""

    mass: Array
    moment: list[Array]
    inertia: list[Array]


class Spring(NamedTuple):
    """As `constants.JointSpring`, by entries."""

    direction: list[Array]
    unit: Array
    compliance: Array


class UniformLink(NamedTuple):
    """One link by entries that broadcast; ``rotor`` is axis, relative, driven and carried inertia of `Rotor`."""

    rotation: list[Array]
    offset: list[Array]
    outer: Body
    inner: Body
    springs: list[Spring]
    rotor: list[Array]
    length: Array
    planes: tuple[MemberConstants, MemberConstants]
    flexible: Array | None


_SYMMETRIC = [(i, j) for i in range(3) for j in range(i, 3)]
_MEMBER = len(MemberConstants._fields)


def unpacked(fields: Array, layout: Layout) -> UniformLink:
    """The entries of a link, from its fields (fields, ...)."""
    left: Iterator[Array] = (fields[k] for k in range(fields.shape[0]))

    def some(number: int) -> list[Array]:
        return [next(left) for _ in range(number)]

    def body() -> Body:
        return Body(next(left), some(3), some(6))

    return UniformLink(
        rotation=some(9),
        offset=some(3),
        outer=body(),
        inner=body(),
        springs=[Spring(some(6), *some(2)) for _ in range(layout.springs)],
        rotor=some(6) if layout.rotors else [],
        length=next(left),
        planes=(MemberConstants(*some(_MEMBER)), MemberConstants(*some(_MEMBER))),
        flexible=next(left) if layout.rigid else None,
    )


def layout_of(model: SpatialModel) -> Layout:
    """That of all cells of a model."""
    links, base = model.constants(Arithmetic.float64)
    return Layout(
        springs=max(1, *(len(link.springs) for link in links)),
        rotors=any(link.rotor is not None for link in links),
        rigid=bool(base) or any(link.bar is not None for link in links),
    )


def packed_links(model: SpatialModel, layout: Layout, cells: int) -> np.ndarray:
    """The fields of all links of arms side by side, shape (fields, links, cells), in float64."""
    links, base = model.constants(Arithmetic.float64)
    members = _members(model)
    rows = [_base_link(springs, layout) for springs in _parted(base, layout.springs)]
    if rows and links[0].stator is not None:
        rows[-1] = _with_outer(rows[-1], links[0].stator)
    for number, link in enumerate(links):
        before = links[number - 1] if number else None
        after = links[number + 1] if number + 1 < len(links) else None
        ground = number == 0 and not base
        turn, offset = (np.eye(3)[..., None, None], _zeros(3)) if ground else _joint(link, before)
        member = None if link.bar is not None else members[link.place]
        rows.append([*_flat(turn), *_flat(offset), *_own(link, after, member, layout)])
    shape = (cells,)
    return np.stack(
        [np.stack([np.broadcast_to(np.ravel(x), shape) for x in row]) for row in rows], axis=1
    )


def _zeros(*shape: int) -> np.ndarray:
    return np.zeros((*shape, 1, 1))


def _flat(x: np.ndarray) -> list[np.ndarray]:
    """The entries of a matrix or vector, row by row."""
    return list(x.reshape(-1, *x.shape[-2:]))


def _roll(link: LinkConstants | None) -> np.ndarray:
    one = np.eye(3)[..., None, None]
    return one if link is None or link.roll is None else np.asarray(link.roll)


def _end_offset(link: LinkConstants | None) -> np.ndarray:
    """From the outer end of what is elastic to the tip, in the link's axes; of a rigid link from its base."""
    if link is None:
        return _zeros(3)
    total = _zeros(3) if link.end_offset is None else link.end_offset
    if link.axis is not None:  # along the link, which its roll leaves where it is
        total = total + link.axis
    return np.asarray(total)


def _joint(link: LinkConstants, before: LinkConstants | None) -> tuple[np.ndarray, np.ndarray]:
    """Turn and offset from the base of a link to the outer end of the one before, in the axes of both sections."""
    rotation = np.eye(3)[..., None, None] if link.rotation is None else link.rotation
    offset = _end_offset(before)
    if link.base_offset is not None:
        offset = offset + product(rotation, link.base_offset[:, None])[:, 0]
    back = transposed(_roll(before))
    turn = product(product(back, rotation), _roll(link))
    return np.asarray(turn), np.asarray(product(back, offset[:, None])[:, 0])


def _own(
    link: LinkConstants,
    after: LinkConstants | None,
    member: list[np.ndarray] | None,
    layout: Layout,
) -> list[np.ndarray]:
    """All fields of a link but turn and offset."""
    back = transposed(_roll(link))
    outer = _zeros(6, 6) if link.tip is None else link.tip
    if after is not None and after.stator is not None:
        outer = outer + after.stator
    outer = turned(shifted(outer, _end_offset(link)), back)
    inner = _zeros(6, 6) if link.bar is None else link.bar
    if link.bar is not None:  # the body at its end, too
        inner, outer = inner + outer, _zeros(6, 6)
    offset = _zeros(3) if link.base_offset is None else link.base_offset
    if link.hub is not None:
        inner = inner + turned(shifted(link.hub, -offset), back)
    springs = []
    for spring in link.springs:
        d = spring.direction
        moved = [d[:3] + cross(d[3:], offset), d[3:]]
        turned_back = [product(back, x[:, None])[:, 0] for x in moved]
        springs.append(JointSpring(np.concatenate(turned_back), spring.unit, spring.compliance))
    return [
        *_body(outer),
        *_body(inner),
        *_springs(springs, layout),
        *_rotor(link.rotor, springs, layout),
        *(_no_member() if member is None else member),
        *([np.full((1, 1), float(member is not None))] if layout.rigid else []),
    ]


def _body(matrix: np.ndarray) -> list[np.ndarray]:
    moment = [matrix[5, 1], matrix[3, 2], matrix[4, 0]]  # of m [c], the lower left block
    return [matrix[0, 0], *moment, *(matrix[3 + i, 3 + j] for i, j in _SYMMETRIC)]


def _springs(springs: list[JointSpring], layout: Layout) -> list[np.ndarray]:
    """Those of a joint, the one about the axis last, rigid ones before."""
    rigid = [*_flat(_zeros(6)), np.ones((1, 1)), np.zeros((1, 1))] * (layout.springs - len(springs))
    return rigid + [x for s in springs for x in (*_flat(s.direction), s.unit, s.compliance)]


def _rotor(rotor: Rotor | None, springs: list[JointSpring], layout: Layout) -> list[np.ndarray]:
    if not layout.rotors:
        return []
    if rotor is None:
        return _flat(_zeros(6))
    axis = springs[-1].direction[3:]
    return [*_flat(axis), rotor.relative, rotor.driven, rotor.carried]


def _no_member() -> list[np.ndarray]:
    """What stands for the elastic part of a rigid link: any beam; nothing of it counts."""
    one, zero = np.ones((1, 1)), np.zeros((1, 1))
    return [one, *[one, zero, zero, zero, *[one] * (_MEMBER - 4)] * 2]


def _members(model: SpatialModel) -> list[list[np.ndarray]]:
    """Length and both `MemberConstants` of every flexible link."""
    s = model.sections
    if s is None:
        return []
    shape = (s.length.shape[0], *np.broadcast_shapes(*(x.shape[1:] for x in s)))
    planes = member_constants(plane_beams(s, shape), model.flags)
    rigidity = s.shear_modulus * s.torsion_constant
    turning = s.length * np.sqrt(s.density * (s.second_moment_y + s.second_moment_z) / rigidity)
    every = [[np.asarray(x[plane]) for x in planes] for plane in range(2)]
    for name, value in (("mu", turning), ("axial_rigidity", rigidity / s.length)):
        every[1][MemberConstants._fields.index(name)] = value
    return [
        [np.atleast_2d(x[link]) for x in (s.length, *every[0], *every[1])]
        for link in range(shape[0])
    ]


def _parted(springs: list[JointSpring], size: int) -> list[list[JointSpring]]:
    """Springs of a base in groups, the first ones nearest to the arm, which comes last."""
    groups = [springs[start : start + size] for start in range(0, len(springs), size)]
    return groups[::-1]


def _base_link(springs: list[JointSpring], layout: Layout) -> list[np.ndarray]:
    """A rigid link without length on springs of the base."""
    return [
        *_flat(np.eye(3)[..., None, None]),
        *_flat(_zeros(3)),
        *_body(_zeros(6, 6)),
        *_body(_zeros(6, 6)),
        *_springs(springs, layout),
        *_rotor(None, springs, layout),
        *_no_member(),
        np.zeros((1, 1)),
    ]


def _with_outer(row: list[np.ndarray], matrix: np.ndarray) -> list[np.ndarray]:
    """A row with a body at the outer end of its link."""
    return [*row[:12], *_body(matrix), *row[22:]]
