"""The command ``jaxmodal frequencies``: certified frequencies, or frequencies with bounds for arms under loads."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

from jaxmodal.cli.arguments import (
    ARM_HELP,
    EXIT_NOT_ALL,
    BadInput,
    Posture,
    digits_option,
    end_unless,
    format_option,
    given,
    load_vibrating_arm,
    modes_of,
    modes_option,
    posed,
    posture_option,
    refusing,
    theory_option,
)
from jaxmodal.cli.loads import Vector, bears_loads, borne, load_options
from jaxmodal.cli.output import lists, print_json, title_of, without_nonfinite
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.frequencies.tables import certificate_text, hertz_text
from jaxmodal.runtime.errors import UncertifiedError
from jaxmodal.runtime.statuses import Status
from jaxmodal.runtime.tables import Table, csv_text
from jaxmodal.spatial.arms.arm import AnyArm

#: relative error requested under loads: more than enough for 5 digits; the result states the error that was reached
TOLERANCE = 1e-6
#: keys of the JSON output that have a column of CSV, a row for each mode
_CERTIFIED = (
    *("frequencies_hz", "certified", "status"),
    *("count_below", "count_above", "multiplicity"),
)
_BOUNDED = ("frequencies_hz", "relative_error", "lower_hz", "upper_hz")

Entry = dict[str, Any]


@click.command(epilog=ARM_HELP)
@click.argument("arms", metavar="ARM [ARM ...]", nargs=-1, required=True)
@modes_option
@theory_option
@posture_option(", such as -45,90. They replace those of every ARM.")
@load_options
@format_option(remark="json is an array in the order of the arguments, also for one ARM.")
@digits_option
def frequencies(
    arms: tuple[str, ...],
    modes: int | None,
    theory: TheoryName,
    posture_deg: Posture | None,
    output_format: str,
    digits: int,
    **vectors: Vector,
) -> None:
    """Lowest natural frequencies of each ARM, each with its certificate.

    Under dead loads, from its file or given here, each frequency has an estimate of its error and bounds on both sides.

    Exit status: 0 if every frequency is certified, 1 if some are not, 2 for bad input (nothing is then printed to
    standard output).
    """
    from jaxmodal.cli.compiling import late_progress

    loads = given(vectors)
    posed_arms = [
        posed(load_vibrating_arm(argument), argument, posture_deg, loaded=bool(loads))
        for argument in arms
    ]
    loaded = [bears_loads(arm) for arm in posed_arms]
    if not loads and any(loaded) and not all(loaded):
        first, other = arms[loaded.index(True)], arms[loaded.index(False)]
        raise BadInput(
            f"{other}: has no loads, and {first} has; their frequencies come in tables of two kinds: call the "
            "command for each kind, or give --gravity and the like for all."
        )
    under_loads = bool(loads) or any(loaded)
    found: list[Entry] = []
    with late_progress("arms solved") as advance:
        for done, (argument, arm) in enumerate(zip(arms, posed_arms, strict=True)):
            advance(done, len(arms))
            try:
                with refusing(argument):
                    sought = modes_of(arm, modes)
                    own = (
                        _bounded(arm, sought, theory, loads)
                        if under_loads
                        else _certified(arm, sought, theory)
                    )
            except UncertifiedError as error:
                click.echo(f"{argument}: {error}", err=True)
                raise SystemExit(EXIT_NOT_ALL) from error
            found.append({"arm": argument, "name": _name(argument, arm), "theory": theory, **own})
    if output_format == "csv":
        click.echo(_csv(found, _BOUNDED if under_loads else _CERTIFIED), nl=False)
    elif output_format == "table":
        table = bounded_table if under_loads else certified_table
        for entry, arm in zip(found, posed_arms, strict=True):
            click.echo(table(entry, arm, digits).text())
    elif under_loads:
        print_json(found, indent=1)
    else:
        lines = (json.dumps(without_nonfinite(entry), allow_nan=False) for entry in found)
        click.echo("[\n" + ",\n".join(lines) + "\n]")
    end_unless(_errors_small(found) if under_loads else _all_certified(found))


def _certified(arm: AnyArm, modes: int, theory: TheoryName) -> Entry:
    from jaxmodal.frequencies.one_arm import natural_frequencies

    result = natural_frequencies(arm, num_modes=modes, theory=theory, throw=False)
    return {
        "num_links": len(arm.links),
        "joint_angles_deg": _angles(arm),
        **lists(result, "frequencies_hz", "certified"),
        "status": [Status(code).name for code in np.asarray(result.status).tolist()],
        **lists(result, "count_below", "count_above"),
        "bracket_hz": (np.asarray(result.bracket) / (2.0 * math.pi)).tolist(),
        **lists(result, "multiplicity", "residual_ratio", "evaluations"),
    }


def _bounded(arm: AnyArm, modes: int, theory: TheoryName, loads: Mapping[str, Any]) -> Entry:
    from jaxmodal.at_rest.preloaded import preloaded_frequencies

    result = preloaded_frequencies(arm, modes, theory=theory, tolerance=TOLERANCE, **loads)
    hertz = {"frequencies_hz": result.omega, "lower_hz": result.lower, "upper_hz": result.upper}
    return {
        "joint_angles_deg": _angles(arm),
        "loads": borne(arm, loads),
        **{key: (np.asarray(omega) / (2.0 * math.pi)).tolist() for key, omega in hertz.items()},
        "relative_error": np.asarray(result.error).tolist(),
        "pieces": result.pieces,
    }


def _angles(arm: AnyArm) -> list[float]:
    return [math.degrees(float(link.joint_angle)) for link in arm.links]


def _name(argument: str, arm: AnyArm) -> str:
    """Return the name of an arm, or of its source."""
    stem = argument.rpartition(":")[2] if argument.startswith("example:") else argument
    return arm.name or Path(stem).stem


def _csv(found: Sequence[Entry], keys: Sequence[str]) -> str:
    headings = ("arm", "name", "theory", "mode", "frequency_hz", *keys[1:])
    rows = [
        (entry["arm"], entry["name"], entry["theory"], k, *row)
        for entry in found
        for k, row in enumerate(zip(*(entry[key] for key in keys), strict=True), start=1)
    ]
    return csv_text(headings, rows)


def certified_table(entry: Entry, arm: AnyArm, digits: int) -> Table:
    """Return a table of the frequencies of an arm with their certificates."""
    columns = (entry[key] for key in ("frequencies_hz", "status", "multiplicity"))
    rows = [
        [str(k), hertz_text(hertz, digits), certificate_text(Status[status], multiplicity)]
        for k, (hertz, status, multiplicity) in enumerate(zip(*columns, strict=True), start=1)
    ]
    title = title_of(entry["name"], arm, entry["theory"])
    return Table(title, ("mode", "frequency [Hz]", "certificate"), rows, (), ("certificate",))


def bounded_table(entry: Entry, arm: AnyArm, digits: int) -> Table:
    """Return a table of the frequencies of an arm under loads, with errors and bounds."""
    columns = (entry[key] for key in _BOUNDED)
    rows = [
        [
            str(k),
            hertz_text(own, digits),
            f"{error:.0e}",
            f"{hertz_text(low, digits)} to {hertz_text(high, digits)}",
        ]
        for k, (own, error, low, high) in enumerate(zip(*columns, strict=True), start=1)
    ]
    title = f"{title_of(entry['name'], arm, entry['theory'], first_angle=True)} under dead loads"
    return Table(title, ("mode", "frequency [Hz]", "relative error", "bounds [Hz]"), rows)


def _all_certified(found: Sequence[Entry]) -> bool:
    """Return True if every frequency is certified; print cause and remedy of each other status."""
    for name in dict.fromkeys(name for entry in found for name in entry["status"]):
        status = Status[name]
        if status is not Status.certified:
            click.echo(f"{name}: {status.cause}; {status.remedy}.", err=True)
    return all(all(entry["certified"]) for entry in found)


def _errors_small(found: Sequence[Entry]) -> bool:
    """Return True if all relative errors are as small as requested; print the arms for which they are not."""
    missed = [entry["arm"] for entry in found if max(entry["relative_error"]) > TOLERANCE]
    if missed:
        click.echo(
            f"{', '.join(missed)}: the relative error is above {TOLERANCE:g}; the bounds hold. "
            "jaxmodal.preloaded_frequencies takes more pieces (max_pieces).",
            err=True,
        )
    return not missed
