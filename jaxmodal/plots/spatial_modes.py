"""Pictures of modes of arms in space: an oblique view, three views along the axes, and the animation of one mode.

Needs matplotlib, an optional dependency.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

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
)
from jaxmodal.plots.figures import COLOURS, axes_or_new, finished, framed, new_figure, write_gif

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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

    Bodies (hubs, stators, those at tips, the payload) are discs at their centres of gravity, whose areas are as their
    masses.

    Parameters
    ----------
    view : str
        ``"oblique"``, with z upwards, or what is seen of the axes of the ground: ``"x-z"``, ``"y-z"``, ``"x-y"``.

    Raises
    ------
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


class _Drawn(NamedTuple):
    """An arm at rest and deformed, each (n, S + 1, 3); bodies: masses (B,), places at rest and moved, (B, 3).

    ``share`` is the largest displacement drawn, m.
    """

    rest: np.ndarray
    moved: np.ndarray
    masses: np.ndarray
    centres: np.ndarray
    carried: np.ndarray
    share: float


def _deformed(shapes: SpatialModeShapes, mode: int) -> _Drawn:
    rest = joined(np.asarray(shapes.position))
    displacement = joined(np.asarray(shapes.displacement[mode]))
    displacement[0, 0] = displacement[0, 1]  # an elastic base moves as link 1 does there
    steps = np.diff(rest.reshape(-1, 3), axis=0)
    share = DRAWN_SHARE * float(np.sum(np.linalg.norm(steps, axis=1)))
    largest = float(np.max(np.linalg.norm(displacement, axis=-1)))
    # a mode without displacement, as the torsion of a straight arm, is drawn at rest
    turned = float(np.max(np.abs(np.asarray(shapes.rotation[mode]))))
    scale = share / largest if largest > 1e-9 * turned * share else 0.0
    ends, bodies = [0, -1], np.asarray(shapes.bodies)
    seen = bodies[..., 1:]
    centres = np.asarray(shapes.position)[:, ends] + seen
    shifts = np.asarray(shapes.displacement[mode])[:, ends]
    shifts = shifts + np.cross(np.asarray(shapes.rotation[mode])[:, ends], seen)
    there = bodies[..., 0] > 0.0
    return _Drawn(
        rest,
        rest + displacement * scale,
        bodies[..., 0][there],
        centres[there],
        (centres + scale * shifts)[there],
        share,
    )


def _seen(points: np.ndarray, view: str) -> np.ndarray:
    return np.asarray(points @ np.array(VIEWS[view]).T)


def _moved(rest: np.ndarray, moved: np.ndarray, share: float, view: str) -> np.ndarray:
    """What is seen when a share of the way is gone."""
    return _seen(rest + share * (moved - rest), view)


def _draw(
    axes: Axes,
    shapes: SpatialModeShapes,
    mode: int,
    view: str,
    colour: str = COLOURS[0],
    sign: float = 1.0,
) -> None:
    """Draw one mode (index from 0), times ``sign``, on the arm at rest."""
    drawn = _deformed(shapes, mode)
    rest, deformed = _seen(drawn.rest, view), _moved(drawn.rest, drawn.moved, sign, view)
    draw_bent(axes, rest, deformed, colour)
    draw_bodies(axes, drawn.masses, _moved(drawn.centres, drawn.carried, sign, view), colour)
    flat = np.concatenate([rest.reshape(-1, 2), _seen(drawn.centres, view)])
    margin = 1.25 * drawn.share
    framed(axes, flat.min(axis=0) - margin, flat.max(axis=0) + margin)
    right, up = ("", "") if view == "oblique" else view.split("-")
    axes.set_xlabel(right, fontsize=8)
    axes.set_ylabel(up, fontsize=8)


def draw_page(columns: Sequence[SpatialModeShapes], path: str | Path | None, title: str) -> Figure:
    """A row for each mode: an oblique view and those along the axes, for each of several theories."""
    modes = len(columns[0].omega)
    figure = new_figure(2.4 * len(VIEWS) * len(columns), 2.3 * modes + (0.4 if title else 0.0))
    grid = figure.subplots(modes, len(VIEWS) * len(columns), squeeze=False)
    for mode in range(modes):
        for place, column in enumerate(columns):
            sign = alignment(columns[0], column, mode)
            for k, view in enumerate(VIEWS):
                axes = grid[mode, place * len(VIEWS) + k]
                _draw(axes, column, mode, view, COLOURS[place % len(COLOURS)], sign)
                axes.set_title(mode_title(column, mode) if k == 0 else view, fontsize=9)
    return finished(figure, path, title)


def animate(
    shapes: SpatialModeShapes, mode: int, path: str | Path, frames: int, seconds: float
) -> None:
    """Write one period of a mode (from 1), in all four views, as an animated GIF."""
    figure = new_figure(7.0, 6.0)
    grid = figure.subplots(2, 2).reshape(-1)
    drawn = _deformed(shapes, mode - 1)
    for axes, view in zip(grid, VIEWS, strict=True):
        _draw(axes, shapes, mode - 1, view)
        axes.set_title(view, fontsize=9)
    figure.suptitle(mode_title(shapes, mode - 1), fontsize=10)

    def show(frame: int) -> list[Any]:
        share, changed = math.sin(2.0 * math.pi * frame / frames), []
        for axes, view in zip(grid, VIEWS, strict=True):
            changed += move_bent(axes, _moved(drawn.rest, drawn.moved, share, view))
            (bodies,) = axes.collections
            bodies.set_offsets(_moved(drawn.centres, drawn.carried, share, view))
            changed.append(bodies)
        return changed

    write_gif(figure, show, frames, seconds, path)
