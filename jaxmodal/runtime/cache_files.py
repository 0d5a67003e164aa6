"""The files of a cache of compiled programs: how many, how large, and those that go when there are too many.

JAX writes each program to a file of its own, NAME-KEY-cache. Other processes may write and remove them at any time.
Files of other names, and folders below, are left alone.
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
    """One compiled program on disk."""

    path: Path
    size: int
    #: seconds since the epoch: when it was last read or written, as far as the file system keeps that
    used: float


def entries(folder: Path) -> list[Entry]:
    """Every program in a folder; an empty list where there is no folder."""
    found = []
    for path in folder.iterdir() if folder.is_dir() else ():
        with contextlib.suppress(OSError):  # another process has removed it
            if _NAME.fullmatch(path.name) and path.is_file():
                state = path.stat()
                found.append(Entry(path, state.st_size, max(state.st_atime, state.st_mtime)))
    return found


def prune(known: Iterable[Entry], max_bytes: int) -> None:
    """Remove the programs that were not used for longest, until all that are left fit."""
    known = sorted(known, key=lambda entry: entry.used)
    excess = sum(entry.size for entry in known) - max_bytes
    for entry in known:
        if excess <= 0:
            return
        remove(entry.path)
        excess -= entry.size


def forget(folder: Path, name: str) -> None:
    """Remove the programs of a name, so that they are written anew: JAX leaves a file that is there as it is."""
    for entry in entries(folder):
        known = _NAME.fullmatch(entry.path.name)
        if known and known["program"] == name:
            remove(entry.path)


def remove(path: Path) -> None:
    """Remove a file, if it is there and the file system lets it go."""
    with contextlib.suppress(OSError):
        path.unlink()
