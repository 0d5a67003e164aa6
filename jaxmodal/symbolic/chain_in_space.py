"""Equations of an arm in space written link by link: motions outwards, forces and composite bodies inwards.

The frame of a link is at its joint, that of its tip carries the next joint; vectors are in the axes of their frame. The
recursion is that of `jaxmodal.dynamics`: six numbers of a frame and the modal coordinates of a link go through its
inertia, its tip and its joint. Nothing is expanded, and what is exactly 0 leaves no term.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jaxmodal.symbolic.bent_link import BentLink, Inertia, Motion, inertia_of, wrench
from jaxmodal.symbolic.graph import Expression
from jaxmodal.symbolic.nomenclature_in_space import NomenclatureInSpace
from jaxmodal.symbolic.vectors import Matrix, Vector, about, matrix, outer

Table = list[list[Expression]]


class ChainInSpace:
    """The links of a model in space, ready for the recursions."""

    def __init__(self, names: NomenclatureInSpace) -> None:
        self.names, self.graph, self.model = names, names.graph, names.model
        self.still = Vector(*(self.graph.zero,) * 3)
        self.links, self.turns = [], []
        for i, made in enumerate(names.in_space):
            turned = about(self.graph, made.axis, names.coordinates[i]) @ made.orientation
            self.turns.append(self._named(turned, f"R_{i + 1}"))
            deltas = [names.coordinates[p] for p in made.places]
            link = BentLink(self.graph, made, deltas, names.factorial)
            self._named(link.turn.axes, f"E_{i + 1}")
            self.links.append(link)
        self.carried = self.model.rotor_motion == "carried"
        self.absolute = self.model.torsion_spin == "absolute"
        #: the coordinate that turns each rotor
        self.rotors = np.where(
            self.model.rotor_beyond, np.arange(self.model.num_links), self.model.layout.driven
        ).tolist()

    def _named(self, table: Matrix, name: str) -> Matrix:
        for row, a in zip(table.rows, "xyz", strict=True):
            for part, b in zip(row.parts, "xyz", strict=True):
                self.graph.label(part, f"{name}_{a}{b}")
        return table

    def _axis(self, i: int) -> Vector:
        """The axis of a joint, in the axes of the tip before."""
        return Vector(*(self.graph.number(x) for x in self.names.in_space[i].axis))

    def tip(self) -> Vector:
        """The place of the tip of the last link."""
        one, zero = self.graph.one, self.graph.zero
        axes = matrix([[one if i == k else zero for k in range(3)] for i in range(3)])
        place = self.still
        for link, turn in zip(self.links, self.turns, strict=True):
            axes = axes @ turn
            place = place + axes.of(link.tip)
            axes = axes @ link.turn.axes
        return place

    def forces(
        self,
        rates: Sequence[Expression] | None,
        more: Sequence[Expression] | None = None,
        gravity: Vector | None = None,
    ) -> list[Expression]:
        """What must act on each coordinate by rates and accelerations of these, 0 where None, and by gravity."""
        none = [self.graph.zero] * self.model.num_coordinates
        rates, more = rates or none, more or none
        before = Motion(self.still, self.still, gravity.times(-1.0) if gravity else self.still)
        motions = []
        for i, link in enumerate(self.links):
            back, axis = self.turns[i].transposed, self._axis(i)
            inner = back.of(before.spin)
            own = link.made.orientation.transposed.of(axis)
            turning = own.times(rates[i])
            growth = back.of(before.growth) + own.times(more[i]) + inner.cross(turning)
            here = Motion(inner + turning, growth, back.of(before.pull))
            speeds, changes = ([vector[p] for p in link.made.places] for vector in (rates, more))
            tip = link.moved_tip(here, speeds, changes)
            motions.append((before, here, tip, speeds, changes))
            before = tip

        rows = list(none)
        force, turning = self.still, self.still  # what the joint beyond hands on, in tip axes
        for i in reversed(range(len(self.links))):
            link, made = self.links[i], self.links[i].made
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
            force = self.turns[i].of(own_force + outward)
            turning = self.turns[i].of(turning)
            axis = self._axis(i)
            rows[i] = rows[i] + axis.dot(turning)
            turning = turning + self._rotor(i, rows, before, rates, more)
        return rows

    def _spin(
        self,
        link: BentLink,
        here: Motion,
        speeds: Sequence[Expression],
        changes: Sequence[Expression],
    ) -> tuple[Vector, list[Expression]]:
        """What the spin of sections needs of a link with shapes: a moment, and forces on its modal coordinates."""
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
        """The force on what turns a rotor, put into ``rows``, and the moment on what carries it."""
        made, place, axis = self.links[i].made, self.rotors[i], self._axis(i)
        carried = self.carried and i > 0
        momentum, growth = made.gear * rates[place], made.gear * more[place]
        if carried:
            momentum, growth = momentum + axis.dot(before.spin), growth + axis.dot(before.growth)
        momentum, growth = made.rotor * momentum, made.rotor * growth
        rows[place] = rows[place] + made.gear * growth
        if not carried:
            return self.still
        return axis.times(growth) + before.spin.cross(axis.times(momentum))

    def inertia(self) -> Table:
        """B, by composite bodies."""
        size, graph = self.model.num_coordinates, self.graph
        table: Table = [[graph.zero] * size for _ in range(size)]
        nothing = Inertia(graph.zero, self.still, matrix([self.still.parts] * 3))
        beyond = nothing  # of the frame of a tip, as are places with momenta and moments
        columns: list[tuple[int, Vector, Vector]] = []

        def put(a: int, b: int, entry: Expression) -> None:
            table[a][b] = table[b][a] = entry

        for i in reversed(range(len(self.links))):
            link, made = self.links[i], self.links[i].made
            mass = made.at_tip.mass + beyond.mass
            first = made.at_tip.first + beyond.first
            tensor = inertia_of(made.at_tip.second) + beyond.tensor
            for place, push, swing in columns:
                for k, own in enumerate(made.places):
                    put(own, place, link.pushes[k].dot(push) + link.turns[k].dot(swing))
            columns = [self._inwards(link, *column) for column in columns]
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
                _, outward, turned = self._inwards(link, place, momentum, spin)
                columns.append((place, push + outward, swing + turned))
            whole = self._composite(link, weighted, Inertia(mass, first, tensor))
            axis = made.orientation.transposed.of(self._axis(i))
            columns.append((i, axis.cross(whole.first), whole.tensor.of(axis)))
            for place, _, swing in columns:
                put(i, place, axis.dot(swing))
            turn = self.turns[i]
            columns = [(place, turn.of(push), turn.of(swing)) for place, push, swing in columns]
            beyond = Inertia(
                whole.mass, turn.of(whole.first), turn @ whole.tensor @ turn.transposed
            )
            place, axis = self.rotors[i], self._axis(i)
            table[place][place] = table[place][place] + made.gear * made.gear * made.rotor
            if self.carried and i > 0:
                added = outer(axis, axis.times(made.rotor))
                beyond = Inertia(beyond.mass, beyond.first, beyond.tensor + added)
                columns.append((place, self.still, axis.times(made.gear * made.rotor)))
                columns = _added(columns)
        return table

    def _inwards(
        self, link: BentLink, place: int, push: Vector, swing: Vector
    ) -> tuple[int, Vector, Vector]:
        """A momentum and its moment about the tip, seen from the joint."""
        outward = link.turn.axes.of(push)
        return place, outward, link.turn.axes.of(swing) + link.tip.cross(outward)

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
        """A link with all that lies beyond it, about its joint."""
        own, axes, reach = link.whole(weighted), link.turn.axes, link.tip
        first, mass = axes.of(beyond.first), beyond.mass
        tensor = axes @ beyond.tensor @ axes.transposed
        twice = 2.0 * reach.dot(first) + mass * reach.dot(reach)
        mixed = outer(reach, first + reach.times(mass)) + outer(first, reach)
        shifted = [
            [(twice if a == b else self.graph.zero) - mixed.rows[a].parts[b] for b in range(3)]
            for a in range(3)
        ]
        tensor = own.tensor + tensor + matrix(shifted)
        if self.absolute and link.made.functions:
            spin = [[self.graph.zero] * 3 for _ in range(3)]
            spin[0][0] = link.made.spin[0][0]
            tensor = tensor + matrix(spin)
        return Inertia(own.mass + mass, own.first + first + reach.times(mass), tensor)


def _added(columns: list[tuple[int, Vector, Vector]]) -> list[tuple[int, Vector, Vector]]:
    """Columns of the same coordinate as their sum."""
    found: dict[int, tuple[Vector, Vector]] = {}
    for place, push, swing in columns:
        if place in found:
            push, swing = found[place][0] + push, found[place][1] + swing
        found[place] = push, swing
    return [(place, *both) for place, both in found.items()]
