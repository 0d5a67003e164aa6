"""Work divided into parts over the threads of a pool and the local devices."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import numpy as np

from jaxmodal.batches.sizes import parted

#: a function that divides work on items into parts: (work, items, block size, most blocks in a part)
Each = Callable[[Callable[[np.ndarray], Any], np.ndarray, int, int], list[Any]]


@dataclasses.dataclass(frozen=True)
class Workers:
    """A thread ``pool`` with ``number`` threads."""

    pool: ThreadPoolExecutor
    number: int

    def each(
        self, work: Callable[[np.ndarray], Any], items: np.ndarray, size: int, blocks: int = 1
    ) -> list[Any]:
        """Return the results of ``work`` on every part of ``items``, in order; parts use the local devices in turn.

        A part has at most ``blocks`` blocks of ``size`` items. If the caller has set JAX's default device, all parts
        run on it.
        """
        if not items.size:
            return []
        parts = parted(items, size, blocks, self.number)
        calls = [placed(functools.partial(work, part), number) for number, part in enumerate(parts)]
        return [call.result() for call in [self.pool.submit(call) for call in calls]]


def in_turn(
    work: Callable[[np.ndarray], Any], items: np.ndarray, size: int, blocks: int
) -> list[Any]:
    """Return the results of `Workers.each`, computed in the calling thread."""
    return [work(part) for part in parted(items, size, blocks, 1)] if items.size else []


def placed(call: Callable[[], Any], number: int) -> Callable[[], Any]:
    """Return the call bound to one of the local devices, in turn, or to the caller's default device."""
    config: Any = jax.config
    chosen = config.jax_default_device  # valid in the calling thread only
    devices = jax.local_devices() if chosen is None else [chosen]

    def on_device() -> Any:
        with jax.default_device(devices[number % len(devices)]):
            return call()

    return on_device
