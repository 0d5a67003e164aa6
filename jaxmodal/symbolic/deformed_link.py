"""Deflections of one link in space as expressions: its points, its end, and their derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from jaxmodal.symbolic.graph import Expression, Graph
from jaxmodal.symbolic.nomenclature_in_space import Function, LinkInSpace
from jaxmodal.symbolic.vectors import Vector


class EndMotion(NamedTuple):
    """Position of the end of a link, with rate and second derivative, and both derivatives of its rotation vector."""

    reach: Vector
    rate: Vector
    growth: Vector
    turning: Vector
    turning_growth: Vector


class DeformedLink:
    """Link with its modal coordinates ``deltas``.

    ``vector`` is the rotation vector of its end, ``slopes`` its derivatives with respect to each modal coordinate.
    ``shares`` are the coefficients of its functions and ``points`` the corresponding vectors; ``end`` is the position
    of its end relative to its joint.
    """

    def __init__(self, graph: Graph, made: LinkInSpace, deltas: Sequence[Expression]) -> None:
        self.graph, self.made, self.deltas = graph, made, list(deltas)
        self.zero = graph.zero
        self.still = Vector(*(graph.zero,) * 3)
        self.vector = self.still
        for slope, delta in zip(made.slopes, deltas, strict=True):
            self.vector = self.vector + slope.times(delta)
        for (a, b), second in made.turns.items():
            self.vector = self.vector + second.times(deltas[a] * deltas[b])
        self.shares = [self._share(f) for f in made.functions]
        self.points = [self.along(f, s) for f, s in zip(made.functions, self.shares, strict=True)]
        self.end = made.start
        if self.points:
            self.points[0] = made.start
            for value, point in zip(made.ends[1:], self.points[1:], strict=True):
                self.end = self.end + point.times(value)
        self.slopes = [self._slope(k) for k in range(len(self.deltas))]

    def along(self, function: Function, value: Expression) -> Vector:
        """Return a vector along the axis of a function."""
        parts = [self.zero] * 3
        parts[function.axis] = value
        return Vector(*parts)

    def _share(self, function: Function) -> Expression:
        made = self.graph.number(function.factor)
        for k in function.coordinates:
            made = made * self.deltas[k]
        return made

    def partial(self, function: Function, k: int) -> Expression:
        """Return the derivative of the coefficient of a function with respect to a modal coordinate."""
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
        """Return the rate of the coefficient of a function, linear in the rates of the coordinates."""
        return self.graph.total(
            self.partial(function, k) * rates[k] for k in dict.fromkeys(function.coordinates)
        )

    def twice(self, function: Function, rates: Sequence[Expression]) -> Expression:
        """Return the second derivative of the coefficient of a function at constant rates of the coordinates."""
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

    def end_by(self, k: int) -> Vector:
        """Return the derivative of the position of the end with respect to a modal coordinate."""
        moved = self.still
        for value, function in zip(self.made.ends, self.made.functions, strict=True):
            moved = moved + self.along(function, self.partial(function, k)).times(value)
        return moved

    def end_motion(self, rates: Sequence[Expression], more: Sequence[Expression]) -> EndMotion:
        """Return the motion of the end in the axes of the link, from rates and accelerations of the coordinates."""
        made = self.made
        turning, turning_growth = self.still, self.still
        for k, slope in enumerate(self.slopes):
            turning = turning + slope.times(rates[k])
            turning_growth = turning_growth + slope.times(more[k])
        for (a, b), second in made.turns.items():
            turning_growth = turning_growth + second.times(2.0 * (rates[a] * rates[b]))
        rate, growth, reach = self.still, self.still, made.start
        for value, function, share in zip(made.ends, made.functions, self.shares, strict=True):
            rate = rate + self.along(function, self.change(function, rates)).times(value)
            then = self.change(function, more) + self.twice(function, rates)
            growth = growth + self.along(function, then).times(value)
            reach = reach + self.along(function, share).times(value)
        return EndMotion(reach, rate, growth, turning, turning_growth)
