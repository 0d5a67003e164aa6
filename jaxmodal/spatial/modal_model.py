"""An arm in space as shapes and derivatives see it: its parts in float64, and what its modes are made of."""

from __future__ import annotations

import dataclasses

import numpy as np

from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.spatial.arm import SpatialArm
from jaxmodal.spatial.bases import BaseStiffness
from jaxmodal.spatial.bodies import RigidBody
from jaxmodal.spatial.conditions import Chain, chain_of
from jaxmodal.spatial.eigenspaces import modes_of
from jaxmodal.spatial.energies import SpatialEnergies, mode_energies
from jaxmodal.spatial.gradients import squared_frequency_gradient
from jaxmodal.spatial.links import SpatialLink
from jaxmodal.spatial.motions import Motion, of_number
from jaxmodal.spatial.residuals import condition_residuals
from jaxmodal.spatial.values import ArmValues, arm_values, rates


@dataclasses.dataclass(frozen=True)
class ModalModel:
    """A concrete arm in space and a theory.

    Attributes
    ----------
    links, payload, base
        The parts of the arm, of NumPy.
    chain : Chain
        The same in numbers.
    theory : Theory
        Flags of the theory.
    """

    links: tuple[SpatialLink, ...]
    payload: RigidBody
    base: BaseStiffness | None
    chain: Chain
    theory: Theory

    @property
    def rigid(self) -> tuple[bool, ...]:
        """Which links do not deform."""
        return tuple(link.rigid for link in self.links)

    def modes(
        self,
        omega: np.ndarray,
        first: np.ndarray,
        multiplicity: np.ndarray,
        num_points: int,
        stations: np.ndarray,
    ) -> tuple[Motion, np.ndarray, np.ndarray]:
        """The modes at natural frequencies > 0; see `eigenspaces.modes_of`."""
        return modes_of(
            self.links, self.chain, self.theory, omega, first, multiplicity, num_points, stations
        )

    def energies(self, omega: np.ndarray, modes: Motion) -> list[SpatialEnergies]:
        """Of each mode."""
        return [
            mode_energies(self.chain, self.rigid, self.theory, float(w), of_number(modes, k))
            for k, w in enumerate(omega)
        ]

    def residuals(self, omega: np.ndarray, modes: Motion) -> np.ndarray:
        """Of each mode, (K, n, 4); see `residuals.condition_residuals`."""
        return np.stack(
            [
                condition_residuals(self.chain, float(w), of_number(modes, k))
                for k, w in enumerate(omega)
            ]
        )

    def squared_gradient(self, omega: float, a: Motion, b: Motion) -> ArmValues:
        """The derivative of omega^2, projected on two modes; see `gradients.squared_frequency_gradient`."""
        return squared_frequency_gradient(self.chain, self.rigid, self.theory, omega, a, b)

    def rates(self) -> ArmValues:
        """The derivatives of the values by the leaves of the parts; see `values.rates`."""
        return rates((self.links, self.payload, self.base))


def modal_model(arm: SpatialArm, theory: str) -> ModalModel:
    """The model of a concrete arm.

    Raises
    ------
    ArmError
        As `SpatialArm.model`.
    """
    model = arm.model(theory)
    values = arm_values(model.links, model.payload, model.base)
    return ModalModel(model.links, model.payload, model.base, chain_of(values), model.flags)
