"""How long a sweep takes on this machine: some of its cells are solved and timed, and the rest follows from them.

What NumPy solves is timed as it will be solved. What programs solve is timed in NumPy and divided by what they gain,
for to compile them would take longer than many a sweep. Times are processor times, so that other work on the machine
does not blur them.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np

from jaxmodal import examples
from jaxmodal.arm import columns
from jaxmodal.arm.arm import Arm
from jaxmodal.batches.in_space import PlanInSpace
from jaxmodal.batches.many_arms import columns_of, plan_of
from jaxmodal.batches.plan import FEW, Plan
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.frequencies.one_arm import natural_frequencies
from jaxmodal.modes.mode_shapes import mode_shapes
from jaxmodal.postures import series_search
from jaxmodal.runtime.devices import available_cores
from jaxmodal.runtime.namespace import to_host
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.statics.beam_arrays import PLAIN
from sweeps.definition.sweep import Sweep
from sweeps.solution.cells import SolvedCells
from sweeps.solution.outputs import QUANTITIES
from sweeps.store.solve import solve_cells, values_of, with_modes, with_responses

#: processor seconds in which NumPy finds ten modes of the reference arm on the machine of the constants below
_REFERENCE = 0.066
#: a process starts, opens the store and closes it
_START = 2.9
#: a picture, each of its maps, and a million of the values in them
_PICTURE, _PANEL, _VALUES = 0.6, 0.17, 0.4
#: programs: tracing and loading them, compiling them besides, and how many times faster than NumPy they are. Those that
#: have features (springs, bodies beside axes, rotors) are larger
_TRACE, _COMPILE, _COMPILE_FEATURES, _GAIN = 3.5, 20.0, 30.0, 6.0
#: the same of the posture series, of arms in space, and of mode shapes, of which programs solve so many per second
_TRACE_SERIES, _COMPILE_SERIES, _GAIN_SERIES = 2.0, 10.0, 8.0
_TRACE_IN_SPACE, _COMPILE_IN_SPACE, _GAIN_IN_SPACE = 2.0, 20.0, 8.0
_TRACE_SHAPES, _COMPILE_SHAPES, _SHAPES = 4.5, 26.0, 11_000.0
#: programs are compiled side by side, but not more of them at a time than this
_MOST_COMPILERS = 2
#: how the files of the programs begin, in the cache
_FILES = {
    "search": "jit_searched-",
    "shapes": "jit_block-",
    "space": "jit_enclosed_in_space-",
}
#: cells that are solved to see how long they take: planar ones, postures of a series, arms in space, responses
_PILOTS, _PILOTS_OF_SERIES = (256, 1024), (1024, 4096)
_PILOTS_IN_SPACE, _PILOTS_OF_RESPONSES = (17, 49), (1, 3)


@dataclasses.dataclass(frozen=True)
class Estimate:
    """Seconds on ``cores`` cores that nothing else uses: all but what follows, compiling and drawing.

    ``compiled`` says that the cache has programs of the kind, though perhaps not those of this sweep.
    """

    computing: float
    compiling: float
    drawing: float
    cores: int
    compiled: bool

    @property
    def total(self) -> float:
        """All of it; without compiling where the cache may have the programs."""
        return self.computing + self.drawing + (0.0 if self.compiled else self.compiling)


@dataclasses.dataclass(frozen=True)
class _Work:
    """Processor seconds of one core, and those that all cores share; of programs of a kind, which are made once."""

    alone: float = 0.0
    shared: float = 0.0
    tracing: float = 0.0
    compiling: float = 0.0
    programs: str = ""


def estimate(sweep: Sweep) -> Estimate:
    """Estimate how long ``jaxmodal sweep run`` takes for all cells of a sweep, on this machine.

    What NumPy solves is timed here; how long programs take to compile is known of one machine with two cores, and is
    scaled by the speed of this one.
    """
    slowness = _slowness()
    parts = [_Work(alone=slowness * _START)]
    if isinstance(sweep.arm, SpatialArm):
        parts += [_in_space(sweep, sweep.arm, theory, slowness) for theory in sweep.solved_theories]
    else:
        parts += [_planar(sweep, sweep.arm, theory, slowness) for theory in sweep.solved_theories]
    shapes = any(QUANTITIES[name].modal for name in sweep.outputs)
    if shapes and isinstance(sweep.arm, SpatialArm):
        parts += [_shapes_in_space(sweep, theory) for theory in sweep.theories]
    elif shapes:
        modes = sweep.num_cells * len(sweep.theories) * sweep.num_modes
        parts.append(
            _Work(
                shared=slowness * modes / _SHAPES,
                tracing=slowness * _TRACE_SHAPES,
                compiling=slowness * _COMPILE_SHAPES,
                programs="shapes",
            )
        )
    if any(QUANTITIES[name].arm_by_arm for name in sweep.outputs):
        parts += [_responses(sweep, theory) for theory in sweep.theories]
    cores = available_cores()
    kinds = {part.programs: part for part in parts if part.programs}
    compiling = sum(part.compiling for part in kinds.values()) / min(cores, _MOST_COMPILERS)
    return Estimate(
        computing=sum(part.alone + part.shared / cores for part in parts)
        + sum(part.tracing for part in kinds.values()),
        compiling=compiling,
        drawing=_drawing(sweep, slowness),
        cores=cores,
        compiled=all(_in_cache(_FILES[kind]) for kind in kinds),
    )


@functools.cache
def _slowness() -> float:
    """Time of this machine over that of the machine of the constants, for one arm in NumPy; once in a process."""
    arm = examples.three_link_industrial()
    return min(_time(lambda: natural_frequencies(arm, 10)) for _ in range(4)) / _REFERENCE


def _time(call: Callable[[], Any]) -> float:
    """Processor seconds of a call, of all its threads."""
    start = time.process_time()
    call()
    return time.process_time() - start


def _extrapolated(
    solve: Callable[[int], Any], pilots: tuple[int, int], cells: int
) -> tuple[float, float]:
    """Processor seconds before the first cell and of all cells, from those of a few and of some."""
    few, some = (min(number, cells) for number in pilots)
    solve(few)  # what happens at the first call alone
    short, long = _time(lambda: solve(few)), _time(lambda: solve(some))
    if some == few:
        return 0.0, long
    each = max((long - short) / (some - few), 0.0)
    return max(0.0, long - each * some), each * cells


def _chosen(sweep: Sweep, cells: int) -> Mapping[str, np.ndarray]:
    """The values of random cells, at most so many."""
    most = min(cells, sweep.num_cells)
    places = np.random.default_rng(0).choice(sweep.num_cells, most, replace=False)
    return values_of(sweep, np.unravel_index(places, sweep.shape))


def _planar(sweep: Sweep, arm: Arm, theory: TheoryName, slowness: float) -> _Work:
    given = _chosen(sweep, _PILOTS_OF_SERIES[1])
    addresses, values = columns_of(arm, given)
    cells = sweep.num_cells
    series = series_search.pays(arm, addresses, cells)
    most = series_search.HOST_POSTURES if series else FEW
    plans: list[Plan | PlanInSpace] = []
    asked = arm, addresses, sweep.num_modes, theory
    before = _time(lambda: plans.append(plan_of(*asked, values, min(cells, most))))
    pilots = _PILOTS_OF_SERIES if series else _PILOTS
    start, all_cells = _extrapolated(lambda n: plans[0].solve(values[:, :n]), pilots, cells)
    if cells <= most:
        return _Work(before + start + all_cells)
    if series:
        work = _TRACE_SERIES, all_cells / _GAIN_SERIES, _COMPILE_SERIES
    else:
        fields = columns.columns_of(arm, addresses, values[:, :1]).packed.shape[0]
        compiling = _COMPILE if fields == len(PLAIN) else _COMPILE_FEATURES
        work = _TRACE, all_cells / _GAIN, compiling
    tracing, shared, compiling = work
    return _Work(before, shared, slowness * tracing, slowness * compiling, "search")


def _in_space(sweep: Sweep, arm: SpatialArm, theory: TheoryName, slowness: float) -> _Work:
    addresses, values = columns_of(arm, _chosen(sweep, _PILOTS_IN_SPACE[1]))
    cells = sweep.num_cells
    plan = plan_of(arm, addresses, sweep.num_modes, theory, values, min(cells, FEW))
    pilots = _PILOTS_IN_SPACE
    start, all_cells = _extrapolated(lambda n: plan.solve(values[:, :n]), pilots, cells)
    if cells <= FEW:
        return _Work(start + all_cells)
    found = all_cells / _GAIN_IN_SPACE
    return _Work(start, found, slowness * _TRACE_IN_SPACE, slowness * _COMPILE_IN_SPACE, "space")


def _shapes_in_space(sweep: Sweep, theory: TheoryName) -> _Work:
    """One cell after the other in NumPy, of which two tell."""
    values = _chosen(sweep, 2)
    assert isinstance(sweep.arm, SpatialArm)
    addresses, columns = columns_of(sweep.arm, values)
    cells = columns.shape[1]  # so few that nothing is compiled
    plan = plan_of(sweep.arm, addresses, sweep.num_modes, theory, columns, cells)
    solved = SolvedCells(to_host(plan.solve(columns)))
    taken = _time(lambda: with_modes(solved, sweep, values))
    return _Work(taken * sweep.num_cells / len(solved.frequency))


def _responses(sweep: Sweep, theory: TheoryName) -> _Work:
    values = _chosen(sweep, _PILOTS_OF_RESPONSES[1])

    def solve(cells: int) -> SolvedCells:
        some = {name: column[:cells] for name, column in values.items()}
        return with_responses(solve_cells(sweep, theory, some), sweep, theory, some)

    return _Work(sum(_extrapolated(solve, _PILOTS_OF_RESPONSES, sweep.num_cells)))


def _drawing(sweep: Sweep, slowness: float) -> float:
    """Seconds in which the pictures are drawn; along a single axis the modes are followed by their shapes."""
    kinds = {column.address for entry in sweep.axes for column in entry.columns}
    pictures = 1 + any("thickness_factor" in address for address in kinds)
    pictures += bool(sweep.sensitivity_to)
    values = sweep.num_cells * sweep.num_modes / 1e6
    found = slowness * pictures * (_PICTURE + _PANEL * sweep.num_modes + _VALUES * values)
    if len(sweep.axes) == 1 and sweep.axes[0].is_index:
        arm, modes, theory = sweep.arm, sweep.num_modes, sweep.theories[0]
        shapes = _time(lambda: mode_shapes(arm, modes, theory, stations=2, throw=False))
        found += sweep.num_cells * shapes
    return found


def _cache_folder() -> str | None:
    config: Any = jax.config
    return config.jax_compilation_cache_dir or None


def _in_cache(name: str) -> bool:
    """Whether the cache of compiled programs has files that begin so."""
    folder = _cache_folder()
    return folder is not None and any(Path(folder).glob(f"{name}*"))


def time_text(found: Estimate) -> str:
    """Say an estimate: how long, how much of it is drawing and compiling."""
    cores = f"{found.cores} core{'s' * (found.cores > 1)}"
    text = f"time: about {_seconds(found.total)} on {cores}, {_seconds(found.drawing)} of them for pictures"
    if not found.compiling:
        return text
    if found.compiled:
        return f"{text}; {_seconds(found.compiling)} more if its programs are not in the cache"
    return f"{text} and {_seconds(found.compiling)} to compile programs, which are kept"


def _seconds(seconds: float) -> str:
    """A time for people: ``1 h 20 min``, ``45 s``."""
    if seconds < 120:
        return f"{math.ceil(seconds)} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"
