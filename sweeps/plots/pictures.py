"""Pictures of sweeps: branches, posture maps, slenderness, certificates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from jaxmodal.dynamic_stiffness.beams import TheoryName, theory_named
from jaxmodal.frequencies.status import Status
from sweeps.analysis.tracking import SWAPPED, by_branch, track
from sweeps.definition.errors import SweepError
from sweeps.plots.maps import cells, posture_maps
from sweeps.plots.points import (
    axes_of,
    checked,
    drawn,
    held,
    in_order,
    is_scattered,
    label,
    one_theory,
    points_of,
    set_scale,
    uneven,
)
from sweeps.plots.responses import KINDS, peaks
from sweeps.plots.samples import samples
from sweeps.plots.sensitivities import sensitivity_lines, sensitivity_map
from sweeps.plots.style import COLOURS, line_look, new_figure, style, title
from sweeps.solution.quantity import NOT_COMPUTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_THICKNESS = "link*.thickness_factor"
_STATUS_COLOURS = {
    int(Status.certified): "#009E73",
    int(Status.uncertified): "#D55E00",
    int(Status.not_converged): "#E69F00",
    int(Status.invalid_input): "#000000",
    int(Status.unstable): "#CC79A7",
    NOT_COMPUTED: "#cccccc",
}


def branches(
    ds: xr.Dataset, along: str, *, tracked: bool = True, theory: TheoryName | None = None
) -> Figure:
    """Draw frequency against one axis, one line for each mode.

    Parameters
    ----------
    ds
        The result of a sweep. Of other axes the middle point is drawn; select another with ``sel``.
    along
        Name of the axis.
    tracked
        Follow branches through crossings by their shapes (see `sweeps.analysis.tracking`), with circles where a
        crossing cannot be told from a narrow veering; False draws the sorted modes.
    theory
        Which one to draw, by default the first.

    Raises
    ------
    SweepError
        If there is no such axis or theory, or matplotlib is missing.
    """
    checked(ds, along)
    if is_scattered(ds, along):
        raise SweepError(
            f"axis {along!r}: its points are samples in no order, which no branch can follow; draw samples."
        )
    rest, where = drawn(ds, (along,), theory)
    rest = rest.load()
    points = points_of(rest, along)
    with style():
        figure = new_figure(7.6, 4.6)
        axes = figure.add_subplot()
        values = rest.frequency.transpose(along, "mode")
        if tracked:
            rest = track(rest, along)
            values = by_branch(rest).transpose(along, "branch")
            swapped = rest.branch_flag.transpose(along, "mode").values == SWAPPED
            where_swapped = np.nonzero(swapped)
            heights = rest.frequency.transpose(along, "mode").values[where_swapped]
            if heights.size:
                axes.plot(
                    points.values[where_swapped[0]],
                    heights,
                    linestyle="",
                    marker="o",
                    markerfacecolor="none",
                    markeredgecolor="#555555",
                    markersize=7,
                    label="crossing, or narrower veering",
                )
        for number in range(values.shape[1]):
            name = f"{'branch' if tracked else 'mode'} {number + 1}"
            axes.plot(points.values, values.values[:, number], label=name, **line_look(number))
        if uneven(values.values[np.isfinite(values.values)]):
            axes.set_yscale("log")
        set_scale(axes, "x", points)
        _finish(axes, ds, points, "natural frequency [Hz]", where)
        figure.legend(loc="outside right upper")
    return figure


def slenderness(ds: xr.Dataset, thickness: str = "thickness_factor") -> Figure:
    """Draw frequency, and Euler-Bernoulli minus Timoshenko, against the thickness factor.

    Parameters
    ----------
    ds
        The result of a sweep whose axis ``thickness`` is a thickness factor. The lower panel is drawn if
        the dataset has the output difference_to_euler_bernoulli. Of other axes the middle is drawn.
    thickness
        Name of the axis.

    Raises
    ------
    SweepError
        If there is no such axis, or matplotlib is missing.
    """
    checked(ds, thickness)
    rest, where = held(ds.load(), (thickness,))
    points = points_of(rest, thickness)
    theories = [theory_named(str(name)) for name in np.atleast_1d(rest.theory.values)]
    compared = "difference_to_euler_bernoulli" in rest
    with style():
        figure = new_figure(6.8, 6.4 if compared else 4.2)
        panels = figure.subplots(2 if compared else 1, 1, squeeze=False, sharex=True)[:, 0]
        for kind, theory in enumerate(theories):
            own = one_theory(rest, theory)
            values = own.frequency.transpose(thickness, "mode").values
            for number in range(values.shape[1]):
                look = {
                    "color": COLOURS[number % len(COLOURS)],
                    "linestyle": ("-", "--", ":")[kind % 3],
                }
                panels[0].plot(points.values, values[:, number], **look)
                if compared and theory != "euler_bernoulli":
                    difference = own.difference_to_euler_bernoulli.transpose(thickness, "mode")
                    panels[1].plot(points.values, np.abs(difference.values[:, number]), **look)
        for panel in panels:
            panel.set_yscale("log")
            set_scale(panel, "x", points)
        panels[0].set_ylabel("natural frequency [Hz]")
        if compared:
            panels[1].set_ylabel("Euler-Bernoulli minus\ntheory [% of theory]")
            panels[1].set_ylim(bottom=1e-6)
        panels[-1].set_xlabel(label(points))
        figure.suptitle(title(ds, "", where), parse_math=False)
        _legend(figure, rest.sizes["mode"], theories)
    return figure


def _legend(figure: Figure, modes: int, theories: Sequence[str]) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=COLOURS[number % len(COLOURS)], label=f"mode {number + 1}")
        for number in range(modes)
    ]
    if len(theories) > 1:
        handles += [
            Line2D([], [], color="#555555", linestyle=("-", "--", ":")[kind % 3], label=name.replace("_", " "))
            for kind, name in enumerate(theories)
        ]  # fmt: skip
    figure.legend(handles=handles, loc="outside right upper")


def certificate_map(ds: xr.Dataset, x: str, y: str | None = None) -> Figure:
    """Draw the status of every cell over two axes, or over one axis and the modes.

    A cell shows the worst status of its modes (and, for the axes that are not drawn, of all its points).

    Raises
    ------
    SweepError
        If there is no such axis, or matplotlib is missing.
    """
    checked(ds, x)
    if y is not None:
        checked(ds, y)
    other = "mode" if y is None else y
    ds = in_order(ds, (x,) if y is None else (x, y))
    status = ds.status.load()
    worst = status.max([name for name in status.dims if name not in (x, other)])
    codes = list(_STATUS_COLOURS)
    with style():
        from matplotlib.colors import ListedColormap
        from matplotlib.patches import Patch
        from matplotlib.ticker import MaxNLocator

        figure = new_figure(6.4, 4.8)
        axes = figure.add_subplot()
        colours = ListedColormap([_STATUS_COLOURS[code] for code in codes])
        places = np.searchsorted(codes, worst.transpose(other, x).values)
        horizontal = points_of(ds, x)
        vertical = xr.DataArray(ds.mode) if y is None else points_of(ds, y)
        cells(axes, horizontal, vertical, places, cmap=colours, vmin=-0.5, vmax=len(codes) - 0.5)
        flags = np.atleast_1d(ds.status.attrs["flag_values"]).tolist()
        meanings = dict(zip(flags, ds.status.attrs["flag_meanings"].split(), strict=True))
        numbers = np.bincount(np.searchsorted(codes, status.values.ravel()), minlength=len(codes))
        handles = [
            Patch(
                color=_STATUS_COLOURS[code],
                label=f"{meanings[code].replace('_', ' ')}: {number} modes",
            )
            for code, number in zip(codes, numbers, strict=True)
            if number
        ]
        figure.legend(handles=handles, loc="outside lower center", ncols=2)
        _finish(axes, ds, horizontal, label(vertical), "certificate of every cell")
        set_scale(axes, "x", horizontal)
        if y is None:
            axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        else:
            set_scale(axes, "y", vertical)
    return figure


def _finish(axes: Axes, ds: xr.Dataset, points: xr.DataArray, side: str, what: str) -> None:
    axes.set_xlabel(label(points))
    axes.set_ylabel(side)
    axes.set_title(title(ds, what, ""), parse_math=False)


def pictures(ds: xr.Dataset) -> dict[str, Figure]:
    """Draw the pictures that suit the axes of a dataset.

    Returns
    -------
    dict
        Names and figures: ``samples`` where parameters change together in no order, else ``maps`` for two
        axes or more and ``branches`` for a single one; ``slenderness`` for a thickness factor,
        ``sensitivities``, ``peaks`` and ``damping`` where there are any, and ``certificates`` where a mode is
        not certified.

    Raises
    ------
    SweepError
        If matplotlib is missing.
    """
    axes = axes_of(ds)
    scattered = [name for name in axes if is_scattered(ds, name)]
    thickness = [name for name in axes if name in ds.coords and _address(ds[name]) == _THICKNESS]
    found: dict[str, Any] = {}
    if thickness:
        found["slenderness"] = slenderness(ds, thickness[0])
    if scattered:
        found["samples"] = samples(ds, scattered[0])
    elif len(axes) >= 2:
        found["maps"] = posture_maps(ds, axes[0], axes[1])
    elif not thickness:
        found["branches"] = branches(ds, axes[0])
    if "sensitivity" in ds and not scattered:
        found["sensitivities"] = sensitivities(ds, axes)
    if not scattered:
        found |= {
            kind: peaks(ds, axes, kind=kind) for kind, output in KINDS.items() if output in ds
        }
    if bool((ds.status != int(Status.certified)).any()):
        found["certificates"] = certificate_map(ds, axes[0], axes[1] if len(axes) >= 2 else None)
    return found


def sensitivities(
    ds: xr.Dataset,
    axes: Sequence[str],
    *,
    parameter: str | None = None,
    theory: TheoryName | None = None,
) -> Figure:
    """Draw sensitivities as maps over the first two axes, or as lines over a single one.

    Raises
    ------
    SweepError
        As `sensitivity_map` and `sensitivity_lines`.
    """
    if len(axes) >= 2:
        return sensitivity_map(ds, axes[0], axes[1], parameter=parameter, theory=theory)
    return sensitivity_lines(ds, axes[0], theory=theory)


def _address(coordinate: xr.DataArray) -> str:
    return str(coordinate.attrs.get("parameter", ""))
