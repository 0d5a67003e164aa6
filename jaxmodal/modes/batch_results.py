"""Result of `modal_quantities_batch`: sensitivities, energies and effective masses of many arms."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
from jax import Array

from jaxmodal.eigenspaces.energies import Energies
from jaxmodal.modes.shape_words import IN_THE_PLANE
from jaxmodal.runtime.array_types import Integers
from jaxmodal.runtime.datasets import variable
from jaxmodal.runtime.results import Result
from jaxmodal.runtime.statuses import Status
from jaxmodal.runtime.tables import Table
from jaxmodal.spatial.modes.energies import SpatialEnergies
from jaxmodal.spatial.parts.parameters import describe_address, unit_of_address

if TYPE_CHECKING:
    import pandas
    import xarray

#: motions of the base in space, with headings that leave room for ranges
_SPATIAL = {
    **{axis: f"mass {axis} %" for axis in "xyz"},
    **{f"about {axis}": f"inertia {axis} %" for axis in "xyz"},
}


@dataclasses.dataclass(frozen=True, repr=False)
class ModalQuantities(Result):
    """Modal quantities of K modes of N arms with n links; for mode shapes of unit modal mass; SI units.

    Attributes
    ----------
    derivative : Array, shape (N, K, P)
        ``d omega/d p`` in rad/s per SI unit, for each of the P addresses.
    logarithmic : Array, shape (N, K, P)
        ``d ln omega/d ln p``; 0 for a parameter that is 0 or infinite.
    participation : Array, shape (N, K, 3)
        Participation factors of a base that moves in x, in y (sqrt(kg)) or turns (m sqrt(kg)). For arms in space
        (N, K, 6): along, then about the ground's x, y, z.
    effective_mass : Array, shape (N, K, 3) or (N, K, 6)
        Effective masses (kg, kg, kg m^2) for the same motions.
    total_mass : Array, shape (N, 3) or (N, 6)
        Mass (kg) for each direction and moment of inertia about the base (kg m^2) for each axis of everything that
        moves with the base.
    energies : Energies or SpatialEnergies
        Peak energies in J by link, arrays of shape (N, K, n).
    individual : Array, shape (N, K)
        True where the values are those of this mode. False in a cluster of (nearly) equal frequencies: derivatives,
        effective masses and energies are then means over its modes, which do not depend on the choice of a basis;
        participation factors do.
    certified : Array, shape (N, K)
        True where the frequencies are certified.
    addresses : tuple of str
        The parameters.
    """

    derivative: Array
    logarithmic: Array
    participation: Array
    effective_mass: Array
    total_mass: Array
    energies: Energies | SpatialEnergies
    individual: Array
    certified: Array
    addresses: tuple[str, ...]

    @property
    def status(self) -> Integers:
        """`Status` codes, shape (N, K): resolved, cluster_mean, uncertified (as the frequency), or no_value for NaN."""
        known = ~np.isnan(np.asarray(self.effective_mass)).any(axis=-1)
        known &= ~np.isnan(np.asarray(self.derivative)).any(axis=-1)
        own = np.where(np.asarray(self.individual), int(Status.resolved), int(Status.cluster_mean))
        sure = np.where(np.asarray(self.certified), own, int(Status.uncertified))
        return np.where(known, sure, int(Status.no_value))

    def tables(self) -> list[Table]:
        """Return a table with one row per mode: ranges of the effective masses, most influential parameters."""
        return [_quantities_table(self)]

    def to_xarray(self) -> xarray.Dataset:
        """Return the quantities as a dataset with dims cell, mode, parameter, excitation, link; derivatives in Hz."""
        return _quantities_dataset(self)

    def to_dataframe(self) -> pandas.DataFrame:
        """Return sensitivities and derivatives as a data frame with one row per arm, mode and parameter.

        Without addresses, with one row per arm and mode.
        """
        slopes = ["derivative_hz", "logarithmic"] if self.addresses else []
        return self.to_xarray()[[*slopes, "individual"]].to_dataframe()


def _excitations(found: ModalQuantities) -> dict[str, str]:
    return (
        IN_THE_PLANE.masses
        if np.shape(found.total_mass)[-1] == len(IN_THE_PLANE.masses)
        else _SPATIAL
    )


def _quantities_table(found: ModalQuantities) -> Table:
    """Return a table of `ModalQuantities` with one row per mode: ranges over the arms, most influential parameters."""
    cells, modes = np.shape(found.individual)
    shares = 100.0 * np.asarray(found.effective_mass) / np.asarray(found.total_mass)[:, None, :]
    sizes = np.abs(np.asarray(found.logarithmic))
    rows = []
    for k in range(modes):
        ends = [f"{low:.3g} to {high:.3g}" for low, high in _ranges(shares[:, k])]
        alone = int(np.count_nonzero(np.asarray(found.individual)[:, k]))
        row = [str(k + 1), *ends, f"{alone} of {cells}"]
        if found.addresses:
            known = np.nan_to_num(sizes[:, k])
            largest = int(np.argmax(known.max(axis=0, initial=0.0)))
            row += [found.addresses[largest], f"{known[:, largest].max(initial=0.0):.4g}"]
        rows.append(row)
    headings = ["mode", *_excitations(found).values(), "alone"]
    notes = [
        "mass, inertia: effective, of the total, for a base that moves, or turns; alone: arms in which the mode is not "
        "one of a cluster."
    ]
    if found.addresses:
        headings += ["matters most", "% per %"]
    title = f"modal quantities of {cells} arms, {modes} modes"
    return Table(title, headings, rows, notes, ("matters most",))


def _ranges(values: np.ndarray) -> list[tuple[float, float]]:
    """Return the minimum and maximum of each column (N, motions); NaN for a column without finite values."""
    finite = np.isfinite(values)
    low = np.min(values, axis=0, where=finite, initial=np.inf)
    high = np.max(values, axis=0, where=finite, initial=-np.inf)
    there = finite.any(axis=0)
    return [
        (a, b) if known else (np.nan, np.nan)
        for a, b, known in zip(low.tolist(), high.tolist(), there, strict=True)
    ]


def _quantities_dataset(found: ModalQuantities) -> xarray.Dataset:
    """Return `ModalQuantities` as a dataset with dims cell, mode, parameter, excitation, link; derivatives in Hz.

    Without addresses there are no derivatives and no dim parameter.
    """
    import xarray

    cells, modes = np.shape(found.individual)
    by_parameter, by_base = ("cell", "mode", "parameter"), ("cell", "mode", "excitation")
    of_bodies = "kg, kg m^2 for rotation"
    variables: dict[str, Any] = {
        "participation": variable(
            by_base,
            found.participation,
            "participation factor",
            "kg^(1/2), m kg^(1/2) for rotation",
        ),
        "effective_mass": variable(
            by_base, found.effective_mass, "effective modal mass", of_bodies
        ),
        "total_mass": variable(
            ("cell", "excitation"), found.total_mass, "what moves with the base", of_bodies
        ),
        "individual": variable(
            ("cell", "mode"),
            found.individual,
            "the numbers are of this mode alone, not the mean of a cluster",
        ),
    }
    for name, energy in vars(found.energies).items():
        if energy is not None:
            text = f"peak energy: {name.replace('_', ' ')}"
            variables[f"energy_{name}"] = variable(("cell", "mode", "link"), energy, text, "J")
    links = np.shape(found.energies.translation)[-1]
    coordinates: dict[str, Any] = {
        "cell": np.arange(cells),
        "mode": np.arange(1, modes + 1),
        "excitation": list(_excitations(found)),
        "link": np.arange(1, links + 1),
    }
    if found.addresses:
        hertz = np.asarray(found.derivative) / (2.0 * np.pi)
        per_unit = "Hz per unit of the parameter"
        variables |= {
            "derivative_hz": variable(by_parameter, hertz, "derivative of the frequency", per_unit),
            "logarithmic": variable(
                by_parameter, found.logarithmic, "logarithmic sensitivity", "1"
            ),
        }
        coordinates |= {
            "parameter": list(found.addresses),
            "unit": ("parameter", [unit_of_address(name) for name in found.addresses]),
            "description": ("parameter", [describe_address(name) for name in found.addresses]),
        }
    return xarray.Dataset(variables, coordinates)
