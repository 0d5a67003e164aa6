"""Measured speed on this machine: cells of the first chunk of a sweep are timed, for about a second."""

from __future__ import annotations

import math
import time
from typing import NamedTuple

import numpy as np

from jaxmodal.runtime.devices import default_device, is_gpu
from jaxmodal.runtime.first_calls import programs_begun, programs_written
from sweeps.definition.sweep import Sweep
from sweeps.store.grid import (
    FEW_CHUNKS,
    Grid,
    compute_block,
    cut,
    grid_for_rate,
    make_grid,
    sizes_of,
)
from sweeps.store.kept_times import keep, kept

#: least seconds of a call from which the time of a whole chunk is estimated, and if it is the only one
_ENOUGH, _ENOUGH_ALONE = 0.5, 1.0
#: least and largest ratio of the cells of successive calls; between them as many as take long enough
_STEP, _LONG_STEP = 4, 64
#: seconds that a stopwatch tells apart
_TICK = 1e-6


class Measured(NamedTuple):
    """Seconds before the first cell (``begin``), seconds of some ``cells``, and estimated seconds of a whole chunk.

    ``earlier`` is True if another process measured them.
    """

    begin: float
    cells: int
    seconds: float
    chunk_seconds: float
    earlier: bool = False


class _Call(NamedTuple):
    cells: int
    seconds: float


def measured(sweep: Sweep, grid: Grid) -> Measured:
    """Return the times of the first cell, and of more cells of the first chunk until a second or the chunk is used.

    Before the first cell, common data are computed: the guess or the series, and the programs, which are cached. The
    last two calls give the time per cell without the overhead of a call. The times are kept for later processes, unless
    programs were compiled, which those find in the cache.
    """
    earlier = measured_earlier(sweep, grid)
    if earlier is not None:
        return earlier
    compiled = programs_written()
    found = _measured(sweep, _first(grid))
    if programs_written() == compiled:
        keep(sweep, _first(grid), list(found[:-1]))
    return found


def measured_earlier(sweep: Sweep, grid: Grid) -> Measured | None:
    """Return the times that an earlier process has kept for the same sweep; None if there are none."""
    known = kept(sweep, _first(grid))
    if known is None or len(known) != len(Measured._fields) - 1:
        return None
    begin, cells, seconds, chunk_seconds = known
    return Measured(begin, int(cells), seconds, chunk_seconds, earlier=True)


def _first(grid: Grid) -> tuple[int, ...]:
    """Return the shape of the first chunk."""
    return sizes_of(next(grid.chunks(0)))


def _measured(sweep: Sweep, chunk: tuple[int, ...]) -> Measured:
    watch = _Watch()
    _call(sweep, chunk, 1)
    calls = [_call(sweep, chunk, 1)]
    whole = math.prod(chunk)
    enough = _ENOUGH_ALONE
    while calls[-1].seconds < enough and calls[-1].cells < whole:
        enough = _ENOUGH
        step = np.clip(_ENOUGH / max(calls[-1].seconds, _TICK), _STEP, _LONG_STEP)
        calls.append(_call(sweep, chunk, int(step) * calls[-1].cells))
    begin = max(watch.seconds() - sum(call.seconds for call in calls), 0.0)
    last = calls[-1]
    each = last.seconds / last.cells
    if len(calls) > 1:
        more = last.cells - calls[-2].cells
        each = min(each, max(last.seconds - calls[-2].seconds, 0.0) / more)
    return Measured(begin, *last, last.seconds + each * (whole - last.cells))


def _call(sweep: Sweep, chunk: tuple[int, ...], most: int) -> _Call:
    """Return the time of the first ``most`` cells of a chunk; a call that compiled programs is repeated."""
    part = tuple(slice(0, size) for size in cut(chunk, most))
    for _ in range(2):
        before, watch = programs_begun(), _Watch()
        compute_block(sweep, part)
        seconds = watch.seconds()
        if programs_begun() == before:
            break
    return _Call(math.prod(sizes_of(part)), seconds)


class _Watch:
    """Stopwatch that excludes delays by other processes.

    On CPUs the undisturbed elapsed time is at most the processor time, so the smaller of both is used.
    """

    def __init__(self) -> None:
        self.start, self.used = time.perf_counter(), time.process_time()

    def seconds(self) -> float:
        clock, used = time.perf_counter() - self.start, time.process_time() - self.used
        return clock if is_gpu(default_device()) else min(clock, used)


def measured_grid(sweep: Sweep) -> Grid:
    """Return the grid of a new store, with the size of shards from the measured speed of the solver."""
    chunks = make_grid(sweep)
    if chunks.num_chunks <= FEW_CHUNKS:
        return chunks
    return grid_for_rate(sweep, chunks.num_cells(0) / measured(sweep, chunks).chunk_seconds)
