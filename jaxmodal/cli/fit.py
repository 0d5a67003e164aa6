"""The command ``jaxmodal fit``: parameters of an arm from measured frequencies and responses."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jaxmodal.cli.addressed import in_si, ranges_by_address, require_addresses, values_by_address
from jaxmodal.cli.arguments import (
    ARM_HELP,
    BadInput,
    Posture,
    WholeRange,
    end_unless,
    format_option,
    load_vibrating_arm,
    posed,
    posture_option,
    refusing,
    theory_option,
)
from jaxmodal.cli.output import print_json
from jaxmodal.cli.paths import file_option, force_option, picture_option, save_picture, writing
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.runtime.tables import csv_text

if TYPE_CHECKING:
    from jaxmodal.identification.proposals import Proposals
    from jaxmodal.identification.results import ArmFit

_UNIVERSAL = (".uff", ".unv", ".58")
_PLACE = re.compile(r"([0-9]+):(-?[1-6])=(.+)", re.ASCII)


def _places(
    ctx: click.Context, param: click.Parameter, given: tuple[str, ...]
) -> dict[tuple[int, int], str]:
    """Return ports by node and direction from options ``NODE:DIRECTION=PORT``."""
    found = {}
    for text in given:
        parts = _PLACE.fullmatch(text)
        if parts is None:
            raise click.BadParameter(
                f"{text!r}: give NODE:DIRECTION=PORT, such as 3:2=tip.y, or 3:2=-tip.y where it points the other way.",
                ctx,
                param,
            )
        found[int(parts[1]), int(parts[2])] = parts[3]
    return found


def _is_universal(name: str) -> bool:
    return Path(name).suffix.lower() in _UNIVERSAL


@click.command(epilog=ARM_HELP)
@click.argument("argument", metavar="ARM")
@click.argument("files", metavar="MEASUREMENTS...", nargs=-1, required=True)
@click.option(
    "--fit",
    "fitted",
    metavar="ADDRESS[=START]",
    multiple=True,
    required=True,
    callback=values_by_address,
    help="A parameter to fit, and where the fit begins, degrees for angles, else SI units; left out, at the value of "
    "the arm. May be given several times.",
)
@click.option(
    "--bounds",
    metavar="ADDRESS=FROM,TO",
    multiple=True,
    callback=ranges_by_address,
    help="Bounds of a parameter, in the same units. May be given several times.",
)
@click.option(
    "--loss",
    type=click.Choice(("linear", "soft_l1", "huber", "cauchy")),
    default="linear",
    show_default=True,
    help="How values that lie far out weigh: all but linear spare them, and need standard deviations.",
)
@click.option(
    "--place",
    "places",
    metavar="NODE:DIRECTION=PORT",
    multiple=True,
    callback=_places,
    help="Where a node of a universal file is, with a minus before the port that points the other way.",
)
@click.option(
    "--next",
    "next_count",
    type=WholeRange(1, 100_000),
    metavar="N",
    help="Also propose the next posture to measure, the best of N within the limits of the joints.",
)
@posture_option(", of measurements that do not say it.")
@theory_option
@format_option()
@picture_option(
    "--plot", remark="Draw the residuals before and after into this file: .png, .pdf or .svg."
)
@file_option(
    "--out", remark="Write the fitted arm into this TOML file.", suffixes=(".toml",), new=True
)
@force_option
def fit(
    argument: str,
    files: tuple[str, ...],
    fitted: dict[str, float],
    bounds: dict[str, tuple[float, float]] | None,
    loss: str,
    places: dict[tuple[int, int], str],
    next_count: int | None,
    posture_deg: Posture | None,
    theory: TheoryName,
    output_format: str,
    out: Path | None,
    plot: Path | None,
) -> None:
    """Fit parameters of an ARM to MEASUREMENTS: frequencies in one or several postures, and responses.

    MEASUREMENTS are CSV files, with headings such as frequency_hz, standard_deviation_hz, mode, theta_2_deg, or
    frequency_hz, real, imaginary, input, output; and universal files (.uff, .unv) with data sets 58.

    Exit status: 0 when the fit has converged, all parameters are determined and all frequencies certified, 1 when not,
    2 for bad input.
    """
    from jaxmodal.arm.files import write_arm
    from jaxmodal.cli.compiling import late_progress
    from jaxmodal.identification.files import read_measurements
    from jaxmodal.identification.fitting import fit_arm
    from jaxmodal.identification.measurements import MeasuredModes
    from jaxmodal.identification.proposals import next_posture
    from jaxmodal.identification.universal_files import read_universal_file

    if places and not any(map(_is_universal, files)):
        raise BadInput(
            "--place: says where nodes of universal files are, and none is given; leave it out, or give a "
            f"{', '.join(_UNIVERSAL)} file."
        )
    arm = posed(load_vibrating_arm(argument), argument, posture_deg)
    measured: list[Any] = []
    with refusing():
        for name in files:
            if _is_universal(name):
                measured += read_universal_file(name, arm, places=places)
            else:
                measured += read_measurements(name, arm)
    if next_count is not None and not any(isinstance(each, MeasuredModes) for each in measured):
        raise BadInput(
            "--next: needs measured frequencies, of which postures are proposed; leave it out."
        )
    with refusing(argument), late_progress("evaluations") as advance:
        require_addresses("--fit", arm, fitted)
        start = {name: value for name, value in fitted.items() if not math.isnan(value)}
        found = fit_arm(
            arm,
            measured,
            list(fitted),
            theory=theory,
            start=in_si("--fit", arm, start),
            bounds=in_si("--bounds", arm, bounds),
            loss=loss,
            progress=advance,
        )
    proposals = None
    if next_count is not None:
        with refusing("--next"):
            proposals = next_posture(found, count=next_count)
    if output_format == "json":
        print_json(_plain(argument, found, proposals))
    elif output_format == "csv":
        click.echo(_csv(found), nl=False)
    else:
        click.echo(str(found))
    if proposals is not None and output_format != "json":
        click.echo(str(proposals), err=output_format == "csv")
    if plot is not None:
        from jaxmodal.plots.identification import plot_fit

        save_picture(
            "--plot", plot, lambda path: plot_fit(found, path, f"{arm.name or argument} ({theory})")
        )
    if out is not None:
        with writing(f"--out {out}"):
            write_arm(found.arm, out)
        click.echo(f"wrote {out}", err=True)
    end_unless(found.ok)


def _rows(found: ArmFit) -> list[dict[str, Any]]:
    """Return the parameters as plain values."""
    return [
        {
            "parameter": address,
            "unit": found.units[k],
            "before": float(found.start[k]),
            "after": float(found.values[k]),
            "standard_error": float(found.standard_errors[k]),
            "low": float(found.low[k]),
            "high": float(found.high[k]),
        }
        for k, address in enumerate(found.addresses)
    ]


def _csv(found: ArmFit) -> str:
    rows = _rows(found)
    return csv_text(tuple(rows[0]), [tuple(row.values()) for row in rows])


def _plain(argument: str, found: ArmFit, proposals: Proposals | None) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "arm": argument,
        "theory": found.theory,
        "status": found.status.name,
        "message": found.message,
        "scatter": found.scatter,
        "parameters": _rows(found),
        "correlation": found.correlation.tolist(),
        "undetermined": list(found.undetermined),
        "remarks": found.remarks,
        "modes": [vars(pair) for pair in found.pairs],
        "responses": [
            {
                "where": each.where,
                "quantity": each.measured.quantity,
                "outputs": list(map(str, each.measured.outputs)),
                "inputs": list(map(str, each.measured.inputs)),
                "left_before": each.misfit(each.before).tolist(),
                "left_after": each.misfit(each.after).tolist(),
                "far_out": each.far_out.sum(axis=-1).tolist(),
            }
            for each in found.responses
        ],
    }
    if proposals is not None:
        entry["next"] = [
            {"settings": settings, "gain": float(gain), "left_open": int(left)}
            for settings, gain, left in zip(
                proposals.candidates, proposals.gains, proposals.left_open, strict=True
            )
        ]
    return entry
