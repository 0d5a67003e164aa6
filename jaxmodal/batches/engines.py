"""Engines that evaluate a batch: compiled programs for blocks, or NumPy without compilation."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, TypeAlias

import jax
import numpy as np

from jaxmodal.batches.fused_search import Kernel
from jaxmodal.batches.kernels import (
    BatchProblem,
    Start,
    enclose_block,
    extend_block,
    extended,
    grid_guess,
    improve_block,
    improved,
    search_block,
    search_from_grid,
    searched,
)
from jaxmodal.batches.open_modes import OpenModes
from jaxmodal.batches.pilots import Guess
from jaxmodal.batches.sizes import (
    CPU_SIZES,
    GPU_SIZES,
    HOST_SIZES,
    Sizes,
    filled,
    number_of_blocks,
)
from jaxmodal.batches.variants import Cells
from jaxmodal.dynamic_stiffness.evaluation import Evaluation
from jaxmodal.frequencies.brackets import Enclosure


@dataclasses.dataclass(frozen=True)
class Compiled:
    """Compiled programs for blocks of fixed sizes; missing lanes are padded."""

    kernel: Kernel

    @property
    def sizes(self) -> Sizes:
        """Sizes of the blocks of one call."""
        return GPU_SIZES if self.kernel.on_gpu else CPU_SIZES

    def blocks(self, size: int, guessed: bool) -> int:
        """Return the number of blocks of cells in one call; fewer if blocks are large."""
        blocks = self.sizes.blocks if guessed else self.sizes.open_blocks
        return min(blocks, int(number_of_blocks(self.sizes.cells, size)))

    def rough(self, problem: BatchProblem, packed: np.ndarray) -> np.ndarray:
        """Return frequencies of a few cells, searched from a grid, shape (modes + EXTRA, cells)."""
        cells, size = packed.shape[-1], self.sizes.open_cells
        if self.kernel.on_gpu:  # without the kernel, whose compilation takes long
            return np.asarray(grid_guess(problem, filled(packed, size)).rough)[:, :cells]
        return np.asarray(self.searched(problem, packed, None, None, size)[0].rough)

    def searched(
        self,
        problem: BatchProblem,
        packed: np.ndarray,
        features: np.ndarray | None,
        guess: Guess | None,
        size: int,
    ) -> tuple[Start, Enclosure]:
        """Return `kernels.search_block` for cells in blocks of ``size``."""
        cells, blocks = packed.shape[-1], self.blocks(size, guess is not None)
        given = jax.tree_util.tree_map(lambda x: filled(x, blocks * size), (packed, features))
        used = number_of_blocks(cells, size)
        found = searched(problem, given, used, guess, kernel=self.kernel, blocks=blocks)
        start, e = _first_lanes(found, cells)
        return start, e

    def improved(
        self,
        problem: BatchProblem,
        given: Cells,
        left: OpenModes,
        lanes: np.ndarray,
        purpose: int,
    ) -> Enclosure:
        """Return `kernels.improve_block` for some lanes, whose cells are among those ``given``."""
        size, blocks = self.sizes.open_modes, self.sizes.open_mode_blocks
        some = left.take(filled(lanes, blocks * size))  # gathered once, including the padding
        used = number_of_blocks(lanes.size, size)
        found = improved(problem, some.given(given), used, np.int64(purpose), blocks=blocks)
        e: Enclosure = _first_lanes(found, lanes.size)
        return e

    def extended(
        self, problem: BatchProblem, given: Cells, cells: np.ndarray, omega: np.ndarray
    ) -> Evaluation:
        """Return `kernels.extend_block` at one frequency for each of some ``given`` cells, by their numbers."""
        size, blocks = self.sizes.extended_modes, self.sizes.open_blocks
        parts = []
        for start in range(0, omega.size, blocks * size):
            part = slice(start, start + blocks * size)
            at, own = (filled(x[part], blocks * size) for x in (omega, cells))
            used = number_of_blocks(omega[part].size, size)
            value = extended(problem, (given.columns(own), at), used, blocks=blocks)
            parts.append(_first_lanes(value, omega[part].size))
        if len(parts) == 1:
            return parts[0]
        joined: Evaluation = jax.tree_util.tree_map(lambda *x: np.concatenate(x), *parts)
        return joined


@dataclasses.dataclass(frozen=True)
class OnHost:
    """Evaluations in NumPy, for a few cells: a hundred times slower than compiled programs, without compile time."""

    sizes: ClassVar[Sizes] = HOST_SIZES

    def blocks(self, size: int, guessed: bool) -> int:
        return 1

    def enclosed(self, problem: BatchProblem, beams: Any, rough: Any) -> Enclosure:
        """Return enclosures from roughly known frequencies, as a kernel does."""
        return enclose_block(problem, beams, rough)

    def rough(self, problem: BatchProblem, packed: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return np.asarray(search_from_grid(problem, packed).rough)

    def searched(
        self,
        problem: BatchProblem,
        packed: np.ndarray,
        features: np.ndarray | None,
        guess: Guess | None,
        size: int,
    ) -> tuple[Start, Enclosure]:
        with np.errstate(all="ignore"):
            return search_block(problem, packed, features, guess, self)

    def improved(
        self,
        problem: BatchProblem,
        given: Cells,
        left: OpenModes,
        lanes: np.ndarray,
        purpose: int,
    ) -> Enclosure:
        with np.errstate(all="ignore"):
            return improve_block(problem, *left.take(lanes).given(given), np.int64(purpose))

    def extended(
        self, problem: BatchProblem, given: Cells, cells: np.ndarray, omega: np.ndarray
    ) -> Evaluation:
        with np.errstate(all="ignore"):
            return extend_block(problem, given.columns(cells), omega)


#: evaluations of many cells or lanes, with NumPy arrays as input and output
Engine: TypeAlias = Compiled | OnHost


def _first_lanes(tree: Any, lanes: int) -> Any:
    return jax.tree_util.tree_map(lambda x: np.asarray(x)[..., :lanes], tree)
