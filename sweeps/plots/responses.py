"""Plots of damping, response peaks and compliances: maps over two axes, or lines over one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.runtime.errors import suggestion
from sweeps.definition.errors import SweepError
from sweeps.plots.maps import finish_maps, value_map
from sweeps.plots.points import drawn, uneven
from sweeps.plots.style import COLOUR_MAP, draw_lines, new_figure, style, title, titled_panels

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

#: kinds of pictures, and the output that each shows
KINDS = {"peaks": "peak_response", "damping": "damping_ratio", "compliance": "tip_compliance"}
#: what panels and lines are of, and their titles
_PANELS = {"mode": "mode {}", "direction": "along {}"}


def peaks(
    ds: xr.Dataset, axes: Sequence[str], *, kind: str = "peaks", theory: TheoryName | None = None
) -> Figure:
    """Draw the highest peak of the response, the damping ratio of each mode, or compliances, over one axis or two.

    Parameters
    ----------
    ds
        The result of a sweep with the output ``peak_response``, ``damping_ratio`` or ``tip_compliance``; of
        compliances, the displacement along each force is drawn. For other axes the middle point is used. Cells without
        a finite value are white.
    axes
        Names of axes: lines over a single one, a map over the first two of several.
    kind
        ``"peaks"``, ``"damping"`` or ``"compliance"``.
    theory
        Name of the theory, by default the first.

    Raises
    ------
    SweepError
        If the dataset has no such output, axis or theory, or matplotlib is missing.
    """
    if kind not in KINDS:
        raise SweepError(f"kind = {kind!r}: must be one of {', '.join(map(repr, KINDS))}.")
    output = KINDS[kind]
    if output not in ds:
        names = [str(name) for name in ds.data_vars]
        raise SweepError(
            f"the dataset has no {output}: add it to the outputs of the sweep; it has {', '.join(names)}."
            f"{suggestion(output, names)}"
        )
    kept = tuple(axes[:2])
    rest, where, points = drawn(ds, kept, theory, output)
    variable = rest[output]
    if kind == "compliance":
        import xarray as xr

        own = xr.DataArray(np.arange(variable.sizes["direction"]), dims="direction")
        variable = variable.isel(direction=own, force_direction=own)
    values = variable.where(np.isfinite(variable))
    of, unit = variable.attrs.get("response"), str(variable.attrs["units"])
    name = str(variable.attrs["long_name"]) + (f" [{unit}]" if unit != "1" else "")
    what = f"peak, {of}" if of else name
    split = next((dim for dim in _PANELS if dim in values.dims), "")
    titles = [_PANELS[split].format(x) for x in values[split].values.tolist()] if split else [""]
    with style():
        if len(kept) == 1:
            figure = new_figure(7.6, 4.6)
            panel = figure.add_subplot()
            rows = values.transpose(split, kept[0]).values if split else [values.values]
            draw_lines(panel, points[0], dict(zip(titles, rows, strict=True)), name)
            panel.set_title(title(ds, what, where), parse_math=False)
            if split:
                figure.legend(loc="outside right upper")
            return figure
        if split:
            figure, panels = titled_panels(dict(enumerate(titles)), 2.35)
        else:
            figure = new_figure(6.0, 4.6)
            panels = {0: figure.add_subplot()}
        for number, panel in panels.items():
            own = values.isel({split: number}) if split else values
            grid = own.transpose(kept[1], kept[0]).values
            norm = "log" if uneven(grid) else "linear"
            value_map(panel, points[0], points[1], grid, cmap=COLOUR_MAP, norm=norm)
        finish_maps(panels, points[0], points[1])
        figure.suptitle(title(ds, f"{what} [{unit}]" if of else what, where), parse_math=False)
    return figure
