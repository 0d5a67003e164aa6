"""Plots of an arm in motion: time histories in the layout of De Luca and Siciliano's Figures 5-10, and an animation.

Needs matplotlib, an optional dependency.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from jaxmodal.arm.arguments import positive
from jaxmodal.plots.figures import (
    PlotsUnavailableError,
    check_animation,
    finished,
    new_figure,
    write_gif,
)
from jaxmodal.runtime.errors import ArmError

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from jaxmodal.dynamics import FlexibleModel

__all__ = ["PANELS", "PlotsUnavailableError", "animate_motion", "plot_motion"]

_COLOURS = ("#1b6ca8", "#c0392b", "#2e8b57", "#7d5ba6", "#b8860b", "#444444")


#: the largest deflection of an animation is magnified to this share of the arm's length, or a little less
_SHOWN = 0.08
#: less than this share is no magnification worth while
_SEEN = 0.04


def _lines(axes: Axes, motion: xarray.Dataset, values: Any, labels: Sequence[str]) -> None:
    times = motion["time"].values
    for k, label in enumerate(labels):
        axes.plot(
            times,
            values[:, k],
            color=_COLOURS[k % len(_COLOURS)],
            linestyle=("-", "--")[k // len(_COLOURS) % 2],
            linewidth=1.2,
            label=label,
        )
    axes.set_xlabel("time [s]")
    if len(labels) > 1:
        axes.legend(fontsize=8, loc="best", framealpha=0.7)


def _wanted(axes: Axes, target: xarray.Dataset | None, name: str) -> None:
    """Draw the target as dots in the colours of the lines, with one legend entry."""
    if target is None or name not in target:
        return
    for k, column in enumerate(target[name].values.T):
        look: dict[str, Any] = {"color": _COLOURS[k % len(_COLOURS)], "linestyle": ":"}
        label = "asked for" if k == 0 else None
        axes.plot(target["time"].values, column, linewidth=1.6, label=label, **look)
    axes.legend(fontsize=8, loc="best", framealpha=0.7)


def _deflections(
    axes: Axes, motion: xarray.Dataset, target: xarray.Dataset | None, *, link: int
) -> None:
    own = np.asarray(motion["link_of_coordinate"]) == link
    modes = np.asarray(motion["mode_of_coordinate"])[own]
    labels = [f"$\\delta_{{{link}{mode}}}$" for mode in modes]
    if "deformation_of_coordinate" in motion.coords:
        kinds = np.asarray(motion["deformation_of_coordinate"])[own]
        labels = [f"{kind.replace('_', ' ')} {k}" for kind, k in zip(kinds, modes, strict=True)]
    _lines(axes, motion, motion["modal_coordinate"].values[:, own], labels)
    axes.set_title(f"modal coordinates of link {link} (units of its shapes)", fontsize=10)


Panel: TypeAlias = "Callable[[Axes, xarray.Dataset, xarray.Dataset | None], None]"


def _of(name: str, symbol: str, title: str, factor: float = 1.0) -> Panel:
    """Panel of a quantity, times a factor, with a line for each joint or link, or for each axis."""

    def draw(axes: Axes, motion: xarray.Dataset, target: xarray.Dataset | None) -> None:
        values = motion[name]
        labels = [f"${symbol}_{{{part}}}$" for part in motion[values.dims[1]].values]
        _lines(axes, motion, factor * values.values, labels)
        _wanted(axes, target, name)
        axes.set_title(title, fontsize=10)

    return draw


def _energies(axes: Axes, motion: xarray.Dataset, target: xarray.Dataset | None) -> None:
    names = ("kinetic_energy", "elastic_energy", "gravity_energy", "work", "dissipated")
    values = np.stack([motion[name].values for name in names], axis=-1)
    _lines(axes, motion, values, [name.removesuffix("_energy") for name in names])
    axes.set_title("energies [J]", fontsize=10)


#: panels by name, besides ``"deflections"``, which is one panel for each link that bends
PANELS: Mapping[str, Panel] = {
    "end_deflections": _of("end_deflection", "w", "deflection at the end of each link [mm]", 1e3),
    "joints": _of("joint_angle", r"\theta", "joint angles [rad]"),
    "tip": _of("tip_position", "p", "position of the tip [m]"),
    "torques": _of("torque", "u", "torques of the motors [N m]"),
    "tip_acceleration": _of("tip_acceleration", "a", "acceleration of the tip [m/s²]"),
    "energies": _energies,
}


def plot_motion(
    motion: xarray.Dataset,
    path: str | Path | None = None,
    *,
    panels: Sequence[str] | str = ("deflections", "joints", "tip"),
    target: xarray.Dataset | None = None,
    title: str = "",
) -> Figure:
    """Plot a motion over time, as in Figures 5-10 of De Luca and Siciliano (1991).

    Parameters
    ----------
    motion : xarray.Dataset
        Result of `jaxmodal.dynamics.simulate`. NaN values, after a time where the integration stopped, are omitted.
    path : str or Path, optional
        File for the plot (PNG, PDF or SVG by the suffix); not written by default.
    panels : sequence of str, or one
        Quantities to draw, in this order, two panels side by side: ``"deflections"`` (the modal coordinates, a panel
        for each link), ``"joints"``, ``"tip"``, ``"torques"``, ``"tip_acceleration"``, ``"energies"``,
        ``"end_deflections"`` (mm). The first three are the paper's layout.
    target : xarray.Dataset, optional
        Target motion, drawn as dots: joint_angle and tip_position, as from
        `jaxmodal.dynamics.integration.histories.followed`, or another motion.

    Raises
    ------
    ArmError
        If ``motion`` is not a motion, a panel is unknown, or there is nothing to draw.
    """
    from jaxmodal.dynamics.integration.histories import require_motion

    require_motion(motion)
    draws: list[Panel] = []
    for name in (panels,) if isinstance(panels, str) else panels:
        if name == "deflections":
            for link in np.unique(motion["link_of_coordinate"].values):
                draws.append(functools.partial(_deflections, link=int(link)))
        elif name in PANELS:
            draws.append(PANELS[name])
        else:
            known = ", ".join(map(repr, ("deflections", *PANELS)))
            raise ArmError(f"panels: {name!r} is none; must be of {known}; leave it out.")
    if not draws:
        raise ArmError(
            "panels: nothing to draw; must name a panel, and 'deflections' needs a link that bends."
        )
    columns = min(2, len(draws))
    rows = math.ceil(len(draws) / columns)
    figure = new_figure(4.6 * columns, 2.7 * rows + (0.4 if title else 0.0))
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes in grid.flat[len(draws) :]:
        axes.set_visible(False)
    for place, (axes, draw) in enumerate(zip(grid.flat, draws, strict=False)):
        draw(axes, motion, target)
        axes.set_title(f"({chr(ord('a') + place)})", loc="left", fontsize=10)
        axes.grid(color="0.9", linewidth=0.6)
        axes.margins(x=0.0)
    return finished(figure, path, title)


def animate_motion(
    model: FlexibleModel,
    motion: xarray.Dataset,
    path: str | Path,
    *,
    frames: int = 60,
    seconds: float | None = None,
    magnified: float | None = None,
    target: xarray.Dataset | None = None,
) -> None:
    """Write the arm in motion, with magnified deflections and the path of its tip, as an animated GIF.

    An arm in space is shown in an oblique view from above.

    The title gives the time, the distance of the tip from that of a rigid arm with the same joint angles, and the
    magnification of bending. If bending is magnified, the true arm and the path of its tip are drawn in grey.

    Parameters
    ----------
    model : FlexibleArm or SpatialFlexibleArm
        The simulated arm.
    motion : xarray.Dataset
        Result of `jaxmodal.dynamics.simulate`; times that the integration did not reach are omitted.
    frames : int
        Number of frames, at least 2, at times of the motion as equally spaced as possible.
    seconds : float, optional
        Duration of the animation; by default real time.
    magnified : float, optional
        Magnification of bending, 1 for none; by default a round number that makes it visible.
    target : xarray.Dataset, optional
        As for `plot_motion`; the target path of the tip is drawn as dots.

    Raises
    ------
    ArmError
        If there are fewer than two frames, the time or the magnification is not positive, the file does not end in
        ``.gif``, or the model is not that of the motion.
    """
    from jaxmodal.dynamics import link_positions
    from jaxmodal.dynamics.integration.histories import coordinates_of

    check_animation(path, frames, seconds)
    if magnified is not None:
        positive("magnified", magnified)
    q, _ = coordinates_of(model, motion)
    known = np.flatnonzero(np.isfinite(motion["tip_position"].values[:, 0]))
    wanted = np.linspace(0, known[-1], min(frames, len(known))).round().astype(int)
    times = motion["time"].values[wanted]
    shown = float(times[-1] - times[0]) if seconds is None else seconds
    if not shown > 0.0:
        raise ArmError(
            "motion: stands still at its first time; give seconds, for which it is shown."
        )
    places = np.asarray(link_positions(model, q[wanted]))
    tips = motion["tip_position"].values[known]
    if not np.allclose(
        places[:, -1, -1], motion["tip_position"].values[wanted], atol=1e-6 * np.abs(places).max()
    ):
        raise ArmError("model: its tip is elsewhere; must be the model that was simulated.")

    modal = model.layout.modal
    rigid = np.asarray(link_positions(model, _scaled(q[wanted], modal, 0.0)))[:, -1, -1]
    off = np.linalg.norm(places[:, -1, -1] - rigid, axis=-1)
    times_bent = _magnification(places, off) if magnified is None else float(magnified)
    bent = places
    if times_bent != 1.0:
        bent = np.asarray(link_positions(model, _scaled(q[wanted], modal, times_bent)))
    paths = [tips] if target is None else [tips, target["tip_position"].values]
    figure = new_figure(5.0, 5.0)
    axes = _frame(figure, [places, bent, *paths])
    if target is not None:
        axes.plot(*paths[1].T, color="0.45", linewidth=1.2, linestyle=":", label="asked for")
        axes.legend(fontsize=8, loc="best", framealpha=0.7)
    empty: list[list[float]] = [[]] * places.shape[-1]
    (path_line,) = axes.plot(*empty, color="0.7", linewidth=1.0)
    (still,) = axes.plot(*empty, color="0.75", linewidth=1.6)
    look: dict[str, Any] = {"linewidth": 2.2, "solid_capstyle": "round"}
    links = [
        axes.plot(*empty, color=_COLOURS[k % len(_COLOURS)], **look)[0]
        for k in range(places.shape[1])
    ]
    (joints,) = axes.plot(*empty, "o", color="black", markersize=3.5)
    note = f", bending × {times_bent:g}" if times_bent != 1.0 else ""

    def show(frame: int) -> list[Any]:
        if times_bent != 1.0:
            _put(still, places[frame].reshape(-1, places.shape[-1]))
        for line, link in zip(links, bent[frame], strict=True):
            _put(line, link)
        _put(joints, bent[frame][:, -1])
        upto = int(np.searchsorted(known, wanted[frame], side="right"))
        _put(path_line, tips[:upto])
        shift = f"tip deflection {1e3 * off[frame]:.3g} mm"
        axes.set_title(f"t = {times[frame]:.3f} s, {shift}{note}", fontsize=10)
        return [*links, joints, still, path_line]

    steps = max(len(wanted) - 1, 1)  # between pictures
    write_gif(figure, show, len(wanted), shown * len(wanted) / steps, path)


def _put(line: Any, places: np.ndarray) -> None:
    """Set the points of a line to positions (s, 2) or (s, 3)."""
    move = line.set_data if places.shape[-1] == 2 else line.set_data_3d
    move(*places.T)


def _scaled(q: np.ndarray, modal: slice, factor: float) -> np.ndarray:
    """Coordinates (T, N) with the modal ones multiplied by a factor."""
    found = np.array(q)
    found[:, modal] *= factor
    return found


def _magnification(places: np.ndarray, off: np.ndarray) -> float:
    """Round magnification that makes the largest tip deflection visible; 1 if it is visible or zero.

    ``places`` (T, n, S, d) are positions of the links, ``off`` (T,) distances of the tip from that of the rigid arm.
    """
    steps = np.diff(places[0].reshape(-1, places.shape[-1]), axis=0)
    reach, largest = float(np.sum(np.linalg.norm(steps, axis=-1))), float(off.max())
    if not 1e-9 * reach < largest < _SEEN * reach:
        return 1.0
    most = _SHOWN * reach / largest
    power = 10.0 ** math.floor(math.log10(most))
    return max(step * power for step in (1.0, 2.0, 5.0) if step * power <= most)


def _frame(figure: Figure, parts: Sequence[np.ndarray]) -> Axes:
    """Axes in m of a new figure with room for all positions (..., d) and the base, which is drawn."""
    d = parts[0].shape[-1]
    axes: Any = figure.add_subplot(projection="3d" if d == 3 else None)
    axes.plot(*[[0.0]] * d, "s", color="black", markersize=5.0)
    everywhere = np.concatenate([np.zeros((1, d)), *(part.reshape(-1, d) for part in parts)])
    low, high = np.nanmin(everywhere, axis=0), np.nanmax(everywhere, axis=0)
    middle, half = 0.5 * (low + high), 0.55 * float(np.max(high - low))
    for name, place in zip("xyz", middle, strict=False):
        axes.set(**{f"{name}lim": (place - half, place + half), f"{name}label": f"{name} [m]"})
    axes.set_aspect("equal")
    return axes
