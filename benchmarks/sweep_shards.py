"""What the bookkeeping of a sweep's shards costs: processes with claims on one store, a solver that answers at once.

``python -m benchmarks.sweep_shards --out results/benchmarks/sweep_shards.json``

Every shard is written for real: its arrays, its mark, its claim. Of the driver it tells the peak of its memory.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.reports import add_out, write_report


def _sweep(shards: int) -> Any:
    import sweeps

    axes = [
        sweeps.linspace("theta_2", 0, 180, shards, unit="degree"),
        sweeps.axis("payload.mass", [0, 1, 2]),
    ]
    return sweeps.Sweep("example:two_link_flexible", axes, num_modes=2)


def _answer(sweep: Any, theory: str, values: Any) -> Any:
    """Frequencies that are no arm's: a number for each cell and mode, at once."""
    from jaxmodal.frequencies.results import NaturalFrequencies
    from jaxmodal.runtime.statuses import Status
    from sweeps.solution.cells import SolvedCells

    modes = np.arange(1.0, sweep.num_modes + 1.0)
    omega = (2.0 + np.sin(next(iter(values.values()))))[:, None] * modes
    order = np.broadcast_to(modes.astype(np.int64), omega.shape)
    found = NaturalFrequencies(
        omega=omega,
        status=np.full(omega.shape, int(Status.certified)),
        count_below=order - 1,
        count_above=order,
        group=order - 1,
        bracket=np.stack([0.999 * omega, 1.001 * omega], axis=-1),
        residual_ratio=np.ones_like(omega),
        evaluations=np.ones(len(omega), np.int32),
        theory=theory,  # type: ignore[arg-type]
    )
    return SolvedCells(found)


def _work(path: Path, shards: int, begun: Any, told: Any) -> None:
    import jax

    jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]
    import xarray  # noqa: F401

    import sweeps
    import sweeps.store.grid as grids
    import sweeps.store.zarr_store  # what a process imports is no matter of its shards

    setattr(grids, "solve_cells", _answer)  # noqa: B010
    begun.wait()
    begin, first, last = time.perf_counter(), list[int](), [0]

    def count(done: int, total: int) -> None:
        first.append(done) if not first else None
        last[0] = done

    cpu = time.process_time()
    sweeps.run(_sweep(shards), path, chunk_cells=3, share=sweeps.Claims(), progress=count)
    told.put(
        {
            "seconds": time.perf_counter() - begin,
            "processor_seconds": time.process_time() - cpu,
            "cells": last[0] - first[0],
            "peak_rss_bytes": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
        }
    )


def main(arguments: list[str] | None = None) -> None:
    """Run the processes in a temporary folder, print figures and write JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sweep_shards", description=__doc__)
    add_out(parser)
    parser.add_argument("--shards", type=int, nargs="+", default=[1000, 10_000])
    parser.add_argument("--processes", type=int, default=8)
    options = parser.parse_args(arguments)
    context, found = multiprocessing.get_context("spawn"), []
    for shards in options.shards:
        with tempfile.TemporaryDirectory() as folder:
            begun, told = context.Barrier(options.processes), context.Queue()
            asked = (Path(folder) / "a.zarr", shards, begun, told)
            workers = [context.Process(target=_work, args=asked) for _ in range(options.processes)]
            for worker in workers:
                worker.start()
            said = [told.get() for _ in workers]
            for worker in workers:
                worker.join()
        seconds = max(entry["seconds"] for entry in said)
        found.append(
            {
                "shards": shards,
                "processes": options.processes,
                "computed_twice": sum(entry["cells"] for entry in said) // 3 - shards,
                "seconds": seconds,
                "milliseconds_per_shard": 1e3 * seconds / shards,
                "processor_milliseconds_per_shard": 1e3
                * math.fsum(entry["processor_seconds"] for entry in said)
                / shards,
                "peak_rss_bytes": max(entry["peak_rss_bytes"] for entry in said),
            }
        )
        print(json.dumps(found[-1], indent=1))
    write_report(found, options.out)


if __name__ == "__main__":
    main()
