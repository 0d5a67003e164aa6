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
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxmodal import examples
from jaxmodal.arm import columns
from jaxmodal.batches.in_space import PlanInSpace
from jaxmodal.batches.many_arms import columns_of, plan_of
from jaxmodal.batches.plan import FEW, Plan
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.frequencies.one_arm import natural_frequencies
from jaxmodal.modes.mode_shapes import mode_shapes
from jaxmodal.postures import places, series_search
from jaxmodal.runtime.devices import available_cores
from jaxmodal.runtime.namespace import to_host
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.statics.beam_arrays import PLAIN
from sweeps.commands.base import LARGE
from sweeps.definition.sweep import Sweep
from sweeps.solution.cells import SolvedCells
from sweeps.store.grid import dataset_bytes
from sweeps.store.solve import solve_cells, with_parts

#: processor seconds in which NumPy finds ten modes of the reference arm on the machine of the constants below
_REFERENCE = 0.066
#: a process starts, opens the store and closes it
_START = 2.9
#: a picture, each of its maps, and a million of the values in them
_PICTURE, _PANEL, _VALUES = 0.6, 0.17, 0.4
#: programs are compiled side by side, but not more of them at a time than this
_MOST_COMPILERS = 2


class _Programs(NamedTuple):
    """Programs of a kind: seconds in which they are traced and loaded, and compiled besides.

    ``gain`` says how many times faster than NumPy they are; of mode shapes how many they take in a second. ``files``
    begin so in the cache.
    """

    files: str
    tracing: float
    compiling: float
    gain: float


_SEARCH = _Programs("jit_searched-", 3.5, 20.0, 6.0)
#: of arms that have features (springs, bodies beside axes, rotors), whose programs are larger
_SEARCH_FEATURES = _SEARCH._replace(compiling=30.0)
_SERIES = _Programs("jit_searched-", 2.0, 10.0, 8.0)
_IN_SPACE = _Programs("jit_enclosed_in_space-", 2.0, 20.0, 8.0)
_SHAPES = _Programs("jit_block-", 4.5, 26.0, 11_000.0)
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
    """Processor seconds of one core, those that all cores share, and programs, which are made once for each kind."""

    alone: float = 0.0
    shared: float = 0.0
    programs: _Programs | None = None


def estimate(sweep: Sweep) -> Estimate:
    """Estimate how long ``jaxmodal sweep run`` takes for all cells of a sweep, on this machine.

    What NumPy solves is timed here; how long programs take to compile is known of one machine with two cores, and is
    scaled by the speed of this one.
    """
    slowness = _slowness()
    parts = [_Work(slowness * _START), *(_search(sweep, name) for name in sweep.solved_theories)]
    if "modal" in sweep.parts:
        parts += [_shapes(sweep, theory, slowness) for theory in sweep.theories]
    if sweep.parts - {"modal"}:
        parts += [_responses(sweep, theory) for theory in sweep.theories]
    cores = available_cores()
    kinds = {part.programs.files: part.programs for part in parts if part.programs}
    compiling = slowness * sum(kind.compiling for kind in kinds.values())
    return Estimate(
        computing=sum(part.alone + part.shared / cores for part in parts)
        + slowness * sum(kind.tracing for kind in kinds.values()),
        compiling=compiling / min(cores, _MOST_COMPILERS),
        drawing=_drawing(sweep, slowness),
        cores=cores,
        compiled=all(map(_in_cache, kinds)),
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
    return sweep.values_at(np.unravel_index(places, sweep.shape))


def _search(sweep: Sweep, theory: TheoryName) -> _Work:
    """The frequencies: few cells by NumPy, many by programs."""
    arm, cells = sweep.arm, sweep.num_cells
    _, most = _PILOTS_IN_SPACE if isinstance(arm, SpatialArm) else _PILOTS_OF_SERIES
    addresses, values = columns_of(arm, _chosen(sweep, most))
    if isinstance(arm, SpatialArm):
        pilots, few, programs = _PILOTS_IN_SPACE, FEW, _IN_SPACE
    elif places.pays(arm, addresses, cells):
        pilots, few, programs = _PILOTS_OF_SERIES, series_search.HOST_POSTURES, _SERIES
    else:
        fields = columns.columns_of(arm, addresses, values[:, :1]).packed.shape[0]
        pilots, few = _PILOTS, FEW
        programs = _SEARCH if fields == len(PLAIN) else _SEARCH_FEATURES
    plans: list[Plan | PlanInSpace] = []
    asked = arm, addresses, sweep.num_modes, theory
    before = _time(lambda: plans.append(plan_of(*asked, values, min(cells, few))))
    start, all_cells = _extrapolated(lambda n: plans[0].solve(values[:, :n]), pilots, cells)
    if cells <= few:
        return _Work(before + start + all_cells)
    return _Work(before, all_cells / programs.gain, programs)


def _shapes(sweep: Sweep, theory: TheoryName, slowness: float) -> _Work:
    """Estimate the work of mode shapes: planar ones by programs, in space cell by cell in NumPy."""
    cells = sweep.num_cells
    if not isinstance(sweep.arm, SpatialArm):
        modes = slowness * cells * sweep.num_modes
        return _Work(shared=modes / _SHAPES.gain, programs=_SHAPES)
    values = _chosen(sweep, 2)
    addresses, two = columns_of(sweep.arm, values)  # so few that nothing is compiled
    plan = plan_of(sweep.arm, addresses, sweep.num_modes, theory, two, two.shape[1])
    solved = SolvedCells(to_host(plan.solve(two)))
    taken = _time(lambda: with_parts(solved, sweep, theory, values, {"modal"}))
    return _Work(taken * cells / two.shape[1])


def _responses(sweep: Sweep, theory: TheoryName) -> _Work:
    values = _chosen(sweep, _PILOTS_OF_RESPONSES[1])

    def solve(cells: int) -> SolvedCells:
        some = {name: column[:cells] for name, column in values.items()}
        found = solve_cells(sweep, theory, some)
        return with_parts(found, sweep, theory, some, sweep.parts - {"modal"})

    return _Work(sum(_extrapolated(solve, _PILOTS_OF_RESPONSES, sweep.num_cells)))


def _drawing(sweep: Sweep, slowness: float) -> float:
    """Seconds in which the pictures are drawn; along a single axis the modes are followed by their shapes."""
    if dataset_bytes(sweep) > LARGE:
        return 0.0
    pictures = 1 + any("thickness_factor" in column.address for column in sweep.columns)
    pictures += bool(sweep.sensitivity_to)
    values = sweep.num_cells * sweep.num_modes / 1e6
    found = slowness * pictures * (_PICTURE + _PANEL * sweep.num_modes + _VALUES * values)
    if len(sweep.axes) == 1 and sweep.axes[0].is_index:
        arm, modes, theory = sweep.arm, sweep.num_modes, sweep.theories[0]
        shapes = _time(lambda: mode_shapes(arm, modes, theory=theory, stations=2, throw=False))
        found += sweep.num_cells * shapes
    return found


def _cache_folder() -> str | None:
    config: Any = jax.config
    return config.jax_compilation_cache_dir or None


def _in_cache(name: str) -> bool:
    """Whether the cache of compiled programs has files that begin so."""
    folder = _cache_folder()
    return folder is not None and any(Path(folder).glob(f"{name}*"))


def path_text(sweep: Sweep) -> str:
    """Say which way the frequencies of a sweep are found, and why."""
    arm = sweep.arm
    addresses, _ = columns_of(arm, _chosen(sweep, 1))
    why = places.why_not(arm, addresses, sweep.num_cells)
    if why:
        return f"path: every cell by itself ({why})"
    asked = places.varied(arm, addresses)
    assert asked is not None
    angles = ", ".join(str(joint + 1) for joint in asked.joints)
    parts = [f"angles of joint{'s' * (len(asked.joints) > 1)} {angles}"] if angles else []
    parts += [f"{q.address}, {q.degree + 1} each" for q in asked.quantities]
    terms = places.terms_of(arm, asked)
    of = "; ".join(parts)
    return f"path: posture series, a table of {terms} terms ({of}); what it leaves open by itself"


def time_text(found: Estimate) -> str:
    """Say an estimate: how long, how much of it is drawing and compiling."""
    cores = f"{found.cores} core{'s' * (found.cores > 1)}"
    drawing = f", {seconds_text(found.drawing)} of them for pictures" if found.drawing else ""
    text = f"time: about {seconds_text(found.total)} on {cores}{drawing}"
    if not found.compiling:
        return text
    if found.compiled:
        return f"{text}; {seconds_text(found.compiling)} more if its programs are not in the cache"
    return f"{text} and {seconds_text(found.compiling)} to compile programs, which are kept"


def workers_lines(found: Estimate, workers: int, shards: int) -> list[str]:
    """Say what several machines like this one take that share the shards of a sweep; nothing of a single one."""
    if workers == 1:
        return []
    most = math.ceil(shards / workers)  # of the one that computes most
    wall = found.computing * most / shards + (0.0 if found.compiled else found.compiling)
    hours = wall * found.cores * workers / 3600
    cores = f"{found.cores} core{'s' * (found.cores > 1)}"
    return [
        f"workers: {workers} of {cores} each take about {seconds_text(wall)}, {hours:.3g} core-hours in all"
    ]


def seconds_text(seconds: float) -> str:
    """A time for people: ``1 h 20 min``, ``45 s``."""
    if seconds < 120:
        return f"{math.ceil(seconds)} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"
