"""Vectors and matrices in space whose entries are expressions, and the rotation by a vector as a power series."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from jaxmodal.symbolic.graph import COSINE, SINE, Expression, Graph

#: number of terms of the series in t^2 of sin t/t and similar: exact to rounding up to an angle of 2 rad
_TERMS = 12


@dataclasses.dataclass(frozen=True)
class Vector:
    """Vector with three components."""

    x: Expression
    y: Expression
    z: Expression

    @property
    def parts(self) -> tuple[Expression, Expression, Expression]:
        """All three components."""
        return self.x, self.y, self.z

    def __add__(self, other: Vector) -> Vector:
        return Vector(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other: Vector) -> Vector:
        return Vector(self.x - other.x, self.y - other.y, self.z - other.z)

    def times(self, factor: Expression | float) -> Vector:
        """Return the vector multiplied by a number."""
        return Vector(self.x * factor, self.y * factor, self.z * factor)

    def dot(self, other: Vector) -> Expression:
        """Return the scalar product."""
        return self.x * other.x + self.y * other.y + self.z * other.z

    def cross(self, other: Vector) -> Vector:
        """Return the vector product, with this vector first."""
        return Vector(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x,
        )

    @property
    def is_zero(self) -> bool:
        """True if all components are the number 0."""
        return all(part.is_zero for part in self.parts)


@dataclasses.dataclass(frozen=True)
class Matrix:
    """Matrix of three rows."""

    rows: tuple[Vector, Vector, Vector]

    def of(self, vector: Vector) -> Vector:
        """Return its product with a vector."""
        return Vector(*(row.dot(vector) for row in self.rows))

    @property
    def transposed(self) -> Matrix:
        """Transposed matrix."""
        first, second, third = (row.parts for row in self.rows)
        return matrix([list(column) for column in zip(first, second, third, strict=True)])

    def times(self, factor: Expression | float) -> Matrix:
        """Return the matrix multiplied by a number."""
        return Matrix(tuple(row.times(factor) for row in self.rows))  # type: ignore[arg-type]

    def inner(self, other: Matrix) -> Expression:
        """Return the sum of the products of corresponding entries."""
        first, second, third = (a.dot(b) for a, b in zip(self.rows, other.rows, strict=True))
        return first + second + third

    def __add__(self, other: Matrix) -> Matrix:
        return Matrix(tuple(a + b for a, b in zip(self.rows, other.rows, strict=True)))  # type: ignore[arg-type]

    def __matmul__(self, other: Matrix) -> Matrix:
        columns = other.transposed
        return Matrix(tuple(columns.of(row) for row in self.rows))  # type: ignore[arg-type]


def matrix(entries: Sequence[Sequence[Expression]]) -> Matrix:
    """Return a matrix from its entries, row by row."""
    return Matrix(tuple(Vector(*row) for row in entries))  # type: ignore[arg-type]


def outer(first: Vector, second: Vector) -> Matrix:
    """Return the outer product of two vectors."""
    return Matrix(tuple(second.times(part) for part in first.parts))  # type: ignore[arg-type]


def skew(vector: Vector) -> Matrix:
    """Return the matrix [a] of the vector product: [a] b = a x b."""
    x, y, z = vector.parts
    zero = x * 0.0
    return matrix([[zero, -z, y], [z, zero, -x], [-y, x, zero]])


def unit_matrix(graph: Graph) -> Matrix:
    """Return the unit matrix."""
    return matrix([[graph.number(float(i == k)) for k in range(3)] for i in range(3)])


def about(graph: Graph, axis: Sequence[float], angle: Expression) -> Matrix:
    """Return the rotation by an angle about a unit vector of numbers."""
    sine, cosine = graph.function(SINE, angle), graph.function(COSINE, angle)
    x, y, z = axis
    crossed = ((0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0))
    entries = []
    for i in range(3):
        row = []
        for j in range(3):
            along = graph.number(axis[i] * axis[j])
            across = graph.number(float(i == j)) - along
            row.append(along + across * cosine + graph.number(crossed[i][j]) * sine)
        entries.append(row)
    return matrix(entries)


class Turn:
    """Rotation exp[phi] of a vector phi, and the angular velocity from the rate of the vector.

    ``factorial`` returns 1/k!, from which the series are formed. ``rate`` returns T v = v - B phi x v + C phi x (phi x
    v), the angular velocity in the turned axes for a rate v of phi.
    """

    def __init__(
        self, graph: Graph, vector: Vector, factorial: Callable[[int], Expression]
    ) -> None:
        self.graph, self.vector, self.factorial = graph, vector, factorial
        self.still = vector.is_zero
        self.single = sum(not part.is_zero for part in vector.parts) == 1
        one, zero = graph.one, graph.zero
        self._square = vector.dot(vector)
        if self.still:
            self.axes = matrix([[one, zero, zero], [zero, one, zero], [zero, zero, one]])
        elif self.single:
            (place,) = (k for k in range(3) if not vector.parts[k].is_zero)
            self.axes = about(graph, [float(k == place) for k in range(3)], vector.parts[place])
        else:
            sine, self._first, self._second = (self._series(order, 0) for order in (1, 2, 3))
            cosine = one - self._first * self._square
            x, y, z = vector.times(sine).parts
            products = outer(vector, vector.times(self._first))
            crossed = matrix([[cosine, -z, y], [z, cosine, -x], [-y, x, cosine]])
            self.axes = products + crossed

    def _series(self, order: int, derivative: int) -> Expression:
        """Return the series in t^2 of sin t/t, (1 - cos t)/t^2 or (t - sin t)/t^3, or its derivative by t^2."""
        made = self.graph.zero
        for k in reversed(range(derivative, _TERMS)):
            share = self.factorial(2 * k + order) * (k if derivative else 1.0)
            made = made * self._square + (-share if k % 2 else share)
        return made

    def rate(self, change: Vector) -> Vector:
        """Return the angular velocity, in the turned axes, for a rate of the vector."""
        if self.still or self.single:
            return change
        once = self.vector.cross(change)
        return change - once.times(self._first) + self.vector.cross(once).times(self._second)

    def second(self, change: Vector) -> Vector:
        """Return the angular acceleration for a rate of the vector, to be added to `rate` of its second derivative."""
        if self.still or self.single:
            return Vector(*(self.graph.zero,) * 3)
        once = self.vector.cross(change)
        if once.is_zero:
            return once
        growth = 2.0 * self.vector.dot(change)
        made = self.vector.cross(once).times(growth * self._series(3, 1))
        made = made - once.times(growth * self._series(2, 1))
        return made + change.cross(once).times(self._second)
