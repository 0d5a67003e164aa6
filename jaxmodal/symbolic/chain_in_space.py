"""Recursive equations of an arm in space: motions outwards, forces and composite bodies inwards.

The frame of a link is at its joint, after the springs there, and the frame of its tip carries the next joint; vectors
are in the axes of their frame. A free base precedes the links; a driven base is a piece of the arm. The recursion is
the one of `jaxmodal.dynamics`: six numbers of a frame and the modal coordinates of a link are transformed by its
inertia, its tip and its joint. Nothing is expanded, and terms that are exactly 0 are left out.
"""

from __future__ import annotations

from collections.abc import Sequence

from jaxmodal.dynamics.layout_in_space import FIXED, SLIDES, TURNS
from jaxmodal.symbolic.bent_link import BentLink, Inertia, Motion, inertia_of, wrench
from jaxmodal.symbolic.graph import Expression, Table
from jaxmodal.symbolic.moving_base import base_motion
from jaxmodal.symbolic.nomenclature_in_space import NomenclatureInSpace
from jaxmodal.symbolic.sprung_joint import SprungJoint
from jaxmodal.symbolic.vectors import Matrix, Vector, about, matrix, outer, unit_matrix


class ChainInSpace:
    """Links of a model in space, prepared for the recursions."""

    def __init__(self, names: NomenclatureInSpace) -> None:
        self.names, self.graph, self.model = names, names.graph, names.model
        self.still = Vector(*(self.graph.zero,) * 3)
        self.links, self.turns, self.springs = [], [], []
        for i, made in enumerate(names.in_space):
            turned = made.orientation
            if made.kind == TURNS:
                turned = about(self.graph, made.axis, names.coordinates[made.joint]) @ turned
            self.turns.append(self._named(turned, f"R_{i + 1}"))
            deltas = [names.coordinates[p] for p in made.springs]
            self.springs.append(SprungJoint(self.graph, made.gives, deltas, names.factorial))
            deltas = [names.coordinates[p] for p in made.places]
            link = BentLink(self.graph, made, deltas, names.factorial)
            self._named(link.turn.axes, f"E_{i + 1}")
            self.links.append(link)
        self.carried = self.model.rotor_motion == "carried"
        self.absolute = self.model.torsion_spin == "absolute"

    def _named(self, table: Matrix, name: str) -> Matrix:
        for row, a in zip(table.rows, "xyz", strict=True):
            for part, b in zip(row.parts, "xyz", strict=True):
                self.graph.label(part, f"{name}_{a}{b}")
        return table

    def _axis(self, i: int) -> Vector:
        """Return the axis of a joint, in the axes of the previous tip."""
        return Vector(*(self.graph.number(x) for x in self.names.in_space[i].axis))

    def _slid(self, i: int, values: Sequence[Expression]) -> Vector:
        """Return the displacement of a sliding joint, or its rate or acceleration; zero for other joints."""
        made = self.links[i].made
        return self._axis(i).times(values[made.joint]) if made.kind == SLIDES else self.still

    def tip(self) -> Vector:
        """Return the position of the tip of the last link."""
        place, axes = self.still, unit_matrix(self.graph)
        if self.model.floats:
            axes = self.names.base_axes()
            place = Vector(*self.names.coordinates[-7:-4]) + axes.of(self.names.reach)
        for i, (link, spring) in enumerate(zip(self.links, self.springs, strict=True)):
            place = place + axes.of(self._slid(i, self.names.coordinates))
            axes = axes @ self.turns[i]
            place = place + axes.of(spring.reach)
            axes = axes @ spring.turn.axes
            place = place + axes.of(link.tip)
            axes = axes @ link.turn.axes
        return place

    def forces(
        self,
        rates: Sequence[Expression] | None,
        more: Sequence[Expression] | None = None,
        gravity: Vector | None = None,
    ) -> list[Expression]:
        """Return the forces on the coordinates for rates, accelerations (0 if None) and gravity."""
        none = [self.graph.zero] * self.model.num_rates
        rates, more = rates or none, more or none
        base = before = base_motion(self.names, rates, more, gravity)
        if self.model.floats:
            before = base.at(self.names.reach, self.still, self.still)
        motions = []
        for i, (link, spring) in enumerate(zip(self.links, self.springs, strict=True)):
            made = link.made
            here = self._beyond_joint(i, before, rates, more)
            if made.springs:
                speeds, changes = ([vector[p] for p in made.springs] for vector in (rates, more))
                here = spring.moved(here, speeds, changes)
            speeds, changes = ([vector[p] for p in made.places] for vector in (rates, more))
            tip = link.moved_tip(here, speeds, changes)
            motions.append((before, here, tip, speeds, changes))
            before = tip

        rows = list(none)
        force, turning = (
            self.still,
            self.still,
        )  # force and moment passed on by the next joint, in tip axes
        for i in reversed(range(len(self.links))):
            link, made, spring = self.links[i], self.links[i].made, self.springs[i]
            before, here, tip, speeds, changes = motions[i]
            pushed, twisted = wrench(made.at_tip, tip, tip.field())
            force, turning = force + pushed, turning + twisted
            own_force, own_turning, modal = link.forces(here, speeds, changes)
            spun = self._spin(link, here, speeds, changes)
            for k, place in enumerate(made.places):
                rows[place] = (
                    modal[k] + link.pushes[k].dot(force) + link.turns[k].dot(turning) + spun[1][k]
                )
            outward = link.turn.axes.of(force)
            turning = own_turning + spun[0] + link.turn.axes.of(turning) + link.tip.cross(outward)
            force = own_force + outward
            for place, push, turn in zip(made.springs, spring.pushes, spring.turns, strict=True):
                rows[place] = push.dot(force) + turn.dot(turning)
            force, turning = spring.turn.axes.of(force), spring.turn.axes.of(turning)
            turning = turning + spring.reach.cross(force)
            force, turning = self.turns[i].of(force), self.turns[i].of(turning)
            turning = turning + self._slid(i, self.names.coordinates).cross(force)
            if made.kind != FIXED:
                acting = force if made.kind == SLIDES else turning
                rows[made.joint] = rows[made.joint] + self._axis(i).dot(acting)
                turning = turning + self._rotor(i, rows, before, rates, more)
        if self.model.floats:
            turning = turning + self.names.reach.cross(force)
            pushed, twisted = wrench(self.names.base, base, base.field())
            rows[-6:] = [*(force + pushed).parts, *(turning + twisted).parts]
        return rows

    def _beyond_joint(
        self, i: int, before: Motion, rates: Sequence[Expression], more: Sequence[Expression]
    ) -> Motion:
        """Return the motion of the frame after a joint, in its axes."""
        made, back = self.links[i].made, self.turns[i].transposed
        if made.kind == SLIDES:
            q = self.names.coordinates
            before = before.at(*(self._slid(i, values) for values in (q, rates, more)))
        inner, growth = back.of(before.spin), back.of(before.growth)
        if made.kind != TURNS:
            return Motion(inner, growth, back.of(before.pull))
        own = made.orientation.transposed.of(self._axis(i))
        turning = own.times(rates[made.joint])
        growth = growth + own.times(more[made.joint]) + inner.cross(turning)
        return Motion(inner + turning, growth, back.of(before.pull))

    def _spin(
        self,
        link: BentLink,
        here: Motion,
        speeds: Sequence[Expression],
        changes: Sequence[Expression],
    ) -> tuple[Vector, list[Expression]]:
        """Return the moment and the modal forces due to the spin of the sections of a flexible link."""
        made, graph = link.made, self.graph
        modal = [graph.zero] * len(made.places)
        if not made.functions:
            return self.still, modal
        share = graph.one if self.absolute else graph.zero
        rates = [share * here.spin.x, *(speeds[k] for k in made.twists)]
        growths = [share * here.growth.x, *(changes[k] for k in made.twists)]
        for row, k in zip(made.spin[1:], made.twists, strict=True):
            modal[k] = graph.total(a * b for a, b in zip(row, growths, strict=True))
        if not self.absolute:
            return self.still, modal
        momentum, growth = (
            graph.total(a * b for a, b in zip(made.spin[0], values, strict=True))
            for values in (rates, growths)
        )
        x_axis = Vector(graph.one, graph.zero, graph.zero)
        return x_axis.times(growth) + here.spin.cross(x_axis.times(momentum)), modal

    def _rotor(
        self,
        i: int,
        rows: list[Expression],
        before: Motion,
        rates: Sequence[Expression],
        more: Sequence[Expression],
    ) -> Vector:
        """Add the force on the coordinate of a rotor to ``rows``, and return the moment on its carrier."""
        made, axis = self.links[i].made, self._axis(i)
        place, carried = self.names.rotors[made.joint], self._carries(i)
        momentum, growth = made.gear * rates[place], made.gear * more[place]
        if carried:
            momentum, growth = momentum + axis.dot(before.spin), growth + axis.dot(before.growth)
        momentum, growth = made.rotor * momentum, made.rotor * growth
        rows[place] = rows[place] + made.gear * growth
        if not carried:
            return self.still
        return axis.times(growth) + before.spin.cross(axis.times(momentum))

    def _carries(self, i: int) -> bool:
        """Return True if the preceding frame carries the rotor of the joint of a piece."""
        return self.carried and (i > 0 or self.model.floats)

    def inertia(self) -> Table:
        """Return B, computed by composite bodies."""
        size, graph = self.model.num_rates, self.graph
        table: Table = [[graph.zero] * size for _ in range(size)]
        nothing = Inertia(graph.zero, self.still, matrix([self.still.parts] * 3))
        beyond = nothing  # in the frame of a tip, as are momenta and their moments
        columns: list[tuple[int, Vector, Vector]] = []

        def put(a: int, b: int, entry: Expression) -> None:
            table[a][b] = table[b][a] = entry

        for i in reversed(range(len(self.links))):
            link, made, spring = self.links[i], self.links[i].made, self.springs[i]
            mass = made.at_tip.mass + beyond.mass
            first = made.at_tip.first + beyond.first
            tensor = inertia_of(made.at_tip.second) + beyond.tensor
            for place, push, swing in columns:
                for k, own in enumerate(made.places):
                    put(own, place, link.pushes[k].dot(push) + link.turns[k].dot(swing))
            columns = [_inwards(link.turn.axes, link.tip, *column) for column in columns]
            weighted = link.weighted()
            for k, place in enumerate(made.places):
                push, swing, products = link.column(k, weighted)
                momentum = link.pushes[k].times(mass) + link.turns[k].cross(first)
                spin = first.cross(link.pushes[k]) + tensor.of(link.turns[k])
                swing = swing + self._spun(link, k)
                for j in range(k, len(made.places)):
                    product = products[j] + self._twists(link, j, k)
                    product = product + link.pushes[j].dot(momentum) + link.turns[j].dot(spin)
                    put(made.places[j], place, product)
                _, outward, turned = _inwards(link.turn.axes, link.tip, place, momentum, spin)
                columns.append((place, push + outward, swing + turned))
            whole = self._composite(link, weighted, Inertia(mass, first, tensor))
            if made.springs:
                for place, push, turn in zip(
                    made.springs, spring.pushes, spring.turns, strict=True
                ):
                    momentum = push.times(whole.mass) + turn.cross(whole.first)
                    spin = whole.first.cross(push) + whole.tensor.of(turn)
                    columns.append((place, momentum, spin))
                for own, push, turn in zip(made.springs, spring.pushes, spring.turns, strict=True):
                    for place, momentum, spin in columns:
                        put(own, place, push.dot(momentum) + turn.dot(spin))
                columns = [_inwards(spring.turn.axes, spring.reach, *each) for each in columns]
                whole = _shifted(whole, spring.turn.axes, spring.reach)
            axis = made.orientation.transposed.of(self._axis(i))
            if made.kind == TURNS:
                columns.append((made.joint, axis.cross(whole.first), whole.tensor.of(axis)))
            elif made.kind == SLIDES:
                columns.append((made.joint, axis.times(whole.mass), whole.first.cross(axis)))
            if made.kind != FIXED:
                for place, push, swing in columns:
                    acting = push if made.kind == SLIDES else swing
                    put(made.joint, place, axis.dot(acting))
            reach = self._slid(i, self.names.coordinates)
            columns = [_inwards(self.turns[i], reach, *column) for column in columns]
            beyond = _shifted(whole, self.turns[i], reach)
            if made.kind == FIXED:
                continue
            place, axis = self.names.rotors[made.joint], self._axis(i)
            table[place][place] = table[place][place] + made.gear * made.gear * made.rotor
            if self._carries(i):
                added = outer(axis, axis.times(made.rotor))
                beyond = Inertia(beyond.mass, beyond.first, beyond.tensor + added)
                columns.append((place, self.still, axis.times(made.gear * made.rotor)))
                columns = _added(columns)
        if self.model.floats:
            self._with_base(table, columns, beyond)
        return table

    def _with_base(
        self, table: Table, columns: list[tuple[int, Vector, Vector]], beyond: Inertia
    ) -> None:
        """Fill the rows and columns of a free base in B."""
        names, straight = self.names, unit_matrix(self.graph)
        whole = _shifted(beyond, straight, names.reach)
        mass = whole.mass + names.base.mass
        first = whole.first + names.base.first
        tensor = whole.tensor + inertia_of(names.base.second)
        size = len(table)
        units = straight.rows
        columns = [_inwards(straight, names.reach, *column) for column in columns]
        columns += [
            (size - 6 + k, unit.times(mass), first.cross(unit)) for k, unit in enumerate(units)
        ]
        columns += [
            (size - 3 + k, unit.cross(first), tensor.of(unit)) for k, unit in enumerate(units)
        ]
        for place, push, swing in columns:
            for k, entry in enumerate((*push.parts, *swing.parts)):
                table[size - 6 + k][place] = table[place][size - 6 + k] = entry

    def _spun(self, link: BentLink, k: int) -> Vector:
        made = link.made
        if not self.absolute or k not in made.twists:
            return self.still
        entry = made.spin[0][1 + made.twists.index(k)]
        return Vector(entry, self.graph.zero, self.graph.zero)

    def _twists(self, link: BentLink, j: int, k: int) -> Expression:
        twists = link.made.twists
        if j not in twists or k not in twists:
            return self.graph.zero
        return link.made.spin[1 + twists.index(j)][1 + twists.index(k)]

    def _composite(self, link: BentLink, weighted: Sequence[Vector], beyond: Inertia) -> Inertia:
        """Return the inertia of a link with everything beyond it, about its joint."""
        own, outer_part = link.whole(weighted), _shifted(beyond, link.turn.axes, link.tip)
        tensor = own.tensor + outer_part.tensor
        if self.absolute and link.made.functions:
            spin = [[self.graph.zero] * 3 for _ in range(3)]
            spin[0][0] = link.made.spin[0][0]
            tensor = tensor + matrix(spin)
        return Inertia(own.mass + outer_part.mass, own.first + outer_part.first, tensor)


def _inwards(
    axes: Matrix, reach: Vector, place: int, push: Vector, swing: Vector
) -> tuple[int, Vector, Vector]:
    """Return a momentum and its moment in another frame, in which the given frame has these axes and position."""
    outward = axes.of(push)
    return place, outward, axes.of(swing) + reach.cross(outward)


def _shifted(body: Inertia, axes: Matrix, reach: Vector) -> Inertia:
    """Return the inertia of a body about another frame, in which its own frame has these axes and position."""
    first, mass = axes.of(body.first), body.mass
    tensor = axes @ body.tensor @ axes.transposed
    if reach.is_zero:
        return Inertia(mass, first, tensor)
    twice = 2.0 * reach.dot(first) + mass * reach.dot(reach)
    mixed = outer(reach, first + reach.times(mass)) + outer(first, reach)
    zero = mass * 0.0
    shifted = [
        [(twice if a == b else zero) - mixed.rows[a].parts[b] for b in range(3)] for a in range(3)
    ]
    return Inertia(mass, first + reach.times(mass), tensor + matrix(shifted))


def _added(columns: list[tuple[int, Vector, Vector]]) -> list[tuple[int, Vector, Vector]]:
    """Return the columns, with those of the same coordinate added."""
    found: dict[int, tuple[Vector, Vector]] = {}
    for place, push, swing in columns:
        if place in found:
            push, swing = found[place][0] + push, found[place][1] + swing
        found[place] = push, swing
    return [(place, *both) for place, both in found.items()]
