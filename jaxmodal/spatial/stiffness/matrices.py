"""Matrices of float64 or double-double numbers, with small first axes and any trailing axes (lanes).

A matrix has shape (rows, columns, ...). Sums are taken in index order, so that results do not depend on the number of
lanes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jaxmodal.arithmetic.double_double import DoubleDouble
from jaxmodal.arithmetic.operations import Number, leading


def doubles(value: Any) -> np.ndarray:
    """Convert a value to a double-precision column; complex for complex steps."""
    return np.atleast_1d(np.asarray(value, np.result_type(value, np.float64)))


def shaped(x: Number, change: Callable[[np.ndarray], np.ndarray]) -> Number:
    """Apply ``change``, which only rearranges entries, to a float64 or double-double number."""
    if isinstance(x, DoubleDouble):
        return DoubleDouble(change(x.hi), change(x.lo))
    return change(x)


def stacked(numbers: Sequence[Number]) -> Number:
    """Return numbers of one kind, which broadcast, stacked along a new first axis."""
    if isinstance(numbers[0], DoubleDouble):
        return DoubleDouble(_stacked([x.hi for x in numbers]), _stacked([x.lo for x in numbers]))
    return _stacked(numbers)


def _stacked(parts: Sequence[Any]) -> np.ndarray:
    if len({np.shape(x) for x in parts}) > 1:
        parts = np.broadcast_arrays(*parts)
    return np.array(parts)


def joined(numbers: Sequence[Number], axis: int) -> Number:
    """Return numbers of one kind concatenated along an axis."""
    if isinstance(numbers[0], DoubleDouble):
        halves = ([x.hi for x in numbers], [x.lo for x in numbers])
        return DoubleDouble(*(np.concatenate(x, axis) for x in halves))
    return np.concatenate(numbers, axis)


def transposed(a: Number) -> Number:
    """Return the matrix with rows and columns exchanged."""
    return shaped(a, lambda x: np.swapaxes(x, 0, 1))


def summed(x: Number) -> Number:
    """Sum over the second axis."""
    total = x[:, 0]
    for place in range(1, leading(x).shape[1]):
        total = total + x[:, place]
    return total


def product(a: Number, b: Number) -> Number:
    """Return the product of matrices of shapes (p, q, ...) and (q, r, ...)."""
    return summed(a[:, :, None] * b[None])


def cross(a: Number, b: Number) -> Number:
    """Return the cross product along first axes of length 3."""
    first, second = [1, 2, 0], [2, 0, 1]
    return a[first] * b[second] - a[second] * b[first]


def skew(a: Number) -> Number:
    """Return the cross-product matrix of a vector: ``[a] b = a x b``, shape (3, 3, ...)."""
    places = np.array([[0, 2, 1], [2, 0, 0], [1, 0, 0]])
    signs = np.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])
    return shaped(a, lambda x: x[places] * signs.reshape((3, 3) + (1,) * (x.ndim - 1)))
