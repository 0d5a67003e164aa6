"""The passes of the batch solver: first every block of cells, then gathered open modes, with increasing effort.

The passes are float64 (`guided_search`), one or a few double-double evaluations of modes with too much rounding noise,
and the general search, cell by cell. A thread runs the first passes, which settle almost all modes, over a part of the
cells; open modes of all parts are then gathered and divided again. No finished cell waits for a slow one.
"""

from __future__ import annotations

import dataclasses
import functools
import threading
from concurrent.futures import ThreadPoolExecutor

import jax
import numpy as np

from jaxmodal.arm.columns import unpacked
from jaxmodal.batches.acceptance import (
    BOUND,
    CLOSE,
    CROWDED,
    KNOWN,
    OF_SUPPORTS,
    accepted,
    clear,
    corrected,
    doubtful,
    estimated_again,
    first_half_width,
    proven,
    stated,
    with_neighbour,
    worth_refining,
)
from jaxmodal.batches.ahead import Shape, ahead
from jaxmodal.batches.engines import Compiled, Engine
from jaxmodal.batches.guided_search import HALVINGS, Purpose
from jaxmodal.batches.kernels import BatchProblem, exact
from jaxmodal.batches.open_modes import OpenModes
from jaxmodal.batches.pilots import PILOTS, Centres, Guess, Pilots, number_of_features
from jaxmodal.batches.resident import stays_on_the_device
from jaxmodal.batches.results import Results
from jaxmodal.batches.sizes import Sizes, filled
from jaxmodal.batches.variants import Cells, Variants, buckled
from jaxmodal.batches.workers import Each, Workers, in_turn, placed
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.dynamic_stiffness.evaluation import Evaluation
from jaxmodal.frequencies.brackets import Enclosure
from jaxmodal.frequencies.one_arm import solve_beams
from jaxmodal.frequencies.refinement import refine
from jaxmodal.runtime.statuses import Status

#: fewest pilot cells for a guess
_FEWEST_PILOTS = 8
#: most cells that the general search solves one by one in NumPy (0.1 s each) instead of compiling for ten seconds
_FEW_EXACT = 64
#: most cells solved in NumPy after the compiled search has left them open
_MOST_EXACT = 1024


@dataclasses.dataclass(frozen=True)
class Work:
    """The passes of one call, on the threads of ``workers``."""

    variants: Variants
    problem: BatchProblem
    results: Results
    workers: Workers
    engine: Engine
    lock: threading.Lock = dataclasses.field(default_factory=threading.Lock)

    @property
    def sizes(self) -> Sizes:
        """Block sizes of the engine."""
        return self.engine.sizes

    @property
    def most(self) -> float:
        """Largest effect of rounding on a mode that is accepted in float64."""
        return OF_SUPPORTS if self.variants.supported else BOUND

    def solve(self, pilots: Pilots | None, size: int, theory: TheoryName, *, chosen: bool) -> None:
        """Solve all cells from the guess of ``pilots``, in blocks of ``size``; ``chosen``: the caller gave the size."""
        cells, sizes = self.variants.number, self.sizes
        for start in range(0, cells, sizes.cells):
            part = np.arange(start, min(start + sizes.cells, cells))
            self.search(part, pilots, size if pilots is not None or chosen else sizes.open_cells)
        if pilots is not None:
            self.search(self.results.open_cells(), None, sizes.open_cells)
        self.results.reopen_contradictions()
        self.solve_exactly(self.results.open_cells(), theory)

    def sample(self) -> Cells:
        """Return a few random valid cells as pilots, in any order."""
        free = self.results.free
        number = min(free.size, PILOTS)
        chosen = np.random.default_rng(0).choice(free.size, number, replace=False)
        columns, values = self.variants.columns(chosen), self.variants.values[:, chosen]
        good = ~columns.invalid & np.isfinite(values).all(axis=0)
        # frequencies with a hinge are not a limit of those without
        good &= free[chosen] == free.min()
        return Cells(chosen[good], columns.packed[..., good], None)

    def compile_ahead(
        self, engine: Compiled, size: int, sample: Cells, compilers: ThreadPoolExecutor
    ) -> None:
        """Compile the programs of a large batch on other threads while pilots are searched."""
        if engine.kernel.on_gpu and not stays_on_the_device(self.variants, self.problem):
            return
        fields, links, _ = sample.packed.shape
        features = number_of_features(self.variants.addresses)
        shape = Shape(fields, links, features, self.problem.modes, self.problem.hinged)
        for program in ahead(shape, engine, size):
            compilers.submit(placed(program, 0))

    def pilots(self, sample: Cells) -> Pilots | None:
        """Return the guess from a sample, searched from a grid; None if too few of its cells have frequencies."""
        size = self.sizes.open_cells

        def rough(at: np.ndarray) -> np.ndarray:
            return self.engine.rough(self.problem, sample.packed[..., at])

        if sample.numbers.size < _FEWEST_PILOTS:
            return None
        values, addresses = self.variants.values[:, sample.numbers], self.variants.addresses
        centres = self.workers.pool.submit(Centres.of, values, addresses)  # during the search
        every = np.arange(sample.numbers.size)
        parts = self.workers.each(rough, every, size, self.sizes.open_blocks)
        omega = np.concatenate(parts, axis=1)
        found = np.isfinite(omega).all(axis=0)
        if found.all():
            return centres.result().pilots(omega)
        if found.sum() < _FEWEST_PILOTS:
            return None
        return Centres.of(values[:, found], addresses).pilots(omega[:, found])

    def search(self, cells: np.ndarray, pilots: Pilots | None, size: int) -> None:
        """Solve cells in float64, then open modes with more evaluations and in double-double.

        Without pilots every cell is first searched from a grid.
        """
        if not cells.size:
            return
        sizes, guess, features = self.sizes, None, None
        columns = self.variants.columns(cells)
        self.results.refuse(cells[columns.invalid], Status.invalid_input)
        valid = ~columns.invalid
        flags, free = self.problem.flags, self.results.free[cells]
        unstable = valid & buckled(columns, flags, free)
        self.results.refuse(cells[unstable], Status.unstable)
        valid &= ~unstable
        cells, packed = cells[valid], columns.packed
        if not valid.all():  # in C order, so that lanes are gathered without a full copy
            packed = np.ascontiguousarray(packed[..., valid])
        if pilots is not None:
            guess = pilots.guess
            features = pilots.scaling.features(self.variants.values[:, cells])
        given = Cells(cells, packed, features)
        first = functools.partial(self.first, given, guess=guess, size=size)
        blocks = self.engine.blocks(size, guess is not None)
        parts = self.workers.each(first, np.arange(cells.size), size, blocks)
        if not parts:
            return
        unproven, noisy = (OpenModes.joined(list(some)) for some in zip(*parts, strict=True))
        if unproven.mode.size:
            for _ in range(HALVINGS):
                self.improve_unproven(given, unproven, Purpose.halve, self.workers.each)
            self.finish(given, unproven, self.workers.each)
        left = OpenModes.joined([noisy, self.uncertified(unproven)])
        near = worth_refining(left.enclosure)
        polish = functools.partial(self.polish, given, left)
        self.workers.each(polish, np.flatnonzero(near), sizes.extended_modes, sizes.open_blocks)

    def first(
        self, given: Cells, at: np.ndarray, guess: Guess | None, size: int
    ) -> tuple[OpenModes, OpenModes]:
        """Settle almost all modes of some cells, in the calling thread.

        Returns the open modes of cells with a mode that is not proven, and the uncertified modes of other cells.
        """
        left = self.enclose(given, at, guess, size)
        self.improve_unproven(given, left, Purpose.cut, in_turn)
        unproven = np.isin(left.cell, left.cell[~proven(left.enclosure, left.mode + 1)])
        others = left.take(np.flatnonzero(~unproven))
        self.finish(given, others, in_turn)
        return left.take(np.flatnonzero(unproven)), self.uncertified(others)

    def improve_unproven(self, given: Cells, left: OpenModes, purpose: Purpose, each: Each) -> None:
        """Improve all modes that are not proven."""
        lanes = np.flatnonzero(~proven(left.enclosure, left.mode + 1))
        improve = functools.partial(self.improve, given, left, purpose)
        each(improve, lanes, self.sizes.open_modes, self.sizes.open_mode_blocks)

    def finish(self, given: Cells, left: OpenModes, each: Each) -> None:
        """Certify modes as they are, by a second estimate or one double-double evaluation; reopen very close ones."""
        e, number, sizes = left.enclosure, left.mode + 1, self.sizes
        distance = self.results.nearest(left.cell, left.mode)
        close, near = distance <= CLOSE, distance <= CROWDED
        self.results.status[left.cell[near], left.mode[near]] = int(Status.uncertified)
        good = accepted(e, number, self.most) & ~close
        self.results.certify(left.cell[good], left.mode[good])
        unsure = np.flatnonzero(doubtful(e, number, close, self.most) & ~near)
        again = functools.partial(self.estimate_again, given, left)
        each(again, unsure, sizes.open_modes, sizes.open_mode_blocks)
        noisy = self.results.status[left.cell, left.mode] != Status.certified
        known = noisy & proven(e, number) & clear(e) & (e.error <= KNOWN) & (e.omega > 0.0) & ~near
        correct = functools.partial(self.correct, given, left)
        each(correct, np.flatnonzero(known), sizes.extended_modes, sizes.open_blocks)

    def uncertified(self, left: OpenModes) -> OpenModes:
        """Return the lanes that are not certified."""
        status = self.results.status[left.cell, left.mode]
        return left.take(np.flatnonzero(status != Status.certified))

    def enclose(self, given: Cells, at: np.ndarray, guess: Guess | None, size: int) -> OpenModes:
        """Run six evaluations of every mode of cells, in blocks of ``size``; return the open modes."""
        side_by_side = slice(at[0], at[-1] + 1)  # no copy
        features = None if given.features is None else given.features[:, side_by_side]
        packed = given.packed[..., side_by_side]
        start, e = self.engine.searched(self.problem, packed, features, guess, size)
        number, cells = np.arange(1, self.problem.modes + 1)[:, None], given.numbers[at]
        good = accepted(e, number, self.most) & ~with_neighbour(e.omega, CLOSE)
        self.results.store(cells, e, good)
        self.results.evaluations[cells] += 6 * self.problem.modes + start.evaluations
        return OpenModes.of(cells, e, start.rough[self.problem.modes :], ~good)

    def improve(self, given: Cells, left: OpenModes, purpose: Purpose, lanes: np.ndarray) -> None:
        """Run a few more evaluations of some lanes for a purpose, and store the enclosures."""
        e = self._improved(given, left, purpose, lanes)
        left.replace(lanes, e)
        self.results.store_modes(left.cell[lanes], left.mode[lanes], e)

    def estimate_again(self, given: Cells, left: OpenModes, lanes: np.ndarray) -> None:
        """Estimate known modes again, with other rounding errors; certify modes whose estimates agree."""
        again = self._improved(given, left, Purpose.estimate_again, lanes)
        cell, mode = left.cell[lanes], left.mode[lanes]
        e = left.enclosure.take(lanes)
        middle, alike = estimated_again(e, again, mode + 1)
        self.results.omega[cell[alike], mode[alike]] = middle[alike]
        self.results.certify(cell[alike], mode[alike], stated(e)[alike])

    def _improved(
        self, given: Cells, left: OpenModes, purpose: Purpose, lanes: np.ndarray
    ) -> Enclosure:
        self._count(left.cell[lanes], purpose.evaluations)
        return self.engine.improved(self.problem, given, left, lanes, purpose)

    def correct(self, given: Cells, left: OpenModes, lanes: np.ndarray) -> None:
        """Correct accurate float64 modes by one double-double evaluation and the chord (`corrected`)."""
        some = left.take(lanes)
        e = some.enclosure
        d = self._extended(given, some.cell, e.omega)
        distance = self.results.nearest(some.cell, some.mode)
        with np.errstate(all="ignore"):
            found, settled = corrected(e, some.mode, d, some.nearest(), distance)
        self.results.polish(some.cell, some.mode, found, settled)

    def polish(self, given: Cells, left: OpenModes, lanes: np.ndarray) -> None:
        """Refine inaccurate float64 modes by double-double evaluations only."""
        some = left.take(lanes)
        half = first_half_width(some.enclosure)

        def evaluate(at: np.ndarray, omega: np.ndarray) -> Evaluation:
            return self._extended(given, some.cell[at], omega)

        found, settled = refine(evaluate, some.enclosure.omega, half, some.mode)
        self.results.polish(some.cell, some.mode, found, settled)

    def _extended(self, given: Cells, cells: np.ndarray, omega: np.ndarray) -> Evaluation:
        """Return sign, log|D| and count in double-double, at one frequency for each of these cells."""
        self._count(cells, 1)
        return self.engine.extended(self.problem, given, cells, omega)

    def _count(self, cells: np.ndarray, evaluations: int) -> None:
        with self.lock:
            np.add.at(self.results.evaluations, cells, evaluations)

    def solve_exactly(self, cells: np.ndarray, theory: TheoryName) -> None:
        """Solve cells by the general search."""
        if not cells.size:
            return
        size, modes = self.sizes.exact_cells, self.problem.modes
        packed = self.variants.columns(cells).packed

        def solve(at: np.ndarray) -> None:
            lanes = packed[..., filled(at, size)]
            found = exact(self.problem.flags, lanes, modes=modes, theory=theory)
            self.results.settle(cells[at], found)

        def solve_one(at: np.ndarray) -> None:
            beams = unpacked(packed[..., at[0]])
            found = solve_beams(beams, self.problem.flags, modes, theory)
            self.results.settle(
                cells[at], jax.tree_util.tree_map(lambda x: np.asarray(x)[None], found)
            )

        every = np.arange(cells.size)
        if cells.size > _FEW_EXACT:
            self.workers.each(solve, every, size)
            every = np.flatnonzero(np.isin(cells, self.results.open_cells()))
        # one by one in NumPy; the compiled search uses the same formulas
        self.workers.each(solve_one, every[:_MOST_EXACT], 1)
