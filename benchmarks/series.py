"""Ten frequencies of the three-link arm in random postures: posture series and chain form, one process, one core.

``python -m benchmarks.series --cells 2000000 --out results/benchmarks/series.json``

The process is pinned to one core before JAX and NumPy are imported; solvers run in turn, once per repeat.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from pathlib import Path
from typing import Any

MODES = 10
#: cells of the chain form in each repeat: its time per cell does not depend on their number
CHAIN_CELLS = 2000
#: cells compared with the double-double reference, and with the general search
REFERENCE, GENERAL = 2000, 100_000


def main(arguments: list[str] | None = None) -> None:
    """Run the benchmark, print and write what came out."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.series", description=__doc__)
    parser.add_argument("--cells", type=int, default=2_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path("results/benchmarks/series.json"))
    parser.add_argument("--quick", action="store_true", help="8,000 cells: is all well?")
    options = parser.parse_args(arguments)
    if options.quick:
        options.cells, options.repeats = 8000, 2
    for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ[name] = "1"
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
    report = measured(options.cells, options.repeats, options.quick)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(report, indent=1) + "\n")
    print(json.dumps(report, indent=1))


def measured(cells: int, repeats: int, quick: bool) -> dict[str, Any]:
    """Times per cell, ratios, shares and errors."""
    import jax

    jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]  # before any array
    import numpy as np

    import jaxmodal as jm
    from benchmarks.batch import cpu_model
    from benchmarks.chain_form import ChainForm
    from benchmarks.rivals import cell_beams

    arm = jm.examples.three_link_industrial()
    rng = np.random.default_rng(6)
    parameters = {f"link{i}.joint_angle": rng.uniform(-np.pi, np.pi, cells) for i in (2, 3)}
    beams = cell_beams(arm, {name: x[:CHAIN_CELLS] for name, x in parameters.items()})
    # at the accuracy of the finest finite elements in `benchmarks.batch`, 3e-11
    chain = ChainForm(12, 11, 7)
    begin = time.perf_counter()
    result = jm.natural_frequencies_batch(arm, parameters, MODES)
    first_call = time.perf_counter() - begin
    own, rival = [], []
    for _ in range(repeats):
        begin = time.perf_counter()
        result = jm.natural_frequencies_batch(arm, parameters, MODES)
        own.append((time.perf_counter() - begin) / cells)
        begin = time.perf_counter()
        found = chain.frequencies(beams, MODES)
        rival.append((time.perf_counter() - begin) / len(found))
    omega = np.asarray(result.omega)
    reference = 20 if quick else REFERENCE
    at = np.linspace(0, cells - 1, reference).astype(int)
    truth = np.stack(
        [
            np.asarray(jm.natural_frequencies(arm.with_posture([float(x) for x in c]), MODES).omega)
            for c in zip(*(v[at] for v in parameters.values()), strict=True)
        ]
    )
    part = {name: x[: min(cells, GENERAL)] for name, x in parameters.items()}
    general = jm.natural_frequencies_batch(arm, part, MODES, chunk_size=1638)
    other = np.asarray(general.omega)
    seconds, chain_seconds = statistics.median(own), statistics.median(rival)
    return {
        "machine": {"cpu": cpu_model(), "cores_used": 1},
        "cells": cells,
        "modes": MODES,
        "repeats": repeats,
        "microseconds_per_cell": 1e6 * seconds,
        "repeats_microseconds": [1e6 * t for t in own],
        "chain_form_microseconds_per_cell": 1e6 * chain_seconds,
        "times_chain_form": chain_seconds / seconds,
        "first_call_seconds": first_call,
        "certified": int(np.asarray(result.certified).all(axis=1).sum()),
        "by_sign_changes": int(np.asarray(result.by_sign_changes).sum()),
        "reference_cells": reference,
        "largest_error": float(np.abs(omega[at] / truth - 1.0).max()),
        "median_error": float(np.median(np.abs(omega[at] / truth - 1.0))),
        "chain_form_largest_error": float(
            np.abs(
                found[: (at < CHAIN_CELLS).sum()] / omega[: (at < CHAIN_CELLS).sum()] - 1.0
            ).max()
        ),
        "general_cells": int(other.shape[0]),
        "largest_difference_from_general": float(np.abs(omega[: len(other)] / other - 1.0).max()),
    }


if __name__ == "__main__":
    main()
