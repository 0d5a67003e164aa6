"""What the published benchmarks measured, in one table, and the page about it.

``python -m benchmarks.speeds --docs docs/performance.md`` reads ``results/benchmarks`` and runs nothing.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.marks import between

#: what stands around the table in the page
BEGIN, END = "<!-- speeds -->", "<!-- end of speeds -->"
RESULTS = Path(__file__).parents[1] / "results" / "benchmarks"


class Row(NamedTuple):
    """One answer and its rival: microseconds of one answer, the rival's time over it, and the largest error."""

    question: str
    microseconds: float
    rival: str
    times: float
    error: float | None = None


def rows(results: Path) -> Iterator[Row]:
    """Read the rows from the reports in a folder."""

    def report(name: str) -> Any:
        return json.loads((results / f"{name}.json").read_text(encoding="utf-8"))

    chain = "chain form"
    for run in report("batch")["runs"]:
        if run["cores"] == 1:
            own, rival = run["solvers"]["jaxmodal"], run["solvers"]["chain_form"]
            asked = f"{run['workload'].replace('_', ' ')} arm, angles and wall thickness"
            cell = 1e3 * own["milliseconds_per_cell"]
            yield Row(asked, cell, chain, rival["times_jaxmodal"], own["largest_error"])
    series = report("series")
    speed, cell = series["speed"], series["speed"]["microseconds_per_posture"]
    error = series["random_postures"]["largest_error"]
    yield Row("three link arm, angles", cell, chain, speed["times_chain_form"], error)
    values = report("series_values")
    for links, name in ((3, "three"), (2, "two")):
        run = values[f"{links} links, decades"]
        asked = f"{name} link arm, angles, payload, a joint's spring"
        cell = run["microseconds_per_cell"]
        yield Row(asked, cell, chain, run["times_chain_form"], run["largest_error"])
    space = report("spatial")["postures"]
    own, rival = space["jaxmodal"], space["chain form, degree 5"]
    asked = "six axes in space, all angles"
    yield Row(asked, 1e3 * own["ms"], chain, rival["ms"] / own["ms"], own["error"])
    run = report("series_in_space")["two angles"]
    cell = run["microseconds_per_posture"]
    asked = "six axes in space, two angles"
    yield Row(asked, cell, chain, run["times_chain_form"], run["largest_error"])
    for name, device in (("gpu", "NVIDIA H100"), ("gpu_h200", "NVIDIA H200")):
        gpu = report(name)
        for path, of in (("general_fused", "angles and wall thickness"), ("series", "angles")):
            asked = f"three link arm, {of}, on an {device}"
            cell, times = (
                gpu[path]["microseconds_per_cell"],
                gpu["ratios"][f"{path}_over_chain_form"],
            )
            yield Row(asked, cell, f"{chain}, same GPU", times, gpu[path]["largest_error"])
    response = report("response")
    entries = response["frequencies"] * response["postures"]
    for way, of in (("exact", "two angles"), ("payloads", "payload"), ("lengths", "all lengths")):
        asked = f"response of one frequency and arm, three links, {of}"
        cell, times = 1e6 * response["seconds"][way] / entries, response["stacked_over"][way]
        yield Row(asked, cell, "dense solve", times)
    run = next(
        x for x in report("dynamics")["speed"] if (x["method"], x["setting"]) == ("dopri8", 1e-6)
    )
    cell = 1e6 * run["batch_processor_s"] / run["cells"]
    yield Row(
        "two seconds of motion, two links", cell, "SciPy's DOP853", run["ratio"], run["error"]
    )


def table(results: Path = RESULTS) -> str:
    """Return the table in Markdown."""
    lines = [
        "| question | microseconds each | beside | times as fast | largest error |",
        "|---|--:|---|--:|--:|",
    ]
    for row in rows(results):
        error = "" if row.error is None else f"{row.error:.0e}"
        cells = row.question, _short(row.microseconds), row.rival, f"**{_short(row.times)}**", error
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _short(value: float) -> str:
    """Write a number with two digits, more where it is above 99."""
    return f"{value:,.0f}" if value >= 9.95 else f"{value:.2g}"


def main(arguments: list[str] | None = None) -> None:
    """Print the table, and write it into a page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--docs", type=Path, help="page between whose marks the table goes")
    options = parser.parse_args(arguments)
    print(table())
    if options.docs is not None:
        page = options.docs.read_text(encoding="utf-8")
        options.docs.write_text(between(page, BEGIN, END, table()), encoding="utf-8")


if __name__ == "__main__":
    main()
