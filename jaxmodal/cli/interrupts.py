"""Ctrl-C is answered within two seconds, also while a program is compiled, when Python itself cannot listen.

Python raises `KeyboardInterrupt` between two of its own steps, and compiling a large program is one step. So a thread
listens, too: it says what is kept, and ends the process where the main thread does not come to it.
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

#: exit status of a command that Ctrl-C has ended
EXIT_INTERRUPTED = 130
#: seconds that the main thread has to end a command in its own way
GRACE = 1.0


@dataclasses.dataclass(frozen=True)
class _Work:
    """What a command is doing: what to say of it when it is stopped, and whether it is over."""

    kept: Callable[[], str]
    over: threading.Event


_works: list[_Work] = []


@contextlib.contextmanager
def keeping(kept: Callable[[], str]) -> Iterator[None]:
    """Say what Ctrl-C keeps of the work in this context.

    Parameters
    ----------
    kept
        Called on Ctrl-C, in another thread: what is kept and how to go on.
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
    """Listen for Ctrl-C; where it is not Python's to handle, or this is not the main thread, nothing is done."""
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
    """End a command that Ctrl-C has stopped in its Python code, and say what is kept.

    The process ends without the end of the interpreter, which may wait or fail while compiled programs run.
    """
    if not _works:
        raise SystemExit(EXIT_INTERRUPTED)
    work = _works[-1]
    work.over.set()  # nothing is left for the thread to say
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
