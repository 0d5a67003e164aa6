"""Data of the page of a sweep: axes, frequencies with their status, versions, and the picture of the arm."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxmodal.arm.addresses import resolve_address
from jaxmodal.arm.arm import Arm
from jaxmodal.arm.arrays import beam_values
from jaxmodal.arm.facts import depth_in_plane
from jaxmodal.arm.parameters import set_parameters
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.statuses import OF_FREQUENCIES
from jaxmodal.spatial.arms.arm import AnyArm
from jaxmodal.spatial.files.arm_files import arm_from_dict
from jaxmodal.statics.link_parts import BASE_OFFSET, END_OFFSET
from sweeps.analysis.cells import axes_of, definition_of
from sweeps.definition.errors import SweepError
from sweeps.explorer.between import between_cells
from sweeps.explorer.encoding import deflated, encoded
from sweeps.explorer.space_cells import cells_picture
from sweeps.solution.quantity import NOT_COMPUTED
from sweeps.store.dataset import UNFINISHED

if TYPE_CHECKING:
    import xarray as xr

#: most frequencies in one page: 10^6 cells of 20 modes, about what a browser can still handle
LIMIT = 20_000_000
#: fields of each link that determine its place in the picture
_PLACES = (
    "joint_angle",
    "length",
    *(*BASE_OFFSET, *END_OFFSET),
)


def ordered(ds: xr.Dataset) -> xr.Dataset:
    """Return the dataset with each axis of one parameter sorted by value, infinity last."""
    for name in axes_of(ds):
        if name in ds.indexes:
            ds = ds.sortby(name)
    return ds


def page_data(ds: xr.Dataset) -> dict[str, Any]:
    """Return the data of a sweep's page as plain values.

    Parameters
    ----------
    ds
        Result of a sweep, `ordered`; values of axes may have been selected.

    Raises
    ------
    SweepError
        The dataset has more frequencies than a page can hold, or is not the result of a sweep.
    """
    definition = definition_of(ds)
    if ds.frequency.size > LIMIT:
        raise SweepError(
            f"the dataset has {ds.frequency.size:,} frequencies, a page holds {LIMIT:,}; select values of axes "
            "(--at NAME=VALUE)."
        )
    axes = axes_of(ds)
    planes = [name for name in ("theory", "mode") if name in ds.frequency.dims]
    frequency = ds.frequency.transpose(*planes, *axes).values
    status = ds.status.transpose(*planes, *axes).values
    cells = [ds.sizes[name] for name in axes]
    count = math.prod(ds.sizes[name] for name in planes)
    while len(cells) < 2:
        cells = [1, *cells]
    frequency = frequency.reshape(count, *cells)
    return {
        "title": str(ds.attrs["title"]),
        "arm_name": str(definition["arm"].get("name") or ""),
        "summary": str(ds.attrs["certificate_summary"]),
        "finished": ds.attrs["certificate_summary"] != UNFINISHED,
        "versions": {
            name: str(ds.attrs[name])
            for name in ("jaxmodal_version", "jax_version", "numpy_version", "fingerprint")
            if name in ds.attrs
        },
        "theories": [str(name) for name in np.atleast_1d(ds.theory.values)],
        "modes": [int(mode) for mode in np.atleast_1d(ds.mode.values)],
        "axes": [_axis(ds, name, definition) for name in axes],
        "fixed": _fixed(ds, definition),
        "statuses": _statuses(),
        "frequency": encoded(np.asarray(frequency, np.float64)),
        "status": deflated(status.astype(np.uint8)),
        "arm": _arm(ds, definition),
        "exact": _exact(ds, definition, axes),
    }


def cell_values(ds: xr.Dataset, theory: int, index: tuple[int, ...]) -> dict[str, Any]:
    """Return frequencies and certificate of one cell of an `ordered` dataset, with all digits.

    Raises
    ------
    SweepError
        The cell does not exist.
    """
    axes = axes_of(ds)
    sizes = [ds.sizes[name] for name in axes]
    several = ds.sizes.get("theory", 1)
    inside = len(index) == len(sizes) and all(
        0 <= i < n for i, n in zip(index, sizes, strict=False)
    )
    if not inside or not 0 <= theory < several:
        raise SweepError(f"index = {index}: must be whole numbers within {tuple(sizes)}.")
    cell = ds.isel(dict(zip(axes, index, strict=True)))
    if "theory" in ds.dims:
        cell = cell.isel(theory=theory)
    names = ("frequency", "status", "count_below", "count_above", "bracket_lower", "bracket_upper")
    return {name: np.atleast_1d(cell[name].values).tolist() for name in names if name in cell}


def _axis(ds: xr.Dataset, name: str, definition: dict[str, Any]) -> dict[str, Any]:
    arm = arm_from_dict(definition["arm"])
    entries = [
        _column(ds[column], about) | _limits(arm, about)
        for column, about in definition["axes"][name].items()
    ]
    return {
        "name": name,
        "size": ds.sizes[name],
        "single": name in ds.indexes,
        "columns": entries,
    }


def _column(values: xr.DataArray, about: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": str(values.name),
        "parameter": str(about["parameter"]),
        "unit": str(about["unit"]),
        "values": [_number(float(value)) for value in values.values],
    }


def _limits(arm: AnyArm, about: dict[str, Any]) -> dict[str, Any]:
    """Return the joint limits, in the unit of the column, of the joints that it moves; empty without limits."""
    lower, upper = -math.inf, math.inf
    for address in resolve_address(arm, about["parameter"]):
        owner, _, field = address.partition(".")
        number = int(owner.removeprefix("link")) if owner.startswith("link") else 0
        limits = number and getattr(arm.links[number - 1], "joint_limits", None)
        if limits and field == arm.position_of(number):
            lower, upper = max(lower, float(limits[0])), min(upper, float(limits[1]))
    if math.isinf(lower):
        return {}
    turns = about["unit"] == "degree"
    return {"limits": [math.degrees(x) if turns else x for x in (lower, upper)]}


def _number(value: float) -> float | str:
    """Return a number as JSON holds it; infinity as the word that JavaScript reads."""
    return value if math.isfinite(value) else "Infinity" if value > 0.0 else "-Infinity"


def _fixed(ds: xr.Dataset, definition: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the parameters of axes from which one value has been selected."""
    left = axes_of(ds)
    return [
        {"name": name, "unit": str(about["unit"]), "value": _number(float(ds[name].values))}
        for axis, columns in definition["axes"].items()
        if axis not in left
        for name, about in columns.items()
        if name in ds.coords
    ]


def _statuses() -> dict[str, dict[str, str]]:
    known = {
        str(int(status)): {"name": status.name, "cause": status.cause, "remedy": status.remedy}
        for status in OF_FREQUENCIES
    }
    about = {
        "name": "not_computed",
        "cause": "the run has not reached this cell",
        "remedy": "run the same sweep again: it goes on",
    }
    return known | {str(NOT_COMPUTED): about}


def _arm(ds: xr.Dataset, definition: dict[str, Any]) -> dict[str, Any] | None:
    """Return the data of the arm's picture and how the axes change it; None without a picture."""
    try:
        arm = _selected(ds, definition)
        if not isinstance(arm, Arm):
            axes = axes_of(ds)
            return cells_picture(
                arm,
                [ds.sizes[name] for name in axes],
                lambda axis, point: _set_by(ds, definition["axes"][axes[axis]], point),
            )
        rest = _places(arm)
        changes = [
            change
            for number, name in enumerate(axes_of(ds))
            for change in _changes(arm, rest, ds, number, name, definition["axes"][name])
        ]
    except ArmError:  # values that fit together only with those of other axes
        return None
    return picture(arm) | {"changes": changes}


def _selected(ds: xr.Dataset, definition: dict[str, Any]) -> AnyArm:
    """Return the arm with the selected values of axes."""
    arm = arm_from_dict(definition["arm"])
    selected = {
        about["parameter"]: _si(float(ds[name].values), about["unit"])
        for columns in definition["axes"].values()
        for name, about in columns.items()
        if name in ds.coords and ds[name].ndim == 0
    }
    changed: AnyArm = set_parameters(arm, selected)
    return changed


def _exact(ds: xr.Dataset, definition: dict[str, Any], axes: list[str]) -> dict[str, Any]:
    """Return the solver between the cells, or the reason why there is none."""
    theories = [str(name) for name in np.atleast_1d(ds.theory.values)]
    columns = [[about["parameter"] for about in definition["axes"][axis].values()] for axis in axes]
    try:
        arm = _selected(ds, definition)
    except ArmError as error:  # values that fit together only with those of other axes
        return {"why": str(error)}
    return between_cells(arm, theories, columns)


def picture(arm: Arm) -> dict[str, Any]:
    """Return the data of the picture of a planar arm: places and depths of its links, and its bodies."""
    bodies = [
        [float(link.body.mass), _own(link, "tip_centre_x"), _own(link, "tip_centre_y")]
        for link in arm.links
    ]
    payload = arm.payload
    return {
        "rest": {field: values.tolist() for field, values in _places(arm).items()},
        "depth": [float(depth_in_plane(link) or 0.0) for link in arm.links],
        "segment": [bool(link.segment) for link in arm.links],
        "bodies": bodies,
        "payload": [float(payload.mass), _own(payload, "centre_x"), _own(payload, "centre_y")],
        "changes": [],
    }


def _own(record: object, name: str) -> float:
    return float(getattr(record, name) or 0.0)


def _si(value: float, unit: str) -> float:
    return math.radians(value) if unit == "degree" else value


def _places(arm: Arm) -> dict[str, Floats]:
    beams = beam_values(arm.replace(loads=None))
    nothing = np.zeros(arm.num_links)
    found = {field: getattr(beams, field) for field in _PLACES}
    return {
        field: nothing if values is None else np.asarray(values, np.float64)
        for field, values in found.items()
    }


def _set_by(ds: xr.Dataset, columns: dict[str, Any], point: int) -> dict[str, float]:
    """Return the parameters that an axis sets at a point, in SI units."""
    return {
        about["parameter"]: _si(float(ds[name].values[point]), about["unit"])
        for name, about in columns.items()
    }


def _changes(
    arm: Arm,
    rest: dict[str, Floats],
    ds: xr.Dataset,
    number: int,
    axis: str,
    columns: dict[str, Any],
) -> list[dict[str, Any]]:
    """Return the angles, lengths and offsets that an axis changes: entries with axis, field, link and values."""

    def at(point: int) -> dict[str, Floats]:
        values = {
            about["parameter"]: _si(float(ds[name].values[point]), about["unit"])
            for name, about in columns.items()
            if about["parameter"].rpartition(".")[2] in _PLACES
        }
        return _places(set_parameters(arm, values)) if values else rest

    size = ds.sizes[axis]
    addresses = {about["parameter"].rpartition(".")[2] for about in columns.values()}
    if not addresses & set(_PLACES):
        return []
    points = [at(point) for point in range(size)]
    found = []
    for field in _PLACES:
        table = np.stack([point[field] for point in points])  # (size, n)
        for link in np.flatnonzero(np.any(table != rest[field], axis=0)):
            values = table[:, link].tolist()
            found.append({"axis": number, "field": field, "link": int(link), "values": values})
    return found
