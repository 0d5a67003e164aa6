"""From command to answer: whole processes, with no compiled program kept (cold) and with all (warm).

``python -m benchmarks.start --out results/benchmarks/start.json --docs docs/start.md``

Every command runs in fresh processes: one with an empty cache of compiled programs, then others with what that has
left. Beside the whole time stand the parts that JAX reports (tracing, lowering, compiling or loading, the number of
programs) and the imports. A posture map from import to picture runs with jaxmodal and with the chain form, the
strongest rival of `benchmarks.batch`, which compiles nothing and gets the beam quantities of its cells for free.
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
from typing import Any

from benchmarks.marks import between
from benchmarks.reports import add_out, write_report

ROOT = Path(__file__).parent.parent
BEGIN, END = "<!-- figures -->", "<!-- end of figures -->"

#: runs a script with the events of JAX counted, and prints them as the last line
_WATCHED = """
import time
BEGIN = time.perf_counter()
import atexit, json, resource, sys
import jax

SECONDS, PROGRAMS = {"trace": 0.0, "lower": 0.0, "compile": 0.0}, [0]
KINDS = {"jaxpr_trace_duration": "trace", "jaxpr_to_mlir_module_duration": "lower"}
KINDS["backend_compile_duration"] = "compile"

def listen(name, seconds, **_):
    kind = KINDS.get(name.rsplit("/", 1)[-1])
    if kind:
        SECONDS[kind] += seconds
        PROGRAMS[0] += kind == "compile"

jax.monitoring.register_event_duration_secs_listener(listen)
import jaxmodal
IMPORT = time.perf_counter() - BEGIN

def report():
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu = used.ru_utime + used.ru_stime
    found = {"import": IMPORT, "cpu": cpu, "programs": PROGRAMS[0], **SECONDS}
    print("\\n" + json.dumps(found), file=sys.__stdout__, flush=True)

atexit.register(report)
"""
_COMMAND = "from jaxmodal.cli.commands import main; sys.argv = ['jaxmodal', *{arguments!r}]; main()"
_LIBRARY = """
jax.config.update("jax_enable_x64", True)
import os
import numpy as np
import jaxmodal as jm
jm.tune_cpu()
jm.use_compilation_cache(os.environ["JAXMODAL_CACHE"])
rng = np.random.default_rng(0)
arm = jm.examples.three_link_industrial()
angles = {"link2.joint_angle": rng.uniform(-3, 3, 10_000), "link3.joint_angle": rng.uniform(-3, 3, 10_000)}
"""
_GENERAL = (
    _LIBRARY
    + 'jm.natural_frequencies_batch(arm, angles | {"payload.mass": rng.uniform(0, 9, 10_000)}, 10)'
)
_SERIES = _LIBRARY + "jm.natural_frequencies_batch(arm, angles, 10)"
#: a map of ten modes over two joint angles, drawn as ten panels
_DRAWN = """
import matplotlib
matplotlib.use("agg")
import matplotlib.pyplot as plt
figure, panels = plt.subplots(2, 5, figsize=(15, 6))
for mode, panel in enumerate(panels.ravel()):
    panel.pcolormesh(x, x, hertz[:, mode].reshape(x.size, x.size))
figure.savefig("map.png")
"""
_MAP = (
    _LIBRARY
    + """
x = np.linspace(-np.pi, np.pi, SIDE)
first, second = (a.ravel() for a in np.meshgrid(x, x, indexing="ij"))
cells = {"link2.joint_angle": first, "link3.joint_angle": second}
hertz = np.asarray(jm.natural_frequencies_batch(arm, cells, 10).frequencies_hz)
"""
)
_CHAIN = """
import sys
import numpy as np
sys.path.insert(0, ROOT)
from benchmarks.chain_form import ChainForm
x = np.linspace(-np.pi, np.pi, SIDE)
beams = dict(np.load(BEAMS))
hertz = np.concatenate([
    ChainForm(12, 11, 7).frequencies({name: value[at : at + 256] for name, value in beams.items()})
    for at in range(0, x.size**2, 256)
]) / (2 * np.pi)
"""


def processes(arm: str) -> dict[str, str]:
    """What is timed, by the name that the table shows."""
    commands = {
        "frequencies": ["frequencies", arm],
        "modes": ["modes", arm],
        "sensitivities": ["sensitivities", arm],
        "postures": ["postures", arm, "--frequency", "6"],
        "README's main command": ["sweep", "run", "example:three_link_posture_map"],
    }
    found = {name: _COMMAND.format(arguments=a) for name, a in commands.items()}
    return found | {
        "first batch, 10,000 cells, general path": _GENERAL,
        "first batch, 10,000 postures, series": _SERIES,
    }


def once(script: str, cache: str, watched: bool = True) -> dict[str, float]:
    """One process, in an empty folder."""
    environment = os.environ | {"JAXMODAL_CACHE": cache, "PYTHONPATH": str(ROOT)}
    environment.pop("JAX_COMPILATION_CACHE_DIR", None)
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-c", (_WATCHED if watched else "") + script],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
        )
        wall = time.perf_counter() - begin
    if done.returncode != 0:
        raise RuntimeError(
            f"{script.splitlines()[-1]} ended with {done.returncode}:\n{done.stderr}"
        )
    found = json.loads(done.stdout.splitlines()[-1]) if watched else {}
    return {"wall": wall, **found}


def cold_and_warm(script: str, repeats: int) -> dict[str, dict[str, float]]:
    """Medians of processes that begin without a compiled program, and of others after each of them."""
    cold, warm = [], []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(once(script, cache))
            warm.append(once(script, cache))
    return {
        name: {key: statistics.median(run[key] for run in runs) for key in runs[0]}
        for name, runs in (("cold", cold), ("warm", warm))
    }


def maps(side: int, repeats: int) -> dict[str, Any]:
    """The map of ``side`` x ``side`` postures by jaxmodal and by the chain form, from import to picture."""
    import jax
    import numpy as np

    jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]  # before any array
    from benchmarks.rivals import cell_beams
    from jaxmodal.spatial.files import examples

    x = np.linspace(-np.pi, np.pi, side)
    first, second = (a.ravel() for a in np.meshgrid(x, x, indexing="ij"))
    cells = {"link2.joint_angle": first, "link3.joint_angle": second}
    with tempfile.TemporaryDirectory() as folder:
        beams = str(Path(folder) / "beams.npz")
        np.savez(beams, **cell_beams(examples.three_link_industrial(), cells))
        ours = cold_and_warm(f"SIDE = {side}\n" + _MAP + _DRAWN, repeats)
        given = f"ROOT, SIDE, BEAMS = {str(ROOT)!r}, {side}, {beams!r}\n"
        script = given + _CHAIN + _DRAWN
        rival = [once(script, "off", watched=False)["wall"] for _ in range(repeats)]
    chain = statistics.median(rival)
    return {
        "cells": side * side,
        "jaxmodal_cold": ours["cold"]["wall"],
        "jaxmodal_warm": ours["warm"]["wall"],
        "chain_form": chain,
        "ratio_cold": chain / ours["cold"]["wall"],
        "ratio_warm": chain / ours["warm"]["wall"],
    }


def page(report: dict[str, Any]) -> str:
    """The tables of the documentation."""
    lines = ["| seconds | wall | processor | import | trace | lower | compile or load | programs |"]
    lines.append("|---|--:|--:|--:|--:|--:|--:|--:|")
    for name, row in report["processes"].items():
        for state in ("cold", "warm"):
            r = row[state]
            parts = [r[k] for k in ("wall", "cpu", "import", "trace", "lower", "compile")]
            figures = " | ".join(f"{x:.1f}" for x in parts)
            lines.append(f"| {name}, {state} | {figures} | {r['programs']:.0f} |")
    lines += [
        "",
        "| cells of the map | jaxmodal, cold | warm | chain form | its time over ours, cold | warm |",
    ]
    lines.append("|--:|--:|--:|--:|--:|--:|")
    for m in report["maps"]:
        times = " | ".join(
            f"{m[k]:.1f} s" for k in ("jaxmodal_cold", "jaxmodal_warm", "chain_form")
        )
        lines.append(
            f"| {m['cells']:,} | {times} | {m['ratio_cold']:.2f} | {m['ratio_warm']:.2f} |"
        )
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    """Measure, print, and write the report and the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.start", description=__doc__)
    add_out(parser)
    parser.add_argument("--docs", type=Path, help="write the tables into this page")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--sides", type=int, nargs="+", default=[32, 100, 256, 512])
    parser.add_argument(
        "--only", nargs="+", help="processes whose names contain one of these words"
    )
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        arm = str(Path(folder) / "arm.toml")
        command = [
            sys.executable,
            "-m",
            "jaxmodal",
            "examples",
            "three_link_industrial",
            "--out",
            arm,
        ]
        subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
        rows = {}
        for name, script in processes(arm).items():
            if options.only is None or any(word in name for word in options.only):
                rows[name] = cold_and_warm(script, options.repeats)
                print(name, json.dumps(rows[name]), flush=True)
    report = {"cores": os.cpu_count(), "repeats": options.repeats, "processes": rows, "maps": []}
    for side in options.sides:
        report["maps"].append(maps(side, options.repeats))
        print(json.dumps(report["maps"][-1]), flush=True)
    write_report(report, options.out)
    print(page(report))
    if options.docs is not None:
        text = options.docs.read_text()
        options.docs.write_text(between(text, BEGIN, END, page(report)))


if __name__ == "__main__":
    main()
