"""A status line on standard error while programs are compiled, so that users do not take the wait for a crash.

JAX reports the beginning and end of tracing, lowering and compiling a program. A terminal shows a line that is removed
at the end; a pipe or a file gets a line every `EVERY` seconds.
"""

from __future__ import annotations

import contextlib
import math
import sys
import threading
import time
from collections.abc import Callable, Iterator

import jax.monitoring
from rich.console import Console, RenderableType
from rich.live import Live
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from jaxmodal.runtime.first_calls import EVENTS

#: seconds of compilation before the line appears (DELAY), largest gap in s between programs of one wait, and interval
#: in s of lines in pipes and files
DELAY, GAP, EVERY = 2.0, 1.0, 10.0
#: seconds of compilation before a program is named: names of many small programs would flicker
NAMED = 0.3


class Watch:
    """Tracker of compilation, from JAX's events, with the status line."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self.console, self.clock = console, clock
        self.bars = 0  # bars and lines of progress that show the text in place of this line
        self._line: Live | None = None
        self._lock, self._drawing = threading.Lock(), threading.RLock()
        self._running: dict[int, list[tuple[str, float]]] = {}
        self._since = self._last = self._said = -math.inf

    def began(self, event: str, value: float | int, **kwargs: str | int) -> None:
        """Record that this thread begins to trace, lower or compile; calls may be nested."""
        if event.startswith(EVENTS):
            name = str(kwargs.get("fun_name", "")).removeprefix("jit").strip("_()")
            with self._lock:
                now = self.clock()
                if not self._running and now - self._last > GAP:
                    self._since = now
                nested = self._running.setdefault(threading.get_ident(), [])
                nested.append((name or "a program", now))

    def ended(self, event: str, duration_secs: float, **kwargs: str | int) -> None:
        """Record that it has ended, and remove the line immediately, before anything else is printed."""
        thread = threading.get_ident()
        if event.startswith(EVENTS) and thread in self._running:
            with self._lock:
                self._last = self.clock()
                self._running[thread].pop()
                if not self._running[thread]:
                    del self._running[thread]
            if not self._running and self._line is not None:
                self.show(False)

    def text(self) -> str:
        """Return the text of the line; empty before compilation has taken long enough."""
        with self._lock:
            outermost = next(iter(self._running.values()), [("", math.inf)])[0]
            now, since = self.clock(), self._since
        if now - since < DELAY or now - outermost[1] < NAMED:
            return ""
        return f"compiling {outermost[0]} ..., {now - since:.0f} s"

    def tick(self) -> None:
        """Update the line."""
        text, now = self.text(), self.clock()
        if self.console.is_terminal:
            self.show(bool(text))
        elif text and not self.bars and now - max(self._said, self._since) >= EVERY:
            self._said = now
            print(text, file=self.console.file, flush=True)

    def show(self, wanted: bool) -> None:
        """Draw the line, unless a progress bar shows the text; or remove it."""
        with self._drawing, contextlib.suppress(OSError, ValueError):  # the terminal may be gone
            if not wanted and self._line is not None:
                line, self._line = self._line, None
                line.stop()
            elif wanted and self._line is None and not self.bars:
                self._line = Live(
                    console=self.console,
                    get_renderable=lambda: Text(self.text()),
                    transient=True,
                    redirect_stdout=False,
                    redirect_stderr=False,
                )
                self._line.start()


_current: Watch | None = None


@contextlib.contextmanager
def watched() -> Iterator[None]:
    """Show the programs being compiled inside the context, unless Python code has replaced standard error."""
    global _current
    if sys.stderr is None or sys.stderr is not sys.__stderr__ or _current is not None:
        yield
        return
    watch, over = Watch(Console(stderr=True)), threading.Event()

    def run() -> None:
        while not over.wait(0.25):
            watch.tick()

    thread = threading.Thread(target=run, daemon=True)
    jax.monitoring.register_scalar_listener(watch.began)
    jax.monitoring.register_event_duration_secs_listener(watch.ended)
    _current = watch
    thread.start()
    try:
        yield
    finally:
        _current = None
        jax.monitoring.unregister_scalar_listener(watch.began)
        jax.monitoring.unregister_event_duration_listener(watch.ended)
        over.set()
        thread.join()
        watch.show(False)


class Lines:
    """Progress when standard error is not a terminal: a line every `EVERY` seconds, none in a shorter run.

    As a context it also reports while a step takes long, including what is being compiled.

    Parameters
    ----------
    text
        Text until the first step has ended.
    clock
        Function that returns the time in seconds.
    """

    def __init__(self, text: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.text, self.clock = text, clock
        self._began = self._said = clock()
        self._lock, self._over = threading.Lock(), threading.Event()
        self._watch: Watch | None = None
        self._thread: threading.Thread | None = None

    def __call__(self, text: str) -> None:
        """Set the text to report."""
        self.text = text
        self.tick()

    def tick(self) -> None:
        """Print the text, unless a line was printed a short time ago."""
        with self._lock:
            now = self.clock()
            if now - self._said < EVERY:
                return
            self._said = now
            compiled = self._watch.text() if self._watch is not None else ""
            parts = [f"{self.text}, {now - self._began:.0f} s", *filter(None, [compiled])]
            print("; ".join(parts), file=sys.stderr, flush=True)

    def __enter__(self) -> Lines:
        self._watch = _current
        if self._watch is not None:
            self._watch.bars += 1
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()
        if self._watch is not None:
            self._watch.bars, self._watch = self._watch.bars - 1, None

    def _run(self) -> None:
        while not self._over.wait(0.25):
            self.tick()


class Bar(Progress):
    """A progress bar that shows what is being compiled below itself, instead of a separate line."""

    _watch: Watch | None = None

    def get_renderables(self) -> Iterator[RenderableType]:
        yield from super().get_renderables()
        if self._watch is not None and (text := self._watch.text()):
            yield Text(text)

    def start(self) -> None:
        if _current is not None and not self.disable and self._watch is None:
            self._watch = _current
            with self._watch._drawing:
                self._watch.bars += 1
                self._watch.show(False)
        super().start()

    def stop(self) -> None:
        super().stop()
        if self._watch is not None:
            self._watch.bars, self._watch = self._watch.bars - 1, None


def _so_far(what: str, done: int, total: int, seconds: float) -> str:
    """Return progress as text, with the remaining time once it can be estimated."""
    left = f", about {seconds * (total - done) / done:.0f} s left" if 0 < done < total else ""
    return f"{what}: {done} of {total}{left}"


@contextlib.contextmanager
def late_progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar on standard error, which appears only after a second.

    The context yields a function to call with (steps done, number of steps). If standard error is not a terminal, a
    line is printed every ten seconds instead.
    """
    progress = Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(compact=True),
        console=Console(stderr=True),
        transient=True,
    )
    task = progress.add_task(what, total=None)

    def advance(done: int, total: int) -> None:
        progress.update(task, completed=done, total=total)

    if not sys.stderr.isatty():
        with Lines(what) as lines:
            began = time.monotonic()
            yield lambda done, total: lines(_so_far(what, done, total, time.monotonic() - began))
        return
    timer = threading.Timer(1.0, progress.start)
    timer.daemon = True
    timer.start()
    try:
        yield advance
    finally:
        timer.cancel()
        timer.join()
        progress.stop()
