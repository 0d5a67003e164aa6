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


def plot(report: dict[str, Any], path: Path) -> None:
    """Bars of the time per cell, one panel per run."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    runs = report["runs"]
    figure, axes = pyplot.subplots(
        1, len(runs), figsize=(4 * len(runs), 4), sharey=True, layout="constrained", squeeze=False
    )
    for axis, run in zip(axes[0], runs, strict=True):
        labels = list(run["solvers"])
        times = [s["milliseconds_per_cell"] for s in run["solvers"].values()]
        bars = axis.bar(range(len(labels)), times)
        bars[0].set_color("C1")
        texts = [f"{s['times_jaxmodal']:.1f}×" for s in run["solvers"].values()]
        axis.bar_label(bars, texts, fontsize=8)
        axis.set_xticks(range(len(labels)), labels, rotation=60, ha="right", fontsize=8)
        axis.set_yscale("log")
        axis.margins(y=0.08)  # room for the labels
        cores = run["cores"]
        axis.set_title(f"{run['workload']}, {cores} core{'s' * (cores > 1)}", fontsize=10)
    axes[0][0].set_ylabel("time per cell, ms")
    figure.savefig(path, dpi=130)
    pyplot.close(figure)
