"""What mode shapes in the plane and in space have alike."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from jaxmodal.eigenspaces.energies import Energies
from jaxmodal.frequencies.results import NaturalFrequencies
from jaxmodal.runtime.namespace import Array, at_once, xp
from jaxmodal.runtime.pictures import Drawn
from jaxmodal.runtime.tables import ShowsDatasets
from jaxmodal.spatial.modes.energies import SpatialEnergies


class ExactShapes(Drawn, ShowsDatasets):
    """Mode shapes of unit modal mass: what follows from their frequencies, energies and participation factors."""

    frequencies: NaturalFrequencies
    participation: Array
    energies: Energies | SpatialEnergies

    @property
    def omega(self) -> Array:
        """Angular frequencies in rad/s, shape (K,)."""
        return self.frequencies.omega

    @property
    def frequencies_hz(self) -> Array:
        """Frequencies in Hz, shape (K,)."""
        return self.frequencies.frequencies_hz

    @property
    def effective_mass(self) -> Array:
        """Effective modal masses of a base that moves along an axis (kg) or turns (kg m^2), as ``participation``.

        Over all modes they add up to ``total_mass``, less what a theory without axial motion lets follow the
        base rigidly. NaN for a mode of zero frequency, as its shape: of the motions without strain none is a mode
        more than another. Together these have what the others leave of ``total_mass``.
        """
        return at_once(xp.square, self.participation)

    @property
    def rayleigh_quotient(self) -> Array:
        """Strain over kinetic energy times omega^2, in rad^2/s^2, shape (K,): omega^2 for an exact shape."""
        return at_once(
            lambda omega, of: omega**2 * of.strain / of.kinetic, self.omega, self.energies
        )

    def animate(self, path: str | Path, mode: int = 1, **options: Any) -> None:
        """Write one period of a mode, from 1, as an animated GIF; options as of `jaxmodal.plots.animate_mode`."""
        importlib.import_module("jaxmodal.plots.modes").animate_mode(self, mode, path, **options)
