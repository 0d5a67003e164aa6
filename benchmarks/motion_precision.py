"""What simulating an arm costs by accuracy: every method at several steps or tolerances, and what it errs by."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.forward_dynamics import spent

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
