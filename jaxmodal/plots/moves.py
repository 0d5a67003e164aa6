"""Plots of moves: frequencies along the path, excited vibration, and the tip after the stop. They need matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jaxmodal.moves.results import MoveVibration
from jaxmodal.plots.figures import COLOURS, label_decades, new_figure, panels_or_new, saved

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: periods of the slowest mode that are shown after the stop
_PERIODS = 6.0
#: modes that are drawn, one for each colour
_MOST = len(COLOURS)


def draw_move(found: MoveVibration, axes: Any = None) -> list[Axes]:
    """Draw three plots: frequencies along the path, each mode at the tip during the move, and the tip after the stop.

    Parameters
    ----------
    found : MoveVibration
        Result of `jaxmodal.moves.move_vibration`; its first seven modes are drawn.
    axes
        Three axes, or an empty figure; by default those of a new figure of pyplot.
    """
    along, during, after = panels_or_new(axes, 3, 6.4, 7.2)
    hertz = found.omega / (2.0 * np.pi)
    sizes = 1e3 * np.linalg.norm(found.tips[-1], axis=-1)
    for k in range(min(_MOST, hertz.shape[1])):
        look: Any = {"color": COLOURS[k], "linewidth": 1.3, "label": f"mode {k + 1}"}
        if len(hertz) > 1:
            along.plot(found.posture_times, hertz[:, k], **look)
        else:
            along.plot(found.times[[0, -1]], hertz[[0, 0], k], **look)
        during.plot(found.times, sizes[k] * found.coordinates[:, k], **look)
    along.set_yscale("log")
    label_decades(along.yaxis, *along.get_ylim())
    along.set_ylabel("frequency [Hz]")
    along.legend(fontsize=8, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)
    during.set_ylabel("each mode at the tip [mm]")
    during.set_xlabel("time [s]")
    times = np.linspace(0.0, _PERIODS / hertz[-1].min(), 1201)
    moved = 1e3 * found.tip_vibration(times)
    for k, name in enumerate("xyz"[: moved.shape[1]]):
        after.plot(found.stop + times, moved[:, k], color=COLOURS[k], linewidth=1.2, label=name)
    after.set_ylabel("tip after the stop [mm]")
    after.set_xlabel("time [s]")
    after.legend(fontsize=8, loc="upper right", framealpha=0.7)
    for each in (along, during, after):
        each.grid(color="0.9", linewidth=0.6)
    return [along, during, after]


def plot_move(found: MoveVibration, path: Any, title: str = "") -> None:
    """Write the plots of `draw_move` to a file, PNG, PDF or SVG by its suffix."""
    saved(draw_move(found, new_figure()), path, title)
