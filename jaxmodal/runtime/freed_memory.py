"""Memory of NumPy's temporary arrays, kept for the next ones.

The C library of Linux gives larger blocks back to the system as soon as they are freed, so that every temporary array
is filled with zeros anew, which may take longer than its numbers. It does so until a block of this size was freed once;
from then on it keeps as much for the next arrays. On other systems nothing changes.
"""

from __future__ import annotations

import functools

import numpy as np

#: just below the 32 MB up to which the C library of Linux learns
_LARGEST = 2**25 - 2**16


@functools.cache
def keep_freed_memory() -> None:
    """Let the process keep the memory of temporary arrays. The block itself is never filled, so that it costs none."""
    np.empty(_LARGEST, np.uint8)
