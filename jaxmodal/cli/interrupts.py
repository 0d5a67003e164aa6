"""Handling of Ctrl-C within two seconds, even while a program is compiled and Python cannot handle signals.

Python raises `KeyboardInterrupt` between two of its own instructions, and compiling a large program is one instruction.
Therefore a thread handles the signal as well: if the main thread does not end the process, the thread prints what is
kept and ends it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from typing import NoReturn

#: exit status of a command ended by Ctrl-C
EXIT_INTERRUPTED = 130
#: seconds that the main thread has to end a command itself
GRACE = 1.0


@dataclasses.dataclass(frozen=True)
class _Work:
    """The current work of a command: its message for an interrupt, and an event that is set at its end."""

    kept: Callable[[], str]
    over: threading.Event


_works: list[_Work] = []


@contextlib.contextmanager
def keeping(kept: Callable[[], str]) -> Iterator[None]:
    """Set the message that Ctrl-C prints about kept results inside the context.

    Parameters
    ----------
    kept
        Called on Ctrl-C, possibly in another thread; returns text on what is kept and how to continue.
    """
    work = _Work(kept, threading.Event())
    _works.append(work)
    try:
        yield
    finally:
        work.over.set()
        _works.remove(work)


@contextlib.contextmanager
def listening() -> Iterator[None]:
    """Handle Ctrl-C inside the context; without effect if Python does not handle it, or outside the main thread."""
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    ear, mouth = socket.socketpair()
    mouth.setblocking(False)
    before = signal.set_wakeup_fd(mouth.fileno(), warn_on_full_buffer=False)
    listener = threading.Thread(target=_listen, args=(ear,), daemon=True)
    listener.start()
    try:
        with keeping(lambda: "stopped; files that are named above are written, nothing else."):
            yield
    finally:
        signal.set_wakeup_fd(before)
        mouth.close()
        listener.join()
        ear.close()


def leave() -> NoReturn:
    """End a command that Ctrl-C has interrupted in Python code, and print what is kept.

    The process ends without finalising the interpreter, which may hang or fail while compiled programs run.
    """
    if not _works:
        raise SystemExit(EXIT_INTERRUPTED)
    work = _works[-1]
    work.over.set()  # the thread prints nothing then
    _say(work.kept())
    os._exit(EXIT_INTERRUPTED)


def _listen(ear: socket.socket) -> None:
    while heard := ear.recv(16):
        if signal.SIGINT not in heard or not _works:
            continue
        work = _works[-1]
        if not work.over.wait(GRACE):
            _say(work.kept())
            os._exit(EXIT_INTERRUPTED)


def _say(text: str) -> None:
    shown = "\x1b[?25h" if sys.stderr.isatty() else ""  # a progress bar hides the cursor
    with contextlib.suppress(OSError, ValueError):
        print(f"{shown}{text}", file=sys.stderr, flush=True)
        sys.stdout.flush()
