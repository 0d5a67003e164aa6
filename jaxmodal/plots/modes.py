"""Plots of mode shapes on the arm: a page of modes, comparison of theories, and animation of a mode.

Needs matplotlib, an optional dependency.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jaxmodal.modes.planar_shapes import ModeShapes
from jaxmodal.modes.spatial_shapes import SpatialModeShapes
from jaxmodal.plots.bent_arms import (
    AnyShapes,
    alignment,
    bent,
    check_mode,
    draw_mode,
    mode_title,
    move_bent,
    require_view,
    views_of,
)
from jaxmodal.plots.figures import (
    COLOURS,
    axes_or_new,
    check_animation,
    finished,
    new_figure,
    write_gif,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ROWS = 5


def draw_shapes(shapes: ModeShapes, axes: Axes | None = None, mode: int = 1) -> Axes:
    """Draw one mode over the arm at rest, with its frequency, theory and certificate as the title.

    Bodies (hubs, tip bodies, the payload) are discs at their centres of gravity, with areas proportional to their
    masses.

    Raises
    ------
    ValueError
        There is no such mode, or it has no shape.
    """
    check_mode(shapes, mode)
    axes = axes_or_new(axes, 5.0, 4.0)
    draw_mode(axes, shapes, mode - 1)
    axes.set_title(mode_title(shapes, mode - 1), fontsize=10)
    return axes


def draw_spatial_shapes(
    shapes: SpatialModeShapes, axes: Axes | None = None, mode: int = 1, view: str = "oblique"
) -> Axes:
    """Draw one mode over the arm at rest in one view, with its frequency and certificate as the title.

    Bodies (hubs, stators, tip bodies, the payload) are discs at their centres of gravity, with areas proportional to
    their masses.

    Parameters
    ----------
    view : str
        ``"oblique"``, with z upwards, or a plane of the axes of the ground: ``"x-z"``, ``"y-z"``, ``"x-y"``.

    Raises
    ------
    ValueError
        If there is no such mode, or ``view`` is unknown.
    """
    check_mode(shapes, mode)
    require_view(view)
    axes = axes_or_new(axes, 5.0, 4.0)
    draw_mode(axes, shapes, mode - 1, view)
    axes.set_title(mode_title(shapes, mode - 1), fontsize=10)
    return axes


def plot_mode_shapes(
    shapes: AnyShapes | Sequence[AnyShapes], path: str | Path | None = None, title: str = ""
) -> Figure:
    """Plot all modes of one arm, with several theories side by side, as in Figure 5 of the paper.

    Parameters
    ----------
    shapes : ModeShapes, SpatialModeShapes or sequence of them
        Shapes with equal numbers of modes; a sequence gives one column each. A mode of an arm in space is drawn in an
        oblique view and three views along the axes of the ground.
    path : str or Path, optional
        File for the plot (PNG, PDF or SVG by the suffix); not written by default.

    Raises
    ------
    ValueError
        If the shapes differ in their number of modes, there are none, or a mode has no shape.
    """
    columns = list(shapes) if isinstance(shapes, Sequence) else [shapes]
    counts = {len(column.omega) for column in columns}
    if len(counts) != 1:
        raise ValueError(
            f"shapes: {len(columns)} given, with {sorted(counts)} modes; give one or more with the same number of modes"
        )
    (modes,) = counts
    for column in columns:
        for mode in range(modes):
            check_mode(column, mode + 1)
    if len({views_of(column) for column in columns}) > 1:
        raise ValueError("shapes: some of a planar arm, some of an arm in space; draw them apart")
    views, alone = views_of(columns[0]), len(columns) == 1
    blocks, rows = 1, modes  # in space a row for each mode
    if len(views) == 1:  # a grid, row by row; theories side by side otherwise
        blocks = math.ceil(math.sqrt(modes)) if alone else math.ceil(modes / _ROWS)
        rows = math.ceil(modes / blocks) if alone else min(modes, _ROWS)
    width = len(columns) * len(views) * blocks
    inches = 2.6 if len(views) == 1 else 2.4
    figure = new_figure(inches * width, 2.3 * rows + (0.4 if title else 0.0))
    grid = figure.subplots(rows, width, squeeze=False)
    for axes in grid.flat:
        axes.set_visible(False)
    for mode in range(modes):
        row, block = divmod(mode, blocks) if alone else (mode % rows, mode // rows)
        for place, column in enumerate(columns):
            look = COLOURS[place % len(COLOURS)], alignment(columns[0], column, mode)
            for k, view in enumerate(views):
                axes = grid[row, (block * len(columns) + place) * len(views) + k]
                axes.set_visible(True)
                draw_mode(axes, column, mode, view, *look)
                axes.set_title(view if k else mode_title(column, mode), fontsize=9)
    return finished(figure, path, title)


def animate_mode(
    shapes: AnyShapes, mode: int, path: str | Path, *, frames: int = 30, seconds: float = 1.5
) -> None:
    """Write one period of a mode, numbered from 1, as an animated GIF that lasts ``seconds``.

    Parameters
    ----------
    frames : int
        Number of frames in a period, at least 2.

    Raises
    ------
    ValueError
        If there is no such mode, it has no shape, there are fewer than two frames, the time is not positive, or the
        file does not end in ``.gif``.
    """
    check_mode(shapes, mode)
    check_animation(path, frames, seconds)
    views, drawn = views_of(shapes), bent(shapes, mode - 1)
    figure = new_figure(5.0, 4.0) if len(views) == 1 else new_figure(7.0, 6.0)
    side = math.isqrt(len(views))
    grid = figure.subplots(side, side, squeeze=False).reshape(-1)
    for axes, view in zip(grid, views, strict=True):
        draw_mode(axes, shapes, mode - 1, view)
        axes.set_title(view if len(views) > 1 else "", fontsize=9)
    figure.suptitle(mode_title(shapes, mode - 1), fontsize=10)

    def show(frame: int) -> list[Any]:
        share = math.sin(2.0 * math.pi * frame / frames)
        pairs = zip(grid, views, strict=True)
        return [artist for axes, view in pairs for artist in move_bent(axes, drawn, share, view)]

    write_gif(figure, show, frames, seconds, path)
