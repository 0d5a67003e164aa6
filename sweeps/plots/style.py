"""Style of plots: colours for colour-blind readers, units, reproducible files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxmodal.plots import figures
from jaxmodal.plots.figures import COLOUR_MAP, COLOURS, new_figure
from jaxmodal.runtime.array_types import Floats
from sweeps.definition.errors import SweepError
from sweeps.plots.points import label, set_scale, uneven
from sweeps.store.export import write_or_refuse

__all__ = [
    "COLOURS", "COLOUR_MAP", "FORMATS", "STYLES", "draw_lines", "label_panels", "line_look", "mark", "mode_panels",
    "new_figure", "save", "style", "title",
]  # fmt: skip

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: line styles for when colours repeat
STYLES: tuple[Any, ...] = ("-", "--", ":", "-.")
FORMATS = ("png", "svg")


@contextmanager
def style() -> Iterator[None]:
    """Context in which plots have the settings of `jaxmodal.plots.figures`; previous settings are restored.

    Raises
    ------
    SweepError
        If matplotlib is missing.
    """
    try:
        figures.require_matplotlib()
    except ImportError as error:
        raise SweepError("pictures need matplotlib; install jaxmodal[plots].") from error
    with figures.style():
        yield


def save(figure: Figure, path: str | Path) -> None:
    """Write a figure as PNG or SVG, by the suffix of the path; equal figures give identical bytes.

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
    with style():
        write_or_refuse(path, lambda part: figure.savefig(part, metadata=metadata))


def line_look(number: int) -> dict[str, Any]:
    """Return colour and line style of a line by its number, from 0."""
    return {
        "color": COLOURS[number % len(COLOURS)],
        "linestyle": STYLES[number // len(COLOURS) % len(STYLES)],
    }


def dots(points: xr.DataArray) -> dict[str, Any]:
    """Return the look of a line over some points: a single point is a dot, as a line it would not be seen."""
    return {"marker": "o"} if points.size == 1 else {}


def draw_lines(
    axes: Axes,
    points: xr.DataArray,
    lines: Mapping[str, Floats],
    side: str,
) -> None:
    """Draw named lines over one axis, on a logarithmic scale if their values vary widely."""
    for number, (name, values) in enumerate(lines.items()):
        axes.plot(points.values, values, label=name or None, **line_look(number), **dots(points))
    if uneven(np.stack(list(lines.values()))):
        axes.set_yscale("log")
    figures.not_below_zero(axes.yaxis)
    set_scale(axes, "x", points)
    axes.set_xlabel(label(points))
    axes.set_ylabel(side)


def title(ds: xr.Dataset, *parts: str) -> str:
    """Title of a plot: that of the dataset with its arm, then what is drawn and by which theory."""
    first = str(ds.attrs.get("title", ""))
    arm = str(json.loads(ds.attrs.get("definition", "{}")).get("arm", {}).get("name", ""))
    if arm and arm.lower() not in first.lower():
        first = f"{first}, {arm}" if first else arm
    theory = ds.get("theory")
    own = str(theory.item()).replace("_", " ") if theory is not None and theory.ndim == 0 else ""
    rest = "; ".join(part for part in (*parts, own) if part)
    return f"{first}\n{rest}" if rest else first


def mode_panels(
    ds: xr.Dataset, modes: Sequence[int] | None, height: float, width: float = 2.7
) -> tuple[Figure, dict[int, Axes]]:
    """Return a figure with one panel for each mode, by default all, and the panels by mode number; sizes in inches.

    Raises
    ------
    SweepError
        If the dataset has no such mode.
    """
    numbers = [int(mode) for mode in (ds.mode.values if modes is None else modes)]
    for mode in numbers:
        if mode not in ds.mode.values:
            raise SweepError(f"mode = {mode}: the dataset has modes 1 to {ds.sizes['mode']}.")
    return titled_panels({mode: f"mode {mode}" for mode in numbers}, height, width)


def titled_panels(
    titles: Mapping[int, str], height: float, width: float = 2.7
) -> tuple[Figure, dict[int, Axes]]:
    """Return a figure with one panel for each title, and the panels by number; sizes in inches."""
    columns = min((5, 4, 3), key=lambda count: (-len(titles) % count, -count))
    columns = min(columns, len(titles))
    rows = -(-len(titles) // columns)
    figure = new_figure(0.6 + width * columns, 0.7 + height * rows)
    grid = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    for axes in grid.flat[len(titles) :]:
        axes.set_visible(False)
    panels = dict(zip(titles, grid.flat, strict=False))
    for number, axes in panels.items():
        axes.set_title(titles[number])
    return figure, panels


def label_panels(panels: dict[int, Axes], horizontal: xr.DataArray, side: str) -> None:
    """Label the outer sides of panels: below the lowest of each column, and beside the first of each row."""
    below = {}
    for axes in panels.values():
        place = axes.get_subplotspec()
        assert place is not None
        below[place.colspan.start] = axes
        if place.colspan.start == 0:
            axes.set_ylabel(side)
    for axes in below.values():
        axes.set_xlabel(label(horizontal))
        axes.xaxis.set_tick_params(labelbottom=True)
    set_scale(next(iter(panels.values())), "x", horizontal)


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
