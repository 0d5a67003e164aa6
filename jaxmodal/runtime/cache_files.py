"""Files of a cache of compiled programs: listing, size, removal of the oldest.

JAX writes each program to a file of its own, NAME-KEY-cache. Other processes may write and remove them at any time.
Files with other names, and subfolders, are left alone.
"""

from __future__ import annotations

import contextlib
import dataclasses
import re
from collections.abc import Iterable
from pathlib import Path

_NAME = re.compile(r"(?P<program>.+)-[0-9a-f]{16,}-cache")


@dataclasses.dataclass(frozen=True)
class Entry:
    """A compiled program on disk."""

    path: Path
    size: int
    #: seconds since the epoch: when it was last read or written, as far as the file system keeps that
    used: float


def entries(folder: Path) -> list[Entry]:
    """Return all programs in a folder; an empty list if the folder does not exist."""
    found = []
    for path in folder.iterdir() if folder.is_dir() else ():
        with contextlib.suppress(OSError):  # another process has removed it
            if _NAME.fullmatch(path.name) and path.is_file():
                state = path.stat()
                found.append(Entry(path, state.st_size, max(state.st_atime, state.st_mtime)))
    return found


def prune(known: Iterable[Entry], max_bytes: int) -> None:
    """Remove the least recently used programs until the rest fits into ``max_bytes``."""
    known = sorted(known, key=lambda entry: entry.used)
    excess = sum(entry.size for entry in known) - max_bytes
    for entry in known:
        if excess <= 0:
            return
        remove(entry.path)
        excess -= entry.size


def forget(folder: Path, name: str) -> None:
    """Remove the programs with a name so that they are written again; JAX does not overwrite existing files."""
    for entry in entries(folder):
        known = _NAME.fullmatch(entry.path.name)
        if known and known["program"] == name:
            remove(entry.path)


def remove(path: Path) -> None:
    """Remove a file if it exists and the file system permits it."""
    with contextlib.suppress(OSError):
        path.unlink()
