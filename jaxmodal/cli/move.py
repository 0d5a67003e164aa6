"""The command ``jaxmodal move``: vibration that a move of the joints excites and leaves, and moves that leave less."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np

from jaxmodal.cli.arguments import (
    ARM_HELP,
    NumberRange,
    WholeRange,
    end_unless,
    format_option,
    load_vibrating_arm,
    modes_of,
    refusing,
    several_numbers,
    theory_option,
)
from jaxmodal.cli.loads import gravity_option
from jaxmodal.cli.output import print_rows
from jaxmodal.cli.paths import file_option, force_option, picture_option, save_picture
from jaxmodal.cli.quiet_moves import LimitOptions, Shaping, compared, quickened, shaped
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.runtime import limits

#: default number of modes
_USUAL = 6


@click.command(epilog=ARM_HELP)
@click.argument("argument", metavar="ARM")
@click.argument("file", metavar="MOVE")
@click.option("--modes", type=WholeRange(1, limits.MODES), show_default=str(_USUAL))
@click.option(
    "--damping-ratio",
    type=NumberRange(min=0.0, max=1.0, max_open=True),
    default=0.0,
    show_default=True,
    help="Damping ratio of all modes.",
)
@gravity_option(
    "Gravity, m/s^2 along the axes of the ground.  [default: none]",
    ": give m/s^2 along the axes of the ground, such as 0,-9.81 or 0,0,-9.81.",
)
@click.option(
    "--postures",
    type=WholeRange(min=1),
    default=33,
    show_default=True,
    help="In how many postures of the way the modes are computed.",
)
@click.option(
    "--shape",
    "kind",
    type=click.Choice(["zv", "zvd", "ei", "wide", "s_curve"]),
    help="Shape the move so that it leaves little: see docs/moves.md.",
)
@click.option(
    "--compare", is_flag=True, help="Compare all kinds of shaping, and the delay of each."
)
@click.option(
    "--left",
    type=NumberRange(min=0.0, max=1.0, min_open=True, max_open=True),
    default=0.03,
    show_default=True,
    help="Share of the unshaped vibration that --shape wide may leave.",
)
@click.option(
    "--payload-error",
    type=NumberRange(min=0.0, max=1.0, max_open=True),
    default=0.0,
    show_default=True,
    help="Share by which the payload may be heavier or lighter.",
)
@click.option(
    "--stiffness-error",
    type=NumberRange(min=0.0, max=1.0, max_open=True),
    default=0.0,
    show_default=True,
    help="Share by which all stiffnesses may be greater or less.",
)
@click.option(
    "--shape-modes",
    metavar="K,K,...",
    callback=several_numbers(
        " is no list of modes; give whole numbers from 1 with commas between, such as 1,2.",
        lambda *values: all(value >= 1.0 and value == int(value) for value in values),
    ),
    help="Modes to shape the move for.  [default: those that leave much]",
)
@click.option(
    "--speed",
    type=NumberRange(min=0.0, min_open=True),
    help="Stretch the move to the shortest time in which no joint is faster, deg/s.",
)
@click.option(
    "--acceleration",
    type=NumberRange(min=0.0, min_open=True),
    help="The same, for accelerations in deg/s^2.",
)
@click.option(
    "--torque",
    type=NumberRange(min=0.0, min_open=True),
    help="The same, for torques of the rigid arm behind the gears, N m.",
)
@click.option(
    "--left-mm",
    type=NumberRange(min=0.0, min_open=True),
    help="The same, for what is left at the tip, mm, all modes added.",
)
@theory_option
@format_option()
@picture_option(
    "--plot",
    remark="Draw frequencies along the way, the modes during the move and the tip after it into this file: .png, .pdf "
    "or .svg.",
)
@file_option(
    "--out",
    remark="Write the shaped or stretched move as CSV, the time in s and angles in degrees (.csv).",
    suffixes=(".csv",),
    new=True,
)
@click.option(
    "--sample-time",
    type=NumberRange(min=0.0, min_open=True),
    default=0.001,
    show_default=True,
    help="Time from row to row of --out, s.",
)
@file_option(
    "--settings",
    remark="Write the shaper for a controller: impulses, bands, limits (.json), or Klipper's input_shaper (.cfg).",
    suffixes=(".json", ".cfg"),
    new=True,
)
@force_option
def move(
    argument: str,
    file: str,
    modes: int | None,
    damping_ratio: float,
    gravity: tuple[float, ...] | None,
    postures: int,
    kind: str | None,
    compare: bool,
    left: float,
    payload_error: float,
    stiffness_error: float,
    shape_modes: tuple[float, ...] | None,
    speed: float | None,
    acceleration: float | None,
    torque: float | None,
    left_mm: float | None,
    out: Path | None,
    sample_time: float,
    settings: Path | None,
    theory: TheoryName,
    output_format: str,
    plot: Path | None,
) -> None:
    """Vibration that a MOVE excites in an ARM, and what is left of it at the tip after the stop.

    MOVE is a CSV file: the time in s and the angle of each joint in degrees, a row for each time; the motors follow the
    spline through them, from rest to rest. Frequencies along the way are certified. --shape and --compare make moves
    that leave less, --speed, --acceleration, --torque and --left-mm the quickest copy of the move, stretched in time.

    Exit status: 0 when all frequencies are certified, 1 when one is not, 2 for bad input.
    """
    from jaxmodal.cli.compiling import late_progress
    from jaxmodal.moves.files import read_move
    from jaxmodal.moves.vibration import move_vibration

    arm = load_vibrating_arm(argument)
    wanted = min(_USUAL, modes_of(arm, None)) if modes is None else modes
    with refusing():
        path = read_move(file, len(arm.joints))
    title = f"{arm.name or argument} ({theory})"
    common: dict[str, Any] = {
        "num_modes": wanted,
        "theory": theory,
        "damping_ratio": damping_ratio,
        "gravity": gravity,
        "num_postures": postures,
    }
    limits_given = LimitOptions(speed, acceleration, torque, left_mm)
    shaping = Shaping(
        kind, left, payload_error, stiffness_error, shape_modes, out, sample_time, settings, plot
    )
    shaping.check(compare, limits_given)
    if compare or kind is not None or limits_given.some:
        solving = "postures solved" + ", then durations tried" * limits_given.some
        with refusing(argument), late_progress(solving) as advance:
            common["progress"] = advance
            if compare:
                done = compared(arm, path, shaping, common)
            elif limits_given.some:
                done = quickened(arm, path, shaping, limits_given, common)
            else:
                done = shaped(arm, path, shaping, common)
        done.show(shaping, output_format, title)
        return
    with refusing(argument), late_progress("postures solved") as advance:
        found = move_vibration(arm, path, progress=advance, **common)
    hertz = found.omega / (2.0 * np.pi)
    headings = ("mode", "stop_hz", "lowest_hz", "highest_hz", "certified", "left_mm")
    rows = [
        (
            k + 1,
            float(hertz[-1, k]),
            float(hertz[:, k].min()),
            float(hertz[:, k].max()),
            bool(found.certified[:, k].all()),
            float(found.amplitudes_mm[k]),
        )
        for k in range(hertz.shape[1])
    ]
    print_rows(output_format, headings, rows, found)
    if plot is not None:
        from jaxmodal.plots.moves import plot_move

        save_picture("--plot", plot, lambda place: plot_move(found, place, title))
    end_unless(found.certified)
