"""How much one compiled pass of the batch solver takes at once, and how the work is parted accordingly."""

from __future__ import annotations

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class Sizes:
    """How much one compiled pass takes at once.

    Attributes
    ----------
    pilots : int
        Cells that are solved side by side to guess all others.
    lanes : int
        Cells times modes of one block.
    blocks : int
        Most blocks that one call solves, one after the other.
    cells : int
        Cells whose open modes are gathered before they go on.
    open_cells, open_modes, extended_modes : int
        Lanes of one block of cells without a guess; of open modes in float64 and in double-double.
    open_blocks : int
        Most blocks of those that one call takes.
    exact_cells : int
        Cells of the general search.
    """

    pilots: int
    lanes: int
    blocks: int
    cells: int
    open_cells: int
    open_modes: int
    extended_modes: int
    open_blocks: int
    exact_cells: int


#: The eighty arrays that XLA puts between its loops fit the second-level cache of a core, and are no multiple of 4 KiB
#: long, where they would all fall on the same lines of the first.
CPU_SIZES = Sizes(64, 2080, 16, 65536, 32, 1056, 104, 4, 16)
#: enough to fill a GPU several times over, and a gigabyte or two of its memory
GPU_SIZES = Sizes(256, 2**20, 1, 2**20, 4096, 16384, 4096, 1, 256)


def parted(items: np.ndarray, size: int, blocks: int, workers: int) -> list[np.ndarray]:
    """Parts of whole blocks: as many for every worker, and nearly as many blocks in each."""
    count = int(number_of_blocks(items.size, size))
    parts = min(count, -(-count // (blocks * workers)) * workers)
    ends = [size * (number * count // parts) for number in range(1, parts)]
    return np.split(items, ends) if parts else []


def number_of_blocks(items: int, size: int) -> np.int64:
    """How many blocks of ``size`` hold so many items."""
    return np.int64(-(-items // size))


def filled(items: np.ndarray, size: int) -> np.ndarray:
    """Repeat the last item until there are ``size`` of them."""
    return np.concatenate([items, np.repeat(items[-1:], size - items.size)])
