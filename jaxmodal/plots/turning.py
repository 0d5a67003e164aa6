"""Campbell diagram: frequencies of a rotating arm over its speed. Needs matplotlib, an optional dependency."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxmodal.arm.arguments import reals
from jaxmodal.arm.quantities import shown
from jaxmodal.plots.figures import finished, new_figure
from jaxmodal.runtime.errors import ArmError

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure


def plot_campbell(
    found: xarray.Dataset,
    path: str | Path | None = None,
    *,
    orders: Sequence[float | int] = (1, 2, 3, 4),
    title: str = "",
) -> Figure:
    """Plot frequencies over the rotation rate, with the orders that excite them.

    Parameters
    ----------
    found : xarray.Dataset
        Result of `jaxmodal.dynamics.turning_frequencies`. Unstable modes are drawn in red.
    path : str or Path, optional
        File for the plot (PNG, PDF or SVG by the suffix); not written by default.
    orders : sequence of float
        Multiples of the rate to draw as grey lines; an empty sequence for none.

    Raises
    ------
    ArmError
        If the dataset is of another kind, or an order is not greater than 0.
    """
    for name in ("frequency", "real_part", "settled"):
        if name not in getattr(found, "data_vars", ()):
            raise ArmError(
                f"found = {shown(found)}: has no {name}; must be a dataset of dynamics.turning_frequencies."
            )
    multiples = reals("orders", list(orders), "numbers greater than 0")
    if not np.all(multiples > 0.0):
        raise ArmError(f"orders = {shown(orders)}: must be numbers greater than 0.")
    rates, hertz = found["rate"].values, found["frequency"].values
    figure = new_figure(6.0, 4.4)
    axes = figure.subplots()
    for column in hertz.T:
        axes.plot(rates, column, color="#1b6ca8", linewidth=1.3)
    # beyond what eigenvalues in float64 are known to
    scale = np.nanmax(np.hypot(found["real_part"].values, 2.0 * np.pi * hertz), initial=0.0)
    grows = found["real_part"].values > 1e-9 * scale
    at: Any = np.broadcast_to(rates[:, None], hertz.shape)
    if grows.any():
        axes.plot(at[grows], hertz[grows], "o", color="#c0392b", markersize=3.5, label="grows")
        axes.legend(fontsize=8, loc="best", framealpha=0.7)
    top = 1.05 * float(np.nanmax(hertz, initial=0.0)) or 1.0
    ends = np.array([rates.min(), rates.max()])
    for order in multiples:
        lines = order * np.abs(ends) / (2.0 * np.pi)
        axes.plot(ends, lines, color="0.7", linewidth=0.8, zorder=0)
        if 0.0 < lines[1] <= top:
            axes.annotate(f" {order:g}x", (ends[1], lines[1]), color="0.5", fontsize=8)
    axes.set_ylim(0.0, top)
    axes.margins(x=0.0)
    axes.set_xlabel("rate [rad/s]")
    axes.set_ylabel("frequency in the axes that turn [Hz]")
    axes.grid(color="0.9", linewidth=0.6)
    return finished(figure, path, title)
