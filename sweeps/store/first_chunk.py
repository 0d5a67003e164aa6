"""How long cells take on this machine: as many of the first chunk of a sweep as a second is enough for are timed."""

from __future__ import annotations

import math
import time
from typing import NamedTuple

from jaxmodal.runtime.devices import default_device, is_gpu
from jaxmodal.runtime.first_calls import programs_begun
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

#: seconds of a call that say how long a whole chunk takes, and how many times as many cells each next call has
_ENOUGH, _STEP = 1.0, 4


class Measured(NamedTuple):
    """Seconds until the first cell is solved; then those of so many ``cells``, and what a whole chunk takes by them."""

    begin: float
    cells: int
    seconds: float
    chunk_seconds: float


class _Call(NamedTuple):
    cells: int
    seconds: float


def measured(sweep: Sweep, grid: Grid) -> Measured:
    """Solve the first cell, then more of the first chunk, until that takes a second or the chunk ends.

    Before the first cell there is what all share: the guess or the series, and the programs, which a cache keeps. What
    a call takes besides its cells follows from the last two.
    """
    chunk = sizes_of(next(grid.chunks(0)))
    watch = _Watch()
    _call(sweep, chunk, 1)
    calls = [_call(sweep, chunk, 1)]
    whole = math.prod(chunk)
    while calls[-1].seconds < _ENOUGH and calls[-1].cells < whole:
        calls.append(_call(sweep, chunk, _STEP * calls[-1].cells))
    begin = max(watch.seconds() - sum(call.seconds for call in calls), 0.0)
    last = calls[-1]
    each = last.seconds / last.cells
    if len(calls) > 1:
        more = last.cells - calls[-2].cells
        each = min(each, max(last.seconds - calls[-2].seconds, 0.0) / more)
    return Measured(begin, *last, last.seconds + each * (whole - last.cells))


def _call(sweep: Sweep, chunk: tuple[int, ...], most: int) -> _Call:
    """Solve the first cells of a chunk, at most so many; once more where that made programs, which is not counted."""
    part = tuple(slice(0, size) for size in cut(chunk, most))
    for _ in range(2):
        before, watch = programs_begun(), _Watch()
        compute_block(sweep, part)
        seconds = watch.seconds()
        if programs_begun() == before:
            break
    return _Call(math.prod(sizes_of(part)), seconds)


class _Watch:
    """Seconds since it was made, without what other processes held up.

    Where the processors do all the work, by the clock it takes no longer than one of them would alone.
    """

    def __init__(self) -> None:
        self.start, self.used = time.perf_counter(), time.process_time()

    def seconds(self) -> float:
        clock, used = time.perf_counter() - self.start, time.process_time() - self.used
        return clock if is_gpu(default_device()) else min(clock, used)


def measured_grid(sweep: Sweep) -> Grid:
    """The grid of a new store, its shards sized by how long the solver takes here for some of the cells."""
    chunks = make_grid(sweep)
    if chunks.num_chunks <= FEW_CHUNKS:
        return chunks
    return grid_for_rate(sweep, chunks.num_cells(0) / measured(sweep, chunks).chunk_seconds)
