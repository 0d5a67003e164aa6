"""What ``jaxmodal frequencies`` prints of arms under dead loads."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from jaxmodal.arm.arm import Arm, require_planar
from jaxmodal.at_rest.preloaded import preloaded_frequencies
from jaxmodal.cli import output as cli_output
from jaxmodal.cli.arguments import EXIT_NOT_ALL, refusing
from jaxmodal.cli.loads import borne
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.frequencies.status import UncertifiedError
from jaxmodal.frequencies.tables import hertz_text
from jaxmodal.runtime.tables import Table, csv_text
from jaxmodal.spatial.arms.arm import SpatialArm

if TYPE_CHECKING:
    from jaxmodal.frequencies.tapers import TaperedFrequencies

#: the estimate of the relative error to reach; where the finest arm does not, the error says so
TOLERANCE = 1e-6


def frequencies_under_loads(
    arguments: Sequence[str],
    arms: Sequence[Arm | SpatialArm],
    modes: int,
    theory: TheoryName,
    loads: Mapping[str, Any],
    output_format: str,
    digits: int,
) -> None:
    """Solve all arms, then print their frequencies with errors and bounds."""
    found: list[dict[str, Any]] = []
    tables: list[Table] = []
    with cli_output.late_progress("arms solved") as advance:
        for done, (argument, arm) in enumerate(zip(arguments, arms, strict=True)):
            advance(done, len(arms))
            try:
                with refusing(argument):
                    flat = require_planar(arm)
                    result = preloaded_frequencies(
                        flat, modes, theory, tolerance=TOLERANCE, **loads
                    )
            except UncertifiedError as error:
                click.echo(f"{argument}: {error}", err=True)
                raise SystemExit(EXIT_NOT_ALL) from error
            found.append(_plain(argument, flat, theory, loads, result))
            tables.append(_table(found[-1], flat, theory, digits))
    if output_format == "json":
        cli_output.print_json(found, indent=1)
    elif output_format == "csv":
        click.echo(_csv(found), nl=False)
    else:
        for table in tables:
            click.echo(table.text())
    missed = [entry["arm"] for entry in found if max(entry["relative_error"]) > TOLERANCE]
    if missed:
        click.echo(
            f"{', '.join(missed)}: the relative error is above {TOLERANCE:g}; the bounds hold. "
            "jaxmodal.preloaded_frequencies takes more pieces (max_pieces).",
            err=True,
        )
        raise SystemExit(EXIT_NOT_ALL)


def _plain(
    argument: str,
    arm: Arm,
    theory: TheoryName,
    loads: Mapping[str, Any],
    result: TaperedFrequencies,
) -> dict[str, Any]:
    """Plain values; frequencies in Hz."""
    hertz = {
        name: [float(x) / (2.0 * math.pi) for x in values]
        for name, values in (
            ("frequencies_hz", result.omega),
            ("lower_hz", result.lower),
            ("upper_hz", result.upper),
        )
    }
    return {
        "arm": argument,
        "name": cli_output.name_of(argument, arm),
        "theory": theory,
        "joint_angles_deg": [math.degrees(float(link.joint_angle)) for link in arm.links],
        "loads": borne(arm, loads),
        **hertz,
        "relative_error": [float(x) for x in result.error],
        "pieces": result.pieces,
    }


def _rows(entry: Mapping[str, Any]) -> list[tuple[float, ...]]:
    names = ("frequencies_hz", "relative_error", "lower_hz", "upper_hz")
    return list(zip(*(entry[name] for name in names), strict=True))


def _table(entry: Mapping[str, Any], arm: Arm, theory: TheoryName, digits: int) -> Table:
    rows = [
        [
            str(k),
            hertz_text(own, digits),
            f"{error:.0e}",
            f"{hertz_text(low, digits)} to {hertz_text(high, digits)}",
        ]
        for k, (own, error, low, high) in enumerate(_rows(entry), start=1)
    ]
    title = f"{cli_output.title_of(entry['name'], arm, theory, first_angle=True)} under dead loads"
    return Table(title, ("mode", "frequency [Hz]", "relative error", "bounds [Hz]"), rows)


def _csv(found: Sequence[Mapping[str, Any]]) -> str:
    headings = ("arm", "name", "theory", "mode", "frequency_hz", "relative_error", "lower_hz", "upper_hz")  # fmt: skip
    rows = [
        (entry["arm"], entry["name"], entry["theory"], k, *map(repr, row))
        for entry in found
        for k, row in enumerate(_rows(entry), start=1)
    ]
    return csv_text(headings, rows)
