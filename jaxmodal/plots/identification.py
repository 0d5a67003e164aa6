"""Plots of fits: measured and computed data before and after. They need matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jaxmodal.identification.results import ArmFit
from jaxmodal.plots.figures import COLOURS, new_figure, panels_or_new, saved

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: pairs of ports that are drawn
_MOST = 3


def _rows(found: ArmFit) -> int:
    responses = sum(each.after.shape[0] * each.after.shape[1] for each in found.responses)
    return bool(found.pairs) + min(_MOST, responses)


def draw_fit(found: ArmFit, axes: Any = None) -> list[Axes]:
    """Draw the residual of each frequency before and after the fit, and the first three responses with measured data.

    Parameters
    ----------
    found : ArmFit
        From `jaxmodal.identification.fit_arm`.
    axes
        As many axes as there are plots, or an empty figure; by default those of a new figure of pyplot.
    """
    drawn = panels_or_new(axes, _rows(found), 6.4, 2.9 * _rows(found))
    rest = iter(drawn)
    if found.pairs:
        _draw_pairs(found, next(rest))
    for each in found.responses:
        for o, output in enumerate(each.measured.outputs):
            for i, into in enumerate(each.measured.inputs):
                place = next(rest, None)
                if place is None:
                    return drawn
                hertz = each.measured.frequencies_hz
                look: Any = {"linewidth": 1.2}
                measured = np.abs(each.measured.values[o, i])
                place.plot(hertz, measured, ".", color="0.5", markersize=3, label="measured")
                for computed, name, colour in (
                    (each.before, "before", COLOURS[1]),
                    (each.after, "after", COLOURS[0]),
                ):
                    size = np.abs(computed[o, i])
                    place.plot(hertz, size, color=colour, label=name, **look)
                place.set_yscale("log")
                place.set_xlabel("frequency [Hz]")
                place.set_ylabel(f"{output} / {into}", parse_math=False)
                place.legend(fontsize=8)
    return drawn


def _draw_pairs(found: ArmFit, place: Axes) -> None:
    at = np.arange(len(found.pairs))
    measured = np.array([each.measured_hz for each in found.pairs])
    spread = np.array([each.standard_deviation_hz for each in found.pairs])
    before = np.array([each.before_hz for each in found.pairs])
    after = np.array([each.after_hz for each in found.pairs])
    place.axhline(0.0, color="0.6", linewidth=0.8)
    place.plot(at, 100.0 * (before / measured - 1.0), "o", color=COLOURS[1], label="before")
    place.errorbar(
        at,
        100.0 * (after / measured - 1.0),
        yerr=196.0 * np.where(np.isfinite(spread), spread, 0.0) / measured,
        fmt="s",
        color=COLOURS[0],
        markersize=4,
        capsize=3,
        label="after, and 95 % of the measurement",
    )
    if len(at) <= 24:
        names = [f"mode {each.number}, {each.where}" for each in found.pairs]
        place.set_xticks(at, names, rotation=30, ha="right", fontsize=8, parse_math=False)
    place.set_ylabel("computed less\nmeasured [%]")
    place.legend(fontsize=8, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)


def plot_fit(found: ArmFit, path: Any, title: str = "") -> None:
    """Write the plots of `draw_fit` to a file, PNG, PDF or SVG by its suffix."""
    saved(draw_fit(found, new_figure()), path, title)
