"""Where the time of the batch solver goes, and how far it is from what a core can do.

``python -m benchmarks.where_time_goes --docs docs/developers/performance.md``

On one core: the time of every stage of a call; float64 operations of an evaluation, counted, beside the rates of this
core, measured in the same process; what the next factor would need. Times are processor time. Writes JSON, and the
tables into a page.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import os
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from benchmarks.batch_report import cpu_model
from benchmarks.machine_rates import rates
from benchmarks.operations import Operations, executed, written
from benchmarks.performance_page import STAGES, tables, with_tables
from benchmarks.reports import add_out, write_report

MODES = 10
#: evaluations of one call of the compiled parts, for each lane
EVALUATIONS = {"searched": 6, "improved": 4, "estimate_again": 2, "extended": 1}
#: evaluations of the loop in which the determinant alone is timed
_LOOP = 20


def main(arguments: list[str] | None = None) -> None:
    """Measure, print the tables, write JSON and the page."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.where_time_goes", description=__doc__
    )
    parser.add_argument("--cells", type=int, default=20000)
    parser.add_argument("--repeats", type=int, default=5)
    add_out(parser)
    parser.add_argument("--docs", type=Path, help="page whose tables are replaced")
    parser.add_argument("--quick", action="store_true", help="600 cells, 2 repeats: is all well?")
    options = parser.parse_args(arguments)
    if options.quick:
        options.cells, options.repeats = 600, 2
    page = None if options.docs is None else options.docs.read_text()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
    report = measured(options.cells, options.repeats)
    print(tables(report))
    write_report(report, options.out)
    if page is not None:
        options.docs.write_text(with_tables(page, report))


def measured(cells: int, repeats: int) -> dict[str, Any]:
    """The report, of this process's core."""
    import jax

    from jaxmodal.runtime.compilation import add_cpu_flags

    jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]  # before any array
    add_cpu_flags()
    from benchmarks.batch import workloads

    machine = rates(repeats)
    runs = []
    for name, (arm, parameters, _, _) in workloads(cells).items():
        stages = staged(arm, parameters, repeats)
        kernels = counted(arm, parameters, machine, repeats)
        runs.append({"workload": name, **stages, "kernels": kernels})
        runs[-1]["next_factors"] = next_factors(runs[-1], machine)
    return {
        "machine": {"cpu": cpu_model(), "cores": 1, "per_second": machine},
        "cells": cells,
        "repeats": repeats,
        "modes": MODES,
        "runs": runs,
    }


@dataclasses.dataclass
class _Clock:
    """Seconds, calls and lanes (cells times modes) of every stage of one call, in one thread."""

    seconds: dict[str, float] = dataclasses.field(default_factory=lambda: defaultdict(float))
    calls: Counter[str] = dataclasses.field(default_factory=Counter)
    lanes: Counter[str] = dataclasses.field(default_factory=Counter)
    within: str = ""

    def kernel(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, timed until its results are there."""

        def timed(*args: Any, **named: Any) -> Any:
            stage = self.within or name
            begin = time.process_time()
            result = _ready(function(*args, **named))
            self.seconds[stage] += time.process_time() - begin
            self.calls[stage] += 1
            if stage in EVALUATIONS:  # of so many blocks the first ones
                found = result[1] if name == "searched" else result
                lanes = (found.sign if name == "extended" else getattr(found, "omega", found)).size
                self.lanes[stage] += lanes // named["blocks"] * int(args[2])
            return result

        return timed

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Time what `natural_frequencies_batch` calls."""
        from jaxmodal.batches import engines
        from jaxmodal.batches import work as batch_work

        def inside(stage: str, method: Callable[..., Any]) -> Callable[..., Any]:
            def run(*args: Any) -> Any:
                self.within = stage
                found = method(*args)
                self.within = ""
                return found

            return run

        with contextlib.ExitStack() as stack:
            where = dict.fromkeys(("searched", "improved", "extended"), engines)
            for name, module in (where | {"exact": batch_work}).items():
                timed = self.kernel(name, getattr(module, name))
                stack.enter_context(mock.patch.object(module, name, timed))
            for stage in ("pilots", "estimate_again"):
                method = inside(stage, getattr(batch_work.Work, stage))
                stack.enter_context(mock.patch.object(batch_work.Work, stage, method))
            yield


def staged(arm: Any, parameters: dict[str, Any], repeats: int) -> dict[str, Any]:
    """Medians of the time of each stage per cell, beside that of calls that are not watched."""
    import numpy as np

    import jaxmodal as jm

    cells = next(iter(parameters.values())).size
    clocks, plain, watched = [], [], []
    result = jm.natural_frequencies_batch(arm, parameters, MODES, kernel="portable")  # compiles
    for _ in range(repeats):
        begin = time.process_time()
        jm.natural_frequencies_batch(arm, parameters, MODES, kernel="portable")
        plain.append(time.process_time() - begin)
        clock = _Clock()
        with clock.watching():
            begin = time.process_time()
            result = jm.natural_frequencies_batch(arm, parameters, MODES, kernel="portable")
            watched.append(time.process_time() - begin)
        clock.seconds["host"] = watched[-1] - sum(clock.seconds.values())
        clocks.append(clock)
    total = statistics.median(watched)
    rows = {}
    for stage in STAGES:
        seconds = statistics.median(clock.seconds[stage] for clock in clocks)
        row = {"microseconds_per_cell": 1e6 * seconds / cells, "share": seconds / total}
        if stage in EVALUATIONS:
            row["evaluations_per_cell"] = clocks[-1].lanes[stage] * EVALUATIONS[stage] / cells
        rows[stage] = row | {"calls": clocks[-1].calls[stage]}
    return {
        "microseconds_per_cell": 1e6 * statistics.median(plain) / cells,
        "watched_microseconds_per_cell": 1e6 * total / cells,
        "evaluations_per_cell": float(np.asarray(result.evaluations).mean()),
        "certified": bool(np.asarray(result.certified).all()),
        "stages": rows,
    }


def counted(
    arm: Any,
    parameters: dict[str, Any],
    machine: dict[str, float],
    repeats: int,
) -> dict[str, Any]:
    """Operations and time of one float64 evaluation: the determinant alone, and within `enclosed`."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    from jaxmodal.arithmetic.operations import Arithmetic
    from jaxmodal.arm.columns import columns_of, unpacked
    from jaxmodal.batches import kernels as batch_kernels
    from jaxmodal.batches import sizes as batch_sizes
    from jaxmodal.dynamic_stiffness.beams import theory_flags
    from jaxmodal.dynamic_stiffness.condensation import evaluate

    cells = min(batch_sizes.CPU_SIZES.lanes // MODES, next(iter(parameters.values())).size)
    problem = batch_kernels.BatchProblem(theory_flags("timoshenko"), MODES)
    values = np.stack([column[:cells] for column in parameters.values()])
    packed = columns_of(arm, tuple(parameters), values).packed
    beams = jax.tree_util.tree_map(lambda x: jnp.asarray(x[:, None]), unpacked(packed))
    rough = batch_kernels.grid_guess(problem, packed).rough
    lanes = MODES * cells

    def determinant(beams: Any, omega: Any) -> Any:
        return evaluate(beams, problem.flags, omega, Arithmetic.float64)

    def enclosed(beams: Any, rough: Any) -> Any:
        return batch_kernels.enclosed(problem, beams, rough)

    @jax.jit
    def loop(beams: Any, omega: Any) -> Any:
        def again(i: Any, total: Any) -> Any:
            value = determinant(beams, omega * (1.0 + 1e-9 * i))
            return total + value.log_abs * value.sign + value.count

        return jax.lax.fori_loop(0, _LOOP, again, jnp.zeros_like(omega))

    arguments = beams, rough[:MODES]
    alone = _median_seconds(lambda: loop(*arguments), repeats) / _LOOP / lanes
    evaluations = EVALUATIONS["searched"] * lanes
    compiled = jax.jit(enclosed).lower(beams, rough).compile()
    within = _median_seconds(lambda: compiled(beams, rough), repeats) / evaluations
    whole = executed(compiled.as_text() or "")
    return {
        "determinant": _figures(
            alone,
            written(jax.make_jaxpr(determinant)(*arguments)).times(1.0 / lanes),
            executed(jax.jit(determinant).lower(*arguments).compile().as_text() or "").times(
                1.0 / lanes
            ),
            machine,
        ),
        "enclosed": _figures(
            within,
            written(jax.make_jaxpr(enclosed)(beams, rough)).times(1.0 / evaluations),
            whole.times(1.0 / evaluations),
            machine,
        ),
    }


def _ready(result: Any) -> Any:
    import jax

    return jax.block_until_ready(result)  # type: ignore[no-untyped-call]


def _median_seconds(call: Callable[[], Any], repeats: int) -> float:
    _ready(call())
    seconds = []
    for _ in range(repeats):
        begin = time.process_time()
        _ready(call())
        seconds.append(time.process_time() - begin)
    return statistics.median(seconds)


def _figures(
    seconds: float, formulas: Operations, loops: Operations, machine: dict[str, float]
) -> dict[str, Any]:
    """Of one evaluation: time, operations, what they take at the measured rates, and the fraction of the peak."""
    at_rate = {kind: 1e9 * n / machine[kind] for kind, n in dataclasses.asdict(loops).items()}
    as_written = {kind: 1e9 * n / machine[kind] for kind, n in dataclasses.asdict(formulas).items()}
    per_second = loops.add_multiply / seconds
    return {
        "nanoseconds": 1e9 * seconds,
        "written": dataclasses.asdict(formulas),
        "executed": dataclasses.asdict(loops),
        "nanoseconds_at_measured_rates": at_rate,
        "all_at_measured_rates": sum(at_rate.values()),
        "written_at_measured_rates": sum(as_written.values()),
        "flops_per_second": per_second,
        "fraction_of_peak": per_second / machine["add_multiply"],
        "written_fraction_of_peak": formulas.add_multiply / seconds / machine["add_multiply"],
    }


def next_factors(run: dict[str, Any], machine: dict[str, float]) -> dict[str, float]:
    """How many times faster the whole call would be for each change by itself, its evaluations costing as now else."""
    stages, kernels = run["stages"], run["kernels"]
    total = run["watched_microseconds_per_cell"]
    inside = kernels["enclosed"]["nanoseconds"]
    float64 = sum(
        stages[s]["microseconds_per_cell"] for s in ("searched", "improved", "estimate_again")
    )

    def faster(share: float) -> float:
        """With the float64 evaluations taking this share of their time."""
        return total / (total - float64 * (1.0 - share))

    as_written = kernels["enclosed"]["written_at_measured_rates"] / inside
    multiplied = 1e9 * kernels["enclosed"]["written"]["add_multiply"] / machine["add_multiply"]
    beside = sum(stages[s]["microseconds_per_cell"] for s in ("host", "extended"))
    return {
        "one_evaluation_fewer_per_mode": faster(5.0 / 6.0),
        "interpolation_for_free": faster(min(1.0, kernels["determinant"]["nanoseconds"] / inside)),
        "host_and_double_double_for_free": total / (total - beside),
        "formulas_as_written_at_measured_rates": faster(min(1.0, as_written)),
        "as_written_and_host_and_double_double_for_free": total
        / (total - beside - float64 * max(0.0, 1.0 - as_written)),
        "additions_and_multiplications_alone_at_peak": faster(multiplied / inside),
    }


if __name__ == "__main__":
    main()
