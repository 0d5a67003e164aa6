"""What the commands print: tables for people, JSON and CSV for programs, progress for waits."""

from __future__ import annotations

import dataclasses
import json
import math
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn

from jaxmodal.arm.arm import Arm
from jaxmodal.arm.descriptions import posture_text
from jaxmodal.cli.compiling import Bar, Lines
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.frequencies.status import Status
from jaxmodal.frequencies.tables import DIGITS, certificate_text, hertz_text
from jaxmodal.reproduction import report as reproduction_report
from jaxmodal.reproduction.comparison import ReproductionSummary, Verdict
from jaxmodal.reproduction.published import FREQUENCY_COLUMNS
from jaxmodal.runtime.namespace import to_host
from jaxmodal.runtime.tables import WIDTH, Table, csv_text
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.arms.checks import check
from jaxmodal.spatial.files import examples

CSV_COLUMNS = (
    *("arm", "name", "theory", "mode", "frequency_hz", "certified", "status"),
    *("count_below", "count_above", "multiplicity"),
)


def _console() -> Console:
    return Console(width=WIDTH, markup=False, highlight=False, emoji=False)


@contextmanager
def late_progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on standard error that appears only after a second.

    Yields a function to call with (steps done, steps in all). Where standard error is no terminal
    a line says so every ten seconds.
    """
    progress = Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    task = progress.add_task(what, total=None)

    def advance(done: int, total: int) -> None:
        progress.update(task, completed=done, total=total)

    if not sys.stderr.isatty():
        with Lines(what) as lines:
            yield lambda done, total: lines(f"{what}: {done} of {total}")
        return
    timer = threading.Timer(1.0, progress.start)
    timer.daemon = True
    timer.start()
    try:
        yield advance
    finally:
        timer.cancel()
        timer.join()
        progress.stop()


@dataclasses.dataclass(frozen=True)
class SolvedArm:
    """The frequencies of one arm as plain Python values, one list entry for each mode."""

    arm: str
    name: str
    theory: TheoryName
    title: str
    num_links: int
    joint_angles_deg: list[float]
    frequencies_hz: list[float]
    certified: list[bool]
    status: list[str]
    count_below: list[int]
    count_above: list[int]
    bracket_hz: list[list[float]]
    multiplicity: list[int]
    residual_ratio: list[float]
    evaluations: int

    @classmethod
    def of(cls, argument: str, arm: Arm | SpatialArm, theory: TheoryName, result: Any) -> SolvedArm:
        """Plain values of a result of `natural_frequencies`; frequencies in Hz, modes from 1."""
        two_pi = 2.0 * math.pi
        result = to_host(result)
        name = name_of(argument, arm)
        return cls(
            arm=argument,
            name=name,
            theory=theory,
            title=title_of(name, arm, theory),
            num_links=len(arm.links),
            joint_angles_deg=[math.degrees(float(link.joint_angle)) for link in arm.links],
            frequencies_hz=[float(value) for value in result.frequencies_hz],
            certified=[bool(value) for value in result.certified],
            status=[Status(int(value)).name for value in result.status],
            count_below=[int(value) for value in result.count_below],
            count_above=[int(value) for value in result.count_above],
            bracket_hz=[[float(end) / two_pi for end in ends] for ends in result.bracket],
            multiplicity=[int(value) for value in result.multiplicity],
            residual_ratio=[float(value) for value in result.residual_ratio],
            evaluations=int(result.evaluations),
        )

    def plain(self) -> dict[str, Any]:
        """What JSON holds: all but the title."""
        return {key: value for key, value in vars(self).items() if key != "title"}

    @property
    def all_certified(self) -> bool:
        """True when every mode is certified."""
        return all(self.certified)


def print_frequencies(
    solved: Sequence[SolvedArm], output_format: str, digits: int = DIGITS
) -> None:
    """Print results as tables, as one JSON array or as one CSV, in the order given."""
    if output_format == "json":
        arms = [without_nonfinite(arm.plain()) for arm in solved]
        click.echo("[\n" + ",\n".join(json.dumps(arm, allow_nan=False) for arm in arms) + "\n]")
    elif output_format == "csv":
        click.echo(_frequencies_csv(solved), nl=False)
    else:
        for arm in solved:
            click.echo(_frequencies_table(arm, digits).text())


def without_nonfinite(value: Any) -> Any:
    """The value with null for NaN and infinities, which JSON does not have."""
    if isinstance(value, dict):
        return {key: without_nonfinite(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [without_nonfinite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def print_json(value: Any, **layout: Any) -> None:
    """Print a value as JSON, null for what is not finite."""
    click.echo(json.dumps(without_nonfinite(value), allow_nan=False, **layout))


def _frequencies_csv(solved: Sequence[SolvedArm]) -> str:
    rows: list[tuple[Any, ...]] = []
    for arm in solved:
        for k, frequency in enumerate(arm.frequencies_hz):
            address = (arm.arm, arm.name, arm.theory, k + 1)
            verdict = (str(arm.certified[k]).lower(), arm.status[k])
            counts = (arm.count_below[k], arm.count_above[k], arm.multiplicity[k])
            rows.append((*address, repr(frequency), *verdict, *counts))
    return csv_text(CSV_COLUMNS, rows)


def _frequencies_table(arm: SolvedArm, digits: int) -> Table:
    rows = [
        [str(k + 1), hertz_text(hertz, digits), certificate_text(Status[status], multiplicity)]
        for k, (hertz, status, multiplicity) in enumerate(
            zip(arm.frequencies_hz, arm.status, arm.multiplicity, strict=True)
        )
    ]
    headings = ("mode", "frequency [Hz]", "certificate")
    return Table(arm.title, headings, rows, (), ("certificate",))


def name_of(argument: str, arm: Arm | SpatialArm) -> str:
    """The name of an arm, or that of what it was read from."""
    stem = argument.rpartition(":")[2] if argument.startswith("example:") else argument
    return arm.name or Path(stem).stem


def title_of(
    name: str, arm: Arm | SpatialArm, theory: TheoryName, first_angle: bool = False
) -> str:
    """What stands above every table and picture of an arm: its name, posture and theory."""
    posture = posture_text(arm, first_angle)
    return f"{name} ({theory}{f', {posture}' if posture else ''})"


def print_remedies(solved: Sequence[SolvedArm]) -> None:
    """Say on standard error what each status other than certified means and what to do."""
    found = dict.fromkeys(name for arm in solved for name in arm.status)
    for name in found:
        status = Status[name]
        if status is not Status.certified:
            click.echo(f"{name}: {status.cause}; {status.remedy}.", err=True)


def print_summary(summary: ReproductionSummary, out_dir: Path) -> None:
    """Print what a reproduction found: tallies, misprints by reason, marks, and the conclusion."""
    console = _console()
    headings, rows = ("group", "agree", "remark"), reproduction_report.summary_lines(summary)
    table = Table("The paper's tables, recomputed", headings, rows, (), ("group", "remark"))
    click.echo(table.text())
    for title, verdicts in (
        ("Unexpected cells", summary.unexpected),
        ("Frequencies without certificate", summary.uncertified),
        ("Known misprints", summary.misprints),
        ("Words in place of numbers, each with a dash for the difference", _words(summary)),
    ):
        if verdicts:
            console.print(f"\n{title} ({len(verdicts)})")
            _print_by_note(console, verdicts)
    console.print(f"\n{reproduction_report.conclusion(summary)}", soft_wrap=True)
    console.print(f"Every cell: {out_dir / 'cells.csv'}; report: {out_dir / 'report.md'}")


def _words(summary: ReproductionSummary) -> list[Verdict]:
    """The marks that stand in frequency columns."""
    return [mark for mark in summary.marks if mark.cell.column in FREQUENCY_COLUMNS]


def _print_by_note(console: Console, verdicts: Sequence[Verdict]) -> None:
    notes = [reproduction_report.remark(verdict) for verdict in verdicts]
    for note in dict.fromkeys(notes):
        console.print(f"  {note or 'agrees with print'}:", soft_wrap=True)
        for verdict, own_note in zip(verdicts, notes, strict=True):
            if own_note == note:
                value = reproduction_report.ten_digits(verdict.computed)
                recomputed = f", recomputed {value}" if value else ""
                where = reproduction_report.address(verdict)
                console.print(f"    {where}: printed {verdict.cell.printed}{recomputed}")


def print_check(arm: Arm | SpatialArm, argument: str) -> None:
    """Print masses, slenderness, cut-offs and all else of an arm, then what looks implausible."""
    found = check(arm)
    click.echo(str(dataclasses.replace(found, name=found.name or argument)))


def print_examples() -> None:
    """List the built-in arms."""
    arms = {name: examples.load(name) for name in examples.names()}
    rows = [[name, arm.name, str(arm.num_links)] for name, arm in arms.items()]
    headings = ("name", "arm", "links")
    click.echo(Table("", headings, rows, (), headings[:2]).text())
    click.echo("print one: jaxmodal examples NAME; use one: jaxmodal frequencies example:NAME")
