"""Files that are written whole or not at all, and pipes with a name, at which a reader or writer may wait for ever."""

from __future__ import annotations

import os
import select
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any


def write_whole(path: Path, write: Callable[[Path], Any]) -> Path:
    """Write a file under another name beside its place, then move it there."""
    part = path.with_name(f".{path.stem}.part{path.suffix}")
    try:
        write(part)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
    return path


def write_text(path: Path, text: str) -> Path:
    """Write a text in UTF-8, whole or not at all."""
    return write_whole(path, lambda part: part.write_text(text, encoding="utf-8", newline="\n"))


def is_named_pipe(path: Path) -> bool:
    """Whether a path is that of a FIFO; not those of standard input and of process substitution, which are written."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) and not str(path.absolute()).startswith(("/dev/", "/proc/"))


def read_pipe(path: Path, size: int, seconds: float) -> bytes:
    """What is written to a FIFO until it is closed, ``size`` bytes at most.

    Raises
    ------
    TimeoutError
        Nothing came for so many seconds.
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
