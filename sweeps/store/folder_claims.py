"""Files of claims in a folder."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
from collections.abc import Hashable
from pathlib import Path

from sweeps.store.claim_files import CLAIMS
from sweeps.store.pieces import explained


class FolderClaims:
    """Claims as files that are created exclusively in the folder of a store; renewals change the modification time."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / CLAIMS

    def require_exclusive(self) -> None:
        """Do nothing: every file system can create files exclusively."""

    def names(self) -> list[str]:
        """Return the names of all claims."""
        try:
            return os.listdir(self.folder)
        except FileNotFoundError:
            return []

    def make(self, name: str) -> bool:
        """Make a claim and return True; return False if the name exists, or the store has been finished meanwhile."""
        with explained(self.root):
            for _ in range(2):
                try:
                    self._write(f"{self.folder}/{name}")
                except FileExistsError:  # another process was faster
                    return False
                except FileNotFoundError:  # first claim, or another process has finished the store
                    self.folder.mkdir(parents=True, exist_ok=True)
                else:
                    return True
        return False

    @staticmethod
    def _write(path: str) -> None:
        """Create the file of a claim; a file that cannot be filled, as on a full disk, is removed."""
        with open(path, "x") as file:
            try:
                file.write(f"{socket.gethostname()} {os.getpid()}\n")
                file.flush()
            except OSError:
                os.unlink(path)
                raise

    def sign(self, name: str) -> Hashable | None:
        """Return a value that changes when a claim is renewed; None without a claim."""
        try:
            return (self.folder / name).stat().st_mtime_ns
        except FileNotFoundError:
            return None

    def renew(self, name: str) -> None:
        """Renew a claim of this process."""
        with contextlib.suppress(OSError):
            os.utime(self.folder / name)

    def remove(self, name: str) -> None:
        """Remove a claim if it exists."""
        with explained(self.root):
            (self.folder / name).unlink(missing_ok=True)

    def remove_all(self) -> None:
        """Remove all remaining claims of a complete store."""
        shutil.rmtree(self.folder, ignore_errors=True)
