"""Mode shapes and sensitivities as labelled datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jaxmodal.arm.parameters import describe, unit_of
from jaxmodal.frequencies.status import Status

if TYPE_CHECKING:
    import xarray

_FIELDS = {
    "u": ("axial displacement", "m"),
    "v": ("transverse displacement", "m"),
    "psi": ("rotation of the section", "rad"),
    "normal": ("normal force", "N"),
    "shear": ("shear force", "N"),
    "moment": ("bending moment", "N m"),
}
_ENERGIES = {
    "bending": "strain energy of bending",
    "shear": "strain energy of shear",
    "axial": "strain energy of axial strain",
    "joint": "strain energy of the joint's springs",
    "translation": "kinetic energy of translation",
    "rotation": "kinetic energy of rotary inertia",
    "body_translation": "kinetic energy of translation of the body at the tip",
    "body_rotation": "kinetic energy of rotation of the body at the tip",
    "hub": "kinetic energy of the hub and the rotor at the joint",
}


def _variable(dims: tuple[str, ...], values: Any, long_name: str, units: str) -> Any:
    return (dims, np.asarray(values), {"long_name": long_name, "units": units})


def _of_modes(frequencies: Any) -> dict[str, Any]:
    names = np.array([Status(int(code)).name for code in frequencies.status])
    return {
        "frequency": _variable(("mode",), frequencies.frequencies_hz, "natural frequency", "Hz"),
        "status": (("mode",), names, {"long_name": "status of the frequency"}),
    }


def shapes_dataset(shapes: Any) -> xarray.Dataset:
    """Return `ModeShapes` as a dataset with dims mode, link, station (and axis, excitation)."""
    import xarray

    variables = _of_modes(shapes.frequencies)
    for name, (long_name, units) in _FIELDS.items():
        variables[name] = _variable(
            ("mode", "link", "station"), getattr(shapes, name), long_name, units
        )
    for name, long_name in _ENERGIES.items():
        variables[f"energy_{name}"] = _variable(
            ("mode", "link"), getattr(shapes.energies, name), long_name, "J"
        )
    place = ("link", "station", "axis")
    variables["position"] = _variable(place, shapes.position, "position at rest", "m")
    variables["displacement"] = _variable(
        ("mode", *place), shapes.displacement, "displacement in the axes of the base", "m"
    )
    variables["participation"] = (
        ("mode", "excitation"),
        np.asarray(shapes.participation),
        {"long_name": "participation factor", "units": "kg^(1/2), m kg^(1/2) for rotation"},
    )
    variables["effective_mass"] = (
        ("mode", "excitation"),
        np.asarray(shapes.effective_mass),
        {"long_name": "effective modal mass", "units": "kg, kg m^2 for rotation"},
    )
    variables["residual"] = _variable(
        ("mode",), np.max(shapes.residuals, axis=(1, 2)), "largest residual of a condition", "1"
    )
    return xarray.Dataset(
        variables,
        coords={
            "mode": np.arange(1, shapes.u.shape[0] + 1),
            "link": np.arange(1, shapes.u.shape[1] + 1),
            "station": np.asarray(shapes.stations),
            "axis": ["x", "y"],
            "excitation": ["x", "y", "rotation"],
        },
        attrs={"theory": shapes.frequencies.theory, "normalisation": "unit modal mass"},
    )


def sensitivities_dataset(table: Any) -> xarray.Dataset:
    """Return `Sensitivities` as a dataset with dims mode, parameter."""
    import xarray

    dims = ("mode", "parameter")
    variables = _of_modes(table.frequencies) | {
        "derivative": (
            dims,
            np.asarray(table.derivative_hz),
            {"long_name": "derivative of the frequency", "units": "Hz per unit of the parameter"},
        ),
        "logarithmic": _variable(dims, table.logarithmic, "logarithmic sensitivity", "1"),
        "value": (("parameter",), np.asarray(table.values), {"long_name": "value"}),
        "individual": (
            ("mode",),
            np.asarray(table.individual),
            {"long_name": "the derivative is of this mode alone, not the mean of a cluster"},
        ),
    }
    return xarray.Dataset(
        variables,
        coords={
            "mode": np.arange(1, len(table.cluster) + 1),
            "parameter": list(table.addresses),
            "unit": ("parameter", [unit_of(name) for name in table.addresses]),
            "description": ("parameter", [describe(name) for name in table.addresses]),
        },
        attrs={"theory": table.frequencies.theory},
    )
