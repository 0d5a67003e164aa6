"""Work spread in parts over the threads of a pool and over the local devices."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import numpy as np

from jaxmodal.batches.sizes import parted

#: spreads work on items over parts: (work, items, size of a block, most blocks in a part)
Each = Callable[[Callable[[np.ndarray], Any], np.ndarray, int, int], list[Any]]


@dataclasses.dataclass(frozen=True)
class Workers:
    """The threads of a ``pool``, ``number`` of them."""

    pool: ThreadPoolExecutor
    number: int

    def each(
        self, work: Callable[[np.ndarray], Any], items: np.ndarray, size: int, blocks: int = 1
    ) -> list[Any]:
        """``work`` on every part of ``items``, on the local devices in turn; the results in the order of the parts.

        A part is at most so many blocks of ``size`` items. A device that the caller has chosen as JAX's default keeps
        all parts.
        """
        if not items.size:
            return []
        parts = parted(items, size, blocks, self.number)
        calls = [placed(functools.partial(work, part), number) for number, part in enumerate(parts)]
        return [call.result() for call in [self.pool.submit(call) for call in calls]]


def in_turn(
    work: Callable[[np.ndarray], Any], items: np.ndarray, size: int, blocks: int
) -> list[Any]:
    """As `Workers.each`, but in the calling thread."""
    return [work(part) for part in parted(items, size, blocks, 1)] if items.size else []


def placed(call: Callable[[], Any], number: int) -> Callable[[], Any]:
    """The call on one of the local devices, in turn, or on the one that the caller has chosen."""
    config: Any = jax.config
    chosen = config.jax_default_device  # chosen for the calling thread alone
    devices = jax.local_devices() if chosen is None else [chosen]

    def on_device() -> Any:
        with jax.default_device(devices[number % len(devices)]):
            return call()

    return on_device
