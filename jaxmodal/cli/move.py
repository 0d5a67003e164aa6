"""The command ``jaxmodal move``: what a move of the joints excites, and the vibration that it leaves."""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np

from jaxmodal.cli.arguments import (
    ARM_HELP,
    EXIT_NOT_ALL,
    NumberRange,
    WholeRange,
    format_option,
    load_vibrating_arm,
    modes_of,
    refusing,
    several_numbers,
    theory_option,
)
from jaxmodal.cli.output import print_json
from jaxmodal.cli.paths import picture_option, save_picture
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.runtime import limits
from jaxmodal.runtime.tables import csv_text

#: modes that are shown where no number is given
_USUAL = 6


@click.command(epilog=ARM_HELP)
@click.argument("argument", metavar="ARM")
@click.argument("file", metavar="MOVE")
@click.option("--modes", type=WholeRange(1, limits.MODES), show_default=str(_USUAL))
@click.option(
    "--damping",
    type=NumberRange(min=0.0, max=1.0, max_open=True),
    default=0.0,
    show_default=True,
    help="Damping ratio of all modes.",
)
@click.option(
    "--gravity",
    metavar="X,Y[,Z]",
    callback=several_numbers(
        ": give m/s^2 along the axes of the ground, such as 0,-9.81 or 0,0,-9.81."
    ),
    help="Gravity, m/s^2 along the axes of the ground.  [default: none]",
)
@click.option(
    "--postures",
    type=WholeRange(min=1),
    default=33,
    show_default=True,
    help="In how many postures of the way the modes are computed.",
)
@theory_option
@format_option()
@picture_option(
    "--plot",
    remark="Draw frequencies along the way, the modes during the move and the tip after it into this file: .png, .pdf "
    "or .svg.",
)
def move(
    argument: str,
    file: str,
    modes: int | None,
    damping: float,
    gravity: tuple[float, ...] | None,
    postures: int,
    theory: TheoryName,
    output_format: str,
    plot: Path | None,
) -> None:
    """What a MOVE of an ARM excites, and the vibration of the tip that it leaves after the stop.

    MOVE is a CSV file: the time in s and the angle of each joint in degrees, a row for each time; the motors follow the
    spline through them, from rest to rest. Frequencies along the way are certified.

    Exit status: 0 when all frequencies are certified, 1 when one is not, 2 for bad input.
    """
    from jaxmodal.cli.compiling import late_progress
    from jaxmodal.moves.files import read_move
    from jaxmodal.moves.vibration import move_vibration

    arm = load_vibrating_arm(argument)
    wanted = min(_USUAL, modes_of(arm, None)) if modes is None else modes
    with refusing():
        path = read_move(file, len(arm.joints))
    with refusing(argument), late_progress("postures solved") as advance:
        found = move_vibration(
            arm,
            path,
            wanted,
            theory,
            damping_ratio=damping,
            gravity=gravity,
            postures=postures,
            progress=advance,
        )
    if plot is not None:
        from jaxmodal.plots.moves import plot_move

        title = f"{arm.name or argument} ({theory})"
        save_picture("--plot", plot, lambda place: plot_move(found, place, title))
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
    if output_format == "json":
        print_json([dict(zip(headings, row, strict=True)) for row in rows])
    elif output_format == "csv":
        click.echo(csv_text(headings, rows), nl=False)
    else:
        click.echo(str(found))
    if not found.certified.all():
        raise SystemExit(EXIT_NOT_ALL)
