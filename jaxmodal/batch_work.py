"""The passes of the batch solver: every block of cells once, then the open modes, gathered, with more and more effort.

Float64 first (`guided_search`), then one or a few double-double evaluations of the modes whose rounding noise is too
large, then the general search, cell by cell. No finished cell waits for a slow one.
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
    searched,
)
from jaxmodal.batch_results import (
    NOISE,
    Results,
    accepted,
    crowded,
    doubtful,
    proven,
    quiet,
)
from jaxmodal.fused_search import Kernel
from jaxmodal.guided_search import Enclosure, Purpose
from jaxmodal.interpolation import chord, parabola
from jaxmodal.open_modes import OpenModes
from jaxmodal.pilots import Guess
from jaxmodal.status import Status

#: a mode whose float64 error is smaller needs one evaluation in double-double
_KNOWN = 1e-11
#: half the width of the others' enclosures, in turn: near a pole float64 may be wrong by more than the first
_POLISH = (2e-9, 1e-5, 1e-7, 2e-9)


@dataclasses.dataclass(frozen=True)
class Sizes:
    """How much one compiled pass takes at once.

    Attributes
    ----------
    lanes : int
        Cells times modes of one block.
    blocks : int
        Blocks that one call solves, one after the other.
    cells : int
        Cells whose open modes are gathered before they go on.
    open_cells, open_modes, extended_modes, exact_cells : int
        Cells without a guess; open modes in float64 and in double-double; cells of the general search.
    """

    lanes: int
    blocks: int
    cells: int
    open_cells: int
    open_modes: int
    extended_modes: int
    exact_cells: int


#: The eighty arrays that XLA puts between its loops fit the second-level cache of a core, and are no multiple of 4 KiB
#: long, where they would all fall on the same lines of the first.
CPU_SIZES = Sizes(2080, 16, 65536, 128, 1056, 136, 16)
#: enough to fill a GPU several times over, and a gigabyte or two of its memory
GPU_SIZES = Sizes(2**20, 1, 2**20, 4096, 16384, 4096, 256)


@dataclasses.dataclass(frozen=True)
class Work:
    """The passes of one call, each spread over the ``workers`` threads of a pool."""

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

    def solve(self, guess: Guess | None, chunk: int | None, theory: str) -> None:
        """All cells, ``chunk`` of them side by side on one core."""
        cells, sizes = self.values.shape[1], self.sizes
        size = max(1, min(sizes.lanes // self.problem.modes if chunk is None else chunk, cells))
        for start in range(0, cells, sizes.cells):
            self.search(np.arange(start, min(start + sizes.cells, cells)), guess, size)
        if guess is not None:
            self.search(self.results.open_cells(), None, sizes.open_cells)
        self.solve_exactly(self.results.open_cells(), theory)

    def each(self, work: Callable[[np.ndarray], Any], items: np.ndarray, size: int) -> list[Any]:
        """``work`` on every part of ``items``, in any order, the local devices in turn.

        A device that the caller has chosen as JAX's default keeps all parts.
        """
        parts = [items[start : start + size] for start in range(0, items.size, size)]
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
        blocks = self._blocks(cells.size, size) if guess is not None else 1
        parts = self.each(lambda at: self.enclose(at, guess, size), cells, blocks * size)
        if not parts:
            return
        sizes, left = self.sizes, OpenModes.joined(parts)
        for purpose in (Purpose.cut, Purpose.halve, Purpose.halve, Purpose.halve):
            unproven = np.flatnonzero(~proven(left.enclosure, left.mode + 1))
            self.each(functools.partial(self.improve, left, purpose), unproven, sizes.open_modes)
        e = left.enclosure
        near = crowded(self.results.omega[left.cell].T)[left.mode, np.arange(left.mode.size)]
        self.results.status[left.cell[near], left.mode[near]] = int(Status.uncertified)
        unsure = np.flatnonzero(doubtful(e, left.mode + 1) & ~near)
        self.each(functools.partial(self.confirm, left), unsure, sizes.open_modes)
        isolated = (e.upper_count - e.lower_count == 1) & (e.omega > 0.0)
        noisy = isolated & (self.results.status[left.cell, left.mode] != Status.certified)
        known = noisy & proven(e, left.mode + 1) & (e.error <= _KNOWN) & ~near
        correct = functools.partial(self.correct, left)
        self.each(correct, np.flatnonzero(known), sizes.extended_modes)
        for half_width in _POLISH:
            noisy &= self.results.status[left.cell, left.mode] != Status.certified
            polish = functools.partial(self.polish, left, half_width)
            self.each(polish, np.flatnonzero(noisy), sizes.extended_modes)

    def _blocks(self, cells: int, size: int) -> int:
        """Blocks of ``size`` cells in one call: at most as many as compiled for, and equally many for every worker."""
        blocks = max(1, -(-cells // size))
        rounds = -(-blocks // (self.sizes.blocks * self.workers))
        return -(-blocks // (rounds * self.workers))

    def enclose(self, at: np.ndarray, guess: Guess | None, size: int) -> OpenModes:
        """Six evaluations of every mode of cells in blocks of ``size``; returns the modes that they leave open."""
        blocks, addresses = self.sizes.blocks if guess is not None else 1, self.values.shape[0]
        values = self.values[:, _filled(at, blocks * size)].reshape(addresses, blocks, size)
        used = np.int64(-(-at.size // size))
        blockwise = values.swapaxes(0, 1)
        invalid, rough, found = searched(self.problem, blockwise, used, guess, kernel=self.kernel)
        e = jax.tree_util.tree_map(lambda x: np.asarray(x)[:, : at.size], found)
        bad = np.asarray(invalid)[: at.size]
        good = accepted(e, np.arange(1, self.problem.modes + 1)[:, None]) & ~crowded(e.omega)
        self.results.store(at, e, good)
        self.results.refuse(at[bad])
        self.results.evaluations[at] += 6 * self.problem.modes
        return OpenModes.of(at, e, np.asarray(rough)[:, : at.size], ~good & ~bad)

    def improve(self, left: OpenModes, purpose: Purpose, lanes: np.ndarray) -> None:
        """More evaluations of modes that are not proven."""
        e = self._improved(left, purpose, lanes)
        left.replace(lanes, e)
        good = accepted(e, left.mode[lanes] + 1)
        self.results.store_modes(left.cell[lanes], left.mode[lanes], e, good)

    def confirm(self, left: OpenModes, lanes: np.ndarray) -> None:
        """More evaluations of modes that are known, for an estimate with other rounding errors."""
        some, again = left.take(lanes), self._improved(left, Purpose.confirm, lanes)
        change = np.abs(again.omega / some.enclosure.omega - 1.0)
        alike = quiet(again, some.mode + 1) & (change <= NOISE)
        middle = 0.5 * (again.omega + some.enclosure.omega)
        self.results.confirm(some.cell[alike], some.mode[alike], middle[alike])

    def _improved(self, left: OpenModes, purpose: Purpose, lanes: np.ndarray) -> Enclosure:
        some = left.take(_filled(lanes, self.sizes.open_modes))
        values, known = self.values[:, some.cell], (some.omegas, some.rough, np.int64(purpose))
        better = improved(self.problem, values, some.enclosure, some.mode + 1.0, *known)
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

    def polish(self, left: OpenModes, half_width: float, lanes: np.ndarray) -> None:
        """The parabola through three evaluations in double-double, for modes that float64 knows badly.

        Where D changes its sign between them, the mode is known the better afterwards.
        """
        some = left.take(lanes)
        omega = some.enclosure.omega
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
        if half_width == min(_POLISH):
            kept = np.where(enclosed, found.lower_count, -1.0)
            found = dataclasses.replace(found, omega=refined, lower_count=kept)
            self.results.polish(some.cell, some.mode, found)

    def _extended(self, some: OpenModes, omega: np.ndarray) -> tuple[np.ndarray, ...]:
        """Sign, log|D| and count in double-double, one frequency for each mode."""
        size = self.sizes.extended_modes
        value = extended(
            self.problem,
            self.values[:, _filled(some.cell, size)],
            _filled(omega, size),
        )
        self._count(some.cell, 1)
        numbers = (value.sign, value.log_abs, value.count)
        return tuple(np.asarray(x, np.float64)[: some.cell.size] for x in numbers)

    def _count(self, cells: np.ndarray, evaluations: int) -> None:
        with self.lock:
            np.add.at(self.results.evaluations, cells, evaluations)

    def solve_exactly(self, cells: np.ndarray, theory: str) -> None:
        """The general search in double-double."""
        most = self.sizes.exact_cells
        size = 1 if cells.size <= most // 4 else most

        def solve(at: np.ndarray) -> None:
            values = self.values[:, _filled(at, size)]
            self.results.settle(at, exact(self.problem, values, theory=theory))

        self.each(solve, cells, size)


def _filled(items: np.ndarray, size: int) -> np.ndarray:
    """Repeat the last item until there are ``size`` of them."""
    return np.concatenate([items, np.repeat(items[-1:], size - items.size)])
