"""Common base class of planar and spatial mode shapes."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from jaxmodal.eigenspaces.energies import Energies
from jaxmodal.frequencies.results import NaturalFrequencies, frequency_variables
from jaxmodal.frequencies.tables import DIGITS, certificate_text, hertz_text
from jaxmodal.modes.shape_words import ShapeWords
from jaxmodal.runtime.datasets import variable
from jaxmodal.runtime.namespace import Array, at_once, xp
from jaxmodal.runtime.pictures import Drawn
from jaxmodal.runtime.results import Result
from jaxmodal.runtime.statuses import remarks_on
from jaxmodal.runtime.tables import Table
from jaxmodal.spatial.modes.energies import SpatialEnergies

if TYPE_CHECKING:
    import pandas
    import xarray


@dataclasses.dataclass(frozen=True, repr=False)
class ExactShapes(Drawn, Result):
    """Mode shapes of unit modal mass, planar or in space, with derived quantities."""

    told: ClassVar[ShapeWords]
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
        return [shapes_table(self), _added_masses_table(self)]

    def to_xarray(self) -> xarray.Dataset:
        """Return shapes and modal quantities as a dataset with dims mode, link, station; frequencies in Hz."""
        return _shapes_dataset(self)

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


def shapes_table(shapes: ExactShapes, title: str = "", digits: int = DIGITS) -> Table:
    """Return a table of the modes: frequency, certificate, energy shares, effective masses, residual."""
    told, energies = shapes.told, shapes.energies
    shares = {
        name: (parts, energies.strain)
        for name, parts in told.shares.items()
        if getattr(energies, parts[0]) is not None
    }
    bodies = {"bodies %": (("body_translation", "body_rotation", "hub"), energies.kinetic)}
    found = shapes.frequencies
    total = np.asarray(shapes.total_mass)
    carried = np.where(total > 0.0, total, np.nan)
    effective = 100.0 * np.asarray(shapes.effective_mass) / carried
    residual = np.max(np.asarray(shapes.residuals), axis=(1, 2))
    status, multiplicity = np.asarray(found.status), np.asarray(found.multiplicity)
    columns = {
        "mode": [str(k + 1) for k in range(len(status))],
        "frequency [Hz]": [hertz_text(float(x), digits) for x in np.asarray(found.frequencies_hz)],
        "certificate": [
            certificate_text(code, int(m)) for code, m in zip(status, multiplicity, strict=True)
        ],
    }
    for name, (parts, whole) in (shares | bodies).items():
        part = sum(np.sum(np.asarray(getattr(energies, each)), axis=-1) for each in parts)
        columns[name] = [f"{x:.1f}" for x in 100.0 * part / np.asarray(whole)]
    for k, name in enumerate(told.masses.values()):
        columns[name] = [f"{x:.{told.decimals}f}" for x in effective[:, k]]
    columns["residual"] = [f"{x:.0e}" for x in residual]
    rows = list(zip(*columns.values(), strict=True))
    head = title or f"{len(status)} mode shapes{told.place} ({found.theory})"
    return Table(head, tuple(columns), rows, (*told.notes, *remarks_on(status)), ("certificate",))


def _added_masses_table(shapes: ExactShapes) -> Table:
    """Return the derivative of each frequency by a small mass at the ends of the links, Hz per kg."""
    by_mass, stations = np.asarray(shapes.hz_per_kg), np.asarray(shapes.stations)
    hertz = np.asarray(shapes.frequencies_hz).tolist()
    rows = []
    for link in range(by_mass.shape[1]):
        for place in dict.fromkeys((int(stations.argmin()), int(stations.argmax()))):
            values = (f"{x + 0.0:.4g}" for x in by_mass[:, link, place])
            rows.append([f"link {link + 1}, x/L = {stations[place]:g}", *values])
    columns = [f"{k}: {hertz_text(frequency)} Hz" for k, frequency in enumerate(hertz, start=1)]
    return Table("Hz per kg of a mass added at", ("", *columns), rows)


def _shapes_dataset(shapes: ExactShapes) -> xarray.Dataset:
    """Return shapes as a dataset with dims mode, link, station, axis, excitation."""
    import xarray

    variables = frequency_variables(shapes.frequencies)
    told = shapes.told
    for name, field in shapes.fields.items():
        variables[name] = variable(("mode", "link", "station"), field, *told.fields[name])
    for name, long_name in told.energies.items():
        values = getattr(shapes.energies, name)
        if values is not None:
            variables[f"energy_{name}"] = variable(("mode", "link"), values, long_name, "J")
    by_mass = "derivative of the frequency by a point mass added there"
    along = ("mode", "link", "station")
    variables["hz_per_kg"] = variable(along, shapes.hz_per_kg, by_mass, "Hz/kg")
    place = ("link", "station", "axis")
    variables["position"] = variable(place, shapes.position, "position at rest", "m")
    axes = f"in the axes of the {told.ground}"
    for name, unit in told.motions.items():
        values = getattr(shapes, name)
        variables[name] = variable(("mode", *place), values, f"{name} {axes}", unit)
    excited = ("mode", "excitation")
    units = ("kg^(1/2), m kg^(1/2) for rotation", "kg, kg m^2 for rotation")
    variables["participation"] = variable(
        excited, shapes.participation, "participation factor", units[0]
    )
    variables["effective_mass"] = variable(
        excited, shapes.effective_mass, "effective modal mass", units[1]
    )
    variables["residual"] = variable(
        ("mode",), np.max(shapes.residuals, axis=(1, 2)), "largest residual of a condition", "1"
    )
    return xarray.Dataset(
        variables,
        coords={
            "mode": np.arange(1, len(shapes.omega) + 1),
            "link": np.arange(1, shapes.position.shape[0] + 1),
            "station": np.asarray(shapes.stations),
            "axis": list(told.axes),
            "excitation": list(told.masses),
        },
        attrs={"theory": shapes.frequencies.theory, "normalisation": "unit modal mass"},
    )
