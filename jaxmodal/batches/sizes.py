"""Block sizes of the passes of the batch solver, and the division of work into blocks."""

from __future__ import annotations

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class Sizes:
    """Block sizes of the passes.

    Attributes
    ----------
    lanes : int
        Cells times modes per block.
    blocks : int
        Most blocks per call, solved in sequence.
    cells : int
        Cells whose open modes are gathered together.
    open_cells : int
        Cells per block in a search from a grid.
    open_modes, extended_modes : int
        Open modes per block in float64 and in double-double.
    open_blocks : int
        Most blocks per call of open cells, and of open modes in double-double.
    open_mode_blocks : int
        Most blocks per call of open modes in float64.
    exact_cells : int
        Cells per call of the general search.
    """

    lanes: int
    blocks: int
    cells: int
    open_cells: int
    open_modes: int
    extended_modes: int
    open_blocks: int
    open_mode_blocks: int
    exact_cells: int


#: The arrays in use between loops of XLA fit the second-level cache of a core. With `lanes` a multiple of 512, each
#: array would be a multiple of 4 KiB long, and all would map to the same lines of the first-level cache. Blocks of open
#: modes fit the first-level cache: an evaluation then takes a quarter less time, and padding is small.
CPU_SIZES = Sizes(
    lanes=2080,
    blocks=16,
    cells=65536,
    open_cells=32,
    open_modes=104,
    extended_modes=104,
    open_blocks=4,
    open_mode_blocks=24,
    exact_cells=16,
)
#: larger, because each NumPy operation has an overhead of two microseconds
HOST_SIZES = dataclasses.replace(
    CPU_SIZES,
    lanes=20480,
    open_cells=1024,
    open_modes=4096,
    extended_modes=4096,
    open_mode_blocks=4,
)
#: enough to fill a GPU several times, with a few gigabytes of its memory
GPU_SIZES = Sizes(
    lanes=2**22,
    blocks=1,
    cells=2**20,
    open_cells=4096,
    open_modes=16384,
    extended_modes=4096,
    open_blocks=1,
    open_mode_blocks=1,
    exact_cells=256,
)


def parted(items: np.ndarray, size: int, blocks: int, workers: int) -> list[np.ndarray]:
    """Return parts of at most ``blocks`` blocks of ``size`` items; only the last block may be shorter.

    With enough blocks, all workers get the same number of parts, and parts have nearly the same number of blocks.
    """
    count = int(number_of_blocks(items.size, size))
    parts = min(count, -(-count // (blocks * workers)) * workers)
    ends = [size * (number * count // parts) for number in range(1, parts)]
    return np.split(items, ends) if parts else []


def number_of_blocks(items: int, size: int) -> np.int64:
    """Return the number of blocks of ``size`` for some items."""
    return np.int64(-(-items // size))


def filled(items: np.ndarray, size: int) -> np.ndarray:
    """Return the items padded to ``size`` along the last axis by repeating the last one."""
    count = items.shape[-1]
    found = np.empty((*items.shape[:-1], size), items.dtype)
    found[..., :count], found[..., count:] = items, items[..., -1:]
    return found
