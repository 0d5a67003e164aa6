"""Terms of the equations of motion as expressions, each written on request."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jaxmodal.dynamics.model import FlexibleModel, one_of
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import is_traced
from jaxmodal.symbolic.chain import Chain
from jaxmodal.symbolic.differentiation import gradient, tangent
from jaxmodal.symbolic.equations import WrittenEquations
from jaxmodal.symbolic.graph import SYMBOL, TANH, Expression, Graph, Table
from jaxmodal.symbolic.motion import accelerations
from jaxmodal.symbolic.nomenclature import Nomenclature
from jaxmodal.symbolic.planar import Planar, whole

INTEGRALS = ("symbolic", "numeric")


class Writer:
    """Writer of the quantities of a model; expressions that two quantities share are written once."""

    def __init__(self, model: FlexibleModel, integrals: str) -> None:
        check_model(model)
        one_of("integrals", integrals, INTEGRALS, "'numeric' puts the numbers of this arm in")
        self.model: Any = model
        self.graph = Graph()
        self.first = model.inertia_order == "first"
        self.size, self.joints = model.num_rates, model.num_links
        self._inertia: Table | None = None
        self._begin(integrals == "symbolic")

    def _begin(self, symbolic: bool) -> None:
        """Create the names and the links."""
        self.names = Nomenclature(self.graph, self.model, symbolic)
        self.chain = Chain(self.names, self.first)

    # gravity is never truncated
    def gravity(self) -> list[Expression]:
        """Return g(q)."""
        g = self.names.gravity()
        if all(part.is_zero for part in g):
            return [self.graph.zero] * self.size
        chain = Chain(self.names, False) if self.first else self.chain
        return [whole(row) for row in chain.work(accelerations(chain, None, gravity=g))]

    def rotary(self) -> Table:
        """Return the constant part of B from rotating bodies."""
        table = [[self.graph.zero] * self.size for _ in range(self.size)]
        for inertia, row in reversed(self.names.turning()):
            for a in range(self.size):
                weighted = inertia * row[a]
                for b in range(a, self.size):
                    table[a][b] = table[b][a] = table[a][b] + weighted * row[b]
        return table

    def inertia(self) -> Table:
        """Return B(q)."""
        if self._inertia is None:
            moving, turning = self.chain.inertia(), self.rotary()
            self._inertia = [
                [whole(a) + b for a, b in zip(*rows, strict=True)]
                for rows in zip(moving, turning, strict=True)
            ]
        return self._inertia

    def momentum(self, rates: Sequence[Expression]) -> list[Expression]:
        """Return the translational part of B(q) q', without forming B."""
        return [whole(row) for row in self.chain.work(accelerations(self.chain, None, rates))]

    def _along_rates(self) -> dict[int, Expression]:
        pairs = zip(self.names.coordinates, self.names.rates, strict=True)
        return {coordinate.index: rate for coordinate, rate in pairs}

    def velocity_forces(self) -> list[Expression]:
        """Return h(q, q')."""
        if not self.first:
            field = accelerations(self.chain, self.names.rates)
            return [whole(row) for row in self.chain.work(field)]
        # for a truncated B: d/dt (dT/dq') - dT/dq with its kinetic energy T
        momentum = self.momentum(self.names.rates)
        energy = 0.5 * self.graph.total(
            a * b for a, b in zip(momentum, self.names.rates, strict=True)
        )
        change = tangent(self.graph, momentum, self._along_rates())
        share = gradient(self.graph, energy, self.names.coordinates)
        return [a - b for a, b in zip(change, share, strict=True)]

    def velocity_matrix(self) -> Table:
        """Return C(q, q'): half of B' plus the skew part of the derivative of B q' with respect to q at constant q'."""
        flat = [entry for row in self.inertia() for entry in row]
        change = tangent(self.graph, flat, self._along_rates())
        momentum = self.momentum(self.names.rates)
        by_place = [
            tangent(self.graph, momentum, {coordinate.index: self.graph.one})
            for coordinate in self.names.coordinates
        ]
        size = range(self.size)
        return [
            [0.5 * (change[a * self.size + b] + (by_place[b][a] - by_place[a][b])) for b in size]
            for a in size
        ]

    def stiffness(self) -> Table:
        """Return K."""
        return self.names.matrix("k", self.model.stiffness, "stiffness")

    def damping(self) -> Table:
        """Return D."""
        return self.names.matrix("d", self.model.damping, "damping")

    def friction(self) -> list[Expression]:
        """Return c(q')."""
        made = [self.graph.zero] * self.size
        width = float(self.model.coulomb_width)
        for i, place in enumerate(self.model.layout.driven):
            torque = self.names.constant(
                f"f_{i + 1}",
                f"f_{{{i + 1}}}",
                f"torque of dry friction at joint {i + 1}",
                "N m",
                self.model.coulomb[i],
            )
            steep = self.names.constant(
                "steep",
                r"\epsilon",
                "1 over the rate at which dry friction sets in",
                "s/rad",
                1.0 / width,
            )
            if not torque.is_zero:
                made[place] = torque * self.graph.function(TANH, steep * self.names.rates[place])
        return made

    def tip(self) -> list[Expression]:
        """Return the position of the end of the last link, never truncated."""
        chain = Chain(self.names, False) if self.first else self.chain
        place, frame = chain.still, Planar(chain.one, chain.zero)
        for link, axis in zip(chain.links, chain.axes(), strict=True):
            frame = frame * link.turn
            place = place + frame * axis * link.zeta
        return [place.x, place.y]

    def inputs(self) -> Table:
        """Return Q, with a column for each motor."""
        table = [[self.graph.zero] * self.joints for _ in range(self.size)]
        for i, place in enumerate(self.model.layout.driven):
            table[place][i] = self.graph.one
        return table

    def times(self, table: Table, vector: Sequence[Expression]) -> list[Expression]:
        """Return the product of a matrix with a vector."""
        return [self.graph.total(a * b for a, b in zip(row, vector, strict=True)) for row in table]

    def steady(self) -> list[Expression]:
        """Return K q + D q' + c + g."""
        parts = (
            self.times(self.stiffness(), self.names.coordinates),
            self.times(self.damping(), self.names.rates),
            self.friction(),
            self.gravity(),
        )
        return [self.graph.total(terms) for terms in zip(*parts, strict=True)]

    def inverse_dynamics(self) -> list[Expression]:
        """Return the forces on the coordinates."""
        more = self.names.accelerations
        if self.first:
            moving = [
                a + b for a, b in zip(self.momentum(more), self.velocity_forces(), strict=True)
            ]
        else:
            field = accelerations(self.chain, self.names.rates, more)
            moving = [whole(row) for row in self.chain.work(field)]
        parts = (moving, self.times(self.rotary(), more), self.steady())
        return [self.graph.total(terms) for terms in zip(*parts, strict=True)]

    def written(
        self, made: Mapping[str, Any], meanings: Mapping[str, str], integrals: str
    ) -> WrittenEquations:
        """Return quantities, each a list or a table of expressions, as written equations with all symbols."""
        flat: dict[str, tuple[Expression, ...]] = {}
        shapes: dict[str, tuple[int, ...]] = {}
        for name, value in made.items():
            table = np.array(value, object)
            flat[name], shapes[name] = tuple(table.ravel()), table.shape
        graph = self.graph
        used = {
            str(graph.operands[index][0])
            for index in graph.needed([entry for entries in flat.values() for entry in entries])
            if graph.operations[index] == SYMBOL
        }
        names = self.names
        state = [
            tuple(str(graph.operands[symbol.index][0]) for symbol in symbols)
            for symbols in (names.coordinates, names.rates, names.accelerations)
        ]
        listed = {*state[0], *state[1], *(state[2] if "tau" in made else ())}
        model = self.model
        return WrittenEquations(
            graph=graph,
            quantities=flat,
            shapes=shapes,
            coordinates=state[0],
            rates=state[1],
            accelerations=state[2] if "tau" in made else (),
            symbols={name: symbol for name, symbol in names.table.items() if name in used | listed},
            meanings=dict(meanings),
            posed={name: getattr(model, name) for name in model.choices} | {"integrals": integrals},
            joints=self.joints,
            used=frozenset(used),
        )


def check_model(model: FlexibleModel) -> None:
    """Refuse a model with traced values or values that are not finite."""
    fields = dataclasses.fields(model)  # type: ignore[arg-type]  # every kind of it is a dataclass
    arrays = [getattr(model, field.name) for field in fields if not field.metadata.get("static")]
    if any(is_traced(value) for value in arrays):
        raise ArmError(
            "model: holds traced values; must be concrete, because its zeros determine which terms exist."
        )
    if not all(np.all(np.isfinite(value)) for value in arrays):
        raise ArmError("model: holds a value that is not finite; all must be.")
