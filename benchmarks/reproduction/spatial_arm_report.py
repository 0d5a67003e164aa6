"""Plots and report of `spatial_arm_motions`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.reproduction import spatial_arm_motions as motions
from benchmarks.reproduction.report import markdown_table
from benchmarks.reproduction.spatial_arm_motions import Fall, SpunUp
from jaxmodal.plots.figures import COLOURS, finished, new_figure
from jaxmodal.plots.motions import plot_motion

if TYPE_CHECKING:
    import xarray

#: runs that `spatial_arms` makes: both beams at every rate, each rotor, and the station that floats
RUNS = 2 * len(motions.RATES) + len(motions.ROTORS) + 1


def spatial_arms(folder: Path, advance: Callable[[], None]) -> tuple[str, bool]:
    """Simulate and plot into a folder; return the section of the report, and whether all stated features are shown."""
    with_it: list[SpunUp] = []
    without: list[SpunUp] = []
    falls: list[Fall] = []
    for rate in motions.RATES:
        for found, shortened in ((with_it, True), (without, False)):
            found.append(motions.spun_up(rate, shortened))
            advance()
    for rotor in motions.ROTORS:
        falls.append(motions.dropped(rotor))
        advance()
    _draw_beams(with_it, without, folder / "spinning_beam.png")
    plot_motion(
        falls[1].motion,
        folder / "station_arm.png",
        panels=("joints", "end_deflections", "tip", "energies"),
        title="Station arm dropped in gravity, motors free",
    )
    afloat = motions.floating()
    advance()
    _draw_floating(afloat, folder / "station_arm_floating.png")
    said = _statements(with_it, without, falls)
    shown = all(holds for _, _, holds in said)
    return _section(said, with_it, without, falls, afloat), shown


def _statements(
    with_it: Sequence[SpunUp], without: Sequence[SpunUp], falls: Sequence[Fall]
) -> list[tuple[str, str, bool]]:
    """Statements of the text, the measured values, and whether each holds."""
    apart = [b.peak / a.peak - 1.0 for a, b in zip(with_it, without, strict=True)]
    bounded = [bool(np.isfinite(run.peak)) for run in with_it]
    lost = [run.rate for run in without if not np.isfinite(run.peak)]
    twists = np.array([fall.twist for fall in falls])
    return [
        (
            "at 0.6 and 2 rad/s the models differ, and the more the faster",
            f"largest deflections differ by {100 * apart[0]:.1f} % and {100 * apart[1]:.0f} %",
            0.0 < apart[0] < apart[1],
        ),
        (
            "at 3 rad/s, near the first frequency, the high-order model converges and the other diverges",
            f"{with_it[2].peak:.3f} m, {'no' if not np.isfinite(without[2].peak) else 'an'} end without shortening",
            bounded[2] and not np.isfinite(without[2].peak),
        ),
        (
            "at 8 and 10 rad/s the zero-order model gives nothing that converges",
            f"none without shortening at {', '.join(f'{rate:g}' for rate in lost)} rad/s",
            all(bounded) and {8.0, 10.0} <= set(lost),
        ),
        (
            "heavier joints turn more against their springs",
            "every joint's largest twist grows with the rotor",
            bool(np.all(np.diff(twists, axis=0) > 0.0)),
        ),
    ]


def _section(
    said: Sequence[tuple[str, str, bool]],
    with_it: Sequence[SpunUp],
    without: Sequence[SpunUp],
    falls: Sequence[Fall],
    afloat: xarray.Dataset,
) -> str:
    statements = markdown_table(
        ("the text says", "measured", "shown"),
        [(what, value, "yes" if holds else "no") for what, value, holds in said],
    )
    beams = markdown_table(
        (
            "rate [rad/s]",
            "largest deflection [m]",
            "left after the spin-up [mm]",
            "without shortening [m]",
        ),
        [
            (
                f"{a.rate:g}",
                f"{a.peak:.3f}",
                f"{1e3 * a.left:.1f}",
                f"{b.peak:.3f}" if np.isfinite(b.peak) else "grows without end",
            )
            for a, b in zip(with_it, without, strict=True)
        ],
    )
    twists = markdown_table(
        ("rotor at the joint [kg m²]", "largest twist of joints 1 to 7 [mrad]"),
        [(f"{fall.rotor:g}", ", ".join(f"{1e3 * x:.1f}" for x in fall.twist)) for fall in falls],
    )
    turned = 2.0 * np.degrees(
        np.arccos(np.clip(abs(afloat["base_quaternion"].values[-1, 0]), 0, 1))
    )
    away = np.linalg.norm(afloat["base_position"].values[-1])
    momenta = [float(np.abs(afloat[f"{x}_momentum"].values).max()) for x in ("linear", "angular")]
    return f"""\
## A beam spun up and the arm of a space station

From the paper on n flexible links and n flexible joints in space.

{statements}

{beams}

{twists}

The same arm on a station of 20 t that floats: its motors turn from rest to rest in {motions.MOVE:g} s, which turns the
station by {turned:.1f} degrees and moves it by {away:.2f} m. Both momenta, 0 at the start, stay {_below(max(momenta))}.

### What was chosen where the text leaves it open

{motions.CHOICES}"""


def _below(value: float) -> str:
    """Text of an upper bound that is the same on every machine."""
    return "below 1e-6 kg m/s and kg m²/s" if value < 1e-6 else f"below {value:.0e}"


def _draw_beams(with_it: Sequence[SpunUp], without: Sequence[SpunUp], path: Path) -> None:
    figure = new_figure(10.0, 3.6)
    panels = figure.subplots(1, 2)
    titles = "with shortening by bending", "without"
    for axes, runs, title in zip(panels, (with_it, without), titles, strict=True):
        for k, run in enumerate(runs):
            shown = np.where(np.abs(run.deflection) < 1.5, run.deflection, np.nan)
            axes.plot(
                motions.TIMES,
                shown,
                color=COLOURS[k % len(COLOURS)],
                linewidth=1.2,
                label=f"{run.rate:g} rad/s",
            )
        axes.set_ylim(-1.5, 0.5)
        axes.set_title(title, fontsize=10)
        axes.set_xlabel("time [s]")
        axes.set_ylabel("deflection of the tip [m]")
        axes.grid(color="0.9", linewidth=0.6)
    panels[0].legend(fontsize=8, frameon=False)
    finished(figure, path, "A beam of 8 m spun up in 15 s")


def _draw_floating(motion: xarray.Dataset, path: Path) -> None:
    figure = new_figure(10.0, 3.6)
    joints, base = figure.subplots(1, 2)
    time = motion["time"].values
    angles = np.degrees(motion["joint_angle"].values)
    for k in np.flatnonzero(np.ptp(angles, axis=0) > 1.0):
        joints.plot(time, angles[:, k] - angles[0, k], linewidth=1.2, label=f"joint {k + 1}")
    joints.set_ylabel("turned by [°]")
    joints.legend(fontsize=8, frameon=False)
    rotation = motion["base_quaternion"].values
    part = rotation[:, 1:] * np.sign(rotation[:, :1])
    base.plot(
        time,
        np.degrees(2.0 * np.arcsin(np.clip(part, -1.0, 1.0))),
        linewidth=1.2,
        label=["x", "y", "z"],
    )
    base.set_ylabel("station turned about [°]")
    base.legend(fontsize=8, frameon=False)
    for axes in (joints, base):
        axes.set_xlabel("time [s]")
        axes.grid(color="0.9", linewidth=0.6)
    finished(figure, path, "The station arm moves, and its station with it")
