"""How a sweep is cut into chunks: the unit of computing, of writing and of resuming."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaxmodal.arm.arguments import is_whole
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
#: of arms in space, of frequencies alone: some seconds
SPATIAL_CHUNK_CELLS = 256


@dataclasses.dataclass(frozen=True)
class Grid:
    """Cells of a sweep and the chunks that they are computed in, counted from 0 in C order; each for all theories."""

    shape: tuple[int, ...]
    chunk_shape: tuple[int, ...]
    theories: int

    @property
    def counts(self) -> tuple[int, ...]:
        """Number of chunks along each axis."""
        return tuple(-(-n // c) for n, c in zip(self.shape, self.chunk_shape, strict=True))

    @property
    def num_chunks(self) -> int:
        """Number of chunks."""
        return math.prod(self.counts)

    @property
    def batch(self) -> int:
        """Number of cells of a chunk; those at an edge have fewer."""
        return math.prod(self.chunk_shape)

    def region(self, chunk: int) -> tuple[slice, ...]:
        """Return the part of the axes that a chunk covers."""
        places = np.unravel_index(chunk, self.counts)
        return tuple(
            slice(int(place) * step, min((int(place) + 1) * step, size))
            for place, step, size in zip(places, self.chunk_shape, self.shape, strict=True)
        )

    def block(self, chunk: int) -> tuple[Any, ...]:
        """Return the place of a chunk in the array of an output."""
        theory = (slice(None),) if self.theories > 1 else ()
        return (*theory, *self.region(chunk), ...)

    def num_cells(self, chunk: int) -> int:
        """Return the number of cells of a chunk."""
        return math.prod(part.stop - part.start for part in self.region(chunk))


def make_grid(sweep: Sweep, chunk_cells: int | None = None) -> Grid:
    """Cut a sweep into chunks of about ``chunk_cells`` cells, whole rows of the last axes first.

    Raises
    ------
    SweepError
        If ``chunk_cells`` is not a whole number of 1 or more.
    """
    usual = MODAL_CHUNK_CELLS if "modal" in sweep.parts else CHUNK_CELLS
    if sweep.parts - {"modal"}:
        usual = RESPONSE_CHUNK_CELLS
    if isinstance(sweep.arm, SpatialArm):
        usual = SPATIAL_CHUNK_CELLS
    limit = usual if chunk_cells is None else chunk_cells
    if not is_whole(limit, 1):
        raise SweepError(f"chunk_cells = {limit!r}: must be a whole number of 1 or more.")
    left, sizes = int(limit), []
    for size in reversed(sweep.shape):
        sizes.append(min(size, left))
        left = max(1, left // sizes[-1])
    return Grid(sweep.shape, tuple(reversed(sizes)), len(sweep.theories))


def compute_chunk(sweep: Sweep, grid: Grid, chunk: int) -> dict[str, NDArray[np.generic]]:
    """Solve the cells of one chunk.

    Returns
    -------
    dict
        For each output an array over the dimensions of ``sweep.dims``, cut to the chunk. The numbers
        do not depend on which other chunks are computed, or where.
    """
    region = grid.region(chunk)
    sizes = tuple(part.stop - part.start for part in region)
    places = np.unravel_index(np.arange(math.prod(sizes)), sizes)
    first = tuple(part.start for part in region)
    values = sweep.values_at([np.add(*pair) for pair in zip(places, first, strict=True)])
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
