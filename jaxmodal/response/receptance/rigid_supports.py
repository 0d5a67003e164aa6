"""Rigid supports: loads that ride along to the ground, where their forces are found that keep the supports at rest.

With the stiffness and loads W of the arm without its rigid supports in blocks, A of what is kept, B between that and
the supports, C of the supports, the arm on its supports has ``A - B X`` with ``C X = B^T``. It is computed as
``A - B X - X^T (B^T - C X)``: an error of X changes this by its square alone, and derivatives follow from
those of A, B and C with X as it is.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from jaxmodal.arithmetic.dual import Dual
from jaxmodal.arithmetic.nothing import Nothing
from jaxmodal.response.receptance.lost_digits import size_of
from jaxmodal.spatial.stiffness.symmetric import Symmetric, places, total

#: what is added to a matrix without inverse, relative: its response is that near a resonance; the least that changes 1
_NUDGE = 2.0**-52


class Supported(NamedTuple):
    """An arm on its rigid supports.

    Attributes
    ----------
    stiffness
        Stiffness and loads as the ground sees them.
    terms
        The terms that each entry of the diagonal is the sum of, their sizes added: its rounding.
    """

    stiffness: Symmetric
    terms: list[Any]


def supported(w: Symmetric, count: int) -> Supported:
    """An arm on its rigid supports, the last ``count`` loads of its stiffness without them.

    Solved for all supports at once, with pivots: by one after the other digits are lost where the arm
    on some of them is in resonance.
    """
    if not count:
        return Supported(w, [size_of(w[i, i]) for i in range(w.size)])
    kept, held = range(w.size - count), range(w.size - count, w.size)
    b = [[w[i, s] for s in held] for i in kept]
    c = [[w[s, t] for t in held] for s in held]
    x = _forces(b, c)
    left = [
        [b[i][s] - total(c[s][t] * x[i][t] for t in range(count)) for s in range(count)]
        for i in kept
    ]

    def entry(i: int, j: int) -> Any:
        given = total(x[i][s] * b[j][s] for s in range(count))
        return w[i, j] - given - total(left[i][s] * x[j][s] for s in range(count))

    def terms(i: int) -> Any:
        forces = [size_of(x[i][s]) for s in range(count)]
        cross = total(size_of(b[i][s]) * forces[s] for s in range(count))
        own = total(
            size_of(c[s][t]) * forces[s] * forces[t] for s in range(count) for t in range(count)
        )
        return size_of(w[i, i]) + 2.0 * cross + own

    dual = any(isinstance(each, Dual) for each in w.entries)
    found = Symmetric([entry(i, j) for i, j in places(len(kept))])
    return Supported(found, [] if dual else [terms(i) for i in kept])


def support_pivots(w: Symmetric, count: int) -> list[Any]:
    """Factors of the determinant of -C, by one support after the other."""
    pivots = []
    for last in reversed(range(w.size - count, w.size)):
        pivot = w[last, last]
        pivots.append(-pivot)
        w = Symmetric([w[i, j] - w[i, last] * (w[last, j] / pivot) for i, j in places(last)])
    return pivots


def _forces(b: list[list[Any]], c: list[list[Any]]) -> np.ndarray:
    """X^T, shape (kept, supports, ...), of values without their derivatives."""
    values = [[_value(x) for x in row] for row in (*b, *c)]
    shape = np.broadcast_shapes(*(np.shape(x) for row in values for x in row))
    every = np.array([[np.broadcast_to(x, shape) for x in row] for row in values])
    every = np.moveaxis(every, (0, 1), (-2, -1))  # ..., kept and supports, supports
    given, square = every[..., : len(b), :], every[..., len(b) :, :]
    size = np.sqrt(np.abs(np.diagonal(square, axis1=-2, axis2=-1)))
    size = np.where(size > 0.0, size, 1.0)
    square = square / (size[..., :, None] * size[..., None, :])
    known = np.isfinite(square).all(axis=(-2, -1))[..., None, None]
    square = np.where(known, square, np.eye(len(c)))
    singular = (np.linalg.det(square) == 0.0)[..., None, None]
    square = square + np.where(singular, _NUDGE, 0.0) * np.eye(len(c))
    pushed = np.swapaxes(given / size[..., None, :], -2, -1)
    found = np.where(known, np.linalg.solve(square, pushed), np.nan) / size[..., :, None]
    return np.moveaxis(found, (-1, -2), (0, 1))


def _value(x: Any) -> Any:
    if isinstance(x, Nothing):
        return 0.0
    return x.value if isinstance(x, Dual) else x
