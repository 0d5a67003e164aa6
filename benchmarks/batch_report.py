"""What a run of `batch` shows: a table, a plot, and the machine that it was measured on."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any


def cpu_model() -> str:
    """Name of the processor."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def table(report: dict[str, Any]) -> str:
    """The report as text."""
    machine = report["machine"]
    lines = [
        f"{machine['cpu']}, {machine['cores']} cores; {report['cells']} cells, {report['modes']} modes"
    ]
    head = f"{'solver':22}{'ms/cell':>10}{'times':>8}{'max error':>11}{'median':>10}{'missed':>8}"
    for run in report["runs"]:
        lines += ["", f"{run['workload']}, {run['cores']} core(s)", head]
        for label, s in run["solvers"].items():
            line = f"{label:22}{s['milliseconds_per_cell']:10.4f}{s['times_jaxmodal']:8.1f}"
            if "largest_error" in s:
                line += f"{s['largest_error']:11.1e}{s['median_error']:10.1e}{s['modes_missed']:8d}"
            lines.append(line)
        count = run["evaluations_per_cell"]
        lines.append(
            f"compile {run['compile_seconds']:.1f} s; all certified: {run['certified']}; evaluations "
            f"per cell {count['mean']:.1f}, median {count['median']:.0f}, most {count['most']}"
        )
    return "\n".join(lines)


#: what solvers are called in pictures
NAMES = {
    "jaxmodal": "jaxmodal, certified",
    "chain_form": "p-elements, chain form",
    "chain_form_p11": "the same, degree 11",
    "chain_form_coarse": "the same, coarse",
    "p_element_eigh": "p-elements, dense",
    "quadratic_mesh_eigsh": "quadratic mesh, sparse",
    "opensees": "OpenSees",
    "opensees_extrapolated": "OpenSees, extrapolated",
    "slogdet_scan": "determinant scan",
}


def plot(report: dict[str, Any], path: Path) -> None:
    """Bars of the time per cell with the largest error beside each, one panel per run."""
    from jaxmodal.plots.figures import COLOURS, new_figure, style

    runs = report["runs"]
    columns = min(2, len(runs))
    rows = -(-len(runs) // columns)
    most = max(len(run["solvers"]) for run in runs)
    with style():
        figure = new_figure(5.6 * columns, (0.3 * most + 0.7) * rows)
        grid = figure.subplots(rows, columns, sharex=True, squeeze=False)
        for axis, run in zip(grid.flat, runs, strict=False):
            solvers = run["solvers"]
            times = [s["milliseconds_per_cell"] for s in solvers.values()]
            bars = axis.barh(range(len(times)), times, color=COLOURS[0], height=0.7)
            bars[0].set_color(COLOURS[1])
            texts = [f" {s['times_jaxmodal']:.3g}×{_accuracy(s)}" for s in solvers.values()]
            axis.bar_label(bars, texts, fontsize=8)
            axis.set_yticks(range(len(times)), [NAMES.get(label, label) for label in solvers])
            axis.invert_yaxis()
            axis.set_xscale("log")
            cores = run["cores"]
            arm = run["workload"].replace("_", "-")
            axis.set_title(f"{arm} arm, {cores} core{'s' * (cores > 1)}")
        every = [s["milliseconds_per_cell"] for run in runs for s in run["solvers"].values()]
        grid[0, 0].set_xlim(0.5 * min(every), 100.0 * max(every))  # room for the texts; shared
        for axis in grid[-1]:
            axis.set_xlabel("time per cell [ms]")
        for axis in grid.flat[len(runs) :]:
            axis.set_visible(False)
        figure.suptitle(
            f"{report['cells']:,} cells, {report['modes']} modes; times jaxmodal's time, largest relative error",
            fontsize=10,
        )
        figure.savefig(path, dpi=130)


def _accuracy(solver: dict[str, Any]) -> str:
    """The largest relative error of a solver's frequencies, and modes that it has missed, in words."""
    if "largest_error" not in solver:
        return ""
    missed = solver["modes_missed"]
    return f", error {solver['largest_error']:.0e}" + (f", {missed} missed" if missed else "")
