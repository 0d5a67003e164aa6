"""Which device the programs of a call run on."""

from __future__ import annotations

from typing import Any

import jax


def default_device() -> Any:
    """The device that JAX uses by default in this thread."""
    config: Any = jax.config
    chosen = config.jax_default_device
    if chosen is None:
        return jax.local_devices()[0]
    return jax.local_devices(backend=chosen)[0] if isinstance(chosen, str) else chosen


def is_gpu(device: Any) -> bool:
    """Whether a device is a GPU."""
    return device.platform in ("gpu", "cuda", "rocm")
