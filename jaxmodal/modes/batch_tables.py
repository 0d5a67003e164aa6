"""Modal quantities of many arms as a text table and as a labelled dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jaxmodal.runtime.datasets import variable
from jaxmodal.runtime.tables import Table
from jaxmodal.spatial.parts.parameters import describe_address, unit_of_address

if TYPE_CHECKING:
    import xarray

#: motions of the base, in the plane and in space, with their headings
_PLANAR = {"x": "mass x %", "y": "mass y %", "rotation": "inertia %"}
_SPATIAL = {
    **{axis: f"mass {axis} %" for axis in "xyz"},
    **{f"about {axis}": f"inertia {axis} %" for axis in "xyz"},
}


def _excitations(found: Any) -> dict[str, str]:
    return _PLANAR if np.shape(found.total_mass)[-1] == len(_PLANAR) else _SPATIAL


def quantities_table(found: Any) -> Table:
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


def quantities_dataset(found: Any) -> xarray.Dataset:
    """Return `ModalQuantities` as a dataset with dims cell, mode, parameter, excitation, link; derivatives in Hz."""
    import xarray

    cells, modes = np.shape(found.individual)
    by_parameter, by_base = ("cell", "mode", "parameter"), ("cell", "mode", "excitation")
    of_bodies = "kg, kg m^2 for rotation"
    variables: dict[str, Any] = {
        "derivative_hz": variable(
            by_parameter,
            np.asarray(found.derivative) / (2.0 * np.pi),
            "derivative of the frequency",
            "Hz per unit of the parameter",
        ),
        "logarithmic": variable(by_parameter, found.logarithmic, "logarithmic sensitivity", "1"),
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
    return xarray.Dataset(
        variables,
        coords={
            "cell": np.arange(cells),
            "mode": np.arange(1, modes + 1),
            "parameter": list(found.addresses),
            "excitation": list(_excitations(found)),
            "link": np.arange(1, links + 1),
            "unit": ("parameter", [unit_of_address(name) for name in found.addresses]),
            "description": ("parameter", [describe_address(name) for name in found.addresses]),
        },
    )
