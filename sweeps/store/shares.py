"""Several processes on one sweep without a scheduler: fixed parts of the shards, or claims on free shards.

A claim is a file in the store, created exclusively, that its holder renews. If another process sees no change for a
lease, by its own clock, it makes the next claim on the shard. Claims are numbered, so that only one process can take
over a claim; the holder of the last claim computes the shard. Clocks of different machines are not compared. A holder
that was only slow does no harm, because shards are written atomically, with the same bytes.
So the claims on a shard count the processes that ended while they computed it. After `attempts.MOST` such claims, one
more claim marks the shard as given up; no process takes it over.
"""

from __future__ import annotations

import collections
import dataclasses
import random
import threading
import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Self

from jaxmodal.arm.arguments import is_finite, is_whole
from jaxmodal.arm.quantities import shown
from sweeps.definition.errors import SweepError
from sweeps.store import attempts
from sweeps.store.claim_files import ClaimFiles, last_number, name_of

#: default time in s without renewal after which a claim may be taken over
LEASE = 120.0
#: number of renewals of a claim per lease
_RENEWALS = 6
#: seconds between checks of shards held by other processes
_PAUSE = 2.0


@dataclasses.dataclass(frozen=True)
class Part:
    """One of several equal parts of the shards of a sweep, for one process.

    Parameters
    ----------
    number, of
        Number of the part, from 1, and number of parts. Part 3 of 16 has the shards 2, 18, 34 and so on.

    Raises
    ------
    SweepError
        If they are not whole numbers, or the part does not exist.

    Examples
    --------
    >>> list(Part(3, 16).shards(40))
    [2, 18, 34]
    """

    number: int
    of: int

    def __post_init__(self) -> None:
        if not is_whole(self.of, 1) or not is_whole(self.number, 1, self.of):
            raise SweepError(
                f"part {shown(self.number)}/{shown(self.of)}: must be a whole number K of N, from 1/N to N/N."
            )

    def shards(self, total: int) -> range:
        """Return the shards of this part, out of ``total``."""
        return range(self.number - 1, total, self.of)


@dataclasses.dataclass(frozen=True)
class Claims:
    """Sharing by claims: any number of processes on one store, each of which takes one free shard after the other.

    Parameters
    ----------
    lease
        Time in s without renewal after which other processes take over a shard.

    Raises
    ------
    SweepError
        If the lease is not a number above 0.
    """

    lease: float = LEASE

    def __post_init__(self) -> None:
        if not is_finite(self.lease) or not self.lease > 0.0:
            raise SweepError(f"lease = {shown(self.lease)}: must be a number of seconds above 0.")


class Claimed:
    """The claims of this process in a store; a context that renews them.

    Parameters
    ----------
    files
        Files of claims in the store.
    marked
        Function that returns True if a shard has been computed.

    Attributes
    ----------
    given_up : set of int
        Shards that this process tried to take, and that have ended too many processes.
    """

    def __init__(self, files: ClaimFiles, lease: float, marked: Callable[[int], bool]) -> None:
        self.files, self.lease, self.marked = files, lease, marked
        self.given_up: set[int] = set()
        self._held: dict[int, int] = {}
        self._seen: dict[str, tuple[Hashable, float]] = {}
        self._over = threading.Event()
        self._renewer = threading.Thread(target=self._renew, daemon=True)

    def __enter__(self) -> Self:
        self._renewer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._renewer.join()
        for shard in list(self._held):
            self.release(shard)

    def free(self, shards: Iterable[int]) -> Iterator[int]:
        """Yield shards after claiming them, until all are computed (by any process), tried here, or given up."""
        order = list(shards)
        start = random.Random().randrange(len(order)) if order else 0  # not where others start
        left = collections.deque(order[start:] + order[:start])
        while left:
            before = len(left)
            for _ in range(before):
                shard = left.popleft()
                if self.marked(shard):
                    continue
                if self.take(shard):
                    yield shard
                elif shard not in self.given_up:
                    left.append(shard)
            if len(left) == before:
                time.sleep(min(_PAUSE, self.lease / _RENEWALS))

    def take(self, shard: int) -> bool:
        """Claim a shard; return False if another process holds it, or if it has been computed or given up."""
        last = last_number(self.files.names(), shard)
        if last >= attempts.MOST:
            self.given_up.add(shard)
            return False
        if last >= 0 and not self._stale(name_of(shard, last)):
            return False
        if not self.files.make(name_of(shard, last + 1)):
            return False
        if last + 1 == attempts.MOST:  # this claim marks the shard as given up
            self.given_up.add(shard)
            return False
        self._held[shard] = last + 1
        if self.marked(shard):  # computed meanwhile by a process that has released it
            self.release(shard)
            return False
        return True

    def release(self, shard: int) -> None:
        """Remove the claim on a shard, and the claims that it has taken over."""
        for number in range(self._held.pop(shard), -1, -1):
            self.files.remove(name_of(shard, number))

    def _stale(self, name: str) -> bool:
        """Return True if this process has seen no renewal of a claim for a lease."""
        sign = self.files.sign(name)
        if sign is None:
            return False
        known, since = self._seen.get(name, (None, 0.0))
        now = time.monotonic()
        if known != sign:
            self._seen[name] = (sign, now)
            return False
        return now - since > self.lease

    def _renew(self) -> None:
        while not self._over.wait(self.lease / _RENEWALS):
            for shard, number in list(self._held.items()):
                self.files.renew(name_of(shard, number))
