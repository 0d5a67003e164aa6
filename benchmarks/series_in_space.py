"""Ten frequencies of the six-axis arm in random postures: posture series and general path, one process, one core.

``python -m benchmarks.series_in_space --postures 1000000 --out results/benchmarks/series_in_space.json``

The process is pinned to one core before JAX and NumPy are imported; the two run in turn, once per repeat, and what
counts is processor time. The general path gets fewer postures, of which its guess, made once, is a small part.
Then some postures are compared with the search of single arms in double-double.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.one_core import on_one_core

MODES = 10
#: joints that vary, by their numbers
ANGLES: dict[str, tuple[int, ...]] = {
    "one angle": (3,),
    "two angles": (2, 3),
    "two angles of the wrist": (5, 6),
    "three angles": (2, 3, 5),
}
#: cells of the general path in each repeat
GENERAL_CELLS = 100_000
#: postures compared with single arms in double-double
REFERENCE = 24


def main(arguments: list[str] | None = None) -> None:
    """Run the benchmark, print and write what came out."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.series_in_space", description=__doc__
    )
    parser.add_argument("--postures", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--angles", nargs="*", choices=list(ANGLES), default=list(ANGLES))
    parser.add_argument("--out", type=Path)
    parser.add_argument("--quick", action="store_true", help="4,000 postures: is all well?")
    options = parser.parse_args(arguments)
    if options.quick:
        options.postures, options.repeats = 4000, 1
    on_one_core()
    from benchmarks.batch_report import cpu_model

    report: dict[str, Any] = {"machine": {"cpu": cpu_model(), "cores_used": 1}, "modes": MODES}
    for name in options.angles:
        report[name] = measured(ANGLES[name], options.postures, options.repeats)
        print(json.dumps({name: report[name]}), flush=True)
    if options.out is not None:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(report, indent=1) + "\n")


def measured(joints: tuple[int, ...], cells: int, repeats: int) -> dict[str, Any]:
    """Processor time per posture of both, of what the series makes once, and what is certified and how."""
    import jaxmodal as jm
    from jaxmodal.batches.in_space import PlanInSpace
    from jaxmodal.batches.plan import Question

    arm = jm.examples.six_axis_industrial()
    angles = np.random.default_rng(0).uniform(-2.5, 2.5, (len(joints), cells))
    addresses = tuple(f"link{j}.joint_angle" for j in joints)
    columns = dict(zip(addresses, angles, strict=True))
    few = angles[:, :GENERAL_CELLS]
    question = Question(arm, addresses, MODES, "timoshenko")
    begin = time.process_time()
    result = jm.natural_frequencies_batch(arm, columns, MODES)
    first_call = time.process_time() - begin

    def by_the_general_path() -> Any:
        plan = PlanInSpace.of(question, few, few.shape[1], few=False, series=False)
        return plan.solve(few)

    general = by_the_general_path()
    own, table, other = [], [], []
    for _ in range(repeats):
        begin = time.process_time()
        plan = PlanInSpace.of(question, angles, cells)
        table.append(time.process_time() - begin)
        plan.solve(angles)
        own.append(1e6 * (time.process_time() - begin) / cells)
        begin = time.process_time()
        by_the_general_path()
        other.append(1e6 * (time.process_time() - begin) / few.shape[1])
    omega, certified = np.asarray(result.omega), np.asarray(result.certified)
    proven = np.asarray(result.by_sign_changes)
    at = np.linspace(0, cells - 1, REFERENCE).astype(int)
    at = np.append(at, np.flatnonzero(~proven.all(axis=1))[:REFERENCE])
    truth = np.stack(
        [
            jm.natural_frequencies(
                arm.with_values({a: float(x[i]) for a, x in columns.items()}), MODES
            ).omega
            for i in at
        ]
    )
    same = few.shape[1]
    return {
        "joints": joints,
        "postures": cells,
        "terms": 9 ** len(joints),
        "first_call_seconds": first_call,
        "table_seconds": statistics.median(table),
        "microseconds_per_posture": statistics.median(own),
        "repeats": own,
        "general_microseconds_per_posture": statistics.median(other),
        "general_repeats": other,
        "times_general_path": statistics.median(g / o for g, o in zip(other, own, strict=True)),
        "certified": float(certified.mean()),
        "by_sign_changes": float(proven.mean()),
        "largest_error": float(np.abs(omega[at] / truth - 1.0).max()),
        "largest_difference_to_the_general_path": float(
            np.abs(omega[:same] / np.asarray(general.omega) - 1.0).max()
        ),
    }


if __name__ == "__main__":
    main()
