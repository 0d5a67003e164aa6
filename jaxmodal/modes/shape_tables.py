"""Mode shapes as a table for people and as a labelled dataset: what both kinds of arms share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxmodal.frequencies.tables import (
    certificate_text,
    frequency_variables,
    hertz_text,
    status_remedies,
)
from jaxmodal.runtime.datasets import variable
from jaxmodal.runtime.tables import Table

if TYPE_CHECKING:
    import xarray

#: values over modes and what follows, their meaning and unit
Field = tuple[Any, str, str]


def table_of_modes(
    shapes: Any,
    head: str,
    shares: Mapping[str, tuple[Sequence[Any], Any]],
    masses: Sequence[str],
    notes: Sequence[str],
    digits: int,
    decimals: int,
) -> Table:
    """A row for each mode: frequency, certificate, shares of the energy, effective masses, largest residual.

    ``shares`` holds, by heading, energies (K, n) and what their sum is a share of, (K,); ``masses`` the headings of
    the effective masses, which are shown with so many ``decimals``.
    """
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
    for name, (parts, whole) in shares.items():
        part = sum(np.sum(np.asarray(energy), axis=-1) for energy in parts)
        columns[name] = [f"{x:.1f}" for x in 100.0 * part / np.asarray(whole)]
    for k, name in enumerate(masses):
        columns[name] = [f"{x:.{decimals}f}" for x in effective[:, k]]
    columns["residual"] = [f"{x:.0e}" for x in residual]
    rows = list(zip(*columns.values(), strict=True))
    return Table(head, tuple(columns), rows, (*notes, *status_remedies(status)), ("certificate",))


def dataset_of_modes(
    shapes: Any,
    fields: Mapping[str, Field],
    energies: Mapping[str, str],
    motions: Mapping[str, Field],
    axes: Sequence[str],
    excitations: Sequence[str],
) -> xarray.Dataset:
    """Frequencies, ``fields`` along the links, energies, ``motions`` in common axes, effective masses, residuals.

    ``energies`` holds the meaning of each energy by its name.
    """
    import xarray

    variables = frequency_variables(shapes.frequencies)
    for name, field in fields.items():
        variables[name] = variable(("mode", "link", "station"), *field)
    for name, long_name in energies.items():
        values = getattr(shapes.energies, name)
        variables[f"energy_{name}"] = variable(("mode", "link"), values, long_name, "J")
    place = ("link", "station", "axis")
    variables["position"] = variable(place, shapes.position, "position at rest", "m")
    for name, field in motions.items():
        variables[name] = variable(("mode", *place), *field)
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
            "axis": list(axes),
            "excitation": list(excitations),
        },
        attrs={"theory": shapes.frequencies.theory, "normalisation": "unit modal mass"},
    )
