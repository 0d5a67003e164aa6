"""Memory that arrays leave, kept for the next ones: of NumPy's temporary arrays, and of large results.

The C library of Linux (glibc) gives larger blocks back to the system as soon as they are freed, so that every temporary
array is filled with zeros anew, which may take longer than its numbers. Its threshold is at first 128 kB, and grows to
the size of any such block that is freed, up to 32 MB: from then on blocks up to that size come from the heap, of which
a free top of up to twice the threshold is kept. Environment variables such as ``MALLOC_TRIM_THRESHOLD_`` and calls of
``mallopt`` set thresholds, and switch this learning off. On other systems nothing changes.

Results are larger than that. On a virtual machine the system may take a microsecond for each kilobyte of new memory,
as long as the series takes for its numbers. `room` is memory that goes to the next result of the same size. The system
may take it back at any time (``MADV_FREE`` of Linux): then, and only then, it is filled with zeros again.
"""

from __future__ import annotations

import collections
import contextlib
import ctypes
import functools
import mmap
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

#: size of the block that teaches: just below the 32 MB up to which glibc learns
_LEARNT = 2**25 - 2**16
#: parameters of `mallopt`, M_MMAP_THRESHOLD and M_TRIM_THRESHOLD, with the values that glibc learns at most
_SET = {-3: 2**25, -1: 2**26}
#: smaller arrays come from the heap; blocks are of whole large pages; of all that are left the latest are kept, so many
#: bytes at the most
_LARGE, _PAGE, _KEPT = 1 << 22, 1 << 21, 1 << 30
#: whether the system can take back what is kept
_LENDS = sys.platform == "linux" and hasattr(mmap, "MADV_FREE") and hasattr(mmap, "MADV_HUGEPAGE")


@functools.cache
def keep_freed_memory(always: bool = False) -> None:
    """Let the process keep the memory of temporary arrays: up to 64 MB of the heap's free top, with glibc.

    Parameters
    ----------
    always : bool
        Whether thresholds that an environment variable or ``mallopt`` has set are replaced. Otherwise they stay in
        force.
    """
    if not always:
        np.empty(_LEARNT, np.uint8)  # never filled, so that it costs no memory
        return
    with contextlib.suppress(OSError, AttributeError, TypeError):  # no glibc
        library = ctypes.CDLL(None)
        for parameter, value in _SET.items():
            library.mallopt(parameter, value)


def room(size: int) -> np.ndarray:
    """Return an array of so many bytes, of any values: memory that an earlier result has left, or new memory."""
    if size < _LARGE or not _LENDS:
        return np.empty(size, np.uint8)
    length = -(-size // _PAGE) * _PAGE
    memory = _left.taken(length)
    if memory is None:
        try:
            memory = mmap.mmap(-1, length, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        except (
            OSError
        ):  # there may be room without what is kept; else NumPy says how much it could not have
            _left.give_back()
            return np.empty(size, np.uint8)
        with contextlib.suppress(OSError):  # a system without large pages
            memory.madvise(mmap.MADV_HUGEPAGE)
    return np.asarray(_Block(memory))[:size]


class _Left:
    """Memory that no array uses, the latest last. Arrays may end at any time, in any thread."""

    def __init__(self) -> None:
        self._every: collections.deque[mmap.mmap] = collections.deque()

    def taken(self, length: int) -> mmap.mmap | None:
        """Some of this length, which is no longer left; None where there is none."""
        # where another array ends, or another thread was faster, new memory will do
        with contextlib.suppress(RuntimeError, ValueError, IndexError):
            for memory in reversed(tuple(self._every)):
                if len(memory) == length:
                    self._every.remove(memory)
                    return memory
        return None

    def put(self, memory: mmap.mmap) -> None:
        """Keep memory, and give the oldest back where there is too much."""
        with contextlib.suppress(OSError):  # a system that lends none
            memory.madvise(mmap.MADV_FREE)
            self._every.append(memory)
        # where another array ends meanwhile, that one looks after it
        with contextlib.suppress(RuntimeError, IndexError):
            while sum(map(len, self._every)) > _KEPT:
                self._every.popleft()

    def give_back(self) -> None:
        """Give all memory back to the system."""
        self._every.clear()


class _Block:
    """What owns the memory of an array and of all its views, and puts it back when they are gone."""

    def __init__(self, memory: mmap.mmap) -> None:
        self._memory = memory
        at = np.frombuffer(memory, np.uint8)
        self.__array_interface__: dict[str, Any] = at.__array_interface__

    def __del__(self, ends: Callable[[], bool] = sys.is_finalizing) -> None:
        if not ends():  # at the end of the process names of this module may be gone
            _left.put(self._memory)


_left = _Left()
