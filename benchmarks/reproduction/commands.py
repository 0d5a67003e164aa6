"""What ``jaxmodal reproduce`` and ``jaxmodal reproduce-motions`` do and print; their options are in `jaxmodal.cli`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from benchmarks.reproduction import report
from benchmarks.reproduction.comparison import ReproductionSummary, Verdict
from benchmarks.reproduction.published import FREQUENCY_COLUMNS
from jaxmodal.cli.arguments import EXIT_NOT_ALL, refusing
from jaxmodal.cli.output import print_json, written_files
from jaxmodal.cli.paths import writing
from jaxmodal.runtime.tables import Table


@contextlib.contextmanager
def _written(out_dir: Path, steps: str) -> Iterator[Callable[[int, int], None]]:
    """Context for writing results to a folder: errors as one message, steps as progress."""
    from jaxmodal.cli.compiling import late_progress

    place = writing(f"--out {out_dir}", "; give a folder that can")
    with refusing(), place, late_progress(steps) as advance:
        yield advance


def reproduce(output_format: str, out_dir: Path) -> None:
    """Recompute the paper's tables into a folder and print the result; exit status 1 if they are not reproduced."""
    from benchmarks.reproduction.reproduce import reproduce as recompute

    with _written(out_dir, "spectra computed") as advance:
        summary = recompute(out_dir, advance)
    if output_format == "json":
        print_json(_plain(summary, out_dir))
    else:
        _print_summary(summary, out_dir)
    if not summary.ok:
        raise SystemExit(EXIT_NOT_ALL)


def _print_summary(summary: ReproductionSummary, out_dir: Path) -> None:
    """Print the result of a reproduction: counts, misprints by reason, marks, and the conclusion."""
    headings, rows = ("group", "agree", "remark"), report.summary_lines(summary)
    table = Table("The paper's tables, recomputed", headings, rows, (), ("group", "remark"))
    click.echo(table.text())
    for title, verdicts in (
        ("Unexpected cells", summary.unexpected),
        ("Frequencies without certificate", summary.uncertified),
        ("Known misprints", summary.misprints),
        ("Words in place of numbers, each with a dash for the difference", _words(summary)),
    ):
        if verdicts:
            click.echo(f"\n{title} ({len(verdicts)})")
            _print_by_note(verdicts)
    click.echo(f"\n{report.conclusion(summary)}")
    click.echo(f"Every cell: {out_dir / 'cells.csv'}; report: {out_dir / 'report.md'}")


def _plain(summary: ReproductionSummary, out_dir: Path) -> dict[str, Any]:
    """Counts, and every cell that does not simply agree, as plain values."""
    kinds = ("unexpected", "uncertified", "misprints")
    return {
        "ok": summary.ok,
        "conclusion": report.conclusion(summary),
        "groups": [vars(tally) for tally in summary.tallies],
        **{
            kind: [
                {
                    "cell": report.address(verdict),
                    "printed": verdict.cell.printed,
                    "computed": None if verdict.computed is None else float(verdict.computed),
                    "note": report.remark(verdict),
                }
                for verdict in getattr(summary, kind)
            ]
            for kind in kinds
        },
        "wrote": written_files(out_dir / "cells.csv", out_dir / "report.md"),
    }


def _words(summary: ReproductionSummary) -> list[Verdict]:
    """The marks in frequency columns, in words."""
    return [mark for mark in summary.marks if mark.cell.column in FREQUENCY_COLUMNS]


def _print_by_note(verdicts: Sequence[Verdict]) -> None:
    notes = [report.remark(verdict) for verdict in verdicts]
    for note in dict.fromkeys(notes):
        click.echo(f"  {note or 'agrees with print'}:")
        for verdict, own_note in zip(verdicts, notes, strict=True):
            if own_note == note:
                value = report.ten_digits(verdict.computed)
                recomputed = f", recomputed {value}" if value else ""
                where = report.address(verdict)
                click.echo(f"    {where}: printed {verdict.cell.printed}{recomputed}")


def reproduce_motions(output_format: str, out_dir: Path) -> None:
    """Simulate the motions of three papers into a folder; exit status 1 if a stated feature is not shown."""
    from benchmarks.reproduction.motions_report import reproduce_motions as recompute

    with _written(out_dir, "motions simulated") as advance:
        shown = recompute(out_dir, advance)
    if output_format == "json":
        files = sorted(path for path in out_dir.iterdir() if path.suffix in (".md", ".png"))
        print_json({"all_features_shown": shown, "wrote": written_files(*files)})
    else:
        click.echo(f"wrote {out_dir / 'report.md'} and the pictures beside it")
    if not shown:
        click.echo("a feature that the text states is not shown; see report.md", err=True)
        raise SystemExit(EXIT_NOT_ALL)
