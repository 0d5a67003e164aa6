"""Memory of NumPy's temporary arrays, kept for the next ones.

The C library of Linux (glibc) gives larger blocks back to the system as soon as they are freed, so that every temporary
array is filled with zeros anew, which may take longer than its numbers. Its threshold is at first 128 kB, and grows to
the size of any such block that is freed, up to 32 MB: from then on blocks up to that size come from the heap, of which
a free top of up to twice the threshold is kept. Environment variables such as ``MALLOC_TRIM_THRESHOLD_`` and calls of
``mallopt`` set thresholds, and switch this learning off. On other systems nothing changes.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools

import numpy as np

#: size of the block that teaches: just below the 32 MB up to which glibc learns
_LEARNT = 2**25 - 2**16
#: parameters of `mallopt`, M_MMAP_THRESHOLD and M_TRIM_THRESHOLD, with the values that glibc learns at most
_SET = {-3: 2**25, -1: 2**26}


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
