"""Mode shapes of arms in space as tables for people and as labelled datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jaxmodal.frequencies.tables import (
    DIGITS,
    certificate_text,
    frequency_variables,
    hertz_text,
    status_remedies,
)
from jaxmodal.runtime.tables import Table
from jaxmodal.spatial.fields import FORCE, MOTION

if TYPE_CHECKING:
    import xarray

_MOTIONS = dict(
    zip(
        MOTION,
        (
            *(("displacement along x", "m"), ("displacement along y", "m")),
            *(("displacement along z", "m"), ("rotation about x", "rad")),
            *(("rotation about y", "rad"), ("rotation about z", "rad")),
        ),
        strict=True,
    )
)
_FORCES = dict(
    zip(
        FORCE,
        (
            *(("normal force", "N"), ("shear force along y", "N"), ("shear force along z", "N")),
            *(("torque", "N m"), ("bending moment about y", "N m")),
            ("bending moment about z", "N m"),
        ),
        strict=True,
    )
)
_ENERGIES = {
    "stretching": "strain energy of stretching",
    "torsion": "strain energy of torsion",
    "bending_y": "strain energy of bending about y",
    "bending_z": "strain energy of bending about z",
    "shear_y": "strain energy of shear along y",
    "shear_z": "strain energy of shear along z",
    "joint": "strain energy of the joint's springs",
    "translation": "kinetic energy of translation",
    "rotation": "kinetic energy of the rotation of sections",
    "body_translation": "kinetic energy of translation of the bodies at the tip",
    "body_rotation": "kinetic energy of rotation of the bodies at the tip",
    "hub": "kinetic energy of the hub and the rotor at the joint",
}
_EXCITATIONS = ("x", "y", "z", "about x", "about y", "about z")


def spatial_shapes_table(shapes: Any, title: str = "", digits: int = DIGITS) -> Table:
    """Return what the modes are made of: shares of energy, effective masses, residuals."""
    e, found = shapes.energies, shapes.frequencies
    strain, kinetic = np.asarray(e.strain), np.asarray(e.kinetic)

    def per_cent(parts: list[Any], whole: np.ndarray) -> list[str]:
        total = sum(np.asarray(part) for part in parts)
        return [f"{x:.1f}" for x in 100.0 * np.sum(total, axis=-1) / whole]

    total = np.asarray(shapes.total_mass)
    carried = np.where(total > 0.0, total, np.nan)
    effective = 100.0 * np.asarray(shapes.effective_mass) / carried
    residual = np.max(np.asarray(shapes.residuals), axis=(1, 2))
    status, multiplicity = np.asarray(found.status), np.asarray(found.multiplicity)
    verdicts = [
        certificate_text(code, int(m)) for code, m in zip(status, multiplicity, strict=True)
    ]
    columns = {
        "mode": [str(k + 1) for k in range(len(strain))],
        "frequency [Hz]": [hertz_text(float(x), digits) for x in np.asarray(found.frequencies_hz)],
        "certificate": verdicts,
        "bend y %": per_cent([e.bending_y], strain),
        "bend z %": per_cent([e.bending_z], strain),
        "twist %": per_cent([e.torsion], strain),
        "stretch %": per_cent([e.stretching], strain),
        "shear %": per_cent([e.shear_y, e.shear_z], strain),
        "joints %": per_cent([e.joint], strain),
        "bodies %": per_cent([e.body_translation, e.body_rotation, e.hub], kinetic),
    }
    for k, name in enumerate(_EXCITATIONS):
        columns[f"{name} %"] = [f"{x:.1f}" for x in effective[:, k]]
    columns["residual"] = [f"{x:.0e}" for x in residual]
    head = title or f"{len(strain)} mode shapes in space ({found.theory})"
    rows = list(zip(*columns.values(), strict=True))
    notes = (
        "bend y to joints: shares of the strain energy, bending about y and z of the sections; bodies: share of",
        "the kinetic energy; x to about z: effective mass for a base that moves along, or turns about, x, y, z.",
    )
    return Table(head, tuple(columns), rows, (*notes, *status_remedies(status)), ("certificate",))


def spatial_shapes_dataset(shapes: Any) -> xarray.Dataset:
    """Return `SpatialModeShapes` as a dataset with dims mode, link, station (and axis, excitation)."""
    import xarray

    def variable(dims: tuple[str, ...], values: Any, long_name: str, units: str) -> Any:
        return (dims, np.asarray(values), {"long_name": long_name, "units": units})

    variables = frequency_variables(shapes.frequencies)
    for names, field in ((_MOTIONS, shapes.motion), (_FORCES, shapes.force)):
        for k, (name, about) in enumerate(names.items()):
            variables[name] = variable(
                ("mode", "link", "station"), np.asarray(field)[..., k], *about
            )
    for name, long_name in _ENERGIES.items():
        values = getattr(shapes.energies, name)
        variables[f"energy_{name}"] = variable(("mode", "link"), values, long_name, "J")
    place = ("link", "station", "axis")
    variables["position"] = variable(place, shapes.position, "position at rest", "m")
    axes = "in the axes of the ground"
    variables["displacement"] = variable(
        ("mode", *place), shapes.displacement, f"displacement {axes}", "m"
    )
    variables["rotation"] = variable(("mode", *place), shapes.rotation, f"rotation {axes}", "rad")
    units = ("kg^(1/2), m kg^(1/2) for rotation", "kg, kg m^2 for rotation")
    excited = ("mode", "excitation")
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
            "axis": ["x", "y", "z"],
            "excitation": list(_EXCITATIONS),
        },
        attrs={"theory": shapes.frequencies.theory, "normalisation": "unit modal mass"},
    )
