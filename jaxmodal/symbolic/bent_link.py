"""One link in space at one instant, as expressions: points, end, inertia, and forces on a motion."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from jaxmodal.symbolic.deformed_link import DeformedLink
from jaxmodal.symbolic.graph import Expression, Graph
from jaxmodal.symbolic.nomenclature_in_space import Body, LinkInSpace
from jaxmodal.symbolic.vectors import Matrix, Turn, Vector, matrix, outer


@dataclasses.dataclass(frozen=True)
class Inertia:
    """Rigid body about a frame: mass, first moment, and inertia tensor."""

    mass: Expression
    first: Vector
    tensor: Matrix


@dataclasses.dataclass(frozen=True)
class Motion:
    """Motion of a frame, in its own axes: angular velocity and acceleration, and the acceleration of its origin."""

    spin: Vector
    growth: Vector
    pull: Vector

    def field(self) -> Matrix:
        """Return the matrix that maps a position in the frame to its acceleration relative to the origin."""
        w, g = self.spin, self.growth
        squared = w.dot(w)
        crossed = _crossed(squared, g)
        products = outer(w, w)
        return Matrix(tuple(a - b for a, b in zip(products.rows, crossed, strict=True)))  # type: ignore[arg-type]

    def at(self, place: Vector, rate: Vector, growth: Vector) -> Motion:
        """Return the motion of the frame with the same axes at a point that has this velocity and acceleration here."""
        pull = self.pull + self.field().of(place)
        return Motion(self.spin, self.growth, pull + self.spin.cross(rate).times(2.0) + growth)


def turned_motion(motion: Motion, turn: Turn, rate: Vector, growth: Vector) -> Motion:
    """Return the motion of a frame turned by a rotation vector with this rate and second derivative."""
    own, back = turn.rate(rate), turn.axes.transposed
    spin = back.of(motion.spin)
    swing = back.of(motion.growth) + spin.cross(own) + turn.rate(growth)
    return Motion(spin + own, swing + turn.second(rate), back.of(motion.pull))


def _crossed(square: Expression, vector: Vector) -> tuple[Vector, Vector, Vector]:
    """Return the rows of w^2 - [g]."""
    x, y, z = vector.parts
    return Vector(square, z, -y), Vector(-z, square, x), Vector(y, -x, square)


def moment(table: Matrix) -> Vector:
    """Return the sum of position x force, from the matrix of their products with positions as rows."""
    (_, xy, xz), (yx, _, yz), (zx, zy, _) = (row.parts for row in table.rows)
    return Vector(yz - zy, zx - xz, xy - yx)


def inertia_of(second: Matrix) -> Matrix:
    """Return the inertia tensor from second moments of mass."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = (row.parts for row in second.rows)
    return matrix([[yy + zz, -xy, -xz], [-xy, xx + zz, -yz], [-xz, -yz, xx + yy]])


def wrench(body: Body, motion: Motion, field: Matrix) -> tuple[Vector, Vector]:
    """Return force and moment about the frame of a rigid body that moves with it."""
    force = motion.pull.times(body.mass) + field.of(body.first)
    turning = moment(body.second @ field.transposed)
    return force, turning + body.first.cross(motion.pull)


class BentLink(DeformedLink):
    """Link with its modal coordinates ``deltas``, whose end turns by the rotation of its rotation vector.

    ``tip`` is the position of its tip relative to its joint, ``turn`` the rotation to the axes there; ``pushes`` and
    ``turns`` are velocity and angular velocity of the tip per unit rate of each modal coordinate, in tip axes.
    """

    def __init__(
        self,
        graph: Graph,
        made: LinkInSpace,
        deltas: Sequence[Expression],
        factorial: Callable[[int], Expression],
    ) -> None:
        super().__init__(graph, made, deltas)
        self.turn = Turn(graph, self.vector, factorial)
        self.tip = self.end + self.turn.axes.of(made.offset)
        self.turns = [self.turn.rate(slope) for slope in self.slopes]
        back = self.turn.axes.transposed
        self.pushes = [
            back.of(self.end_by(k)) + turned.cross(made.offset)
            for k, turned in enumerate(self.turns)
        ]

    # motion and forces

    def moved_tip(
        self, motion: Motion, rates: Sequence[Expression], more: Sequence[Expression]
    ) -> Motion:
        """Return the motion of the tip frame, in its axes."""
        end = self.end_motion(rates, more)
        tip = turned_motion(
            motion.at(end.reach, end.rate, end.growth), self.turn, end.turning, end.turning_growth
        )
        return tip.at(self.made.offset, self.still, self.still)

    def forces(
        self, motion: Motion, rates: Sequence[Expression], more: Sequence[Expression]
    ) -> tuple[Vector, Vector, list[Expression]]:
        """Return force and moment about the joint, and modal forces, of a link with the body at its joint."""
        made, still = self.made, Vector(*(self.zero,) * 3)
        field = motion.field()
        force, turning = wrench(made.at_joint, motion, field)
        if not made.functions:
            return force, turning, []
        columns, fields = field.transposed.rows, []
        for function, share in zip(made.functions, self.shares, strict=True):
            here, then = self.change(function, rates), self.change(function, more)
            rate = self.along(function, 2.0 * here)
            found = columns[function.axis].times(share) + motion.spin.cross(rate)
            fields.append(found + self.along(function, then + self.twice(function, rates)))
        fields[0] = motion.pull + field.of(made.start)
        acting = []
        for row in made.gram:
            sum_of = still
            for value, each in zip(row, fields, strict=True):
                sum_of = sum_of + each.times(value)
            acting.append(sum_of)
        force = force + acting[0]
        for point, each in zip(self.points, acting, strict=True):
            turning = turning + point.cross(each)
        modal = []
        for k in range(len(self.deltas)):
            terms = (
                self.partial(f, k) * each.parts[f.axis]
                for f, each in zip(made.functions, acting, strict=True)
            )
            modal.append(self.graph.total(terms))
        return force, turning, modal

    # inertia

    def weighted(self) -> list[Vector]:
        """Return the integral of each function times the position over the link."""
        found = []
        for row in self.made.gram:
            total = Vector(*(self.zero,) * 3)
            for value, point in zip(row, self.points, strict=True):
                total = total + point.times(value)
            found.append(total)
        return found

    def whole(self, weighted: Sequence[Vector]) -> Inertia:
        """Return the inertia of the link with the body at its joint, about the joint."""
        made = self.made
        mass, first, second = made.at_joint.mass, made.at_joint.first, made.at_joint.second
        if weighted:
            mass, first = mass + made.gram[0][0], first + weighted[0]
        for point, each in zip(self.points, weighted, strict=True):
            second = second + outer(point, each)
        return Inertia(mass, first, inertia_of(second))

    def column(self, k: int, weighted: Sequence[Vector]) -> tuple[Vector, Vector, list[Expression]]:
        """Return momentum, moment of momentum about the joint, and products with all modes, for coordinate k."""
        made = self.made
        push, swing = (Vector(*(self.zero,) * 3) for _ in range(2))
        partials = [self.partial(f, k) for f in made.functions]
        for a, (function, partial) in enumerate(zip(made.functions, partials, strict=True)):
            unit = self.along(function, partial)
            push = push + unit.times(made.gram[0][a])
            swing = swing + weighted[a].cross(unit)
        products = []
        for j in range(len(self.deltas)):
            total = self.zero
            for a, first in enumerate(made.functions):
                left = self.partial(first, j)
                if left.is_zero:
                    continue
                inner = self.graph.total(
                    made.gram[a][b] * partial
                    for b, (second, partial) in enumerate(
                        zip(made.functions, partials, strict=True)
                    )
                    if second.axis == first.axis
                )
                total = total + left * inner
            products.append(total)
        return push, swing, products
