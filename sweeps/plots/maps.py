"""Maps of a sweep: frequency over two axes, one panel for each mode."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.plots.figures import label_decades
from sweeps.definition.errors import SweepError
from sweeps.plots.points import (
    drawn,
    edges_of,
    label,
    set_scale,
)
from sweeps.plots.style import COLOUR_MAP, label_panels, mark, mode_panels, style, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure
    from matplotlib.text import Text
    from matplotlib.transforms import Bbox


#: frequencies of all modes that spread by more than this have logarithmic colours
_UNEVEN = 4.0
#: room that the label of a contour needs, relative to its own size: the layout may make a panel smaller yet
_ROOM = 1.15


def posture_maps(
    ds: xr.Dataset,
    x: str,
    y: str,
    *,
    modes: Sequence[int] | None = None,
    theory: TheoryName | None = None,
    marks: Sequence[tuple[int, float, float]] = (),
    levels: Sequence[float] = (),
) -> Figure:
    """Draw one map for each mode: frequency over two axes.

    Parameters
    ----------
    ds
        The result of a sweep. Of other axes the middle point is drawn.
    x, y
        Names of the axes.
    modes
        Mode numbers, by default all.
    theory
        Which one to draw, by default the first.
    marks
        Points to mark as (mode, x, y): in the maps of the mode and of the next one a double root.
    levels
        Frequencies in Hz whose contours to draw where a mode has them, between the points linearly.

    Raises
    ------
    SweepError
        If a level is not above 0 and finite, there is no such axis, mode or theory, or matplotlib is missing.
    """
    for level in levels:
        if not 0.0 < level < math.inf:
            raise SweepError(f"level = {level!r}: must be a frequency above 0, in Hz.")
    rest, where, (horizontal, vertical) = drawn(ds, (x, y), theory)
    with style():
        figure, panels = mode_panels(rest, modes, 2.35)
        shown = rest.frequency.sel(mode=list(panels)).values
        norm = shared_norm(shown[np.isfinite(shown)])
        for mode, axes in panels.items():
            values = rest.frequency.sel(mode=mode).transpose(y, x).values
            mesh = cells(axes, horizontal, vertical, values, cmap=COLOUR_MAP, norm=norm)
            contours(axes, horizontal, vertical, values, _usual_levels(values), "white", 0.7)
            contours(axes, horizontal, vertical, values, levels)
            mark(axes, [(h, v) for k, h, v in marks if mode in (k, k + 1)])
        finish_maps(panels, horizontal, vertical)
        note = "; circles: double roots" if marks else ""
        if levels:
            note += f"; lines: {', '.join(f'{level:g}' for level in sorted(levels))} Hz"
        bar = figure.colorbar(mesh, ax=list(panels.values()), pad=0.01, aspect=30)
        bar.outline.set_visible(False)
        bar.set_label("natural frequency [Hz]")
        if bar.ax.get_yscale() == "log":
            label_decades(bar.ax.yaxis, *map(float, mesh.get_clim()))
        figure.suptitle(title(ds, f"natural frequency [Hz]{note}", where), parse_math=False)
    return figure


def shared_norm(values: NDArray[np.float64]) -> Normalize:
    """One scale of colours for all modes: logarithmic where their values spread."""
    from matplotlib.colors import LogNorm, Normalize

    low, high = float(values.min(initial=np.inf)), float(values.max(initial=-np.inf))
    if not low <= high:  # there are no values
        low, high = 0.0, 1.0
    return LogNorm(low, high) if 0.0 < _UNEVEN * low <= high else Normalize(low, high)


def _usual_levels(values: NDArray[np.float64]) -> list[float]:
    """A few round frequencies between the lowest and the highest."""
    from matplotlib.ticker import MaxNLocator

    finite = values[np.isfinite(values)]
    if finite.size == 0 or not finite.max() > finite.min():
        return []
    found = MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]).tick_values(finite.min(), finite.max())
    return [float(level) for level in found]


def contours(
    axes: Axes,
    horizontal: xr.DataArray,
    vertical: xr.DataArray,
    values: NDArray[Any],
    levels: Sequence[float],
    colour: str = "#D55E00",
    width: float = 1.6,
) -> None:
    """Draw the lines on which values of shape (vertical, horizontal) have one of the levels, each with its number."""
    from matplotlib.patheffects import Normal, Stroke

    low, high = np.nanmin(values, initial=np.inf), np.nanmax(values, initial=-np.inf)
    crossed = sorted(level for level in set(levels) if low < level < high)
    if crossed and min(values.shape) >= 2:
        drawn_lines = axes.contour(
            horizontal.values,
            vertical.values,
            values,
            levels=crossed,
            colors=colour,
            linewidths=width,
        )
        dark = [Stroke(linewidth=width + 0.9, foreground="0.2"), Normal()]
        drawn_lines.set(path_effects=dark if colour == "white" else [])
        look: dict[str, Any] = {"fmt": "%g Hz", "fontsize": 7.0}
        tried = list(axes.clabel(drawn_lines, inline=False, **look))
        places = [text.get_position() for text in readable(axes, tried)]
        for text in tried:
            text.remove()
        for text in axes.clabel(drawn_lines, manual=places, **look) if places else ():
            text.set_path_effects([Stroke(linewidth=1.6, foreground="0.15"), Normal()])


def readable(axes: Axes, labels: Sequence[Text]) -> list[Text]:
    """Return the labels that neither touch another nor leave the axes, those of rare levels first; at least one."""
    wordings = [text.get_text() for text in labels]
    kept: dict[Text, Bbox] = {}
    for text in sorted(labels, key=lambda text: wordings.count(text.get_text())):
        box = text.get_window_extent().expanded(_ROOM, _ROOM)
        inside = all(axes.bbox.contains(*corner) for corner in box.corners())
        if inside and not box.count_overlaps(list(kept.values())):
            kept[text] = box
    return list(kept) or list(labels[:1])


def cells(
    axes: Axes,
    horizontal: xr.DataArray,
    vertical: xr.DataArray,
    values: NDArray[Any],
    **look: Any,
) -> QuadMesh:
    """Draw values (or colours) of shape (vertical, horizontal) as cells around their points."""
    axes.grid(False)
    return axes.pcolormesh(
        edges_of(horizontal), edges_of(vertical), values, rasterized=True, **look
    )


def value_map(
    axes: Axes,
    horizontal: xr.DataArray,
    vertical: xr.DataArray,
    values: NDArray[Any],
    **look: Any,
) -> None:
    """Draw values of shape (vertical, horizontal) with a colour bar; of both signs in colours that diverge from 0."""
    finite = values[np.isfinite(values)]
    if finite.size and finite.min() < 0.0 < finite.max():  # both signs: white is 0
        from matplotlib.colors import CenteredNorm

        look = {"cmap": "RdBu_r", "norm": CenteredNorm(0.0, float(np.abs(finite).max()))}
    mesh = cells(axes, horizontal, vertical, values, **look)
    bar = axes.figure.colorbar(mesh, ax=axes, pad=0.02)
    bar.outline.set_visible(False)


def finish_maps(panels: dict[int, Axes], horizontal: xr.DataArray, vertical: xr.DataArray) -> None:
    """Label maps, with ticks that suit both axes."""
    label_panels(panels, horizontal, label(vertical))
    set_scale(next(iter(panels.values())), "y", vertical)
