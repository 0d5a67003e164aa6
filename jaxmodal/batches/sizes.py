"""How much one compiled pass of the batch solver takes at once, and how the work is parted accordingly."""

from __future__ import annotations

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class Sizes:
    """How much one compiled pass takes at once.

    Attributes
    ----------
    lanes : int
        Cells times modes of one block.
    blocks : int
        Most blocks that one call solves, one after the other.
    cells : int
        Cells whose open modes are gathered before they go on.
    open_cells : int
        Cells of one block that is searched anew from a grid.
    open_modes, extended_modes : int
        Open modes of one block in float64 and in double-double.
    open_blocks : int
        Most blocks of open cells, and of open modes in double-double, that one call takes.
    open_mode_blocks : int
        Most blocks of open modes in float64.
    exact_cells : int
        Cells of the general search.
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


#: The arrays that XLA puts between its loops, those in use at one time, fit the second-level cache of a core. With
#: `lanes` a multiple of 512 each would be a multiple of 4 KiB long, and all would fall on the same lines of the first.
#: Blocks of open modes fit the first-level cache: an evaluation then takes a quarter less, and little is filled up.
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
#: larger: an operation of NumPy costs two microseconds beside its numbers
HOST_SIZES = dataclasses.replace(
    CPU_SIZES,
    lanes=20480,
    open_cells=1024,
    open_modes=4096,
    extended_modes=4096,
    open_mode_blocks=4,
)
#: enough to fill a GPU several times over, and a few gigabytes of its memory
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
    """Parts of at most so many blocks of ``size`` items, only the last block cut short.

    Every worker gets as many parts where there are enough blocks, and every part nearly as many blocks.
    """
    count = int(number_of_blocks(items.size, size))
    parts = min(count, -(-count // (blocks * workers)) * workers)
    ends = [size * (number * count // parts) for number in range(1, parts)]
    return np.split(items, ends) if parts else []


def number_of_blocks(items: int, size: int) -> np.int64:
    """How many blocks of ``size`` hold so many items."""
    return np.int64(-(-items // size))


def filled(items: np.ndarray, size: int) -> np.ndarray:
    """Repeat the last item, along the last axis, until there are ``size`` of them."""
    count = items.shape[-1]
    found = np.empty((*items.shape[:-1], size), items.dtype)
    found[..., :count], found[..., count:] = items, items[..., -1:]
    return found
