"""The commands ``jaxmodal postures`` and ``jaxmodal resonance-map``."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np

from jaxmodal.cli.addressed import in_si
from jaxmodal.cli.arguments import (
    ARM_HELP,
    EXIT_NOT_ALL,
    BadInput,
    Number,
    Posture,
    WholeNumber,
    WholeRange,
    format_option,
    load_vibrating_arm,
    posed,
    posture_option,
    refusing,
    theory_option,
    two_numbers,
)
from jaxmodal.cli.output import print_json
from jaxmodal.cli.paths import picture_option, writing
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.postures.tables import limited, row_values
from jaxmodal.runtime.namespace import to_host
from jaxmodal.runtime.tables import csv_text

if TYPE_CHECKING:
    from jaxmodal.arm.arm import Arm
    from jaxmodal.postures.resonance_results import ResonanceMap
    from jaxmodal.spatial.arms.arm import SpatialArm

_posture = posture_option(", of the joints that do not turn.")
_joint = click.option(
    "--joint",
    type=WholeNumber(),
    default=2,
    show_default=True,
    help="The joint at the base of this link turns.",
)


@click.command(epilog=ARM_HELP)
@click.argument("argument", metavar="ARM")
@click.option("--frequency", "hertz", type=Number(), required=True, help="Natural frequency, Hz.")
@_joint
@_posture
@theory_option
@format_option()
def postures(
    argument: str,
    hertz: float,
    joint: int,
    posture_deg: Posture | None,
    theory: TheoryName,
    output_format: str,
) -> None:
    """All angles of one joint at which an ARM has a given natural frequency.

    Exit status: 0 when every angle is certified (also when there is none), 1 when some are not, 2
    for bad input.
    """
    from jaxmodal.postures.inverse import postures_at
    from jaxmodal.postures.tables import postures_table
    from jaxmodal.runtime.statuses import Status

    arm = posed(load_vibrating_arm(argument), argument, posture_deg)
    if not (math.isfinite(hertz) and hertz > 0.0):
        raise BadInput(f"--frequency {hertz}: expected a frequency above 0, in Hz.")
    with refusing(argument):
        found = to_host(postures_at(arm, 2.0 * math.pi * hertz, joint, theory=theory))
    rows = [
        {
            "joint": joint,
            "angle_deg": math.degrees(float(found.angle[k])),
            "mode": int(found.mode[k]),
            "status": Status(int(found.status[k])).name,
        }
        for k in np.flatnonzero(np.asarray(found.found))
    ]
    if output_format == "json":
        print_json(rows)
    elif output_format == "csv":
        headings = ("joint", "angle_deg", "mode", "status")
        click.echo(csv_text(headings, [list(row.values()) for row in rows]), nl=False)
    else:
        title = f"{arm.name or argument} ({theory}): angles of joint {joint} with {hertz:g} Hz"
        click.echo(postures_table(found, title).text())
        if not rows:
            click.echo(f"no posture has this frequency, whatever joint {joint} does")
    if not bool(np.asarray(found.certified).sum() == len(rows)):
        raise SystemExit(EXIT_NOT_ALL)


_band = two_numbers(
    " is not a band; give two frequencies above 0 in Hz, such as 40,50.",
    lambda low, high: 0.0 < low < high,
)
_range = two_numbers(
    ": give two numbers, the lower first, such as 0,5.", lambda low, high: low < high
)


def _turning(found: ResonanceMap) -> str:
    """Which joints turn, in words."""
    within = limited(found)
    turns = f", joint {found.joint} turns{' ' * bool(within)}{within}"
    if not found.across:
        return turns
    if isinstance(found.across, str):
        values, heading = row_values(found)
        return f"{turns}, {heading} from {values[0]:g} to {values[-1]:g}"
    if within:
        return f"{turns}, joint {found.across} too"
    return f", joints {found.joint} and {found.across} turn"


def _of_rows(across: str | None) -> int | str | None:
    """The option --across: the number of a joint, or an address."""
    return int(across) if across is not None and across.isascii() and across.isdigit() else across


def _row_ends(
    arm: Arm | SpatialArm, across: int | str | None, values: tuple[float, float] | None
) -> tuple[float, float] | None:
    """The option --values in rad or SI units; angles are given in degrees."""
    if values is None:
        return None
    if not isinstance(across, str):
        return math.radians(values[0]), math.radians(values[1])
    converted = in_si(arm, {across: values})
    assert converted is not None
    return converted[across]


@click.command("resonance-map", epilog=ARM_HELP)
@click.argument("argument", metavar="ARM")
@click.option("--band-hz", metavar="LOW,HIGH", callback=_band, required=True)
@_joint
@click.option(
    "--across",
    metavar="JOINT|ADDRESS",
    help="The other joint of the map, by default the next one; or any parameter, such as payload.mass.",
)
@click.option(
    "--values",
    metavar="LOW,HIGH",
    callback=_range,
    help="From where to where --across goes: degrees for angles, else SI units.",
)
@click.option(
    "--limits-deg",
    metavar="LOW,HIGH",
    callback=_range,
    help="Joint limits: least and largest angle of --joint, degrees from -180 to 180.",
)
@click.option("--points", type=WholeRange(min=2), default=361, show_default=True)
@_posture
@theory_option
@picture_option("--out", remark="Draw the map into this file (.png, .pdf, .svg).")
def resonance_map(
    argument: str,
    band_hz: tuple[float, float],
    joint: int,
    across: str | None,
    values: tuple[float, float] | None,
    limits_deg: tuple[float, float] | None,
    points: int,
    posture_deg: Posture | None,
    theory: TheoryName,
    out: Path | None,
) -> None:
    """Postures of an ARM without a natural frequency in a band, with exact borders.

    Two joints turn, the others keep their angles; of a two-link arm one turns, and the angles to avoid are listed.
    With --across payload.mass --values 0,5 it is a map of one joint and a parameter. Without --out every border is
    listed. Exit status: 0 when every border is certified, 1 when some are not, 2 for bad input.
    """
    from jaxmodal.plots.resonance_maps import plot_resonance_map
    from jaxmodal.postures.resonance_lines import refined
    from jaxmodal.postures.resonance_maps import resonance_free
    from jaxmodal.postures.tables import resonance_tables

    arm = posed(load_vibrating_arm(argument), argument, posture_deg)
    low, high = (2.0 * math.pi * hertz for hertz in band_hz)
    title = f"{arm.name or argument} ({theory})"
    rows = _of_rows(across)
    if limits_deg is not None and max(map(abs, limits_deg)) > 180.0:
        raise BadInput(
            f"--limits-deg {limits_deg[0]:g},{limits_deg[1]:g}: must lie from -180 to 180 degrees, a whole turn."
        )
    limits = None if limits_deg is None else [math.radians(limit) for limit in limits_deg]
    with refusing(argument), writing(f"--out {out}"):
        found = resonance_free(
            *(arm, low, high, joint, rows, points),
            theory=theory,
            values=_row_ends(arm, rows, values),
            limits=limits,
        )
        if out is not None:
            plot_resonance_map(
                *(refined(arm, found), out),
                f"{title}\n{band_hz[0]:g} to {band_hz[1]:g} Hz{_turning(found)}",
            )
    head, borders = resonance_tables(
        found, f"{title}, {band_hz[0]:g} to {band_hz[1]:g} Hz{_turning(found)}"
    )
    click.echo(head.text())
    if out is None and borders.rows:
        click.echo(borders.text())
    if out is not None:
        click.echo(f"wrote {out}", err=True)
    if not found.certified:
        raise SystemExit(EXIT_NOT_ALL)
