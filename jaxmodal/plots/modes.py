"""Pictures of mode shapes on the arm: a page of modes, theories side by side, and the animation of one mode.

Needs matplotlib, an optional dependency.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from jaxmodal.modes.planar_shapes import ModeShapes
from jaxmodal.modes.spatial_shapes import SpatialModeShapes
from jaxmodal.plots.bent_arms import (
    DRAWN_SHARE,
    alignment,
    check_mode,
    draw_bent,
    draw_bodies,
    joined,
    mode_title,
    move_bent,
    reach,
)
from jaxmodal.plots.figures import (
    COLOURS,
    axes_or_new,
    check_animation,
    finished,
    framed,
    new_figure,
    write_gif,
)
from jaxmodal.plots.spatial_modes import animate, draw_page

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

AnyShapes: TypeAlias = ModeShapes | SpatialModeShapes

_ROWS = 5


def _deformed(shapes: ModeShapes, mode: int) -> tuple[np.ndarray, np.ndarray]:
    """The arm at rest and deformed, each (n, S + 1, 2), the largest displacement a fixed share of the reach.

    Every link starts where the one before ends, so that offsets are drawn as well.
    """
    rest = joined(np.asarray(shapes.position))
    return rest, rest + _enlargement(shapes, mode) * joined(np.asarray(shapes.displacement[mode]))


def _enlargement(shapes: ModeShapes, mode: int) -> float:
    """How many times larger than of unit modal mass a mode is drawn."""
    displacement = np.asarray(shapes.displacement[mode])
    largest = float(np.max(np.hypot(displacement[..., 0], displacement[..., 1])))
    return DRAWN_SHARE * reach(joined(np.asarray(shapes.position))) / largest


def _bodies(shapes: ModeShapes, mode: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The bodies of an arm: masses (B,), centres of gravity at rest and how far they are drawn from there, (B, 2)."""
    position, moved = np.asarray(shapes.position), np.asarray(shapes.displacement[mode])
    turns, bodies = np.asarray(shapes.psi[mode]), np.asarray(shapes.bodies)
    along = position[:, -1] - position[:, 0]
    along = along / np.linalg.norm(along, axis=1, keepdims=True)
    left = np.stack([-along[:, 1], along[:, 0]], axis=1)
    masses, centres, shifts = [], [], []
    for kind, station in ((0, 0), (1, -1)):
        mass, x, y = bodies[:, kind].T
        arm = x[:, None] * along + y[:, None] * left
        across = np.stack(
            [-arm[:, 1], arm[:, 0]], axis=1
        )  # how the centre moves for a turn of 1 rad
        there = mass > 0.0
        masses.append(mass[there])
        centres.append((position[:, station] + arm)[there])
        shifts.append((moved[:, station] + turns[:, station, None] * across)[there])
    enlargement = _enlargement(shapes, mode)
    return np.concatenate(masses), np.concatenate(centres), enlargement * np.concatenate(shifts)


def draw_shapes(shapes: ModeShapes, axes: Axes | None = None, mode: int = 1) -> Axes:
    """Draw one mode on the arm at rest, with its frequency, theory and certificate above it.

    Bodies (hubs, those at tips, the payload) are discs at their centres of gravity, whose areas are as their masses.

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


def draw_mode(
    axes: Axes, shapes: ModeShapes, mode: int, colour: str = COLOURS[0], sign: float = 1.0
) -> None:
    """Draw one mode (index from 0), times ``sign``, on the arm at rest, into matplotlib axes."""
    rest, deformed = _deformed(shapes, mode)
    deformed = rest + sign * (deformed - rest)
    draw_bent(axes, rest, deformed, colour)
    masses, centres, shifts = _bodies(shapes, mode)
    draw_bodies(axes, masses, centres + sign * shifts, colour)
    margin = 1.25 * DRAWN_SHARE * reach(rest)
    ends = np.concatenate([rest.reshape(-1, 2), centres])
    low, high = ends.min(axis=0) - margin, ends.max(axis=0) + margin
    framed(axes, low, high)
    draw_scale(axes, float(high[0] - low[0]))


def draw_scale(axes: Axes, width: float) -> None:
    """Draw a bar of a round length in the lower left corner of axes that show a width of ``width``, m."""
    from mpl_toolkits.axes_grid1.anchored_artists import (  # type: ignore[import-untyped]
        AnchoredSizeBar,
    )

    power = 10.0 ** math.floor(math.log10(0.3 * width))
    length = max(step * power for step in (1.0, 2.0, 5.0) if step * power <= 0.3 * width)
    axes.add_artist(
        AnchoredSizeBar(
            axes.transData,
            length,
            f"{length:g} m",
            "lower left",
            frameon=False,
            color="0.4",
            fontproperties={"size": 7.0},
        )
    )


def plot_mode_shapes(
    shapes: AnyShapes | Sequence[AnyShapes], path: str | Path | None = None, title: str = ""
) -> Figure:
    """Draw all modes of one arm, those of several theories side by side, as in the paper's Figure 5.

    Parameters
    ----------
    shapes : ModeShapes, SpatialModeShapes or sequence of them
        Shapes with the same number of modes; a sequence gives a column each. A mode of an arm in space is drawn in an
        oblique view and three views along the axes of the ground.
    path : str or Path, optional
        Where to write the picture (PNG, PDF or SVG by the suffix); not written if left out.

    Raises
    ------
    ValueError
        The shapes differ in their number of modes, there are none, or a mode has no shape.
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
    spatial = [column for column in columns if isinstance(column, SpatialModeShapes)]
    planar = [column for column in columns if isinstance(column, ModeShapes)]
    if not planar:
        return draw_page(spatial, path, title)
    if spatial:
        raise ValueError("shapes: some of a planar arm, some of an arm in space; draw them apart")
    alone = len(planar) == 1  # a grid, row by row; theories side by side otherwise
    blocks = math.ceil(math.sqrt(modes)) if alone else math.ceil(modes / _ROWS)
    rows = math.ceil(modes / blocks) if alone else min(modes, _ROWS)
    width = len(planar) * blocks
    figure = new_figure(2.6 * width, 2.3 * rows + (0.4 if title else 0.0))
    grid = figure.subplots(rows, width, squeeze=False)
    for axes in grid.flat:
        axes.set_visible(False)
    for mode in range(modes):
        row, block = divmod(mode, blocks) if alone else divmod(mode, _ROWS)[::-1]
        for place, column in enumerate(planar):
            axes = grid[row, block * len(planar) + place]
            axes.set_visible(True)
            colour = COLOURS[place % len(COLOURS)]
            draw_mode(axes, column, mode, colour, alignment(planar[0], column, mode))
            axes.set_title(mode_title(column, mode), fontsize=9)
    return finished(figure, path, title)


def animate_mode(
    shapes: AnyShapes, mode: int, path: str | Path, *, frames: int = 30, seconds: float = 1.5
) -> None:
    """Write one period of a mode, from 1, shown for so many ``seconds``, as an animated GIF.

    Parameters
    ----------
    frames : int
        Pictures in a period, at least 2.

    Raises
    ------
    ValueError
        There is no such mode, it has no shape, there are fewer than two frames, the time is not positive, or the file
        is no ``.gif``.
    """
    check_mode(shapes, mode)
    check_animation(path, frames, seconds)
    if isinstance(shapes, SpatialModeShapes):
        animate(shapes, mode, path, frames, seconds)
        return
    figure = new_figure(5.0, 4.0)
    axes = figure.subplots()
    draw_mode(axes, shapes, mode - 1)
    rest, deformed = _deformed(shapes, mode - 1)
    _, centres, shifts = _bodies(shapes, mode - 1)
    (bodies,) = axes.collections
    axes.set_title(mode_title(shapes, mode - 1), fontsize=10)

    def show(frame: int) -> list[Any]:
        share = math.sin(2.0 * math.pi * frame / frames)
        bodies.set_offsets(centres + share * shifts)
        return [*move_bent(axes, rest + (deformed - rest) * share), bodies]

    write_gif(figure, show, frames, seconds, path)
