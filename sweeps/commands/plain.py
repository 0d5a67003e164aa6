"""JSON output of sweep commands: the content of their text, with all digits."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxmodal.runtime.statuses import Status
from sweeps.store.grid import dataset_bytes, num_files

if TYPE_CHECKING:
    import xarray as xr

    from sweeps.commands.report import Planned
    from sweeps.definition.sweep import Sweep
    from sweeps.store.zarr_store import State


def plan_values(sweep: Sweep, plan: Planned, workers: int) -> dict[str, Any]:
    """Return the plan of a sweep: cells, files, bytes and seconds; None for what a missing time would tell."""
    (grid, time, sized), whole = plan, dataset_bytes(sweep)
    return {
        "name": sweep.name,
        "arm": sweep.arm.name,
        "axes": [
            {
                "name": column.name,
                "address": column.address,
                "unit": column.unit,
                "values": entry.size,
                "lowest": float(np.min(column.values)),
                "highest": float(np.max(column.values)),
            }
            for entry in sweep.axes
            for column in entry.columns
        ],
        "theories": list(sweep.theories),
        "modes": sweep.num_modes,
        "outputs": list(sweep.outputs),
        "shape": list(sweep.shape),
        "cells": sweep.num_cells,
        "arms_to_solve": sweep.num_cells * len(sweep.solved_theories),
        "chunks": {"number": grid.num_chunks, "shape": list(grid.chunk_shape)},
        "shards": {"number": grid.num_shards, "shape": list(grid.shard_shape)} if sized else None,
        "files": num_files(sweep, grid) if sized else None,
        "bytes": whole,
        "bytes_in_memory": whole * grid.most_cells / sweep.num_cells if sized else None,
        "seconds": dataclasses.asdict(time) | {"total": time.total} if time else None,
        "workers": workers,
    }


def modes_by_status(modes: Mapping[int, int]) -> dict[str, int]:
    """Return the number of modes of each status, by name."""
    return {status.name: modes[int(status)] for status in Status if modes.get(int(status))}


def status_values(ds: xr.Dataset, store: str, state: State) -> dict[str, Any]:
    """Return the state of a store."""
    return {
        "store": store,
        "title": str(ds.attrs["title"]),
        "shards": state.shards,
        "shards_missing": state.missing,
        "given_up": list(state.given_up),
        "damaged": dict(state.torn),
        "fingerprint": str(ds.attrs["fingerprint"]),
        "modes": modes_by_status(state.modes),
        "modes_not_computed": int(ds.status.size - state.modes.total()),
    }


def summary_values(ds: xr.Dataset, whole: bool) -> dict[str, Any]:
    """Return a summary of a dataset; for a ``whole`` one in memory with the range of each mode and its coordinates."""
    found: dict[str, Any] = {
        "title": str(ds.attrs["title"]),
        "certificates": str(ds.attrs["certificate_summary"]),
    }
    if not whole:
        return found
    dims = [str(name) for name in ds.frequency.dims if name != "mode"]
    found["modes"] = []
    for mode in ds.mode.values.tolist():
        values = ds.frequency.sel(mode=mode).transpose(*dims)
        entry: dict[str, Any] = {"mode": mode}
        if np.any(np.isfinite(values.values)):
            for name, find in (("lowest", np.nanargmin), ("highest", np.nanargmax)):
                index = np.unravel_index(int(find(values.values)), values.shape)
                place = {dim: int(i) for dim, i in zip(dims, index, strict=True)}
                cell = values.isel(place)
                at = {
                    dim: cell[dim].item() if dim in cell.coords else i for dim, i in place.items()
                }
                entry[name] = {"frequency_hz": float(cell), "at": at}
        found["modes"].append(entry)
    return found
