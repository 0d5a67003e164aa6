"""How much of two cores two workers use: one process on all cores, two with claims, two workers of dask, real cells.

``python -m benchmarks.sweep_workers --out results/benchmarks/sweep_workers.json``

Every way is what a user starts, start and end included, into a store of its own. One worker of dask says what of the
time a worker's start takes, and what its shards. Programs are compiled before, by a part of the sweep. At the end the
stores are compared byte by byte. Seconds by the clock mean something where nothing else runs; those of the processors
do elsewhere, too.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.reports import add_out, write_report

PLANE = """arm = "example:three_link_industrial"
num_modes = 10
axes = [
    { parameter = "payload.mass", linspace = { start = 0, stop = 20, num = 1000 } },
    { parameter = "link1.section.wall_thickness", linspace = { start = 0.005, stop = 0.02, num = 1000 } },
]
"""
SPACE = """arm = "example:six_axis_industrial"
num_modes = 6
axes = [
    { parameter = "theta_2", unit = "degree", linspace = { start = -60, stop = 60, num = 200 } },
    { parameter = "theta_3", unit = "degree", linspace = { start = -60, stop = 60, num = 200 } },
    { parameter = "payload.mass", values = [0, 5, 10] },
]
"""
#: sweeps by name, and cells of their chunks: so many chunks that the last one of a worker weighs little
SWEEPS = {
    "plane": (PLANE, 16_384),
    "forty": (PLANE.replace("num_modes = 10", "num_modes = 40"), 16_384),
    "space": (SPACE, 3_000),
}
#: the ways, and how many processes work side by side
WAYS = {
    "alone": ([], 1),
    "claims": (["--claim"], 2),
    "dask": (["--executor", "dask"], 1),
    "one worker of dask": (None, 1),
}
#: of Linux: processes whose parent has ended come to this one, so that their seconds are counted
_ADOPT = 36
#: what no command starts
ONE = """if __name__ == "__main__":
    import jax
    jax.config.update("jax_enable_x64", True)
    import sweeps
    sweeps.run(sweeps.read_sweep({file!r}), {store!r}, chunk_cells={cells}, executor=sweeps.Dask(workers=1))
"""


def _command(folder: Path, store: str, cells: int, options: list[str] | None) -> list[str]:
    file, out = str(folder / "s.toml"), str(folder / store)
    if options is None:
        script = folder / "one.py"
        script.write_text(ONE.format(file=file, store=out, cells=cells))
        return [sys.executable, str(script)]
    asked = [file, "--out", out, "--chunk-cells", str(cells)]
    return [sys.executable, "-m", "jaxmodal", "sweep", "run", *asked, "--no-plot", *options]


def _timed(commands: list[list[str]]) -> tuple[float, float]:
    """Seconds by the clock until all are done, and of the processors."""
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for command in commands]
    codes = [process.wait() for process in begun]
    seconds = time.perf_counter() - start
    with contextlib.suppress(ChildProcessError):
        while True:  # for the process that workers of dask are copies of, and with it for them
            os.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if any(code > 1 for code in codes):
        raise SystemExit(f"a run has failed: {codes}")
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, used


def _contents(store: Path) -> dict[str, bytes]:
    files = (path for path in store.rglob("*") if path.is_file() and path.suffix != ".partial")
    return {str(path.relative_to(store)): path.read_bytes() for path in files}


def measured(name: str, rounds: int) -> dict[str, Any]:
    """Seconds of every way, medians of several rounds in turn."""
    text, cells = SWEEPS[name]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "s.toml").write_text(text)
        _timed([_command(folder, "first.zarr", cells, ["--part", "1/16"])])
        found: dict[str, Any] = {"sweep": name, "cores": os.cpu_count(), "rounds": rounds}
        found["others_at_work"] = round(os.getloadavg()[0], 1)
        taken: dict[str, list[tuple[float, float]]] = {way: [] for way in WAYS}
        for turn in range(rounds):
            for way, (options, processes) in WAYS.items():
                asked = _command(folder, f"{way}{turn}.zarr", cells, options)
                seconds, used = _timed([asked] * processes)
                taken[way].append((seconds, used))
                print(name, way, f"{seconds:.1f} s, {used:.1f} s of the processors", flush=True)
        kinds = ("seconds", "processor_seconds")
        for way, times in taken.items():
            found[way] = dict(
                zip(kinds, map(statistics.median, zip(*times, strict=True)), strict=True)
            )
        alone = _contents(folder / "alone0.zarr")
        for way in list(WAYS)[1:]:
            for kind in kinds:
                found[way][f"efficiency_of_{kind}"] = found["alone"][kind] / found[way][kind]
            found[way]["same_bytes"] = _contents(folder / f"{way}0.zarr") == alone
    return found


def main(arguments: list[str] | None = None) -> None:
    """Run every way in temporary folders, print figures and write JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sweep_workers", description=__doc__)
    add_out(parser)
    parser.add_argument("--sweeps", nargs="+", choices=list(SWEEPS), default=list(SWEEPS))
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args(arguments)
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_ADOPT, 1, 0, 0, 0)
    found = [measured(name, options.rounds) for name in options.sweeps]
    print(json.dumps(found, indent=1))
    write_report(found, options.out)


if __name__ == "__main__":
    main()
