"""A dynamic stiffness over the six directions passed through turns, offsets, bodies, springs and elastic ends.

It is a symmetric 6 x 6 matrix over (u, v, w, phi_x, phi_y, phi_z), as a number of shape (6, 6, trials, cells).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jaxmodal.arithmetic.double_double import DoubleDouble
from jaxmodal.arithmetic.operations import Number, leading
from jaxmodal.spatial.stiffness.matrices import (
    cross,
    nonzero,
    product,
    shaped,
    stacked,
    summed,
    transposed,
)

#: the directions that couple in a straight link, two by two: stretching and torsion do not couple at all
PAIRS = ((0, 3), (1, 5), (2, 4))
#: to each direction the other one of its pair
PARTNERS = np.array([3, 5, 4, 0, 2, 1])


class Step(NamedTuple):
    """What a step yields: the stiffness behind it, a factor of the determinant, and how many modes it passes."""

    stiffness: Number
    factor: Number
    passed: np.ndarray


def turned(w: Number, rotation: Number) -> Number:
    """``B W B^T``, B = diag(R, R): into axes in which those of W are the columns of R."""

    def half(x: Number) -> Number:
        by_kind = shaped(x, lambda a: np.swapaxes(a.reshape(2, 3, *a.shape[1:]), 0, 1))
        rows = summed(rotation[:, :, None, None] * by_kind[None])
        return shaped(rows, lambda a: np.swapaxes(a, 0, 1).reshape(6, *a.shape[2:]))

    return half(transposed(half(w)))


def shifted(w: Number, offset: Number) -> Number:
    """``G^T W G``: to a point from which that of W is seen at ``offset``, shape (3, ...)."""

    def half(x: Number) -> Number:
        upper, lower = x[:3], x[3:]
        lower = lower + cross(offset[:, None], upper)
        return stacked([*(upper[i] for i in range(3)), *(lower[i] for i in range(3))])

    return half(transposed(half(w)))


def released(w: Number, pair: tuple[int, int], receptance: Number, determinant: Number) -> Step:
    """``W (I + R W)^-1`` for an elastic end that gives way in two directions.

    Parameters
    ----------
    w : Number
        Stiffness at the end, shape (6, 6, ...).
    receptance : Number
        R, symmetric, shape (2, 2, ...).
    determinant : Number
        det R, from its closed form.

    Returns
    -------
    Step
        The factor is det(I + R W) of the pair, ``passed`` the number of negative eigenvalues of R + R W R.
    """
    at = list(pair)
    columns = w[:, at]
    q = product(receptance, columns[at])
    q = _plus_identity(q)
    factor = nonzero(q[0, 0] * q[1, 1] - q[0, 1] * q[1, 0])
    signature = product(q, receptance)
    first, second = leading(signature[0, 0]) < 0.0, leading(signature[1, 1]) < 0.0
    both = leading(factor) * leading(determinant) < 0.0
    count = np.where(both, 1.0, first.astype(float) + second.astype(float))
    signs = np.array([[1.0, -1.0], [-1.0, 1.0]]).reshape((2, 2) + (1,) * (leading(w).ndim - 2))
    adjugate = shaped(
        q, lambda x: np.stack([np.stack([x[1, 1], x[0, 1]]), np.stack([x[1, 0], x[0, 0]])]) * signs
    )
    inverse = adjugate * (1.0 / factor)
    y = product(inverse, receptance)
    rest = w - product(product(columns, y), transposed(columns))
    return Step(_with_columns(rest, product(columns, inverse), at), factor, count)


def _with_columns(w: Number, columns: Number, at: list[int]) -> Number:
    """W with other columns, and rows, at two places: what a difference of large numbers would be there."""

    def one(x: np.ndarray, new: np.ndarray) -> np.ndarray:
        x = x.copy()
        x[:, at], x[at, :] = new, np.swapaxes(new, 0, 1)
        x[at[1], at[0]] = x[at[0], at[1]]
        return x

    if isinstance(w, DoubleDouble):
        return DoubleDouble(one(w.hi, columns.hi), one(w.lo, columns.lo))
    return one(w, columns)


def _plus_identity(q: Number) -> Number:
    one = np.eye(2).reshape((2, 2) + (1,) * (leading(q).ndim - 2))
    return q + one


def through_spring(w: Number, direction: Number, unit: Number, compliance: Number) -> Step:
    """A spring in series along a unit vector of the six directions, shape (6, ...).

    Its law is ``unit * motion = compliance * force``: (1, 0) is rigid, (1, 1/k) a spring, (0, 1) gives way freely.
    """
    column = product(w, direction[:, None])[:, 0]
    pivot = nonzero(unit + compliance * product(direction[None], column[:, None])[0, 0])
    w = w - (column * (compliance / pivot))[:, None] * column[None]
    return Step(w, pivot, (leading(pivot) < 0.0).astype(float))
