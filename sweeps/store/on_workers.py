"""Work of a dask worker: it sets up its process once, like a command, and computes shards."""

from __future__ import annotations

import functools
import os
import pickle
from collections.abc import Callable
from typing import Any

import jax

from jaxmodal.runtime.compilation import add_cpu_flags
from jaxmodal.runtime.default_cache import use_default_cache
from jaxmodal.runtime.freed_memory import keep_freed_memory
from jaxmodal.runtime.process_end import end_quickly

#: variable of the C library that dask sets for its workers: they return every freed array of more than 64 kB to the
#: system. The solver allocates thousands of such arrays per shard, and the system would clear each page again: 1.5 to
#: 2.5 times the processor time
_TRIM = "MALLOC_TRIM_THRESHOLD_"


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
    keep_freed_memory(always=_TRIM in os.environ)
    end_quickly()
    if cached:
        use_default_cache()


@functools.lru_cache(maxsize=1)
def _unpacked(task: bytes) -> Callable[[int], Any]:
    unpacked: Callable[[int], Any] = pickle.loads(task)
    return unpacked
