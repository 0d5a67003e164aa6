"""Order of the functions of a link and of the generalised coordinates of an arm in space.

A model in space is a chain of *pieces*. Each link of the arm is a piece; a segment is a piece without a joint. An
elastic or driven base, and the springs at the joint of a sliding link, are pieces without length or mass.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from jaxmodal.dynamics.layout import Layout

#: displacements of a free base in its axes, as they are named in a linearisation
_DIRECTIONS = tuple(f"base.{name}" for name in ("x", "y", "z", "rx", "ry", "rz"))
DEFORMATIONS = ("stretch", "torsion", "bending_xy", "bending_xz")
#: how a piece is joined to the one before it: by a turning joint, by a sliding joint, or without a joint
TURNS, SLIDES, FIXED = "turns", "slides", "fixed"

#: number of shapes of each deformation of a link
Counts = tuple[int, int, int, int]


@dataclasses.dataclass(frozen=True)
class Functions:
    """Functions of x of a link with given numbers of shapes of each deformation, in order.

    The order is: 1, x, the shapes of stretch and of bending in both planes, the foreshortening by pairs of bending
    shapes in each plane, and the second-order terms of torsion with bending in x-z and in x-y.
    """

    widths: Counts

    @property
    def starts(self) -> np.ndarray:
        """Start index of each deformation among the modal coordinates of a link, followed by the total number."""
        return np.concatenate([[0], np.cumsum(self.widths)])

    def modal(self, deformation: int) -> slice:
        """Return the slice of a deformation within the modal coordinates of a link."""
        return slice(*self.starts[deformation : deformation + 2])

    def pairs(self, deformation: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the indices j <= k of all pairs of shapes of a deformation."""
        rows, columns = np.triu_indices(self.widths[deformation])
        return rows, columns

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of functions of each kind."""
        stretch, torsion, xy, xz = self.widths
        shorter = (xy * (xy + 1) // 2, xz * (xz + 1) // 2)
        return (1, 1, stretch, xy, xz, *shorter, torsion * xz, torsion * xy)

    @property
    def number(self) -> int:
        """Total number of functions."""
        return sum(self.sizes)

    @property
    def directions(self) -> np.ndarray:
        """Direction in which each function contributes to the deflection c, shape (k, 3)."""
        axes = (0, 0, 0, 1, 2, 0, 0, 1, 2)
        return np.eye(3)[np.repeat(axes, self.sizes)]

    @property
    def factors(self) -> list[tuple[tuple[int, int], ...]]:
        """Shapes of each function, as (deformation, number), whose coordinates multiply to its coefficient s."""
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
        """Return the indices of the functions that are used with these choices of formulation."""
        known = (True,) * 5 + (foreshortening,) * 2 + (second_order,) * 2
        return np.flatnonzero(np.repeat(known, self.sizes))


@dataclasses.dataclass(frozen=True)
class LayoutInSpace(Layout):
    """Order of the generalised coordinates of an arm in space in the vector q.

    Attributes
    ----------
    counts
        Number of shapes of each piece: in stretch, in torsion, in bending in its x-y plane and in its x-z plane.
    springs
        Number of ``joint_springs`` at the start of each piece, whose deflections follow its shapes.
    kinds
        Connection of each piece to the one before it: ``"turns"``, ``"slides"`` or ``"fixed"``.
    numbers
        Number, from 1, of the link to which each piece belongs; 0 for an elastic or driven base.
    base
        ``"free"``: the pose follows all other coordinates, and its six rates follow all other rates. ``"driven"``: its
        six coordinates take the positions of those of an elastic base.
    """

    counts: tuple[Counts, ...] = ()
    springs: tuple[int, ...] = ()
    kinds: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()
    base: str = "clamped"
    deformations: ClassVar[tuple[str, ...]] = DEFORMATIONS

    @property
    def floats(self) -> bool:
        """True if the base floats freely."""
        return self.base == "free"

    @property
    def free(self) -> np.ndarray:
        """1 for each rate that neither a motor nor the driven base prescribes; 0 for the others."""
        own = super().free
        own[self.given] = 0.0
        return np.concatenate([own, np.ones(6 * self.floats)])

    @property
    def given(self) -> np.ndarray:
        """Indices of the coordinates of a driven base; empty otherwise."""
        start = len(self.elastic)
        return np.arange(start, start + 6 * (self.base == "driven"))

    @property
    def loose(self) -> np.ndarray:
        """0 for each prescribed rate of a driven base; 1 for the others, those of joints included."""
        found = np.ones(self.size + 6 * self.floats)
        found[self.given] = 0.0
        return found

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coordinates, one for each rate; for a free base the names of its displacements in its axes."""
        return (*super().names, *(_DIRECTIONS * self.floats))

    @property
    def functions(self) -> Functions:
        """Functions of x of the links, with the largest number of shapes of each deformation on any link."""
        stretch, torsion, xy, xz = (max(c[d] for c in self.counts) for d in range(4))
        return Functions((stretch, torsion, xy, xz))

    @property
    def width(self) -> int:
        """Number of modal coordinates for which each link has room, m, joint springs included."""
        return sum(self.functions.widths) + max(self.springs)

    @property
    def places(self) -> np.ndarray:
        """Index of each modal coordinate in q, shape (p, m); N where a piece has fewer shapes of a deformation."""
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
        return np.flatnonzero(np.array(self.kinds) != FIXED)

    @property
    def turns(self) -> np.ndarray:
        return np.array(self.kinds)[self.moving] == TURNS

    @property
    def joint_of(self) -> np.ndarray:
        """Index, from 0, of the joint of each piece, shape (p,); n for a piece without a joint."""
        found = np.full(len(self.kinds), len(self.elastic))
        found[self.moving] = np.arange(len(self.elastic))
        return found

    def of_kind(self, kind: str) -> np.ndarray:
        """Return 1 for each piece with this connection to the one before it, 0 for the others."""
        return np.array([float(each == kind) for each in self.kinds])

    @property
    def links(self) -> np.ndarray:
        """Indices of the pieces that are links of the arm, in order."""
        last = {number: piece for piece, number in enumerate(self.numbers) if number}
        return np.array(list(last.values()))
