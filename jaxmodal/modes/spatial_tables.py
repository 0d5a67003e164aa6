"""Mode shapes of arms in space as tables for people and as labelled datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jaxmodal.frequencies.tables import DIGITS
from jaxmodal.modes.shape_tables import dataset_of_modes, table_of_modes
from jaxmodal.runtime.tables import Table
from jaxmodal.spatial.modes.fields import FORCE, MOTION

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
    e = shapes.energies
    shares = {
        "bend y %": ([e.bending_y], e.strain),
        "bend z %": ([e.bending_z], e.strain),
        "twist %": ([e.torsion], e.strain),
        "stretch %": ([e.stretching], e.strain),
        "shear %": ([e.shear_y, e.shear_z], e.strain),
        "joints %": ([e.joint], e.strain),
        "bodies %": ([e.body_translation, e.body_rotation, e.hub], e.kinetic),
    }
    head = title or f"{len(shapes.omega)} mode shapes in space ({shapes.frequencies.theory})"
    notes = (
        "bend y to joints: shares of the strain energy, bending about y and z of the sections; bodies: share of",
        "the kinetic energy; x to about z: effective mass for a base that moves along, or turns about, x, y, z.",
    )
    masses = [f"{name} %" for name in _EXCITATIONS]
    return table_of_modes(shapes, head, shares, masses, notes, digits, decimals=1)


def spatial_shapes_dataset(shapes: Any) -> xarray.Dataset:
    """Return `SpatialModeShapes` as a dataset with dims mode, link, station (and axis, excitation)."""
    fields = {
        name: (np.asarray(field)[..., k], *about)
        for names, field in ((_MOTIONS, shapes.motion), (_FORCES, shapes.force))
        for k, (name, about) in enumerate(names.items())
    }
    axes = "in the axes of the ground"
    motions = {
        "displacement": (shapes.displacement, f"displacement {axes}", "m"),
        "rotation": (shapes.rotation, f"rotation {axes}", "rad"),
    }
    return dataset_of_modes(shapes, fields, _ENERGIES, motions, "xyz", _EXCITATIONS)
