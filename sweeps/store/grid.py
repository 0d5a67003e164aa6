"""How a sweep is cut: into shards, the unit of computing, writing, claiming and resuming, and these into chunks.

A chunk is what the solver takes at once, and what a reader has to read for one value. A shard is one chunk or a block
of whole chunks, in one file for each output.
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
from jaxmodal.batches.plan import FEW
from jaxmodal.spatial.arms.arm import SpatialArm
from sweeps.definition.errors import SweepError
from sweeps.definition.sweep import Sweep
from sweeps.solution.cells import SolvedCells
from sweeps.solution.outputs import QUANTITIES
from sweeps.store.solve import solve_cells, with_parts

#: cells of one chunk, unless told otherwise: a second or two of work, of frequencies alone and with mode shapes
CHUNK_CELLS, MODAL_CHUNK_CELLS = 65_536, 8192
#: with damped modes, peaks of responses or buckling factors: some seconds
RESPONSE_CHUNK_CELLS = 64
#: of arms in space, some seconds: where NumPy solves them or more than frequencies is asked; else as in the plane
SPATIAL_CHUNK_CELLS, LARGE_SPATIAL_CHUNK_CELLS = 256, 16_384


#: a sweep of at most so many chunks has each as a shard; of more, a shard is about so many seconds of work
FEW_CHUNKS, SHARD_SECONDS = 64, 30.0
#: the most files of a store, but for labels: those of all outputs, and one mark for each shard
MOST_FILES = 10_000
#: bytes of a shard in memory beyond which it is not made larger for the sake of its seconds
SHARD_BYTES = 500_000_000

Region = tuple[slice, ...]


@dataclasses.dataclass(frozen=True)
class Grid:
    """Cells of a sweep, and the shards and chunks that they are cut into, both for all theories.

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
        """Number of chunks, those of all shards."""
        return math.prod(_counts(self.shape, self.chunk_shape))

    @property
    def most_cells(self) -> int:
        """Number of cells of a shard; those at an edge have fewer."""
        return math.prod(map(min, self.shard_shape, self.shape))

    def region(self, shard: int) -> Region:
        """Return the part of the axes that a shard covers."""
        places = np.unravel_index(shard, self.counts)
        return tuple(
            slice(int(place) * step, min((int(place) + 1) * step, size))
            for place, step, size in zip(places, self.shard_shape, self.shape, strict=True)
        )

    def chunks(self, shard: int) -> Iterator[Region]:
        """The parts of the axes that the chunks of a shard cover, in C order."""
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
    """Cut a sweep into chunks of about ``chunk_cells`` cells, and shards of about ``shard_cells``.

    Whole rows of the last axes come first. Without ``shard_cells`` every chunk is a shard; without ``chunk_cells``
    chunks have the usual size, or that of a shard where this is less.

    Raises
    ------
    SweepError
        If a number of cells is not a whole number of 1 or more, or a shard less than a chunk.
    """
    usual = MODAL_CHUNK_CELLS if "modal" in sweep.parts else CHUNK_CELLS
    if sweep.parts - {"modal"}:
        usual = RESPONSE_CHUNK_CELLS
    if isinstance(sweep.arm, SpatialArm):
        compiled = sweep.num_cells > FEW and not sweep.parts
        usual = min(usual, LARGE_SPATIAL_CHUNK_CELLS if compiled else SPATIAL_CHUNK_CELLS)
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
    """The shape of a block of at most so many points, whole rows of the last axes first."""
    sizes: list[int] = []
    for size in reversed(shape):
        sizes.append(min(size, most))
        most = max(1, most // sizes[-1])
    return tuple(reversed(sizes))


def _counts(shape: tuple[int, ...], step: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(-(-n // s) for n, s in zip(shape, step, strict=True))


def sizes_of(region: Region) -> tuple[int, ...]:
    """How many cells a part of the axes has along each."""
    return tuple(part.stop - part.start for part in region)


def grid_for_rate(sweep: Sweep, rate: float) -> Grid:
    """The grid of a new store where so many cells are solved in a second: shards of `SHARD_SECONDS`, few files."""
    chunks = make_grid(sweep)
    if chunks.num_chunks <= FEW_CHUNKS:
        return chunks
    timed = min(int(rate * SHARD_SECONDS), SHARD_BYTES * sweep.num_cells // dataset_bytes(sweep))
    wanted = max(1, timed // chunks.most_cells)
    # blocks of chunks are whole rows, so that their number is not known before they are cut
    while True:
        grid = make_grid(sweep, chunks.most_cells, wanted * chunks.most_cells)
        if num_files(sweep, grid) <= MOST_FILES or grid.num_shards == 1:
            return grid
        wanted += -(-wanted // 8)


def num_files(sweep: Sweep, grid: Grid) -> int:
    """Number of files of a store but for labels: one for each output and a mark, for each shard."""
    return grid.num_shards * (len(sweep.outputs) + 1)


def dataset_bytes(sweep: Sweep) -> int:
    """Return the size of the outputs in memory, without coordinates."""
    return sum(
        np.dtype(QUANTITIES[name].dtype).itemsize * math.prod(sweep.array_shape(name))
        for name in sweep.outputs
    )


def compute_shard(sweep: Sweep, grid: Grid, shard: int) -> dict[str, NDArray[np.generic]]:
    """Solve the cells of one shard, chunk by chunk.

    Returns
    -------
    dict
        For each output an array over the dimensions of ``sweep.dims``, cut to the shard. The numbers
        do not depend on which other shards are computed, or where.
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
    """Solve the cells in a part of the axes at once."""
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
