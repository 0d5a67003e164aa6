"""Plot of sensitivities as bars, largest first. Needs matplotlib, an optional dependency."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np

from jaxmodal.frequencies.tables import hertz_text
from jaxmodal.modes.sensitivity_results import Sensitivities, by_size, shown_sensitivities
from jaxmodal.plots.figures import COLOURS, axes_or_new
from jaxmodal.runtime.statuses import Status, present

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_sensitivities(table: Sensitivities, axes: Axes | None = None, top: int = 12) -> Axes:
    """Draw the sensitivities of each frequency as bars, most important parameters at the top.

    Parameters
    ----------
    top : int
        Number of parameters to draw.

    Returns
    -------
    matplotlib Axes
        Bars in per cent of frequency for one per cent of the parameter, or for one degree of a joint angle. If no
        frequency has derivatives, as for a buckled arm, the reason as text.
    """
    values, units = shown_sensitivities(table)
    if not np.isfinite(values).any():
        return _without_bars(table, axes_or_new(axes, 7.0, 2.0))
    places = by_size(table, top)
    hertz = np.asarray(table.frequencies.frequencies_hz).tolist()
    height = 0.8 / len(hertz)
    rows = np.arange(len(places), dtype=np.float64)
    axes = axes_or_new(axes, 7.0, 1.6 + 0.3 * len(places))
    for k, frequency in enumerate(hertz):
        mean = "" if bool(table.individual[k]) else " (mean)"
        axes.barh(
            rows - 0.4 + height * (k + 0.5),
            values[k, places],
            height=0.92 * height,
            color=COLOURS[k % len(COLOURS)],
            label=f"mode {k + 1}, {hertz_text(frequency)} Hz{mean}",
        )
    names = [
        table.labels[place] + (" (per °)" if units[place] == "% per °" else "") for place in places
    ]
    axes.set_yticks(rows, labels=names, parse_math=False)
    axes.invert_yaxis()
    axes.axvline(0.0, color="0.3", linewidth=0.8)
    axes.set_xlabel(
        "change of frequency [%] for 1 % of the parameter or 1° of an angle", fontsize=9
    )
    axes.set_title(f"sensitivities ({table.frequencies.theory})", fontsize=10)
    axes.legend(fontsize=8, frameon=False)
    return axes


def _without_bars(table: Sensitivities, axes: Axes) -> Axes:
    """Write the reason why there is nothing to draw."""
    found = present(table.frequencies.status)
    causes = [each.cause for each in found if each is not Status.certified]
    why = "; ".join(causes) or "no frequency is above zero"
    axes.text(
        *(0.5, 0.5, fill(f"no sensitivities: {why}", 70)),
        transform=axes.transAxes,
        ha="center",
        va="center",
        fontsize=10,
    )
    axes.set_axis_off()
    axes.set_title(f"sensitivities ({table.frequencies.theory})", fontsize=10)
    return axes
