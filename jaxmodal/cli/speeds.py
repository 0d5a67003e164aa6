"""The command ``jaxmodal speeds``: joint speeds at which gears and motors excite a mode."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from jaxmodal.cli.addressed import in_si, range_option
from jaxmodal.cli.arguments import (
    ARM_HELP,
    BadInput,
    NumberRange,
    Posture,
    WholeRange,
    ascii_number,
    end_unless,
    format_option,
    load_vibrating_arm,
    modes_of,
    posed,
    posture_option,
    refusing,
    theory_option,
)
from jaxmodal.cli.output import print_rows
from jaxmodal.cli.paths import picture_option, save_picture
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.runtime import limits

if TYPE_CHECKING:
    from jaxmodal.moves.orders import Order

#: default number of modes
_USUAL = 4


def _orders(
    ctx: click.Context, param: click.Parameter, given: tuple[str, ...]
) -> tuple[tuple[int | str, float, str], ...]:
    """Return joint, pulses per turn and name of each option --order."""
    found = []
    for text in given:
        joint, _, rest = text.partition(":")
        number, _, name = rest.partition(":")
        times, cross, ratio = number.partition("x")
        try:
            pushes = ascii_number(times) * (ascii_number(ratio) if cross else 1.0)
        except ValueError:
            pushes = float("nan")
        if not joint or not (np.isfinite(pushes) and pushes > 0.0):
            raise click.BadParameter(
                f"{text!r}: give JOINT:PUSHES or JOINT:PUSHESxRATIO, and :NAME if it has one: 2:81:teeth, or "
                "2:2x100:generator for twice a turn before a gear of 100.",
                ctx,
                param,
            )
        found.append((int(joint) if joint.isdecimal() and joint.isascii() else joint, pushes, name))
    return tuple(found)


@click.command(epilog=ARM_HELP)
@click.argument("argument", metavar="ARM")
@click.option(
    "--order",
    "orders",
    metavar="JOINT:PUSHES[xRATIO][:NAME]",
    multiple=True,
    required=True,
    callback=_orders,
    help="An order: the joint, by number or name, and pulses per turn of it; 2x100 is twice per turn of a part that "
    "turns 100 times as fast. More than once for several.",
)
@click.option(
    "--move",
    "file",
    metavar="MOVE",
    help="A move, as for `jaxmodal move`: find when each order meets a mode during it.",
)
@range_option(
    "Over a range, as for `jaxmodal worst`: degrees for angles; more than once for several."
)
@click.option("--workspace", is_flag=True, help="Over all angles within the limits of the joints.")
@click.option("--modes", type=WholeRange(1, limits.MODES), show_default=str(_USUAL))
@click.option(
    "--margin",
    type=NumberRange(min=0.0, max=1.0, max_open=True),
    default=0.05,
    show_default=True,
    help="Relative distance in frequency within which an order meets a mode.",
)
@posture_option(", where no move and no range is given.")
@theory_option
@format_option()
@picture_option(
    "--plot",
    remark="Draw frequencies over speeds (a Campbell diagram), of a move over time, into this file: .png, .pdf or "
    ".svg.",
)
def speeds(
    argument: str,
    orders: tuple[tuple[int | str, float, str], ...],
    file: str | None,
    ranges: dict[str, tuple[float, float]] | None,
    workspace: bool,
    modes: int | None,
    margin: float,
    posture_deg: Posture | None,
    theory: TheoryName,
    output_format: str,
    plot: Path | None,
) -> None:
    """Find joint speeds of an ARM at which an order of its gears and motors meets a mode.

    For the arm as it stands, in a posture, over ranges of its joints, or along a move. (`jaxmodal campbell` computes
    the frequencies of an arm that rotates itself.)

    Exit status: 0 if all frequencies are certified, 1 if one is not, 2 for bad input.
    """
    from jaxmodal.moves.orders import Order

    ways = [
        name
        for name, wanted in (
            ("--move", file is not None),
            ("--range", ranges is not None),
            ("--workspace", workspace),
            ("--posture-deg", posture_deg is not None),
        )
        if wanted
    ]
    if len(ways) > 1:
        raise BadInput(f"{ways[0]}, {ways[1]}: both choose the postures; give one of them.")
    arm = posed(load_vibrating_arm(argument), argument, posture_deg)
    wanted = min(_USUAL, modes_of(arm, None)) if modes is None else modes
    made = [Order(*order) for order in orders]
    found: Any = _found(argument, arm, made, file, ranges, workspace, wanted, margin, theory)
    headings, rows = found.rows()
    print_rows(output_format, headings, rows, found)
    if plot is not None:
        from jaxmodal.plots.speeds import plot_speeds

        title = f"{arm.name or argument} ({theory})"
        save_picture("--plot", plot, lambda place: plot_speeds(found, place, title))
    end_unless([row[headings.index("certified")] for row in rows])


def _found(
    argument: str,
    arm: Any,
    orders: list[Order],
    file: str | None,
    ranges: dict[str, tuple[float, float]] | None,
    workspace: bool,
    modes: int,
    margin: float,
    theory: TheoryName,
) -> Any:
    from jaxmodal.cli.compiling import late_progress
    from jaxmodal.moves.files import read_move
    from jaxmodal.moves.speeds import crossings_along, speeds_to_avoid

    if file is not None:
        with refusing():
            path = read_move(file, len(arm.joints))
        with refusing(argument), late_progress("postures solved") as advance:
            return crossings_along(
                arm, path, orders, modes, theory=theory, margin=margin, progress=advance
            )
    with refusing(argument):
        inside = {} if workspace else in_si("--range", arm, ranges)
        return speeds_to_avoid(arm, orders, modes, theory=theory, ranges=inside, margin=margin)
