"""Log message for calls that wait for compilation, so that they are not mistaken for a hang.

JAX reports when it starts and ends tracing, lowering or compiling a program. When this has taken `DELAY` seconds in a
call of the library, the logger ``jaxmodal`` reports which call is waiting and how later processes can avoid it. The
command line shows its own message.
"""

from __future__ import annotations

import logging
import math
import sys
import threading
import time
from collections.abc import Iterator
from types import FrameType

import jax
import jax.monitoring

EVENTS = "/jax/core/compile/"
_STORED = "/jax/compilation_cache/cache_misses"
#: seconds of compiling before it is said; programs less than GAP seconds apart are one wait
DELAY, GAP = 3.0, 1.0
_LOGGER = logging.getLogger("jaxmodal")
_PACKAGES = ("jaxmodal.", "sweeps.", "design_opt.")


class FirstCalls:
    """Compilation in progress, from JAX's events, and the call of the library that caused it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.begun = self.written = 0
        self._running = 0
        self._since = self._last = -math.inf
        self._timer: threading.Timer | None = None
        self._said: set[str] = set()

    def began(self, event: str, value: float | int, **kwargs: str | int) -> None:
        """Record that tracing, lowering or compiling of a program begins; check again after `DELAY`."""
        if not event.startswith(EVENTS):
            return
        with self._lock:
            now = time.monotonic()
            if not self._running and now - self._last > GAP:
                self._since = now
            self.begun += 1
            self._running += 1
            if self._timer is None:
                self._look_after(DELAY)

    def _look_after(self, seconds: float) -> None:
        self._timer = threading.Timer(seconds, self.look)
        self._timer.daemon = True
        self._timer.start()

    def stored(self, event: str, **kwargs: str | int) -> None:
        """Count the programs that JAX has compiled and put into the cache."""
        self.written += event == _STORED

    def ended(self, event: str, duration_secs: float, **kwargs: str | int) -> None:
        """Record that it has ended."""
        if event.startswith(EVENTS):
            with self._lock:
                self._last, self._running = time.monotonic(), max(self._running - 1, 0)

    def look(self) -> None:
        """Log the message if compiling has taken long enough, once for each function of the library."""
        with self._lock:
            self._timer = None
            now = time.monotonic()
            if not self._running and now - self._last > GAP:
                return
            if now - self._since < DELAY:
                self._look_after(DELAY - (now - self._since))
                return
        call = waiting_call()
        if call is not None and call not in self._said:
            self._said.add(call)
            _LOGGER.warning("%s", line(call))


def line(call: str) -> str:
    """Return the message for a call."""
    kept = jax.config.jax_compilation_cache_dir  # type: ignore[attr-defined]
    if kept and jax.config.jax_enable_compilation_cache:  # type: ignore[attr-defined]
        remedy = f"they are kept in {kept} for the next process"
    else:
        remedy = "jaxmodal.use_compilation_cache(folder) before it keeps them for the next process"
    return (
        f"{call} compiles its programs, which takes seconds to a minute at the first call; {remedy}"
    )


def waiting_call() -> str | None:
    """Return the library function that a user called and that is running; None if there is none, and for commands."""
    frames = sys._current_frames()
    main = threading.main_thread().ident
    for thread in sorted(frames, key=lambda ident: ident != main):
        names = list(_functions(frames[thread]))
        if any(module.startswith("jaxmodal.cli.") for module, _ in names):
            return None
        if names:
            package, _, _ = names[-1][0].partition(".")
            return names[-1][1] if package == "jaxmodal" else f"{package}.{names[-1][1]}"
    return None


def _functions(frame: FrameType | None) -> Iterator[tuple[str, str]]:
    """Yield module and name of the library functions on a stack, the innermost first."""
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module.startswith(_PACKAGES) and module != __name__ and "<" not in frame.f_code.co_name:
            yield module, frame.f_code.co_name
        frame = frame.f_back


_CALLS = FirstCalls()


def programs_begun() -> int:
    """How often a program has begun to be traced, lowered or compiled in this process."""
    return _CALLS.begun


def programs_written() -> int:
    """How many programs this process has compiled and put into the cache."""
    return _CALLS.written


def listen() -> None:
    """Register listeners for JAX's events."""
    jax.monitoring.register_scalar_listener(_CALLS.began)
    jax.monitoring.register_event_duration_secs_listener(_CALLS.ended)
    jax.monitoring.register_event_listener(_CALLS.stored)
