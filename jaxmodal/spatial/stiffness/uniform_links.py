"""Links as rows of numbers, for one link or for links of all kinds in parallel, so that one program serves all.

Fields that only some links need are the identity or zero for the others. A missing spring is rigid; a rigid link has an
arbitrary beam that is ignored.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from jaxmodal.arithmetic.operations import Number, leading
from jaxmodal.dynamic_stiffness.beams import MemberConstants
from jaxmodal.runtime.namespace import Array
from jaxmodal.spatial.stiffness.constants import Body, ReducedLink
from jaxmodal.spatial.stiffness.link_entries import LinkEntries
from jaxmodal.spatial.stiffness.members import Beams
from jaxmodal.spatial.stiffness.supports import load_numbers
from jaxmodal.spatial.stiffness.symmetric import TRIANGLE


@dataclasses.dataclass(frozen=True)
class Layout:
    """Structure of an arm that programs depend on, besides array shapes.

    Attributes
    ----------
    springs : int
        Number of springs of every joint; those that a joint lacks are rigid.
    rotors, rigid : bool
        Whether any joint has a rotor, and whether any link is rigid.
    """

    springs: int
    rotors: bool
    rigid: bool

    def joined(self, other: Layout) -> Layout:
        """Return the smallest layout that contains both."""
        return Layout(
            max(self.springs, other.springs), self.rotors | other.rotors, self.rigid | other.rigid
        )


class UniformLink(NamedTuple):
    """One link of a program, by entries that broadcast; ``flexible`` is None if all links are flexible."""

    entries: LinkEntries
    length: Array
    planes: tuple[MemberConstants, MemberConstants]
    flexible: Array | None


_MEMBER = len(MemberConstants._fields)


#: number of the first fields of a link, its rotation and offset; only these depend on its joint angle
TURNED = 12


def unpacked(fields: Array | Sequence[Array], layout: Layout) -> UniformLink:
    """Return the entries of a link from its fields (fields, ...)."""
    left: Iterator[Array] = (fields[k] for k in range(len(fields)))

    def plane() -> MemberConstants:
        return MemberConstants(*(next(left) for _ in range(_MEMBER)))

    return UniformLink(
        entries=LinkEntries.of(left, layout.springs, layout.rotors),
        length=next(left),
        planes=(plane(), plane()),
        flexible=next(left) if layout.rigid else None,
    )


def layout_of(links: Sequence[ReducedLink]) -> Layout:
    """Return the common layout of all cells of an arm; springs of a base take as many rigid links as needed."""
    return Layout(
        springs=max(1, *(len(link.springs) for link in links if not link.is_base)),
        rotors=any(link.rotor is not None for link in links),
        rigid=any(link.place is None for link in links),
    )


def packed_links(
    links: Sequence[ReducedLink], beams: Beams | None, layout: Layout, cells: int, lanes: int
) -> np.ndarray:
    """Return the fields of all links of arms in parallel, shape (fields, links, lanes), in float64.

    If there are more ``lanes`` than ``cells``, the last cell is repeated.
    """
    rows: list[list[np.ndarray]] = []
    assert not any(link.supports for link in links), "programs know no supports"
    for link in links:
        for part in _parted(link, layout.springs):
            row = numbers_of(part, layout.springs, layout.rotors) + _beam(part.place, beams)
            flexible = np.full((1, 1), float(part.place is not None))
            rows.append([*row, flexible] if layout.rigid else row)
    found = np.empty((len(rows[0]), len(rows), lanes))
    for number, row in enumerate(rows):
        for field, x in zip(found[:, number], row, strict=True):
            field[:cells] = np.ravel(x)
    found[..., cells:] = found[..., cells - 1 : cells]
    return found


def numbers_of(link: ReducedLink, springs: int, has_rotor: bool) -> list[Number]:
    """Return the numbers of `LinkEntries`, padded to a number of springs and with a rotor."""
    zero = link.inner.mass * 0.0
    rigid = [*[zero] * 6, zero + 1.0, zero] * (springs - len(link.springs))
    given = [x for s in link.springs for x in (*_flat(s.direction), s.unit, s.compliance)]
    rotor = [zero] * 6
    if link.rotor is not None:
        rotor = [*_flat(link.springs[-1].direction)[3:], *link.rotor]
    return [
        *(entry for row in _flat(link.rotation) for entry in _flat(row)),
        *_flat(link.offset),
        *([zero] * 10 if link.outer is None else _body(link.outer)),
        *_body(link.inner),
        *rigid,
        *given,
        *(rotor if has_rotor else []),
    ]


def numbers_with_loads(links: Sequence[ReducedLink]) -> list[list[Number]]:
    """Return `numbers_of` each link, followed by those of `LoadEntries` for every support of the arm."""
    every, before, found = sum(len(link.supports) for link in links), 0, []
    for link in links:
        zero, flexible = link.inner.mass * 0.0, link.place is not None
        loads = load_numbers(link.supports, before, every, flexible, zero)
        before += len(link.supports)
        found.append([*numbers_of(link, len(link.springs), link.rotor is not None), *loads])
    return found


def _flat(x: Number) -> list[Number]:
    """Return the entries along the first axis."""
    return [x[i] for i in range(leading(x).shape[0])]


def _body(body: Body) -> list[Number]:
    return [body.mass, *_flat(body.moment), *(body.inertia[i, j] for i, j in TRIANGLE)]


def _parted(link: ReducedLink, size: int) -> list[ReducedLink]:
    """Divide a link with too many springs into several; the first springs are nearest to the tip."""
    if len(link.springs) <= size:
        return [link]
    one, zero = np.eye(3)[..., None, None], np.zeros((3, 1, 1))
    groups = [link.springs[start : start + size] for start in range(0, len(link.springs), size)]
    nothing = Body(*(x * 0.0 for x in link.inner))
    further = link._replace(rotation=one, offset=zero, inner=nothing)
    return [
        *(further._replace(springs=some) for some in groups[:0:-1]),
        link._replace(springs=groups[0]),
    ]


def _beam(place: int | None, beams: Beams | None) -> list[np.ndarray]:
    """Return the length and both `MemberConstants` of a flexible link; arbitrary values for a rigid one."""
    if place is None or beams is None:
        one, zero = np.ones((1, 1)), np.zeros((1, 1))
        return [one, *[one, zero, zero, zero, *[one] * (_MEMBER - 4)] * 2]
    planes = [x[plane, place] for plane in range(2) for x in beams.planes]
    return [beams.length[place], *planes]
