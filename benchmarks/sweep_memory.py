"""Memory of a sweep that is written to a store: peak resident size of the process, and what the store takes.

``python -m benchmarks.sweep_memory --out results/benchmarks/sweep_memory.json``

A million postures of the three-link arm, three modes each, in one process; Linux only.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

from benchmarks.memory import peak_resident_bytes
from benchmarks.reports import add_out, write_report


def main(arguments: list[str] | None = None) -> None:
    """Run the sweep in a temporary folder, print figures and write JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sweep_memory", description=__doc__)
    add_out(parser)
    parser.add_argument("--points", type=int, default=1000, help="on each of the two axes")
    parser.add_argument("--modes", type=int, default=3)
    options = parser.parse_args(arguments)
    import jax

    from jaxmodal.runtime.compilation import add_cpu_flags

    jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]  # before any array
    add_cpu_flags()
    import sweeps
    from sweeps.commands.report import stored_bytes

    axes = [sweeps.linspace(f"theta_{n}", -180, 180, options.points, unit="degree") for n in (2, 3)]
    sweep = sweeps.Sweep("example:three_link_industrial", axes, num_modes=options.modes)
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "postures.zarr"
        begin = time.perf_counter()
        ds = sweeps.run(sweep, store)
        found = {
            "cells": sweep.num_cells,
            "modes": options.modes,
            "seconds": time.perf_counter() - begin,
            "peak_rss_bytes": peak_resident_bytes(),
            "store_bytes": stored_bytes(store),
            "certificates": ds.attrs["certificate_summary"],
        }
    print(json.dumps(found, indent=1))
    write_report(found, options.out)


if __name__ == "__main__":
    main()
