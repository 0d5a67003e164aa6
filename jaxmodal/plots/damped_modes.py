"""Plot of damped modes: damping ratio over frequency. Needs matplotlib, an optional dependency."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from jaxmodal.plots.figures import COLOURS, axes_or_new, label_decades
from jaxmodal.response.damped.damped_modes import DampedModes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: damping ratios below this are rounding, of modes that nothing damps, and have no place on a logarithmic axis
_ROUNDING = 1e-12


def draw_damped_modes(found: DampedModes, axes: Axes | None = None) -> Axes:
    """Draw the damping ratio of every damped mode over its frequency, labelled with its number.

    Parameters
    ----------
    found : DampedModes
        The modes. Overdamped modes have no frequency; they are drawn at the frequency of their undamped mode, in
        another colour. Undamped modes are omitted.

    Returns
    -------
    matplotlib Axes
        Frequencies in Hz, damping ratios in per cent; both axes logarithmic.
    """
    axes = axes_or_new(axes, 6.5, 4.0)
    hertz = np.where(found.overdamped, found.undamped / (2.0 * np.pi), found.frequencies_hz)
    per_cent = 100.0 * found.damping_ratio
    shown = found.damping_ratio > _ROUNDING
    for overdamped, colour, label in (
        (False, COLOURS[0], "damped"),
        (True, COLOURS[1], "overdamped, at its undamped frequency"),
    ):
        some = (found.overdamped == overdamped) & shown
        if some.any():
            axes.plot(hertz[some], per_cent[some], "o", color=colour, label=label)
    for mode, x, y, seen in zip(found.mode, hertz, per_cent, shown, strict=True):
        if seen:
            axes.annotate(str(mode), (x, y), xytext=(4, 4), textcoords="offset points", fontsize=8)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.margins(0.12)
    for side, ends in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
        label_decades(side, *ends)
    axes.grid(True, which="both", color="0.9", linewidth=0.6)
    axes.set_xlabel("frequency [Hz]")
    axes.set_ylabel("damping ratio [%]")
    axes.set_title(f"{len(found.mode)} damped modes ({found.theory}), by number", fontsize=10)
    if found.overdamped.any():
        axes.legend(frameon=False, fontsize=8)
    return axes
