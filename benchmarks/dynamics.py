"""What simulating arms costs: forward dynamics by links, methods by accuracy, and a batch beside SciPy.

``python -m benchmarks.dynamics --out results/benchmarks/dynamics.json``

Times are processor time of the whole process (all its threads), medians of repeats in turn within one process;
compiling is told apart. A rate "per core" is a rate per second of that processor time.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from benchmarks.forward_dynamics import forward, in_space, told
from benchmarks.motion_precision import SETTINGS, draw, precision, table
from benchmarks.motion_speed import speed
from benchmarks.reports import add_out, write_report, written_before


def main(arguments: list[str] | None = None) -> None:
    """Measure what is asked for, print it and write JSON and a picture."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.dynamics", description=__doc__)
    add_out(parser)
    parser.add_argument("--parts", default="forward,told,in_space,precision,speed")
    parser.add_argument("--cells", type=int, default=1000)
    parser.add_argument("--arms", default=",".join(SETTINGS), help="of precision")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args(arguments)
    parts: dict[str, Callable[[], list[dict[str, Any]]]] = {
        "forward": lambda: forward(options.repeats),
        "told": lambda: told(options.repeats),
        "in_space": lambda: in_space(options.repeats),
        "precision": lambda: [row for arm in options.arms.split(",") for row in precision(arm)],
        "speed": lambda: speed(options.cells, options.repeats),
    }
    asked = options.parts.split(",")
    if unknown := [part for part in asked if part not in parts]:
        parser.error(f"--parts {','.join(unknown)}: give some of {', '.join(parts)}, with commas")
    import jax

    from jaxmodal.runtime.compilation import add_cpu_flags

    jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]  # before any array
    add_cpu_flags()
    known = written_before(options.out)
    for part in asked:
        known[part] = parts[part]()
        write_report(known, options.out)
    if "precision" in known and options.out is not None:
        draw(known["precision"], options.out.with_name("dynamics_precision.png"))
        options.out.with_name("dynamics_precision.md").write_text(table(known["precision"]))


if __name__ == "__main__":
    main()
