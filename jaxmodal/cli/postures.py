"""The command ``jaxmodal postures``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import click
import numpy as np

from jaxmodal.cli.addressed import in_si, range_option
from jaxmodal.cli.arguments import (
    ARM_HELP,
    BadInput,
    Number,
    Posture,
    end_unless,
    format_option,
    load_vibrating_arm,
    posed,
    posture_option,
    refusing,
    theory_option,
)
from jaxmodal.cli.output import print_json
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.runtime.namespace import to_host
from jaxmodal.runtime.tables import csv_text

if TYPE_CHECKING:
    from jaxmodal.spatial.arms.arm import AnyArm

#: the least and the largest value of something
Range = tuple[float, float]
turning_posture_option = posture_option(", of the joints that do not turn.")


def joint_or_address(given: str) -> int | str:
    """Return what an option of a joint says: its number, or an address."""
    return int(given) if given.isascii() and given.isdigit() else given


def _limits(arm: AnyArm, joint: int | str, ranges: dict[str, Range] | None) -> Range | None:
    """Return the range of the value of ``--joint`` in SI units, of which some values need one."""
    from jaxmodal.arm.addresses import resolve_address
    from jaxmodal.postures.unknowns import needs_limits, quantity_given

    if isinstance(joint, str):
        quantity = quantity_given(arm, joint)
        if not ranges and needs_limits(quantity):
            raise BadInput(
                f"--joint {joint}: its least and its largest value are needed; give them, such as --range {joint}=0,1."
            )
    limits = None
    for address, ends in (in_si("--range", arm, ranges) or {}).items():
        singles = resolve_address(arm, address)
        if not isinstance(joint, str) or singles != resolve_address(arm, joint):
            raise BadInput(
                f"--range {address}: is not that of --joint {joint}; leave it out, or give --joint {address}."
            )
        limits = ends
    return limits


joint_option = click.option(
    "--joint",
    metavar="JOINT|ADDRESS",
    default="2",
    show_default=True,
    callback=lambda _context, _option, given: joint_or_address(given),
    help="The joint at the base of this link turns; or the mass or spring that varies, such as payload.mass.",
)


@click.command(epilog=ARM_HELP)
@click.argument("argument", metavar="ARM")
@click.option("--frequency", "hertz", type=Number(), required=True, help="Natural frequency, Hz.")
@joint_option
@range_option(
    "Least and largest value of an address given to --joint, SI units; a gear ratio and a component of an inertia "
    "tensor need them."
)
@turning_posture_option
@theory_option
@format_option()
def postures(
    argument: str,
    hertz: float,
    joint: int | str,
    ranges: dict[str, Range] | None,
    posture_deg: Posture | None,
    theory: TheoryName,
    output_format: str,
) -> None:
    """Find all angles of one joint, or values of a mass or a spring, at which an ARM has a given natural frequency.

    Exit status: 0 if everything found is certified (or there is none), 1 if some are not, 2 for bad input.
    """
    from jaxmodal.postures.inverse import postures_at
    from jaxmodal.postures.inverse_results import postures_table
    from jaxmodal.postures.readings import as_read
    from jaxmodal.runtime.statuses import Status

    arm = posed(load_vibrating_arm(argument), argument, posture_deg)
    if not (math.isfinite(hertz) and hertz > 0.0):
        raise BadInput(f"--frequency {hertz}: expected a frequency above 0, in Hz.")
    with refusing(argument):
        limits = _limits(arm, joint, ranges)
        found = to_host(
            postures_at(arm, 2.0 * math.pi * hertz, joint, theory=theory, limits=limits)
        )
    named = "value" if isinstance(joint, str) else "angle_deg"
    rows = [
        {
            "joint": joint,
            named: float(as_read(joint, found.value[k])),
            "mode": int(found.mode[k]),
            "status": Status(int(found.status[k])).name,
        }
        for k in np.flatnonzero(np.asarray(found.found))
    ]
    if output_format == "json":
        print_json(rows)
    elif output_format == "csv":
        headings = ("joint", named, "mode", "status")
        click.echo(csv_text(headings, [list(row.values()) for row in rows]), nl=False)
    else:
        what, does = f"angles of joint {joint}", f"whatever joint {joint} does"
        if isinstance(joint, str):
            what, does = f"values of {joint}", "in this posture"
        title = f"{arm.name or argument} ({theory}): {what} with {hertz:g} Hz"
        click.echo(postures_table(found, title).text())
        if not rows:
            nothing = "value" if isinstance(joint, str) else "posture"
            click.echo(f"no {nothing} has this frequency, {does}")
    end_unless(found.ok)
