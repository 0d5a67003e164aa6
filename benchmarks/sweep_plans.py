"""How long, and in what memory, ``jaxmodal sweep plan`` says what a sweep costs, before and after it timed cells.

``python -m benchmarks.sweep_plans --out results/benchmarks/sweep_plans.json``

Every command is a process of its own, start and imports included: with no compiled program kept, the first plan with
programs that are kept, the second one, which finds its times kept, too, and one with ``--no-timing`` of a sweep that
was never timed. Beside them stands what it takes to import JAX alone. Seconds by the clock mean something where nothing
else runs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.reports import add_out, write_report

THOUSAND_MILLION = """arm = "example:{arm}"
num_modes = {modes}
axes = [
    {{ parameter = "theta_2", unit = "degree", linspace = {{ start = -180, stop = 180, num = 1000 }} }},
    {{ parameter = "payload.mass", linspace = {{ start = 0, stop = 1, num = 1000 }} }},
    {{ parameter = "{third}", linspace = {{ start = {low}, stop = {high}, num = 1000 }} }},
]
"""
#: sweeps of 10^9 cells: those of the first take a posture series, those of the second are searched one by one
LARGE: dict[str, dict[str, Any]] = {
    "series": {
        "arm": "three_link_industrial",
        "modes": 10,
        "third": "theta_3",
        "low": -2,
        "high": 2,
    },
    "general": {
        "arm": "two_link_flexible",
        "modes": 2,
        "third": "link1.length",
        "low": 0.4,
        "high": 0.6,
    },
}
EXAMPLES = (
    *("canadarm2_posture_map", "six_axis_posture_map", "three_link_payload"),
    *("three_link_posture_map", "three_link_sensitivity", "two_link_slenderness"),
)


def _taken(command: list[str], environment: dict[str, str]) -> dict[str, float]:
    """Seconds by the clock and of the processors, and the most memory, of one process."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command} has failed: {status}")
    return {
        "seconds": round(time.perf_counter() - start, 2),
        "processor_seconds": round(used.ru_utime + used.ru_stime, 2),
        "peak_rss_mb": round(used.ru_maxrss * 1024 / 1e6),
    }


def measured(source: str, folder: Path) -> dict[str, Any]:
    """What four plans of a sweep take."""
    with tempfile.TemporaryDirectory(dir=folder) as cache:
        environment = {**os.environ, "JAX_COMPILATION_CACHE_DIR": cache}
        plan = [sys.executable, "-m", "jaxmodal", "sweep", "plan", source]
        found: dict[str, Any] = {
            "without timing": _taken([*plan, "--no-timing"], environment),
            "with no program kept": _taken(plan, environment),
        }
        for kept in Path(cache).glob("cells-*.json"):  # of sweeps that need no programs
            kept.unlink()
        found["first"] = _taken(plan, environment)
        found["second"] = _taken(plan, environment)
    return found


def main(arguments: list[str] | None = None) -> None:
    """Plan every sweep four times, print figures and write JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sweep_plans", description=__doc__)
    add_out(parser)
    options = parser.parse_args(arguments)
    found: dict[str, Any] = {
        "cores": os.cpu_count(),
        "others_at_work": round(os.getloadavg()[0], 1),
    }
    found["import jax"] = _taken([sys.executable, "-c", "import jax"], dict(os.environ))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        sources = {f"example:{name}": f"example:{name}" for name in EXAMPLES}
        for name, about in LARGE.items():
            file = folder / f"{name}.toml"
            file.write_text(THOUSAND_MILLION.format(**about))
            sources[f"10^9 cells, {name}"] = str(file)
        for name, source in sources.items():
            found[name] = measured(source, folder)
            print(name, json.dumps(found[name]), flush=True)
    write_report(found, options.out)


if __name__ == "__main__":
    main()
