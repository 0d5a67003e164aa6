"""Batches of this tree beside those of an older one, in turn, in one run: whether the newer code is slower.

``git worktree add ../older COMMIT; python -m benchmarks.older ../older --docs docs/developers/performance.md``

Each tree has a process of its own, pinned to the same core, which imports that tree's library and stays alive. They are
asked in turn for the same cells: the two sweeps of `benchmarks.batch`, their first cells as small batches, and the
random postures of `benchmarks.series`, a seventh of them and all.
What counts is processor time, of which other work on the machine takes nothing; the first call, which compiles, is told
apart. The ratio is the median over the repeats of older over newer, and above 1 where the newer is faster. Small
batches are given a chunk size, so that compiled programs solve them, too: else NumPy does, and compiles nothing. What
the main thread takes for itself is part of a call that more cores would not make shorter.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.marks import between
from benchmarks.reports import add_out, write_report

ROOT = Path(__file__).parent.parent
BEGIN, END = "<!-- older and newer -->", "<!-- end of older and newer -->"

#: reads sweep, number of cells and chunk size from each line it gets, solves them and answers with its processor time;
#: public names alone
_WORKER = """
import json, sys, time
import jax

jax.config.update("jax_enable_x64", True)
import numpy as np
import jaxmodal as jm

jm.tune_cpu()
cells, postures = int(sys.argv[1]), int(sys.argv[2])
rng = np.random.default_rng(20)
angle = lambda number: rng.uniform(-np.pi, np.pi, number)
arms = {"three": jm.examples.three_link_industrial(), "two": jm.examples.two_link_flexible()}
columns = {
    "three": {
        "link2.joint_angle": angle(cells),
        "link3.joint_angle": angle(cells),
        "link*.section.wall_thickness": rng.uniform(0.005, 0.02, cells),
    },
    "two": {
        "link2.joint_angle": angle(cells),
        "link*.thickness_factor": np.exp(rng.uniform(0.0, np.log(100.0), cells)),
    },
    "postures": {"link2.joint_angle": angle(postures), "link3.joint_angle": angle(postures)},
}
print("ready", flush=True)
for line in sys.stdin:
    name, number, chunk = json.loads(line)
    arm = arms["two" if name == "two" else "three"]
    first = {address: values[:number] for address, values in columns[name].items()}
    begin, alone = time.process_time(), time.thread_time()
    found = jm.natural_frequencies_batch(arm, first, 10, chunk_size=chunk)
    omega = np.asarray(found.omega)
    seconds, alone = time.process_time() - begin, time.thread_time() - alone
    about = {
        "microseconds": 1e6 * seconds / len(omega),
        "main_thread": alone / seconds,
        "uncertified": int((~np.asarray(found.certified)).sum()),
        "sum": float(omega.sum()),
    }
    print(json.dumps(about), flush=True)
"""
#: cells of small batches, and the chunk size for which both trees take the programs of large ones
SMALL, _CHUNK = (1000, 5000), 208


def workloads(cells: int, postures: int) -> dict[str, tuple[str, int, int | None]]:
    """Sweep, number of cells and chunk size of every row of the table."""
    rows: dict[str, tuple[str, int, int | None]] = {}
    for name in ("three", "two"):
        rows[f"{name} links"] = (name, cells, None)
        rows |= {
            f"{name} links, {few:,} cells": (name, few, _CHUNK) for few in SMALL if few < cells
        }
    most = (postures // 7, postures)
    return rows | {f"posture series, {number:,}": ("postures", number, None) for number in most}


class Tree:
    """A process with the library of one tree."""

    def __init__(self, folder: Path, cells: int, postures: int) -> None:
        threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1")
        environment = os.environ | threads | {"PYTHONPATH": str(folder)}
        environment.pop("JAX_COMPILATION_CACHE_DIR", None)
        self.process = subprocess.Popen(
            [sys.executable, "-c", _WORKER, str(cells), str(postures)],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._line()

    def _line(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the process ended with {self.process.wait()}")
        return line

    def solve(self, workload: tuple[str, int, int | None]) -> dict[str, float]:
        """Processor time per cell and the main thread's share, modes not certified, and the sum of all frequencies."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{json.dumps(workload)}\n")
        self.process.stdin.flush()
        found: dict[str, float] = json.loads(self._line())
        return found

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def measured(
    older: Path, cells: int, postures: int, repeats: int, only: str = ""
) -> dict[str, Any]:
    """First calls, medians of the later ones, and ratios, by workload; of those whose names hold ``only``."""
    rows = {name: row for name, row in workloads(cells, postures).items() if only in name}
    if not rows:
        raise SystemExit(
            f"--only {only!r}: expected a part of {', '.join(workloads(cells, postures))}"
        )
    trees = [Tree(folder, cells, postures) for folder in (older, ROOT)]
    try:
        return {name: _compared(trees, name, row, repeats) for name, row in rows.items()}
    finally:
        for tree in trees:
            tree.close()


def _compared(
    trees: list[Tree], name: str, workload: tuple[str, int, int | None], repeats: int
) -> dict[str, Any]:
    first = [tree.solve(workload) for tree in trees]
    if abs(first[0]["sum"] / first[1]["sum"] - 1.0) > 1e-12:
        raise RuntimeError(f"{name}: the trees find other frequencies")
    times: list[list[float]] = [[], []]
    shares: list[list[float]] = [[], []]
    for repeat in range(repeats):
        for k in (0, 1) if repeat % 2 else (1, 0):  # neither always goes first
            found = trees[k].solve(workload)
            times[k].append(found["microseconds"])
            shares[k].append(found["main_thread"])
    ratios = [a / b for a, b in zip(*times, strict=True)]
    return {
        "first_call": [entry["microseconds"] for entry in first],
        "uncertified": [entry["uncertified"] for entry in first],
        "older": statistics.median(times[0]),
        "newer": statistics.median(times[1]),
        "ratio": statistics.median(ratios),
        "ratios": ratios,
        "main_thread": [statistics.median(share) for share in shares],
    }


def table(report: dict[str, Any]) -> str:
    """What the page shows."""
    cells, postures = report["cells"], report["postures"]
    lines = [
        f"{cells} cells ({postures} postures of the series) unless the row says otherwise, 10 modes, one core, medians"
        f" of {report['repeats']} calls of each in turn; older is {report['commit']}. Microseconds of processor time"
        " per cell, and what of it the main thread takes alone.",
        "",
        "| | older | newer | older over newer, each repeat | main thread, older | newer |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for name, found in report["workloads"].items():
        low, high = min(found["ratios"]), max(found["ratios"])
        times = f"{found['older']:.2f} | {found['newer']:.2f}"
        ratio = f"**{found['ratio']:.2f}** ({low:.2f} to {high:.2f})"
        shares = " | ".join(f"{100 * share:.1f} %" for share in found["main_thread"])
        lines.append(f"| {name} | {times} | {ratio} | {shares} |")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    """Run both trees, print and write what came out."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.older", description=__doc__)
    parser.add_argument("tree", type=Path, help="a checkout of the older commit")
    parser.add_argument("--cells", type=int, default=100_000)
    parser.add_argument("--postures", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--only", default="", help="workloads whose names hold this, as `posture`")
    add_out(parser)
    parser.add_argument("--docs", type=Path, help="page between whose marks the table goes")
    options = parser.parse_args(arguments)
    if not (options.tree / "jaxmodal").is_dir():
        parser.error(f"{options.tree}: no checkout of jaxmodal; make one with `git worktree add`")
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-1:])
    asked = ["git", "-C", str(options.tree), "rev-parse", "--short", "HEAD"]
    answer = subprocess.run(asked, capture_output=True, text=True).stdout.strip()
    commit = answer or options.tree.resolve().name
    numbers = {name: getattr(options, name) for name in ("cells", "postures", "repeats")}
    found = measured(options.tree.resolve(), **numbers, only=options.only)
    report = {"commit": commit, **numbers, "workloads": found}
    write_report(report, options.out)
    print(table(report))
    if options.docs is not None:
        page = options.docs.read_text(encoding="utf-8")
        options.docs.write_text(between(page, BEGIN, END, table(report)), encoding="utf-8")


if __name__ == "__main__":
    main()
