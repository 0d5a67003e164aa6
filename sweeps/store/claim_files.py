"""The files of claims: made by one process alone, renewed by it, seen by all; here in a folder."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
from collections.abc import Hashable, Iterable, Iterator
from pathlib import Path
from typing import Protocol

from sweeps.store import attempts

#: where claims lie in a store
CLAIMS = "progress/claims"


class ClaimFiles(Protocol):
    """Claims by their names, ``SHARD.NUMBER``."""

    def require_exclusive(self) -> None:
        """Refuse a place in which two processes could make the same claim."""
        ...

    def names(self) -> list[str]:
        """The names of all claims that are there."""
        ...

    def make(self, name: str) -> bool:
        """Make a claim, unless there is one of this name, or the store has been finished meanwhile."""
        ...

    def sign(self, name: str) -> Hashable | None:
        """Return a value that changes when a claim is renewed; None without a claim."""
        ...

    def renew(self, name: str) -> None:
        """Give a sign of life."""
        ...

    def remove(self, name: str) -> None:
        """Remove a claim, if it is there."""
        ...

    def remove_all(self) -> None:
        """Remove what is left of claims in a store that is complete."""
        ...


class FolderClaims:
    """Files made exclusively in the folder of a store; the time of change is the sign of life."""

    def __init__(self, root: Path) -> None:
        self.folder = root / CLAIMS

    def require_exclusive(self) -> None:
        """Every file system makes files exclusively."""

    def names(self) -> list[str]:
        """The names of all claims that are there."""
        try:
            return os.listdir(self.folder)
        except FileNotFoundError:
            return []

    def make(self, name: str) -> bool:
        """Make a claim, unless there is one of this name, or the store has been finished meanwhile."""
        for _ in range(2):
            try:
                with open(f"{self.folder}/{name}", "x") as file:
                    file.write(f"{socket.gethostname()} {os.getpid()}\n")
            except FileExistsError:  # another one was faster
                return False
            except FileNotFoundError:  # the first claim of all; or another one has finished
                self.folder.mkdir(parents=True, exist_ok=True)
            else:
                return True
        return False

    def sign(self, name: str) -> Hashable | None:
        """Return a value that changes when a claim is renewed; None without a claim."""
        try:
            return (self.folder / name).stat().st_mtime_ns
        except FileNotFoundError:
            return None

    def renew(self, name: str) -> None:
        """Give a sign of life."""
        with contextlib.suppress(OSError):
            os.utime(self.folder / name)

    def remove(self, name: str) -> None:
        """Remove a claim, if it is there."""
        (self.folder / name).unlink(missing_ok=True)

    def remove_all(self) -> None:
        """Remove what is left of claims in a store that is complete."""
        shutil.rmtree(self.folder, ignore_errors=True)


def name_of(shard: int, number: int) -> str:
    """The name of a claim."""
    return f"{shard}.{number}"


def last_number(names: Iterable[str], shard: int) -> int:
    """The number of the last claim on a shard, of the names of all; -1 where there is none."""
    return max((number for of, number in _claims(names) if of == shard), default=-1)


def given_up(names: Iterable[str]) -> frozenset[int]:
    """The shards that are given up, of the names of all claims: those with one after the last that is allowed."""
    return frozenset(shard for shard, number in _claims(names) if number == attempts.MOST)


def _claims(names: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Shards and numbers of those names that are of claims."""
    for name in names:
        shard, _, number = name.partition(".")
        if shard.isdigit() and number.isdigit():
            yield int(shard), int(number)
