"""The command ``jaxmodal resonance-map``."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from jaxmodal.cli.addressed import in_si, range_option
from jaxmodal.cli.arguments import (
    ARM_HELP,
    BadInput,
    Posture,
    WholeRange,
    band_option,
    end_unless,
    format_option,
    load_vibrating_arm,
    posed,
    refusing,
    theory_option,
)
from jaxmodal.cli.output import print_json
from jaxmodal.cli.paths import picture_option, save_picture
from jaxmodal.cli.postures import Range, joint_option, joint_or_address, turning_posture_option
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.postures.readings import as_read
from jaxmodal.postures.resonance_results import limited, row_values

if TYPE_CHECKING:
    from jaxmodal.postures.resonance_results import ResonanceMap
    from jaxmodal.spatial.arms.arm import AnyArm


def _turning(found: ResonanceMap) -> str:
    """Return the turning joints and their limits in words."""
    within = limited(found)
    turns = f", joint {found.joint} turns{' ' * bool(within)}{within}"
    if isinstance(found.joint, str):
        turns = f", {found.joint} {within}"
    if not found.across:
        return turns
    if isinstance(found.across, str):
        values, heading = row_values(found)
        return f"{turns}, {heading} from {values[0]:g} to {values[-1]:g}"
    if isinstance(found.joint, str):
        return f"{turns}, joint {found.across} turns"
    if within:
        return f"{turns}, joint {found.across} too"
    return f", joints {found.joint} and {found.across} turn"


def _shared(
    arm: AnyArm,
    joint: int | str,
    across: int | str | None,
    ranges: dict[str, Range] | None,
) -> tuple[Range | None, int | str | None, Range | None]:
    """Return the limits of the joint, the variable of the rows, and its range, in SI units."""
    from jaxmodal.arm.addresses import resolve_address
    from jaxmodal.postures.unknowns import quantity_given

    limits = values = None
    if isinstance(joint, str):
        quantity_given(arm, joint)
    own = across if isinstance(across, str) or across is None else f"link{across}.joint_angle"
    for address, ends in (in_si("--range", arm, ranges) or {}).items():
        singles = resolve_address(arm, address)
        of_joint = joint if isinstance(joint, str) else f"link{joint}.joint_angle"
        if singles == resolve_address(arm, of_joint):
            if limits is not None:
                raise BadInput(
                    f"--range {address}: is that of --joint a second time; give it once."
                )
            limits = ends
            if not isinstance(joint, str) and max(map(abs, ends)) > math.pi * (1.0 + 1e-12):
                low, high = map(math.degrees, ends)
                raise BadInput(
                    f"--range {address}={low:g},{high:g}: must lie from -180 to 180 degrees, a whole turn."
                )
        elif values is None and (own is None or singles == resolve_address(arm, own)):
            values, across = ends, address if across is None else across
        else:
            raise BadInput(
                f"--range {address}: a map has a range of --joint and one of --across, and this is neither; leave it "
                "out, or give it to --across."
            )
    return limits, across, values


@click.command("resonance-map", epilog=ARM_HELP)
@click.argument("argument", metavar="ARM")
@band_option("The band to keep free of natural frequencies, Hz.", required=True)
@joint_option
@click.option(
    "--across",
    metavar="JOINT|ADDRESS",
    help="The other joint of the map, by default the next one; or any parameter, such as payload.mass.",
)
@range_option(
    "Range of --joint, such as theta_2=-150,150, or of --across, such as payload.mass=0,6: "
    "degrees for angles, else SI units; one of each."
)
@click.option(
    "--points", type=WholeRange(min=2), default=361, show_default=True, help="Rows of the map."
)
@turning_posture_option
@theory_option
@format_option(("table", "json"))
@picture_option("--plot", remark="Draw the map into this file (.png, .pdf, .svg).")
def resonance_map(
    argument: str,
    band_hz: Range,
    joint: int | str,
    across: str | None,
    ranges: dict[str, Range] | None,
    points: int,
    posture_deg: Posture | None,
    theory: TheoryName,
    output_format: str,
    plot: Path | None,
) -> None:
    """Find postures of an ARM without a natural frequency in a band, with exact borders.

    Two joints turn and the others keep their angles; for a two-link arm one joint turns, and the angles to avoid are
    listed. With --range payload.mass=0,5 the map is over one joint and a parameter, and with --joint payload.mass
    borders are payloads. Without --plot every border is
    listed. Exit status: 0 if every border is certified, 1 if some are not, 2 for bad input.
    """
    from jaxmodal.plots.resonance_maps import plot_resonance_map
    from jaxmodal.postures.resonance_lines import refined
    from jaxmodal.postures.resonance_maps import resonance_free
    from jaxmodal.postures.resonance_results import resonance_tables

    arm = posed(load_vibrating_arm(argument), argument, posture_deg)
    low, high = (2.0 * math.pi * hertz for hertz in band_hz)
    title = f"{arm.name or argument} ({theory})"
    with refusing(argument):
        limits, rows, values = _shared(arm, joint, across and joint_or_address(across), ranges)
        if isinstance(joint, str) and limits is None:
            raise BadInput(
                f"--joint {joint}: a map has its least and its largest value; give them, such as --range {joint}=0,20."
            )
        found = resonance_free(
            *(arm, low, high, joint, rows, points), theory=theory, values=values, limits=limits
        )
        fine = found if plot is None else refined(arm, found)
    band = f"{band_hz[0]:g} to {band_hz[1]:g} Hz{_turning(found)}"
    if output_format == "json":
        print_json(_plain(argument, found, band_hz))
    else:
        head, borders = resonance_tables(found, f"{title}, {band}")
        click.echo(head.text())
        if plot is None and borders.rows:
            click.echo(borders.text())
    if plot is not None:
        save_picture(
            "--plot", plot, lambda path: plot_resonance_map(fine, path, f"{title}\n{band}")
        )
    end_unless(found.certified)


def _plain(argument: str, found: ResonanceMap, band_hz: Range) -> dict[str, Any]:
    border, mode = as_read(found.joint, found.border), np.asarray(found.border_mode)
    unit = "" if isinstance(found.joint, str) else "_deg"
    inside, free = np.asarray(found.modes_inside), np.asarray(found.free)
    rows = []
    for i, value in enumerate(row_values(found)[0].tolist()):
        known = np.flatnonzero(np.isfinite(border[i]))
        of_band = np.asarray(found.end)[i, known]
        rows.append(
            {
                **({"value": value} if found.across else {}),
                "free": float(free[i]),
                f"border{unit}": border[i, known].tolist(),
                "border_mode": mode[i, known].tolist(),
                "border_hz": [band_hz[end] for end in of_band],
                "modes_inside": inside[i, : known.size + 1].tolist(),
            }
        )
    return {
        "arm": argument,
        "theory": found.theory,
        "band_hz": list(band_hz),
        "joint": found.joint,
        f"limits{unit}": as_read(found.joint, found.limits).tolist(),
        "across": found.across or None,
        "free": float(np.mean(free)),
        "certified": found.certified,
        **({} if found.across else {f"avoid{unit}": [list(span) for span in found.avoid]}),
        "rows": rows,
    }
