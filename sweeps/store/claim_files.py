"""The files of claims: made by one process alone, renewed by it, seen by all; here in a folder."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import Protocol

#: where claims lie in a store
CLAIMS = "progress/claims"


class ClaimFiles(Protocol):
    """Claims by their names, ``SHARD.NUMBER``."""

    def require_exclusive(self) -> None:
        """Refuse a place in which two processes could make the same claim."""
        ...

    def numbers(self, shard: int) -> list[int]:
        """The numbers of the claims on a shard that are there."""
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

    def numbers(self, shard: int) -> list[int]:
        """The numbers of the claims on a shard that are there."""
        try:
            return numbers_of(os.listdir(self.folder), shard)
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


def numbers_of(names: Iterable[str], shard: int) -> list[int]:
    """The numbers of the claims on a shard, of the names of claims."""
    parts = (name.split(".") for name in names)
    return [int(part[1]) for part in parts if len(part) == 2 and part[0] == str(shard)]
