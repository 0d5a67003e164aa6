"""Which function of a link, and which generalised coordinate of an arm in space, stands where.

A model in space consists of *pieces*, one after the other: each link of the arm is one, a segment a piece that follows
without a joint. A base that is elastic or driven, and springs at the joint of a link that slides, are pieces without
length or mass.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from jaxmodal.dynamics.model import Layout

#: displacements of a free base in its axes, as a linearisation names them
_DIRECTIONS = tuple(f"base.{name}" for name in ("x", "y", "z", "rx", "ry", "rz"))
DEFORMATIONS = ("stretch", "torsion", "bending_xy", "bending_xz")
#: how a piece is joined to the one before it
TURNS, SLIDES, FIXED = "turns", "slides", "fixed"

#: of each deformation: how many shapes of it a link has
Counts = tuple[int, int, int, int]


@dataclasses.dataclass(frozen=True)
class Functions:
    """The functions of x of a link with so many shapes of each deformation, in their order.

    1, x, the shapes of stretch and of bending in both planes, the shortening by pairs of those of each plane, and the
    second order of torsion with bending in x-z and in x-y.
    """

    widths: Counts

    @property
    def starts(self) -> np.ndarray:
        """Where each deformation begins among the modal coordinates of a link, and their number."""
        return np.concatenate([[0], np.cumsum(self.widths)])

    def modal(self, deformation: int) -> slice:
        """Where a deformation is among the modal coordinates of a link."""
        return slice(*self.starts[deformation : deformation + 2])

    def pairs(self, deformation: int) -> tuple[np.ndarray, np.ndarray]:
        """The shapes j <= k of a deformation."""
        rows, columns = np.triu_indices(self.widths[deformation])
        return rows, columns

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many functions there are of each kind."""
        stretch, torsion, xy, xz = self.widths
        shorter = (xy * (xy + 1) // 2, xz * (xz + 1) // 2)
        return (1, 1, stretch, xy, xz, *shorter, torsion * xz, torsion * xy)

    @property
    def number(self) -> int:
        """How many functions there are in all."""
        return sum(self.sizes)

    @property
    def directions(self) -> np.ndarray:
        """Direction of each function's part of c, shape (k, 3)."""
        axes = (0, 0, 0, 1, 2, 0, 0, 1, 2)
        return np.eye(3)[np.repeat(axes, self.sizes)]

    @property
    def factors(self) -> list[tuple[tuple[int, int], ...]]:
        """Of each function the shapes, by deformation and number, whose coordinates its number s is a product of."""
        stretch, torsion, xy, xz = self.widths
        single = [(0, j) for j in range(stretch)]
        single += [(2, j) for j in range(xy)] + [(3, j) for j in range(xz)]
        made: list[tuple[tuple[int, int], ...]] = [(), (), *((each,) for each in single)]
        for d in (2, 3):
            made += [((d, int(j)), (d, int(k))) for j, k in zip(*self.pairs(d), strict=True)]
        made += [((1, j), (3, k)) for j in range(torsion) for k in range(xz)]
        made += [((1, j), (2, k)) for j in range(torsion) for k in range(xy)]
        return made

    def kept(self, foreshortening: bool, second_order: bool) -> np.ndarray:
        """Indices of the functions that the equations know, as they are posed."""
        known = (True,) * 5 + (foreshortening,) * 2 + (second_order,) * 2
        return np.flatnonzero(np.repeat(known, self.sizes))


@dataclasses.dataclass(frozen=True)
class LayoutInSpace(Layout):
    """Which generalised coordinate of an arm in space stands where in q.

    Attributes
    ----------
    counts
        Number of shapes of each piece: in stretch, in torsion, in bending in its x-y and in its x-z plane.
    springs
        Number of further springs at the start of each piece (``joint_springs``), whose deflections follow its shapes.
    kinds
        How each piece is joined to the one before it: it ``"turns"``, ``"slides"``, or is ``"fixed"``.
    numbers
        Of which link of the arm each piece is, counted from 1; 0 is a base that is elastic or driven.
    base
        ``"free"``: its pose stands after all other coordinates, and its six rates after all other rates. ``"driven"``:
        its six coordinates stand where those of an elastic base do.
    """

    counts: tuple[Counts, ...] = ()
    springs: tuple[int, ...] = ()
    kinds: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()
    base: str = "clamped"

    @property
    def floats(self) -> bool:
        """Whether the base floats freely."""
        return self.base == "free"

    @property
    def free(self) -> np.ndarray:
        """1 for each rate that no motor moves, nor what drives the base; 0 for the others."""
        own = super().free
        own[self.given] = 0.0
        return np.concatenate([own, np.ones(6 * self.floats)])

    @property
    def given(self) -> np.ndarray:
        """Where the coordinates are of a base that moves as it is told; none elsewhere."""
        start = len(self.elastic)
        return np.arange(start, start + 6 * (self.base == "driven"))

    @property
    def loose(self) -> np.ndarray:
        """0 for each rate that is given, as torques move the joints; 1 for the others."""
        found = np.ones(self.size + 6 * self.floats)
        found[self.given] = 0.0
        return found

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coordinates, one for each rate; of a free base those of its displacements in its axes."""
        return (*super().names, *(_DIRECTIONS * self.floats))

    @property
    def functions(self) -> Functions:
        """The functions of x of the links, as many of each deformation as any link has."""
        stretch, torsion, xy, xz = (max(c[d] for c in self.counts) for d in range(4))
        return Functions((stretch, torsion, xy, xz))

    @property
    def width(self) -> int:
        """Number of modal coordinates that a link has room for, m, with those of its joint's springs."""
        return sum(self.functions.widths) + max(self.springs)

    @property
    def places(self) -> np.ndarray:
        """Index of each modal coordinate, shape (p, m); N where a piece has fewer shapes of a deformation."""
        functions = self.functions
        found = np.full((len(self.counts), self.width), self.size)
        start = len(self.elastic)
        for i, (counts, springs) in enumerate(zip(self.counts, self.springs, strict=True)):
            for first, count in zip(functions.starts, (*counts, springs), strict=True):
                found[i, first : first + count] = np.arange(start, start + count)
                start += count
        return found

    @property
    def joints(self) -> tuple[str, ...]:
        names = {TURNS: "theta", SLIDES: "slide"}
        moving = (kind for kind in self.kinds if kind != FIXED)
        return tuple(f"{names[kind]}{i}" for i, kind in enumerate(moving, 1))

    @property
    def modal_coordinates(self) -> list[tuple[int, str, int]]:
        every = zip(self.numbers, self.counts, self.springs, strict=True)
        of_base = [(0, name, j) for name in ("displacement", "rotation") for j in (1, 2, 3)]
        return of_base * (0 in self.numbers) + [
            (link, name, j)
            for link, counts, springs in every
            for name, count in zip((*DEFORMATIONS, "spring"), (*counts, springs), strict=True)
            if link
            for j in range(1, count + 1)
        ]

    @property
    def moving(self) -> np.ndarray:
        """The pieces, from 0, at which there is a joint, shape (n,)."""
        return np.flatnonzero(np.array(self.kinds) != FIXED)

    @property
    def turns(self) -> np.ndarray:
        return np.array(self.kinds)[self.moving] == TURNS

    @property
    def joint_of(self) -> np.ndarray:
        """The joint, from 0, of each piece, shape (p,); n where it has none."""
        found = np.full(len(self.kinds), len(self.elastic))
        found[self.moving] = np.arange(len(self.elastic))
        return found

    def of_kind(self, kind: str) -> np.ndarray:
        """1 for each piece that is joined so to the one before it, 0 for the others."""
        return np.array([float(each == kind) for each in self.kinds])

    @property
    def links(self) -> np.ndarray:
        """The pieces that are links of the arm, in their order."""
        last = {number: piece for piece, number in enumerate(self.numbers) if number}
        return np.array(list(last.values()))
