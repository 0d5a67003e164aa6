"""Common base class of planar and spatial mode shapes."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jaxmodal.eigenspaces.energies import Energies
from jaxmodal.frequencies.results import NaturalFrequencies
from jaxmodal.runtime.namespace import Array, at_once, xp
from jaxmodal.runtime.pictures import Drawn
from jaxmodal.runtime.results import Result
from jaxmodal.runtime.tables import Table
from jaxmodal.spatial.modes.energies import SpatialEnergies

if TYPE_CHECKING:
    import pandas
    import xarray


@dataclasses.dataclass(frozen=True, repr=False)
class ExactShapes(Drawn, Result):
    """Mode shapes of unit modal mass, planar or in space, with derived quantities."""

    frequencies: NaturalFrequencies
    stations: Array
    position: Array
    displacement: Array
    energies: Energies | SpatialEnergies
    residuals: Array
    participation: Array
    total_mass: Array
    orthogonality: Array
    motions: Array
    masses: Array
    bodies: Array

    @property
    def fields(self) -> dict[str, Array]:
        """Displacements, rotations and section forces along the links by name, shape (K, n, S) each."""
        raise NotImplementedError

    def tables(self) -> list[Table]:
        """Return tables of energy shares, effective masses and residuals, and of the effect of small masses."""
        from jaxmodal.modes.shape_tables import added_masses_table, shapes_table

        return [shapes_table(self), added_masses_table(self)]

    def to_xarray(self) -> xarray.Dataset:
        """Return shapes and modal quantities as a dataset with dims mode, link, station; frequencies in Hz."""
        from jaxmodal.modes.shape_tables import shapes_dataset

        return shapes_dataset(self)

    def to_dataframe(self) -> pandas.DataFrame:
        """Return `fields` as a data frame with one row per mode, link and station."""
        return self.to_xarray()[list(self.fields)].to_dataframe()

    @property
    def status(self) -> Array:
        """`Status` codes of the frequencies, shape (K,)."""
        return self.frequencies.status

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
        """Effective modal masses of a base that moves along an axis (kg) or turns (kg m^2); shape of ``participation``.

        Their sum over all modes is ``total_mass``, less the part that follows the base rigidly in a theory without
        axial motion. NaN for modes of zero frequency, as are their shapes: the choice of modes among the motions
        without strain is arbitrary. Together these have the rest of ``total_mass``.
        """
        return at_once(xp.square, self.participation)

    @property
    def hz_per_kg(self) -> Array:
        """Derivatives of the frequencies by a point mass added at each station, Hz/kg, shape (K, n, S).

        For a mode of unit modal mass they are -omega |u|^2/2 per kg, in rad/s: 0 at a node, and never positive.
        """
        return at_once(
            lambda omega, u: -omega[:, None, None] * xp.sum(u**2, axis=-1) / (4.0 * math.pi),
            self.omega,
            self.displacement,
        )

    @property
    def rayleigh_quotient(self) -> Array:
        """Strain energy over kinetic energy times omega^2, in rad^2/s^2, shape (K,).

        It equals omega^2 for an exact shape.
        """
        return at_once(
            lambda omega, of: omega**2 * of.strain / of.kinetic, self.omega, self.energies
        )

    def animate(self, path: str | Path, mode: int = 1, **options: Any) -> None:
        """Write one period of a mode (numbered from 1) as an animated GIF.

        Options are those of `jaxmodal.plots.animate_mode`.
        """
        self._drawing("animate")(self, mode, path, **options)
