"""Time to the first answer of `natural_frequencies` against the number of links.

``python -m benchmarks.compile_time --out results/benchmarks/compile_time.json``

Every arm is solved in a fresh process without a compilation cache: imports and the making of the arm are
not counted, tracing, compiling and the first call are. Then whole processes that solve one arm, and a batch, one after
the other with the same cache of compiled programs: the first fills it, the others use it.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LINKS = (2, 4, 8, 16, 32, 64)
MODES = 20


def main(arguments: list[str] | None = None) -> None:
    """Measure all arms, print a table and write JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compile_time", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("results/benchmarks/compile_time.json"))
    parser.add_argument("--links", type=int, nargs="+", default=list(LINKS))
    parser.add_argument("--one", type=int, help="this number of links alone, in this process")
    options = parser.parse_args(arguments)
    if options.one is not None:
        print(json.dumps(first_and_second_call(options.one)))
        return
    rows = []
    for links in options.links:
        command = [sys.executable, "-m", "benchmarks.compile_time", "--one", str(links)]
        clean = {k: v for k, v in os.environ.items() if k != "JAX_COMPILATION_CACHE_DIR"}
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=clean)
        rows.append(json.loads(done.stdout.splitlines()[-1]))
        print(json.dumps(rows[-1]), flush=True)
    base = next((row["first_seconds"] for row in rows if row["links"] == 4), None)
    for row in rows:
        row["ratio_to_four_links"] = row["first_seconds"] / base if base else None
    print(f"{'links':>6}{'first call, s':>15}{'second call, s':>16}{'first / n = 4':>15}")
    for row in rows:
        ratio = "" if base is None else f"{row['ratio_to_four_links']:.2f}"
        print(
            f"{row['links']:6d}{row['first_seconds']:15.2f}{row['second_seconds']:16.3f}{ratio:>15}"
        )
    cache = {what: with_cache(what) for what in ("single", "batch")}
    for what, row in cache.items():
        print(
            f"{what}: process {row['first_seconds']:.1f} s without and {row['again_seconds']:.1f} s with"
            f" its cache, {row['ratio']:.2f}"
        )
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(
        json.dumps({"modes": MODES, "rows": rows, "cache": cache}, indent=1) + "\n"
    )


_ANSWER = """
import sys, jax
jax.config.update("jax_enable_x64", True)
import numpy as np
import jaxmodal as jm
jm.tune_cpu()
jm.use_compilation_cache(sys.argv[1])
arm = jm.examples.three_link_industrial()
if sys.argv[2] == "single":
    print(jm.natural_frequencies(arm, 10).frequencies_hz)
else:
    cells = {"link2.joint_angle": np.linspace(-3, 3, 1000), "payload.mass": np.linspace(0, 9, 1000)}
    print(jm.natural_frequencies_batch(arm, cells, 10).omega.sum())
"""


def with_cache(what: str) -> dict[str, float]:
    """Seconds of whole processes, imports included: the one that fills a cache, and the median of three that use it."""
    seconds = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(4):
            begin = time.perf_counter()
            command = [sys.executable, "-c", _ANSWER, folder, what]
            subprocess.run(command, check=True, capture_output=True)
            seconds.append(time.perf_counter() - begin)
    again = statistics.median(seconds[1:])
    return {"first_seconds": seconds[0], "again_seconds": again, "ratio": again / seconds[0]}


def first_and_second_call(links: int) -> dict[str, float | int]:
    """Seconds of two calls for an arm of equal links in a zigzag."""
    import jax

    from jaxmodal.runtime.compilation import add_cpu_flags

    jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]  # before any array
    add_cpu_flags()
    import jaxmodal as jm

    link = jm.Link(
        0.5, 7e10, 2700.0, jm.rectangle(0.03, 0.05, 0.85), poisson_ratio=0.34, tip_mass=0.3
    )
    angles = [0.4 * (-1) ** k for k in range(links - 1)]
    arm = jm.Arm((link,) * links).with_posture(angles)
    seconds = []
    certified = True
    for _ in range(2):
        begin = time.perf_counter()
        result = jm.natural_frequencies(arm, MODES)
        certified = certified and bool(result.certified.all())
        seconds.append(time.perf_counter() - begin)
    return {
        "links": links,
        "first_seconds": seconds[0],
        "second_seconds": seconds[1],
        "certified": certified,
    }


if __name__ == "__main__":
    main()
