"""Derivatives of the frequencies of arms in space by address, for single modes and projected on coincident modes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import jax
import numpy as np

from jaxmodal.arm.paths import leaf_numbers
from jaxmodal.eigenspaces.modal_mass import unpadded_quadrature_size
from jaxmodal.frequencies.results import NaturalFrequencies
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.modes.eigenspaces import modes_of
from jaxmodal.spatial.modes.gradients import frequency_gradients, projected_derivatives
from jaxmodal.spatial.modes.modal_model import modal_model
from jaxmodal.spatial.modes.motions import Motion
from jaxmodal.spatial.modes.values import rates
from jaxmodal.spatial.stiffness.model import SpatialModel


def spatial_derivatives(
    arm: SpatialArm, lowered: SpatialModel, found: NaturalFrequencies, names: Sequence[str]
) -> dict[str, np.ndarray]:
    """Return the derivatives of the frequencies by single-value addresses, (K,).

    They are means for repeated frequencies, and 0 for zero frequencies.
    """
    model = modal_model(lowered)
    derivatives = frequency_gradients(
        model, found.omega, found.group, np.asarray(found.multiplicity)
    )
    places = leaf_numbers(arm)
    return {name: derivatives[:, places[name]] for name in names}


def spatial_projection(
    arm: SpatialArm, lowered: SpatialModel, found: NaturalFrequencies, rate_of: Mapping[str, float]
) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function that projects the derivative in a direction on m given modes, as a matrix (m, m)."""
    model = modal_model(lowered)
    size = unpadded_quadrature_size(found.omega.size)
    modes, _ = modes_of(model, found.omega, found.group, found.multiplicity, size, np.zeros(0))
    to_leaves, places = rates(model.parts), leaf_numbers(arm)
    along = np.zeros(len(jax.tree_util.tree_leaves(arm)))
    for address, rate in rate_of.items():
        along[places[address]] = rate

    def projected_on(members: np.ndarray) -> np.ndarray:
        omega = float(np.mean(found.omega[members]))
        own = Motion(*(x[members] for x in modes))
        return projected_derivatives(model, omega, own, to_leaves) @ along

    return projected_on
