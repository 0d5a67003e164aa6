"""Derivatives of frequencies of an arm in space at many postures: by its values, then by design variables."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from design_opt.problem.designs import OWN
from design_opt.problem.problem import Problem
from jaxmodal.arm.paths import leaf_numbers
from jaxmodal.eigenspaces.modal_mass import quadrature_size
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.modes.eigenspaces import SLOTS, modes_of
from jaxmodal.spatial.modes.gradients import frequency_gradients, projected_derivatives
from jaxmodal.spatial.modes.modal_model import modal_model
from jaxmodal.spatial.modes.values import rates
from jaxmodal.spatial.preload.derivatives import frequency_derivatives
from jaxmodal.spatial.preload.energies import frequency_rates
from jaxmodal.spatial.preload.model import LoadedModel


class SpatialRates:
    """Derivatives of the frequencies of an arm in space by the positions of the variables, in rad/s."""

    has_programs = False

    def __init__(self, problem: Problem, arm: SpatialArm) -> None:
        self._theory, self._space = problem.theory, problem.space
        self._highest = problem.num_modes
        self._size = len(jax.tree_util.tree_leaves(arm))
        self._place = leaf_numbers(arm)
        self._joints = np.array(arm.joints) - 1
        self._angles = [self._place[f"link{i}.{arm.position_of(i)}"] for i in arm.joints]
        self._of_values = jax.jit(jax.jacfwd(problem.space.values))

    def of_groups(
        self,
        y: np.ndarray,
        name: str,
        angles: np.ndarray,
        omega: np.ndarray,
        multiplicity: np.ndarray,
    ) -> np.ndarray:
        """Return the derivative of the mean of a group of frequencies at each posture, (postures, n).

        Arguments as for `PlanarRates.of_groups`; groups at one posture are solved together.
        """
        rates = self._by_leaves(y, name)
        found = np.zeros((len(omega), len(y)))
        own = self._space.design_at(y)
        postures, of_posture = np.unique(angles, axis=0, return_inverse=True)
        for number, posture in enumerate(postures):
            lanes = np.flatnonzero(of_posture.ravel() == number)
            centres, of_centre = np.unique(omega[lanes], return_inverse=True)
            sizes = np.ones(len(centres), int)
            sizes[of_centre] = np.clip(multiplicity[lanes], 1, SLOTS)
            # every member of each group
            each, first, size = (
                np.repeat(x, sizes) for x in (centres, np.cumsum(sizes) - sizes, sizes)
            )
            arm = self._posed(own, name, posture)
            model = arm.search_model(self._theory)
            if isinstance(model, LoadedModel):
                names, some = self._varied(rates)
                slopes = frequency_derivatives(model, arm, each, first, size, names) @ some
            else:
                given = modal_model(model), each, first, size, self._highest
                slopes = frequency_gradients(*given) @ rates
            found[lanes] = slopes[(np.cumsum(sizes) - sizes)[of_centre]]
        return found

    def of_cluster(
        self, y: np.ndarray, name: str, angles: np.ndarray, omega: np.ndarray, close: bool
    ) -> np.ndarray:
        """Return derivatives projected on the modes of frequencies at one posture, see `PlanarRates.of_cluster`."""
        arm, rates_of = (
            self._posed(self._space.design_at(y), name, angles),
            self._by_leaves(y, name),
        )
        count, centre = len(omega), float(np.mean(omega))
        each = np.full(count, centre) if close else omega
        first = np.zeros(count, int) if close else np.arange(count)
        sizes = np.full(count, count if close else 1)
        lowered = arm.search_model(self._theory)
        if isinstance(lowered, LoadedModel):
            names, some = self._varied(rates_of)
            assert lowered.vibrating is not None
            chain = lowered.vibrating.loaded.chain
            return np.asarray(frequency_rates(chain, arm, each.tolist(), names) @ some)
        model = modal_model(lowered)
        modes, _ = modes_of(model, each, first, sizes, quadrature_size(self._highest), np.zeros(0))
        projected = projected_derivatives(model, centre, modes, rates(model.parts))
        return np.asarray(projected @ rates_of)

    def _posed(self, own: Any, name: str, angles: np.ndarray) -> SpatialArm:
        arm: SpatialArm = own if name == OWN else own.with_posture(angles[self._joints])
        return arm

    def _varied(self, rates: np.ndarray) -> tuple[list[str], np.ndarray]:
        """Return the addresses that the variables change, with the rates of these leaves alone."""
        names = [address for address, leaf in self._place.items() if rates[leaf].any()]
        return names, rates[[self._place[address] for address in names]]

    def _by_leaves(self, y: np.ndarray, name: str) -> np.ndarray:
        """Return the derivatives of the arm's leaves by the positions, (leaves, n); angles of a set are constant."""
        rates = np.zeros((self._size, len(y)))
        for address, rate in self._of_values(jnp.asarray(y)).items():
            rates[self._place[address]] = rate
        if name != OWN:
            rates[self._angles] = 0.0
        return rates
