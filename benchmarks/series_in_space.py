"""Ten frequencies of the six-axis arm in random postures: posture series and its rivals, one process, one core.

``python -m benchmarks.series_in_space --postures 1000000 --out results/benchmarks/series_in_space.json``

The process is pinned to one core before JAX and NumPy are imported; the series, the general path and the chain form in
space run in turn, once per repeat, and what counts is processor time. The general path gets fewer postures, of which
its guess, made once, is a small part; the chain form gets few, with the arm's own values, which make it no slower.
Then some postures are compared with the search of single arms in double-double.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from typing import Any

import numpy as np

from benchmarks.one_core import on_one_core
from benchmarks.reports import add_out, write_report

MODES = 10
#: joints that vary, by their numbers, and the ends of ranges of values beside them, in those of the arm
ANGLES: dict[str, tuple[tuple[int, ...], dict[str, tuple[float, float]]]] = {
    "one angle": ((3,), {}),
    "two angles": ((2, 3), {}),
    "two angles of the wrist": ((5, 6), {}),
    "three angles": ((2, 3, 5), {}),
    "two angles, payload": ((2, 3), {"payload.mass": (0.05, 2.0)}),
    "two angles, payload, spring": (
        (2, 3),
        {"payload.mass": (0.05, 2.0), "link2.joint_stiffness": (0.1, 10.0)},
    ),
    "one angle, payload, three springs": (
        (3,),
        {
            "payload.mass": (0.05, 2.0),
            "link1.joint_stiffness": (0.1, 10.0),
            "link2.joint_stiffness": (0.1, 10.0),
            "link3.joint_stiffness": (0.1, 10.0),
        },
    ),
    "two angles, payload and spring of all sizes": (
        (2, 3),
        {"payload.mass": (1e-6, 1e6), "link2.joint_stiffness": (1e-6, 1e12)},
    ),
}
#: cells of the general path and of the chain form in each repeat, and the degree of its strains: it is right to 2e-10
GENERAL_CELLS, CHAIN_CELLS, DEGREE = 100_000, 256, 4
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
    add_out(parser)
    parser.add_argument("--quick", action="store_true", help="4,000 postures: is all well?")
    options = parser.parse_args(arguments)
    if options.quick:
        options.postures, options.repeats = 4000, 1
    on_one_core()
    from benchmarks.batch_report import cpu_model

    report: dict[str, Any] = {"machine": {"cpu": cpu_model(), "cores_used": 1}, "modes": MODES}
    for name in options.angles:
        report[name] = measured(*ANGLES[name], options.postures, options.repeats)
        print(json.dumps({name: report[name]}), flush=True)
    write_report(report, options.out)


def measured(
    joints: tuple[int, ...], ranges: dict[str, tuple[float, float]], cells: int, repeats: int
) -> dict[str, Any]:
    """Processor time per posture of all, of what the series makes once, and what is certified and how."""
    import jaxmodal as jm
    from benchmarks.spatial_chain_form import SpatialChainForm
    from jaxmodal.batches.in_space import PlanInSpace
    from jaxmodal.batches.plan import Question

    arm = jm.examples.six_axis_industrial()
    rng = np.random.default_rng(0)
    columns = {f"link{j}.joint_angle": rng.uniform(-2.5, 2.5, cells) for j in joints}
    for address, ends in ranges.items():
        size = np.exp(rng.uniform(*np.log(ends), cells))
        columns[address] = float(arm.value_at(address)) * size
    addresses, values = tuple(columns), np.stack(list(columns.values()))
    few = values[:, :GENERAL_CELLS]
    postures = np.repeat([[float(link.joint_angle) for link in arm.links]], CHAIN_CELLS, axis=0)
    postures[:, np.array(joints) - 1] = np.resize(
        values[: len(joints)].T, (CHAIN_CELLS, len(joints))
    )
    chain = SpatialChainForm(arm, DEGREE)
    question = Question(arm, addresses, MODES, "timoshenko")
    begin = time.process_time()
    result = jm.natural_frequencies_batch(arm, columns, MODES)
    first_call = time.process_time() - begin

    def by_the_general_path() -> Any:
        plan = PlanInSpace.of(question, few, few.shape[1], few=False, series=False)
        return plan.solve(few)

    general = by_the_general_path()
    own, table, other, rival = [], [], [], []
    for _ in range(repeats):
        begin = time.process_time()
        plan = PlanInSpace.of(question, values, cells)
        table.append(time.process_time() - begin)
        plan.solve(values)
        own.append(1e6 * (time.process_time() - begin) / cells)
        begin = time.process_time()
        by_the_general_path()
        other.append(1e6 * (time.process_time() - begin) / few.shape[1])
        begin = time.thread_time()  # of its one thread: XLA's own, which wait, are not its burden
        chain.frequencies(postures, MODES)
        rival.append(1e6 * (time.thread_time() - begin) / CHAIN_CELLS)
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
        "values": ranges,
        "postures": cells,
        "terms": None if plan.tables is None else int(plan.tables.series.taylor.shape[2]),
        "first_call_seconds": first_call,
        "table_seconds": statistics.median(table),
        "microseconds_per_posture": statistics.median(own),
        "repeats": own,
        "general_microseconds_per_posture": statistics.median(other),
        "general_repeats": other,
        "times_general_path": statistics.median(g / o for g, o in zip(other, own, strict=True)),
        "chain_form_microseconds_per_posture": statistics.median(rival),
        "times_chain_form": statistics.median(r / o for r, o in zip(rival, own, strict=True)),
        "certified": float(certified.mean()),
        "by_sign_changes": float(proven.mean()),
        "largest_error": float(np.abs(omega[at] / truth - 1.0).max()),
        "largest_difference_to_the_general_path": float(
            np.abs(omega[:same] / np.asarray(general.omega) - 1.0).max()
        ),
    }


if __name__ == "__main__":
    main()
