"""The device on which the programs of a call run."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import jax


def default_device() -> Any:
    """Return the device that JAX uses by default in this thread."""
    config: Any = jax.config
    chosen = config.jax_default_device
    if chosen is None:
        return jax.local_devices()[0]
    return jax.local_devices(backend=chosen)[0] if isinstance(chosen, str) else chosen


def is_gpu(device: Any) -> bool:
    """Return True if a device is a GPU."""
    return device.platform in ("gpu", "cuda", "rocm")


def on_callers_device(call: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a call for another thread so that it runs on the default device of the calling thread."""
    config: Any = jax.config
    chosen = config.jax_default_device

    def on_device(*values: Any) -> Any:
        with jax.default_device(chosen):
            return call(*values)

    return on_device


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
