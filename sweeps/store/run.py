"""Run a sweep, in memory or into a store."""

from __future__ import annotations

import functools
import importlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from jaxmodal.arm.quantities import shown
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.precision import require_x64
from sweeps.definition.errors import StoreError, SweepError
from sweeps.definition.limits import MEMORY
from sweeps.definition.sweep import Sweep
from sweeps.solution.outputs import QUANTITIES
from sweeps.store.attempts import GivenUpError
from sweeps.store.dataset import UNFINISHED, MemoryResult, with_flag_types
from sweeps.store.executors import Dask, Executor, Failed, as_executor
from sweeps.store.grid import Grid, compute_shard, dataset_bytes, make_grid
from sweeps.store.local_workers import begin_workers
from sweeps.store.shares import Claimed, Claims, Part
from sweeps.store.solve import plans_to_send, take_plans

if TYPE_CHECKING:
    import xarray as xr

    from sweeps.store.pieces import Location
    from sweeps.store.zarr_store import SweepStore

T = TypeVar("T")
Progress = Callable[[int, int], None]
#: number of successive failed shards that ends a run, and number of failed shards listed
_FAILURES, _LISTED = 10, 5


def write_shard(sweep: Sweep, store: SweepStore, shard: int) -> None:
    """Solve a shard and write it to the store; runs in any process."""
    store.write(shard, compute_shard(sweep, store.grid, shard))


class _Made:
    """Result of a thread that is pickled as the finished result."""

    def __init__(self, future: Future[dict[Any, Any]]) -> None:
        self.future = future

    def __reduce__(self) -> tuple[type, tuple[dict[Any, Any]]]:
        return dict, (self.future.result(),)


def write_by_plans(plans: Any, sweep: Sweep, store: SweepStore, shard: int) -> None:
    """Solve a shard by plans sent with the task, and write it."""
    take_plans(sweep, plans)
    write_shard(sweep, store, shard)


def write_claimed(sweep: Sweep, store: SweepStore, claimed: Claimed, shard: int) -> None:
    """Solve a shard that this process has claimed, write it and release it."""
    try:
        write_shard(sweep, store, shard)
    finally:
        claimed.release(shard)


def _given_up(claimed: Claimed) -> Iterator[tuple[int, Failed]]:
    """Yield the shards that have ended too many processes; to be called after all others have been taken."""
    for shard in sorted(claimed.given_up):
        yield shard, Failed(GivenUpError())


def run(
    sweep: Sweep,
    store: Location | None = None,
    *,
    chunk_cells: int | None = None,
    shard_cells: int | None = None,
    share: Part | Claims | None = None,
    executor: str | Executor | None = None,
    progress: Progress | None = None,
) -> xr.Dataset:
    """Compute a sweep, or its missing part, and return the dataset.

    Parameters
    ----------
    sweep
        Definition of the sweep.
    store
        Place of the result: path of a folder, an address ``s3://bucket/name.zarr``, another URL that fsspec supports,
        or a Zarr store; None for memory. A store with part of the same sweep is completed; its data are checked against
        their digests and not computed again.
    chunk_cells
        Cells per chunk, the unit of solving and reading: by default 65,536; 8,192 with mode shapes; 64 with responses
        or buckling; for arms in space 16,384 in large sweeps of frequencies alone, else 256. An existing store keeps
        its chunks.
    shard_cells
        Cells per shard, the unit of computing, writing, claiming and resuming: a block of whole chunks. By default one
        chunk; in a store with more than 64 chunks, unless ``chunk_cells`` is given, about 30 seconds of work here, with
        at most 10,000 files. An existing store keeps its shards.
    share
        Missing shards that this process computes: all (default), those of a `Part`, or with `Claims` free ones. With
        `Claims` existing data are not checked against digests, and a shard that has ended four processes is given up
        until a run without claims.
    executor
        ``"in-process"`` (default: all local devices), ``"dask"`` (two workers on this machine), or an executor such as
        ``Dask("tcp://host:8786")``. The numbers do not depend on it.
    progress
        Called with (cells done, number of cells) at the start and after every shard; for a `Part`, its own cells.

    Returns
    -------
    xarray.Dataset
        Dataset with dimensions named after the axes, then mode: ``frequency`` in Hz with ``status`` and ``certified``,
        and other outputs. Arrays of a store are read when they are used.

    Raises
    ------
    SweepError
        If an argument is invalid.
    StoreError
        If the store cannot be used or written.
    X64DisabledError
        If JAX's 64-bit mode is off.

    Examples
    --------
    >>> from sweeps import Sweep, axis, run
    >>> sweep = Sweep("example:two_link_flexible", [axis("theta_2", [0, 90], unit="degree")], num_modes=2)
    >>> ds = run(sweep)
    >>> [f"{f:.4f}" for f in ds.frequency.sel(theta_2=90).values]
    ['0.2490', '0.6531']
    """
    require_x64()
    place = as_executor(executor)
    if share is not None and not isinstance(share, Part | Claims):
        raise SweepError(f"share = {shown(share)}: must be a Part or Claims, or left out.")
    if store is None:
        if share is not None:
            raise SweepError("share: processes share a store; give one.")
        return _in_memory(sweep, make_grid(sweep, chunk_cells, shard_cells), place, progress)
    stores = _store_module()
    if isinstance(place, Dask):
        if isinstance(share, Claims):
            raise SweepError(
                "share: the scheduler of dask gives out the shards; leave the claims out, or compute in this process."
            )
        stores.require_reachable(store)
        if place.address is None:
            begin_workers()  # their imports take longer than what is done here before they are needed
    if isinstance(share, Claims):
        from sweeps.store.claim_places import require_claims

        require_claims(store)
    opened = stores.open_store(store, sweep, chunk_cells, shard_cells)
    every = range(opened.grid.num_shards)
    if isinstance(share, Claims):
        missing = opened.without_mark()
        with opened.claimed(share.lease) as claimed:
            task = functools.partial(write_claimed, sweep, opened, claimed)
            results: Iterable[tuple[int, Failed | None]]
            results = place.run(task, claimed.free(missing))
            results = itertools.chain(results, _given_up(claimed))
            _store(results, opened, every, missing, progress)
    else:
        own = every if share is None else share.shards(len(every))
        missing = opened.missing(own)
        with ThreadPoolExecutor(1) as aside:
            task = functools.partial(write_shard, sweep, opened)
            if isinstance(place, Dask) and missing:  # computed once, while the workers start
                plans = _Made(aside.submit(plans_to_send, sweep))
                aside.submit(importlib.import_module, "xarray")  # for the dataset at the end
                task = functools.partial(write_by_plans, plans, sweep, opened)
            _store(place.run(task, missing), opened, own, missing, progress)
    state = opened.state(every_byte=False)
    if state.torn and not isinstance(share, Part):  # other parts are repaired by their own runs
        raise stores.damaged(store, state.torn, isinstance(share, Claims))
    if state.missing:
        return _dataset(store, opened.unmarked())
    opened.finish(state)
    return _dataset(store, frozenset())


def _in_memory(sweep: Sweep, grid: Grid, place: Executor, progress: Progress | None) -> xr.Dataset:
    if dataset_bytes(sweep) > MEMORY:
        raise SweepError(
            f"the result takes {dataset_bytes(sweep):,} bytes, more than the {MEMORY:,} that are kept in memory; "
            "give a store, of which only the shards in work are in memory."
        )
    result, shards = MemoryResult(sweep, grid), range(grid.num_shards)
    blocks = place.run(functools.partial(compute_shard, sweep, grid), shards)
    for shard, block in _counted(blocks, grid, shards, shards, progress):
        if isinstance(block, Failed):
            raise block.error
        result.write(shard, block)
    return result.dataset()


def _store(
    results: Iterable[tuple[int, Failed | None]],
    store: SweepStore,
    own: Sequence[int],
    missing: Sequence[int],
    progress: Progress | None,
) -> None:
    """Wait for all results; failed shards are reported at the end, but errors that concern all shards at once.

    Raises
    ------
    StoreError
        If the store cannot be written, or shards have failed.
    ArmError, SweepError
        If the sweep cannot be computed.
    """
    failed: dict[int, Exception] = {}
    in_a_row = 0
    for shard, result in _counted(results, store.grid, own, missing, progress):
        if not isinstance(result, Failed):
            in_a_row = 0
            continue
        if isinstance(result.error, StoreError | ArmError | SweepError):
            raise result.error
        if isinstance(result.error, GivenUpError):
            store.give_up(shard)
        failed[shard] = result.error
        in_a_row += 1
        if in_a_row == _FAILURES:
            break
    if failed:
        raise failures(store, failed)


def _counted(
    results: Iterable[tuple[int, T]],
    grid: Grid,
    own: Sequence[int],
    missing: Sequence[int],
    progress: Progress | None,
) -> Iterator[tuple[int, T]]:
    """Yield the results of shards, and report the number of cells done at the start and after each shard."""
    total = sum(map(grid.num_cells, own))
    done = total - sum(map(grid.num_cells, missing))
    tell = progress or (lambda done, total: None)
    tell(done, total)
    for shard, result in results:
        yield shard, result
        done += 0 if isinstance(result, Failed) else grid.num_cells(shard)
        tell(done, total)


def failures(store: SweepStore, failed: Mapping[int, Exception]) -> StoreError:
    """Return the error that lists shards that could not be computed."""
    lines = "".join(
        f"\n  shard {shard}, {_cells(store.grid.region(shard))}: {type(error).__name__}: {error}"
        for shard, error in list(failed.items())[:_LISTED]
    )
    more = f"\n  and {len(failed) - _LISTED} more" if len(failed) > _LISTED else ""
    ending = any(isinstance(error, GivenUpError) for error in failed.values())
    again = ", with claims only those that ended no processes; a run without claims tries all"
    return StoreError(
        f"{store.text}: {len(failed)} of {store.grid.num_shards} shards could not be computed:{lines}{more}\nAll "
        f"others that were computed are kept; the same command tries these again{again if ending else ''}."
    )


def _cells(region: Iterable[slice]) -> str:
    """Return the cells of a shard as text, by their indices along each axis."""
    ends = ((part.start, part.stop - 1) for part in region)
    return "cells " + " x ".join(f"{a}" if a == b else f"{a} to {b}" for a, b in ends)


def open_result(store: Location) -> xr.Dataset:
    """Open the dataset in a store, complete or not, without reading its arrays.

    It is the dataset of ``xarray.open_zarr(store, chunks=None)``, in the order of the outputs. Cells of a shard without
    a record, from an interrupted run, count as not computed and have no values.

    Raises
    ------
    StoreError
        If the location has no store of a sweep, or the store is damaged.
    """
    return _dataset(store, _store_module().stored(store).unmarked())


def _dataset(store: Location, hidden: frozenset[str]) -> xr.Dataset:
    """Return the dataset in a store without some of its pieces."""
    import xarray as xr

    from sweeps.store.pieces import hiding

    ds = with_flag_types(xr.open_zarr(hiding(store, hidden), chunks=None))
    if hidden:
        ds.attrs["certificate_summary"] = UNFINISHED
    ordered: xr.Dataset = ds[[name for name in QUANTITIES if name in ds]]
    return ordered


def _store_module() -> Any:
    try:
        from sweeps.store import zarr_store as store
    except ImportError as error:
        raise StoreError(
            "stores on disk need zarr; install jaxmodal[sweeps], or in Python let `sweeps.run` without store keep the "
            "result in memory."
        ) from error
    return store
