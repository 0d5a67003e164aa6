"""Planar vectors as complex numbers of expressions, and expressions truncated to first order."""

from __future__ import annotations

import dataclasses
from typing import Any

from jaxmodal.symbolic.graph import Expression

#: an `Expression`, or a `Truncated` pair; both have +, - and *
Scalar = Any


@dataclasses.dataclass(frozen=True)
class Truncated:
    """Expression to first order in the deflections: the part without them, and the part linear in them."""

    steady: Expression
    linear: Expression

    def __add__(self, other: Any) -> Truncated:
        if isinstance(other, Truncated):
            return Truncated(self.steady + other.steady, self.linear + other.linear)
        return Truncated(self.steady + other, self.linear)

    __radd__ = __add__

    def __neg__(self) -> Truncated:
        return Truncated(-self.steady, -self.linear)

    def __sub__(self, other: Any) -> Truncated:
        return self + (-other)

    def __rsub__(self, other: Any) -> Truncated:
        return -self + other

    def __mul__(self, other: Any) -> Truncated:
        if isinstance(other, Truncated):
            return Truncated(
                self.steady * other.steady,
                self.steady * other.linear + self.linear * other.steady,
            )
        return Truncated(self.steady * other, self.linear * other)

    __rmul__ = __mul__


def whole(value: Scalar) -> Expression:
    """Return one expression: the value itself, or the sum of both parts of a truncated one."""
    return value.steady + value.linear if isinstance(value, Truncated) else value


@dataclasses.dataclass(frozen=True)
class Planar:
    """Planar vector x + i y, or a factor that turns and stretches one."""

    x: Scalar
    y: Scalar

    def __add__(self, other: Planar) -> Planar:
        return Planar(self.x + other.x, self.y + other.y)

    def __sub__(self, other: Planar) -> Planar:
        return Planar(self.x - other.x, self.y - other.y)

    def __neg__(self) -> Planar:
        return Planar(-self.x, -self.y)

    def __mul__(self, other: Planar) -> Planar:
        return Planar(
            self.x * other.x - self.y * other.y,
            self.x * other.y + self.y * other.x,
        )

    def times(self, factor: Scalar) -> Planar:
        """Return the vector multiplied by a real number."""
        return Planar(self.x * factor, self.y * factor)

    @property
    def turned(self) -> Planar:
        """Vector turned counter-clockwise by a right angle: multiplied by i."""
        return Planar(-self.y, self.x)

    @property
    def conjugate(self) -> Planar:
        return Planar(self.x, -self.y)


def along(first: Planar, second: Planar) -> Scalar:
    """Return Re(conj(first) second), the scalar product."""
    return first.x * second.x + first.y * second.y


def across(first: Planar, second: Planar) -> Scalar:
    """Return Im(conj(first) second), the moment of a force ``second`` at position ``first``."""
    return first.x * second.y - first.y * second.x
