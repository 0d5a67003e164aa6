"""The terms of the equations of motion of an arm in space as expressions, each written when it is asked for."""

from __future__ import annotations

from collections.abc import Sequence

from jaxmodal.dynamics.mechanics.free_bases import require_held_base
from jaxmodal.dynamics.model_in_space import SpatialFlexibleArm
from jaxmodal.runtime.errors import ArmError
from jaxmodal.symbolic.chain_in_space import ChainInSpace
from jaxmodal.symbolic.graph import Expression
from jaxmodal.symbolic.nomenclature_in_space import NomenclatureInSpace
from jaxmodal.symbolic.terms import Table, Writer


class WriterInSpace(Writer):
    """Writes each quantity of a model of an arm in space."""

    names: NomenclatureInSpace
    chain: ChainInSpace  # type: ignore[assignment]

    def _begin(self, symbolic: bool) -> None:
        _check(self.model)
        self.names = NomenclatureInSpace(self.graph, self.model, symbolic)
        self.chain = ChainInSpace(self.names)

    def gravity(self) -> list[Expression]:
        """g(q)."""
        return self.chain.forces(None, gravity=self.names.weight())

    def rotary(self) -> Table:
        """Nothing: what turns is in the other terms."""
        return [[self.graph.zero] * self.size for _ in range(self.size)]

    def inertia(self) -> Table:
        """B(q)."""
        if self._inertia is None:
            self._inertia = self.chain.inertia()
        return self._inertia

    def momentum(self, rates: Sequence[Expression]) -> list[Expression]:
        """B(q) q', without forming B."""
        return self.chain.forces(None, rates)

    def velocity_forces(self) -> list[Expression]:
        """h(q, q')."""
        return self.chain.forces(self.names.rates)

    def steady(self) -> list[Expression]:
        """K q + D q' + c + g."""
        return self._with(self.gravity())

    def inverse_dynamics(self) -> list[Expression]:
        """What must act on each coordinate."""
        names = self.names
        return self._with(self.chain.forces(names.rates, names.accelerations, names.weight()))

    def tip(self) -> list[Expression]:
        """The place of the tip of the last link, in the axes of the ground."""
        return list(self.chain.tip().parts)

    def _with(self, forces: Sequence[Expression]) -> list[Expression]:
        """Forces with K q + D q' + c."""
        parts = (
            self.times(self.stiffness(), self.names.coordinates),
            self.times(self.damping(), self.names.rates),
            self.friction(),
            forces,
        )
        return [self.graph.total(terms) for terms in zip(*parts, strict=True)]


def _check(model: SpatialFlexibleArm) -> None:
    """Refuse what the recursion does not know."""
    require_held_base(model, "symbolic.written_equations")
    if not model.is_of_turning_links:
        raise ArmError(
            "model: has joints that slide, segments, or a base that is elastic or driven, which equations of arms in "
            "space are not written for; must be of links that turn at joints, on a clamped base."
        )
    if model.inertia_order != "full":
        raise ArmError(
            f"model: is posed with inertia_order = {model.inertia_order!r}, and equations of arms in space are written "
            "with the full inertia matrix alone; must be model.posed(inertia_order='full')."
        )
    if model.frames != "rotation":
        raise ArmError(
            "model: is posed with frames = 'linear', and equations of arms in space are written with rotation frames "
            "alone; must be model.posed(frames='rotation')."
        )
    sprung = [str(i) for i, number in enumerate(model.springs, start=1) if number]
    if sprung:
        raise ArmError(
            f"model: joint {', '.join(sprung)} has joint_springs, which written equations do not know; must be without "
            "them: joint_stiffness is a spring about the joint's axis."
        )
