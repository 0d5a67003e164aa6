"""Work of a dask worker: it sets up its process once, as a command does, and computes shards."""

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

#: what dask sets for its workers, in bytes
_TRIM = "MALLOC_TRIM_THRESHOLD_"
#: parameters of glibc's `mallopt`, each with the value up to which glibc raises it by itself where nothing is set
_KEPT = {-3: 32 << 20, -1: 64 << 20}  # M_MMAP_THRESHOLD, M_TRIM_THRESHOLD


def on_worker(shard: int, task: bytes, cached: bool) -> Any:
    """Compute one shard by a task that comes pickled: it holds arrays, which 64-bit mode has to precede.

    So a worker imports what it needs with its first shard, and all workers do so side by side.
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
    """Let a worker keep freed memory as any other process does; without effect elsewhere.

    Dask has its workers give every freed array of more than 64 kB back to the system. The solver makes and frees
    thousands of them for a shard, each of which then has to be found and cleared anew, page by page: 1.5 to 2.5 times
    the processor time.
    """
    if _TRIM not in os.environ:
        return
    with contextlib.suppress(OSError, AttributeError, TypeError):  # no glibc
        library = ctypes.CDLL(None)
        for parameter, value in _KEPT.items():
            library.mallopt(parameter, value)
