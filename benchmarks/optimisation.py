"""Iterations and time of optimisations: classical optima, and the worst case over 4,096 postures.

``python -m benchmarks.optimisation --out results/benchmarks/optimisation.json``

Every problem is solved twice in this process; iterations are timed the second time, when all is compiled.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from typing import Any

from benchmarks.reports import add_out, write_report

SEGMENTS = (4, 8, 16)
#: postures along each of the two joints
GRID = 64


def main(arguments: list[str] | None = None) -> None:
    """Measure, print and write JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.optimisation", description=__doc__)
    add_out(parser)
    parser.add_argument("--segments", type=int, nargs=3, default=list(SEGMENTS))
    parser.add_argument("--grid", type=int, default=GRID, help="postures along each joint")
    options = parser.parse_args(arguments)
    import jax

    from jaxmodal.runtime.compilation import add_cpu_flags

    add_cpu_flags()
    jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]  # before any array
    found = {
        "cores": os.cpu_count(),
        "workspace": workspace_row(options.grid),
        "classical": classical_rows(options.segments),
    }
    write_report(found, options.out)


def workspace_row(grid: int) -> dict[str, Any]:
    """Seconds per iteration with all postures in the loop, and of a gradient by differences."""
    import numpy as np

    from design_opt import Evaluator, Problem, optimise, read_problem, workspace

    listed, _ = read_problem("example:three_link_stiffest")
    problem = Problem(
        listed.arm,
        listed.space.variables,
        listed.objectives,
        listed.constraints,
        postures={"workspace": workspace((-150, 150, grid), (-150, 150, grid))},
    )
    evaluator = Evaluator(problem)
    optimise(problem, evaluator=evaluator)
    result = optimise(problem, evaluator=evaluator)
    y = result.report.y
    everywhere = timed(lambda: evaluator.report(y))
    steps = np.append(0.0, [step.seconds for step in result.steps])
    iteration = float(np.median(np.diff(steps)))
    differences = (problem.space.size + 1) * everywhere
    row = {
        "postures": grid * grid,
        "variables": problem.space.size,
        "status": result.status.name,
        "kkt_residual": result.kkt_residual,
        "iterations": len(result.steps),
        "seconds_per_iteration": iteration,
        "seconds_all_postures": everywhere,
        "seconds_gradient_by_differences": differences,
        "differences_over_iteration": differences / iteration,
    }
    print(json.dumps(row), flush=True)
    return row


def timed(work: Callable[[], Any], repeats: int = 5) -> float:
    """Median seconds of a call."""
    seconds = []
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - begin)
    return sorted(seconds)[repeats // 2]


def classical_rows(segments: list[int]) -> list[dict[str, Any]]:
    """Ratio of optimal to uniform frequency, iterations and seconds for every classical beam."""
    from benchmarks import classical_optima as beams
    from design_opt import Evaluator, optimise

    rows = []
    for (tip_mass, power), expected in beams.CANTILEVER.items():
        found = []
        for number in segments:
            problem = beams.cantilever(number, tip_mass, power)
            evaluator = Evaluator(problem)
            optimise(problem, evaluator=evaluator, max_iterations=1)
            found.append(optimise(problem, evaluator=evaluator))
        ratios = [result.report.score for result in found]
        rows.append(
            {
                "tip_mass_over_beam_mass": tip_mass,
                "power": power,
                "segments": segments,
                "ratios": ratios,
                "extrapolated": beams.extrapolated(*ratios),
                "reference": expected,
                "kkt_residuals": [result.kkt_residual for result in found],
                "iterations": [len(result.steps) for result in found],
                "seconds": [result.seconds for result in found],
            }
        )
        print(json.dumps(rows[-1]), flush=True)
    return rows


if __name__ == "__main__":
    main()
