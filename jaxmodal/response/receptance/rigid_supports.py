"""Rigid supports: loads carried to the ground, where the forces are found that keep the supports at rest.

Let the stiffness and loads W of the arm without its rigid supports have the blocks A of the kept entries, C of the
supports, and B between the two. The arm on its supports then has ``A - B X`` with ``C X = B^T``. It is computed as ``A
- B X - X^T (B^T - C X)``: an error of X enters only with its square, and derivatives follow from those of A, B and C
with X constant.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from jaxmodal.arithmetic.dual import Dual
from jaxmodal.arithmetic.nothing import Nothing
from jaxmodal.response.receptance.lost_digits import size_of
from jaxmodal.spatial.stiffness.symmetric import Symmetric, places, total

#: relative addition to a singular matrix, the smallest that changes 1: its response is then that near a resonance
_NUDGE = 2.0**-52


class Supported(NamedTuple):
    """Arm on its rigid supports.

    Attributes
    ----------
    stiffness
        Stiffness and loads at the ground.
    terms
        Sum of the absolute values of the terms of each diagonal entry, which bounds its rounding error.
    """

    stiffness: Symmetric
    terms: list[Any]


def supported(w: Symmetric, count: int) -> Supported:
    """Return an arm on its rigid supports, which are the last ``count`` loads of its stiffness without them.

    All supports are solved at once, with pivoting: one after another would lose digits if the arm on some of them is in
    resonance.
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
    """Return factors of the determinant of -C, one support after another."""
    pivots = []
    for last in reversed(range(w.size - count, w.size)):
        pivot = w[last, last]
        pivots.append(-pivot)
        w = Symmetric([w[i, j] - w[i, last] * (w[last, j] / pivot) for i, j in places(last)])
    return pivots


def _forces(b: list[list[Any]], c: list[list[Any]]) -> np.ndarray:
    """Return X^T, shape (kept, supports, ...), without derivatives."""
    values = [[_value(x) for x in row] for row in (*b, *c)]
    shape = np.broadcast_shapes(*(np.shape(x) for row in values for x in row))
    every = np.array([[np.broadcast_to(x, shape) for x in row] for row in values])
    every = np.moveaxis(every, (0, 1), (-2, -1))  # (..., kept and supports, supports)
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
