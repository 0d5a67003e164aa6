"""Division of a sweep into shards, the unit of computing, writing, claiming and resuming, and of these into chunks.

A chunk is solved in one call, and a reader reads at least one chunk. A shard is one chunk or a block of whole chunks,
stored in one file per output.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaxmodal.arm.arguments import is_whole
from jaxmodal.batches.kinds import PLANS
from sweeps.definition.errors import SweepError
from sweeps.definition.sweep import Sweep
from sweeps.solution.cells import SolvedCells
from sweeps.solution.outputs import QUANTITIES
from sweeps.store.solve import solve_cells, with_parts

#: default cells per chunk, for frequencies alone and with mode shapes: one or two seconds of work
CHUNK_CELLS, MODAL_CHUNK_CELLS = 65_536, 8192
#: the same with damped modes, response peaks or buckling factors: some seconds of work
RESPONSE_CHUNK_CELLS = 64

#: most chunks of a sweep with one chunk per shard; shards of larger sweeps take about SHARD_SECONDS
FEW_CHUNKS, SHARD_SECONDS = 64, 30.0
#: most files of a store, without labels: one per shard and output, and one record per shard
MOST_FILES = 10_000
#: largest shard in memory, in bytes, that is chosen to reach SHARD_SECONDS
SHARD_BYTES = 500_000_000

Region = tuple[slice, ...]


@dataclasses.dataclass(frozen=True)
class Grid:
    """Division of the cells of a sweep into shards and chunks; both contain all theories.

    Shards are counted from 0 in C order. Along each axis a shard is a whole number of chunks.
    """

    shape: tuple[int, ...]
    chunk_shape: tuple[int, ...]
    theories: int
    shard_shape: tuple[int, ...]

    @property
    def counts(self) -> tuple[int, ...]:
        """Number of shards along each axis."""
        return _counts(self.shape, self.shard_shape)

    @property
    def num_shards(self) -> int:
        """Number of shards."""
        return math.prod(self.counts)

    @property
    def num_chunks(self) -> int:
        """Number of chunks in all shards."""
        return math.prod(_counts(self.shape, self.chunk_shape))

    @property
    def most_cells(self) -> int:
        """Number of cells of a full shard; shards at an edge may have fewer."""
        return math.prod(map(min, self.shard_shape, self.shape))

    def region(self, shard: int) -> Region:
        """Return the part of the axes that a shard covers."""
        places = np.unravel_index(shard, self.counts)
        return tuple(
            slice(int(place) * step, min((int(place) + 1) * step, size))
            for place, step, size in zip(places, self.shard_shape, self.shape, strict=True)
        )

    def chunks(self, shard: int) -> Iterator[Region]:
        """Yield the parts of the axes that the chunks of a shard cover, in C order."""
        parts = zip(self.region(shard), self.chunk_shape, strict=True)
        return itertools.product(
            *(
                [slice(k, min(k + step, part.stop)) for k in range(part.start, part.stop, step)]
                for part, step in parts
            )
        )

    def block(self, shard: int) -> tuple[Any, ...]:
        """Return the place of a shard in the array of an output."""
        return self.place(self.region(shard))

    def place(self, region: Region) -> tuple[Any, ...]:
        """Return the place of a part of the axes in the array of an output."""
        theory = (slice(None),) if self.theories > 1 else ()
        return (*theory, *region, ...)

    def num_cells(self, shard: int) -> int:
        """Return the number of cells of a shard."""
        return math.prod(sizes_of(self.region(shard)))


def make_grid(sweep: Sweep, chunk_cells: int | None = None, shard_cells: int | None = None) -> Grid:
    """Return the division of a sweep into chunks of about ``chunk_cells`` cells and shards of about ``shard_cells``.

    Blocks extend over the last axes first. Without ``shard_cells`` every chunk is a shard; without ``chunk_cells``
    chunks have the default size, or that of a shard if it is smaller.

    Raises
    ------
    SweepError
        If a number of cells is not a whole number of 1 or more, or a shard less than a chunk.
    """
    usual = MODAL_CHUNK_CELLS if "modal" in sweep.parts else CHUNK_CELLS
    if sweep.parts - {"modal"}:
        usual = RESPONSE_CHUNK_CELLS
    usual = min(usual, PLANS.of(sweep.arm).most_side_by_side(sweep.num_cells, bool(sweep.parts)))
    for name, value in (("chunk_cells", chunk_cells), ("shard_cells", shard_cells)):
        if value is not None and not is_whole(value, 1):
            raise SweepError(f"{name} = {value!r}: must be a whole number of 1 or more.")
    if chunk_cells is not None and shard_cells is not None and shard_cells < chunk_cells:
        raise SweepError(
            f"shard_cells = {shard_cells}: must be at least chunk_cells, {chunk_cells}: a shard is a block of whole "
            "chunks."
        )
    if chunk_cells is None:
        chunk_cells = usual if shard_cells is None else min(usual, shard_cells)
    chunk = cut(sweep.shape, int(chunk_cells))
    several = 1 if shard_cells is None else int(shard_cells) // math.prod(chunk)
    blocks = cut(_counts(sweep.shape, chunk), max(1, several))
    shard = tuple(step * number for step, number in zip(chunk, blocks, strict=True))
    return Grid(sweep.shape, chunk, len(sweep.theories), shard)


def cut(shape: tuple[int, ...], most: int) -> tuple[int, ...]:
    """Return the shape of a block of at most ``most`` points, extended over the last axes first."""
    sizes: list[int] = []
    for size in reversed(shape):
        sizes.append(min(size, most))
        most = max(1, most // sizes[-1])
    return tuple(reversed(sizes))


def _counts(shape: tuple[int, ...], step: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(-(-n // s) for n, s in zip(shape, step, strict=True))


def sizes_of(region: Region) -> tuple[int, ...]:
    """Return the number of cells along each axis of a part of the axes."""
    return tuple(part.stop - part.start for part in region)


def grid_for_rate(sweep: Sweep, rate: float) -> Grid:
    """Return the grid of a new store for a ``rate`` in cells/s: shards of `SHARD_SECONDS`, not too many files."""
    chunks = make_grid(sweep)
    if chunks.num_chunks <= FEW_CHUNKS:
        return chunks
    timed = min(int(rate * SHARD_SECONDS), SHARD_BYTES * sweep.num_cells // dataset_bytes(sweep))
    wanted = max(1, timed // chunks.most_cells)
    # blocks are extended by whole rows, so their number is known only afterwards
    while True:
        grid = make_grid(sweep, chunks.most_cells, wanted * chunks.most_cells)
        if num_files(sweep, grid) <= MOST_FILES or grid.num_shards == 1:
            return grid
        wanted += -(-wanted // 8)


def num_files(sweep: Sweep, grid: Grid) -> int:
    """Return the number of files of a store without labels: one per shard and output, and one record per shard."""
    return grid.num_shards * (len(sweep.outputs) + 1)


def dataset_bytes(sweep: Sweep) -> int:
    """Return the size of the outputs in memory, without coordinates."""
    return sum(
        np.dtype(QUANTITIES[name].dtype).itemsize * math.prod(sweep.array_shape(name))
        for name in sweep.outputs
    )


def compute_shard(sweep: Sweep, grid: Grid, shard: int) -> dict[str, NDArray[np.generic]]:
    """Return the outputs of one shard, solved chunk by chunk.

    Returns
    -------
    dict
        For each output an array over the dimensions of ``sweep.dims``, restricted to the shard. The numbers do not
        depend on other shards, or on the machine that computes them.
    """
    region = grid.region(shard)
    first, *others = grid.chunks(shard)
    solved = compute_block(sweep, first)
    if not others:
        return solved
    found = {
        name: np.empty(sweep.array_shape(name, sizes_of(region)), values.dtype)
        for name, values in solved.items()
    }
    for chunk in (first, *others):
        inside = tuple(
            slice(part.start - whole.start, part.stop - whole.start)
            for part, whole in zip(chunk, region, strict=True)
        )
        for name, values in (solved if chunk is first else compute_block(sweep, chunk)).items():
            found[name][grid.place(inside)] = values
    return found


def compute_block(sweep: Sweep, region: Region) -> dict[str, NDArray[np.generic]]:
    """Return the outputs of the cells in a part of the axes, solved in one call."""
    sizes = sizes_of(region)
    places = np.unravel_index(np.arange(math.prod(sizes)), sizes)
    start = tuple(part.start for part in region)
    values = sweep.values_at([np.add(*pair) for pair in zip(places, start, strict=True)])
    solved: dict[str, SolvedCells] = {
        theory: solve_cells(sweep, theory, values) for theory in sweep.solved_theories
    }
    for theory in sweep.theories:
        solved[theory] = with_parts(solved[theory], sweep, theory, values, sweep.parts)
    found = {name: QUANTITIES[name].evaluate(solved, sweep.theories) for name in sweep.outputs}
    return {
        name: np.ascontiguousarray(values.reshape(sweep.array_shape(name, sizes)))
        for name, values in found.items()
    }
