"""Files of claims in a bucket."""

from __future__ import annotations

import contextlib
import os
import socket
import time
import uuid
from collections.abc import Hashable

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, GenericError, PreconditionError

from sweeps.definition.errors import StoreError
from sweeps.store.claim_files import CLAIMS
from sweeps.store.object_store import S3, TRIES, told

#: number of tests after which a server counts as ignoring conditions
_LOOKS = 3


class BucketClaims:
    """Claims as objects that are created only if they do not exist; a renewal changes text and tag, which others see.

    A renewal replaces only the version that this process wrote last, so that it cannot restore a removed claim.
    """

    def __init__(self, root: S3) -> None:
        self.root = root
        self._tags: dict[str, str | None] = {}
        self._owner = f"{socket.gethostname()} {os.getpid()} {uuid.uuid4().hex}"

    def require_exclusive(self) -> None:
        """Raise an error if the server overwrites objects in spite of the condition.

        Raises
        ------
        StoreError
            If it does, or if it cannot be reached.
        """
        # a process that finishes the store removes all claims, possibly between the two writes of one test
        honest = any(self._refuses_a_second_write() for _ in range(_LOOKS))
        if not honest:
            raise StoreError(
                f"store {self.root.address}: the server does not honour If-None-Match, without which two processes "
                "would claim the same shard; compute parts of the sweep, 1/N to N/N."
            )

    def _refuses_a_second_write(self) -> bool:
        name = f"probe-{uuid.uuid4().hex}"
        try:
            with told(self.root.address):
                return self._written(name, {}) and not self._written(name, {}, mine=False)
        finally:
            self.remove(name)

    def make(self, name: str) -> bool:
        """Make a claim and return True, or return False if the name exists."""
        with told(self.root.address):
            return self._written(name, self._tags)

    def _written(self, name: str, tags: dict[str, str | None], mine: bool = True) -> bool:
        """Create an object; return True if this process created it.

        If an answer is lost, it tries again; with ``mine`` an existing object then counts if it is its own.
        """
        key, text = f"{CLAIMS}/{name}", f"{self._owner} 0".encode()
        for attempt in range(TRIES):
            try:
                tags[name] = obstore.put(self.root.store, key, text, mode="create")["e_tag"]
                return True
            except AlreadyExistsError:
                return mine and self._found(name, tags)
            except GenericError:
                if attempt == TRIES - 1:
                    raise
                time.sleep(0.1 * 2**attempt)
        return False

    def _found(self, name: str, tags: dict[str, str | None]) -> bool:
        """Return True if an existing claim belongs to this process, and store its tag."""
        try:
            there = obstore.get(self.root.store, f"{CLAIMS}/{name}")
        except FileNotFoundError:
            return False
        if not bytes(there.bytes()).startswith(self._owner.encode()):
            return False
        tags[name] = there.meta["e_tag"]
        return True

    def sign(self, name: str) -> Hashable | None:
        """Return a value that changes when a claim is renewed; None without a claim."""
        try:
            with told(self.root.address):
                return obstore.head(self.root.store, f"{CLAIMS}/{name}")["e_tag"]
        except FileNotFoundError:
            return None

    def renew(self, name: str) -> None:
        """Renew a claim of this process."""
        text = f"{self._owner} {uuid.uuid4().hex}".encode()
        tag = self._tags.get(name)
        if tag is None:
            return
        try:
            found = obstore.put(self.root.store, f"{CLAIMS}/{name}", text, mode={"e_tag": tag})
            self._tags[name] = found["e_tag"]
        except PreconditionError:  # removed; or written, and the answer was lost
            with contextlib.suppress(BaseError):
                self._found(name, self._tags)
        except (BaseError, FileNotFoundError):
            pass  # the next renewal may reach the server

    def remove(self, name: str) -> None:
        """Remove a claim if it exists."""
        self._tags.pop(name, None)
        with told(self.root.address), contextlib.suppress(FileNotFoundError):
            obstore.delete(self.root.store, f"{CLAIMS}/{name}")

    def remove_all(self) -> None:
        """Remove all remaining claims of a complete store."""
        for name in self.names():
            self.remove(name)

    def names(self) -> list[str]:
        """Return the names of all claims."""
        with told(self.root.address):
            pages = obstore.list(self.root.store, prefix=CLAIMS)
            return [entry["path"].rsplit("/", 1)[-1] for page in pages for entry in page]
