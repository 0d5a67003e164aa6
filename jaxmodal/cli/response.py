"""The command ``jaxmodal response``."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from jaxmodal.cli.addressed import require_addresses
from jaxmodal.cli.arguments import (
    ARM_HELP,
    BadInput,
    Band,
    NumberRange,
    Posture,
    WholeRange,
    band_option,
    end_unless,
    format_option,
    load_vibrating_arm,
    posed,
    posture_option,
    refusing,
    theory_option,
)
from jaxmodal.cli.output import print_json
from jaxmodal.cli.paths import file_option, force_option, picture_option, save_picture
from jaxmodal.cli.response_sensitivities import plain_sensitivities, sensitivities_csv
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.runtime.tables import csv_text
from jaxmodal.spatial.arms.arm import AnyArm

if TYPE_CHECKING:
    from jaxmodal.response.exact.results import FrequencyResponse
    from jaxmodal.response.exact.sensitivities import ResponseSensitivities
    from jaxmodal.response.forced.peaks import ResponsePeaks

_QUANTITIES = ("receptance", "mobility", "accelerance", "dynamic_stiffness", "transmissibility")
_MOTIONS = {"receptance": "displacement", "mobility": "velocity", "accelerance": "acceleration"}


@click.command(epilog=ARM_HELP)
@click.argument("argument", metavar="ARM")
@click.option(
    "--input",
    "inputs",
    multiple=True,
    required=True,
    metavar="PORT",
    help="Where a force or moment acts, such as tip.across, joint_2.torque, link_1@0.5.y; more than "
    "once for several. For --quantity transmissibility such as base.x.",
)
@click.option(
    "--output",
    "outputs",
    multiple=True,
    required=True,
    metavar="PORT",
    help="Where the motion is read, such as tip.y; more than once for several.",
)
@click.option("--quantity", type=click.Choice(_QUANTITIES), default="receptance", show_default=True)
@band_option(
    "Lowest and highest frequency. An end that is left out, as in ,50, is a tenth of the first natural one, or the "
    "sixth one."
)
@click.option(
    "--points",
    type=WholeRange(2, 1_000_000),
    default=400,
    show_default=True,
    help="Frequencies, in equal ratios.",
)
@theory_option
@posture_option()
@click.option(
    "--loss-factor",
    type=NumberRange(min=0.0),
    help="Give every link this loss factor; 0.01 makes damping ratios of half a per cent.",
)
@click.option(
    "--sensitivities",
    "wants_slopes",
    is_flag=True,
    help="Derivatives of the response by the parameters of the arm, as a table where it is largest, as csv or json at "
    "every frequency.",
)
@click.option(
    "--address",
    "addresses",
    metavar="ADDRESS",
    multiple=True,
    help="For --sensitivities a parameter such as link2.length; more than once for several. All if left out.",
)
@format_option()
@picture_option(
    "--plot",
    remark="Draw sizes and phases, natural frequencies marked, into this file (.png, .pdf, .svg).",
)
@picture_option(
    "--nyquist", remark="Draw imaginary over real parts into this file (.png, .pdf, .svg)."
)
@file_option(
    "--uff",
    remark="Write a universal file, data set 58 (.uff, .unv).",
    suffixes=(".uff", ".unv"),
    new=True,
)
@force_option
def response(
    argument: str,
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    quantity: str,
    band_hz: Band | None,
    points: int,
    theory: TheoryName,
    posture_deg: Posture | None,
    loss_factor: float | None,
    wants_slopes: bool,
    addresses: tuple[str, ...],
    output_format: str,
    plot: Path | None,
    nyquist: Path | None,
    uff: Path | None,
) -> None:
    """Exact frequency response of an ARM between ports: its peaks, or all values as csv or json.

    Exit status: 0 when every value is known, 1 when some are not (undamped resonances, arms that their
    forces at rest buckle), 2 for bad input.
    """
    from jaxmodal.frequencies.one_arm import frequencies_in_band, natural_frequencies
    from jaxmodal.response.exact.exchange import write_universal_file
    from jaxmodal.response.exact.frequency_response import frequency_response
    from jaxmodal.response.forced.curves import refined
    from jaxmodal.response.forced.peaks import InfiniteResponseError
    from jaxmodal.runtime.statuses import Status

    if addresses and not wants_slopes:
        raise BadInput("--address: is a parameter of --sensitivities; give that option, too.")
    for name in inputs:
        if name.startswith("base.") and quantity != "transmissibility":
            raise BadInput(
                f"--input {name}: is a motion of the ground and no force, so there is no {quantity}; give --quantity "
                "transmissibility."
            )
    low, high = band_hz or (None, None)
    arm = posed(load_vibrating_arm(argument), argument, posture_deg)
    with refusing(argument):
        if loss_factor is not None:
            arm = arm.replace(
                links=tuple(link.replace(loss_factor=loss_factor) for link in arm.links)
            )
        modes = natural_frequencies(arm, 6, theory=theory, throw=False)
        hertz = np.asarray(modes.frequencies_hz)
        known = hertz[np.isfinite(hertz) & (hertz > 0.0)]
        if (np.asarray(modes.status) == Status.unstable).any() and None in (low, high):
            raise BadInput(
                f"{argument}: has no steady response, for {Status.unstable.cause}; {Status.unstable.remedy}."
            )
        if known.size == 0 and None in (low, high):
            raise BadInput(
                f"{argument}: has no natural frequency greater than 0 to choose a band by; "
                "give both ends of --band-hz FROM,TO."
            )
        low = 0.1 * known[0] if low is None else low
        high = 1.02 * known[-1] if high is None else high
        if not low < high:
            raise BadInput(
                f"--band-hz: goes from {low:g} to {high:g} Hz, where an end is left out by natural frequencies; "
                "give both, the lower first."
            )
        omega = 2.0 * np.pi * np.geomspace(low, high, points)
        found = frequency_response(arm, omega, inputs, outputs, quantity=quantity, theory=theory)
        resonances = np.asarray(
            frequencies_in_band(arm, omega[0], omega[-1], theory=theory, throw=False).omega
        )
        slopes = _slopes(arm, found, addresses) if wants_slopes else None
        if uff is not None:
            write_universal_file(found, uff)
        tabled = output_format == "table" and slopes is None
        peaks = _peaks(arm, found) if tabled else []
        curves = None
        if plot is not None or nyquist is not None:
            peaks_drawn = peaks
            if not tabled:
                with contextlib.suppress(
                    InfiniteResponseError
                ):  # an undamped mode: no peak is marked
                    peaks_drawn = _peaks(arm, found)
            places = [resonances, *(x for each in peaks_drawn for x in (each.omega, each.dips))]
            curves = refined(arm, found, np.concatenate(places)), peaks_drawn
    if output_format == "json":
        more = {} if slopes is None else plain_sensitivities(slopes)
        print_json(_plain(argument, found) | more)
    elif output_format == "csv":
        click.echo(_csv(found) if slopes is None else sensitivities_csv(slopes), nl=False)
    else:
        for each in (found, *peaks) if slopes is None else (slopes,):
            click.echo(str(each))
    for o, i, output, into in _entries(found):
        if not np.any(found.values[o, i]):
            click.echo(
                f"note: {output} is 0 for {into} at every frequency: such a port cannot move, as the "
                "relative rotation of a rigid joint, or the two do not act on each other.",
                err=True,
            )
    if uff is not None:
        click.echo(f"wrote {uff}", err=True)
    if curves is not None:
        _draw(*curves, resonances, plot, nyquist)
    end_unless(found.ok)


def _slopes(
    arm: AnyArm, found: FrequencyResponse, addresses: tuple[str, ...]
) -> ResponseSensitivities:
    from jaxmodal.response.exact.sensitivities import response_sensitivities

    require_addresses("--address", arm, addresses)
    return response_sensitivities(
        arm,
        np.asarray(found.omega),
        found.inputs,
        found.outputs,
        addresses=addresses or None,
        quantity=found.quantity,
        theory=found.theory,
    )


def _peaks(arm: AnyArm, found: FrequencyResponse) -> list[ResponsePeaks]:
    """Return the peaks of each pair of ports in the band; none without damping."""
    from jaxmodal.response.driven.damping import damps
    from jaxmodal.response.forced.peaks import response_peaks
    from jaxmodal.runtime.statuses import Status

    motion = _MOTIONS.get(found.quantity)
    if motion is None or not damps(arm):
        return []
    if np.any(found.status == Status.unstable):
        return []
    omega = np.asarray(found.omega)
    return [
        response_peaks(arm, omega[0], omega[-1], into, output, theory=found.theory, motion=motion)
        for output in found.outputs
        for into in found.inputs
    ]


def _draw(
    found: FrequencyResponse,
    peaks: list[ResponsePeaks],
    resonances: np.ndarray,
    plot: Path | None,
    nyquist: Path | None,
) -> None:
    from jaxmodal.plots.figures import new_figure, style
    from jaxmodal.plots.responses import draw_bode, draw_nyquist

    with style():
        if plot is not None:
            figure = new_figure(7.0, 5.0)
            pair = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
            draw_bode(found, tuple(pair), resonances, peaks)
            save_picture("--plot", plot, figure.savefig)
        if nyquist is not None:
            figure = new_figure(7.0, 5.0)
            draw_nyquist(found, figure.add_subplot())
            save_picture("--nyquist", nyquist, figure.savefig)


def _entries(found: FrequencyResponse) -> list[tuple[int, int, str, str]]:
    return [
        (o, i, output, into)
        for o, output in enumerate(found.output_names)
        for i, into in enumerate(found.input_names)
    ]


def _plain(argument: str, found: FrequencyResponse) -> dict[str, Any]:
    from jaxmodal.runtime.statuses import Status

    values = np.asarray(found.values)
    return {
        "arm": argument,
        "theory": found.theory,
        "quantity": found.quantity,
        "frequencies_hz": np.asarray(found.frequencies_hz).tolist(),
        "responses": [
            {
                "output": output,
                "input": into,
                "unit": found.unit(o, i),
                "real": values[o, i].real.tolist(),
                "imag": values[o, i].imag.tolist(),
                "status": [Status(code).name for code in np.asarray(found.status)[o, i].tolist()],
            }
            for o, i, output, into in _entries(found)
        ],
    }


def _csv(found: FrequencyResponse) -> str:
    from jaxmodal.runtime.statuses import Status

    headings = ("frequency_hz", "output", "input", "unit", "real", "imag", "status")
    rows: list[tuple[Any, ...]] = []
    hertz, values = np.asarray(found.frequencies_hz), np.asarray(found.values)
    status = np.asarray(found.status)
    for o, i, output, into in _entries(found):
        for k, value in enumerate(values[o, i]):
            place = (hertz[k], output, into, found.unit(o, i))
            rows.append((*place, value.real, value.imag, Status(status[o, i, k]).name))
    return csv_text(headings, rows)
