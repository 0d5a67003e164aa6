"""Plots of speeds at which orders meet modes: Campbell diagrams of a posture and of a move. They need matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jaxmodal.moves.speed_results import MoveCrossings, SpeedsToAvoid
from jaxmodal.plots.figures import COLOURS, new_figure, panels_or_new, saved

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: how much of the picture lies beyond the last crossing
_BEYOND = 1.15


def draw_speeds(
    found: SpeedsToAvoid, axes: Any = None, top_speed: float | None = None
) -> list[Axes]:
    """Draw a Campbell diagram for each joint with orders: mode frequencies over joint speed, orders as lines.

    Parameters
    ----------
    found : SpeedsToAvoid
        Result of `jaxmodal.moves.speeds_to_avoid`. Modes that change with the posture are bands.
    axes
        As many axes as joints with orders, or an empty figure; by default those of a new figure of pyplot.
    top_speed
        Largest speed drawn, rad/s; by default slightly above the last crossing with the highest mode.
    """
    joints = sorted({int(order.joint) for order in found.orders})
    panels = panels_or_new(axes, len(joints), 6.4, 1.0 + 3.2 * len(joints))
    hertz = found.omega / (2.0 * np.pi)
    top = _BEYOND * float(hertz.max())
    for joint, panel in zip(joints, panels, strict=True):
        own = [r for r, order in enumerate(found.orders) if int(order.joint) == joint]
        last = float(found.speeds[own].max()) if top_speed is None else top_speed
        speeds = np.array([0.0, np.degrees(last) * (_BEYOND if top_speed is None else 1.0)])
        for k, (low, high) in enumerate(hertz):
            colour = COLOURS[k % len(COLOURS)]
            panel.axhspan(low, high, color=colour, alpha=0.25, linewidth=0.0)
            panel.axhline(0.5 * (low + high), color=colour, linewidth=1.2, label=f"mode {k + 1}")
        for r in own:
            order = found.orders[r]
            lines = order.per_turn * speeds / 360.0
            panel.plot(speeds, lines, color="0.45", linewidth=0.9)
            end = 0.93 * speeds[1] * min(1.0, top / lines[1])
            at = (end, order.per_turn * end / 360.0)
            panel.annotate(order.name, at, color="0.35", fontsize=8, ha="right", va="bottom")
            middle = np.degrees(found.omega.mean(axis=1) / order.per_turn)
            shown = middle <= speeds[1]
            panel.plot(middle[shown], hertz.mean(axis=1)[shown], "o", color="#c0392b", markersize=4)
        panel.set_xlim(*speeds)
        panel.set_ylim(0.0, top)
        panel.set_xlabel(f"speed of {found.joints[joint]} [deg/s]")
        panel.set_ylabel("frequency [Hz]")
        panel.grid(color="0.9", linewidth=0.6)
    panels[0].legend(
        fontsize=8, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False
    )
    return panels


def draw_crossings(found: MoveCrossings, axes: Any = None) -> Axes:
    """Draw the frequencies of modes and orders over the time of a move, with crossings marked.

    Parameters
    ----------
    found : MoveCrossings
        Result of `jaxmodal.moves.crossings_along`.
    axes
        Axes, or an empty figure; by default those of a new figure of pyplot.
    """
    (axes,) = panels_or_new(axes, 1, 6.4, 4.4)
    hertz = found.omega / (2.0 * np.pi)
    for k, column in enumerate(hertz.T):
        axes.plot(
            found.times,
            column,
            color=COLOURS[k % len(COLOURS)],
            linewidth=1.3,
            label=f"mode {k + 1}",
        )
    for number, (order, column) in enumerate(zip(found.orders, found.columns, strict=True)):
        axes.plot(
            found.times,
            order.per_turn * found.rates[:, column] / (2.0 * np.pi),
            color="0.45",
            linewidth=0.9,
            linestyle=("-", "--", ":", "-.")[number % 4],
            label=f"{order.name}, {found.joints[int(order.joint)]}",
        )
    if found.crossings:
        times = [met.time for met in found.crossings]
        axes.plot(
            times,
            [met.omega / (2.0 * np.pi) for met in found.crossings],
            "o",
            color="#c0392b",
            markersize=4,
        )
    axes.set_ylim(0.0, _BEYOND * float(hertz.max()))
    axes.set_xlabel("time [s]")
    axes.set_ylabel("frequency [Hz]")
    axes.grid(color="0.9", linewidth=0.6)
    axes.legend(fontsize=8, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)
    return axes


def plot_speeds(found: SpeedsToAvoid | MoveCrossings, path: Any, title: str = "") -> None:
    """Write the plot of `draw_speeds` or `draw_crossings` to a file, PNG, PDF or SVG by its suffix."""
    saved(found.plot(new_figure()), path, title)
