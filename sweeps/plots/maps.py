"""Maps of a sweep: frequency over two axes, one panel for each mode."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.plots.figures import label_decades
from jaxmodal.runtime.array_types import Floats, Numbers
from sweeps.definition.errors import SweepError
from sweeps.plots.points import (
    drawn,
    edges_of,
    label,
    set_scale,
)
from sweeps.plots.style import COLOUR_MAP, label_panels, mark, mode_panels, style, title

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.colorbar import Colorbar
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
    shared_scale: bool = False,
) -> Figure:
    """Draw one map for each mode: frequency over two axes.

    Parameters
    ----------
    ds
        The result of a sweep. For other axes the middle point is used.
    x, y
        Names of the axes.
    modes
        Mode numbers, by default all.
    theory
        Name of the theory, by default the first.
    marks
        Points to mark as (mode, x, y); each, such as a double root, is marked in the maps of the mode and of the next
        one.
    levels
        Frequencies in Hz of contours, with linear interpolation between points. The title lists those that no drawn
        mode has.
    shared_scale
        Use one colour scale for all modes; by default each has its own.

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
        figure, panels = mode_panels(rest, modes, 2.35, 2.7 if shared_scale else 3.1)
        grids = {mode: rest.frequency.sel(mode=mode).transpose(y, x).values for mode in panels}
        norm = _norm(np.stack(list(grids.values()))) if shared_scale else None
        for mode, axes in panels.items():
            values = grids[mode]
            look = {"cmap": COLOUR_MAP, "norm": norm or _norm(values)}
            mesh = cells(axes, horizontal, vertical, values, **look)
            usual_contours(axes, horizontal, vertical, values)
            contours(axes, horizontal, vertical, values, levels)
            mark(axes, [(h, v) for k, h, v in marks if mode in (k, k + 1)])
            if norm is None and np.isfinite(values).any():
                _bar(mesh, [axes], pad=0.02)
        if norm is not None:
            bar = _bar(mesh, list(panels.values()), pad=0.01, aspect=30)
            bar.set_label("natural frequency [Hz]")
        finish_maps(panels, horizontal, vertical)
        note = "; circles: double roots" if marks else ""
        missed = _missed(list(grids.values()), levels)
        note += _list_of("lines", [level for level in levels if level not in missed])
        note += _list_of("no line", missed)
        figure.suptitle(title(ds, f"natural frequency [Hz]{note}", where), parse_math=False)
    return figure


def _list_of(what: str, levels: Sequence[float]) -> str:
    """Text that lists levels for a title; empty if there are none."""
    return f"; {what}: {', '.join(f'{x:g}' for x in sorted(set(levels)))} Hz" if levels else ""


def _norm(values: Floats) -> Normalize:
    """Colour scale from the smallest value to the largest; logarithmic if they vary widely."""
    from matplotlib.colors import LogNorm, Normalize

    finite = values[np.isfinite(values)]
    low, high = float(finite.min(initial=np.inf)), float(finite.max(initial=-np.inf))
    if not low <= high:  # there are no values
        low, high = 0.0, 1.0
    return LogNorm(low, high) if 0.0 < _UNEVEN * low <= high else Normalize(low, high)


def _bar(mesh: QuadMesh, panels: list[Axes], **look: Any) -> Colorbar:
    """Colour bar of a map beside panels, with plain numbers if it is logarithmic."""
    bar = panels[0].figure.colorbar(mesh, ax=panels, **look)
    bar.outline.set_visible(False)
    if bar.ax.get_yscale() == "log":
        label_decades(bar.ax.yaxis, *map(float, mesh.get_clim()))
    return bar


def missed_levels(
    ds: xr.Dataset, x: str, y: str, levels: Sequence[float], theory: TheoryName | None = None
) -> list[float]:
    """Return the levels, ascending, without a contour in `posture_maps`, because no mode reaches them."""
    frequency = drawn(ds, (x, y), theory)[0].frequency.transpose("mode", y, x)
    return _missed(list(frequency.values), levels)


def _missed(grids: Sequence[Floats], levels: Sequence[float]) -> list[float]:
    found = {level for values in grids for level in _crossed(values, levels)}
    return sorted(set(levels) - found)


def _crossed(values: Floats, levels: Sequence[float]) -> list[float]:
    """Return the levels, ascending, between the corner values of a cell with four finite values."""
    if min(values.shape) < 2:
        return []
    corners = np.stack([values[:-1, :-1], values[:-1, 1:], values[1:, :-1], values[1:, 1:]])
    corners = corners[:, np.isfinite(corners).all(axis=0)]
    low, high = corners.min(axis=0), corners.max(axis=0)
    within = [level for level in set(levels) if low.min(initial=np.inf) < level]
    return sorted(level for level in within if np.any((low <= level) & (level < high)))


def _usual_levels(values: Floats) -> list[float]:
    """A few round values between the lowest and the highest."""
    from matplotlib.ticker import MaxNLocator

    finite = values[np.isfinite(values)]
    if finite.size == 0 or not finite.max() > finite.min():
        return []
    found = MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]).tick_values(finite.min(), finite.max())
    return [float(level) for level in found]


def usual_contours(
    axes: Axes,
    horizontal: xr.DataArray,
    vertical: xr.DataArray,
    values: Numbers,
    unit: str = "Hz",
) -> None:
    """Draw thin `contours` at a few round values."""
    levels = _usual_levels(values)
    contours(axes, horizontal, vertical, values, levels, "white", 0.7, unit)


def contours(
    axes: Axes,
    horizontal: xr.DataArray,
    vertical: xr.DataArray,
    values: Numbers,
    levels: Sequence[float],
    colour: str = "#D55E00",
    width: float = 1.6,
    unit: str = "Hz",
) -> None:
    """Draw labelled contour lines of values of shape (vertical, horizontal) at the levels."""
    from matplotlib.patheffects import Normal, Stroke

    crossed = _crossed(values, levels)
    if crossed:
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
        look: dict[str, Any] = {"fmt": f"%g {unit}".rstrip(), "fontsize": 7.0}
        tried = list(axes.clabel(drawn_lines, inline=False, **look))
        places = [text.get_position() for text in readable(axes, tried)]
        for text in tried:
            text.remove()
        for text in axes.clabel(drawn_lines, manual=places, **look) if places else ():
            text.set_path_effects([Stroke(linewidth=1.6, foreground="0.15"), Normal()])


def readable(axes: Axes, labels: Sequence[Text]) -> list[Text]:
    """Return the labels that neither overlap nor leave the axes, those of rare levels first; at least one."""
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
    values: Numbers,
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
    values: Numbers,
    **look: Any,
) -> None:
    """Draw values of shape (vertical, horizontal) with a colour bar; diverging colours around 0 if signs differ."""
    finite = values[np.isfinite(values)]
    if finite.size and finite.min() < 0.0 < finite.max():  # both signs: white is 0
        from matplotlib.colors import CenteredNorm

        look = {"cmap": "RdBu_r", "norm": CenteredNorm(0.0, float(np.abs(finite).max()))}
    _bar(cells(axes, horizontal, vertical, values, **look), [axes], pad=0.02)


def finish_maps(panels: dict[int, Axes], horizontal: xr.DataArray, vertical: xr.DataArray) -> None:
    """Label the maps, with ticks that suit both axes."""
    label_panels(panels, horizontal, label(vertical))
    set_scale(next(iter(panels.values())), "y", vertical)
