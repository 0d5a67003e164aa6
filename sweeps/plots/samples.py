"""Plots of samples: frequency over each of several parameters that change together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.plots.figures import not_below_zero
from sweeps.plots.points import columns_of, drawn, label, never_negative, uneven
from sweeps.plots.style import COLOURS, new_figure, style, title

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

_MARKERS = ("o", "s", "^", "D")


def samples(ds: xr.Dataset, along: str, *, theory: TheoryName | None = None) -> Figure:
    """Draw the frequencies of samples: one panel for each parameter, one dot for each mode of each sample.

    Parameters
    ----------
    ds
        The result of a sweep with a random design or with parameters that share an axis. For other axes the middle
        point is used.
    along
        Name of that axis.
    theory
        Name of the theory, by default the first.

    Raises
    ------
    SweepError
        If there is no such axis or theory, or matplotlib is missing.
    """
    rest, where, _ = drawn(ds, (along,), theory)
    names = columns_of(rest, along)
    values = rest.frequency.transpose(along, "mode").values
    with style():
        width = min(len(names), 4)
        rows = -(-len(names) // width)
        figure = new_figure(1.6 + 3.0 * width, 0.7 + 3.0 * rows)
        panels = figure.subplots(rows, width, squeeze=False, sharey=True)
        for axes in panels.flat[len(names) :]:
            axes.set_visible(False)
        for name, axes in zip(names, panels.flat, strict=False):
            finite = np.isfinite(rest[name].values)
            for mode in range(values.shape[1]):
                axes.plot(
                    rest[name].values[finite],
                    values[finite, mode],
                    linestyle="",
                    marker=_MARKERS[mode // len(COLOURS) % len(_MARKERS)],
                    markersize=3.5,
                    color=COLOURS[mode % len(COLOURS)],
                    label=f"mode {rest.mode.values[mode]}",
                )
            if uneven(rest[name].values):
                axes.set_xscale("log")
            if never_negative(rest[name]):
                not_below_zero(axes.xaxis)
            axes.set_xlabel(label(rest[name]))
        if uneven(values):
            panels[0, 0].set_yscale("log")
        not_below_zero(panels[0, 0].yaxis)
        for axes in panels[:, 0]:
            axes.set_ylabel("natural frequency [Hz]")
        handles, _ = panels[0, 0].get_legend_handles_labels()
        figure.legend(handles=handles, loc="outside right upper")
        figure.suptitle(title(ds, f"{rest.sizes[along]} samples", where), parse_math=False)
    return figure
