"""Work of a dask worker: it sets up its process once, like a command, and computes shards."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import pickle
from collections.abc import Callable
from typing import Any

import jax

from jaxmodal.runtime.compilation import add_cpu_flags
from jaxmodal.runtime.default_cache import use_default_cache
from jaxmodal.runtime.process_end import end_quickly

#: variable that dask sets for its workers, in bytes
_TRIM = "MALLOC_TRIM_THRESHOLD_"
#: parameters of glibc's `mallopt`, each with the value that glibc would reach by itself
_KEPT = {-3: 32 << 20, -1: 64 << 20}  # M_MMAP_THRESHOLD, M_TRIM_THRESHOLD


def on_worker(shard: int, task: bytes, cached: bool) -> Any:
    """Return the result of a task, which comes pickled, for one shard; 64-bit mode is set before it is unpickled.

    So each worker does its imports with its first shard, in parallel to the others.
    """
    jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]
    _begin(cached)
    return _unpacked(task)(shard)


@functools.cache
def _begin(cached: bool) -> None:
    add_cpu_flags()
    keep_freed_memory()
    end_quickly()
    if cached:
        use_default_cache()


@functools.lru_cache(maxsize=1)
def _unpacked(task: bytes) -> Callable[[int], Any]:
    unpacked: Callable[[int], Any] = pickle.loads(task)
    return unpacked


def keep_freed_memory() -> None:
    """Let a worker keep freed memory like other processes; without effect outside dask workers.

    Dask makes its workers return every freed array of more than 64 kB to the system. The solver allocates thousands of
    such arrays per shard, and the system would clear each page again: 1.5 to 2.5 times the processor time.
    """
    if _TRIM not in os.environ:
        return
    with contextlib.suppress(OSError, AttributeError, TypeError):  # no glibc
        library = ctypes.CDLL(None)
        for parameter, value in _KEPT.items():
            library.mallopt(parameter, value)
