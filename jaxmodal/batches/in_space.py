"""Batches of arms in space: large ones by a compiled float64 program, small ones and open modes in NumPy.

As in the plane, a few hundred cells are solved first and give all others a guess. From it seven evaluations per mode
enclose the mode and measure its accuracy (see `looped_search`). Cells with modes that are not enclosed are searched
again from better estimates. Modes with too much noise, and the last mode if another may be close above it, are solved
one by one in double-double; modes that are still open are solved as in a small batch.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar

import jax
import numpy as np

from jaxmodal.arithmetic.operations import Arithmetic
from jaxmodal.arm.addresses import resolve_address
from jaxmodal.arm.parameters import set_parameters
from jaxmodal.arm.validity import valid_cells
from jaxmodal.batches.acceptance import SAFETY, proven, with_neighbour
from jaxmodal.batches.kernels import EXTRA
from jaxmodal.batches.looped_search import EVALUATIONS
from jaxmodal.batches.pilots import Centres, Guess, Pilots, number_of_features
from jaxmodal.batches.plan import FEW, Question, SeriesPlan
from jaxmodal.batches.results import Results
from jaxmodal.batches.sizes import CPU_SIZES, filled, number_of_blocks
from jaxmodal.batches.spatial_search import enclosed_in_space, next_guess
from jaxmodal.batches.workers import Workers, placed
from jaxmodal.dynamic_stiffness.beams import TheoryName, theory_flags
from jaxmodal.dynamic_stiffness.evaluation import Evaluation
from jaxmodal.frequencies.brackets import Enclosure
from jaxmodal.frequencies.resolution import resolved
from jaxmodal.frequencies.results import NaturalFrequencies
from jaxmodal.postures.series_passes import Tables
from jaxmodal.runtime.devices import available_cores
from jaxmodal.runtime.statuses import Status
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.search.cells import solve_cells
from jaxmodal.spatial.search.float64_search import CLOSE, OF_CHORD, rough_frequencies, settle
from jaxmodal.spatial.search.neighbours import Neighbours
from jaxmodal.spatial.stiffness.model import SpatialModel
from jaxmodal.spatial.stiffness.uniform_links import Layout, layout_of, packed_links

#: largest relative change of the estimate in the last evaluation, and the stated error in units of this change
_ALLOWED, _SURE = 9.5e-14, 10.0
#: most searches of cells with modes that are not enclosed
_ATTEMPTS = 4
#: lanes per call in double-double
_SETTLED = 512
#: cells of a chunk of a sweep that NumPy solves, or that has more than frequencies; and of others
_CHUNK_IN_NUMPY, _CHUNK = 256, 16_384
#: cells that NumPy searches for a first guess, and cells that the program searches for a better one
_FIRST_PILOTS, _PILOTS = 128, 640
#: no further mode may lie between the last mode and this multiple of it, where it could disturb the chord
_ALONE = 1.03
#: features of a guess are padded to a multiple of this number: angles of six joints (two features each) and four more
_FEATURES = 16
#: least ratio of a guessed further mode to the last requested one
_BEYOND = 1.02
#: fewest pilot cells for a guess, and number of pilot cells searched before others start from their neighbours
_FEWEST_PILOTS, _WITHOUT_GUESS = 8, 16
#: relative width of the enclosures of the first pilots, and most rounds: a guess from 128 cells is not more accurate
_OF_PILOTS = 1e-2, 6


@dataclasses.dataclass(frozen=True)
class PlanInSpace(SeriesPlan):
    """Common data of all cells of one question; `plan.Plan` for arms in space.

    Attributes
    ----------
    question : Question
        The question.
    chunk : int, optional
        Cells per block, as given by the caller.
    size : int
        Cells per block of the program.
    layout, pilots : Layout and Pilots, optional
        Layout of the arm for the program, and the guess for every cell; None if NumPy solves all cells.
    tables : Tables, optional
        The posture series, if it is faster.
    """

    #: as of `plan.Plan`; the guess of the programs alone takes as long as this number of cells, compilation 4 s
    always: ClassVar[int] = 640
    worth: ClassVar[float] = 1e5

    question: Question[SpatialArm]
    chunk: int | None
    size: int
    layout: Layout | None = None
    pilots: Pilots | None = None
    tables: Tables | None = None

    @classmethod
    def of(
        cls,
        question: Question[SpatialArm],
        sample: np.ndarray,
        cells: int,
        chunk: int | None = None,
        kernel: str = "auto",
        few: bool | None = None,
        series: bool = True,
    ) -> PlanInSpace:
        """Return the plan; arguments as for `plan.Plan.of`."""
        size = max(1, CPU_SIZES.lanes // question.modes) if chunk is None else chunk
        size = min(size, 1 << (cells - 1).bit_length())
        plan = cls(question, chunk, size)
        if series and chunk is None and (tables := cls.series_tables(question, sample, cells)):
            return dataclasses.replace(plan, tables=tables)
        few = chunk is None and kernel == "auto" and (cells <= FEW if few is None else few)
        rigid = all(link.rigid for link in question.arm.links)
        if few or rigid or question.arm.is_solved_alone:
            return plan
        usual = plan._usual(sample)
        if usual.size < _FEWEST_PILOTS:
            return plan
        some = usual
        if usual.size > _FIRST_PILOTS:
            some = np.sort(np.random.default_rng(0).choice(usual, _FIRST_PILOTS, replace=False))
        columns = sample[:, some]
        plan = dataclasses.replace(plan, layout=layout_of(plan._model(columns).constants().links))
        with ThreadPoolExecutor(1) as compiler:
            compiler.submit(placed(functools.partial(plan._compile, columns[:, :1]), 0))
            pilots = plan._pilots(columns)
        plan = dataclasses.replace(plan, pilots=pilots)
        if pilots is None or usual.size < _PILOTS:
            return plan
        more = np.random.default_rng(1).choice(usual, _PILOTS, replace=False)
        return plan._refined(sample[:, np.sort(more)])

    def solve(self, values: np.ndarray) -> NaturalFrequencies:
        """Return the frequencies of cells with given ``values`` (addresses, cells)."""
        if self.tables is not None:
            return self.by_series(self.tables, values)
        if self.pilots is None:
            return self._general(values)
        results = self._searched(values, self._usual(values))
        results.reopen_contradictions()
        left = results.open_cells()
        if left.size:
            found = jax.tree_util.tree_map(np.asarray, self._general(values[:, left]))
            results.settle(left, found)
        return results.frozen(self.question.theory)

    @staticmethod
    def most_side_by_side(cells: int, more: bool) -> int | float:
        """Return how many cells take some seconds: in NumPy or with more than frequencies, or by the program."""
        return _CHUNK_IN_NUMPY if more or cells <= FEW else _CHUNK

    @staticmethod
    def require_theory(
        arm: SpatialArm, theory: TheoryName, columns: Mapping[str, np.ndarray]
    ) -> None:
        """Refuse an arm that lacks what a theory needs, as `plan.Plan.require_theory`; no cell differs in that."""
        if theory == "timoshenko":
            arm.unloaded_model(theory)

    @staticmethod
    def zero_modes(arm: SpatialArm, columns: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return the number of zero frequencies of each cell, as `plan.Plan.zero_modes`."""
        if not arm.is_solved_alone:
            with np.errstate(all="ignore"):
                free = arm.with_values(columns).model_of_cells(theory_flags("euler_bernoulli")).free
            return np.broadcast_to(free, len(next(iter(columns.values()))))
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        cells = (set_parameters(arm, dict(zip(columns, row, strict=True))) for row in rows)
        return np.array([cell.search_model("euler_bernoulli").zero_frequencies for cell in cells])

    def _searched(self, values: np.ndarray, usual: np.ndarray) -> Results:
        """Return the results of some of the cells, of which modes may be left open."""
        results = Results.empty(np.zeros(values.shape[1], np.int32), self.question.modes)
        with ThreadPoolExecutor(available_cores()) as pool:
            workers = Workers(pool, available_cores())
            cells, rough, noisy = usual, None, []
            for attempt in range(_ATTEMPTS):  # open cells of all parts are searched together
                if not cells.size:
                    break
                go_on = functools.partial(self._search, results, values, cells, rough, attempt)
                parts = workers.each(go_on, np.arange(cells.size), self.size, self._blocks)
                left, noise = (list(x) for x in zip(*parts, strict=True))
                noisy += noise
                cells, rough = _joined(left)
            if noisy:
                lanes = _joined(noisy)
                settle_some = functools.partial(self._settle, results, values, *lanes)
                workers.each(settle_some, np.arange(lanes[0].size), _SETTLED)
        return results

    @property
    def _blocks(self) -> int:
        """Number of blocks in one call."""
        return min(CPU_SIZES.blocks, int(number_of_blocks(CPU_SIZES.cells, self.size)))

    def _general(self, values: np.ndarray) -> NaturalFrequencies:
        given = self._given(values)
        q = self.question
        return jax.device_put(solve_cells(q.arm, given, q.modes, q.theory, self.chunk))

    def _given(self, values: np.ndarray) -> dict[str, np.ndarray]:
        return dict(zip(self.question.addresses, values, strict=True))

    def _varied(self, values: np.ndarray) -> SpatialArm:
        return self.question.arm.with_values(
            {
                single: column
                for address, column in zip(self.question.addresses, values, strict=True)
                for single in resolve_address(self.question.arm, address)
            }
        )

    def _model(self, values: np.ndarray) -> SpatialModel:
        some, flags = self._varied(values), self.question.arm.model(self.question.theory).flags
        return some.model_of_cells(flags)

    def _usual(self, values: np.ndarray) -> np.ndarray:
        """Return the cells with finite, valid values and without free joints, for which a guess is possible."""
        cells = values.shape[1]
        with np.errstate(all="ignore"):
            valid = valid_cells(self._varied(values), cells) & np.isfinite(values).all(axis=0)
            return np.flatnonzero(valid & (np.broadcast_to(self._model(values).free, cells) == 0))

    def _pilots(self, values: np.ndarray) -> Pilots | None:
        """Return the guess from cells that NumPy searches; None if too few cells have all frequencies."""
        wanted, cells = self.question.modes + EXTRA, values.shape[1]
        omega, known = np.full((wanted, cells), np.nan), Neighbours(self._given(values))
        for block in np.split(np.arange(cells), [min(_WITHOUT_GUESS, cells - 1)]):
            model = self._model(values[:, block])
            scale = np.broadcast_to(model.scales, block.shape)

            def evaluate(
                at: np.ndarray, model: SpatialModel = model, scale: np.ndarray = scale
            ) -> Evaluation:
                return model.evaluate_cells(
                    resolved(scale, at, Arithmetic.float64), Arithmetic.float64
                )

            near = known.near(block)
            with np.errstate(all="ignore"):
                found = rough_frequencies(evaluate, model, scale, wanted, near, *_OF_PILOTS)
            omega[:, block] = found
            sound = np.isfinite(found).all(axis=0)
            known.add(block[sound], found[:, sound])
        good = np.flatnonzero(
            np.isfinite(omega).all(axis=0) & (np.diff(omega, axis=0) > 0.0).all(axis=0)
        )
        if good.size < _FEWEST_PILOTS:
            return None
        return self._fitted(values[:, good], omega[:, good])

    def _refined(self, values: np.ndarray) -> PlanInSpace:
        """Return the plan with a guess from more cells, which the program searches."""
        results = self._searched(values, np.arange(values.shape[1]))
        good = (results.status == int(Status.certified)).all(axis=1)
        if good.sum() < _FEWEST_PILOTS:
            return self
        assert self.pilots is not None
        beyond = self.pilots.guess.frequencies(self._features(values[:, good]))
        beyond = beyond[self.question.modes :]
        omega = np.concatenate([results.omega[good].T, beyond])
        omega[self.question.modes :] = np.maximum(beyond, omega[self.question.modes - 1] * _BEYOND)
        return dataclasses.replace(self, pilots=self._fitted(values[:, good], omega))

    def _fitted(self, values: np.ndarray, omega: np.ndarray) -> Pilots:
        """Return the guess from frequencies (modes + EXTRA, cells) of cells."""
        used = self._that_matter
        addresses = tuple(np.array(self.question.addresses)[used])
        return Centres.of(values[used], addresses, _FEATURES).pilots(omega, _PILOTS)

    def _features(self, values: np.ndarray) -> np.ndarray:
        """Return the features from which the guess is made."""
        assert self.pilots is not None
        return np.asarray(self.pilots.scaling.features(values[self._that_matter]))

    @property
    def _that_matter(self) -> np.ndarray:
        """Indices of addresses that change frequencies: on a rigid base the first joint angle does not."""
        used = np.array(
            [
                self.question.arm.base_stiffness is not None or address != "link1.joint_angle"
                for address in self.question.addresses
            ]
        )
        return np.flatnonzero(used if used.any() else ~used)

    def _compile(self, values: np.ndarray) -> None:
        """Compile the program without solving a cell."""
        wanted, addresses = self.question.modes + EXTRA, np.array(self.question.addresses)
        count = number_of_features(tuple(addresses[self._that_matter]), _FEATURES)
        guess = Guess(np.zeros((count, _PILOTS)), np.zeros((wanted, _PILOTS + 1 + count)))
        start = np.zeros((count, 1)), np.ones((wanted, 1)), guess
        self._enclosed(self._model(values), *start, 0, blocks_used=0)

    def _enclosed(
        self,
        model: SpatialModel,
        features: np.ndarray,
        rough: np.ndarray,
        guess: Guess,
        skipped: int,
        blocks_used: int | None = None,
    ) -> tuple[np.ndarray, Enclosure, np.ndarray]:
        """Return `enclosed_in_space` for the cells of a model."""
        cells, lanes = rough.shape[1], self.size * self._blocks
        assert self.layout is not None
        layout = self.layout.joined(layout_of(model.constants().links))
        packed = packed_links(*model.constants(), layout, cells, lanes)
        scale = np.broadcast_to(model.scales, (cells,))
        used = number_of_blocks(cells, self.size) if blocks_used is None else np.int64(blocks_used)
        found = enclosed_in_space(
            model.flags,
            model.log_at_zero,
            packed,
            *(filled(x, lanes) for x in (scale, features, rough)),
            guess,
            np.int64(skipped),
            used,
            layout=layout,
            modes=self.question.modes,
            blocks=self._blocks,
        )
        start, e, alone = jax.tree_util.tree_map(lambda x: np.asarray(x)[..., :cells], found)
        return start, e, alone

    def _search(
        self,
        results: Results,
        values: np.ndarray,
        cells: np.ndarray,
        rough: np.ndarray | None,
        attempt: int,
        at: np.ndarray,
    ) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
        """Search the modes of some cells and store the results; without ``rough``, from the guess of the pilots.

        Returns the cells with modes that are not enclosed, with estimates to start from; and the modes of other cells
        whose noise is too large: cell, mode, and estimates of all modes.
        """
        cells = cells[at]
        number, skipped = np.arange(1, self.question.modes + 1)[:, None], int(attempt > 0)
        assert self.pilots is not None
        with np.errstate(all="ignore"):
            own, features = values[:, cells], self._features(values[:, cells])
            start = np.zeros((len(number) + EXTRA, cells.size)) if rough is None else rough[:, at]
            given = features, start, self.pilots.guess, skipped
            start, e, alone = self._enclosed(self._model(own), *given)
            known = proven(e, number)
            every = next_guess(e, start)
            apart = ~with_neighbour(every, CLOSE)[: self.question.modes]
            apart[-1] &= alone
        good = known & (e.error <= _ALLOWED) & apart
        e = dataclasses.replace(e, error=(_SURE * e.error + OF_CHORD) / SAFETY)
        results.store(cells, e, good)
        results.evaluations[cells] += (EVALUATIONS - skipped) * self.question.modes
        done = known.all(axis=0)
        mode, lane = np.nonzero(~good & done)
        return (cells[~done], every[:, ~done]), (cells[lane], mode, every[:, lane])

    def _settle(
        self,
        results: Results,
        values: np.ndarray,
        cells: np.ndarray,
        mode: np.ndarray,
        every: np.ndarray,
        at: np.ndarray,
    ) -> None:
        """Solve single modes, at some places of these lists, in double-double."""
        cells, mode = cells[at], mode[at]
        with np.errstate(all="ignore"):
            model = self._model(values[:, cells])
            found = settle(model, every[:, at], mode)
            beyond = model.evaluate_cells(found.omega * _ALONE, Arithmetic.float64).count[0]
        last = self.question.modes - 1  # the next mode is only a guess
        good = found.converged[0] & ((mode < last) | (beyond == last + 1))
        to, c = (cells[good], mode[good]), found.certificate
        results.omega[to] = found.omega[0, good]
        results.bracket[to] = c.bracket[0, good]
        results.count_below[to] = c.count_below[0, good]
        results.count_above[to] = c.count_above[0, good]
        results.residual_ratio[to] = c.residual_ratio[0, good]
        results.certify(*to)


def _joined(parts: list[tuple[np.ndarray, ...]]) -> tuple[np.ndarray, ...]:
    """Return concatenated lists of lanes, with lanes on the last axis."""
    return tuple(np.concatenate(x, axis=-1) for x in zip(*parts, strict=True))
