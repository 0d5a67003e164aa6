"""Where chunks are computed: in this process, on all its devices, or on a dask cluster."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import functools
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, Protocol, TypeVar

import jax

from jaxmodal.runtime.compilation import add_cpu_flags
from jaxmodal.runtime.default_cache import allowed, use_default_cache
from jaxmodal.runtime.errors import suggestion
from sweeps.definition.errors import SweepError

T = TypeVar("T")


class Executor(Protocol):
    """Computes a task for each of many chunks; results come in any order."""

    def run(self, task: Callable[[int], T], chunks: Sequence[int]) -> Iterator[tuple[int, T]]:
        """Yield (chunk, result) as they are ready."""
        ...


@dataclasses.dataclass(frozen=True)
class InProcess:
    """Computes in this process: one chunk at a time on each local JAX device."""

    def run(self, task: Callable[[int], T], chunks: Sequence[int]) -> Iterator[tuple[int, T]]:
        """Yield (chunk, result) as they are ready; at most one chunk in flight on each device."""
        devices = jax.local_devices()
        if len(devices) == 1:
            for chunk in chunks:
                yield chunk, task(chunk)
            return
        waiting = collections.deque(chunks)
        free = list(devices)
        running: dict[Future[T], tuple[int, Any]] = {}
        with ThreadPoolExecutor(len(devices)) as pool:
            while waiting or running:
                while waiting and free:
                    chunk, device = waiting.popleft(), free.pop()
                    running[pool.submit(_on_device, task, chunk, device)] = (chunk, device)
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    chunk, device = running.pop(future)
                    free.append(device)
                    yield chunk, future.result()


def _on_device(task: Callable[[int], T], chunk: int, device: Any) -> T:
    with jax.default_device(device):
        return task(chunk)


@dataclasses.dataclass(frozen=True)
class Dask:
    """Computes on the workers of a dask cluster; a lost worker costs only its chunks.

    Parameters
    ----------
    address
        Address of a scheduler, such as ``"tcp://host:8786"``; None starts workers on this machine.
    workers
        How many worker processes to start on this machine when there is no address.
    """

    address: str | None = None
    workers: int = 2

    def run(self, task: Callable[[int], T], chunks: Sequence[int]) -> Iterator[tuple[int, T]]:
        """Yield (chunk, result) as they are ready.

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
                    cluster = dask.LocalCluster(
                        n_workers=self.workers, threads_per_worker=1, dashboard_address=None
                    )
                    target = stack.enter_context(cluster)
                client = stack.enter_context(dask.Client(target, set_as_default=False))
            except (OSError, ValueError) as error:
                raise SweepError(
                    f"executor: the dask scheduler at {self.address!r} cannot be reached ({error}); "
                    "start `dask scheduler` and `dask worker`, or leave the address out."
                ) from error
            futures = client.map(
                _on_worker,
                list(chunks),
                task=task,
                cached=allowed(),
                pure=False,
            )
            places = {future.key: chunk for future, chunk in zip(futures, chunks, strict=True)}
            finished = dask.as_completed(futures, loop=client.loop, with_results=True)
            del futures  # so that a result is forgotten once it has been yielded
            for future, result in finished:
                yield places[future.key], result


def _on_worker(chunk: int, task: Callable[[int], T], cached: bool) -> T:
    jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]
    add_cpu_flags()
    if cached:
        _cache_once()
    return task(chunk)


@functools.cache
def _cache_once() -> None:
    use_default_cache()


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
