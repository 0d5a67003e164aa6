"""The passes of the posture series over many postures of one arm, in NumPy or by compiled programs."""

from __future__ import annotations

import dataclasses
import functools
import threading
from concurrent.futures import ThreadPoolExecutor

import jax
import numpy as np

from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.dynamic_stiffness.evaluation import Evaluation
from jaxmodal.frequencies.refinement import refine
from jaxmodal.postures.expansions import Counter, Expansion
from jaxmodal.postures.polynomial_values import Varied
from jaxmodal.postures.series import PostureSeries
from jaxmodal.postures.series_results import SeriesResults
from jaxmodal.postures.series_roots import (
    WIDEST,
    Panels,
    Roots,
    count_at,
    count_in,
    roots_in,
    roots_of,
)
from jaxmodal.runtime.devices import on_callers_device
from jaxmodal.runtime.namespace import Array

#: half-width of the first brackets in double-double, at the least and at most
_LEAST, _MOST = 4e-13, 1e-9
#: roots of one part that is finished in double-double: fewer NumPy evaluates, see `harmonics.determinant`
_FINISHED = 16_384
#: intervals of a panel for cells that the first pass leaves open
_FINE = 40
#: postures that pass these in NumPy, 20 microseconds each; the program takes 3 after two seconds
_HOST_FINE = 8192
#: blocks of cells that a program for CPUs solves in one call, which takes a tenth of a millisecond by itself
_BLOCKS = 64
#: cells whose count is taken in double-double, at the most
_COUNTED_AGAIN = 512


_About = tuple[Counter, Panels]


@dataclasses.dataclass(frozen=True)
class Tables:
    """Common data of all postures of an arm, made once by `prepare`.

    Attributes
    ----------
    expansion, theory, modes
        The determinant of the arm at any place, its theory, and how many frequencies are wanted.
    varied : Varied
        Which joints and values a place is made of.
    top, counter : np.ndarray, shape (1,), and Counter
        Frequency of the last separator, rad/s, and what counts there.
    series, panels : PostureSeries, Panels
        The series and its panels; arrays of NumPy, which compiled programs take as well.
    intervals : int
        Intervals between the separators of a panel.
    host : bool
        Whether NumPy solves the postures, or compiled programs, in chunks of ``chunk`` cells.
    block : int, optional
        Programs for CPUs take so many cells at a time, and `_BLOCKS` times as many in one call.
    finished : int, optional
        Up to how many cells with modes of too few digits are finished in double-double, any number by default.
    """

    expansion: Expansion
    theory: TheoryName
    modes: int
    top: np.ndarray
    counter: Counter
    series: PostureSeries
    panels: Panels
    intervals: int
    host: bool
    chunk: int
    varied: Varied
    block: int | None = None
    finished: int | None = None

    def solve(
        self, places: np.ndarray, valid: np.ndarray, pool: ThreadPoolExecutor
    ) -> SeriesResults:
        """All that the series can do for the ``valid`` of the ``places`` of cells."""
        results = SeriesResults.empty(valid, self.modes)
        # fresh memory is dear
        usable = places if valid.all() else np.where(valid, places, 0.0)
        if not self.host and valid.any():
            self._compile_count(places.shape[0])
        self._pass(results, usable, np.flatnonzero(valid), pool, safe=False)
        left = np.flatnonzero(results.open & valid)
        # finer separators cannot help where the count at the last is not certain
        counted = results.count[left] >= 0.0
        left, uncounted = left[counted], left[~counted]
        complete, width = self._pass(results, usable, left, pool, safe=True)
        close = np.append(left[~complete], uncounted)
        if 0 < close.size <= _COUNTED_AGAIN:
            complete, width, left = complete[complete], width[complete], left[complete]
            results.count[close] = self._counted_again(usable[:, close])
            # the count is in double-double: at the last separator, too, only the sign has to be certain
            panels = dataclasses.replace(self.panels, weakest=self.panels.error[-1:])
            again = dataclasses.replace(self, panels=panels)
            more = again._pass(results, usable, close, pool, safe=True)
            complete, width = np.append(complete, more[0]), np.concatenate([width, more[1]])
            left = np.append(left, close)
        wide = complete & results.open[left] & (2.0 * width <= _MOST).all(axis=1)
        if self.finished is None or wide.sum() <= self.finished:
            self._finish(results, usable, left[wide], width[wide], pool)
        return results

    def _counted_again(self, places: np.ndarray) -> np.ndarray:
        """The count at the last separator in double-double; -1 where it contradicts the sign."""
        d = self.expansion.determinant(np.repeat(self.top, places.shape[1]), places)
        return np.where((d.factor > 0.0) == (d.passed % 2 == 0), d.passed, -1.0)

    def _compile_count(self, rows: int) -> None:
        """Compile the count in a thread of its own while the roots are compiled; what fails fails again at its use."""
        cells = np.zeros((rows, self._cells_of_a_call(host=False)))
        program = functools.partial(count_at, self.counter, cells)
        threading.Thread(target=on_callers_device(program), daemon=True).start()

    def _pass(
        self,
        results: SeriesResults,
        places: np.ndarray,
        cells: np.ndarray,
        pool: ThreadPoolExecutor,
        *,
        safe: bool,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Solve ``cells`` in chunks; those that are not proven stay open.

        Returns which of the cells have all their roots apart, and the widths of the enclosures, (cells, modes); of the
        first pass, which is not ``safe``, nothing.
        """
        host = self.host or (safe and cells.size <= _HOST_FINE)
        size = self._cells_of_a_call(host=host)
        parts = [cells[start : start + size] for start in range(0, cells.size, size)]
        about = self.about
        if not host:  # programs take over arrays of NumPy anew at every call
            about = jax.device_put(about)
        none = np.empty(0, bool), np.empty((0, self.modes))

        def chunk(at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            cells = places[:, at if host else np.resize(at, size)]
            solved = self.solved(about, cells, safe=safe, host=host)
            found, count = jax.tree_util.tree_map(lambda x: np.asarray(x)[: at.size], solved)
            if count is not None:
                results.count[at] = count
            stored = results.store(at, found)
            return stored if safe else none

        found = pool.map(on_callers_device(chunk), parts)
        complete, width = zip(none, *found, strict=True)
        return np.concatenate(complete), np.concatenate(width)

    def _cells_of_a_call(self, *, host: bool) -> int:
        return self.chunk if host or self.block is None else _BLOCKS * self.block

    @property
    def about(self) -> _About:
        """The data of the arm that `solved` takes beside postures."""
        return self.counter, self.panels

    def solved(
        self, about: _About, places: Array, *, safe: bool, host: bool
    ) -> tuple[Roots, Array | None]:
        """Roots at places of cells, and in the first pass the count: in NumPy, or by programs."""
        counter, panels = about
        intervals = _FINE if safe else self.intervals
        in_blocks = functools.partial(roots_of, block=self.block)
        roots, counts = (roots_in, count_in) if host else (in_blocks, count_at)
        with np.errstate(all="ignore"):  # a slope of zero proves nothing, and is not finite
            found = roots(
                *(places, panels),
                terms=counter.terms,
                modes=self.modes,
                intervals=intervals,
                safe=safe,
            )
            return found, None if safe else counts(counter, places)[0]

    def _finish(
        self,
        results: SeriesResults,
        places: np.ndarray,
        cells: np.ndarray,
        width: np.ndarray,
        pool: ThreadPoolExecutor,
    ) -> None:
        """Roots for which the series has lost digits, in double-double.

        The series says where they are; `refine` proves each inside a bracket of its own.
        """
        row, mode = np.nonzero(width > WIDEST)
        if row.size == 0:
            return
        cell, half = cells[row], np.maximum(_LEAST, 2.0 * width[row, mode])

        def part(some: np.ndarray) -> np.ndarray:
            def evaluate(at: np.ndarray, omega: np.ndarray) -> Evaluation:
                d = self.expansion.determinant(omega, places[:, cell[some[at]]])
                with np.errstate(divide="ignore"):
                    log_abs = np.log(np.abs(d.factor)) + (d.growth + d.rest)
                return Evaluation(np.sign(d.factor), log_abs, d.passed, d.noise)

            estimates = results.omega[cell[some], mode[some]]
            found, proven = refine(evaluate, estimates, half[some], mode[some])
            at = cell[some][proven], mode[some][proven]
            results.omega[at] = found.omega[proven]
            results.residual_ratio[at] = found.error[proven] * 2.0**52
            results.bracket[at] = np.stack([found.lower, found.upper], axis=-1)[proven]
            return proven

        lanes = np.arange(row.size)
        parts = [lanes[start : start + _FINISHED] for start in range(0, row.size, _FINISHED)]
        proven = np.concatenate(list(pool.map(on_callers_device(part), parts)))
        failed = np.zeros(width.shape, bool)
        failed[row[~proven], mode[~proven]] = True
        good = ~failed.any(axis=1) & (np.diff(results.omega[cells], axis=1) > 0.0).all(axis=1)
        results.open[cells[good]] = False
        results.by_sign_changes[cells[good]] = width[good] <= WIDEST
