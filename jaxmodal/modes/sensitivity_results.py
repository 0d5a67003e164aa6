"""Result of `sensitivities`: derivatives of natural frequencies, as a table and a dataset."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import jax
import numpy as np

from jaxmodal.arm.link_rules import is_damping
from jaxmodal.frequencies.results import NaturalFrequencies, frequency_variables
from jaxmodal.frequencies.tables import hertz_text
from jaxmodal.runtime.datasets import variable
from jaxmodal.runtime.namespace import Array, at_once, xp
from jaxmodal.runtime.pictures import Drawn
from jaxmodal.runtime.results import Result
from jaxmodal.runtime.statuses import Status, remarks_on
from jaxmodal.runtime.tables import Table
from jaxmodal.spatial.parts.parameters import describe_address

if TYPE_CHECKING:
    import xarray

#: sensitivities smaller than this, relative to the largest of the mode, are rounding
NOISE = 1e-12
#: the group of what follows from how an arm is described
FRAMES = "frames"
#: what addresses belong to, by what stands in them; the first that fits
_GROUPS = (
    (FRAMES, ("joint_axis.", "joint_frame", "direction.")),
    ("masses", ("payload.", "body.", "hub", "stator", "tip_", "nonstructural_mass")),
    ("joints", ("joint_", "rotor_", "gear_", "base_stiffness", "support_")),
    ("loads", ("loads.", "axial_force", "_turning_stiffness")),
    ("geometry", ("length", "_offset", "section_roll")),
)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, repr=False)
class Sensitivities(Drawn, Result):
    """Derivatives of K natural frequencies with respect to P parameters.

    Attributes
    ----------
    frequencies : NaturalFrequencies
        The frequencies with their certificates.
    values : Array, shape (P,)
        Values of the parameters, SI units; the mean over the links for an address with ``link*``.
    derivative : Array, shape (K, P)
        ``d omega/d p`` in rad/s per SI unit of the parameter; for ``link*`` all links change together. The rows
        of zero frequencies are 0: a free hinge stays free. (For the stiffness k of the hinge itself the frequency
        grows as the square root of k, which has no derivative at 0.) Derivatives by damping are 0, because these are
        undamped frequencies; see `damped_modes`.
    logarithmic : Array, shape (K, P)
        ``d ln omega/d ln p``: per cent of frequency per per cent of parameter; 0 for a parameter that is 0
        or infinite.
    cluster : Array, shape (K,)
        Index of the first mode of each mode's cluster; its own index for an isolated mode.
    individual : Array, shape (K,)
        True where the derivative is that of this mode, False where it is the mean of a cluster.
    addresses : tuple of str
        The parameters.
    units : tuple of str
        Their SI units.
    labels : tuple of str
        Their labels in tables and plots, with joint names where joints have them.
    whole : bool
        True for all parameters of the arm. Tables and plots then leave out axes and frames of joints and directions
        of springs, which describe the arm rather than its design.
    """

    frequencies: NaturalFrequencies
    values: Array
    derivative: Array
    logarithmic: Array
    cluster: Array
    individual: Array
    addresses: tuple[str, ...] = dataclasses.field(metadata={"static": True})
    units: tuple[str, ...] = dataclasses.field(default=(), metadata={"static": True})
    labels: tuple[str, ...] = dataclasses.field(default=(), metadata={"static": True})
    whole: bool = dataclasses.field(default=False, metadata={"static": True})

    @property
    def status(self) -> Array:
        """`Status` codes of the modes, shape (K,): that of the frequency, or cluster_mean."""
        return at_once(
            lambda own, alone: xp.where(
                alone | (own != Status.certified), own, int(Status.cluster_mean)
            ),
            self.frequencies.status,
            self.individual,
        )

    @property
    def derivative_hz(self) -> Array:
        """Derivatives of the frequencies in Hz per SI unit, shape (K, P)."""
        return at_once(lambda rates: rates / (2.0 * np.pi), self.derivative)

    def tables(self) -> list[Table]:
        """Return a table with one row per parameter: per cent of frequency per per cent of parameter, or per degree.

        Rows are grouped by joints, sections, masses, geometry and loads, the largest first.
        """
        return [sensitivities_table(self)]

    def to_xarray(self) -> xarray.Dataset:
        """Return the table as a dataset with dims mode and parameter; frequencies and derivatives in Hz."""
        return _sensitivities_dataset(self)


def shown_sensitivities(
    table: Sensitivities, kind: str = "logarithmic"
) -> tuple[np.ndarray, list[str]]:
    """Return sensitivities in the units of tables, shape (K, P), and the unit of each column.

    ``"logarithmic"``: per cent of frequency per per cent of the parameter; for a joint angle per degree, because a
    percentage of an angle is meaningless. ``"derivative"``: Hz per SI unit; for a joint angle Hz per degree.
    Rounding noise is set to 0.
    """
    hertz = np.asarray(table.frequencies.frequencies_hz)
    by_hz, relative = np.array(table.derivative_hz), np.array(table.logarithmic)
    units = list(table.units)
    angles = np.array([unit == "rad" for unit in units], bool)
    by_hz[:, angles] *= np.pi / 180.0
    positive = np.where(hertz > 0.0, hertz, 1.0)[:, None]
    if kind == "logarithmic":
        values = np.where(angles, 100.0 * by_hz / positive, relative)
        names = ["% per °" if angle else "% per %" for angle in angles]
    else:
        values = by_hz
        plain = [f"Hz per {unit}" if unit != "1" else "Hz per 1" for unit in units]
        names = ["Hz per °" if angle else text for angle, text in zip(angles, plain, strict=True)]
    sizes = np.abs(relative)
    sizes[:, angles] = np.abs(by_hz[:, angles] * 180.0 / np.pi / positive)
    largest = np.max(sizes, axis=1, initial=0.0, keepdims=True)
    return np.where(sizes <= NOISE * largest, 0.0, values), names


def by_size(table: Sensitivities, top: int | None = None) -> list[int]:
    """Return the indices of the parameters, sorted by their largest share in any mode; only the ``top`` first if given.

    For all parameters of an arm, those of frames are left out; see `Sensitivities.whole`.
    """
    values, _ = shown_sensitivities(table)
    order = np.argsort(-np.nan_to_num(np.abs(values)).max(axis=0, initial=0.0), kind="stable")
    ranked = [int(k) for k in order if not (table.whole and group_of(table.addresses[k]) == FRAMES)]
    return ranked[:top]


def group_of(address: str) -> str:
    """Return the group of a parameter: joints, masses, geometry, loads, frames, or sections."""
    if address.endswith("joint_angle"):
        return "geometry"
    for group, words in _GROUPS:
        if any(word in address for word in words):
            return group
    return "sections"


def sensitivities_table(
    table: Sensitivities, kind: str = "logarithmic", title: str = "", top: int | None = None
) -> Table:
    """Return a table of the sensitivities with one row per parameter, the largest first; only ``top`` rows if given."""
    values, names = shown_sensitivities(table, kind)
    hertz = np.asarray(table.frequencies.frequencies_hz)
    columns = []
    for k, frequency in enumerate(hertz.tolist()):
        mean = "" if bool(table.individual[k]) else " (mean)"
        columns.append(f"{k + 1}: {hertz_text(frequency)} Hz{mean}")
    rows = []
    places = by_size(table, top)
    idle = [name for name in (table.addresses[place] for place in places) if is_damping(name)]
    unchanging = 0
    if table.whole and top is None:
        # per cent of a value that is 0 are nothing, and say nothing of it
        rates = np.asarray(table.derivative)
        noise = NOISE * np.max(np.abs(rates), axis=1, initial=0.0, keepdims=True)
        rates = np.where(
            np.asarray(table.values) == 0.0, np.where(np.abs(rates) <= noise, 0.0, rates), values
        )
        changing = [place for place in places if np.any(rates[:, place] != 0.0)]
        unchanging, places = len(places) - len(changing), changing
    groups = [group_of(table.addresses[place]) for place in places]
    # the group of the largest first, each by size
    places = [
        place
        for group in dict.fromkeys(groups)
        for place, own in zip(places, groups, strict=True)
        if own == group
    ]
    before = ""
    for place in places:
        name = table.addresses[place]
        group = group_of(name)
        value, unit = float(table.values[place]), table.units[place]
        if unit == "rad":
            value, unit = np.degrees(value), "°"
        entries = [f"{x + 0.0:.4g}" for x in values[:, place]]
        shown = ["" if group == before else group, table.labels[place], f"{value:.6g}"]
        rows.append([*shown, "" if unit == "1" else unit, names[place], *entries])
        before = group
    several = "y" if len(hertz) == 1 else "ies"
    head = title or f"sensitivities of {len(hertz)} frequenc{several} ({table.frequencies.theory})"
    left = ("of", "parameter", "unit", "shown")
    notes = [
        *_of_damping(idle),
        *remarks_on(table.frequencies.status),
        *_left_out(table, unchanging),
    ]
    headings = ("of", "parameter", "value", "unit", "shown", *columns)
    return Table(head, headings, rows, notes, left)


def _left_out(table: Sensitivities, idle: int) -> list[str]:
    """Return a note on the values of the whole arm that have no row."""
    frames = sum(group_of(name) == FRAMES for name in table.addresses) if table.whole else 0
    found = [f"{frames} values of axes, frames and directions of joints are left out"] * (
        frames > 0
    )
    found += [f"{idle} values that change none of these frequencies are left out"] * (idle > 0)
    return [f"{' and '.join(found)}; to_xarray() has them."] if found else []


def _of_damping(names: list[str]) -> list[str]:
    """Return a note on why the sensitivities to damping are zero; empty if there are none."""
    if not names:
        return []
    return [
        f"{', '.join(names)}: undamped frequencies do not depend on damping; jaxmodal.damped_modes gives those of the "
        "damped arm, with their damping ratios."
    ]


def _sensitivities_dataset(table: Sensitivities) -> xarray.Dataset:
    """Return `Sensitivities` as a dataset with dims mode, parameter."""
    import xarray

    dims = ("mode", "parameter")
    variables = frequency_variables(table.frequencies) | {
        "derivative_hz": variable(
            dims,
            table.derivative_hz,
            "derivative of the frequency",
            "Hz per unit of the parameter",
        ),
        "logarithmic": variable(dims, table.logarithmic, "logarithmic sensitivity", "1"),
        "value": variable(("parameter",), table.values, "value"),
        "individual": variable(
            ("mode",),
            table.individual,
            "the derivative is of this mode alone, not the mean of a cluster",
        ),
    }
    return xarray.Dataset(
        variables,
        coords={
            "mode": np.arange(1, len(table.cluster) + 1),
            "parameter": list(table.addresses),
            "unit": ("parameter", list(table.units)),
            "group": ("parameter", [group_of(name) for name in table.addresses]),
            "description": ("parameter", [describe_address(name) for name in table.addresses]),
        },
        attrs={"theory": table.frequencies.theory},
    )
