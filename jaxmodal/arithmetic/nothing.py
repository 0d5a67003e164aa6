"""A structural zero: sums and products with it are simplified instead of computed.

Formulas over the six directions of space are mostly zeros for an arm with few features or in a plane. Each number is an
array of many lanes, so that skipping these operations saves most of the time.
"""

from __future__ import annotations

from typing import Any

from jaxmodal.runtime.namespace import Array


class Nothing:
    """Exact zero of any shape; see `NOTHING`."""

    #: arrays of NumPy leave operations to it
    __array_ufunc__ = None

    real = imag = property(lambda self: self)

    def __add__(self, other: Any) -> Any:
        return other

    __radd__ = __add__
    __rsub__ = __add__

    def __sub__(self, other: Any) -> Any:
        return -other

    def __neg__(self) -> Nothing:
        return self

    def __mul__(self, other: Any) -> Nothing:
        return self

    __rmul__ = __mul__
    __truediv__ = __mul__

    def __abs__(self) -> float:
        return 0.0


NOTHING = Nothing()


def without_zeros(x: float) -> float | Nothing:
    """Return a number, or `NOTHING` if it is 0."""
    return NOTHING if x == 0.0 else x


def as_array(x: Array | Nothing, like: Array) -> Array:
    """Return a number as an array with the shape of another."""
    return 0.0 * like if isinstance(x, Nothing) else x + 0.0 * like
