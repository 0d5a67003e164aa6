"""Run a sweep, in memory or into a store."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from jaxmodal.runtime.precision import require_x64
from sweeps.definition.errors import StoreError, SweepError
from sweeps.definition.limits import MEMORY
from sweeps.definition.sweep import Sweep
from sweeps.solution.outputs import QUANTITIES
from sweeps.store.dataset import MemoryResult, dataset_bytes
from sweeps.store.executors import Dask, Executor, as_executor
from sweeps.store.grid import Grid, compute_chunk, make_grid

if TYPE_CHECKING:
    from sweeps.store.pieces import Location
    from sweeps.store.zarr_store import SweepStore

Progress = Callable[[int, int], None]


@dataclasses.dataclass(frozen=True)
class ComputeTask:
    """Solve a chunk and return its arrays."""

    sweep: Sweep
    grid: Grid

    def __call__(self, chunk: int) -> dict[str, NDArray[Any]]:
        return compute_chunk(self.sweep, self.grid, chunk)


class WriteTask(ComputeTask):
    """Solve a chunk and write it to the store, in whichever process this runs."""

    def __init__(self, sweep: Sweep, store: SweepStore) -> None:
        super().__init__(sweep, store.grid)
        object.__setattr__(self, "location", store.location)
        object.__setattr__(self, "_store", store)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_store"}

    def __call__(self, chunk: int) -> int:  # type: ignore[override]
        from sweeps.store.zarr_store import SweepStore

        if "_store" not in vars(self):  # pickled: in another process
            location, theories = vars(self)["location"], len(self.sweep.theories)
            store = SweepStore(location, self.sweep.outputs, theories, self.grid)
            object.__setattr__(self, "_store", store)
        vars(self)["_store"].write(chunk, super().__call__(chunk))
        return self.grid.num_cells(chunk)


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
        8,192. A store that is there keeps its own.
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
        advance = _Advance(progress, grid, chunks)
        for chunk, block in place.run(ComputeTask(sweep, grid), chunks):
            result.write(chunk, block)
            advance(chunk)
        return result.dataset()
    stores = _store_module()
    if isinstance(place, Dask):
        stores.require_reachable(store)
    opened = stores.open_store(store, sweep, chunk_cells)
    chunks = opened.missing()
    advance = _Advance(progress, opened.grid, chunks)
    for chunk, _ in place.run(WriteTask(sweep, opened), chunks):
        advance(chunk)
    opened.finish()
    return open_result(store)


class _Advance:
    """Counts cells and tells the caller."""

    def __init__(self, progress: Progress | None, grid: Grid, chunks: list[int]) -> None:
        self.progress, self.grid = progress, grid
        self.total = sum(grid.num_cells(chunk) for chunk in range(grid.num_chunks))
        self.done = self.total - sum(grid.num_cells(chunk) for chunk in chunks)
        self._tell()

    def __call__(self, chunk: int) -> None:
        self.done += self.grid.num_cells(chunk)
        self._tell()

    def _tell(self) -> None:
        if self.progress is not None:
            self.progress(self.done, self.total)


def open_result(store: Location) -> xr.Dataset:
    """Open the dataset in a store, complete or not, without reading its arrays.

    The same dataset as ``xarray.open_zarr(store, chunks=None)``, in the order of the definition.

    Raises
    ------
    StoreError
        If there is no store of a sweep.
    """
    _store_module().stored_definition(store)
    location = str(store) if isinstance(store, Path) else store
    ds = xr.open_zarr(location, chunks=None)
    for variable in ds.data_vars.values():
        if "flag_values" in variable.attrs:  # JSON has no uint8, which CF asks for
            variable.attrs["flag_values"] = np.array(variable.attrs["flag_values"], variable.dtype)
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
