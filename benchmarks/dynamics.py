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
#: methods, with their steps in s or their tolerances: of the plain arm, and of one that is stiff
SETTINGS: dict[str, dict[str, tuple[float, ...]]] = {
    "plain": {
        "rk4": (4e-3, 2e-3, 1e-3, 5e-4),
        "linearly_implicit": (4e-3, 2e-3, 1e-3, 5e-4),
        "tsit5": (1e-4, 1e-6),
        "dopri8": (1e-4, 1e-6, 1e-8),
        "kvaerno5": (1e-3, 1e-5),
    },
    "stiff": {
        "rk4": (1.25e-4, 6.25e-5),
        "linearly_implicit": (4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4),
        "dopri8": (1e-4, 1e-7),
        "kvaerno5": (1e-3, 1e-5),
    },
}
FIXED = ("rk4", "linearly_implicit")
CELLS = {"plain": 16, "stiff": 4}
ARMS = {
    "plain": "two modes a link",
    "stiff": "four modes a link, Kelvin-Voigt damping of 10 ms",
}


def main(arguments: list[str] | None = None) -> None:
    """Measure what is asked for, print it and write JSON and a picture."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.dynamics", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("results/benchmarks/dynamics.json"))
    parser.add_argument("--parts", default="forward,told,in_space,precision,speed")
    parser.add_argument("--cells", type=int, default=1000)
    parser.add_argument("--arms", default=",".join(SETTINGS), help="of precision")
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
            "told": lambda: told(options.repeats),
            "in_space": lambda: in_space(options.repeats),
            "precision": lambda: [row for arm in options.arms.split(",") for row in precision(arm)],
            "speed": lambda: speed(options.cells, options.repeats),
        }[part]()
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(known, indent=1) + "\n")
    if "precision" in known:
        draw(known["precision"], options.out.with_name("dynamics_precision.png"))
        options.out.with_name("dynamics_precision.md").write_text(table(known["precision"]))


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
    from jaxmodal.dynamics.mechanics import recursion

    return [both_ways(chain(links, modes), recursion.solve, repeats, batch) for links in LINKS]


def told(repeats: int, batch: int = 512, modes: int = 2) -> list[dict[str, Any]]:
    """The same where the motors move as they are told."""
    import jax.numpy as jnp

    from jaxmodal.dynamics.mechanics import recursion, solves

    def by_recursion(model: Any, q: Any, right: Any, given: Any) -> Any:
        free = model.layout.free
        return recursion.solve_held(model, q, jnp.where(free > 0.0, right, given))[0]

    def factorised(model: Any, matrix: Any, right: Any, given: Any) -> Any:
        return solves.solve_held(matrix, right, model.layout.free, given)[0]

    return [
        both_ways(chain(links, modes), by_recursion, repeats, batch, factorised) for links in LINKS
    ]


#: shapes of each link in space: bending in each plane, torsion, stretch
SHAPES = ((2, 0, 0), (2, 1, 1), (3, 1, 1))
LINKS_IN_SPACE = (2, 3, 5, 7)


def chain_in_space(links: int, shapes: tuple[int, int, int]) -> Any:
    """A model of equal links, each joint at a right angle to the one before, with hubs and a payload."""
    import jaxmodal as jm
    from jaxmodal.dynamics import flexible_arm

    section = jm.rectangle(0.01, 0.02, "cowper")
    hub = jm.RigidBody(0.1, inertia=(0.01, 0.01, 0.01))
    link = jm.SpatialLink(0.5, 7e10, 2700.0, section, poisson_ratio=0.33, hub=hub)
    second = link.replace(joint_axis=(0.0, 1.0, 0.0))
    arm = jm.SpatialArm(((link, second) * links)[:links], jm.RigidBody(0.1))
    names = ("bending_xy", "bending_xz", "torsion", "stretch")
    counts = dict(zip(names, (shapes[0], *shapes), strict=True))
    return flexible_arm(arm, counts, gravity=(0.0, 0.0, -9.81))


def space_station_arm() -> Any:
    """Seven joints on springs with geared rotors, two booms of seven shapes each, the other links rigid."""
    import jaxmodal as jm
    from jaxmodal.dynamics import flexible_arm

    geared = {"joint_stiffness": 1e6, "rotor_inertia": 0.05, "gear_ratio": 10.0, "motor": "held"}
    short = jm.SpatialLink(0.64, rigid=True, nonstructural_mass=110.0, **geared)
    tube = jm.hollow_circle(0.33, 0.0028, "cowper")
    boom = jm.SpatialLink(7.0, 7e10, 2700.0, tube, poisson_ratio=0.33, **geared)
    across = {"joint_axis": (0.0, 1.0, 0.0)}
    links = (short, short, boom, boom, short, short, short)
    turned = tuple(link.replace(**across) if k % 2 else link for k, link in enumerate(links))
    counts = {"bending_xy": 2, "bending_xz": 2, "torsion": 2, "stretch": 1}
    return flexible_arm(jm.SpatialArm(turned, jm.RigidBody(100.0)), counts)


def in_space(repeats: int, batch: int = 512) -> list[dict[str, Any]]:
    """Forward dynamics of chains in space, and of an arm of seven joints with two flexible booms."""
    from jaxmodal.dynamics.mechanics import recursion_in_space

    models = [chain_in_space(links, shapes) for shapes in SHAPES for links in LINKS_IN_SPACE]
    models.append(space_station_arm())
    return [both_ways(model, recursion_in_space.solve, repeats, batch) for model in models]


def both_ways(
    model: Any,
    solve: Callable[..., Any],
    repeats: int,
    batch: int,
    factorised: Callable[..., Any] | None = None,
) -> dict[str, Any]:
    """Microseconds a state of forward dynamics, by B factorised and by the recursion, and what they differ by.

    With ``factorised``, both take the accelerations of the motors in place of their torques.
    """
    import jax

    from jaxmodal.dynamics.mechanics import equations
    from jaxmodal.dynamics.mechanics.solves import solve_definite

    def right(q: Any, rate: Any, torques: Any) -> Any:
        return equations.applied(model, torques) - equations.resistance(model, q, rate)

    links, size = model.num_links, model.num_coordinates
    rng = np.random.default_rng(links)
    q = rng.uniform(-0.05, 0.05, (batch, size))
    rate = rng.uniform(-1.0, 1.0, q.shape)
    torques = rng.uniform(-1.0, 1.0, (batch, links))
    forms: dict[str, Callable[..., Any]] = {
        "dense": lambda a, b, c: solve_definite(equations.inertia(model, a), right(a, b, c))[0],
        "recursive": lambda a, b, c: solve(model, a, right(a, b, c)),
    }
    if factorised is not None:
        forms = {
            "dense": lambda a, b, c: factorised(
                model, equations.inertia(model, a), right(a, b, 0 * c), equations.applied(model, c)
            ),
            "recursive": lambda a, b, c: solve(
                model, a, right(a, b, 0 * c), equations.applied(model, c)
            ),
        }
    row: dict[str, Any] = {"links": links, "modes": list(model.modes), "coordinates": size}
    compiled, results = {}, {}
    for name, form in forms.items():
        start = time.process_time()
        compiled[name] = jax.jit(jax.vmap(form)).lower(q, rate, torques).compile()
        row[f"{name}_compile_s"] = time.process_time() - start
        results[name] = np.asarray(compiled[name](q, rate, torques))
    times: dict[str, list[float]] = {name: [] for name in forms}
    for _ in range(repeats):
        for name, program in compiled.items():
            times[name].append(spent(functools.partial(_tenfold, program, q, rate, torques)))
    for name, values in times.items():
        row[f"{name}_us"] = 1e5 * statistics.median(values) / batch
    gap = np.abs(results["dense"] - results["recursive"]).max(axis=1)
    row["largest_difference"] = float((gap / np.abs(results["dense"]).max(axis=1)).max())
    print(
        f"{links:3} links, {size:3} coordinates: dense {row['dense_us']:8.2f} us, recursive "
        f"{row['recursive_us']:8.2f} us, difference {row['largest_difference']:.0e}",
        flush=True,
    )
    return row


def two_link_model() -> Any:
    """The two-link arm of De Luca and Siciliano, two modes each, the default way to pose it."""
    from benchmarks.reproduction.two_link_motions import section_seven_arm
    from jaxmodal.dynamics import flexible_arm

    return flexible_arm(section_seven_arm(), 2)


def starts(cells: int) -> np.ndarray:
    """Initial states: angles at random, links released bent."""
    rng = np.random.default_rng(1)
    size = np.array([1.0, 1.0, 0.02, 0.002, 0.02, 0.002])
    return rng.uniform(-1.0, 1.0, (cells, 6)) * size


def stiff_model() -> Any:
    """The same arm with four modes each and structural damping, whose fastest rate is 2e4 1/s."""
    from benchmarks.reproduction.two_link_motions import section_seven_arm
    from jaxmodal.dynamics import flexible_arm

    return flexible_arm(section_seven_arm(), 4, kelvin_voigt_time=0.01)


def precision(arm: str) -> list[dict[str, Any]]:
    """Processor time and error of every method, for a batch of bang-bang moves of two seconds."""
    import jax

    from jaxmodal.dynamics import bang_bang, trajectory

    model = two_link_model() if arm == "plain" else stiff_model()
    law, cells = bang_bang([0.1, 0.1], 0.5), CELLS[arm]
    first = np.zeros((cells, model.num_coordinates))
    first[:, [0, 1, 2, -model.modes[1]]] = starts(cells)[:, [0, 1, 2, 4]]

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
        times = [spent(lambda: program(first, rtol))]
        while sum(times) < 3.0 and len(times) < 3:  # once is enough of what takes long
            times.append(spent(lambda: program(first, rtol)))
        seconds = statistics.median(times)
        row = {"arm": arm, "method": method, "setting": setting, "error_m": error}
        rows.append({**row, "ms_per_simulation": 1e3 * seconds / cells})
        each = rows[-1]["ms_per_simulation"]
        print(f"{method:18} {setting:8.0e}: error {error:.1e} m, {each:9.3f} ms each", flush=True)

    for method, settings in SETTINGS[arm].items():
        program = eighth if method == "dopri8" else runner(method, few)
        for setting in settings:
            if method in FIXED:
                add(method, setting, runner(method, few, round(SECONDS / 4 / setting)), 1e-6)
            else:
                add(method, setting, program, setting)
    return rows


#: how each method of ours runs in `speed`: its tolerance, or its step in s
SPEEDS = (("rk4", 2e-3), ("rk4", 1e-3), ("dopri8", 1e-4), ("dopri8", 1e-6))
#: tolerances of SciPy's, of which the loosest that is no less accurate stands beside each of ours
OF_SCIPY = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)
#: cases that SciPy integrates, too
SAMPLE = 3


def speed(cells: int, repeats: int) -> list[dict[str, Any]]:
    """Two seconds of the two-link arm, many at once, beside SciPy's solve_ivp one by one at no less accuracy."""
    import jax

    from jaxmodal.dynamics import bang_bang, trajectory

    model, law, first = two_link_model(), bang_bang([0.1, 0.1], 0.5), starts(cells)
    few = np.linspace(0.0, SECONDS, 5)
    exact, singles = by_scipy(model, first[:SAMPLE])
    rows = []
    for method, setting in SPEEDS:
        fixed = method in FIXED
        choices: dict[str, Any] = {"method": method}
        choices |= (
            {"substeps": round(SECONDS / 4 / setting)}
            if fixed
            else {"rtol": setting, "atol": 0.01 * setting}
        )

        def one(state: Any, chosen: Any = choices) -> Any:
            found = trajectory(model, state, 0.0 * state, few, law, **chosen)
            return found.q[-1], found.steps

        start = time.process_time()
        program = jax.jit(jax.vmap(one)).lower(first).compile()
        compiling = time.process_time() - start
        many = statistics.median(
            spent(lambda it=program: it(first))  # type: ignore[misc]
            for _ in range(repeats)
        )
        clock = time.perf_counter()
        ends, steps = jax.device_get(program(first))
        clock = time.perf_counter() - clock
        error = float(np.abs(ends[:SAMPLE] - exact).max())
        near = next((row for row in singles if row["error"] <= error), singles[-1])
        total = float(np.sum(steps))
        rows.append(
            {
                "method": method,
                "setting": setting,
                "cells": cells,
                "compile_s": compiling,
                "batch_processor_s": many,
                "batch_wall_s": clock,
                "steps_per_processor_s": total / many,
                "steps_per_wall_s": total / clock,
                "error": error,
                "scipy_s_each": near["seconds"],
                "scipy_error": near["error"],
                "scipy_rtol": near["rtol"],
                "ratio": near["seconds"] * cells / many,
                "ratio_with_compiling": near["seconds"] * cells / (many + compiling),
            }
        )
        print(" ".join(f"{name}={value}" for name, value in rows[-1].items()), flush=True)
    return rows


def by_scipy(model: Any, first: np.ndarray) -> tuple[np.ndarray, list[dict[str, float]]]:
    """Final q of some cases at rtol 1e-11, and seconds and errors by tolerance: medians and the worst of the cases."""
    import jax
    import scipy.integrate

    from jaxmodal.dynamics.mechanics import equations

    slope = jax.jit(lambda q, rate, torques: equations.accelerations(model, q, rate, torques)[0])

    def states(torque: float) -> Callable[[float, np.ndarray], np.ndarray]:
        torques = np.full(2, torque)
        return lambda _, y: np.concatenate([y[6:], slope(y[:6], y[6:], torques)])

    def end(state: np.ndarray, rtol: float) -> np.ndarray:
        y = np.concatenate([state, np.zeros(6)])
        for begin, until, torque in ((0.0, 0.5, 0.1), (0.5, 1.0, -0.1), (1.0, 2.0, 0.0)):
            y = scipy.integrate.solve_ivp(
                states(torque), (begin, until), y, "DOP853", rtol=rtol, atol=0.01 * rtol
            ).y[:, -1]
        return y[:6]

    exact = np.stack([end(state, 1e-11) for state in first])
    rows = []
    for rtol in OF_SCIPY:
        seconds, errors = [], []
        for state, truth in zip(first, exact, strict=True):
            begun = time.process_time()
            found = end(state, rtol)
            seconds.append(time.process_time() - begun)
            errors.append(float(np.abs(found - truth).max()))
        rows.append({"rtol": rtol, "seconds": statistics.median(seconds), "error": max(errors)})
        print(f"SciPy {rtol:.0e}: {rows[-1]['seconds']:.2f} s, {rows[-1]['error']:.1e}", flush=True)
    return exact, rows


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """Error over processor time, a panel for each arm, a line for each method."""
    from jaxmodal.plots.figures import new_figure

    arms = _measured(rows)
    figure = new_figure(5.2 * len(arms), 4.4)
    panels = figure.subplots(1, len(arms), squeeze=False)[0]
    methods = list(SETTINGS["plain"])
    for axes, (arm, what) in zip(panels, arms.items(), strict=True):
        for method in SETTINGS[arm]:
            own = [row for row in rows if (row["arm"], row["method"]) == (arm, method)]
            axes.loglog(
                [row["ms_per_simulation"] for row in own],
                [row["error_m"] for row in own],
                marker="osD^v"[methods.index(method)],
                color=f"C{methods.index(method)}",
                markersize=5,
                label=method,
            )
        axes.set_title(f"two-link arm, {what}", fontsize=10)
        axes.set_xlabel("processor time per simulation of 2 s [ms]")
        axes.set_ylabel("error of the tip at the end [m]")
        axes.grid(color="0.9", which="both", linewidth=0.5)
        axes.legend(fontsize=8)
    figure.savefig(path, dpi=130)


def _measured(rows: list[dict[str, Any]]) -> dict[str, str]:
    """The arms of which there are rows."""
    return {arm: what for arm, what in ARMS.items() if any(row["arm"] == arm for row in rows)}


def table(rows: list[dict[str, Any]]) -> str:
    """The same as a table in Markdown."""
    lines = [
        "# Time and error of the methods",
        "",
        "Written by `python -m benchmarks.dynamics`.",
        "",
    ]
    lines += [
        "Bang-bang moves of two seconds, many as one `jax.vmap`; errors against `dopri8` at 1e-12.",
        "",
    ]
    lines += ["![error over time](dynamics_precision.png)", ""]
    for arm, what in _measured(rows).items():
        lines += [f"## Two-link arm, {what}", ""]
        lines += [
            "| method | step or tolerance | time [ms] | error [m] |",
            "| --- | --- | --- | --- |",
        ]
        for row in rows:
            if row["arm"] == arm:
                setting = (
                    f"{1e3 * row['setting']:g} ms"
                    if row["method"] in FIXED
                    else f"{row['setting']:.0e}"
                )
                each = f"{row['ms_per_simulation']:.3g} | {row['error_m']:.1e}"
                lines.append(f"| `{row['method']}` | {setting} | {each} |")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
