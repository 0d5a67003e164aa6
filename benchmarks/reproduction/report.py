"""Output files of a reproduction: every cell as CSV, and a report in Markdown.

Recomputed values are written with ten significant digits. The computed values have a relative error of about 1e-13, and
their last bits may differ between processors; ten digits make the files identical everywhere. Neither dates nor machine
names are written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.reproduction import published
from benchmarks.reproduction.comparison import Outcome, ReproductionSummary, Verdict
from jaxmodal.runtime.tables import csv_text
from jaxmodal.runtime.whole_files import write_text

COLUMN_TITLES = {
    "EB_dagger": "EB†",
    "EB_ddagger": "EB‡",
    "T": "T",
    "FEM_B23": "FE B23",
    "FEM_B22": "FE B22",
    "delta_dagger_pct": "Δ† %",
    "delta_ddagger_pct": "Δ‡ %",
}

CSV_COLUMNS = (
    *("table", "theta2_deg", "theta3_deg", "mode", "column", "theory", "printed", "recomputed"),
    *("agrees", "certified", "outcome", "note"),
)

THEORY_LEGEND = """\
| column | theory |
|---|---|
| EB† | `euler_bernoulli`: bending and axial motion |
| EB‡ | `bending_only`: each link axially rigid |
| T | `timoshenko`: bending with shear and rotary inertia, and axial motion |
| FE B23, FE B22 | the paper's finite elements, held against the exact EB† and T |
| Δ†, Δ‡ | excess of EB†, EB‡ over T in percent of T (eq 46), from the printed frequencies |
"""

HOW_COMPARED = """\
A printed number agrees when the recomputed value rounds to exactly its digits, trailing zeros
included; a value half-way between two printable numbers (within 1e-12 of itself) counts either
way. Recomputed values stand here with ten significant digits. Frequencies are in Hz.

Tables 2-6: two-link arm of Table 1, both thicknesses times the factor given, E from EI, density
from the link mass, Poisson ratio 0.3, shear coefficient 0.85. Tables 9-11 and Figure 5: three-link
arm of Table 8, bending depth 15 cm, shear coefficient 0.44.
"""


def markdown_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Markdown table of strings."""
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def ten_digits(value: float | None) -> str:
    """A number with ten significant digits; empty for None."""
    return "" if value is None else f"{value:#.10g}"


def cells_csv(summary: ReproductionSummary) -> str:
    """Every cell as CSV: address, theory, printed, recomputed, agrees, certified, note."""
    rows = []
    for verdict in summary.verdicts:
        cell = verdict.cell
        theta2, theta3 = (*cell.posture_deg, "")[:2]
        certified = {None: "", True: "yes", False: "no"}[verdict.certified]
        agrees = "yes" if verdict.outcome is Outcome.AGREES else "no" if cell.is_number else ""
        theory = published.FREQUENCY_COLUMNS.get(cell.column, "")
        where = (cell.table, theta2, theta3, cell.mode, cell.column, theory)
        values = (cell.printed, ten_digits(verdict.computed))
        rows.append((*where, *values, agrees, certified, verdict.outcome.value, verdict.note))
    return csv_text(CSV_COLUMNS, rows)


def tally_label(group: str) -> str:
    """Group of a count, with the column named as in the paper."""
    where, _, column = group.partition(": ")
    return f"{where}, {COLUMN_TITLES[column]}" if column else "all tables, differences Δ†, Δ‡"


def summary_lines(summary: ReproductionSummary) -> list[tuple[str, str, str]]:
    """Rows (group, numbers agreeing / printed, remark) of the summary."""
    rows = []
    for tally in summary.tallies:
        remark = f"{tally.marks} words or dashes, not counted" if tally.marks else ""
        rows.append((tally_label(tally.group), f"{tally.agree}/{tally.total}", remark))
    return rows


def conclusion(summary: ReproductionSummary) -> str:
    """One sentence: reproduced, or the reasons why not."""
    if summary.ok:
        return (
            f"Reproduced: every printed number agrees but the {len(summary.misprints)} known "
            "misprints; every frequency is certified."
        )
    return (
        f"NOT reproduced: {len(summary.unexpected)} unexpected cells, "
        f"{len(summary.uncertified)} uncertified frequencies."
    )


def address(verdict: Verdict) -> str:
    """Position of a cell in words."""
    cell = verdict.cell
    titles = {table.name: table.title for table in published.load_tables()}
    posture = ", ".join(f"{angle}°" for angle in cell.posture_deg)
    return f"{titles[cell.table]}, {posture}, mode {cell.mode}, {COLUMN_TITLES[cell.column]}"


def remark(verdict: Verdict) -> str:
    """Note on a cell, with columns named as in the paper."""
    note = verdict.note
    for name in ("EB_ddagger", "EB_dagger"):
        note = note.replace(name, COLUMN_TITLES[name])
    return note


def _exceptions(verdicts: Sequence[Verdict]) -> Iterator[str]:
    yield "| cell | printed | recomputed | remark |\n|---|---|---|---|"
    for verdict in verdicts:
        columns = (address(verdict), verdict.cell.printed, ten_digits(verdict.computed))
        yield f"| {' | '.join(columns)} | {remark(verdict)} |"


def _posture_table(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Table of one posture: printed and recomputed values side by side, one row for each mode."""
    columns = list(dict.fromkeys(verdict.cell.column for verdict in verdicts))
    by_place = {(verdict.cell.mode, verdict.cell.column): verdict for verdict in verdicts}
    titles = [f"{COLUMN_TITLES[column]} | recomputed" for column in columns]
    yield f"| mode | {' | '.join(titles)} |"
    yield "|---" * (1 + 2 * len(columns)) + "|"
    for mode in sorted({verdict.cell.mode for verdict in verdicts}):
        row = [str(mode)]
        for column in columns:
            verdict = by_place[mode, column]
            flag = {Outcome.KNOWN_MISPRINT: " (m)", Outcome.UNEXPECTED: " (!)"}
            uncertified = " (u)" if verdict.certified is False else ""
            row.append(verdict.cell.printed + flag.get(verdict.outcome, ""))
            row.append(ten_digits(verdict.computed) + uncertified)
        yield f"| {' | '.join(row)} |"


def report_markdown(summary: ReproductionSummary) -> str:
    """The whole report as Markdown text."""
    lines = ["# The paper's tables, recomputed", "", conclusion(summary), ""]
    lines += ["| group | printed numbers that agree | remark |", "|---|---|---|"]
    lines += [f"| {' | '.join(row)} |" for row in summary_lines(summary)]
    lines += ["", THEORY_LEGEND, HOW_COMPARED]
    for title, verdicts in (
        ("Unexpected cells", summary.unexpected),
        ("Frequencies without certificate", summary.uncertified),
        ("Known misprints", summary.misprints),
        ("Words and dashes in place of numbers", summary.marks),
    ):
        if verdicts:
            lines += [f"## {title}", "", *_exceptions(verdicts), ""]
    lines += ["## Every table", "", "(m) known misprint, (!) unexpected, (u) not certified.", ""]
    for table in published.load_tables():
        inside = [verdict for verdict in summary.verdicts if verdict.cell.table == table.name]
        factor = f", thickness factor {table.thickness_factor:g}" if "two" in table.example else ""
        for posture in dict.fromkeys(verdict.cell.posture_deg for verdict in inside):
            angles = ", ".join(f"{angle}°" for angle in posture)
            lines += [f"### {table.title}: posture {angles}{factor}", ""]
            lines += _posture_table([v for v in inside if v.cell.posture_deg == posture])
            lines += [""]
    return "\n".join(lines).rstrip() + "\n"


def write_files(summary: ReproductionSummary, out_dir: Path) -> tuple[Path, Path]:
    """Write ``cells.csv`` and ``report.md`` into a folder, made if missing.

    Parameters
    ----------
    out_dir : Path
        Folder; files of the same names there are replaced.

    Raises
    ------
    OSError
        If the folder or a file cannot be written.
    """
    out_dir.mkdir(parents=True, exist_ok=True)
    cells, report = out_dir / "cells.csv", out_dir / "report.md"
    return write_text(cells, cells_csv(summary)), write_text(report, report_markdown(summary))
