"""Pictures of damping and of the peaks of a response: maps over two axes, or lines over one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.runtime.errors import suggestion
from sweeps.definition.errors import SweepError
from sweeps.plots.maps import finish_maps, value_map
from sweeps.plots.points import drawn, uneven
from sweeps.plots.style import COLOUR_MAP, draw_lines, mode_panels, new_figure, style, title

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: kinds of pictures, and the output that each shows
KINDS = {"peaks": "peak_response", "damping": "damping_ratio"}


def peaks(
    ds: xr.Dataset, axes: Sequence[str], *, kind: str = "peaks", theory: TheoryName | None = None
) -> Figure:
    """Draw the highest peak of the response, or the damping ratio of each mode, over one axis or two.

    Parameters
    ----------
    ds
        The result of a sweep with the output ``peak_response``, or ``damping_ratio``. Of other axes the middle point
        is drawn. Cells without a finite value stay white.
    axes
        Names of axes: a line over a single one, a map over the first two of several.
    kind
        ``"peaks"`` or ``"damping"``.
    theory
        Which one to draw, by default the first.

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
    values = variable.where(np.isfinite(variable))
    of, unit = variable.attrs.get("response"), str(variable.attrs["units"])
    name = str(variable.attrs["long_name"]) + (f" [{unit}]" if unit != "1" else "")
    what = f"peak, {of}" if of else name
    per_mode = "mode" in values.dims
    with style():
        if len(kept) == 1:
            figure = new_figure(7.6, 4.6)
            panel = figure.add_subplot()
            lines = {"": values.values}
            if per_mode:
                numbered = enumerate(values.transpose("mode", kept[0]).values, start=1)
                lines = {f"mode {mode}": line for mode, line in numbered}
            draw_lines(panel, points[0], lines, name)
            panel.set_title(title(ds, what, where), parse_math=False)
            if per_mode:
                figure.legend(loc="outside right upper")
            return figure
        if per_mode:
            figure, panels = mode_panels(rest, None, 2.35)
        else:
            figure = new_figure(6.0, 4.6)
            panels = {0: figure.add_subplot()}
        for mode, panel in panels.items():
            own = values.sel(mode=mode) if mode else values
            grid = own.transpose(kept[1], kept[0]).values
            norm = "log" if uneven(grid) else "linear"
            value_map(panel, points[0], points[1], grid, cmap=COLOUR_MAP, norm=norm)
        finish_maps(panels, points[0], points[1])
        figure.suptitle(title(ds, f"{what} [{unit}]" if of else what, where), parse_math=False)
    return figure
