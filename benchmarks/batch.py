"""Batch solver against its rivals: the same cells, in one process, on one core and on all.

``python -m benchmarks.batch --cells 100000 --repeats 5 --out results/benchmarks/batch.json``

Every number of cores gets a process of its own, pinned before JAX and NumPy are imported.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.batch_report import cpu_model, plot, table
from benchmarks.reports import add_out, write_report

MODES = 10
#: cells that are compared with the double-double reference
SAMPLE = 200
#: most cells of rivals beside the strongest: their time per cell does not depend on the number
SLOW_CELLS = {
    "chain_form_p11": 4000,
    "chain_form_coarse": 4000,
    "p_element_eigh": 500,
    "slogdet_scan": 20,
    "quadratic_mesh_eigsh": 40,
    "opensees": 40,
    "opensees_extrapolated": 40,
}
#: a frequency farther off than this is the wrong mode
WRONG_MODE = 1e-3


def main(arguments: list[str] | None = None) -> None:
    """Run the benchmark and write JSON, table and plot."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.batch", description=__doc__)
    parser.add_argument("--cells", type=int, default=100000)
    parser.add_argument("--repeats", type=int, default=5)
    add_out(parser)
    parser.add_argument("--quick", action="store_true", help="60 cells, 1 repeat: is all well?")
    parser.add_argument("--cores", type=int, help="this number of cores alone, in this process")
    options = parser.parse_args(arguments)
    if options.quick:
        options.cells, options.repeats = 60, 1
    available = sorted(os.sched_getaffinity(0))
    if options.cores is not None:
        os.sched_setaffinity(0, available[: options.cores])
        write_report(measured(options.cells, options.repeats, options.cores), options.out)
        return
    report: dict[str, Any] = {
        "machine": {"cpu": cpu_model(), "cores": len(available)},
        "cells": options.cells,
        "repeats": options.repeats,
        "modes": MODES,
        "runs": [],
    }
    for cores in sorted({1, len(available)}):
        with tempfile.TemporaryDirectory() as folder:
            part = Path(folder) / "run.json"
            command = [sys.executable, "-m", "benchmarks.batch", "--cores", str(cores)]
            command += ["--cells", str(options.cells), "--repeats", str(options.repeats)]
            pinned = dict.fromkeys(
                ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1"
            )
            subprocess.run([*command, "--out", str(part)], check=True, env=os.environ | pinned)
            report["runs"] += json.loads(part.read_text())
    write_report(report, options.out)
    print(table(report))
    if options.out is not None:
        plot(report, options.out.with_suffix(".png"))


def workloads(cells: int) -> dict[str, tuple[Any, dict[str, Any], Any, Any]]:
    """Arm, parameters, and the chain form at about 3e-11 and at about 1e-6, of each workload."""
    import numpy as np

    import jaxmodal as jm
    from benchmarks.chain_form import ChainForm

    rng = np.random.default_rng(20)

    def angle() -> Any:
        return rng.uniform(-np.pi, np.pi, cells)

    return {
        "three_link": (
            jm.examples.three_link_industrial(),
            {
                "link2.joint_angle": angle(),
                "link3.joint_angle": angle(),
                "link*.section.wall_thickness": rng.uniform(0.005, 0.02, cells),
            },
            ChainForm(12, 11, 7),
            ChainForm(10, 8, 5),
        ),
        "two_link": (
            jm.examples.two_link_flexible(),
            {
                "link2.joint_angle": angle(),
                "link*.thickness_factor": np.exp(rng.uniform(0.0, np.log(100.0), cells)),
            },
            ChainForm(16, 15, 7),
            ChainForm(13, 11, 6),
        ),
    }


def measured(cells: int, repeats: int, cores: int) -> list[dict[str, Any]]:
    """One run per workload on the cores that this process may use."""
    import jax

    from jaxmodal.runtime.compilation import add_cpu_flags

    jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]  # before any array
    add_cpu_flags()
    return [
        _measured_workload(name, *workload, repeats, cores)
        for name, workload in workloads(cells).items()
    ]


def _measured_workload(
    name: str,
    arm: Any,
    parameters: dict[str, Any],
    fine: Any,
    coarse: Any,
    repeats: int,
    cores: int,
) -> dict[str, Any]:
    import numpy as np

    import jaxmodal as jm
    from benchmarks import opensees
    from benchmarks.chain_form import ChainForm
    from benchmarks.rivals import cell_beams

    beams = cell_beams(arm, parameters)
    cells = next(iter(parameters.values())).size
    results: dict[str, Any] = {}

    def batch(size: int) -> Any:
        result = jm.natural_frequencies_batch(arm, _first(parameters, size), MODES)
        results["jaxmodal"] = result
        return np.asarray(result.omega)

    begin = time.perf_counter()
    batch(cells)
    first_call = time.perf_counter() - begin
    contenders: dict[str, Callable[[int], Any]] = {"jaxmodal": batch}
    chains = {"chain_form": fine, "chain_form_p11": ChainForm(), "chain_form_coarse": coarse}
    for label, chain in chains.items():
        contenders[label] = functools.partial(_chain, chain, beams, cores)
    skipped = opensees.missing() if cores == 1 else None
    if cores == 1:
        top = 1.2 * float(np.nanmax(np.asarray(results["jaxmodal"].omega)))
        contenders |= _serial_rivals(arm, parameters, beams, top)
    if skipped is not None:
        print(skipped)
    seconds, omega = _in_turn(contenders, cells, repeats)
    # what is computed does not depend on the cores: one comparison is enough
    truth = _reference(arm, _first(parameters, SAMPLE)) if cores == 1 else None
    own = statistics.median(seconds["jaxmodal"])
    evaluations = np.asarray(results["jaxmodal"].evaluations)
    return {
        "workload": name,
        "cores": cores,
        "compile_seconds": max(0.0, first_call - own * cells),
        "certified": bool(np.asarray(results["jaxmodal"].certified).all()),
        "evaluations_per_cell": {
            "mean": float(evaluations.mean()),
            "median": float(np.median(evaluations)),
            "most": int(evaluations.max()),
        },
        "skipped": [] if skipped is None else [skipped],
        "solvers": {
            label: {
                "milliseconds_per_cell": 1e3 * statistics.median(times),
                "times_jaxmodal": statistics.median(times) / own,
                "repeats_milliseconds": [1e3 * t for t in times],
                **({} if truth is None else _accuracy(omega[label][:SAMPLE], truth)),
            }
            for label, times in seconds.items()
        },
    }


def _in_turn(
    contenders: dict[str, Callable[[int], Any]], cells: int, repeats: int
) -> tuple[dict[str, list[float]], dict[str, Any]]:
    """Seconds per cell of every solver, one after the other in each repeat, and what each computed last."""
    seconds: dict[str, list[float]] = {label: [] for label in contenders}
    omega: dict[str, Any] = {}
    for _ in range(repeats):
        for label, solve in contenders.items():
            size = min(cells, SLOW_CELLS.get(label, cells))
            begin = time.perf_counter()
            omega[label] = solve(size)
            seconds[label].append((time.perf_counter() - begin) / size)
    return seconds, omega


def _serial_rivals(
    arm: Any, parameters: dict[str, Any], beams: dict[str, Any], top: float
) -> dict[str, Callable[[int], Any]]:
    """Rivals that solve one cell after the other; ``top``, rad/s, is where a scan may end."""
    from benchmarks import opensees
    from benchmarks.rivals import DeterminantScan, PElement

    models: dict[str, Any] = {
        "p_element_eigh": PElement(11),
        "quadratic_mesh_eigsh": PElement(2, elements=75, sparse=True),
    }
    if opensees.missing() is None:
        models["opensees"] = opensees.OpenSees(opensees.PLAIN)
        models["opensees_extrapolated"] = opensees.OpenSees(opensees.EXTRAPOLATED)
    scan = DeterminantScan(arm, top)
    scan.frequencies(_first(parameters, 1), MODES)  # compiles

    def of(model: Any) -> Callable[[int], Any]:
        return lambda n: model.frequencies(_first(beams, n), MODES)

    rivals: dict[str, Callable[[int], Any]] = {name: of(model) for name, model in models.items()}
    rivals["slogdet_scan"] = lambda n: scan.frequencies(_first(parameters, n), MODES)
    return rivals


def _chain(chain: Any, beams: dict[str, Any], cores: int, size: int) -> Any:
    return chain.frequencies(_first(beams, size), MODES, cores)


def _first(columns: dict[str, Any], size: int) -> dict[str, Any]:
    return {name: value[:size] for name, value in columns.items()}


def _reference(arm: Any, parameters: dict[str, Any]) -> Any:
    """Frequencies of every cell by itself, in double-double."""
    import jax
    import numpy as np

    import jaxmodal as jm
    from jaxmodal.arm.parameters import set_parameters

    @jax.jit
    def one(values: tuple[Any, ...]) -> Any:
        varied = set_parameters(arm, dict(zip(parameters, values, strict=True)))
        return jm.natural_frequencies(varied, MODES, throw=False).omega

    columns = zip(*parameters.values(), strict=True)
    return np.stack([np.asarray(one(tuple(float(x) for x in column))) for column in columns])


def _accuracy(omega: Any, truth: Any) -> dict[str, Any]:
    """Errors of the modes that were found; a mode is missed where none of the frequencies is near it."""
    import numpy as np

    truth = truth[: omega.shape[0]]
    apart = np.abs(omega[:, None, :] / truth[:, :, None] - 1.0)
    nearest = np.nanmin(np.where(np.isnan(apart), np.inf, apart), axis=2)
    found = nearest < WRONG_MODE
    placed = np.abs(omega / truth - 1.0)
    # where no mode is missed, the errors are those of the modes by number
    errors = np.where(found.all(axis=1)[:, None], placed, nearest)[found]
    return {
        "largest_error": float(errors.max()),
        "median_error": float(np.median(errors)),
        "modes_missed": int((~found).sum()),
        "compared_cells": int(truth.shape[0]),
    }


if __name__ == "__main__":
    main()
