"""Files of claims: created and renewed by one process, visible to all; the protocol, and their names."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Protocol

from sweeps.store import attempts

#: folder of claims in a store
CLAIMS = "progress/claims"


class ClaimFiles(Protocol):
    """Protocol of claims, by their names ``SHARD.NUMBER``."""

    def require_exclusive(self) -> None:
        """Raise an error for a place where two processes could make the same claim."""
        ...

    def names(self) -> list[str]:
        """Return the names of all claims."""
        ...

    def make(self, name: str) -> bool:
        """Make a claim and return True; return False if the name exists, or the store has been finished meanwhile."""
        ...

    def sign(self, name: str) -> Hashable | None:
        """Return a value that changes when a claim is renewed; None without a claim."""
        ...

    def renew(self, name: str) -> None:
        """Renew a claim of this process."""
        ...

    def remove(self, name: str) -> None:
        """Remove a claim if it exists."""
        ...

    def remove_all(self) -> None:
        """Remove all remaining claims of a complete store."""
        ...


def name_of(shard: int, number: int) -> str:
    """Return the name of a claim."""
    return f"{shard}.{number}"


def last_number(names: Iterable[str], shard: int) -> int:
    """Return the number of the last claim on a shard, from all names; -1 without a claim."""
    return max((number for of, number in _claims(names) if of == shard), default=-1)


def given_up(names: Iterable[str]) -> frozenset[int]:
    """Return the shards that are given up, from all names: those with a claim beyond the allowed number."""
    return frozenset(shard for shard, number in _claims(names) if number == attempts.MOST)


def _claims(names: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Yield shard and number of each name that is a claim."""
    for name in names:
        shard, _, number = name.partition(".")
        if shard.isdigit() and number.isdigit():
            yield int(shard), int(number)
