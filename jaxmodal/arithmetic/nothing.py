"""A number that is exactly zero: what it is added to stays, what it is multiplied with it becomes, and nothing is done.

Formulas over the six directions of space are mostly zeros where an arm has few features, or lies in a plane. Where each
number is an array of many lanes, leaving these operations out is most of the speed.
"""

from __future__ import annotations

from typing import Any

from jaxmodal.runtime.namespace import Array


class Nothing:
    """Exactly zero, of any shape; see `NOTHING`."""

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
    """A number, or nothing where it is 0."""
    return NOTHING if x == 0.0 else x


def as_array(x: Array | Nothing, like: Array) -> Array:
    """A number as an array with the shape of another."""
    return 0.0 * like if isinstance(x, Nothing) else x + 0.0 * like
