"""The command ``jaxmodal simulate``."""

from __future__ import annotations

import csv
import functools
import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from jaxmodal.cli.arguments import (
    EXIT_NOT_ALL,
    BadInput,
    NumberRange,
    format_option,
    refusing,
)
from jaxmodal.cli.output import print_json, written_files
from jaxmodal.cli.paths import file_option, force_option, picture_option, writing
from jaxmodal.runtime.whole_files import write_whole

if TYPE_CHECKING:
    import xarray


@click.command()
@click.argument("file", metavar="ARM")
@format_option(("table", "json"))
@picture_option(
    "--plot",
    remark="Draw deflections in mm, joints, tip and torques over time, and what was asked for, into this file: .png, "
    ".pdf or .svg.",
)
@picture_option(
    "--animate", remark="Write the arm in motion into this file: .gif.", suffixes=(".gif",)
)
@click.option(
    "--magnify",
    type=NumberRange(min=0.0, min_open=True),
    metavar="TIMES",
    help="How many times --animate magnifies bending, 1 for not at all.  [default: a round number that shows it]",
)
@file_option(
    "--out",
    remark="Write the motion into this file: .csv, or .nc (NetCDF, needs SciPy).",
    suffixes=(".csv", ".nc"),
    new=True,
)
@force_option
def simulate(
    file: str,
    output_format: str,
    plot: Path | None,
    animate: Path | None,
    magnify: float | None,
    out: Path | None,
) -> None:
    """Move an ARM as its table [dynamics] says.

    ARM is a TOML or JSON file with a table [dynamics]; see docs/dynamics.md. Exit status: 0 when the end was
    reached, 1 when not, 2 for bad input.
    """
    from jaxmodal.cli.compiling import late_progress
    from jaxmodal.dynamics.files import read_simulation
    from jaxmodal.spatial.files.robot_files import is_robot

    if magnify is not None and animate is None:
        raise BadInput(f"--magnify {magnify:g}: goes with --animate.")
    netcdf = out is not None and out.suffix.lower() == ".nc"
    if netcdf and importlib.util.find_spec("scipy") is None:
        raise BadInput(
            f"--out {out}: NetCDF needs SciPy, which is not installed; run `pip install scipy`, or give a .csv file."
        )
    if is_robot(file) and Path(file).exists():
        raise BadInput(
            f'{file}: is a robot (a URDF), which says nothing of a motion; write a file with urdf = "{file}", what '
            "gives way, and a table [dynamics], or the arm itself, `jaxmodal convert`, and add that table."
        )
    with refusing():
        wanted = read_simulation(file)
        with late_progress("intervals simulated") as advance:
            motion = wanted.run(advance)
    if output_format == "table":
        for line in summary(motion):
            click.echo(line)
    target = None if plot is None and animate is None else wanted.target()
    if plot is not None:
        from jaxmodal.plots.motions import plot_motion

        bent = ("end_deflections",) if motion.sizes["coordinate"] else ()
        panels = (*bent, "joints", "tip", "torques")
        options: dict[str, Any] = {"panels": panels, "target": target}
        _write("--plot", plot, functools.partial(plot_motion, motion, **options))
    if animate is not None:
        from jaxmodal.plots.motions import animate_motion

        options = {"target": target, "magnified": magnify}
        show = functools.partial(animate_motion, wanted.model, motion, **options)
        _write("--animate", animate, show)
    if out is not None:
        _write("--out", out, functools.partial(_netcdf if netcdf else _csv, motion))
    if output_format == "json":
        print_json(_plain(file, motion, written_files(plot, animate, out)))
    if motion.attrs["status"] != "finished":
        click.echo(f"{motion.attrs['message']}.", err=True)
        raise SystemExit(EXIT_NOT_ALL)


def _plain(file: str, motion: xarray.Dataset, wrote: list[str]) -> dict[str, Any]:
    """Return a summary of a motion for JSON: its end, its largest values and its files."""
    known = np.isfinite(motion["tip_position"].values[:, 0])

    def at_end(name: str) -> list[float] | None:
        return motion[name].values[known][-1].tolist() if name in motion else None

    def largest(name: str) -> list[float]:
        return [float(np.nanmax(np.abs(column))) for column in motion[name].values.T]

    names = ("status", "message", "time_reached", "steps", "method", "energy_balance_error")
    return {
        "arm": file,
        **{name: motion.attrs.get(name) for name in names},
        "joint_angle": at_end("joint_angle"),
        "tip_position": at_end("tip_position"),
        "base_position": at_end("base_position"),
        "largest_end_deflection": largest("end_deflection"),
        "largest_torque": largest("torque"),
        "wrote": wrote,
    }


def summary(motion: xarray.Dataset) -> list[str]:
    """Return a summary of a motion in a few lines."""

    def largest(name: str) -> str:
        rows = np.nanmax(np.abs(motion[name].values), axis=0)
        return ", ".join(f"{value:.6g}" for value in rows)

    known = np.isfinite(motion["tip_position"].values[:, 0])
    tip = motion["tip_position"].values[known][-1]
    places = motion["joint_angle"].values[known][-1]
    turns = np.ones(places.size, bool)
    if "joint_kind" in motion.coords:
        turns = motion["joint_kind"].values == "turns"
    angles = np.where(turns, np.degrees(places), places)
    unit, force = ("deg", "N m") if turns.all() else ("deg or m", "N m or N")
    of_base = []
    if "base_position" in motion:
        place = motion["base_position"].values[known][-1]
        of_base.append(f"base at the end          {', '.join(f'{x:.6f}' for x in place)} m")
    return [
        f"status {motion.attrs['status']}, {motion.attrs['time_reached']:g} s in {motion.attrs['steps']} steps"
        f" of {motion.attrs['method']}",
        f"joint angles at the end  {', '.join(f'{angle:.4f}' for angle in angles)} {unit}",
        f"tip at the end           {', '.join(f'{place:.6f}' for place in tip)} m",
        *of_base,
        f"largest end deflections  {largest('end_deflection')} m",
        f"largest torques          {largest('torque')} {force}",
        f"energy balance           {motion.attrs['energy_balance_error']:.1e} of the largest energy",
    ]


def _write(option: str, out: Path, write: Callable[[Path], Any]) -> None:
    place = f"{option} {out}"
    with writing(place), refusing(place):
        write_whole(out, write)


def _netcdf(motion: xarray.Dataset, path: Path) -> None:
    attributes = {key: value for key, value in motion.attrs.items() if key != "state_reached"}
    motion.drop_attrs(deep=False).assign_attrs(attributes).to_netcdf(path)


def _csv(motion: xarray.Dataset, path: Path) -> None:
    names, columns = _columns(motion)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(np.stack(columns, axis=-1).tolist())


def _columns(motion: xarray.Dataset) -> tuple[list[str], list[Any]]:
    """Return names (with units) and columns over time, one column for each entry of every variable."""
    names, columns = ["time [s]"], [motion["time"].values]
    for name, variable in motion.data_vars.items():
        values, unit = variable.values, variable.attrs["units"]
        if values.ndim == 1:
            names.append(f"{name} [{unit}]")
            columns.append(values)
            continue
        labels = motion[variable.dims[1]].values if variable.dims[1] in motion.coords else None
        for k in range(values.shape[1]):
            label = k + 1 if labels is None else labels[k]
            names.append(f"{name}_{label} [{unit}]")
            columns.append(values[:, k])
    return names, columns
