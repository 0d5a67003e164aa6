"""What the commands print: tables for people, JSON and CSV for programs, progress for waits."""

from __future__ import annotations

import csv
import io
import json
import math
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from jaxmodal.arm import examples
from jaxmodal.arm.arm import Arm
from jaxmodal.arm.plausibility import implausible_values, link_facts
from jaxmodal.cli.compiling import Bar
from jaxmodal.frequencies.status import Status
from jaxmodal.reproduction import report as reproduction_report
from jaxmodal.reproduction.comparison import ReproductionSummary, Verdict
from jaxmodal.reproduction.published import FREQUENCY_COLUMNS
from jaxmodal.runtime.namespace import to_host
from jaxmodal.spatial.arm import SpatialArm

#: Columns that a table may take; a terminal that is narrower wraps lines, and nothing is cut off.
PAPER_WIDTH = 200

CSV_COLUMNS = (
    *("arm", "name", "theory", "mode", "frequency_hz", "certified", "status"),
    *("count_below", "count_above", "multiplicity"),
)
CHECK_COLUMNS = (
    *("link", "section", "length [m]", "mass [kg]", "tip mass [kg]", "tip inertia [kg m²]"),
    *("A [m²]", "I [m⁴]", "κ", "L/r", "L/h", "cut-off [Hz]"),
)


def _console() -> Console:
    return Console(width=PAPER_WIDTH, markup=False, highlight=False, emoji=False)


@contextmanager
def progress_after(delay: float, what: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on standard error that appears only once ``delay`` seconds have passed.

    Yields a function to call with (steps done, steps in all). Nothing is shown where standard
    error is no terminal.
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
        yield advance
        return
    timer = threading.Timer(delay, progress.start)
    timer.daemon = True
    timer.start()
    try:
        yield advance
    finally:
        timer.cancel()
        timer.join()
        progress.stop()


@dataclass(frozen=True)
class SolvedArm:
    """The frequencies of one arm as plain Python values, one list entry for each mode."""

    arm: str
    name: str
    theory: str
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
    def of(cls, argument: str, arm: Arm | SpatialArm, theory: str, result: Any) -> SolvedArm:
        """Plain values of a result of `natural_frequencies`; frequencies in Hz, modes from 1."""
        two_pi = 2.0 * math.pi
        result = to_host(result)
        stem = argument.rpartition(":")[2] if argument.startswith("example:") else argument
        return cls(
            arm=argument,
            name=arm.name or Path(stem).stem,
            theory=theory,
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

    @property
    def all_certified(self) -> bool:
        """True when every mode is certified."""
        return all(self.certified)


def print_frequencies(solved: Sequence[SolvedArm], output_format: str) -> None:
    """Print results as tables, as one JSON array or as one CSV, in the order given."""
    if output_format == "json":
        arms = [_without_nonfinite(vars(arm)) for arm in solved]
        click.echo("[\n" + ",\n".join(json.dumps(arm, allow_nan=False) for arm in arms) + "\n]")
    elif output_format == "csv":
        click.echo(_frequencies_csv(solved), nl=False)
    else:
        console = _console()
        for arm in solved:
            console.print(_frequencies_table(arm))


def _without_nonfinite(value: Any) -> Any:
    """The value with null for NaN and infinities, which JSON does not have."""
    if isinstance(value, dict):
        return {key: _without_nonfinite(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_without_nonfinite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _frequencies_csv(solved: Sequence[SolvedArm]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for arm in solved:
        for k, frequency in enumerate(arm.frequencies_hz):
            address = (arm.arm, arm.name, arm.theory, k + 1)
            verdict = (str(arm.certified[k]).lower(), arm.status[k])
            counts = (arm.count_below[k], arm.count_above[k], arm.multiplicity[k])
            writer.writerow((*address, repr(frequency), *verdict, *counts))
    return text.getvalue()


def _frequencies_table(arm: SolvedArm) -> Table:
    angles = ", ".join(f"{angle:.6g}°" for angle in arm.joint_angles_deg[1:])
    posture = f", posture {angles}" if angles else ""
    table = Table(title=f"{arm.name} ({arm.theory}{posture})", title_justify="left")
    for title in ("mode", "frequency [Hz]", "certified", "count below", "count above", "status"):
        table.add_column(title, justify="left" if title == "status" else "right")
    for k, frequency in enumerate(arm.frequencies_hz):
        repeated = f", {arm.multiplicity[k]}-fold" if arm.multiplicity[k] > 1 else ""
        table.add_row(
            str(k + 1),
            f"{frequency:#.12g}",
            "yes" if arm.certified[k] else "NO",
            str(arm.count_below[k]),
            str(arm.count_above[k]),
            arm.status[k] + repeated,
        )
    return table


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
    table = Table(title="The paper's tables, recomputed", title_justify="left")
    table.add_column("group")
    table.add_column("agree", justify="right")
    table.add_column("remark")
    for row in reproduction_report.summary_lines(summary):
        table.add_row(*row)
    console.print(table)
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


def print_check(arm: Arm, argument: str) -> None:
    """Print masses, slenderness and cut-offs of an arm, then what looks implausible."""
    console = _console()
    facts = link_facts(arm)
    reach = sum(fact.length for fact in facts)
    links_mass = sum(fact.mass for fact in facts)
    console.print(f"{arm.name or argument}: {len(facts)} link{'s' * (len(facts) > 1)}")
    console.print(
        f"total mass {float(arm.total_mass):.6g} kg (links {links_mass:.6g} kg, payload "
        f"{float(arm.payload.mass):.6g} kg), length {reach:.6g} m"
    )
    table = Table()
    for title in CHECK_COLUMNS:
        table.add_column(title, justify="left" if title == "section" else "right")
    for fact in facts:
        numbers = (fact.length, fact.mass, fact.tip_mass, fact.tip_inertia, fact.area)
        others = (fact.second_moment, fact.shear_coefficient, fact.slenderness)
        values = (*numbers, *others, fact.length_over_depth, fact.cutoff_hz)
        cells = ("-" if value is None else f"{value:.6g}" for value in values)
        table.add_row(str(fact.number), fact.shape, *cells)
    console.print(table)
    console.print(
        "r: radius of gyration of the section; h: its extent in the plane of motion; cut-off: "
        "sqrt(κGA/(ρI))/2π, needs shear data. The payload is part of the last tip.",
        soft_wrap=True,
    )
    found = implausible_values(arm)
    for remark in found:
        console.print(f"warning: {remark}", soft_wrap=True)
    if not found:
        console.print("no implausible values found")


def print_examples() -> None:
    """List the built-in arms."""
    table = Table()
    for title in ("name", "arm", "links"):
        table.add_column(title)
    for name in examples.names():
        arm = examples.load(name)
        table.add_row(name, arm.name, str(len(arm.links)))
    _console().print(table)
    click.echo("print one: jaxmodal examples NAME; use one: jaxmodal frequencies example:NAME")
