"""What writing out equations of motion costs, beside SymPy's mechanics and SymEngine, and how fast the written code is.

``python -m benchmarks.symbolic --out results/benchmarks/symbolic.json``

The system is a chain of equal links with two modes each, hubs, payload and gravity, shape integrals as symbols: B, h
and g. The rivals get the same system without foreshortening, each in a process of its own with a limit on its time; a
method that did not finish is not asked for more links. Times are processor time of one process. Table 1 of the N-DOF
paper was measured by its authors on another machine, in Mathematica, for a model of their own choices.
"""

from __future__ import annotations

import argparse
import functools
import json
import math
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.reports import add_out, write_report, written_before
from benchmarks.symbolic_rivals import POSED as RIVALS_POSED
from benchmarks.symbolic_rivals import TERMS, chain, processor_time

#: seconds for N = 1 to 5 with two modes per link: that paper's way, and the traditional one as far as it is printed
TABLE_1 = {"paper": [0.36, 0.92, 4.21, 21.3, 114.6], "traditional": {"1": 41.63, "5": 1316.45}}
#: ways to pose the equations; the first is what the rivals solve, the second the paper's model
POSED = {
    "full, rotation": RIVALS_POSED,
    "first, linear (the paper's)": ("first", "linear", False),
    "full, rotation, foreshortening": ("full", "rotation", True),
}


def main(arguments: list[str] | None = None) -> None:
    """Measure what is asked for, print it and write JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.symbolic", description=__doc__)
    add_out(parser)
    parser.add_argument("--parts", default="writing,speed,in_space,rivals")
    parser.add_argument("--links", type=int, default=8, help="writing: up to so many")
    parser.add_argument(
        "--limit", type=int, default=600, help="processor seconds for a rival and N"
    )
    parser.add_argument("--rivals", default="lagrange,kane,symengine")
    parser.add_argument("--rival", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    import jax

    jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]  # before any array
    if options.rival:
        resource.setrlimit(resource.RLIMIT_CPU, (options.limit, options.limit))
        name, links = options.rival.split(",")
        from benchmarks.symbolic_rivals import rival

        print(json.dumps(rival(name, int(links))))
        return
    known = written_before(options.out)
    known["table_1_other_machine"] = TABLE_1
    for part in options.parts.split(","):
        known[part] = {
            "writing": lambda: writing(options.links),
            "speed": speed,
            "in_space": in_space,
            "rivals": lambda: rivals(options.limit, options.rivals),
        }[part]()
        write_report(known, options.out)


def writing(most: int, repeats: int = 3) -> dict[str, list[dict[str, Any]]]:
    """Seconds to write the graph, and C and matrices of SymPy from it, and the operations, for 1 to ``most`` links."""
    from jaxmodal.symbolic import operation_counts, to_sympy, write, written_equations

    found: dict[str, list[dict[str, Any]]] = {}
    for way, posed in POSED.items():
        rows = []
        for links in range(1, most + 1):
            model = chain(links, posed)
            times: dict[str, list[float]] = {"graph": [], "C": []}
            for _ in range(repeats):
                spent, written = processor_time(lambda it=model: written_equations(it, TERMS))
                times["graph"].append(spent)
                times["C"].append(processor_time(lambda it=written: write(it, "c"))[0])
            counts = operation_counts(written)
            sympy_time, _ = processor_time(lambda it=written: to_sympy(it))
            row = {
                "links": links,
                "graph_s": statistics.median(times["graph"]),
                "C_s": statistics.median(times["C"]),
                "sympy_s": sympy_time,
                "additions": counts.additions,
                "multiplications": counts.multiplications,
                "functions": counts.functions,
                "operations": counts.total,
            }
            rows.append(row)
            print(
                f"{way}: {links} links, {row['graph_s']:.3f} s, C {row['C_s']:.3f} s, SymPy {sympy_time:.2f} s; "
                f"{counts.total} operations",
                flush=True,
            )
        found[way] = rows
    return found


def rivals(limit: int, names: str, most: int = 8) -> dict[str, list[dict[str, Any]]]:
    """Each rival in a process of its own, one link more until one does not finish."""
    found: dict[str, list[dict[str, Any]]] = {}
    for name in names.split(","):
        rows: list[dict[str, Any]] = []
        for links in range(1, most + 1):
            command = [sys.executable, "-m", "benchmarks.symbolic", "--rival", f"{name},{links}"]
            command += ["--limit", str(limit)]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode == 0:
                rows.append({"finished": True, **json.loads(done.stdout)})
            elif done.returncode < 0:  # the system ends a process that has used its time
                rows.append({"links": links, "finished": False, "limit_s": limit})
            else:
                raise RuntimeError(done.stderr)
            print(name, rows[-1], flush=True)
            if not rows[-1]["finished"]:
                break
        found[name] = rows
    return found


def _repeated(call: Callable[..., Any], given: tuple[Any, Any], count: int) -> None:
    import jax

    for _ in range(count):
        jax.block_until_ready(call(*given))  # type: ignore[no-untyped-call]


def speed(repeats: int = 5, batch: int = 1000) -> list[dict[str, Any]]:
    """Microseconds for B, h and g of one state: C, JAX and NumPy, one by one and in batches; and compile times."""
    import jax

    from jaxmodal.symbolic import function, operation_counts, written_equations

    rows = []
    for links in range(2, 7):
        model = chain(links, POSED["full, rotation, foreshortening"])
        written = written_equations(model, TERMS, integrals="numeric")
        rng = np.random.default_rng(links)
        q, rate = rng.uniform(-0.1, 0.1, (2, batch, model.num_coordinates))
        row: dict[str, Any] = {"links": links, "operations": operation_counts(written).total}
        plain, traced = function(written), function(written, "jax")
        start = time.process_time()
        one = jax.jit(traced).lower(q[0], rate[0]).compile()
        row["jax_compile_s"] = time.process_time() - start
        many = jax.jit(traced).lower(q, rate).compile()
        one_state, states = (q[0], rate[0]), (q, rate)
        calls: dict[str, tuple[Callable[..., Any], tuple[Any, Any], int]] = {
            "numpy": (plain, one_state, 1),
            "numpy_batch": (plain, states, batch),
            "jax": (one, one_state, 1),
            "jax_batch": (many, states, batch),
        }
        times: dict[str, list[float]] = {name: [] for name in calls}
        for _ in range(repeats):
            for name, (call, given, number) in calls.items():
                count = max(1, 200 // number)
                repeated = functools.partial(_repeated, call, given, count)
                times[name].append(1e6 * processor_time(repeated)[0] / (count * number))
        row |= {f"{name}_us": statistics.median(values) for name, values in times.items()}
        row |= c_speed(written)
        rows.append(row)
        print(", ".join(f"{name} {value:.4g}" for name, value in row.items()), flush=True)
    return rows


def in_space() -> list[dict[str, Any]]:
    """Six axes, rigid and with two booms: seconds to write B, h and g and their C, operations, microseconds of C."""
    import jaxmodal as jm
    from jaxmodal.dynamics import flexible_arm
    from jaxmodal.symbolic import operation_counts, write, written_equations

    section = jm.spatial_section(2e-4, 2e-9, 5e-9, 4e-9)
    beam = {"youngs_modulus": 7e10, "density": 2700.0, "section": section, "poisson_ratio": 0.33}
    body = jm.RigidBody(2.0, centre=(0.02, 0.01, -0.03), inertia=(0.01, 0.012, 0.015))
    axes = ((0, 0, 1), (0, 1, 0), (0, 1, 0), (1, 0, 0), (0, 1, 0), (1, 0, 0))
    rows = []
    for title, bent, modes in (
        ("rigid", (), {}),
        (
            "two booms, 2 + 2 bending, torsion",
            (1, 2),
            {"bending_xy": 2, "bending_xz": 2, "torsion": 1},
        ),
        (
            "two booms, 3 + 3 bending, torsion",
            (1, 2),
            {"bending_xy": 3, "bending_xz": 3, "torsion": 1},
        ),
    ):
        links = tuple(
            jm.SpatialLink(
                0.5, joint_axis=axis, hub=body, **(beam if i in bent else {"rigid": True})
            )
            for i, axis in enumerate(axes)
        )
        model = flexible_arm(jm.SpatialArm(links), modes or 2, gravity=(0.0, 0.0, -9.81))
        spent, written = processor_time(lambda it=model: written_equations(it, TERMS))
        text, _ = processor_time(lambda it=written: write(it, "c"))
        row = {"arm": title, "graph_s": spent, "C_s": text}
        row["operations"] = operation_counts(written).total
        row |= c_speed(written_equations(model, TERMS, integrals="numeric"))
        rows.append(row)
        print(", ".join(f"{name} {value}" for name, value in row.items()), flush=True)
    return rows


_TIMING = """
#include <stdio.h>
#include <time.h>
#include "model.h"
int main(void)
{
    static double q[MODEL_COORDINATES], rate[MODEL_COORDINATES];
    static double B[MODEL_COORDINATES][MODEL_COORDINATES], h[MODEL_COORDINATES], g[MODEL_COORDINATES];
    double sum = 0.0;
    const int calls = 100000;
    const clock_t start = clock();
    for (int k = 0; k < calls; k++) {
        q[k % MODEL_COORDINATES] += 1e-6;
        rate[k % MODEL_COORDINATES] += 1e-6;
        model(q, rate, B, h, g);
        sum += B[0][0] + h[0] + g[0];
    }
    printf("%.17g %.17g\\n", 1e6 * (double)(clock() - start) / CLOCKS_PER_SEC / calls, sum);
    return 0;
}
"""


def c_speed(written: Any) -> dict[str, Any]:
    """Microseconds per call and seconds to build, by the compiler at hand with -O2; a reason without one."""
    from jaxmodal.symbolic import write

    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return {"c_us": math.nan}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, text in {**write(written, "c"), "timing.c": _TIMING}.items():
            (folder / file).write_text(text)
        start = time.perf_counter()
        subprocess.run(
            [compiler, "-std=gnu99", "-O2", "model.c", "timing.c", "-lm", "-o", "timing"],
            cwd=folder,
            check=True,
        )
        built = time.perf_counter() - start
        runs = [
            float(
                subprocess.run([folder / "timing"], capture_output=True, check=True).stdout.split()[
                    0
                ]
            )
            for _ in range(3)
        ]
    return {"c_us": statistics.median(runs), "c_build_s": built}


if __name__ == "__main__":
    main()
