"""Pictures of modes of arms in space: an oblique view, three views along the axes, and the animation of one mode.

Needs matplotlib, an optional dependency.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxmodal.modes.spatial_shapes import SpatialModeShapes
from jaxmodal.plots.figures import COLOURS, axes_or_new, new_figure
from jaxmodal.plots.mode_titles import check_mode, mode_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: the largest displacement drawn, as a share of the reach of the arm
_DRAWN_SHARE = 0.18
#: what lies to the right and what upwards in each view, in the axes of the ground
VIEWS = {
    "oblique": ((-0.7071, 0.7071, 0.0), (-0.4082, -0.4082, 0.8165)),
    "x-z": ((1.0, 0.0, 0.0), (0.0, 0.0, 1.0)),
    "y-z": ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "x-y": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
}


def draw_spatial_shapes(
    shapes: SpatialModeShapes, axes: Axes | None = None, mode: int = 1, view: str = "oblique"
) -> Axes:
    """Draw one mode on the arm at rest, seen from one side, with its frequency and certificate above it.

    Parameters
    ----------
    shapes : SpatialModeShapes
        The shapes.
    axes : matplotlib Axes, optional
        Where to draw, by default in a new figure.
    mode : int
        Which one, from 1.
    view : str
        ``"oblique"``, with z upwards, or what is seen of the axes of the ground: ``"x-z"``, ``"y-z"``, ``"x-y"``.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    PlotsUnavailableError
        Matplotlib is not installed.
    ValueError
        There is no such mode, or no such view.
    """
    check_mode(shapes, mode)
    if view not in VIEWS:
        raise ValueError(f"view = {view!r}: choose one of {', '.join(map(repr, VIEWS))}")
    axes = axes_or_new(axes, 5.0, 4.0)
    _draw(axes, shapes, mode - 1, view)
    axes.set_title(mode_title(shapes, mode - 1), fontsize=10)
    return axes


def _joined(along: np.ndarray) -> np.ndarray:
    """Positions or displacements (n, S, 3) with those of the end of the link before in front; 0 at the base."""
    before = np.concatenate([np.zeros((1, 3)), along[:-1, -1]])
    return np.concatenate([before[:, None], along], axis=1)


def _deformed(shapes: SpatialModeShapes, mode: int) -> tuple[np.ndarray, np.ndarray, float]:
    """The arm at rest and deformed, each (n, S + 1, 3), and the largest displacement drawn, m."""
    rest = _joined(np.asarray(shapes.position))
    displacement = _joined(np.asarray(shapes.displacement[mode]))
    displacement[0, 0] = displacement[0, 1]  # an elastic base moves as link 1 does there
    steps = np.diff(rest.reshape(-1, 3), axis=0)
    share = _DRAWN_SHARE * float(np.sum(np.linalg.norm(steps, axis=1)))
    largest = float(np.max(np.linalg.norm(displacement, axis=-1)))
    # a mode without displacement, as the torsion of a straight arm, is drawn at rest
    turned = float(np.max(np.abs(np.asarray(shapes.rotation[mode]))))
    scale = share / largest if largest > 1e-9 * turned * share else 0.0
    return rest, rest + displacement * scale, share


def _seen(points: np.ndarray, view: str) -> np.ndarray:
    return np.asarray(points @ np.array(VIEWS[view]).T)


def _draw(
    axes: Axes,
    shapes: SpatialModeShapes,
    mode: int,
    view: str,
    colour: str = COLOURS[0],
    sign: float = 1.0,
) -> None:
    """Draw one mode (index from 0), times ``sign``, on the arm at rest."""
    still, moved, share = _deformed(shapes, mode)
    rest, deformed = _seen(still, view), _seen(still + sign * (moved - still), view)
    flat = rest.reshape(-1, 2)
    axes.plot(flat[:, 0], flat[:, 1], color="0.7", linewidth=1.2, linestyle=(0, (4, 2)))
    for link in deformed:
        axes.plot(link[:, 0], link[:, 1], color=colour, linewidth=1.8, solid_capstyle="round")
    axes.plot(deformed[:, -1, 0], deformed[:, -1, 1], "o", color=colour, markersize=3.5)
    axes.plot(*_seen(np.zeros(3), view), "s", color="black", markersize=4.5)
    low, high = flat.min(axis=0) - 1.25 * share, flat.max(axis=0) + 1.25 * share
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])
    axes.set_aspect("equal")
    axes.set_xticks([])
    axes.set_yticks([])
    right, up = ("", "") if view == "oblique" else view.split("-")
    axes.set_xlabel(right, fontsize=8)
    axes.set_ylabel(up, fontsize=8)
    for side in axes.spines.values():
        side.set_color("0.85")


def draw_page(columns: Sequence[SpatialModeShapes], path: str | Path | None, title: str) -> Figure:
    """A row for each mode: an oblique view and those along the axes, for each of several theories."""
    modes = len(columns[0].omega)
    figure = new_figure(2.4 * len(VIEWS) * len(columns), 2.3 * modes + (0.4 if title else 0.0))
    grid = figure.subplots(modes, len(VIEWS) * len(columns), squeeze=False)
    for mode in range(modes):
        for place, column in enumerate(columns):
            product = np.sum(np.asarray(columns[0].displacement[mode]) * column.displacement[mode])
            for k, view in enumerate(VIEWS):
                axes = grid[mode, place * len(VIEWS) + k]
                sign = -1.0 if product < 0.0 else 1.0
                _draw(axes, column, mode, view, COLOURS[place % len(COLOURS)], sign)
                axes.set_title(mode_title(column, mode) if k == 0 else view, fontsize=9)
    if title:
        figure.suptitle(title, fontsize=11)
    if path is not None:
        figure.savefig(path, dpi=130)
    return figure


def animate(
    shapes: SpatialModeShapes, mode: int, path: str | Path, frames: int, seconds: float
) -> None:
    """Write one period of a mode (from 1), in all four views, as an animated GIF."""
    figure = new_figure(7.0, 6.0)
    from matplotlib.animation import FuncAnimation, PillowWriter

    grid = figure.subplots(2, 2).reshape(-1)
    rest, deformed, _ = _deformed(shapes, mode - 1)
    for axes, view in zip(grid, VIEWS, strict=True):
        _draw(axes, shapes, mode - 1, view)
        axes.set_title(view, fontsize=9)
    figure.suptitle(mode_title(shapes, mode - 1), fontsize=10)

    def show(frame: int) -> list[Any]:
        now = rest + (deformed - rest) * math.sin(2.0 * math.pi * frame / frames)
        changed = []
        for axes, view in zip(grid, VIEWS, strict=True):
            *moving, tips, _ = axes.lines[1:]
            seen = _seen(now, view)
            for line, link in zip(moving, seen, strict=True):
                line.set_data(link[:, 0], link[:, 1])
            tips.set_data(seen[:, -1, 0], seen[:, -1, 1])
            changed += [*moving, tips]
        return changed

    animation = FuncAnimation(figure, show, frames=frames, blit=False)
    animation.save(str(path), writer=PillowWriter(fps=max(1, round(frames / seconds))), dpi=90)
