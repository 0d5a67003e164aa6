"""Pictures of sweeps: branches, posture maps, slenderness, certificates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from jaxmodal.errors import suggestion
from jaxmodal.status import Status
from sweeps.cells import definition_of
from sweeps.errors import SweepError
from sweeps.plot_style import (
    COLOUR_MAP,
    COLOURS,
    held,
    label,
    line_look,
    new_figure,
    one_theory,
    style,
    uneven,
)
from sweeps.quantities import NOT_COMPUTED
from sweeps.tracking import SWAPPED, by_branch, track

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

_THICKNESS = "link*.thickness_factor"
_STATUS_COLOURS = {
    int(Status.certified): "#009E73",
    int(Status.uncertified): "#D55E00",
    int(Status.not_converged): "#E69F00",
    int(Status.invalid_input): "#000000",
    NOT_COMPUTED: "#cccccc",
}


def _checked(ds: xr.Dataset, name: str) -> None:
    known = [str(dim) for dim in ds.frequency.dims if dim not in ("mode", "theory")]
    if name not in known:
        raise SweepError(
            f"{name!r} is no axis of this dataset, which has {', '.join(known)}."
            f"{suggestion(str(name), known)}"
        )


def _points(ds: xr.Dataset, name: str) -> xr.DataArray:
    """Coordinate to draw against: that of the axis, else its first parameter, else its numbers."""
    axes = definition_of(ds)["axes"]
    for known in (name, *axes.get(name, ())):
        if known in ds.coords:
            return xr.DataArray(ds[known])
    return xr.DataArray(np.arange(1, ds.sizes[name] + 1), dims=name, name=name)


def branches(
    ds: xr.Dataset, along: str, *, tracked: bool = True, theory: str | None = None
) -> Figure:
    """Draw frequency against one axis, one line for each mode.

    Parameters
    ----------
    ds
        The result of a sweep. Of other axes the middle point is drawn; select another with ``sel``.
    along
        Name of the axis.
    tracked
        Follow branches through crossings by their shapes (see `sweeps.tracking`), with circles where a
        crossing cannot be told from a narrow veering; False draws the sorted modes.
    theory
        Which one to draw, by default the first.

    Raises
    ------
    SweepError
        If there is no such axis or theory, or matplotlib is missing.
    """
    _checked(ds, along)
    rest, where = held(one_theory(ds, theory).load(), (along,))
    points = _points(rest, along)
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
        if uneven(points.values):
            axes.set_xscale("log")
        _angle_ticks(axes.xaxis, points)
        _finish(axes, ds, points, "natural frequency [Hz]", where)
        figure.legend(loc="outside right upper")
    return figure


def posture_maps(
    ds: xr.Dataset,
    x: str,
    y: str,
    *,
    modes: Sequence[int] | None = None,
    theory: str | None = None,
    marks: Sequence[tuple[int, float, float]] = (),
) -> Figure:
    """Draw one map for each mode: frequency over two axes.

    Parameters
    ----------
    ds
        The result of a sweep. Of other axes the middle point is drawn.
    x, y
        Names of the axes.
    modes
        Mode numbers, by default all.
    theory
        Which one to draw, by default the first.
    marks
        Points to mark as (mode, x, y): in the maps of the mode and of the next one a double root.

    Raises
    ------
    SweepError
        If there is no such axis, mode or theory, or matplotlib is missing.
    """
    _checked(ds, x)
    _checked(ds, y)
    rest, where = held(one_theory(ds, theory), (x, y))
    rest = rest[["frequency"]].load()
    numbers = [int(mode) for mode in (rest.mode.values if modes is None else modes)]
    for mode in numbers:
        if mode not in rest.mode.values:
            raise SweepError(f"mode = {mode}: the dataset has modes 1 to {rest.sizes['mode']}.")
    columns = min((5, 4, 3), key=lambda width: (-len(numbers) % width, -width))
    columns = min(columns, len(numbers))
    rows = -(-len(numbers) // columns)
    with style():
        figure = new_figure(0.6 + 2.7 * columns, 0.7 + 2.35 * rows)
        grid = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
        horizontal, vertical = _points(rest, x), _points(rest, y)
        for axes, mode in zip(grid.flat, numbers, strict=False):
            values = rest.frequency.sel(mode=mode).transpose(y, x).values
            mesh = axes.pcolormesh(
                horizontal.values,
                vertical.values,
                values,
                cmap=COLOUR_MAP,
                norm="log" if uneven(values[np.isfinite(values)]) else "linear",
                shading="nearest",
                rasterized=True,
            )
            axes.grid(False)
            colour_bar = figure.colorbar(mesh, ax=axes, pad=0.02)
            colour_bar.outline.set_visible(False)
            axes.set_title(f"mode {mode}")
            _mark(axes, [(h, v) for k, h, v in marks if mode in (k, k + 1)])
            for side, points in ((axes.xaxis, horizontal), (axes.yaxis, vertical)):
                _angle_ticks(side, points)
        if uneven(horizontal.values):
            grid[0, 0].set_xscale("log")
        if uneven(vertical.values):
            grid[0, 0].set_yscale("log")
        for axes in grid.flat[len(numbers) :]:
            axes.set_visible(False)
        for axes in list(grid.flat[: len(numbers)])[-columns:]:
            axes.set_xlabel(label(horizontal))
            axes.xaxis.set_tick_params(labelbottom=True)
        for axes in grid[:, 0]:
            axes.set_ylabel(label(vertical))
        note = "; circles: double roots" if marks else ""
        figure.suptitle(_title(ds, f"natural frequency [Hz]{note}", where))
    return figure


def _mark(axes: Axes, points: Sequence[tuple[float, float]]) -> None:
    if points:
        axes.plot(
            [point[0] for point in points],
            [point[1] for point in points],
            linestyle="",
            marker="o",
            markersize=6,
            markerfacecolor="none",
            markeredgecolor="#D55E00",
            markeredgewidth=1.3,
        )


def _angle_ticks(side: Axis, points: xr.DataArray) -> None:
    from matplotlib.ticker import MultipleLocator

    span = float(points.max() - points.min())
    if points.attrs.get("units") == "degree" and span >= 90.0:
        side.set_major_locator(MultipleLocator(90.0 if span > 180.0 else 45.0))


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
    _checked(ds, thickness)
    rest, where = held(ds.load(), (thickness,))
    points = _points(rest, thickness)
    theories = [str(name) for name in np.atleast_1d(rest.theory.values)]
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
            panel.set_xscale("log" if uneven(points.values) else "linear")
            panel.set_yscale("log")
        panels[0].set_ylabel("natural frequency [Hz]")
        if compared:
            panels[1].set_ylabel("Euler-Bernoulli minus\ntheory [% of theory]")
            panels[1].set_ylim(bottom=1e-6)
        panels[-1].set_xlabel(label(points))
        figure.suptitle(_title(ds, "", where))
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
    _checked(ds, x)
    if y is not None:
        _checked(ds, y)
    other = "mode" if y is None else y
    status = ds.status.load()
    worst = status.max([name for name in status.dims if name not in (x, other)])
    codes = list(_STATUS_COLOURS)
    with style():
        from matplotlib.colors import ListedColormap
        from matplotlib.patches import Patch

        figure = new_figure(6.4, 4.8)
        axes = figure.add_subplot()
        colours = ListedColormap([_STATUS_COLOURS[code] for code in codes])
        places = np.searchsorted(codes, worst.transpose(other, x).values)
        axes.pcolormesh(
            _points(ds, x).values,
            ds.mode.values if y is None else _points(ds, y).values,
            places,
            cmap=colours,
            vmin=-0.5,
            vmax=len(codes) - 0.5,
            shading="nearest",
            rasterized=True,
        )
        axes.grid(False)
        meanings = ds.status.attrs["flag_meanings"].split()
        numbers = np.bincount(np.searchsorted(codes, status.values.ravel()), minlength=len(codes))
        handles = [
            Patch(color=_STATUS_COLOURS[code], label=f"{meaning.replace('_', ' ')}: {number} modes")
            for code, meaning, number in zip(codes, meanings, numbers, strict=True)
            if number
        ]
        figure.legend(handles=handles, loc="outside lower center", ncols=2)
        side = "mode" if y is None else label(_points(ds, y))
        _finish(axes, ds, _points(ds, x), side, "certificate of every cell")
        _angle_ticks(axes.xaxis, _points(ds, x))
        if y is not None:
            _angle_ticks(axes.yaxis, _points(ds, y))
    return figure


def _finish(axes: Axes, ds: xr.Dataset, points: xr.DataArray, side: str, what: str) -> None:
    axes.set_xlabel(label(points))
    axes.set_ylabel(side)
    axes.set_title(_title(ds, what, ""))


def _title(ds: xr.Dataset, *parts: str) -> str:
    title = str(ds.attrs.get("title", "")) if "title" in ds.attrs else ""
    rest = "; ".join(part for part in parts if part)
    return f"{title}\n{rest}" if rest else title


def pictures(ds: xr.Dataset) -> dict[str, Figure]:
    """Draw the pictures that suit the axes of a dataset.

    Returns
    -------
    dict
        Names and figures: ``maps`` for two axes or more, ``slenderness`` for a thickness factor,
        ``branches`` for a single axis, and always ``certificates``.

    Raises
    ------
    SweepError
        If matplotlib is missing.
    """
    axes = [str(name) for name in ds.frequency.dims if name not in ("mode", "theory")]
    thickness = [name for name in axes if name in ds.coords and _address(ds[name]) == _THICKNESS]
    found: dict[str, Any] = {}
    if thickness:
        found["slenderness"] = slenderness(ds, thickness[0])
    if len(axes) >= 2:
        found["maps"] = posture_maps(ds, axes[0], axes[1])
    elif not thickness:
        found["branches"] = branches(ds, axes[0])
    found["certificates"] = certificate_map(ds, axes[0], axes[1] if len(axes) >= 2 else None)
    return found


def _address(coordinate: xr.DataArray) -> str:
    return str(coordinate.attrs.get("parameter", ""))
