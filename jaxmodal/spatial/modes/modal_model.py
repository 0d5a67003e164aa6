"""An arm in space as shapes and derivatives see it: its parts in float64, and what its modes are made of."""

from __future__ import annotations

import dataclasses

import jax
import numpy as np

from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.eigenspaces.modal_mass import quadrature_size
from jaxmodal.spatial.modes.conditions import Chain, chain_of
from jaxmodal.spatial.modes.eigenspaces import modes_of
from jaxmodal.spatial.modes.energies import SpatialEnergies, mode_energies
from jaxmodal.spatial.modes.gradients import by_leaves, squared_frequency_gradient
from jaxmodal.spatial.modes.motions import Motion, mass_points, of_number, rigid_motions
from jaxmodal.spatial.modes.residuals import condition_residuals
from jaxmodal.spatial.modes.values import ArmValues, arm_values, rates
from jaxmodal.spatial.parts.bases import BaseStiffness
from jaxmodal.spatial.parts.bodies import RigidBody
from jaxmodal.spatial.parts.links import SpatialLink
from jaxmodal.spatial.stiffness.model import SpatialModel


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

    def gradients(
        self,
        omega: np.ndarray,
        first: np.ndarray,
        multiplicity: np.ndarray,
        highest_mode: int | None = None,
    ) -> np.ndarray:
        """The derivative of each frequency, of a repeated one of its mean, by every leaf of the parts, (K, leaves).

        Zero frequencies stay so; NaN where there is no frequency. The last group may go on beyond the list, which is
        of the lowest frequencies unless ``highest_mode`` says how high they are at most.
        """
        rates = self.rates()
        found = np.zeros((omega.size, len(self._leaves())))
        found[np.isnan(omega)] = np.nan
        known, wanted, groups, starts = whole_groups(omega, first, multiplicity)
        if not known.size:
            return found
        points = quadrature_size(omega.size if highest_mode is None else highest_mode)
        modes, _, _ = self.modes(omega[wanted], starts, multiplicity[wanted], points, np.zeros(0))
        each = np.zeros((wanted.size, found.shape[1]))
        for k, place in enumerate(wanted):
            mode, w = of_number(modes, k), float(omega[place])
            each[k] = by_leaves(self.squared_gradient(w, mode, mode), rates) / (2.0 * w)
        for k, place in enumerate(known):
            found[place] = np.mean(each[groups == groups[k]], axis=0)
        return found

    def carried(self, num_points: int) -> tuple[np.ndarray, np.ndarray]:
        """The six motions of the rigid arm with its base at all points that have a mass, (6, D), and the masses, (D,).

        Along, then about x, y, z of the ground.
        """
        rigid = rigid_motions(self.chain, num_points)
        motions, masses = zip(
            *(mass_points(self.chain, self.theory, of_number(rigid, k)) for k in range(6)),
            strict=True,
        )
        return np.stack(motions), masses[0]

    def _leaves(self) -> list[object]:
        return jax.tree_util.tree_leaves((self.links, self.payload, self.base))


def whole_groups(
    omega: np.ndarray, first: np.ndarray, multiplicity: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The modes > 0 of a list, the same with what the last group has beyond the list, their groups, and these' starts.

    Groups are numbered from 0; the start of each is a place among the second.
    """
    known = np.flatnonzero(omega > 0.0)
    if not known.size:
        return known, known, known, known
    missing = int(multiplicity[known[-1]] - np.sum(first == first[known[-1]]))
    wanted = np.concatenate([known, np.repeat(known[-1:], max(missing, 0))])
    groups = np.unique(first[wanted], return_inverse=True)[1]
    return known, wanted, groups, np.searchsorted(groups, groups)


def modal_model(model: SpatialModel) -> ModalModel:
    """The model of a concrete arm from the one that the searches have of it, `SpatialArm.model`."""
    values = arm_values(model.links, model.payload, model.base)
    return ModalModel(model.links, model.payload, model.base, chain_of(values), model.flags)
