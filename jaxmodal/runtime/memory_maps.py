"""Warning before the compiled programs of a process exceed its memory maps.

Linux limits the number of memory maps of a process (65,530 by default), and XLA takes three for each piece of machine
code: some hundred for a long program. LLVM ends the process with a segmentation fault where it gets no more. A process
that solves arms of a hundred different structures can get there.
"""

from __future__ import annotations

import logging
from pathlib import Path

import jax
import jax.monitoring

_MAPS, _LIMIT = Path("/proc/self/maps"), Path("/proc/sys/vm/max_map_count")
_COMPILED = "/jax/core/compile/backend_compile_duration"
#: the share of the limit that is warned of, and the number of programs from one look to the next
WARNED, EVERY = 0.6, 8
_LOGGER = logging.getLogger("jaxmodal")


def memory_maps() -> int:
    """Return the number of memory maps of this process; 0 where the system does not tell."""
    try:
        return _MAPS.read_bytes().count(b"\n")
    except OSError:
        return 0


def most_memory_maps() -> int:
    """Return the largest number that the system allows; 0 where it does not tell."""
    try:
        return int(_LIMIT.read_text())
    except (OSError, ValueError):
        return 0


class Watch:
    """Counts programs as JAX reports them, and warns once each time that their maps pass `WARNED` of the limit."""

    def __init__(self) -> None:
        self._programs, self._warned = 0, False

    def ended(self, event: str, duration_secs: float, **kwargs: str | int) -> None:
        """Record that a program was compiled, or loaded from the cache."""
        if event != _COMPILED:
            return
        self._programs += 1
        if self._programs % EVERY:
            return
        maps, most = memory_maps(), most_memory_maps()
        beyond = maps > WARNED * most > 0
        if beyond and not self._warned:
            _LOGGER.warning("%s", line(maps, most))
        self._warned = beyond


def line(maps: int, most: int) -> str:
    """Return the message."""
    return (
        f"the compiled programs of this process hold {maps} of the {most} memory maps that Linux allows it;"
        " beyond, it ends with a segmentation fault. jax.clear_caches() drops the programs (they compile again"
        " when called); sysctl vm.max_map_count raises the limit"
    )


def watch() -> None:
    """Register the listener for JAX's events."""
    jax.monitoring.register_event_duration_secs_listener(Watch().ended)
