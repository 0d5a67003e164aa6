"""How long it takes to look at a store of very many chunks: its status, the dataset, a run that finds nothing to do.

``python -m benchmarks.sweep_looks --out results/benchmarks/sweep_looks.json``

The store is full, its values made up.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.reports import add_out, write_report


def _sweep(side: int) -> Any:
    import sweeps

    axes = [
        sweeps.linspace("theta_2", 0, 180, side, unit="degree"),
        sweeps.linspace("payload.mass", 0, 1, side),
    ]
    return sweeps.Sweep("example:two_link_flexible", axes, num_modes=2)


def _fill(path: Path, sweep: Any, shards: int) -> Any:
    from sweeps.solution.outputs import QUANTITIES
    from sweeps.store.zarr_store import open_store

    store = open_store(path, sweep, 1, sweep.num_cells // shards)
    for shard in range(store.grid.num_shards):
        shape = tuple(part.stop - part.start for part in store.grid.region(shard))
        block = {
            name: np.zeros(sweep.array_shape(name, shape), QUANTITIES[name].dtype)
            for name in sweep.outputs
        }
        block["frequency"] += np.random.default_rng(shard).random(block["frequency"].shape)
        store.write(shard, block)
    store.finish(store.state())
    return store


def _timed(call: Callable[[], Any]) -> dict[str, float]:
    start, before = time.perf_counter(), time.process_time()
    call()
    return {
        "seconds": time.perf_counter() - start,
        "processor_seconds": time.process_time() - before,
    }


def main(arguments: list[str] | None = None) -> None:
    """Fill a store in a temporary folder, look at it, print figures and write JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sweep_looks", description=__doc__)
    add_out(parser)
    parser.add_argument("--chunks", type=int, default=1_000_000)
    parser.add_argument("--shards", type=int, default=2000)
    options = parser.parse_args(arguments)
    found: dict[str, Any] = {}
    import jax

    jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]
    import sweeps
    from sweeps.store.zarr_store import state_of

    sweep = _sweep(math.isqrt(options.chunks))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.zarr"
        filled = _timed(lambda: _fill(path, sweep, options.shards))
        found |= {
            "chunks": sweep.num_cells,
            "shards": sweeps.store.zarr_store.stored(path).grid.num_shards,
            "bytes": sum(file.stat().st_size for file in path.rglob("*") if file.is_file()),
            "filled": filled,
            "status": _timed(lambda: state_of(path, every_byte=False)),
            "status_with_check": _timed(lambda: state_of(path)),
            "opened": _timed(lambda: sweeps.open_result(path)),
            "resumed": _timed(lambda: sweeps.run(sweep, path)),
            "resumed_with_claims": _timed(lambda: sweeps.run(sweep, path, share=sweeps.Claims())),
        }
    print(json.dumps(found, indent=1))
    write_report(found, options.out)


if __name__ == "__main__":
    main()
