"""Rigid supports: loads carried to the ground, where the forces are found that keep the supports at rest.

With the responses of the arm without its rigid supports in blocks, A between what is kept, B between that and the
supports, C between the supports, the arm on its supports has ``A - B X`` with ``C X = B^T``. It is computed as
``A - B X - X^T (B^T - C X)``: an error of X changes this by its square alone, and derivatives follow from
those of A, B and C with X as it is.

In space a stiff spring is such a support, too: its compliance belongs to C, and what it lets move is no zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxmodal.arithmetic.dual import Dual
from jaxmodal.arithmetic.nothing import Nothing
from jaxmodal.arithmetic.operations import size_of
from jaxmodal.runtime.namespace import constant, linalg, xp
from jaxmodal.spatial.stiffness.symmetric import Symmetric, places, total

#: relative addition to a singular matrix, the smallest that changes 1: its response is then that near a resonance
_NUDGE = 2.0**-52
#: frequencies at which there is no resonance, rad/s, for they are not real; one of them is near those of any arm, where
#: what couples two ports by inertia alone is no smaller than rounding
OFF_AXIS = 10.0 ** np.arange(0.0, 10.0, 2.0) * (1.0 + 0.5j)
#: a motion at all of them below this, relative to the terms that cancel in it, is nothing: rounding reaches 6e-11 at
#: the highest
APART = 2.0**-30


def giving(w: Symmetric, gives: Sequence[Any]) -> Symmetric:
    """Return stiffness and loads with the compliances of supports, of whose forces the last loads are."""
    found = Symmetric(w.entries)
    for force, give in enumerate(gives, start=w.size - len(gives)):
        if isinstance(give, Dual) or give > 0.0:
            found[force, force] = w[force, force] - give
    return found


def rigid_alone(w: Symmetric, gives: Sequence[Any]) -> tuple[Symmetric, int]:
    """Return stiffness and loads without the forces of supports with a compliance, and how many rigid ones there are.

    What rigid supports hold or part is the same however stiff the other supports are.
    """
    first = w.size - len(gives)
    rigid = [
        first + k for k, give in enumerate(gives) if not isinstance(give, Dual) and give == 0.0
    ]
    if len(rigid) == len(gives):
        return w, len(rigid)
    rows = [*range(first), *rigid]
    return Symmetric([w[rows[i], rows[j]] for i, j in places(len(rows))]), len(rigid)


class Reactions:
    """Forces of rigid supports under loads.

    Solved for all supports at once, with pivots: by one after the other digits are lost where the arm
    on some of them is in resonance.

    Parameters
    ----------
    square
        C, one row per support, of numbers, arrays, traced or dual numbers.
    pushed
        B, one row per load.
    """

    def __init__(self, square: Sequence[Sequence[Any]], pushed: Sequence[Sequence[Any]]) -> None:
        self._square, self._pushed = square, pushed
        self._supports = range(len(square))
        self._forces = _forces(pushed, square)
        self._left = [
            [b[s] - total(square[s][t] * x[t] for t in self._supports) for s in self._supports]
            for b, x in zip(pushed, self._forces, strict=True)
        ]

    def held(self, i: int, j: int, free: Any) -> Any:
        """Return the response between two loads, from that without the supports."""
        x, other, left = self._forces, self._pushed[j], self._left[i]
        given = total(x[i][s] * other[s] for s in self._supports)
        return free - given - total(left[s] * x[j][s] for s in self._supports)

    def cancelled(self, i: int, j: int, free: Any) -> Any:
        """Return the sizes of what cancels in `held` added: below its rounding there are no digits."""
        x, b = self._forces, self._pushed
        return size_of(free) + total(
            size_of(b[i][s]) * size_of(x[j][s]) + size_of(x[i][s]) * size_of(b[j][s])
            for s in self._supports
        )

    def cancelled_slopes(self, i: int, j: int, free: Any) -> Any:
        """Return the sizes of what cancels in the derivatives of `held` added, (directions, ...)."""
        x, b, c = [[size_of(s) for s in row] for row in self._forces], self._pushed, self._square
        own = (_steep(b[i][s]) * x[j][s] + x[i][s] * _steep(b[j][s]) for s in self._supports)
        between = (
            x[i][s] * _steep(c[s][t]) * x[j][t] for s in self._supports for t in self._supports
        )
        return _steep(free) + total(own) + total(between)

    def terms(self, i: int, free: Any) -> Any:
        """Return `cancelled` of a load with itself, and what rounding of C adds, which is larger near a resonance."""
        forces, c = [size_of(x) for x in self._forces[i]], self._square
        own = (
            size_of(c[s][t]) * forces[s] * forces[t] for s in self._supports for t in self._supports
        )
        return self.cancelled(i, i, free) + total(own)


def supported(w: Symmetric, count: int) -> tuple[Symmetric, list[Any]]:
    """Return the stiffness and loads of an arm on its rigid supports, the last ``count`` loads of ``w`` without them.

    Beside it, of no dual numbers, the sizes of the terms of each entry of the diagonal.
    """
    if not count:
        return w, [size_of(w[i, i]) for i in range(w.size)]
    reactions, kept = reactions_of(w, count)
    found = Symmetric([reactions.held(i, j, w[i, j]) for i, j in places(kept)])
    dual = any(isinstance(each, Dual) for each in w.entries)
    return found, [] if dual else [reactions.terms(i, w[i, i]) for i in range(kept)]


def cancelled(w: Symmetric, count: int) -> Symmetric:
    """Return `Reactions.cancelled` of the entries of `supported`."""
    reactions, kept = reactions_of(w, count)
    return Symmetric([reactions.cancelled(i, j, w[i, j]) for i, j in places(kept)])


def reactions_of(w: Symmetric, count: int) -> tuple[Reactions, int]:
    """Return the forces of the last ``count`` loads, which are of supports, and the number of rows without these."""
    kept = w.size - count
    held = range(kept, w.size)
    square = [[w[s, t] for t in held] for s in held]
    return Reactions(square, [[w[i, s] for s in held] for i in range(kept)]), kept


def support_pivots(square: Sequence[Sequence[Any]]) -> list[Any]:
    """Return factors of the determinant of C, by one support after the other."""
    pivots = []
    while square:
        *others, last = square
        pivots.append(last[-1])
        square = [
            [x - row[-1] * (y / last[-1]) for x, y in zip(row[:-1], last[:-1], strict=True)]
            for row in others
        ]
    return pivots


def margin_of_supports(square: Sequence[Sequence[Any]], sizes: Sequence[Any]) -> Any:
    """Return a bound from below of the smallest singular value of C, scaled by the stiffnesses of the supports.

    It is nothing where forces of the supports alone keep these at rest: in a resonance.
    """
    roots = [xp.sqrt(size) for size in sizes]
    scaled = _matrix(
        [
            [x * a * b for x, b in zip(row, roots, strict=True)]
            for row, a in zip(square, roots, strict=True)
        ]
    )
    if len(square) == 1:
        return xp.abs(scaled[..., 0, 0])
    known = xp.all(xp.isfinite(scaled), axis=(-2, -1))[..., None, None]
    scaled = xp.where(known, scaled, 0.0)
    largest = xp.sqrt(xp.sum(xp.abs(scaled) ** 2, axis=(-2, -1)))
    return xp.abs(linalg.det(scaled)) / xp.where(largest > 0.0, largest, 1.0) ** (len(square) - 1)


def _forces(pushed: Sequence[Sequence[Any]], square: Sequence[Sequence[Any]]) -> Any:
    """X^T, shape (loads, supports, ...), of values without their derivatives."""
    every = _matrix([[_value(x) for x in row] for row in (*pushed, *square)])
    given, matrix = every[..., : len(pushed), :], every[..., len(pushed) :, :]
    size = constant(xp.sqrt(xp.abs(xp.diagonal(matrix, axis1=-2, axis2=-1))))
    size = xp.where(size > 0.0, size, 1.0)
    matrix = matrix / (size[..., :, None] * size[..., None, :])
    known = xp.all(xp.isfinite(matrix), axis=(-2, -1))[..., None, None]
    matrix = xp.where(known, matrix, np.eye(len(square)))
    singular = (linalg.det(matrix) == 0.0)[..., None, None]
    matrix = matrix + xp.where(singular, _NUDGE, 0.0) * np.eye(len(square))
    loads = xp.swapaxes(given / size[..., None, :], -2, -1)
    found = xp.where(known, linalg.solve(matrix, loads), np.nan) / size[..., :, None]
    return xp.moveaxis(found, (-1, -2), (0, 1))


def _matrix(rows: Sequence[Sequence[Any]]) -> Any:
    """Return an array (..., rows, columns) of the entries."""
    shape = np.broadcast_shapes(*(np.shape(x) for row in rows for x in row))
    every = xp.stack([xp.stack([xp.broadcast_to(x, shape) for x in row]) for row in rows])
    return xp.moveaxis(every, (0, 1), (-2, -1))


def _steep(x: Any) -> Any:
    """Return the sizes of derivatives; 0 for a number without any."""
    return size_of(x.slopes) if isinstance(x, Dual) else 0.0


def _value(x: Any) -> Any:
    if isinstance(x, Nothing):
        return 0.0
    return x.value if isinstance(x, Dual) else x
