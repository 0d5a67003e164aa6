"""Equations of an arm in space in linear frames: the end of a link multiplies everything beyond by 1 + [phi].

Such frames stretch and have no angular velocity: the motion of a frame is that of its origin and of its three axes, all
here in the axes of the base. The load on a frame is a force, and a force on each of its axes, the columns of a matrix;
their work is ``f . dr + N : dA``. Rotors and twists have only the energy of their own spin.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from jaxmodal.dynamics.layout_in_space import FIXED, SLIDES
from jaxmodal.symbolic.deformed_link import DeformedLink
from jaxmodal.symbolic.graph import Expression, Table
from jaxmodal.symbolic.moving_base import base_motion
from jaxmodal.symbolic.nomenclature_in_space import Body, NomenclatureInSpace
from jaxmodal.symbolic.sprung_joint import SprungJoint
from jaxmodal.symbolic.vectors import Matrix, Vector, about, matrix, outer, skew, unit_matrix


@dataclasses.dataclass(frozen=True)
class _Frame:
    """Axes of a frame as columns, their rates and second derivatives, and the acceleration of its origin."""

    axes: Matrix
    rates: Matrix
    growths: Matrix
    pull: Vector


@dataclasses.dataclass(frozen=True)
class _Step:
    """Transformation from one frame to the next: its position and axes in the other, each with two time derivatives.

    ``partials`` are the derivatives of both with respect to coordinates, with the indices of these.
    """

    reach: tuple[Vector, Vector, Vector]
    turn: tuple[Matrix, Matrix, Matrix]
    partials: list[tuple[int, Vector, Matrix]]

    def beyond(self, frame: _Frame) -> _Frame:
        """Return the frame after this step."""
        (place, speed, growth), (turn, turning, faster) = self.reach, self.turn
        pull = frame.pull + frame.growths.of(place) + frame.axes.of(growth)
        twice = frame.rates @ turning
        return _Frame(
            frame.axes @ turn,
            frame.rates @ turn + frame.axes @ turning,
            frame.growths @ turn + twice + twice + frame.axes @ faster,
            pull + frame.rates.of(speed).times(2.0),
        )


class ChainOfLinearFrames:
    """Pieces of a model in linear frames, prepared for the recursion."""

    def __init__(self, names: NomenclatureInSpace) -> None:
        self.names, self.graph, self.model = names, names.graph, names.model
        self.still = Vector(*(self.graph.zero,) * 3)
        self.none = matrix([self.still.parts] * 3)
        self.straight = unit_matrix(self.graph)
        q = names.coordinates
        self.links = [
            DeformedLink(self.graph, made, [q[p] for p in made.places]) for made in names.in_space
        ]
        self.springs = [
            SprungJoint(self.graph, made.gives, [q[p] for p in made.springs], names.factorial)
            for made in names.in_space
        ]

    # transformations from frame to frame

    def _at_joint(self, i: int, rates: Sequence[Expression], more: Sequence[Expression]) -> _Step:
        made = self.links[i].made
        turn = made.orientation, self.none, self.none
        if made.kind == FIXED:
            return _Step((self.still,) * 3, turn, [])
        axis = Vector(*(self.graph.number(x) for x in made.axis))
        values = [vector[made.joint] for vector in (self.names.coordinates, rates, more)]
        if made.kind == SLIDES:
            place, speed, growth = (axis.times(value) for value in values)
            return _Step((place, speed, growth), turn, [(made.joint, axis, self.none)])
        whole = about(self.graph, made.axis, values[0])
        once = whole @ skew(axis)
        first, second = once @ made.orientation, once @ skew(axis) @ made.orientation
        faster = first.times(values[2]) + second.times(values[1] * values[1])
        turn = whole @ made.orientation, first.times(values[1]), faster
        return _Step((self.still,) * 3, turn, [(made.joint, self.still, first)])

    def _at_springs(self, i: int, rates: Sequence[Expression], more: Sequence[Expression]) -> _Step:
        made, spring = self.links[i].made, self.springs[i]
        axes = spring.turn.axes
        (end, speed), (faster, growth) = (
            spring.sums([values[p] for p in made.springs]) for values in (rates, more)
        )
        own = skew(spring.turn.rate(speed))
        swing = skew(spring.turn.rate(growth) + spring.turn.second(speed))
        partials = [
            (place, along, axes @ skew(turned))
            for place, (along, _), turned in zip(
                made.springs, spring.gives, spring.turns, strict=True
            )
        ]
        turn = axes, axes @ own, axes @ (own @ own + swing)
        return _Step((spring.reach, end, faster), turn, partials)

    def _at_end(self, i: int, rates: Sequence[Expression], more: Sequence[Expression]) -> _Step:
        link, made = self.links[i], self.links[i].made
        end = link.end_motion(*([vector[p] for p in made.places] for vector in (rates, more)))
        partials = [
            (place, link.end_by(k), skew(link.slopes[k])) for k, place in enumerate(made.places)
        ]
        turn = self.straight + skew(link.vector), skew(end.turning), skew(end.turning_growth)
        return _Step((end.reach, end.rate, end.growth), turn, partials)

    def _at_tip(self, i: int) -> _Step:
        place = self.links[i].made.offset, self.still, self.still
        return _Step(place, (self.straight, self.none, self.none), [])

    def tip(self) -> Vector:
        """Return the position of the tip of the last link."""
        rest = [self.graph.zero] * self.model.num_rates
        place, axes = self.still, self.straight
        if self.model.floats:
            axes = self.names.base_axes()
            place = Vector(*self.names.coordinates[-7:-4]) + axes.of(self.names.reach)
        for i in range(len(self.links)):
            for step in self._steps(i, rest, rest):
                place, axes = place + axes.of(step.reach[0]), axes @ step.turn[0]
        return place

    def _steps(
        self, i: int, rates: Sequence[Expression], more: Sequence[Expression]
    ) -> tuple[_Step, _Step, _Step, _Step]:
        """Return the steps to the frames after the joint, after its springs, at the end of the link and at its tip."""
        given = i, rates, more
        return (
            self._at_joint(*given),
            self._at_springs(*given),
            self._at_end(*given),
            self._at_tip(i),
        )

    def forces(
        self,
        rates: Sequence[Expression] | None,
        more: Sequence[Expression] | None = None,
        gravity: Vector | None = None,
    ) -> list[Expression]:
        """Return the forces on the coordinates for rates, accelerations (0 if None) and gravity."""
        none = [self.graph.zero] * self.model.num_rates
        rates, more = rates or none, more or none
        moved = base_motion(self.names, rates, more, gravity)
        turning = skew(moved.spin)
        swing = skew(moved.growth) + turning @ turning
        base = frame = _Frame(self.straight, turning, swing, moved.pull)
        if self.model.floats:
            at_joint = _Step(
                (self.names.reach, self.still, self.still),
                (self.straight, self.none, self.none),
                [],
            )
            frame = at_joint.beyond(frame)
        passed: list[list[tuple[_Step, _Frame, _Frame]]] = []
        for i in range(len(self.links)):
            passed.append([])
            for step in self._steps(i, rates, more):
                beyond = step.beyond(frame)
                passed[-1].append((step, frame, beyond))
                frame = beyond

        rows = list(none)
        force, moments = self.still, self.none
        for i in reversed(range(len(self.links))):
            link, made = self.links[i], self.links[i].made
            for place, (step, before, beyond) in reversed(list(enumerate(passed[i]))):
                if place == 3:
                    force, moments = _added((force, moments), _needed(made.at_tip, beyond))
                if place == 1:
                    force, moments = _added((force, moments), _needed(made.at_joint, beyond))
                    if made.functions:
                        own = self._of_line(link, beyond, rates, more, rows)
                        force, moments = _added((force, moments), own)
                back = before.axes.transposed
                seen, turned = back.of(force), back @ moments
                for coordinate, reach, turn in step.partials:
                    rows[coordinate] = rows[coordinate] + reach.dot(seen) + turn.inner(turned)
                moments = outer(force, step.reach[0]) + moments @ step.turn[0].transposed
            if made.kind != FIXED:
                place = int(self.names.rotors[made.joint])
                rows[place] = rows[place] + made.gear * made.gear * made.rotor * more[place]
        if self.model.floats:
            moments = moments + outer(force, self.names.reach)
            force, moments = _added((force, moments), _needed(self.names.base, base))
            (_, xy, xz), (yx, _, yz), (zx, zy, _) = (row.parts for row in moments.rows)
            rows[-6:] = [*force.parts, zy - yz, xz - zx, yx - xy]
        return rows

    def _of_line(
        self,
        link: DeformedLink,
        frame: _Frame,
        rates: Sequence[Expression],
        more: Sequence[Expression],
        rows: list[Expression],
    ) -> tuple[Vector, Matrix]:
        """Return force and moments of the distributed mass of a link on its frame, and add modal forces to ``rows``."""
        made = link.made
        speeds, changes = ([vector[p] for p in made.places] for vector in (rates, more))
        fields = []
        for function, point in zip(made.functions, link.points, strict=True):
            rate = link.along(function, 2.0 * link.change(function, speeds))
            then = link.change(function, changes) + link.twice(function, speeds)
            found = frame.growths.of(point) + frame.rates.of(rate)
            fields.append(found + frame.axes.of(link.along(function, then)))
        fields[0] = frame.pull + frame.growths.of(made.start)
        acting = []
        for row in made.gram:
            total = self.still
            for value, each in zip(row, fields, strict=True):
                total = total + each.times(value)
            acting.append(total)
        moments = self.none
        for point, each in zip(link.points, acting, strict=True):
            moments = moments + outer(each, point)
        seen = [frame.axes.transposed.of(each).parts for each in acting]
        for k, place in enumerate(made.places):
            terms = (
                link.partial(f, k) * each[f.axis]
                for f, each in zip(made.functions, seen, strict=True)
            )
            rows[place] = rows[place] + self.graph.total(terms)
        for row, k in zip(made.spin[1:], made.twists, strict=True):
            spun = (a * changes[j] for a, j in zip(row[1:], made.twists, strict=True))
            rows[made.places[k]] = rows[made.places[k]] + self.graph.total(spun)
        return acting[0], moments

    def inertia(self) -> Table:
        """Return B, with each column as the forces of a unit acceleration."""
        size, one, zero = self.model.num_rates, self.graph.one, self.graph.zero
        columns = [
            self.forces(None, [one if a == b else zero for a in range(size)]) for b in range(size)
        ]
        return [[columns[max(a, b)][min(a, b)] for b in range(size)] for a in range(size)]


def _needed(body: Body, frame: _Frame) -> tuple[Vector, Matrix]:
    """Return the forces on a frame and on its axes that move a body with that frame."""
    force = frame.pull.times(body.mass) + frame.growths.of(body.first)
    return force, outer(frame.pull, body.first) + frame.growths @ body.second


def _added(one: tuple[Vector, Matrix], other: tuple[Vector, Matrix]) -> tuple[Vector, Matrix]:
    return one[0] + other[0], one[1] + other[1]
