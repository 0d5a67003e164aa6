"""What simulating arms costs: forward dynamics by links, methods by accuracy, and a batch beside SciPy.

``python -m benchmarks.dynamics --out results/benchmarks/dynamics.json``

Times are processor time of the whole process (all its threads), medians of repeats in turn within one process;
compiling is told apart. A rate "per core" is a rate per second of that processor time.
"""

from __future__ import annotations

import argparse
import functools
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

LINKS = tuple(range(1, 11))
#: of the two-link arm: bang-bang over two seconds
SECONDS = 2.0
#: steps of the methods with fixed steps, s, and tolerances of the others
STEPS = {"rk4": (4e-3, 2e-3, 1e-3, 5e-4), "linearly_implicit": (4e-3, 2e-3, 1e-3, 5e-4)}
TOLERANCES = {
    "tsit5": (1e-4, 1e-6, 1e-8),
    "dopri8": (1e-4, 1e-6, 1e-8, 1e-10),
    "kvaerno5": (1e-3, 1e-5),
}


def main(arguments: list[str] | None = None) -> None:
    """Measure what is asked for, print it and write JSON and a picture."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.dynamics", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("results/benchmarks/dynamics.json"))
    parser.add_argument("--parts", default="forward,precision,speed")
    parser.add_argument("--cells", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args(arguments)
    import jax

    from jaxmodal.runtime.compilation import add_cpu_flags

    jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]  # before any array
    add_cpu_flags()
    known: dict[str, Any] = json.loads(options.out.read_text()) if options.out.exists() else {}
    for part in options.parts.split(","):
        known[part] = {
            "forward": lambda: forward(options.repeats),
            "precision": lambda: precision(),
            "speed": lambda: speed(options.cells, options.repeats),
        }[part]()
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(known, indent=1) + "\n")
    if "precision" in known:
        draw(known["precision"], options.out.with_name("dynamics_precision.png"))


def spent(call: Callable[[], Any]) -> float:
    """Processor time of a call that returns arrays of JAX, s."""
    import jax

    start = time.process_time()
    jax.block_until_ready(call())  # type: ignore[no-untyped-call]
    return time.process_time() - start


def _tenfold(program: Callable[..., Any], *arguments: Any) -> list[Any]:
    return [program(*arguments) for _ in range(10)]


def chain(links: int, modes: int) -> Any:
    """A model of equal links with hubs and a payload."""
    import jaxmodal as jm
    from jaxmodal.dynamics import flexible_arm

    section = jm.raw_section(area=1e-4, second_moment=1.0 / 7e10)
    link = jm.Link(0.5, 7e10, 2000.0, section, hub_mass=0.1, hub_inertia=0.01)
    return flexible_arm(jm.Arm((link,) * links, jm.Payload(0.1, 5e-4)), modes, gravity=(0.0, -9.81))


def forward(repeats: int, batch: int = 512, modes: int = 2) -> list[dict[str, Any]]:
    """Forward dynamics of chains of 1 to 10 links: B factorised, and the articulated recursion."""
    import jax

    from jaxmodal.dynamics import equations, recursion
    from jaxmodal.dynamics.solves import solve_definite

    def right(model: Any, q: Any, rate: Any, torques: Any) -> Any:
        return equations.applied(model, torques) - equations.resistance(model, q, rate)

    rows = []
    for links in LINKS:
        model = chain(links, modes)
        rng = np.random.default_rng(links)
        q = rng.uniform(-0.05, 0.05, (batch, model.num_coordinates))
        rate = rng.uniform(-1.0, 1.0, q.shape)
        torques = rng.uniform(-1.0, 1.0, (batch, links))
        forms = {
            "dense": lambda a, b, c, it=model: solve_definite(
                equations.inertia(it, a), right(it, a, b, c)
            )[0],
            "recursive": lambda a, b, c, it=model: recursion.solve(it, a, right(it, a, b, c)),
        }
        row: dict[str, Any] = {"links": links, "coordinates": model.num_coordinates}
        compiled, results = {}, {}
        for name, form in forms.items():
            start = time.process_time()
            compiled[name] = jax.jit(jax.vmap(form)).lower(q, rate, torques).compile()
            row[f"{name}_compile_s"] = time.process_time() - start
            results[name] = np.asarray(compiled[name](q, rate, torques))
        times: dict[str, list[float]] = {name: [] for name in forms}
        for _ in range(repeats):
            for name, program in compiled.items():
                calls = functools.partial(_tenfold, program, q, rate, torques)
                times[name].append(spent(calls))
        for name, values in times.items():
            row[f"{name}_us"] = 1e5 * statistics.median(values) / batch
        gap = np.abs(results["dense"] - results["recursive"]).max(axis=1)
        row["largest_difference"] = float((gap / np.abs(results["dense"]).max(axis=1)).max())
        rows.append(row)
        print(
            f"{links:3} links, {row['coordinates']:3} coordinates: dense {row['dense_us']:8.2f} us, recursive "
            f"{row['recursive_us']:8.2f} us, difference {row['largest_difference']:.0e}",
            flush=True,
        )
    return rows


def two_link_model() -> Any:
    """The two-link arm of De Luca and Siciliano, two modes each, the default way to pose it."""
    from jaxmodal.dynamics import flexible_arm
    from jaxmodal.reproduction.two_link_motions import section_seven_arm

    return flexible_arm(section_seven_arm(), 2)


def starts(cells: int) -> np.ndarray:
    """Initial states: angles at random, links released bent."""
    rng = np.random.default_rng(1)
    size = np.array([1.0, 1.0, 0.02, 0.002, 0.02, 0.002])
    return rng.uniform(-1.0, 1.0, (cells, 6)) * size


def precision(cells: int = 64) -> list[dict[str, Any]]:
    """Processor time and error of every method, for a batch of bang-bang moves of two seconds."""
    import jax

    from jaxmodal.dynamics import bang_bang, trajectory

    model, law, first = two_link_model(), bang_bang([0.1, 0.1], 0.5), starts(cells)

    def runner(method: str, times: np.ndarray, substeps: int = 1) -> Any:
        def ends(q: Any, rtol: Any) -> Any:
            choices: dict[str, Any] = {"method": method, "rtol": rtol, "atol": 0.01 * rtol}

            def one(state: Any) -> Any:
                still = 0.0 * state
                found = trajectory(model, state, still, times, law, substeps=substeps, **choices)
                return found.tip[-1]

            return jax.vmap(one)(q)

        return jax.jit(ends)

    few = np.linspace(0.0, SECONDS, 5)
    eighth = runner("dopri8", few)
    exact = np.asarray(eighth(first, 1e-12))
    rows = []

    def add(method: str, setting: float, program: Any, rtol: float) -> None:
        error = float(np.abs(np.asarray(program(first, rtol)) - exact).max())
        seconds = statistics.median(spent(lambda: program(first, rtol)) for _ in range(3))
        row = {"method": method, "setting": setting, "error_m": error}
        rows.append({**row, "ms_per_simulation": 1e3 * seconds / cells})
        each = rows[-1]["ms_per_simulation"]
        print(f"{method:18} {setting:8.0e}: error {error:.1e} m, {each:9.3f} ms each", flush=True)

    for method, steps in STEPS.items():
        for step in steps:
            add(method, step, runner(method, few, round(SECONDS / 4 / step)), 1e-6)
    for method, tolerances in TOLERANCES.items():
        program = eighth if method == "dopri8" else runner(method, few)
        for tolerance in tolerances:
            add(method, tolerance, program, tolerance)
    return rows


def speed(cells: int, repeats: int) -> dict[str, Any]:
    """Two seconds of the two-link arm, many at once by RK4, beside SciPy's solve_ivp one by one."""
    import jax
    import scipy.integrate

    from jaxmodal.dynamics import bang_bang, equations, trajectory

    model, law, first = two_link_model(), bang_bang([0.1, 0.1], 0.5), starts(cells)
    few, step = np.linspace(0.0, SECONDS, 5), 1e-3
    substeps = round(SECONDS / 4 / step)

    def one(state: Any) -> Any:
        return trajectory(model, state, 0.0 * state, few, law, method="rk4", substeps=substeps).q[
            -1
        ]

    start = time.process_time()
    program = jax.jit(jax.vmap(one)).lower(first).compile()
    compiling = time.process_time() - start
    many = statistics.median(spent(lambda: program(first)) for _ in range(repeats))
    clock = time.perf_counter()
    ends = np.asarray(jax.block_until_ready(program(first)))  # type: ignore[no-untyped-call]
    clock = time.perf_counter() - clock

    slope = jax.jit(lambda q, rate, torques: equations.accelerations(model, q, rate, torques)[0])

    def states(torque: float) -> Callable[[float, np.ndarray], np.ndarray]:
        torques = np.full(2, torque)
        return lambda _, y: np.concatenate([y[6:], slope(y[:6], y[6:], torques)])

    def by_scipy(state: np.ndarray, rtol: float) -> np.ndarray:
        y = np.concatenate([state, np.zeros(6)])
        for begin, end, torque in ((0.0, 0.5, 0.1), (0.5, 1.0, -0.1), (1.0, 2.0, 0.0)):
            y = scipy.integrate.solve_ivp(
                states(torque), (begin, end), y, "DOP853", rtol=rtol, atol=0.01 * rtol
            ).y[:, -1]
        return y[:6]

    by_scipy(first[0], 1e-3)
    own, scipy_errors, chosen, singles = [], [], [], []
    for k in range(3):
        exact = by_scipy(first[k], 1e-11)
        own.append(float(np.abs(ends[k] - exact).max()))
        for rtol in (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8):
            begun = time.process_time()
            found = by_scipy(first[k], rtol)
            seconds = time.process_time() - begun
            error = float(np.abs(found - exact).max())
            if error <= own[-1]:
                break
        singles.append(seconds)
        scipy_errors.append(error)
        chosen.append(rtol)
    alone = statistics.median(singles)
    steps = cells * 4 * substeps
    row = {
        "cells": cells,
        "step_s": step,
        "compile_s": compiling,
        "batch_processor_s": many,
        "batch_wall_s": clock,
        "steps_per_processor_s": steps / many,
        "steps_per_wall_s": steps / clock,
        "scipy_s_each": alone,
        "ratio": alone * cells / many,
        "ratio_with_compiling": alone * cells / (many + compiling),
        "largest_error": max(own),
        "scipy_error": max(scipy_errors),
        "scipy_rtol": statistics.median(chosen),
    }
    for name, value in row.items():
        print(f"{name:24} {value:.4g}", flush=True)
    return row


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """Error over processor time, a line for each method."""
    from jaxmodal.plots.modes import new_figure

    figure = new_figure(6.4, 4.4)
    axes = figure.subplots()
    for method in dict.fromkeys(row["method"] for row in rows):
        own = [row for row in rows if row["method"] == method]
        axes.loglog(
            [row["ms_per_simulation"] for row in own],
            [row["error_m"] for row in own],
            "o-",
            markersize=4,
            label=method,
        )
    axes.set_xlabel("processor time per simulation [ms]")
    axes.set_ylabel("error of the tip after 2 s [m]")
    axes.grid(color="0.9", which="both", linewidth=0.5)
    axes.legend(fontsize=8)
    figure.savefig(path, dpi=130)


if __name__ == "__main__":
    main()
