"""The command ``jaxmodal worst``: the lowest and highest frequency of a mode over the workspace, with the postures."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from jaxmodal.cli.addressed import in_si, range_option
from jaxmodal.cli.arguments import (
    ARM_HELP,
    BadInput,
    Number,
    NumberRange,
    WholeRange,
    digits_option,
    end_unless,
    format_option,
    load_vibrating_arm,
    posed,
    posture_option,
    refusing,
    theory_option,
)
from jaxmodal.cli.output import lists, print_json
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.runtime import limits
from jaxmodal.runtime.tables import csv_text

if TYPE_CHECKING:
    from jaxmodal.workspace.results import Extremes, ShareBelow


@click.command(epilog=ARM_HELP)
@click.argument("argument", metavar="ARM")
@click.option("--mode", type=WholeRange(1, limits.MODES), default=1, show_default=True)
@range_option(
    "Range of a parameter: degrees for angles, else SI units; more than once for several. By default every joint "
    "turns within its limits, or through a whole turn without limits."
)
@click.option(
    "--payload",
    type=NumberRange(min=0.0),
    metavar="KG",
    help="Mass at the tip, instead of the payload.",
)
@click.option(
    "--below",
    type=Number(),
    metavar="HZ",
    help="Also estimate the share of the ranges in which the mode lies below.",
)
@click.option("--starts", type=WholeRange(1, 1_000_000), default=1024, show_default=True)
@posture_option(", of joints without a range.")
@theory_option
@format_option()
@digits_option
def worst(
    argument: str,
    mode: int,
    ranges: dict[str, tuple[float, float]] | None,
    payload: float | None,
    below: float | None,
    starts: int,
    posture_deg: tuple[float, ...] | None,
    theory: TheoryName,
    output_format: str,
    digits: int,
) -> None:
    """Find the lowest and highest frequency of a mode of an ARM over joint ranges, with the postures.

    The frequencies at these postures are certified. It is not proved that no other posture has a lower or higher one;
    the starting postures and the results of the best searches are listed.

    Exit status: 0 if both frequencies are certified, 1 if one is not, 2 for bad input.
    """
    from jaxmodal.workspace.extremes import extremes
    from jaxmodal.workspace.shares import share_below

    arm = posed(load_vibrating_arm(argument), argument, posture_deg)
    if below is not None and not (math.isfinite(below) and below > 0.0):
        raise BadInput(f"--below {below}: expected a frequency above 0, in Hz.")
    with refusing(argument):
        inside = in_si("--range", arm, ranges)
        found = extremes(arm, inside, mode, theory=theory, payload=payload, starts=starts)
        share = (
            None
            if below is None
            else share_below(
                arm, 2.0 * math.pi * below, inside, mode, theory=theory, payload=payload
            )
        )
    if output_format == "json":
        print_json(_plain(argument, found, share))
    elif output_format == "csv":
        click.echo(_csv(found), nl=False)
    else:
        number = len(found.addresses)
        over = f"mode {mode} over {number} range{'s' * (number > 1)}"
        title = f"{arm.name or argument} ({theory}): {over}"
        click.echo("\n".join(table.text() for table in found.tables(title, digits)))
    if share is not None and output_format != "json":
        click.echo(str(share), err=output_format == "csv")
    end_unless(found.certified)


def _plain(argument: str, found: Extremes, share: ShareBelow | None) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "arm": argument,
        "theory": found.theory,
        "mode": found.mode,
        "ranges": dict(zip(found.addresses, found.ranges.tolist(), strict=True)),
    }
    for name in ("lowest", "highest"):
        side = getattr(found, name)
        entry[name] = {
            "frequency_hz": side.frequency_hz,
            "certified": side.certified,
            "values": dict(zip(found.addresses, side.values.tolist(), strict=True)),
            "reached_hz": (side.reached / (2.0 * math.pi)).tolist(),
        }
    hertz = found.starts / (2.0 * math.pi)
    known = hertz[np.isfinite(hertz)]
    entry["starts"] = {
        "number": int(hertz.size),
        "certified": int(known.size),
        "lowest_hz": float(known.min()),
        "median_hz": float(np.median(known)),
        "highest_hz": float(known.max()),
    }
    entry["proved_over_all_of_the_ranges"] = False
    if share is not None:
        entry["share_below"] = {
            "hz": share.omega / (2.0 * math.pi),
            "share": share.share,
            "standard_error": share.error,
            "interval_95": list(share.interval),
            **lists(share, "below", "certified", "samples"),
        }
    return entry


def _csv(found: Extremes) -> str:
    sides: Mapping[str, Any] = {"lowest": found.lowest, "highest": found.highest}
    headings = ("side", "mode", "frequency_hz", "certified", *found.addresses)
    rows = [
        (name, found.mode, side.frequency_hz, side.certified, *side.values.tolist())
        for name, side in sides.items()
    ]
    return csv_text(headings, rows)
