"""The passes of the batch solver: every block of cells once, then the open modes, gathered, with more and more effort.

Float64 first (`guided_search`), then one or a few double-double evaluations of the modes whose rounding noise is too
large, then the general search, cell by cell. A thread takes a part of the cells through the passes that settle nearly
all modes; what they leave open in any part is gathered and shared out again. No finished cell waits for a slow one.
"""

from __future__ import annotations

import dataclasses
import functools
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import numpy as np

from jaxmodal.batches.fused_search import Kernel
from jaxmodal.batches.guided_search import Enclosure, Purpose
from jaxmodal.batches.kernels import (
    Problem,
    exact,
    extended,
    improved,
    pilot_guess,
    searched,
)
from jaxmodal.batches.open_modes import OpenModes
from jaxmodal.batches.pilots import Guess
from jaxmodal.batches.results import (
    CLOSE,
    CROWDED,
    NOISE,
    Results,
    accepted,
    doubtful,
    proven,
    quiet,
    with_neighbour,
)
from jaxmodal.batches.sizes import CPU_SIZES, GPU_SIZES, Sizes, filled, number_of_blocks, parted
from jaxmodal.frequencies.interpolation import chord
from jaxmodal.frequencies.refinement import Refined, Sample, refine
from jaxmodal.frequencies.status import Status

#: a mode whose float64 error is smaller needs one evaluation in double-double
_KNOWN = 1e-11
#: relative error that the chord after that evaluation may leave
_CORRECTED = 1e-14
#: half-width of the others' first brackets: so many times float64's own error, at the least and at most
_ERRORS, _LEAST, _MOST = 4.0, 4e-13, 2e-9
#: brackets of several modes that are narrower are parted in double-double, relative
_NARROW = 1e-4
#: how often brackets of several modes are halved before the search is left to double-double
_HALVINGS = 3

#: spreads work on items over parts: (work, items, size of a block, most blocks in a part)
Each = Callable[[Callable[[np.ndarray], Any], np.ndarray, int, int], list[Any]]


@dataclasses.dataclass(frozen=True)
class Work:
    """The passes of one call, over the ``workers`` threads of a pool."""

    problem: Problem
    values: np.ndarray
    results: Results
    pool: ThreadPoolExecutor
    workers: int
    kernel: Kernel
    lock: threading.Lock = dataclasses.field(default_factory=threading.Lock)

    @property
    def sizes(self) -> Sizes:
        """Those of the device."""
        return GPU_SIZES if self.kernel.on_gpu else CPU_SIZES

    def solve(self, chunk: int | None, theory: str) -> None:
        """All cells, ``chunk`` of them side by side on one core."""
        cells, sizes = self.values.shape[1], self.sizes
        side_by_side = functools.partial(self.each, size=sizes.pilots)
        guess = pilot_guess(self.problem, self.values, self.results.free, side_by_side)
        size = max(1, min(sizes.lanes // self.problem.modes if chunk is None else chunk, cells))
        for start in range(0, cells, sizes.cells):
            self.search(np.arange(start, min(start + sizes.cells, cells)), guess, size)
        if guess is not None:
            self.search(self.results.open_cells(), None, sizes.open_cells)
        self.results.reopen_contradictions()
        self.solve_exactly(self.results.open_cells(), theory)

    def each(
        self, work: Callable[[np.ndarray], Any], items: np.ndarray, size: int, blocks: int = 1
    ) -> list[Any]:
        """``work`` on every part of ``items``, on the local devices in turn; the results in the order of the parts.

        A part is at most so many blocks of ``size`` items. A device that the caller has chosen as JAX's default keeps
        all parts.
        """
        parts = parted(items, size, blocks, self.workers)
        config: Any = jax.config
        chosen = config.jax_default_device  # chosen for the calling thread alone
        devices = jax.local_devices() if chosen is None else [chosen]

        def placed(number: int) -> Any:
            with jax.default_device(devices[number % len(devices)]):
                return work(parts[number])

        return list(self.pool.map(placed, range(len(parts))))

    def search(self, cells: np.ndarray, guess: Guess | None, size: int) -> None:
        """Solve cells in float64, and the modes that this leaves open with more evaluations and in double-double.

        Without a guess every cell searches from a grid first.
        """
        sizes = self.sizes
        blocks = sizes.blocks if guess is not None else sizes.open_blocks
        blocks = min(blocks, int(number_of_blocks(sizes.cells, size)))  # of large blocks fewer
        first = functools.partial(self.first, guess=guess, size=size, blocks=blocks)
        parts = self.each(first, cells, size, blocks)
        if not parts:
            return
        unproven, noisy = (OpenModes.joined(list(some)) for some in zip(*parts, strict=True))
        for _ in range(_HALVINGS):
            self.improve_unproven(unproven, Purpose.halve, self.each)
        self.finish(unproven, self.each)
        left = OpenModes.joined([noisy, self.uncertified(unproven)])
        e = left.enclosure
        near = (e.upper_count - e.lower_count == 1) | (e.upper - e.lower <= _NARROW * e.upper)
        polish = functools.partial(self.polish, left)
        self.each(polish, np.flatnonzero(near), sizes.extended_modes, sizes.open_blocks)

    def first(
        self, at: np.ndarray, guess: Guess | None, size: int, blocks: int
    ) -> tuple[OpenModes, OpenModes]:
        """What settles nearly all modes of cells, in the calling thread.

        Returns the modes of cells with a mode that is not proven, and those of other cells that float64 knows badly.
        """
        left = self.enclose(at, guess, size, blocks)
        self.improve_unproven(left, Purpose.cut, in_turn)
        unproven = np.isin(left.cell, left.cell[~proven(left.enclosure, left.mode + 1)])
        others = left.take(np.flatnonzero(~unproven))
        self.finish(others, in_turn)
        return left.take(np.flatnonzero(unproven)), self.uncertified(others)

    def improve_unproven(self, left: OpenModes, purpose: Purpose, each: Each) -> None:
        """`improve` all modes that are not proven."""
        lanes = np.flatnonzero(~proven(left.enclosure, left.mode + 1))
        improve = functools.partial(self.improve, left, purpose)
        each(improve, lanes, self.sizes.open_modes, self.sizes.open_blocks)

    def finish(self, left: OpenModes, each: Each) -> None:
        """Certify modes as they are, by a second estimate or one evaluation in double-double; open those that crowd."""
        e, number, sizes = left.enclosure, left.mode + 1, self.sizes
        distance = self.results.nearest(left.cell, left.mode)
        close, near = distance <= CLOSE, distance <= CROWDED
        self.results.status[left.cell[near], left.mode[near]] = int(Status.uncertified)
        good = accepted(e, number) & ~close
        self.results.certify(left.cell[good], left.mode[good])
        unsure = np.flatnonzero(doubtful(e, number, close) & ~near)
        confirm = functools.partial(self.confirm, left)
        each(confirm, unsure, sizes.open_modes, sizes.open_blocks)
        noisy = self.results.status[left.cell, left.mode] != Status.certified
        known = noisy & proven(e, number) & (e.error <= _KNOWN) & (e.omega > 0.0) & ~near
        correct = functools.partial(self.correct, left)
        each(correct, np.flatnonzero(known), sizes.extended_modes, sizes.open_blocks)

    def uncertified(self, left: OpenModes) -> OpenModes:
        """The lanes that are not certified."""
        status = self.results.status[left.cell, left.mode]
        return left.take(np.flatnonzero(status != Status.certified))

    def enclose(self, at: np.ndarray, guess: Guess | None, size: int, blocks: int) -> OpenModes:
        """Six evaluations of every mode of cells in blocks of ``size``; returns the modes that they leave open."""
        values, used = self.values[:, filled(at, blocks * size)], number_of_blocks(at.size, size)
        invalid, rough, taken, found = searched(
            self.problem, values, used, guess, kernel=self.kernel, blocks=blocks
        )
        e = jax.tree_util.tree_map(lambda x: np.asarray(x)[:, : at.size], found)
        bad = np.asarray(invalid)[: at.size]
        number = np.arange(1, self.problem.modes + 1)[:, None]
        good = accepted(e, number) & ~with_neighbour(e.omega, CLOSE)
        self.results.store(at, e, good)
        self.results.refuse(at[bad])
        self.results.evaluations[at] += 6 * self.problem.modes + np.asarray(taken)[: at.size]
        return OpenModes.of(at, e, np.asarray(rough)[:, : at.size], ~good & ~bad)

    def improve(self, left: OpenModes, purpose: Purpose, lanes: np.ndarray) -> None:
        """A few more evaluations of some lanes, for one purpose."""
        e = self._improved(left, purpose, lanes)
        left.replace(lanes, e)
        self.results.store_modes(left.cell[lanes], left.mode[lanes], e)

    def confirm(self, left: OpenModes, lanes: np.ndarray) -> None:
        """More evaluations of modes that are known, for an estimate with other rounding errors."""
        some, again = left.take(lanes), self._improved(left, Purpose.confirm, lanes)
        change = np.abs(again.omega / some.enclosure.omega - 1.0)
        alike = quiet(again, some.mode + 1) & (change <= NOISE)
        middle = 0.5 * (again.omega + some.enclosure.omega)
        self.results.confirm(some.cell[alike], some.mode[alike], middle[alike])

    def _improved(self, left: OpenModes, purpose: Purpose, lanes: np.ndarray) -> Enclosure:
        size, blocks = self.sizes.open_modes, self.sizes.open_blocks
        some = left.take(filled(lanes, blocks * size))
        values, known = self.values[:, some.cell], (some.omegas, some.rough, np.int64(purpose))
        modes, used = some.mode + 1.0, number_of_blocks(lanes.size, size)
        better = improved(self.problem, values, some.enclosure, modes, *known, used, blocks=blocks)
        self._count(left.cell[lanes], purpose.evaluations)
        e: Enclosure = jax.tree_util.tree_map(lambda x: np.asarray(x)[: lanes.size], better)
        return e

    def correct(self, left: OpenModes, lanes: np.ndarray) -> None:
        """One evaluation in double-double at modes that float64 knows well, and the chord to an end of the enclosure.

        The step along the chord is as wrong, relative to itself, as D at the float64 end, whose noise is that of the
        mode over its distance, and as D is curved on the way. Where that leaves more than `_CORRECTED` the mode stays
        open.
        """
        some = left.take(lanes)
        e = some.enclosure
        d = self._extended(some.cell, e.omega)
        above = d.count > some.mode
        chosen = np.stack([~above, above])
        ends = np.where(chosen, e.omega, np.stack([e.lower, e.upper]))
        logs = np.where(chosen, d.log_abs, np.stack([e.lower_log, e.upper_log]))
        counts = np.where(chosen, d.count, np.stack([e.lower_count, e.upper_count]))
        omega = chord(ends, logs, some.nearest())
        step = np.abs(omega / e.omega - 1.0)
        distance = np.where(above, e.omega - e.lower, e.upper - e.omega) / e.omega
        gap = self.results.nearest(some.cell, some.mode)
        error = step * (np.maximum(e.error, step) / distance + distance / gap) + 2.0**-53
        proven = (counts == np.stack([some.mode, some.mode + 1])).all(axis=0)
        sound = proven & ((d.sign > 0.0) == (d.count % 2 == 0))
        inside = (ends[0] < omega) & (omega < ends[1])
        settled = sound & inside & (step <= _KNOWN) & (error <= _CORRECTED)
        self.results.polish(some.cell, some.mode, Refined(omega, ends[0], ends[1], error, settled))

    def polish(self, left: OpenModes, lanes: np.ndarray) -> None:
        """Evaluations in double-double alone, for modes that float64 knows badly."""
        some = left.take(lanes)
        half = np.clip(_ERRORS * some.enclosure.error, _LEAST, _MOST)

        def evaluate(at: np.ndarray, omega: np.ndarray) -> Sample:
            return self._extended(some.cell[at], omega)

        found = refine(evaluate, some.enclosure.omega, half, some.mode)
        self.results.polish(some.cell, some.mode, found)

    def _extended(self, cells: np.ndarray, omega: np.ndarray) -> Sample:
        """Sign, log|D| and count in double-double, one frequency for each of these cells."""
        size, blocks = self.sizes.extended_modes, self.sizes.open_blocks
        value = extended(
            self.problem,
            self.values[:, filled(cells, blocks * size)],
            filled(omega, blocks * size),
            number_of_blocks(omega.size, size),
            blocks=blocks,
        )
        self._count(cells, 1)
        return Sample(*(np.asarray(x, np.float64)[: cells.size] for x in value))

    def _count(self, cells: np.ndarray, evaluations: int) -> None:
        with self.lock:
            np.add.at(self.results.evaluations, cells, evaluations)

    def solve_exactly(self, cells: np.ndarray, theory: str) -> None:
        """The general search in double-double."""
        most = self.sizes.exact_cells
        size = 1 if cells.size <= most // 4 else most

        def solve(at: np.ndarray) -> None:
            values = self.values[:, filled(at, size)]
            self.results.settle(at, exact(self.problem, values, theory=theory))

        self.each(solve, cells, size)


def in_turn(
    work: Callable[[np.ndarray], Any], items: np.ndarray, size: int, blocks: int
) -> list[Any]:
    """As `Work.each`, but in the calling thread."""
    return [work(part) for part in parted(items, size, blocks, 1)]
