"""How pictures look: colours that colour-blind readers can tell apart, units, files that repeat."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from jaxmodal.errors import suggestion
from sweeps.cells import definition_of
from sweeps.errors import SweepError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

#: Okabe and Ito's colours, darkest contrasts first, with line styles for when they repeat
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STYLES = ("-", "--", ":", "-.")
#: perceptually even, and readable in grey
COLOUR_MAP = "cividis"

FORMATS = ("png", "svg")
_SETTINGS: Any = {
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "svg.hashsalt": "jaxmodal",
    "svg.fonttype": "path",
    "savefig.dpi": 150,
}
_SYMBOLS = {"degree": "°", "1": ""}


@contextmanager
def style() -> Iterator[None]:
    """Draw with the settings of this module, and put the old ones back.

    Raises
    ------
    SweepError
        If matplotlib is missing.
    """
    try:
        import matplotlib
    except ImportError as error:
        raise SweepError("pictures need matplotlib; install jaxmodal[plots].") from error
    with matplotlib.rc_context(_SETTINGS):
        yield


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure that needs no display; width and height in inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def save(figure: Figure, path: str | Path) -> None:
    """Write a figure as PNG or SVG, by the suffix of the path; the same figure gives the same bytes.

    Raises
    ------
    SweepError
        If the suffix is another, or the file cannot be written.
    """
    path = Path(path)
    kind = path.suffix.removeprefix(".").lower()
    if kind not in FORMATS:
        raise SweepError(
            f"{path}: pictures are written as .png or .svg; give one of these suffixes."
        )
    metadata = {"Date": None} if kind == "svg" else {"Software": None}
    try:
        with style():
            figure.savefig(path, metadata=metadata)
    except OSError as error:
        raise SweepError(f"{path}: cannot be written ({error.strerror or error}).") from error


def label(variable: xr.DataArray) -> str:
    """Return name and unit of an axis for a picture: ``theta_2 [°]``."""
    name = str(variable.name)
    angle = name.startswith("theta_") and name[6:].isdigit()
    name = rf"$\theta_{{{name[6:]}}}$" if angle else name.replace("_", " ")
    unit = _unit(variable).strip()
    return f"{name} [{unit}]" if unit else name


def _unit(variable: xr.DataArray) -> str:
    """Unit as it follows a number: ``°``, or a blank and the SI unit."""
    unit = str(variable.attrs.get("units", "1"))
    for power, raised in (("^2", "²"), ("^3", "³"), ("^4", "⁴")):
        unit = unit.replace(power, raised)
    return _SYMBOLS.get(unit, f" {unit}")


def line_look(number: int) -> dict[str, Any]:
    """Return colour and line style of the line with this number, from 0."""
    return {
        "color": COLOURS[number % len(COLOURS)],
        "linestyle": STYLES[number // len(COLOURS) % len(STYLES)],
    }


def one_theory(ds: xr.Dataset, theory: str | None = None) -> xr.Dataset:
    """Select a theory, by default the first, if the dataset has several."""
    if "theory" not in ds.dims:
        return ds
    known = [str(name) for name in ds.theory.values]
    chosen = known[0] if theory is None else theory
    if chosen not in known:
        raise SweepError(
            f"theory = {chosen!r}: the dataset has {', '.join(known)}.{suggestion(chosen, known)}"
        )
    return ds.isel(theory=known.index(chosen))


def held(ds: xr.Dataset, kept: tuple[str, ...]) -> tuple[xr.Dataset, str]:
    """Select the middle of every axis that is not kept; return the rest and what it stands for."""
    chosen = {
        str(name): (ds.sizes[name] - 1) // 2
        for name in ds.frequency.dims
        if name not in (*kept, "mode", "theory")
    }
    rest = ds.isel(chosen)
    texts = [
        f"{label(coordinate).split(' [')[0]} = {_with_unit(coordinate)}"
        for coordinate in rest.coords.values()
        if coordinate.ndim == 0 and "parameter" in coordinate.attrs
    ]
    return rest, ", ".join(texts)


def _with_unit(coordinate: xr.DataArray) -> str:
    return f"{float(coordinate):.6g}{_unit(coordinate)}"


def uneven(values: np.ndarray[Any, Any]) -> bool:
    """Return whether positive values spread over so much that a logarithmic axis shows them better."""
    return bool(np.all(values > 0.0) and values.max() >= 20.0 * values.min())


def checked(ds: xr.Dataset, name: str) -> None:
    """Refuse the name of an axis that the dataset has not.

    Raises
    ------
    SweepError
        With the axes there are, and a suggestion.
    """
    known = [str(dim) for dim in ds.frequency.dims if dim not in ("mode", "theory")]
    if name not in known:
        raise SweepError(
            f"{name!r} is no axis of this dataset, which has {', '.join(known)}."
            f"{suggestion(str(name), known)}"
        )


def points_of(ds: xr.Dataset, name: str) -> xr.DataArray:
    """Coordinate to draw against: that of the axis, else its first parameter, else its numbers."""
    axes = definition_of(ds)["axes"]
    for known in (name, *axes.get(name, ())):
        if known in ds.coords:
            return xr.DataArray(ds[known])
    return xr.DataArray(np.arange(1, ds.sizes[name] + 1), dims=name, name=name)


def title(ds: xr.Dataset, *parts: str) -> str:
    """Title of a picture: that of the dataset, and below it what is drawn."""
    first = str(ds.attrs.get("title", ""))
    rest = "; ".join(part for part in parts if part)
    return f"{first}\n{rest}" if rest else first


def angle_ticks(side: Axis, points: xr.DataArray) -> None:
    """Put ticks at multiples of 45 or 90 degrees where an axis shows a wide range of degrees."""
    from matplotlib.ticker import MultipleLocator

    span = float(points.max() - points.min())
    if points.attrs.get("units") == "degree" and span >= 90.0:
        side.set_major_locator(MultipleLocator(90.0 if span > 180.0 else 45.0))


def mode_panels(
    ds: xr.Dataset, modes: Sequence[int] | None, height: float
) -> tuple[Figure, dict[int, Axes]]:
    """Return a figure with one panel for each mode, by default all, and the panels by mode number.

    Raises
    ------
    SweepError
        If the dataset has no such mode.
    """
    numbers = [int(mode) for mode in (ds.mode.values if modes is None else modes)]
    for mode in numbers:
        if mode not in ds.mode.values:
            raise SweepError(f"mode = {mode}: the dataset has modes 1 to {ds.sizes['mode']}.")
    columns = min((5, 4, 3), key=lambda width: (-len(numbers) % width, -width))
    columns = min(columns, len(numbers))
    rows = -(-len(numbers) // columns)
    figure = new_figure(0.6 + 2.7 * columns, 0.7 + height * rows)
    grid = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    for axes in grid.flat[len(numbers) :]:
        axes.set_visible(False)
    panels = dict(zip(numbers, grid.flat, strict=False))
    for mode, axes in panels.items():
        axes.set_title(f"mode {mode}")
    return figure, panels


def label_panels(panels: dict[int, Axes], horizontal: xr.DataArray, side: str) -> None:
    """Label the outer sides of panels: below the lowest of each column, beside the first of each row."""
    below = {}
    for axes in panels.values():
        angle_ticks(axes.xaxis, horizontal)
        place = axes.get_subplotspec()
        assert place is not None
        below[place.colspan.start] = axes
        if place.colspan.start == 0:
            axes.set_ylabel(side)
    for axes in below.values():
        axes.set_xlabel(label(horizontal))
        axes.xaxis.set_tick_params(labelbottom=True)
    if uneven(horizontal.values):
        next(iter(panels.values())).set_xscale("log")


def mark(axes: Axes, points: Sequence[tuple[float, float]]) -> None:
    """Draw open circles at points."""
    if points:
        axes.plot(
            [point[0] for point in points],
            [point[1] for point in points],
            linestyle="",
            marker="o",
            markersize=6,
            markerfacecolor="none",
            markeredgecolor="#D55E00",
            markeredgewidth=1.3,
        )
