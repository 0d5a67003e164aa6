"""Plots of sensitivities: the most important parameter of each cell, or the sensitivity to one parameter."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.runtime.errors import suggestion
from jaxmodal.runtime.statuses import Status
from sweeps.definition.errors import SweepError
from sweeps.plots.maps import cells, finish_maps, value_map
from sweeps.plots.points import drawn
from sweeps.plots.style import (
    COLOUR_MAP,
    COLOURS,
    dots,
    label_panels,
    line_look,
    mark,
    mode_panels,
    style,
    title,
)

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

_OF_LINK = re.compile(r"link(?P<link>\d+)\.(?P<field>.+)", re.ASCII)
_OTHERS = "#cccccc"
_MEASURE = "|d ln f / d ln p|"


def sensitivity_map(
    ds: xr.Dataset,
    x: str,
    y: str,
    *,
    parameter: str | None = None,
    modes: Sequence[int] | None = None,
    theory: TheoryName | None = None,
) -> Figure:
    """Draw one map for each mode: the most important parameter, or the sensitivity to one parameter.

    Parameters
    ----------
    ds
        The result of a sweep with the output ``sensitivity``. Of other axes the middle point is drawn.
    x, y
        Names of the axes.
    parameter
        Address of one parameter, whose logarithmic sensitivity is drawn. By default the maps show the parameter with
        the largest one; circles mark cells with coincident frequencies, where that of the mean of the cluster is drawn.
    modes
        Mode numbers, by default all.
    theory
        Name of the theory, by default the first.

    Raises
    ------
    SweepError
        If the dataset has no sensitivities, or no such axis, parameter, mode or theory.
    """
    rest, where, (horizontal, vertical) = _drawn(ds, (x, y), parameter, theory)
    names = [str(name) for name in rest.parameter.values]
    values = rest.sensitivity.transpose("mode", y, x, "parameter")
    labels, what = _wording(names)
    with style():
        figure, panels = mode_panels(rest, modes, 2.35)
        colours = _colours(values, list(panels))
        for mode, axes in panels.items():
            own = values.sel(mode=mode).values
            if parameter is not None:
                value_map(axes, horizontal, vertical, own[..., 0], cmap=COLOUR_MAP)
                continue
            rgb = _dominant(own, colours)
            cells(axes, horizontal, vertical, rgb)
            clustered = (
                rest.modal_status.sel(mode=mode).transpose(y, x).values == Status.cluster_mean
            )
            places = zip(*np.nonzero(clustered), strict=True)
            mark(axes, [(float(horizontal[i]), float(vertical[j])) for j, i in places])
        finish_maps(panels, horizontal, vertical)
        if parameter is not None:
            figure.suptitle(title(ds, f"d ln f / d ln p, p = {parameter}", where), parse_math=False)
            return figure
        _legend(figure, {labels[k]: colour for k, colour in colours.items()})
        figure.suptitle(
            title(ds, f"{what} matters most: largest {_MEASURE}", where), parse_math=False
        )
    return figure


def sensitivity_lines(
    ds: xr.Dataset,
    along: str,
    *,
    parameter: str | None = None,
    modes: Sequence[int] | None = None,
    theory: TheoryName | None = None,
) -> Figure:
    """Draw the logarithmic sensitivities over one axis: a panel for each mode, a line for each parameter.

    Parameters
    ----------
    ds
        The result of a sweep with the output ``sensitivity``. Of other axes the middle point is drawn.
    along
        Name of the axis.
    parameter
        Address of one parameter, by default all.
    modes, theory
        As for `sensitivity_map`.

    Raises
    ------
    SweepError
        If the dataset has no sensitivities, or no such axis, parameter, mode or theory.
    """
    rest, where, (points,) = _drawn(ds, (along,), parameter, theory)
    values = rest.sensitivity.transpose("mode", along, "parameter")
    names = [str(name) for name in rest.parameter.values]
    with style():
        figure, panels = mode_panels(rest, modes, 2.2)
        for mode, axes in panels.items():
            for number, name in enumerate(names):
                line = values.sel(mode=mode).values[:, number]
                axes.plot(points.values, line, label=name, **line_look(number), **dots(points))
        label_panels(panels, points, "d ln f / d ln p")
        handles, _ = next(iter(panels.values())).get_legend_handles_labels()
        figure.legend(handles=handles, loc="outside lower center", ncols=3)
        figure.suptitle(title(ds, "logarithmic sensitivity", where), parse_math=False)
    return figure


def _drawn(
    ds: xr.Dataset, kept: tuple[str, ...], parameter: str | None, theory: TheoryName | None
) -> tuple[xr.Dataset, str, list[xr.DataArray]]:
    """Result of `drawn`, with the sensitivities to all parameters or to one."""
    if "sensitivity" not in ds:
        raise SweepError(
            "the dataset has no sensitivities; add 'sensitivity' to the outputs of the sweep."
        )
    names = [str(name) for name in ds.parameter.values]
    if parameter is not None:
        if parameter not in names:
            raise SweepError(
                f"parameter = {parameter!r}: the dataset has sensitivities to {', '.join(names)}."
                f"{suggestion(parameter, names)}"
            )
        ds = ds.sel(parameter=[parameter])
    return drawn(ds, kept, theory, "sensitivity", "modal_status")


def _wording(names: Sequence[str]) -> tuple[list[str], str]:
    """Labels of parameters, and their kind: links if the addresses differ in nothing else."""
    parts = [_OF_LINK.fullmatch(name) for name in names]
    fields = {part["field"] if part else "" for part in parts}
    if len(fields) == 1 and all(parts):
        field = fields.pop().replace("section.", "").replace("_", " ")
        return [f"link {part['link']}" for part in parts if part], f"which link's {field}"
    return list(names), "which parameter"


def _colours(values: xr.DataArray, modes: Sequence[int]) -> dict[int, str]:
    """Colours of the parameters that are most important somewhere, by index; grey if there are not enough colours."""
    sizes = np.abs(values.sel(mode=modes).values).reshape(-1, values.sizes["parameter"])
    known = np.isfinite(sizes).all(axis=1)
    numbers, counts = np.unique(sizes[known].argmax(axis=1), return_counts=True)
    coloured = sorted(numbers[np.argsort(-counts)][: len(COLOURS)].tolist())
    found = dict(zip(coloured, COLOURS, strict=False))
    return found | {int(number): _OTHERS for number in numbers if number not in found}


def _dominant(
    values: np.ndarray[tuple[int, ...], np.dtype[np.float64]], colours: dict[int, str]
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Colours, shape (ny, nx, 3), of the largest entries of (ny, nx, parameters); white where unknown."""
    from matplotlib.colors import to_rgb

    picture = np.ones((*values.shape[:2], 3))
    known = np.asarray(np.isfinite(values).all(axis=-1))
    largest = np.abs(np.where(known[..., None], values, 0.0)).argmax(axis=-1)
    for number, colour in colours.items():
        picture[known & (largest == number)] = to_rgb(colour)
    return picture


def _legend(figure: Figure, colours: dict[str, str]) -> None:
    from matplotlib.patches import Patch

    handles = [Patch(color=colour, label=name) for name, colour in colours.items()]
    figure.legend(handles=handles, loc="outside lower center", ncols=min(len(handles), 4))
