"""Terms of the equations of motion of an arm in space as expressions, each written on request."""

from __future__ import annotations

from collections.abc import Sequence

from jaxmodal.dynamics.mechanics.free_bases import require_held_base
from jaxmodal.dynamics.model_in_space import SpatialFlexibleArm
from jaxmodal.runtime.errors import ArmError
from jaxmodal.symbolic.chain_in_space import ChainInSpace
from jaxmodal.symbolic.graph import Expression, Table
from jaxmodal.symbolic.linear_frames import ChainOfLinearFrames
from jaxmodal.symbolic.nomenclature_in_space import NomenclatureInSpace
from jaxmodal.symbolic.terms import Writer


class WriterInSpace(Writer):
    """Writer of the quantities of a model of an arm in space."""

    names: NomenclatureInSpace
    chain: ChainInSpace | ChainOfLinearFrames  # type: ignore[assignment]

    def _begin(self, symbolic: bool) -> None:
        _check(self.model)
        self.names = NomenclatureInSpace(self.graph, self.model, symbolic)
        linear = self.model.frames == "linear"
        self.chain = (ChainOfLinearFrames if linear else ChainInSpace)(self.names)

    def gravity(self) -> list[Expression]:
        """Return g(q)."""
        return self.chain.forces(None, gravity=self.names.weight())

    def rotary(self) -> Table:
        """Return zeros: the other terms contain all rotation."""
        return [[self.graph.zero] * self.size for _ in range(self.size)]

    def inertia(self) -> Table:
        """Return B(q)."""
        if self._inertia is None:
            self._inertia = self.chain.inertia()
        return self._inertia

    def momentum(self, rates: Sequence[Expression]) -> list[Expression]:
        """Return B(q) q', without forming B."""
        return self.chain.forces(None, rates)

    def velocity_forces(self) -> list[Expression]:
        """Return h(q, q')."""
        return self.chain.forces(self.names.rates)

    def velocity_matrix(self) -> Table:
        """Return C(q, q')."""
        require_held_base(self.model, "the matrix 'C' of written equations")
        return super().velocity_matrix()

    def steady(self) -> list[Expression]:
        """Return K q + D q' + c + g."""
        return self._with(self.gravity())

    def inverse_dynamics(self) -> list[Expression]:
        """Return the forces on the coordinates."""
        names = self.names
        return self._with(self.chain.forces(names.rates, names.accelerations, names.weight()))

    def tip(self) -> list[Expression]:
        """Return the position of the tip of the last link, in the axes of the ground."""
        return list(self.chain.tip().parts)

    def _with(self, forces: Sequence[Expression]) -> list[Expression]:
        """Return forces plus K q + D q' + c."""
        size = self.model.layout.size
        none = [self.graph.zero] * (self.size - size)  # no spring acts on the pose of a free base
        parts = (
            self.times(self.stiffness(), [*self.names.coordinates[:size], *none]),
            self.times(self.damping(), self.names.rates),
            self.friction(),
            forces,
        )
        return [self.graph.total(terms) for terms in zip(*parts, strict=True)]


def _check(model: SpatialFlexibleArm) -> None:
    """Refuse a formulation that the recursion does not support."""
    if model.inertia_order != "full":
        raise ArmError(
            f"inertia_order = {model.inertia_order!r}: is written for arms in a plane; must be 'full' in space, where "
            "equations have the full inertia matrix alone; take model.posed(inertia_order='full')."
        )
