"""Executors that compute shards: in this process, on all its devices, or on a dask cluster."""

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
from sweeps.store.local_workers import begin_workers, local_cluster
from sweeps.store.on_workers import on_worker

T = TypeVar("T")
#: shards at the scheduler per thread of its workers, and number of retries of a failed shard
_IN_FLIGHT, _RETRIES = 2, 2
#: seconds between checks for results, at first and at most
_SHORT, _LONG = 0.001, 0.1
#: a shard is late if it takes this many times the median of others (at least _ENOUGH, the last _REMEMBERED), and more
#: than _LATE_SECONDS
_LATE, _ENOUGH, _REMEMBERED, _LATE_SECONDS = 4.0, 8, 64, 30.0
#: seconds between counts of the threads of workers
_LOOK = 2.0
#: seconds after which local workers are considered lost
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
    """In place of a result: the error that a task raised."""

    error: Exception


class Executor(Protocol):
    """Protocol of executors, which run a task for each of many shards; results come in any order."""

    def run(
        self, task: Callable[[int], T], shards: Iterable[int]
    ) -> Iterator[tuple[int, T | Failed]]:
        """Yield (shard, result) as they are ready; the result is a `Failed` if the task raised an error."""
        ...


@dataclasses.dataclass(frozen=True)
class InProcess:
    """Executor in this process: one shard at a time on each local JAX device."""

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
    """Executor on the workers of a dask cluster; only the shards of a lost worker are computed again.

    The scheduler has only a few shards per thread of the workers at a time. A failed shard is retried a few times.

    Parameters
    ----------
    address
        Address of a scheduler, such as ``"tcp://host:8786"``; None starts workers on this machine.
    workers
        Number of worker processes to start on this machine if there is no address.
    late
        Called with a text about a shard that takes much longer than the others, once per shard.
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
            If dask is missing, the scheduler cannot be reached, or workers do not start.
        """
        if self.address is None:
            begin_workers()
        try:
            import distributed
        except ImportError as error:
            raise SweepError("the executor 'dask' needs dask; install jaxmodal[dask].") from error
        dask: Any = distributed
        with contextlib.ExitStack() as stack:
            target: Any = self.address
            if target is None:
                target = stack.enter_context(local_cluster(dask, self.workers))
            try:
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
    """Yield (shard, result) as they are ready; the scheduler has at most `_IN_FLIGHT` shards per thread."""
    # the common data of all shards are sent to each worker once, and again if they are lost; as bytes, so that no
    # worker waits for the imports of another one
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
        if future.status == "pending":  # its worker was lost before the result was sent
            finished.add(future)
            continue
        turn, shard = places.pop(future.key)
        stragglers.ended(shard)
        try:
            result = future.result()
        except dask.KilledWorker as error:
            ended.append(_Ended(turn, shard, error.last_worker.address, error.allowed_failures + 1))
            continue
        except CancelledError as error:  # all are cancelled: the client has given up the scheduler
            raise SweepError(_LOST) from error
        except Exception as error:
            result = Failed(error)
        del future
        yield shard, result


class _Threads:
    """Number of threads of the workers; without any, a message, and after ``patience`` seconds an error."""

    def __init__(self, client: Any, late: Callable[[str], None] | None, patience: float) -> None:
        self.client, self.late, self.patience = client, late, patience
        self.number, self._looked = 1, -math.inf
        self._none_since: float | None = None

    def look(self) -> None:
        """Update the number of threads, at most once in `_LOOK` seconds.

        Raises
        ------
        SweepError
            If there have been no threads for too long.
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
    """A shard whose workers ended: order of submission, shard, last worker, and number of ended workers."""

    turn: int
    shard: int
    worker: str
    times: int


def _at_work(ended: Iterable[_Ended]) -> tuple[list[tuple[int, Failed]], list[int]]:
    """Return, of shards whose workers ended, those in computation as failed, and those that were only queued.

    Dask does not distinguish them; a worker computes its shards in the order of submission.
    """
    first: dict[str, _Ended] = {}
    beside: list[int] = []
    for entry in sorted(ended):
        if first.setdefault(entry.worker, entry) is not entry:
            beside.append(entry.shard)
    failed = [(it.shard, Failed(attempts.GivenUpError(it.times))) for it in first.values()]
    return failed, beside


class _Stragglers:
    """Tracker of shards that take much longer than the others, each reported once."""

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
                del self._begun[shard]  # reported once
                self.late(
                    f"shard {shard} has been with the workers for {now - begun:.0f} s, others took about {usual:.0f} s"
                )


def as_executor(executor: str | Executor | None) -> Executor:
    """Return an executor unchanged, or that of a name: ``"in-process"`` (default) or ``"dask"``.

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
