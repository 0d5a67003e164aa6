"""The outputs of a sweep: name, unit, meaning and formula of each."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from jaxmodal.eigenspaces.energies import Energies
from jaxmodal.runtime.array_types import Floats, Numbers
from jaxmodal.runtime.statuses import OF_FREQUENCIES, Status
from jaxmodal.spatial.modes.energies import SpatialEnergies
from sweeps.solution.quantity import Quantity, flags, of_part
from sweeps.solution.response_outputs import OF_RESPONSES

#: labels of dimensions after mode, for planar arms and for arms in space; the sweep labels link and parameter
_KINETIC = ("translation", "rotation", "body_translation", "body_rotation", "hub")
_PLANAR = {
    "direction": ("x", "y"),
    "force_direction": ("x", "y"),
    "excitation": ("x", "y", "rotation"),
    "strain_part": ("bending", "shear", "axial", "joint"),
    "kinetic_part": _KINETIC,
}
_SPATIAL = {
    "direction": ("x", "y", "z"),
    "force_direction": ("x", "y", "z"),
    "rotation_axis": ("x", "y", "z"),
    "excitation": ("x", "y", "z", "about x", "about y", "about z"),
    "strain_part": (
        *("bending_y", "bending_z", "torsion", "stretching", "shear_y", "shear_z", "joint"),
    ),
    "kinetic_part": _KINETIC,
}
#: all dimensions after mode, with their meaning
DIMENSIONS = {
    "direction": "direction of a motion",
    "force_direction": "direction of a force",
    "rotation_axis": "axis about which the base turns",
    "excitation": "motion of the base",
    "strain_part": "kind of strain energy",
    "kinetic_part": "kind of kinetic energy",
    "link": "link, from 1 at the base",
    "parameter": "parameter of the arm",
}


def labels_of(dimension: str, in_space: bool, loaded: bool = False) -> tuple[str, ...]:
    """Return the labels of a dimension after mode; ``loaded`` is True for arms under forces at rest."""
    labels = (_SPATIAL if in_space else _PLANAR)[dimension]
    return (*labels, "preload") if loaded and dimension == "strain_part" else labels


def _percent(other: Numbers, own: Numbers) -> Numbers:
    """Return the relative difference in percent; NaN where both are zero."""
    with np.errstate(invalid="ignore"):
        return np.asarray(100.0 * (other - own) / own)


_COUNT: dict[str, Any] = {"dtype": "int32", "fill": -1}

_CERTIFIED = (
    Quantity(
        "frequency",
        "Hz",
        "natural frequency",
        "Natural frequency with blocked joints, ascending along mode, repeated by multiplicity",
        lambda own, _: own.frequency,
    ),
    Quantity(
        "status",
        "1",
        "status",
        "Certificate of the frequency, or the reason why it has none",
        lambda own, _: own.found.status,
        **flags(OF_FREQUENCIES),
    ),
    Quantity(
        "certified",
        "1",
        "certified",
        "True where the Wittrick-Williams counts on both sides confirm the mode and its number",
        lambda own, _: own.found.status == int(Status.certified),
        dtype="bool",
        fill=False,
    ),
    Quantity(
        "count_below",
        "1",
        "modes below the bracket",
        "Number of natural frequencies below the lower end of the bracket of the mode's group",
        lambda own, _: own.found.count_below,
        **_COUNT,
    ),
    Quantity(
        "count_above",
        "1",
        "modes below the upper end of the bracket",
        "Number of natural frequencies below the upper end of the bracket of the mode's group",
        lambda own, _: own.found.count_above,
        **_COUNT,
    ),
    Quantity(
        "multiplicity",
        "1",
        "multiplicity",
        "Number of natural frequencies in the mode's bracket: more than 1 where they cannot be distinguished",
        lambda own, _: own.found.count_above - own.found.count_below,
        **_COUNT,
    ),
    Quantity(
        "bracket_lower",
        "Hz",
        "lower end of the bracket",
        "Frequency at which count_below was taken",
        lambda own, _: own.bracket[..., 0],
    ),
    Quantity(
        "bracket_upper",
        "Hz",
        "upper end of the bracket",
        "Frequency at which count_above was taken",
        lambda own, _: own.bracket[..., 1],
    ),
    Quantity(
        "difference_to_euler_bernoulli",
        "percent",
        "Euler-Bernoulli minus this theory, relative",
        "100 (f_EB - f) / f, mode number by mode number: by how much Euler-Bernoulli (with axial motion)"
        " overestimates the frequency",
        lambda own, solved: _percent(solved["euler_bernoulli"].frequency, own.frequency),
        needs=("euler_bernoulli",),
    ),
)


def _fractions(energies: Energies | SpatialEnergies, dimension: str) -> Floats:
    """Return the energies of the kinds of a dimension divided by their sum, shape (N, K, n, kinds)."""
    loaded = getattr(energies, "preload", None) is not None
    names = labels_of(dimension, isinstance(energies, SpatialEnergies), loaded)
    parts = np.stack([np.asarray(getattr(energies, name)) for name in names], axis=-1)
    return np.asarray(parts / parts.sum(axis=(-2, -1), keepdims=True))


def _moves(values: Any) -> Any:
    """Return the values for translations of the base: along x and y, in space also z."""
    return values[..., : (values.shape[-1] + 1) // 2]


def _turns(values: Any) -> Any:
    """Return the values for rotation of the base; in space for rotations about x, y and z."""
    return values[..., 2] if values.shape[-1] == 3 else values[..., 3:]


_MODAL = of_part(
    "modal",
    Quantity(
        "modal_status",
        "1",
        "status of the modal quantities",
        "Resolved: of this mode alone. Cluster_mean: frequencies closer than 1e-9 (relative); the"
        " sensitivities, effective masses and energies are the means over them, participation factors those"
        " of an arbitrary orthonormal basis. Uncertified: as the frequency. No_value: the frequency is not known, or"
        " is 0",
        lambda own, _: own.modal.status,
        **flags((Status.resolved, Status.cluster_mean, Status.no_value, Status.uncertified)),
    ),
    Quantity(
        "sensitivity",
        "1",
        "logarithmic sensitivity",
        "Derivative d ln f / d ln p: per cent of frequency for one per cent of the parameter",
        lambda own, _: own.modal.logarithmic,
        dims=("parameter",),
    ),
    Quantity(
        "frequency_derivative",
        "Hz per parameter_unit",
        "derivative of the frequency",
        "Derivative df/dp per SI unit of the parameter; for link* all links change together",
        lambda own, _: own.modal.derivative / (2.0 * math.pi),
        dims=("parameter",),
    ),
    Quantity(
        "effective_mass",
        "kg",
        "effective modal mass",
        "Mass that the mode sets in motion when the base moves in x or y, in space in z, too",
        lambda own, _: _moves(own.modal.effective_mass),
        dims=("direction",),
    ),
    Quantity(
        "effective_inertia",
        "kg m^2",
        "effective modal moment of inertia",
        "Moment of inertia that the mode sets in motion when the base turns",
        lambda own, _: _turns(own.modal.effective_mass),
        dims_in_space=("rotation_axis",),
    ),
    Quantity(
        "effective_fraction",
        "1",
        "effective modal mass over the total",
        "Effective mass or moment of inertia over all that moves with the base",
        lambda own, _: own.modal.effective_mass / own.modal.total_mass[:, None, :],
        dims=("excitation",),
    ),
    Quantity(
        "participation_factor",
        "kg^(1/2)",
        "participation factor",
        "Of a base that moves in x or y, in space in z, for a mode of unit modal mass, signed as in docs/modes.md",
        lambda own, _: _moves(own.modal.participation),
        dims=("direction",),
    ),
    Quantity(
        "participation_inertia",
        "m kg^(1/2)",
        "participation factor of rotation",
        "Of a base that turns, for a mode of unit modal mass",
        lambda own, _: _turns(own.modal.participation),
        dims_in_space=("rotation_axis",),
    ),
    Quantity(
        "strain_energy_fraction",
        "1",
        "share of the strain energy",
        "Strain energy of each link by kind (joint: the springs at its base and supports; preload: strain energy of"
        " static forces, negative in compression) over that of the arm; all of them add up to 1",
        lambda own, _: _fractions(own.modal.energies, "strain_part"),
        dims=("link", "strain_part"),
    ),
    Quantity(
        "kinetic_energy_fraction",
        "1",
        "share of the kinetic energy",
        "Kinetic energy of each link and of the body at its tip by kind over that of the arm",
        lambda own, _: _fractions(own.modal.energies, "kinetic_part"),
        dims=("link", "kinetic_part"),
    ),
)

QUANTITIES: dict[str, Quantity] = {
    entry.name: entry for entry in (*_CERTIFIED, *_MODAL, *OF_RESPONSES)
}
"""Every output by its name."""

#: outputs in every dataset
ALWAYS = ("frequency", "status", "certified")
