"""Where shards are computed: in this process, on all its devices, or on a dask cluster."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import itertools
import math
import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ThreadPoolExecutor, wait
from typing import Any, NamedTuple, Protocol, TypeVar

import jax

from jaxmodal.arm.arguments import is_whole
from jaxmodal.arm.quantities import shown
from jaxmodal.runtime.default_cache import allowed
from jaxmodal.runtime.errors import suggestion
from sweeps.definition.errors import SweepError
from sweeps.store import attempts
from sweeps.store.local_workers import local_cluster
from sweeps.store.on_workers import on_worker

T = TypeVar("T")
#: shards with the scheduler for each thread of its workers, and how often one that fails is tried again
_IN_FLIGHT, _RETRIES = 2, 2
#: seconds between two looks at whether one is ready, at first and at most
_SHORT, _LONG = 0.001, 0.1
#: a shard is late when it takes so many times as long as others, of so many and the last so many, and so many seconds
_LATE, _ENOUGH, _REMEMBERED, _LATE_SECONDS = 4.0, 8, 64, 30.0
#: seconds between two looks at how many threads the workers have
_LOOK = 2.0
#: seconds after which workers of this machine do not come back
_PATIENCE = 60.0
_ENDED = (
    "executor: all workers of dask have ended, as where memory runs out, and were not started again; shards that are "
    "complete are kept, and the same command goes on."
)
_LOST = (
    "executor: the dask scheduler was lost; shards that are complete are kept, and the same command goes on with a "
    "new one."
)


@dataclasses.dataclass(frozen=True)
class Failed:
    """Takes the place of a result where a task raised an error."""

    error: Exception


class Executor(Protocol):
    """Computes a task for each of many shards; results come in any order."""

    def run(
        self, task: Callable[[int], T], shards: Iterable[int]
    ) -> Iterator[tuple[int, T | Failed]]:
        """Yield (shard, result) as they are ready, in place of a result `Failed` where the task raised an error."""
        ...


@dataclasses.dataclass(frozen=True)
class InProcess:
    """Computes in this process: one shard at a time on each local JAX device."""

    def run(
        self, task: Callable[[int], T], shards: Iterable[int]
    ) -> Iterator[tuple[int, T | Failed]]:
        """Yield (shard, result) as they are ready; at most one shard in flight on each device."""
        devices = jax.local_devices()
        if len(devices) == 1:
            for shard in shards:
                yield shard, _tried(task, shard)
            return
        waiting = iter(shards)
        free = list(devices)
        running: dict[Future[T | Failed], tuple[int, Any]] = {}
        with ThreadPoolExecutor(len(devices)) as pool:
            while True:
                while free and (following := next(waiting, None)) is not None:
                    device = free.pop()
                    future = pool.submit(_on_device, task, following, device)
                    running[future] = (following, device)
                if not running:
                    return
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    shard, device = running.pop(future)
                    free.append(device)
                    yield shard, future.result()


def _tried(task: Callable[[int], T], shard: int) -> T | Failed:
    try:
        return task(shard)
    except Exception as error:
        return Failed(error)


def _on_device(task: Callable[[int], T], shard: int, device: Any) -> T | Failed:
    with jax.default_device(device):
        return _tried(task, shard)


@dataclasses.dataclass(frozen=True)
class Dask:
    """Computes on the workers of a dask cluster; a lost worker costs only its shards.

    The scheduler has only few shards for each thread of the workers at a time, however many there are in all. A
    shard that fails is tried again, but not for ever.

    Parameters
    ----------
    address
        Address of a scheduler, such as ``"tcp://host:8786"``; None starts workers on this machine.
    workers
        How many worker processes to start on this machine when there is no address.
    late
        Called with a sentence about a shard that takes much longer than the others, once for each.
    """

    address: str | None = None
    workers: int = 2
    late: Callable[[str], None] | None = None

    def __post_init__(self) -> None:
        if not is_whole(self.workers, 1):
            raise SweepError(
                f"workers = {shown(self.workers)}: must be a whole number of at least 1; the default is 2."
            )

    def run(
        self, task: Callable[[int], T], shards: Iterable[int]
    ) -> Iterator[tuple[int, T | Failed]]:
        """Yield (shard, result) as they are ready.

        Raises
        ------
        SweepError
            If dask is missing or the scheduler cannot be reached.
        """
        try:
            import distributed
        except ImportError as error:
            raise SweepError("the executor 'dask' needs dask; install jaxmodal[dask].") from error
        dask: Any = distributed
        with contextlib.ExitStack() as stack:
            try:
                target: Any = self.address
                if target is None:
                    target = stack.enter_context(local_cluster(dask, self.workers))
                client = stack.enter_context(dask.Client(target, set_as_default=False))
            except (OSError, ValueError) as error:
                raise SweepError(
                    f"executor: the dask scheduler at {self.address!r} cannot be reached ({error}); "
                    "start `dask scheduler` and `dask worker`, or leave the address out."
                ) from error
            packed = dask.protocol.pickle.dumps(task)
            threads = _Threads(client, self.late, _PATIENCE if self.address is None else math.inf)
            yield from _bounded(dask, client, packed, iter(shards), threads, _Stragglers(self.late))


def _bounded(
    dask: Any,
    client: Any,
    task: bytes,
    waiting: Iterator[int],
    threads: _Threads,
    stragglers: _Stragglers,
) -> Iterator[tuple[int, Any]]:
    """Yield (shard, result) as they are ready; at most `_IN_FLIGHT` shards for each thread are with the scheduler."""
    # what all shards share goes to each worker once, and to a new one where it is lost; as bytes, for whose sake no
    # worker waits until another one has imported the solver
    shared = client.submit(bytes, task, pure=False)
    finished = dask.as_completed(loop=client.loop)
    places: dict[str, tuple[int, int]] = {}
    ended: list[_Ended] = []
    turns = itertools.count()
    while True:
        threads.look()
        while (
            len(places) < _IN_FLIGHT * threads.number and (shard := next(waiting, None)) is not None
        ):
            try:
                future = client.submit(
                    *(on_worker, shard, shared, allowed()), pure=False, retries=_RETRIES
                )
            except dask.client.ClosedClientError as error:
                raise SweepError(_LOST) from error
            places[future.key] = next(turns), shard
            stragglers.begun(shard)
            finished.add(future)
            del future  # so that a result is forgotten once it has been yielded
        if not places:
            if not ended:
                return
            at_work, beside = _at_work(ended)
            yield from at_work
            waiting, ended = iter(beside), []
            continue
        pause = _SHORT
        while not finished.has_ready():
            threads.look()
            stragglers.tell()
            time.sleep(pause)
            pause = min(2.0 * pause, _LONG)
        future = next(finished)
        if future.status == "pending":  # its worker was lost before it could tell the result
            finished.add(future)
            continue
        turn, shard = places.pop(future.key)
        stragglers.ended(shard)
        try:
            result = future.result()
        except dask.KilledWorker as error:
            ended.append(_Ended(turn, shard, error.last_worker.address, error.allowed_failures + 1))
            continue
        except CancelledError as error:  # of all: the client waits for the scheduler, and gives up
            raise SweepError(_LOST) from error
        except Exception as error:
            result = Failed(error)
        del future
        yield shard, result


class _Threads:
    """How many threads the workers have; that there are none is told, and waited for no longer than ``patience``."""

    def __init__(self, client: Any, late: Callable[[str], None] | None, patience: float) -> None:
        self.client, self.late, self.patience = client, late, patience
        self.number, self._looked = 1, -math.inf
        self._none_since: float | None = None

    def look(self) -> None:
        """Count them, but not too often.

        Raises
        ------
        SweepError
            If there have been none for too long.
        """
        now = time.monotonic()
        if now - self._looked <= _LOOK:
            return
        with contextlib.suppress(OSError):  # the client may find the scheduler again
            found = sum(self.client.nthreads().values())
            self.number, self._looked = max(1, found), now
            if found or self._none_since is None:
                self._none_since = None if found else now
                return
            missed = now - self._none_since
            if missed > self.patience:
                raise SweepError(_ENDED)
            if missed > _LATE_SECONDS and self.late is not None:
                self.late("the scheduler of dask has no workers; shards wait until one comes")
                self.late = None


class _Ended(NamedTuple):
    """A shard whose workers ended, so many and this one last; it was the turn-th that was handed out."""

    turn: int
    shard: int
    worker: str
    times: int


def _at_work(ended: Iterable[_Ended]) -> tuple[list[tuple[int, Failed]], list[int]]:
    """Of shards whose workers ended, those that these were at, as failed, and those that only lay beside them.

    To dask all shards that a worker has are the same. It takes them in the order in which they were handed out.
    """
    first: dict[str, _Ended] = {}
    beside: list[int] = []
    for entry in sorted(ended):
        if first.setdefault(entry.worker, entry) is not entry:
            beside.append(entry.shard)
    failed = [(it.shard, Failed(attempts.GivenUpError(it.times))) for it in first.values()]
    return failed, beside


class _Stragglers:
    """Shards that take much longer than the others, told once each."""

    def __init__(self, late: Callable[[str], None] | None) -> None:
        self.late = late
        self._begun: dict[int, float] = {}
        self._taken: collections.deque[float] = collections.deque(maxlen=_REMEMBERED)

    def begun(self, shard: int) -> None:
        self._begun[shard] = time.monotonic()

    def ended(self, shard: int) -> None:
        begun = self._begun.pop(shard, None)
        if begun is not None:
            self._taken.append(time.monotonic() - begun)

    def tell(self) -> None:
        if self.late is None or len(self._taken) < _ENOUGH:
            return
        usual, now = statistics.median(self._taken), time.monotonic()
        for shard, begun in list(self._begun.items()):
            if now - begun > max(_LATE * usual, _LATE_SECONDS):
                del self._begun[shard]  # it is told once
                self.late(
                    f"shard {shard} has been with the workers for {now - begun:.0f} s, others took about {usual:.0f} s"
                )


def as_executor(executor: str | Executor | None) -> Executor:
    """Return the executor that a name stands for: ``"in-process"`` (default) or ``"dask"``.

    Raises
    ------
    SweepError
        If the name is unknown.
    """
    if executor is None or executor == "in-process":
        return InProcess()
    if executor == "dask":
        return Dask()
    if isinstance(executor, str):
        known = ("in-process", "dask")
        raise SweepError(
            f"executor = {executor!r}: must be 'in-process' or 'dask', or an executor such as "
            f"Dask('tcp://host:8786').{suggestion(executor, known)}"
        )
    return executor
