"""Run a sweep, in memory or into a store."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import xarray as xr

from jaxmodal.runtime.precision import require_x64
from sweeps.definition.errors import StoreError, SweepError
from sweeps.definition.limits import MEMORY
from sweeps.definition.sweep import Sweep
from sweeps.solution.outputs import QUANTITIES
from sweeps.store.dataset import UNFINISHED, MemoryResult, dataset_bytes, with_flag_types
from sweeps.store.executors import Dask, Executor, as_executor
from sweeps.store.grid import Grid, compute_chunk, make_grid

if TYPE_CHECKING:
    from sweeps.store.pieces import Location
    from sweeps.store.zarr_store import SweepStore

T = TypeVar("T")
Progress = Callable[[int, int], None]


def write_chunk(sweep: Sweep, store: SweepStore, chunk: int) -> None:
    """Solve a chunk and write it to the store, in whichever process this runs."""
    store.write(chunk, compute_chunk(sweep, store.grid, chunk))


def run(
    sweep: Sweep,
    store: Location | None = None,
    *,
    chunk_cells: int | None = None,
    executor: str | Executor | None = None,
    progress: Progress | None = None,
) -> xr.Dataset:
    """Compute a sweep, or what is missing of it.

    Parameters
    ----------
    sweep
        The definition.
    store
        Where to keep the result: the path of a folder, a URL that fsspec knows, or a Zarr store. None
        keeps it in memory. A store that holds part of the same sweep is completed; what it has is
        checked against its digests and not computed again.
    chunk_cells
        Cells of one chunk, the unit of computing, writing and resuming: by default 65,536, with mode shapes
        8,192, with responses or buckling 64, in space 256. A store that is there keeps its own.
    executor
        ``"in-process"`` (default: all local devices), ``"dask"`` (two workers on this machine), or an
        executor such as ``Dask("tcp://host:8786")``. The numbers are the same from each.
    progress
        Called with (cells done, cells in all) after every chunk, and once at the start.

    Returns
    -------
    xarray.Dataset
        Dimensions named after the axes, then mode; ``frequency`` in Hz with ``status`` and
        ``certified``. From a store, its arrays are read when they are used.

    Raises
    ------
    SweepError
        If an argument cannot be used.
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
    if store is None:
        grid = make_grid(sweep, chunk_cells)
        if dataset_bytes(sweep) > MEMORY:
            raise SweepError(
                f"the result takes {dataset_bytes(sweep):,} bytes, more than the {MEMORY:,} that are kept in memory; "
                "give a store, of which only the chunks in work are in memory."
            )
        result = MemoryResult(sweep, grid)
        chunks = list(range(grid.num_chunks))
        blocks = place.run(functools.partial(compute_chunk, sweep, grid), chunks)
        for chunk, block in _counted(blocks, grid, chunks, progress):
            result.write(chunk, block)
        return result.dataset()
    stores = _store_module()
    if isinstance(place, Dask):
        stores.require_reachable(store)
    opened = stores.open_store(store, sweep, chunk_cells)
    chunks = opened.missing()
    written = place.run(functools.partial(write_chunk, sweep, opened), chunks)
    for _ in _counted(written, opened.grid, chunks, progress):
        pass
    opened.finish()
    return open_result(store)


def _counted(
    results: Iterable[tuple[int, T]], grid: Grid, chunks: list[int], progress: Progress | None
) -> Iterator[tuple[int, T]]:
    """Pass on the results of chunks, and tell the caller how many cells are done: at the start, and after each."""
    total = math.prod(grid.shape)
    done = total - sum(map(grid.num_cells, chunks))
    tell = progress or (lambda done, total: None)
    tell(done, total)
    for chunk, result in results:
        yield chunk, result
        done += grid.num_cells(chunk)
        tell(done, total)


def open_result(store: Location) -> xr.Dataset:
    """Open the dataset in a store, complete or not, without reading its arrays.

    The dataset of ``xarray.open_zarr(store, chunks=None)``, in the order of the definition. Of a chunk without a
    digest, as a run leaves it that is killed between the two, no values are shown: its cells are not computed.

    Raises
    ------
    StoreError
        If there is no store of a sweep.
    """
    place, unfinished = _store_module().computed(store)
    ds = with_flag_types(xr.open_zarr(place, chunks=None))
    if unfinished:
        ds.attrs["certificate_summary"] = UNFINISHED
    ordered: xr.Dataset = ds[[name for name in QUANTITIES if name in ds]]
    return ordered


def _store_module() -> Any:
    try:
        from sweeps.store import zarr_store as store
    except ImportError as error:
        raise StoreError(
            "stores on disk need zarr; install jaxmodal[sweeps], or leave store out to keep the result "
            "in memory."
        ) from error
    return store
