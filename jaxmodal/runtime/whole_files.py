"""Atomic writing of files, and reading from named pipes with a timeout."""

from __future__ import annotations

import os
import select
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any


def write_whole(path: Path, write: Callable[[Path], Any]) -> Path:
    """Write a file under a temporary name in the same folder, then rename it."""
    part = path.with_name(f".{path.stem}.part{path.suffix}")
    try:
        write(part)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
    return path


def write_text(path: Path, text: str) -> Path:
    """Write text in UTF-8 to a file atomically."""
    return write_whole(path, lambda part: part.write_text(text, encoding="utf-8", newline="\n"))


def is_named_pipe(path: Path) -> bool:
    """Return True if a path is a FIFO; False for those of standard input and process substitution.

    The latter always have a writer.
    """
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) and not str(path.absolute()).startswith(("/dev/", "/proc/"))


def read_pipe(path: Path, size: int, seconds: float) -> bytes:
    """Return the data written to a FIFO until it is closed, at most ``size`` bytes.

    Raises
    ------
    TimeoutError
        If no data arrives for ``seconds``.
    """
    data = b""
    pipe = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # without, it waits for someone who writes
    try:
        while len(data) < size:
            if not select.select([pipe], [], [], seconds)[0]:
                raise TimeoutError
            part = os.read(pipe, size - len(data))
            if not part:
                break
            data += part
    finally:
        os.close(pipe)
    return data
