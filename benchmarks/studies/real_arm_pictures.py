"""Pictures of what joints, motors, offsets, bodies and tapers do to frequencies, for docs/real-arms.md.

``python -m benchmarks.studies.real_arm_pictures --out results/real_arms``
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from benchmarks.result_files import made_folder
from jaxmodal import examples
from jaxmodal.arm.arm import Arm, Link
from jaxmodal.arm.sections import rectangle
from jaxmodal.arm.segments import attach_body, tapered
from jaxmodal.frequencies.one_arm import natural_frequencies
from jaxmodal.frequencies.tapers import tapered_frequencies
from jaxmodal.modes.mode_shapes import mode_shapes
from jaxmodal.modes.planar_shapes import ModeShapes
from sweeps.definition.axes import axis, geomspace, linspace, zipped
from sweeps.definition.errors import SweepError
from sweeps.definition.sweep import Sweep
from sweeps.plots.style import line_look, new_figure, save, style
from sweeps.store.run import run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: motor on a joint of the industrial arm, as in docs/real-arms.md
MOTOR = {
    "joint_stiffness": 1e6,
    "stator_mass": 12.0,
    "stator_inertia": 0.05,
    "rotor_inertia": 4e-4,
    "gear_ratio": 120.0,
    "motor": "beyond_spring",
}
_MODES = 4
#: pieces of the tapered link of the convergence picture
_PIECES = (2, 4, 8, 16, 32)


def bent_arm() -> Arm:
    """The industrial arm of the paper with joints 2 and 3 at 0.8 rad."""
    return examples.three_link_industrial().with_posture([0.8, 0.8])


def joints_picture() -> Figure:
    """Frequencies over the stiffness of springs along and across every joint, and over the ratio of gears."""
    stiff = {"joint_axial_stiffness": np.inf, "joint_shear_stiffness": np.inf}
    springs = _with_each(bent_arm(), stiff)
    geared = _with_each(bent_arm(), MOTOR, first=1)
    with style():
        figure = new_figure(9.0, 3.6)
        left, right = figure.subplots(1, 2)
        for number, (name, dashes) in enumerate((("shear", "-"), ("axial", "--"))):
            along = geomspace(f"link*.joint_{name}_stiffness", 1e4, 1e10, 49, name="stiffness")
            ds = run(Sweep(springs, [along], num_modes=_MODES))
            _lines(left, ds, "stiffness", linestyle=dashes, label=number == 0)
        left.set_xscale("log")
        left.set_xlabel("springs across (full) and along (dashed) all joints [N/m]")
        both = (linspace(f"link{k}.gear_ratio", 1.0, 300.0, 60) for k in (2, 3))
        gears = zipped(*both, name="gear_ratio")
        ds = run(Sweep(geared, [gears], num_modes=_MODES))
        _lines(right, ds, "link2_gear_ratio")
        right.set_xlabel("gear ratio of the motors in joints 2 and 3")
        _finished(figure, left, "Springs in bearings; rotors behind gears")
    return figure


def offsets_picture() -> Figure:
    """Two modes of the industrial arm, its upper arm on the axis of its joint and beside it."""
    arm = bent_arm()
    beside = arm.links[1].replace(base_offset_x=0.1, base_offset_y=0.3)
    shifted = arm.replace(links=(arm.links[0], beside, arm.links[2]))
    from jaxmodal.plots.bent_arms import draw_mode

    with style():
        figure = new_figure(9.0, 3.0)
        panels = figure.subplots(1, 4)
        for column, (drawn, name) in enumerate(((arm, "on the axis"), (shifted, "beside it"))):
            shapes = mode_shapes(drawn, 2)
            for mode in (0, 1):
                panel = panels[2 * mode + column]
                draw_mode(panel, shapes, mode, sign=_sign(shapes, mode))
                panel.set_title(f"{mode + 1}, {name}: {float(shapes.frequencies_hz[mode]):.4g} Hz")
        limits = [(panel.get_xlim(), panel.get_ylim()) for panel in panels]
        for panel in panels:
            panel.set_xlim(min(x[0] for x, _ in limits), max(x[1] for x, _ in limits))
            panel.set_ylim(min(y[0] for _, y in limits), max(y[1] for _, y in limits))
        figure.suptitle("Link 2 on its joint, and beginning 0.1 m along and 0.3 m beside it")
    return figure


def bodies_picture() -> Figure:
    """Frequencies over the place of the payload's centre of gravity, and over that of a motor along a link."""
    arm = bent_arm()
    held = arm.with_payload(mass=20.0, inertia=0.4, centre_x=0.2, centre_y=0.0)
    length = float(arm.links[1].length)
    carrying = attach_body(arm, 2, 0.5 * length, mass=30.0, inertia=0.3, centre_y=0.1)
    with style():
        figure = new_figure(9.0, 3.6)
        left, right = figure.subplots(1, 2)
        ds = run(Sweep(held, [linspace("payload.centre_y", -0.6, 0.6, 61)], num_modes=_MODES))
        on_axis = ds.frequency.sel(payload_centre_y=0.0, method="nearest")
        _lines(left, ds, "payload_centre_y", on_axis)
        left.set_xlabel("centre of gravity of the payload beside the axis [m]")
        place = np.linspace(0.02, 0.98, 49) * length
        along = zipped(
            axis("link2.length", place), axis("link3.length", length - place), name="position"
        )
        ds = run(Sweep(carrying, [along], num_modes=_MODES))
        without = xr.DataArray(_frequencies(arm, _MODES), {"mode": ds.mode}, "mode")
        _lines(right, ds, "link2_length", without)
        right.set_xlabel("place of a motor of 30 kg along link 2 [m]")
        right.set_ylabel("frequency over that without it")
        _finished(figure, left, "A payload off the axis; a body along a link")
        left.set_ylabel("frequency over that on the axis")
    return figure


def tapers_picture() -> Figure:
    """Errors of a tapered cantilever's first frequency over the number of pieces; frequencies over the taper."""
    link = Link(1.0, 7e10, 2700.0, rectangle(0.08, 0.05, 0.85), poisson_ratio=0.34)

    def build(share: float) -> Callable[[int, str], Arm]:
        tip = rectangle(0.08 * share, 0.05, 0.85)
        return lambda pieces, bound: Arm(tapered(link, tip, pieces, bound))

    shares = np.linspace(0.3, 1.0, 15)
    with style():
        figure = new_figure(9.0, 3.6)
        left, right = figure.subplots(1, 2)
        _convergence(left, build(0.5))
        curves = np.array([_frequencies(build(share)(16, "middle"), 3) for share in shares])
        for mode, values in enumerate(curves.T):
            right.semilogy(shares, values, label=f"mode {mode + 1}", **line_look(mode))
        right.set_xlabel("depth at the tip over that at the base")
        right.set_ylabel("frequency [Hz]")
        right.legend(fontsize=8)
        figure.suptitle("A cantilever that tapers in depth")
    return figure


def _convergence(panel: Axes, build: Callable[[int, str], Arm]) -> None:
    best = tapered_frequencies(build, 1, tolerance=1e-12, pieces=16, max_pieces=64)
    pieces = np.array(_PIECES)
    for number, bound in enumerate(("lower", "upper", "middle")):
        values = np.array([_frequencies(build(count, bound), 1)[0] for count in _PIECES])
        distance = np.abs(2.0 * np.pi * values / best.omega[0] - 1.0)
        panel.loglog(pieces, distance, "o", markersize=4, label=bound, **line_look(number))
        if bound == "middle":
            middle = values
    further = (4.0 * middle[1:] - middle[:-1]) / 3.0
    distance = np.abs(2.0 * np.pi * further / best.omega[0] - 1.0)
    look = line_look(3) | {"linestyle": "-"}
    panel.loglog(pieces[1:], distance, "o", markersize=4, label="extrapolated", **look)
    panel.set_xticks(pieces, [str(count) for count in pieces])
    panel.minorticks_off()
    panel.set_xlabel("segments")
    panel.set_ylabel("relative error of frequency 1")
    panel.legend(fontsize=8)


def _frequencies(arm: Arm, num_modes: int) -> NDArray[np.float64]:
    return np.asarray(natural_frequencies(arm, num_modes).frequencies_hz)


def _with_each(arm: Arm, values: dict[str, Any], first: int = 0) -> Arm:
    """The arm with the same values on every link from index ``first``."""
    changed = [link.replace(**values) for link in arm.links[first:]]
    return arm.replace(links=(*arm.links[:first], *changed))


def _sign(shapes: ModeShapes, mode: int) -> float:
    """The sign that moves the tip to the left of the last link."""
    return -1.0 if float(shapes.v[mode, -1, -1]) < 0.0 else 1.0


def _lines(
    panel: Axes,
    ds: xr.Dataset,
    along: str,
    over: xr.DataArray | None = None,
    linestyle: str = "-",
    label: bool = True,
) -> None:
    """A line for each mode: frequencies in Hz on a logarithmic axis, or over those given."""
    if not bool(ds.certified.all()):
        raise SweepError(f"{along}: not every frequency of the picture is certified.")
    for number, mode in enumerate(ds.mode.values):
        look = line_look(number) | {"linestyle": linestyle}
        name = f"mode {mode}" if label else None
        values = ds.frequency if over is None else ds.frequency / over
        panel.plot(ds[along].values, values.sel(mode=mode).values, label=name, **look)
    if over is None:
        panel.set_yscale("log")


def _finished(figure: Figure, panel: Axes, title: str) -> None:
    panel.set_ylabel("frequency [Hz]")
    figure.legend(*panel.get_legend_handles_labels(), loc="outside lower center", ncols=_MODES)
    figure.suptitle(title)


PICTURES: dict[str, Callable[[], Figure]] = {
    "joints": joints_picture,
    "offsets": offsets_picture,
    "bodies": bodies_picture,
    "tapers": tapers_picture,
}


def write_pictures(folder: str | Path, names: Sequence[str] = tuple(PICTURES)) -> None:
    """Draw the pictures and write them as PNG.

    Parameters
    ----------
    folder
        Where to write; made if missing.

    Raises
    ------
    SweepError
        If matplotlib is missing or a file cannot be written.
    """
    folder = made_folder(folder)
    for name in names:
        save(PICTURES[name](), folder / f"{name}.png")


if __name__ == "__main__":
    import jax

    jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]  # before any array
    parser = argparse.ArgumentParser(description="Draw the pictures of docs/real-arms.md.")
    parser.add_argument("--out", type=Path, required=True, help="folder of the pictures")
    parser.add_argument("--only", nargs="*", default=list(PICTURES), choices=list(PICTURES))
    options = parser.parse_args()
    write_pictures(options.out, options.only)
