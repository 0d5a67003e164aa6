"""Time per cell of the batch solver against the number of links, of modes and of cells.

``python -m benchmarks.cost_curves --out results/benchmarks/cost_curves.json``
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from pathlib import Path
from typing import Any

from benchmarks.reports import add_out, write_report

LINKS = (2, 4, 8, 16, 32, 64)
MODES = (1, 2, 5, 10, 20, 40)
CELLS = (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000)
#: links, modes and cells of a curve on which they do not vary
BASE = {"links": 3, "modes": 10, "cells": 4096}


def main(arguments: list[str] | None = None) -> None:
    """Measure the curves, print a table, write JSON and a plot."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cost_curves", description=__doc__)
    add_out(parser)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="two points of each: is all well?")
    options = parser.parse_args(arguments)
    import jax

    from jaxmodal.runtime.compilation import add_cpu_flags

    jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]  # before any array
    add_cpu_flags()
    points = {"links": LINKS, "modes": MODES, "cells": CELLS}
    if options.quick:
        points = {"links": (2, 4), "modes": (1, 2), "cells": (1, 600)}
    report: dict[str, Any] = {"cores": len(os.sched_getaffinity(0)), "repeats": options.repeats}
    report["base"] = BASE
    for name, values in points.items():
        report[name] = []
        for value in values:
            size = BASE | {name: value}
            row = measured(size, options.repeats)
            report[name].append({name: value, **row})
            print(name, value, json.dumps(row), flush=True)
    write_report(report, options.out)
    if options.out is not None:
        plot(report, options.out.with_suffix(".png"))


def measured(size: dict[str, int], repeats: int) -> dict[str, Any]:
    """Median time per cell of an arm of equal links at random postures and wall thicknesses."""
    import numpy as np

    import jaxmodal as jm

    link = jm.Link(
        0.5, 7e10, 2700.0, jm.rectangle(0.03, 0.05, 0.85), poisson_ratio=0.34, tip_mass=0.3
    )
    arm = jm.Arm((link,) * size["links"])
    rng = np.random.default_rng(5)
    parameters = {
        f"link{i}.joint_angle": rng.uniform(-2.0, 2.0, size["cells"])
        for i in range(2, size["links"] + 1)
    }
    parameters["link*.thickness_factor"] = rng.uniform(1.0, 3.0, size["cells"])
    begin = time.perf_counter()
    result = jm.natural_frequencies_batch(arm, parameters, size["modes"], kernel="portable")
    first = time.perf_counter() - begin
    seconds = []
    for _ in range(repeats):
        begin = time.perf_counter()
        result = jm.natural_frequencies_batch(arm, parameters, size["modes"], kernel="portable")
        seconds.append(time.perf_counter() - begin)
    again = statistics.median(seconds)
    return {
        "cells_solved": size["cells"],
        "microseconds_per_cell": 1e6 * again / size["cells"],
        "first_call_seconds": first,
        "evaluations_per_mode": float(np.asarray(result.evaluations).mean()) / size["modes"],
        "certified": bool(np.asarray(result.certified).all()),
    }


def plot(report: dict[str, Any], path: Path) -> None:
    """One panel for each curve, with the line of proportional cost."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 3, figsize=(12, 4), layout="constrained")
    titles = {"links": "number of links", "modes": "number of modes", "cells": "cells of a call"}
    for axis, (name, title) in zip(axes, titles.items(), strict=True):
        x = [row[name] for row in report[name]]
        y = [row["microseconds_per_cell"] for row in report[name]]
        axis.loglog(x, y, "o-", color="C0", label="measured")
        if name != "cells":
            middle = len(x) // 2
            axis.loglog(
                x, [y[middle] * v / x[middle] for v in x], "--", color="0.5", label="linear"
            )
            axis.set_xticks(x, [str(v) for v in x])
            axis.minorticks_off()
        axis.set_xlabel(title)
        axis.grid(True, which="both", alpha=0.3)
        axis.legend()
    axes[0].set_ylabel("time per cell, µs")
    base = report["base"]
    figure.suptitle(
        f"natural_frequencies_batch on {report['cores']} cores: {base['links']} links,"
        f" {base['modes']} modes, {base['cells']} cells unless varied"
    )
    figure.savefig(path, dpi=130)
    pyplot.close(figure)


if __name__ == "__main__":
    main()
