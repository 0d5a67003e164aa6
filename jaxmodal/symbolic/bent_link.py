"""One link in space at one instant, as expressions: points, end, inertia, and what a motion makes of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from jaxmodal.symbolic.graph import Expression, Graph
from jaxmodal.symbolic.nomenclature_in_space import Body, Function, LinkInSpace
from jaxmodal.symbolic.vectors import Matrix, Turn, Vector, matrix, outer


@dataclasses.dataclass(frozen=True)
class Inertia:
    """A rigid body about a frame: mass, first moment, and inertia tensor."""

    mass: Expression
    first: Vector
    tensor: Matrix


@dataclasses.dataclass(frozen=True)
class Motion:
    """Of a frame, in its own axes: angular velocity and acceleration, and the acceleration of its origin."""

    spin: Vector
    growth: Vector
    pull: Vector

    def field(self) -> Matrix:
        """What makes of a place in the frame the acceleration there beside that of the origin."""
        w, g = self.spin, self.growth
        squared = w.dot(w)
        crossed = _crossed(squared, g)
        products = outer(w, w)
        return Matrix(tuple(a - b for a, b in zip(products.rows, crossed, strict=True)))  # type: ignore[arg-type]

    def at(self, place: Vector, rate: Vector, growth: Vector) -> Motion:
        """Of the frame with the same axes at a place that moves so in this one."""
        pull = self.pull + self.field().of(place)
        return Motion(self.spin, self.growth, pull + self.spin.cross(rate).times(2.0) + growth)


def turned_motion(motion: Motion, turn: Turn, rate: Vector, growth: Vector) -> Motion:
    """Of the frame that is turned by a rotation vector, which has this rate and second derivative."""
    own, back = turn.rate(rate), turn.axes.transposed
    spin = back.of(motion.spin)
    swing = back.of(motion.growth) + spin.cross(own) + turn.rate(growth)
    return Motion(spin + own, swing + turn.second(rate), back.of(motion.pull))


def _crossed(square: Expression, vector: Vector) -> tuple[Vector, Vector, Vector]:
    """Rows of w^2 - [g]."""
    x, y, z = vector.parts
    return Vector(square, z, -y), Vector(-z, square, x), Vector(y, -x, square)


def moment(table: Matrix) -> Vector:
    """The sum of place x force of a table of their products, places by rows."""
    (_, xy, xz), (yx, _, yz), (zx, zy, _) = (row.parts for row in table.rows)
    return Vector(yz - zy, zx - xz, xy - yx)


def inertia_of(second: Matrix) -> Matrix:
    """The inertia tensor by second moments."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = (row.parts for row in second.rows)
    return matrix([[yy + zz, -xy, -xz], [-xy, xx + zz, -yz], [-xz, -yz, xx + yy]])


def wrench(body: Body, motion: Motion, field: Matrix) -> tuple[Vector, Vector]:
    """Force and moment about its frame that a rigid body needs on a motion of that frame."""
    force = motion.pull.times(body.mass) + field.of(body.first)
    turning = moment(body.second @ field.transposed)
    return force, turning + body.first.cross(motion.pull)


class BentLink:
    """A link with its modal coordinates ``deltas``.

    ``tip`` is the place of its tip from its joint, ``turn`` the rotation to the axes there, ``pushes`` and ``turns``
    the velocity and angular velocity of the tip by each modal coordinate in tip axes.
    """

    def __init__(
        self,
        graph: Graph,
        made: LinkInSpace,
        deltas: Sequence[Expression],
        factorial: Callable[[int], Expression],
    ) -> None:
        self.graph, self.made, self.deltas = graph, made, list(deltas)
        self.zero = graph.zero
        still = Vector(*(graph.zero,) * 3)
        vector = still
        for slope, delta in zip(made.slopes, deltas, strict=True):
            vector = vector + slope.times(delta)
        for (a, b), second in made.turns.items():
            vector = vector + second.times(deltas[a] * deltas[b])
        self.turn = Turn(graph, vector, factorial)
        self.shares = [self._share(f) for f in made.functions]
        self.points = [self._along(f, s) for f, s in zip(made.functions, self.shares, strict=True)]
        end = made.start
        if self.points:
            self.points[0] = made.start
            for value, point in zip(made.ends[1:], self.points[1:], strict=True):
                end = end + point.times(value)
        self.tip = end + self.turn.axes.of(made.offset)
        self.slopes = [self._slope(k) for k in range(len(self.deltas))]
        self.turns = [self.turn.rate(slope) for slope in self.slopes]
        back = self.turn.axes.transposed
        self.pushes = []
        for k, turned in enumerate(self.turns):
            moved = still
            for value, function in zip(made.ends, made.functions, strict=True):
                moved = moved + self._along(function, self._partial(function, k)).times(value)
            self.pushes.append(back.of(moved) + turned.cross(made.offset))

    def _along(self, function: Function, value: Expression) -> Vector:
        parts = [self.zero] * 3
        parts[function.axis] = value
        return Vector(*parts)

    def _share(self, function: Function) -> Expression:
        made = self.graph.number(function.factor)
        for k in function.coordinates:
            made = made * self.deltas[k]
        return made

    def _partial(self, function: Function, k: int) -> Expression:
        """Derivative of a function's share by a modal coordinate."""
        places = function.coordinates
        if k not in places:
            return self.zero
        if len(places) == 1:
            return self.graph.number(function.factor)
        first, second = places
        if first == second:
            return 2.0 * function.factor * self.deltas[k]
        return function.factor * self.deltas[second if first == k else first]

    def change(self, function: Function, rates: Sequence[Expression]) -> Expression:
        """Rate of a function's share, linear in those of the coordinates."""
        return self.graph.total(
            self._partial(function, k) * rates[k] for k in dict.fromkeys(function.coordinates)
        )

    def twice(self, function: Function, rates: Sequence[Expression]) -> Expression:
        """Second derivative of a function's share at constant rates of the coordinates."""
        if len(function.coordinates) < 2:
            return self.zero
        first, second = function.coordinates
        return 2.0 * function.factor * (rates[first] * rates[second])

    def _slope(self, k: int) -> Vector:
        found = self.made.slopes[k]
        for (a, b), second in self.made.turns.items():
            if k == a:
                found = found + second.times(self.deltas[b])
            if k == b:
                found = found + second.times(self.deltas[a])
        return found

    # what a motion makes of it

    def moved_tip(
        self, motion: Motion, rates: Sequence[Expression], more: Sequence[Expression]
    ) -> Motion:
        """The motion of the frame of the tip, in its axes."""
        made, still = self.made, Vector(*(self.zero,) * 3)
        speed, growth = still, still
        for k, slope in enumerate(self.slopes):
            speed = speed + slope.times(rates[k])
            growth = growth + slope.times(more[k])
        for (a, b), second in made.turns.items():
            growth = growth + second.times(2.0 * (rates[a] * rates[b]))
        end, faster, reach = still, still, made.start
        for value, function, share in zip(made.ends, made.functions, self.shares, strict=True):
            here = self.change(function, rates)
            end = end + self._along(function, here).times(value)
            then = self.change(function, more) + self.twice(function, rates)
            faster = faster + self._along(function, then).times(value)
            reach = reach + self._along(function, share).times(value)
        tip = turned_motion(motion.at(reach, end, faster), self.turn, speed, growth)
        return tip.at(made.offset, still, still)

    def forces(
        self, motion: Motion, rates: Sequence[Expression], more: Sequence[Expression]
    ) -> tuple[Vector, Vector, list[Expression]]:
        """Force and moment about the joint, and forces on the modal coordinates, of a link with its body there."""
        made, still = self.made, Vector(*(self.zero,) * 3)
        field = motion.field()
        force, turning = wrench(made.at_joint, motion, field)
        if not made.functions:
            return force, turning, []
        columns, fields = field.transposed.rows, []
        for function, share in zip(made.functions, self.shares, strict=True):
            here, then = self.change(function, rates), self.change(function, more)
            rate = self._along(function, 2.0 * here)
            found = columns[function.axis].times(share) + motion.spin.cross(rate)
            fields.append(found + self._along(function, then + self.twice(function, rates)))
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
                self._partial(f, k) * each.parts[f.axis]
                for f, each in zip(made.functions, acting, strict=True)
            )
            modal.append(self.graph.total(terms))
        return force, turning, modal

    # inertia

    def weighted(self) -> list[Vector]:
        """Integrals of each function times the place over the link."""
        found = []
        for row in self.made.gram:
            total = Vector(*(self.zero,) * 3)
            for value, point in zip(row, self.points, strict=True):
                total = total + point.times(value)
            found.append(total)
        return found

    def whole(self, weighted: Sequence[Vector]) -> Inertia:
        """The link with its body at the joint, about the joint."""
        made = self.made
        mass, first, second = made.at_joint.mass, made.at_joint.first, made.at_joint.second
        if weighted:
            mass, first = mass + made.gram[0][0], first + weighted[0]
        for point, each in zip(self.points, weighted, strict=True):
            second = second + outer(point, each)
        return Inertia(mass, first, inertia_of(second))

    def column(self, k: int, weighted: Sequence[Vector]) -> tuple[Vector, Vector, list[Expression]]:
        """Momentum, its moment about the joint and the products with the modal coordinates, of one of these."""
        made = self.made
        push, swing = (Vector(*(self.zero,) * 3) for _ in range(2))
        partials = [self._partial(f, k) for f in made.functions]
        for a, (function, partial) in enumerate(zip(made.functions, partials, strict=True)):
            unit = self._along(function, partial)
            push = push + unit.times(made.gram[0][a])
            swing = swing + weighted[a].cross(unit)
        products = []
        for j in range(len(self.deltas)):
            total = self.zero
            for a, first in enumerate(made.functions):
                left = self._partial(first, j)
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
