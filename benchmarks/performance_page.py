"""The tables of docs/developers/performance.md, made from the report of `where_time_goes`."""

from __future__ import annotations

from typing import Any

from benchmarks.marks import between

#: what stands around the tables in the page
BEGIN, END = "<!-- figures -->", "<!-- end of figures -->"

#: what runs in each stage
STAGES = {
    "pilots": "256 cells searched from a grid, and the guess fitted to them",
    "searched": "guesses, then six evaluations of every mode and interpolation between them",
    "improved": "open modes: four evaluations, up to four times",
    "estimate_again": "doubtful modes: two evaluations for a second estimate",
    "extended": "noisy modes: one to sixteen evaluations in double-double",
    "exact": "what is left: the general search",
    "host": "NumPy between them: tests, gathering, storing",
}
OPERATIONS = {
    "add_multiply": "additions, multiplications",
    "divide": "divisions",
    "square_root": "square roots",
    "exponential": "exponentials",
    "logarithm": "logarithms",
    "select": "comparisons, selections, signs, roundings",
    "bytes": "bytes from and to cache",
}
#: what would be different, for each of `next_factors`
CHANGES = {
    "one_evaluation_fewer_per_mode": "five evaluations of a mode where there are six",
    "interpolation_for_free": "evaluations that cost what the determinant alone does",
    "host_and_double_double_for_free": "neither NumPy nor double-double",
    "formulas_as_written_at_measured_rates": "formulas as written at the measured rates",
    "as_written_and_host_and_double_double_for_free": "both of these",
    "additions_and_multiplications_alone_at_peak": "additions and multiplications as written alone, at the peak",
}


def tables(report: dict[str, Any]) -> str:
    """Markdown: stages, operations of an evaluation, next factors."""
    machine, runs = report["machine"], report["runs"]
    names = [run["workload"].replace("_", " ") + " arm" for run in runs]
    peak = machine["per_second"]["add_multiply"]
    lines = [
        f"One core, {machine['cpu']}; {report['cells']} cells, {report['modes']} modes, medians of"
        f" {report['repeats']} calls.",
        "",
        *_head("µs per cell", names),
    ]
    for stage, meaning in STAGES.items():
        found = [run["stages"][stage] for run in runs]
        if any(row["microseconds_per_cell"] > 0.0 for row in found):
            cells = [f"{r['microseconds_per_cell']:.2f} ({r['share']:.0%})" for r in found]
            lines.append(_row(f"`{stage}`: {meaning}", cells))
    lines += [
        _row("all", [f"{run['watched_microseconds_per_cell']:.2f}" for run in runs]),
        _row("all, nothing watched", [f"{run['microseconds_per_cell']:.2f}" for run in runs]),
        _row("evaluations of a cell", [f"{run['evaluations_per_cell']:.1f}" for run in runs]),
        "",
        "Of one float64 evaluation and the interpolation after it, operations as written → as executed:",
        "",
        *_head("operations", [*names, "measured rate, 10⁹/s"]),
    ]
    kernels = [run["kernels"]["enclosed"] for run in runs]
    for kind, meaning in OPERATIONS.items():
        cells = [f"{k['written'][kind]:.0f} → {k['executed'][kind]:.0f}" for k in kernels]
        rate = f"{machine['per_second'][kind] / 1e9:.2f}"
        lines.append(_row(meaning, [*cells, rate]))
    lines += ["", *_head("ns per evaluation", names)]
    for kind, meaning in OPERATIONS.items():
        at_rate = [f"{k['nanoseconds_at_measured_rates'][kind]:.0f}" for k in kernels]
        lines.append(_row(f"{meaning}, at the measured rate", at_rate))
    alone = [run["kernels"]["determinant"]["nanoseconds"] for run in runs]
    lines += [
        _row("sum", [f"{k['all_at_measured_rates']:.0f}" for k in kernels]),
        _row("**measured**", [f"**{k['nanoseconds']:.0f}**" for k in kernels]),
        _row("measured, the determinant alone", [f"{seconds:.0f}" for seconds in alone]),
        "",
        f"The peak is {peak / 1e9:.1f} GFlop/s (fused multiplications and additions).",
        "",
        *_head("share of the peak", names),
        _row("as executed", [f"{k['fraction_of_peak']:.0%}" for k in kernels]),
        _row("as written", [f"{k['written_fraction_of_peak']:.0%}" for k in kernels]),
        "",
        *_head("the whole call would be faster with, times", names),
    ]
    for change, meaning in CHANGES.items():
        lines.append(_row(meaning, [f"{run['next_factors'][change]:.2f}" for run in runs]))
    return "\n".join(lines)


def _head(first: str, columns: list[str]) -> list[str]:
    return [_row(first, columns), "|---|" + "--:|" * len(columns)]


def _row(first: str, cells: list[str]) -> str:
    return "| " + " | ".join([first, *cells]) + " |"


def with_tables(page: str, report: dict[str, Any]) -> str:
    """The page with these tables between its two marks.

    Raises
    ------
    ValueError
        A mark is missing.
    """
    return between(page, BEGIN, END, tables(report))
