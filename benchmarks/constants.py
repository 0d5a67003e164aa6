"""What the tuned constants of the searches decide: each varied alone, what changes of the cost and of the result.

``python -m benchmarks.constants --docs docs/developers/constants.md``

Six workloads in NumPy, so that nothing is compiled: single arms, cells of the general path, postures of the series,
cells of an arm in space, damped modes of cells, peaks of responses.
Of each: evaluations of the determinant for a mode, modes that the posture series leaves to other ways, processor time
against that of the constants as they are, measured in turn, the largest relative change of a frequency, and how many
modes are not certified.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import importlib
import math
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np

import jaxmodal as jm
from benchmarks.marks import between

BEGIN, END = "<!-- constants -->", "<!-- end of constants -->"
NUM_MODES = 10
ARMS, CELLS, POSTURES, IN_SPACE, DAMPED, DRIVEN = 6, 2048, 8192, 192, 24, 4


@dataclasses.dataclass(frozen=True)
class Constant:
    """One constant: where it is (``module:name``), its unit, and the values that are tried in its place."""

    where: str
    unit: str
    tried: tuple[Any, ...]


_RELATIVE = "relative frequency"
#: where the third evaluation of a mode lies beyond the estimate: the schedule as it is, but for that
_SCHEDULES = tuple(
    [(0.0, 0.0), (0.0, 0.0), (beyond, 0.0), (0.0, -1e-8), (0.0, 1e-8)] for beyond in (3e-7, 3e-5)
)
CONSTANTS: dict[str, list[Constant]] = {
    "arms": [
        Constant("frequencies.root_search:_GRID_RATIO", "ratio of frequencies", (2.0, 8.0)),
        Constant("frequencies.root_search:_LEAP", "ratio of frequencies", (16.0, 4096.0)),
        Constant("frequencies.root_search:_PATIENCE", "rounds", (2.0, 6.0)),
        Constant("frequencies.root_search:_PATIENCE_NEAR", "rounds", (3.0, 12.0)),
        Constant("frequencies.root_search:_ASIDE", "half-widths", (0.4, 0.95)),
        Constant("frequencies.root_search:CLEAR", "ratio of frequencies", (1.001, 1.2)),
        Constant("frequencies.host_solver:_FLOAT64_WIDTH", _RELATIVE, (1e-9, 1e-12)),
        Constant("frequencies.host_solver:_FLOAT64_ROUNDS", "rounds", (20, 80)),
        Constant("frequencies.host_solver:_GRID_DENSITY", "trials of a mode", (4, 64)),
        Constant("frequencies.host_solver:_WIDEST_GRID", "trials", (12, 30)),
        Constant("frequencies.host_solver:_BEYOND", "modes", (0, 6)),
    ],
    "cells": [
        Constant("batches.guided_search:SCHEDULE", _RELATIVE, _SCHEDULES),
        Constant("batches.guided_search:_BEYOND", "ratio of frequencies", (2.0, 16.0)),
        Constant("batches.acceptance:NOISE", _RELATIVE, (1e-14, 2e-13)),
        Constant("batches.acceptance:CLOSE", _RELATIVE, (1e-3, 1e-1)),
        Constant("batches.acceptance:CROWDED", _RELATIVE, (1e-8, 1e-4)),
        Constant("batches.acceptance:KNOWN", _RELATIVE, (1e-12, 1e-10)),
        Constant("batches.acceptance:_ERRORS", "errors of float64", (1.0, 16.0)),
        Constant("batches.acceptance:_NARROW", _RELATIVE, (1e-6, 1e-2)),
        Constant("batches.guided_search:HALVINGS", "rounds", (0, 6)),
        Constant("batches.work:PILOTS", "cells", (64, 128)),
        Constant("frequencies.refinement:_BEYOND", _RELATIVE, (1e-13, 4.9e-13)),
        Constant("frequencies.refinement:_FARTHER", "ratio of distances", (4.0, 256.0)),
        Constant("frequencies.refinement:_PATIENCE", "trials", (1, 6)),
    ],
    "postures": [
        Constant("postures.series:_HALVINGS", "halvings", (5, 20)),
        Constant("postures.series:_TAIL", "share of the largest", (1e-14, 1e-16)),
        Constant("postures.series:_PHASE", "pi", (0.5, 2.0)),
        Constant("postures.series:_PHASE_SAMPLES", "frequencies", (257, 8193)),
        Constant("postures.series:_TAIL_TO_ERROR", "tails", (1.0, 16.0)),
        Constant("postures.series:_ROUNDING", "sum of the terms", (2.0**-50, 2.0**-46)),
        Constant("postures.series_roots:_STEPS", "steps", (2, 4)),
        Constant("postures.series_roots:_SAFE_STEPS", "steps", (8, 20)),
        Constant("postures.series_roots:_LAST_STEP", "half panels", (1e-10, 1e-6)),
        Constant("postures.series_roots:_NARROW", _RELATIVE, (1e-13, 5e-13)),
        Constant("postures.series_roots:_MARGIN", "noises", (1.5, 5.0)),
        Constant("postures.series_roots:_CLEAR", "share of its size", (1e-8, 1e-4)),
        Constant("postures.series_search:_OPEN", "share of postures", (0.02, 0.5)),
        Constant("postures.series_search:_PILOTS", "postures", (256, 4096)),
        Constant("postures.series_search:_RANGE_ROUNDS", "rounds", (2, 8)),
        Constant("postures.series_search:_CUTS", "frequencies of a round", (4, 18)),
        Constant("postures.series_search:_BELOW", "share of sqrt(omega)", (0.3, 0.9)),
        Constant("postures.series_passes:_LEAST", _RELATIVE, (1e-13, 1.6e-12)),
    ],
    "cells in space": [
        Constant("spatial.search.float64_search:_ROUGH", _RELATIVE, (1e-5, 1e-3)),
        Constant("spatial.search.float64_search:_ROUNDS", "rounds", (6, 14)),
        Constant("spatial.search.float64_search:CLOSE", _RELATIVE, (1e-4, 1e-2)),
        Constant("spatial.search.float64_search:_ALLOWED", _RELATIVE, (1e-14, 2e-13)),
        Constant("spatial.search.float64_search:_DENSITY", "trials of a mode", (8, 32)),
        Constant("spatial.search.cells:_FEW", "cells", (8, 48)),
        Constant("spatial.search.cells:_SIDE_BY_SIDE", "cells", (32, 512)),
        Constant("spatial.search.cells:_MOST_OPEN", "modes", (2, 12)),
    ],
    "damped modes": [
        Constant("response.damped.continuation:_DETOUR", "share of the damping", (0.1, 0.6)),
        Constant("response.damped.continuation:_FIRST_STEP", "share of the way", (0.02, 0.2)),
        Constant("response.damped.damped_roots:BEYOND", "modes", (1, 6)),
    ],
    "peaks": [
        Constant("response.forced.stationary:_RESOLVED", "share of the largest", (1e-10, 1e-13)),
        Constant("response.forced.stationary:_ROUNDING", "share of the largest", (1e-8, 1e-4)),
        Constant("response.forced.stationary:_SAME", "pieces", (1e-8, 1e-4)),
    ],
}


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What one run gave: frequencies in rad/s, evaluations for a mode, and modes in parts."""

    omega: np.ndarray
    evaluations: float
    uncertified: int
    other_ways: float
    seconds: float


def _of(found: list[jm.NaturalFrequencies], seconds: float) -> Outcome:
    omega = np.concatenate([np.asarray(x.omega).ravel() for x in found])
    evaluations = sum(float(np.sum(x.evaluations)) for x in found)
    ways = [x.by_sign_changes for x in found if x.by_sign_changes is not None]
    return Outcome(
        omega,
        evaluations / omega.size,
        sum(int(np.sum(~np.asarray(x.certified))) for x in found),
        float(np.mean([1.0 - np.mean(np.asarray(x)) for x in ways])) if ways else math.nan,
        seconds,
    )


def _arms() -> list[jm.NaturalFrequencies]:
    rng, found = np.random.default_rng(1), []
    three, two = jm.examples.three_link_industrial(), jm.examples.two_link_flexible()
    for _ in range(ARMS // 2):
        found.append(three.with_posture(rng.uniform(-np.pi, np.pi, 2)))
        found.append(two.with_posture(rng.uniform(-np.pi, np.pi, 1)))
    return [jm.natural_frequencies(arm, NUM_MODES, throw=False) for arm in found]


def _cells() -> list[jm.NaturalFrequencies]:
    rng = np.random.default_rng(2)
    columns = {
        "link2.joint_angle": rng.uniform(-np.pi, np.pi, CELLS),
        "link3.joint_angle": rng.uniform(-np.pi, np.pi, CELLS),
        "link*.section.wall_thickness": rng.uniform(0.005, 0.02, CELLS),
    }
    arm = jm.examples.three_link_industrial()
    return [jm.natural_frequencies_batch(arm, columns, NUM_MODES)]


def _postures() -> list[jm.NaturalFrequencies]:
    rng = np.random.default_rng(3)
    columns = {f"link{k}.joint_angle": rng.uniform(-np.pi, np.pi, POSTURES) for k in (2, 3)}
    arm = jm.examples.three_link_industrial()
    return [jm.natural_frequencies_batch(arm, columns, NUM_MODES)]


def _in_space() -> list[jm.NaturalFrequencies]:
    rng = np.random.default_rng(4)
    columns = {f"link{k}.joint_angle": rng.uniform(-np.pi, np.pi, IN_SPACE) for k in range(2, 7)}
    return [jm.natural_frequencies_batch(jm.examples.six_axis_industrial(), columns, NUM_MODES)]


def _damped(rng: np.random.Generator, cells: int) -> tuple[jm.Arm, dict[str, np.ndarray]]:
    """An arm with dampers at its joints, which critical damping divides, and the values of some cells."""
    columns = {
        "link2.joint_angle": rng.uniform(-np.pi, np.pi, cells),
        "link2.joint_damping": 10.0 ** rng.uniform(1.0, 3.3, cells),
        "link3.joint_damping": 10.0 ** rng.uniform(1.0, 3.3, cells),
    }
    own = {"joint_stiffness": 1e5, "joint_damping": 0.0, "loss_factor": 0.01}
    arm = jm.examples.three_link_industrial()
    links = tuple(dataclasses.replace(link, **own) for link in arm.links)
    return dataclasses.replace(arm, links=links), columns


def _damped_modes() -> jm.DampedModesBatch:
    arm, columns = _damped(np.random.default_rng(5), DAMPED)
    return jm.damped_modes_batch(arm, columns, NUM_MODES)


def _peaks() -> list[jm.ResponsePeaks]:
    arm, columns = _damped(np.random.default_rng(6), DRIVEN)
    arms = [
        jm.set_parameters(arm, {name: float(values[k]) for name, values in columns.items()})
        for k in range(DRIVEN)
    ]
    return [jm.response_peaks(each, 1.0, 3000.0, "tip.across", "tip.across") for each in arms]


WORKLOADS: dict[str, Callable[[], Any]] = {
    "arms": _arms,
    "cells": _cells,
    "postures": _postures,
    "cells in space": _in_space,
    "damped modes": _damped_modes,
    "peaks": _peaks,
}


def run(workload: str) -> Outcome:
    """Solve a workload with the constants as they are."""
    begin = time.process_time()
    found = WORKLOADS[workload]()
    seconds = time.process_time() - begin
    if isinstance(found, jm.DampedModesBatch):
        open_modes = int(np.sum(found.status != jm.Status.certified))
        return Outcome(np.abs(found.roots).ravel(), math.nan, open_modes, math.nan, seconds)
    if isinstance(found[0], jm.ResponsePeaks):
        omega = np.concatenate([np.concatenate([x.omega, x.dips]) for x in found])
        return Outcome(omega, math.nan, 0, math.nan, seconds)
    return _of(found, seconds)


@contextlib.contextmanager
def replaced(where: str, value: Any) -> Iterator[Any]:
    """Another value in the place of a constant, also where it is imported; gives the one that it has."""
    name, _, attribute = where.partition(":")
    module = importlib.import_module(f"jaxmodal.{name}")
    usual = getattr(module, attribute)
    users = [module]
    if not attribute.startswith("_"):
        users += [x for x in sys.modules.values() if vars(x).get(attribute) is usual]
    for user in users:
        setattr(user, attribute, value)
    try:
        yield usual
    finally:
        for user in users:
            setattr(user, attribute, usual)


@dataclasses.dataclass(frozen=True)
class Row:
    """What one value of a constant changes."""

    constant: Constant
    usual: Any
    value: Any
    outcome: Outcome
    usual_outcome: Outcome
    time_ratio: float

    @property
    def change(self) -> float:
        """The largest relative change of a frequency; inf where others are found."""
        if self.outcome.omega.shape != self.usual_outcome.omega.shape:
            return math.inf
        return float(np.nanmax(np.abs(self.outcome.omega / self.usual_outcome.omega - 1.0)))


def measured(workload: str, constant: Constant, repeats: int) -> list[Row]:
    """Each value in turn with the usual one, so many times."""
    rows = []
    for value in constant.tried:
        ratios = []
        for _ in range(repeats):
            before = run(workload)
            with replaced(constant.where, value) as usual:
                after = run(workload)
            ratios.append(after.seconds / before.seconds)
        rows.append(Row(constant, usual, value, after, before, statistics.median(ratios)))
    return rows


def _text(value: Any) -> str:
    """A number; of a schedule what its third evaluation lies beyond the estimate."""
    return f"{value[2][0] if isinstance(value, list) else value:.4g}"


def _cell(rows: list[Row]) -> str:
    """One constant, all values that were tried in its place."""
    first = rows[0]

    def several(numbers: list[str]) -> str:
        return " / ".join(numbers)

    shares = [f"{100.0 * r.outcome.other_ways:.2f}" for r in rows]
    usual_share = f"{100.0 * first.usual_outcome.other_ways:.2f}"
    known = not math.isnan(first.usual_outcome.other_ways)
    cells = (
        f"`{first.constant.where.replace(':', '.')}`",
        first.constant.unit,
        _text(first.usual),
        several([_text(r.value) for r in rows]),
        f"{first.usual_outcome.evaluations:.2f}: "
        + several([f"{r.outcome.evaluations:.2f}" for r in rows])
        if not math.isnan(first.usual_outcome.evaluations)
        else "",
        f"{usual_share}: {several(shares)}" if known else "",
        several([f"{r.time_ratio:.2f}" for r in rows]),
        several([f"{r.change:.0e}" if r.change else "0" for r in rows]),
        several([str(r.outcome.uncertified) for r in rows]),
    )
    return f"| {' | '.join(cells)} |"


def table(rows: list[list[Row]]) -> str:
    """The measurements as a table of Markdown."""
    head = (
        "| constant | unit | value | tried | evaluations for a mode | % of modes by other ways | processor time |"
        " largest change | not certified |\n|---|---|--:|--:|--:|--:|--:|--:|--:|"
    )
    return "\n".join([head, *map(_cell, rows)])


def main(arguments: list[str] | None = None) -> None:
    """Vary every constant, print the table and write it into a page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.constants", description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", choices=list(CONSTANTS), help="one workload")
    parser.add_argument("--docs", type=Path, help="page between whose marks the table goes")
    options = parser.parse_args(arguments)
    jax.config.update("jax_enable_x64", True)
    rows = []
    for workload, constants in CONSTANTS.items():
        if options.only in (None, workload):
            run(workload)
            for constant in constants:
                rows.append(measured(workload, constant, options.repeats))
                print(_cell(rows[-1]), flush=True)
    if options.docs is not None:
        page = options.docs.read_text(encoding="utf-8")
        options.docs.write_text(between(page, BEGIN, END, table(rows)), encoding="utf-8")


if __name__ == "__main__":
    main()
