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

from jaxmodal.batch_kernels import (
    Problem,
    exact,
    extended,
    improved,
    pilot_guess,
    searched,
)
from jaxmodal.batch_results import (
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
from jaxmodal.batch_sizes import CPU_SIZES, GPU_SIZES, Sizes, filled, number_of_blocks, parted
from jaxmodal.fused_search import Kernel
from jaxmodal.guided_search import Enclosure, Purpose
from jaxmodal.interpolation import chord, parabola
from jaxmodal.open_modes import OpenModes
from jaxmodal.pilots import Guess
from jaxmodal.status import Status

#: a mode whose float64 error is smaller needs one evaluation in double-double
_KNOWN = 1e-11
#: half the width of the others' enclosures, in turn; None is that of float64, which parts modes closer than its error;
#: near a pole float64 may be wrong by more than the first
_POLISH = (2e-9, None, 1e-5, 1e-7, 2e-9)
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
        isolated = (e.upper_count - e.lower_count == 1) & (e.omega > 0.0)
        for half_width in _POLISH:
            isolated &= self.results.status[left.cell, left.mode] != Status.certified
            polish = functools.partial(self.polish, left, half_width)
            self.each(polish, np.flatnonzero(isolated), sizes.extended_modes, sizes.open_blocks)

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

        An error of the float64 end's D weighs as little as the step is short against the enclosure.
        """
        some = left.take(lanes)
        e = some.enclosure
        sign, log_abs, count = self._extended(some, e.omega)
        above = count > some.mode
        chosen = np.stack([~above, above])
        ends = np.where(chosen, e.omega, np.stack([e.lower, e.upper]))
        logs = np.where(chosen, log_abs, np.stack([e.lower_log, e.upper_log]))
        counts = np.where(chosen, count, np.stack([e.lower_count, e.upper_count]))
        found = chord(ends, logs, counts, some.nearest())
        short = np.abs(found.omega - e.omega) <= _KNOWN * e.omega
        sound = short & ((sign > 0.0) == (count % 2 == 0))
        kept = dataclasses.replace(found, lower_count=np.where(sound, found.lower_count, -1.0))
        self.results.polish(some.cell, some.mode, kept)

    def polish(self, left: OpenModes, half_width: float | None, lanes: np.ndarray) -> None:
        """The parabola through three evaluations in double-double, for modes that float64 knows badly.

        Where D changes its sign between them, the mode is known the better afterwards; the closest ends settle it.
        """
        some = left.take(lanes)
        e, omega = some.enclosure, some.enclosure.omega
        if half_width is None:
            ends = np.stack([np.maximum(e.lower, 0.5 * omega), np.minimum(e.upper, 2.0 * omega)])
        else:
            ends = np.stack([omega * (1.0 - half_width), omega * (1.0 + half_width)])
        signs, logs, counts = (
            np.stack(x) for x in zip(*(self._extended(some, end) for end in ends), strict=True)
        )
        found = chord(ends, logs, counts, some.nearest())
        enclosed = signs[0] * signs[1] < 0.0
        sign, log_abs, _ = self._extended(some, np.where(enclosed, found.omega, omega))
        refined = parabola(
            np.stack([ends[0], found.omega, ends[1]]),
            np.stack([signs[0], sign, signs[1]]),
            np.stack([logs[0], log_abs, logs[1]]),
        )
        left.enclosure.omega[lanes] = np.where(enclosed, refined, omega)
        if half_width == _POLISH[0]:
            kept = np.where(enclosed, found.lower_count, -1.0)
            found = dataclasses.replace(found, omega=refined, lower_count=kept)
            self.results.polish(some.cell, some.mode, found)

    def _extended(self, some: OpenModes, omega: np.ndarray) -> tuple[np.ndarray, ...]:
        """Sign, log|D| and count in double-double, one frequency for each mode."""
        size, blocks = self.sizes.extended_modes, self.sizes.open_blocks
        value = extended(
            self.problem,
            self.values[:, filled(some.cell, blocks * size)],
            filled(omega, blocks * size),
            number_of_blocks(omega.size, size),
            blocks=blocks,
        )
        self._count(some.cell, 1)
        return tuple(np.asarray(x, np.float64)[: some.cell.size] for x in value)

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
