"""Plan of the solution of a batch: common data of its cells, computed once from a sample of them.

So the result for a part of a large set of cells does not depend on other parts solved in the same process.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from jaxmodal.arm.arm import Arm
from jaxmodal.arm.columns import require_variants
from jaxmodal.batches.engines import Compiled, Engine, OnHost
from jaxmodal.batches.fused_search import chosen_kernel
from jaxmodal.batches.kernels import BatchProblem
from jaxmodal.batches.pilots import PILOTS, Pilots
from jaxmodal.batches.resident import Resident, stays_on_the_device
from jaxmodal.batches.results import Results
from jaxmodal.batches.variants import Variants
from jaxmodal.batches.work import Work
from jaxmodal.batches.workers import Workers
from jaxmodal.dynamic_stiffness.beams import TheoryName, theory_flags
from jaxmodal.frequencies.results import NaturalFrequencies
from jaxmodal.postures import places, series_search
from jaxmodal.postures.series_passes import Tables
from jaxmodal.runtime.devices import available_cores, default_device
from jaxmodal.spatial.arms.arm import SpatialArm

#: most cells that NumPy solves (0.2 ms each) instead of programs (0.02 ms each, after 10 s of compilation)
FEW = 10_240
#: most cells of one block on a GPU: a guess takes 5 kB per cell, independent of the number of modes
GPU_CELLS = 2**18


Kind = TypeVar("Kind", Arm, SpatialArm)


@dataclasses.dataclass(frozen=True)
class Question(Generic[Kind]):
    """The question for every cell: the lowest ``modes`` frequencies of an arm with values at ``addresses``."""

    arm: Kind
    addresses: tuple[str, ...]
    modes: int
    theory: TheoryName


class SeriesPlan:
    """What the plans of both kinds of arms share: solution by the posture series."""

    question: Question[Any]
    tables: Tables | None

    @staticmethod
    def series_tables(question: Question[Any], sample: np.ndarray, cells: int) -> Tables | None:
        """Return the posture series for ``cells`` cells, if it is faster."""
        asked = question.arm, question.addresses
        if not places.pays(*asked, cells, sample):
            return None
        return series_search.prepare(*asked, sample, question.modes, question.theory, cells)

    def by_series(self, tables: Tables, values: np.ndarray) -> NaturalFrequencies:
        """Return the frequencies by the series; what it leaves open is solved by a plan without it."""
        plan: Any = type(self)

        def left_open(cells: np.ndarray) -> NaturalFrequencies:
            some = values[:, cells]
            found: NaturalFrequencies = plan.of(
                self.question, some, cells.size, series=False
            ).solve(some)
            return found

        given = tables, self.question.arm, self.question.addresses, values
        with ThreadPoolExecutor(available_cores()) as pool:
            return series_search.solve_batch(*given, left_open, pool)


@dataclasses.dataclass(frozen=True)
class Plan(SeriesPlan):
    """Common data of all cells of one question, for planar arms.

    Attributes
    ----------
    question : Question
        The question.
    engine : Engine
        Engine for the evaluations.
    cells, chunk, kernel : int, int or None, str
        Total number of cells, and the arguments of `natural_frequencies_batch`.
    tables : Tables, optional
        The posture series, if it is faster.
    pilots : Pilots, optional
        Otherwise, the guess for every cell.
    """

    #: cells that NumPy always solves, and links times modes times cells that it solves in the compile time, 9 s
    always: ClassVar[int] = FEW
    worth: ClassVar[float] = 4e6

    question: Question[Arm]
    engine: Engine
    cells: int
    chunk: int | None
    kernel: str
    tables: Tables | None
    pilots: Pilots | None

    @classmethod
    def of(
        cls,
        question: Question[Arm],
        sample: np.ndarray,
        cells: int,
        chunk: int | None = None,
        kernel: str = "auto",
        series: bool = True,
        few: bool | None = None,
    ) -> Plan:
        """Return the plan for ``cells`` cells, from the values (addresses, samples) of some or all of them.

        ``few`` is True if NumPy should solve them; by default their number decides.
        """
        device = default_device()
        few = chunk is None and kernel == "auto" and (cells <= FEW if few is None else few)
        engine = OnHost() if few else Compiled(chosen_kernel(kernel, device))
        plan = cls(question, engine, cells, chunk, kernel, None, None)
        if series and chunk is None and (tables := cls.series_tables(question, sample, cells)):
            return dataclasses.replace(plan, tables=tables)
        if cells < 2 * PILOTS:
            return plan
        with ThreadPoolExecutor(available_cores()) as pool:
            work = plan._work(sample, pool, kept=0)
            with ThreadPoolExecutor() as compilers:  # a separate pool, so that pilots do not wait
                pilots = work.sample()
                if isinstance(plan.engine, Compiled):
                    work.compile_ahead(plan.engine, plan.size, pilots, compilers)
                return dataclasses.replace(plan, pilots=work.pilots(pilots))

    @property
    def size(self) -> int:
        """Number of cells per block."""
        lanes = self.engine.sizes.lanes
        size = max(1, lanes // self.question.modes) if self.chunk is None else self.chunk
        if isinstance(self.engine, Compiled) and self.engine.kernel.on_gpu and self.chunk is None:
            size = min(1 << (size.bit_length() - 1), GPU_CELLS)
        return min(size, 1 << (self.cells - 1).bit_length())  # few sizes, as each is compiled

    def solve(self, values: np.ndarray) -> NaturalFrequencies:
        """Return the frequencies of cells with given ``values`` (addresses, cells)."""
        if self.tables is not None:
            return self.by_series(self.tables, values)
        with ThreadPoolExecutor(available_cores()) as pool:
            return self._general(values, pool)

    @staticmethod
    def require_theory(arm: Arm, theory: TheoryName, columns: Mapping[str, np.ndarray]) -> None:
        """Refuse an arm, with values of its cells by address, that lacks what a theory needs."""
        require_variants(arm, theory, columns)

    @staticmethod
    def most_side_by_side(cells: int, more: bool) -> int | float:
        """Return how many of the cells of a sweep a chunk has at the most; ``more`` where not frequencies alone."""
        return math.inf

    @staticmethod
    def zero_modes(arm: Arm, columns: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return the number of zero frequencies of each cell, with values by address."""
        return Variants(arm, tuple(columns), np.stack([*columns.values()])).zero_modes()

    def _work(self, values: np.ndarray, pool: ThreadPoolExecutor, kept: int) -> Work:
        """Return the passes over cells with given ``values``, with space for ``kept`` modes per cell."""
        question = self.question
        variants = Variants(question.arm, question.addresses, values)
        free = variants.zero_modes()
        problem = BatchProblem(
            theory_flags(question.theory), question.modes, hinged=bool(free.any())
        )
        return Work(
            variants=variants,
            problem=problem,
            results=Results.empty(free, kept),
            workers=Workers(pool, available_cores()),
            engine=self.engine,
        )

    def _general(self, values: np.ndarray, pool: ThreadPoolExecutor) -> NaturalFrequencies:
        resident = self.resident(values, pool)
        if resident is None:
            return self._by_host(values, pool)
        return resident.solve(values, lambda cells: self._few(values[:, cells], pool))

    def resident(self, values: np.ndarray, pool: ThreadPoolExecutor) -> Resident | None:
        """Return the solver that runs on a GPU without the host; None if that is not possible."""
        engine, question = self.engine, self.question
        if not isinstance(engine, Compiled) or not engine.kernel.on_gpu or self.pilots is None:
            return None
        work = self._work(values, pool, kept=0)
        if not stays_on_the_device(work.variants, work.problem):
            return None
        return Resident(
            arm=question.arm,
            addresses=question.addresses,
            theory=question.theory,
            problem=work.problem,
            pilots=self.pilots,
            kernel=engine.kernel,
            size=self.size,
        )

    def _by_host(self, values: np.ndarray, pool: ThreadPoolExecutor) -> NaturalFrequencies:
        work = self._work(values, pool, self.question.modes)
        work.solve(self.pilots, self.size, self.question.theory, chosen=self.chunk is not None)
        return work.results.frozen(self.question.theory)

    def _few(self, values: np.ndarray, pool: ThreadPoolExecutor) -> NaturalFrequencies:
        """Solve the cells that the device left open."""
        cells = values.shape[1]
        engine = OnHost() if cells <= FEW else self.engine
        return dataclasses.replace(self, engine=engine, cells=cells)._by_host(values, pool)
