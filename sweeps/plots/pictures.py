"""Plots of sweeps: branches, posture maps, slenderness, certificates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxmodal.dynamic_stiffness.beams import TheoryName, theory_named
from jaxmodal.runtime.statuses import Status
from sweeps.analysis.cells import axes_of, checked
from sweeps.analysis.tracking import SWAPPED, by_branch, track
from sweeps.definition.errors import SweepError
from sweeps.plots.maps import cells, posture_maps
from sweeps.plots.points import (
    drawn,
    held,
    in_order,
    is_scattered,
    label,
    one_theory,
    points_of,
    set_scale,
)
from sweeps.plots.responses import KINDS, peaks
from sweeps.plots.samples import samples
from sweeps.plots.sensitivities import sensitivity_lines, sensitivity_map
from sweeps.plots.style import COLOURS, STYLES, dots, draw_lines, new_figure, style, title
from sweeps.solution.quantity import NOT_COMPUTED

if TYPE_CHECKING:
    import xarray as xr
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
    ds: xr.Dataset,
    along: str,
    *,
    tracked: bool = True,
    theory: TheoryName | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Figure:
    """Draw frequency over one axis, one line for each mode.

    Parameters
    ----------
    ds
        The result of a sweep. For other axes the middle point is used; select another with ``sel``.
    along
        Name of the axis.
    tracked
        Track branches through crossings by their shapes (see `sweeps.analysis.tracking`), with circles where a crossing
        cannot be distinguished from a narrow veering; False, and a single point, draws the sorted modes.
    theory
        Name of the theory, by default the first.
    progress
        As for `sweeps.analysis.tracking.track`.

    Raises
    ------
    SweepError
        If there is no such axis or theory, or matplotlib is missing.
    """
    if is_scattered(ds, along):
        raise SweepError(
            f"axis {along!r}: its points are unordered samples, along which no branch can be followed; draw samples."
        )
    rest, where, (points,) = drawn(ds, (along,), theory, "certified")
    kind, values = "mode", rest.frequency.transpose(along, "mode")
    with style():
        figure = new_figure(7.6, 4.6)
        axes = figure.add_subplot()
        if tracked and points.size > 1:
            rest = track(rest, along, progress=progress)
            swapped = np.nonzero(rest.branch_flag.transpose(along, "mode").values == SWAPPED)
            if swapped[0].size:
                axes.plot(
                    points.values[swapped[0]],
                    values.values[swapped],
                    linestyle="",
                    marker="o",
                    markerfacecolor="none",
                    markeredgecolor="#555555",
                    markersize=7,
                    label="crossing, or narrower veering",
                )
            kind, values = "branch", by_branch(rest).transpose(along, "branch")
        lines = {f"{kind} {k}": line for k, line in enumerate(values.values.T, start=1)}
        draw_lines(axes, points, lines, "natural frequency [Hz]")
        axes.set_title(title(ds, where), parse_math=False)
        figure.legend(loc="outside right upper")
    return figure


def slenderness(ds: xr.Dataset, thickness: str = "thickness_factor") -> Figure:
    """Draw frequency, and Euler-Bernoulli minus Timoshenko, over the thickness factor.

    Parameters
    ----------
    ds
        The result of a sweep whose axis ``thickness`` is a thickness factor. The lower panel is drawn if the dataset
        has the output difference_to_euler_bernoulli. For other axes the middle point is used.
    thickness
        Name of the axis.

    Raises
    ------
    SweepError
        If there is no such axis, or matplotlib is missing.
    """
    compared = [name for name in ("difference_to_euler_bernoulli",) if name in ds]
    rest, where, (points,) = held(ds, (thickness,), *compared)
    theories = [theory_named(str(name)) for name in np.atleast_1d(rest.theory.values)]
    with style():
        figure = new_figure(6.8, 6.4 if compared else 4.2)
        panels = figure.subplots(2 if compared else 1, 1, squeeze=False, sharex=True)[:, 0]
        for kind, theory in enumerate(theories):
            own = one_theory(rest, theory)
            values = own.frequency.transpose(thickness, "mode").values
            for number in range(values.shape[1]):
                look = {"color": COLOURS[number % len(COLOURS)], "linestyle": STYLES[kind]}
                look |= dots(points)
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
            Line2D([], [], color="#555555", linestyle=STYLES[kind], label=name.replace("_", " "))
            for kind, name in enumerate(theories)
        ]  # fmt: skip
    figure.legend(handles=handles, loc="outside right upper")


def certificate_map(ds: xr.Dataset, x: str, y: str | None = None) -> Figure:
    """Draw the status of every cell over two axes, or over one axis and the modes.

    A cell shows the worst status of its modes (and of all points of the axes that are not drawn).

    Raises
    ------
    SweepError
        If there is no such axis, or matplotlib is missing.
    """
    kept = [name for name in (x, y) if name is not None]
    for name in kept:
        checked(ds, name)
    other = "mode" if y is None else y
    ds = in_order(ds, kept)
    status = ds.status.load()
    worst = status.max([name for name in status.dims if name not in (x, other)])
    codes = list(_STATUS_COLOURS)
    with style():
        import xarray as xr
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
        axes.set_xlabel(label(horizontal))
        axes.set_ylabel(label(vertical))
        axes.set_title(title(ds, "certificate of every cell"), parse_math=False)
        set_scale(axes, "x", horizontal)
        if y is None:
            axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        else:
            set_scale(axes, "y", vertical)
    return figure


def pictures(
    ds: xr.Dataset,
    axes: Sequence[str] = (),
    *,
    theory: TheoryName | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Figure]:
    """Draw all plots that suit the axes of a dataset.

    Parameters
    ----------
    ds
        The result of a sweep.
    axes
        Names of its axes, in order of preference for drawing; by default all in their order.
    theory
        Name of the theory, by default the first; slenderness and certificates show all.
    progress
        As for `sweeps.analysis.tracking.track`, for branches.

    Returns
    -------
    dict
        Figures by name: ``samples`` if parameters change together without order, otherwise ``maps`` for two axes or
        more and ``branches`` for a single one; ``slenderness`` for a thickness factor; ``sensitivities``, ``peaks``,
        ``damping`` and ``compliance`` if present; and ``certificates`` if a mode is not certified.

    Raises
    ------
    SweepError
        If there is no such axis or theory, no axis remains, or matplotlib is missing.
    """
    axes = (axes,) if isinstance(axes, str) else axes or axes_of(ds)
    if not axes:
        raise SweepError("the dataset has no axis left to draw over; select fewer values.")
    scattered = [name for name in axes if is_scattered(ds, name)]
    thickness = [
        name for name in axes if name in ds.coords and ds[name].attrs.get("parameter") == _THICKNESS
    ]
    over: dict[str, Sequence[str]] = {"slenderness": thickness} if thickness else {}
    if scattered:
        over["samples"] = scattered
    elif len(axes) >= 2:
        over["maps"] = axes
    elif not thickness:
        over["branches"] = axes
    if not scattered:
        shown = {"sensitivities": "sensitivity"} | KINDS
        over |= {kind: axes for kind, output in shown.items() if output in ds}
    if bool((ds.status != int(Status.certified)).any()):
        over["certificates"] = axes
    look: dict[str, Any] = {"theory": theory, "progress": progress}
    return {kind: picture(ds, kind, names, **look) for kind, names in over.items()}


def picture(
    ds: xr.Dataset,
    kind: str,
    axes: Sequence[str],
    *,
    theory: TheoryName | None = None,
    parameter: str | None = None,
    levels: Sequence[float] = (),
    shared_scale: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Figure:
    """Draw one of the `pictures` over the first axes given: a map over two axes, or lines over a single one.

    ``parameter`` is for sensitivities, ``levels`` and ``shared_scale`` are for maps, ``progress`` is for branches.
    """
    if kind == "maps":
        look: dict[str, Any] = {"levels": levels, "shared_scale": shared_scale}
        return posture_maps(ds, *axes[:2], theory=theory, **look)
    if kind == "sensitivities":
        draw = sensitivity_map if len(axes) >= 2 else sensitivity_lines
        return draw(ds, *axes[:2], parameter=parameter, theory=theory)
    if kind in KINDS:
        return peaks(ds, axes, kind=kind, theory=theory)
    if kind == "certificates":
        return certificate_map(ds, *axes[:2])
    if kind == "slenderness":
        return slenderness(ds, axes[0])
    if kind == "samples":
        return samples(ds, axes[0], theory=theory)
    return branches(ds, axes[0], theory=theory, progress=progress)
