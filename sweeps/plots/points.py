"""Points of an axis for plots: their order, ticks, and the cells around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.plots.figures import angle_symbol, label_decades, not_below_zero
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.errors import suggestion
from sweeps.analysis.cells import axes_of, checked, definition_of
from sweeps.definition.errors import SweepError

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

_SYMBOLS = {"degree": "°", "1": ""}


def columns_of(ds: xr.Dataset, name: str) -> list[str]:
    """Return the coordinates that change along an axis: one, or several that change together."""
    return [known for known in definition_of(ds)["axes"].get(name, ()) if known in ds.coords]


def one_theory(ds: xr.Dataset, theory: TheoryName | None) -> xr.Dataset:
    """Select a theory, by default the first; a dataset for one theory has only this one."""
    known = [str(name) for name in np.atleast_1d(ds.theory.values)]
    chosen = known[0] if theory is None else theory
    if chosen not in known:
        raise SweepError(
            f"theory = {chosen!r}: the dataset has {', '.join(known)}.{suggestion(chosen, known)}"
        )
    return ds.isel(theory=known.index(chosen)) if "theory" in ds.dims else ds


def drawn(
    ds: xr.Dataset, kept: Sequence[str], theory: TheoryName | None, *outputs: str
) -> tuple[xr.Dataset, str, list[xr.DataArray]]:
    """Return the data of a plot over some axes, a description of what is fixed, and the points of these axes.

    The data are the frequencies and outputs, loaded: the given axes in ascending order of their values, the middle of
    every other axis, and one theory.

    Raises
    ------
    SweepError
        If there is no such axis or theory.
    """
    rest, where, points = held(one_theory(ds, theory), kept, *outputs)
    if "theory" in ds.dims:
        where = ", ".join([str(rest.theory.item()).replace("_", " "), *filter(None, [where])])
    return rest, where, points


def held(
    ds: xr.Dataset, kept: Sequence[str], *outputs: str
) -> tuple[xr.Dataset, str, list[xr.DataArray]]:
    """Return the same as `drawn`, for all theories."""
    for place, name in enumerate(kept):
        checked(ds, name)
        if name in kept[:place]:
            raise SweepError(f"{name!r} is given twice; give two axes.")
    chosen = {name: (ds.sizes[name] - 1) // 2 for name in axes_of(ds) if name not in kept}
    rest = in_order(ds[["frequency", *outputs]].isel(chosen), kept).load()
    texts = [
        f"{label(coordinate).split(' [')[0]} = {_with_unit(coordinate)}"
        for coordinate in rest.coords.values()
        if coordinate.ndim == 0 and "parameter" in coordinate.attrs
    ]
    return rest, ", ".join(texts), [points_of(rest, name) for name in kept]


def in_order(ds: xr.Dataset, names: Sequence[str]) -> xr.Dataset:
    """Sort the points of axes over one parameter in ascending order."""
    return ds.sortby([name for name in names if name in ds.coords])


def is_scattered(ds: xr.Dataset, name: str) -> bool:
    """Return whether the points of an axis are samples of several parameters without order."""
    columns = columns_of(ds, name)
    return len(columns) > 1 and not _monotonic(ds[columns[0]].values)


def _monotonic(values: Floats) -> bool:
    return bool(np.all(values[1:] > values[:-1]) or np.all(values[1:] < values[:-1]))


def points_of(ds: xr.Dataset, name: str) -> xr.DataArray:
    """Return the positions at which the points of an axis are drawn.

    These are the values of its parameter, or of its first one if they are monotonic; otherwise their numbers from 1. If
    a value is infinite (a rigid joint), points are equally spaced, and ``tick_labels`` are their values.
    """
    import xarray as xr

    columns = columns_of(ds, name)
    if not columns or is_scattered(ds, name):
        return xr.DataArray(np.arange(1, ds.sizes[name] + 1), dims=name, name=name)
    points = xr.DataArray(ds[columns[0]])
    if np.all(np.isfinite(points.values)):
        return points
    texts = ["∞" if np.isinf(value) else f"{value:.4g}" for value in points.values]
    about = {**points.attrs, "tick_labels": texts}
    return xr.DataArray(np.arange(points.size), dims=name, name=points.name, attrs=about)


def uneven(values: Floats) -> bool:
    """Return whether the finite values are positive and vary so widely that a logarithmic axis is better."""
    values = values[np.isfinite(values)]
    return bool(values.size and values.min() > 0.0 and values.max() >= 20.0 * values.min())


def is_logarithmic(points: xr.DataArray) -> bool:
    """Return whether points are drawn on a logarithmic axis; numbers of points never are."""
    return "units" in points.attrs and "tick_labels" not in points.attrs and uneven(points.values)


def never_negative(points: xr.DataArray) -> bool:
    """Return whether points are nonnegative values other than angles, so that the axis should not extend below 0."""
    if "tick_labels" in points.attrs or points.attrs.get("units", "degree") in ("degree", "rad"):
        return False
    return bool(np.all(points.values >= 0.0))


def edges_of(points: xr.DataArray) -> Floats:
    """Return the edges of the cells around N points, shape (N + 1,): midpoints in the scale of the axis."""
    logarithmic = is_logarithmic(points)
    values = np.log(points.values) if logarithmic else np.asarray(points.values, np.float64)
    if values.size == 1:
        return values[0] + np.array([-0.5, 0.5])
    middles = 0.5 * (values[1:] + values[:-1])
    ends = (2.0 * values[0] - middles[0], 2.0 * values[-1] - middles[-1])
    edges = np.concatenate([ends[:1], middles, ends[1:]])
    if logarithmic:
        return np.exp(edges)
    return np.maximum(edges, 0.0) if never_negative(points) else edges


def label(variable: xr.DataArray) -> str:
    """Return name and unit of an axis for a plot: ``θ₂ [°]``, as plain text that titles also show."""
    name = str(variable.name)
    angle = name.startswith("theta_") and name[6:].isdigit()
    name = angle_symbol(int(name[6:])) if angle else name.replace("_", " ")
    unit = _unit(variable).strip()
    return f"{name} [{unit}]" if unit else name


def _unit(variable: xr.DataArray) -> str:
    """Unit as it follows a number: ``°``, or a space and the SI unit."""
    unit = str(variable.attrs.get("units", "1"))
    for power, raised in (("^2", "²"), ("^3", "³"), ("^4", "⁴")):
        unit = unit.replace(power, raised)
    return _SYMBOLS.get(unit, f" {unit}")


def _with_unit(coordinate: xr.DataArray) -> str:
    return f"{float(coordinate):.6g}{_unit(coordinate)}"


def set_scale(axes: Axes, side: str, points: xr.DataArray) -> None:
    """Give the axis ``"x"`` or ``"y"`` the scale and the ticks that suit its points."""
    which = axes.xaxis if side == "x" else axes.yaxis
    if is_logarithmic(points):
        axes.set(**{f"{side}scale": "log"})
        label_decades(which, float(points.min()), float(points.max()))
    elif never_negative(points):
        not_below_zero(which)
    ticks(which, points)


def ticks(side: Axis, points: xr.DataArray) -> None:
    """Put ticks at multiples of 45 or 90 degrees where an axis shows a wide range of degrees, and at
    labelled points.
    """
    from matplotlib.ticker import MultipleLocator

    if "tick_labels" in points.attrs:
        side.set_ticks(points.values, labels=points.attrs["tick_labels"])
        return
    span = float(points.max() - points.min())
    if points.attrs.get("units") == "degree" and span >= 90.0:
        side.set_major_locator(MultipleLocator(90.0 if span > 180.0 else 45.0))
