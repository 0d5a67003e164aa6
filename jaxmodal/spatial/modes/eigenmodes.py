"""The modes of an arm in space at known frequencies, with all that belongs to them, without and under loads."""

from __future__ import annotations

import numpy as np

from jaxmodal.spatial.modes.eigenspaces import modes_of
from jaxmodal.spatial.modes.energies import SpatialEnergies, Strains, mode_energies
from jaxmodal.spatial.modes.modal_model import ModalModel
from jaxmodal.spatial.modes.motions import Motion


class Eigenmodes:
    """Modes of an arm without loads; a subclass knows those of an arm under loads."""

    def __init__(self, model: ModalModel) -> None:
        self.model = model
        self.strains = Strains(model)

    def modes(
        self,
        omega: np.ndarray,
        first: np.ndarray,
        multiplicity: np.ndarray,
        num_points: int,
        stations: np.ndarray,
    ) -> tuple[Motion, np.ndarray]:
        """Return `eigenspaces.modes_of`."""
        return modes_of(self.model, omega, first, multiplicity, num_points, stations)

    def energies(self, omega: np.ndarray, modes: Motion) -> SpatialEnergies:
        """Return `energies.mode_energies`."""
        return mode_energies(self.model, omega, modes, self.strains)
