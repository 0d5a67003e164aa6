"""The general batch path on a million random postures against the chain form, and next to double roots.

``python -m benchmarks.cross_check --cells 1000000 --out results/benchmarks/cross_check.json``

Three parts: peak memory of one call in a process of its own; every frequency of every posture against the chain form,
each disagreement beyond its accuracy decided by the double-double solver; evaluations next to the double roots.

``python -m benchmarks.cross_check --kinds all --cells 50000 --out certified.json``

A campaign instead: so many cells of every kind of random arms (`cross_check_arms`), every certified mode counted
again in 113-bit floats (`campaign`). ``--replay NAME`` does one batch of an offender again.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.memory import peak_resident_bytes
from benchmarks.reports import add_out, write_report

MODES = 10
#: relative difference that the chain form's own error explains (it is accurate to 3e-11, and 3e-10 on hard cells)
AGREEMENT = 1e-9
#: postures this close to a double root, in degrees
NEAR = 1e-3
NEAR_CELLS = 10_000
_PART = 20_000
#: postures (degrees) of the three-link arm with a double root, found by `jaxmodal sweep gallery`
DOUBLE_ROOTS = Path("results/gallery/three_link_double_roots.json")

#: of `campaign.Findings` what is printed of each kind
_COLUMNS = (
    "cells",
    "modes",
    "certified",
    "certified_and_wrong",
    "miscounted",
    "beyond_bound",
    "largest_error",
    "seconds_of_batches",
    "seconds_of_counts",
)


def main(arguments: list[str] | None = None) -> None:
    """Run the check and write JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cross_check", description=__doc__)
    parser.add_argument("--cells", type=int, default=1_000_000)
    parser.add_argument("--near", type=int, default=NEAR_CELLS, help="postures near double roots")
    add_out(parser)
    parser.add_argument("--memory", action="store_true", help="the memory figure alone")
    parser.add_argument(
        "--kinds", nargs="+", help="kinds of random arms, or all: a campaign of --cells of each"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the campaign")
    parser.add_argument(
        "--first", type=int, default=0, help="number of the first batch of each kind"
    )
    parser.add_argument(
        "--batch", type=int, default=1024, help="cells of one batch of the campaign"
    )
    parser.add_argument("--seconds", type=float, default=math.inf, help="after which a kind ends")
    parser.add_argument("--kernel", default="auto", help="portable compiles the search")
    parser.add_argument("--replay", help="a batch by its name, kind:seed:number:cells")
    options = parser.parse_args(arguments)
    _prepare()
    if options.kinds or options.replay:
        campaign(options)
        return
    if options.memory:
        print(json.dumps(memory(options.cells)))
        return
    command = [sys.executable, "-m", "benchmarks.cross_check", "--memory"]
    command += ["--cells", str(options.cells)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    report = {
        "cells": options.cells,
        "modes": MODES,
        "memory": json.loads(done.stdout.splitlines()[-1]),
        "against_chain_form": against_chain_form(options.cells),
        "near_double_roots": near_double_roots(options.near),
    }
    write_report(report, options.out)
    print(json.dumps(report, indent=1))


def campaign(options: argparse.Namespace) -> None:
    """Certified modes of random arms against counts in 113-bit floats, kind by kind, or of one batch."""
    from benchmarks import extended_counts
    from benchmarks.campaign import check_case, check_kind
    from benchmarks.cross_check_arms import KINDS, case

    reason = extended_counts.missing()
    if reason is not None:
        print(f"skipped: {reason}")
        return
    if options.replay:
        kind, *numbers = options.replay.split(":")
        found = check_case(case(kind, *map(int, numbers)), options.replay, options.kernel)
        print(json.dumps(dataclasses.asdict(found), indent=1))
        return
    kinds = list(KINDS) if options.kinds == ["all"] else options.kinds
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        raise SystemExit(f"--kinds {' '.join(unknown)}: expected all or some of {', '.join(KINDS)}")
    report: dict[str, Any] = {"seed": options.seed, "batch": options.batch, "kinds": {}}
    print(_row("kind", _COLUMNS))
    for kind in kinds:
        given = options.cells, options.seed, options.batch, options.kernel, options.first
        of_kind = dataclasses.asdict(check_kind(kind, *given, seconds=options.seconds))
        print(_row(kind, [of_kind[name] for name in _COLUMNS]), flush=True)
        report["kinds"][kind] = of_kind
        write_report(report, options.out)


def _row(kind: str, values: Sequence[object]) -> str:
    shown = (f"{value:.3g}" if isinstance(value, float) else str(value) for value in values)
    return f"{kind:14}" + "".join(f"{text:>20}" for text in shown)


def _prepare() -> None:
    import jax

    from jaxmodal.runtime.compilation import add_cpu_flags

    jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]  # before any array
    add_cpu_flags()


def postures(cells: int) -> tuple[Any, dict[str, Any]]:
    """The arm and random postures; a third address, constant, keeps the batch on its general path."""
    import numpy as np

    import jaxmodal as jm

    arm = jm.examples.three_link_industrial()
    rng = np.random.default_rng(2026)
    return arm, _addresses(*(rng.uniform(-np.pi, np.pi, (2, cells))))


def _addresses(theta2: Any, theta3: Any) -> dict[str, Any]:
    import numpy as np

    import jaxmodal as jm

    return {
        "link2.joint_angle": theta2,
        "link3.joint_angle": theta3,
        "link1.length": np.full_like(
            theta2, float(jm.examples.three_link_industrial().links[0].length)
        ),
    }


def memory(cells: int) -> dict[str, float]:
    """Peak resident memory before and after one call, and the size of its result."""
    import jax

    import jaxmodal as jm

    arm, parameters = postures(cells)
    few = {name: values[:1000] for name, values in parameters.items()}
    jax.block_until_ready(jm.natural_frequencies_batch(arm, few, MODES, kernel="portable"))
    before = _peak()
    begin = time.perf_counter()
    result = jm.natural_frequencies_batch(arm, parameters, MODES)
    seconds = time.perf_counter() - begin
    size = sum(x.nbytes for x in jax.tree_util.tree_leaves(result))
    return {
        "peak_rss_before_gb": before,
        "peak_rss_after_gb": _peak(),
        "result_gb": size / 1e9,
        "seconds": seconds,
        "cores": len(os.sched_getaffinity(0)),
    }


def _peak() -> float:
    return peak_resident_bytes() / 1e9


def against_chain_form(cells: int) -> dict[str, Any]:
    """Certificates and differences of all postures, part by part."""
    import numpy as np

    import jaxmodal as jm
    from benchmarks.batch import workloads
    from benchmarks.rivals import cell_beams

    arm, parameters = postures(cells)
    fine = workloads(1)["three_link"][2]
    cores = len(os.sched_getaffinity(0))
    uncertified, largest, beyond = 0, 0.0, []
    median = []
    for start in range(0, cells, _PART):
        part = {name: values[start : start + _PART] for name, values in parameters.items()}
        result = jm.natural_frequencies_batch(arm, part, MODES)
        omega = np.asarray(result.omega)
        uncertified += int((~np.asarray(result.certified)).sum())
        rival = fine.frequencies(cell_beams(arm, part), MODES, cores)
        apart = np.abs(rival / omega - 1.0)
        largest = max(largest, float(apart.max()))
        median.append(float(np.median(apart)))
        for cell, mode in np.argwhere(~(apart <= AGREEMENT)):
            found = omega[cell, mode], rival[cell, mode]
            beyond.append(_decided(arm, part, int(cell), int(mode), *found))
    return {
        "uncertified_modes": uncertified,
        "largest_difference": largest,
        "median_difference": float(np.median(median)),
        "beyond_accuracy_of_chain_form": beyond,
    }


def _decided(
    arm: Any, part: dict[str, Any], cell: int, mode: int, own: float, rival: float
) -> dict[str, Any]:
    """Which of two frequencies is right, by the double-double solver."""
    import jaxmodal as jm
    from jaxmodal.arm.parameters import set_parameters

    values = {name: float(column[cell]) for name, column in part.items()}
    exact = float(jm.natural_frequencies(set_parameters(arm, values), MODES).omega[mode])
    return {
        "values": values,
        "mode": mode + 1,
        "own_error": abs(own / exact - 1.0),
        "chain_form_error": abs(rival / exact - 1.0),
    }


def near_double_roots(cells: int) -> dict[str, Any]:
    """Certificates and evaluations of postures within `NEAR` of the double roots."""
    import numpy as np

    import jaxmodal as jm

    arm = jm.examples.three_link_industrial()
    roots = json.loads(DOUBLE_ROOTS.read_text())
    rng = np.random.default_rng(3)
    at = np.array([(r["x"], r["y"]) for r in roots])[rng.integers(0, len(roots), cells)]
    theta = np.radians(at + rng.uniform(-NEAR, NEAR, at.shape)).T
    result = jm.natural_frequencies_batch(arm, _addresses(*theta), MODES)
    evaluations = np.asarray(result.evaluations)
    gaps = np.diff(np.asarray(result.omega), axis=1) / np.asarray(result.omega)[:, 1:]
    middle = float(np.median(evaluations))
    return {
        "cells": cells,
        "double_roots": len(roots),
        "uncertified_modes": int((~np.asarray(result.certified)).sum()),
        "smallest_relative_gap": float(gaps.min()),
        "evaluations_median": middle,
        "evaluations_most": int(evaluations.max()),
        "cells_beyond_three_medians": int((evaluations > 3 * middle).sum()),
    }


if __name__ == "__main__":
    main()
