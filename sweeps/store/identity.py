"""Checks that a store belongs to a sweep, and its division into shards, from its attributes."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from sweeps.definition.descriptions import differences
from sweeps.definition.errors import StoreError
from sweeps.definition.sweep import Sweep
from sweeps.store.dataset import provenance
from sweeps.store.grid import Grid, make_grid
from sweeps.store.pieces import Location, text_of

_VERSIONS = (
    *("jaxmodal_version", "git_commit", "solver_numbers"),
    *("jax_version", "numpy_version", "device"),
)
#: attributes of the division into chunks and shards
_CUTS = ("chunk_shape", "shard_shape")


def check_sweep(location: Location, attributes: Mapping[str, Any], sweep: Sweep) -> None:
    """Raise an error for a store begun by another sweep, other versions or another kind of device."""
    now = {**provenance(), "definition": json.dumps(sweep.description())}
    _check(location, attributes, now, "now")


def check_together(
    location: Location, own: Mapping[str, Any], other: Location, wanted: Mapping[str, Any]
) -> None:
    """Raise an error for a store of another sweep than a second store, or with another division into shards."""
    where = f"in {text_of(other)}"
    _check(location, own, wanted, where)
    old, new = ({key: found.get(key) for key in _CUTS} for found in (own, wanted))
    _refuse(
        location,
        differences(old, new, where=where),
        "give the same shard_cells to all parts of a sweep",
    )


def _check(
    location: Location, attributes: Mapping[str, Any], wanted: Mapping[str, Any], where: str
) -> None:
    old, new = (
        {**definition, "order of axes": list(definition["axes"])}
        for definition in (json.loads(found["definition"]) for found in (attributes, wanted))
    )
    _refuse(
        location, differences(old, new, where=where), "give a new folder, or the old definition"
    )
    old, new = ({key: found.get(key) for key in _VERSIONS} for found in (attributes, wanted))
    remedy = "the bits could differ: give a new folder, or go on with what began it"
    _refuse(location, differences(old, new, where=where), remedy)


def check_cut(
    location: Location, grid: Grid, sweep: Sweep, chunk_cells: int | None, shard_cells: int | None
) -> None:
    """Raise an error if numbers of cells imply another division than that of the store."""
    wanted = {}
    if chunk_cells is not None:
        wanted["chunk_shape"] = list(make_grid(sweep, chunk_cells).chunk_shape)
    if shard_cells is not None:
        chunks = math.prod(grid.chunk_shape) if chunk_cells is None else chunk_cells
        wanted["shard_shape"] = list(
            make_grid(sweep, min(chunks, shard_cells), shard_cells).shard_shape
        )
    there = {"chunk_shape": list(grid.chunk_shape), "shard_shape": list(grid.shard_shape)}
    remedy = "a store keeps its chunks and shards: leave chunk_cells and shard_cells out, or give a new folder"
    _refuse(location, differences({key: there[key] for key in wanted}, wanted), remedy)


def _refuse(location: Location, found: Iterable[str], remedy: str) -> None:
    """Raise an error that lists the differences of a store; none if the list is empty."""
    lines = "".join(f"\n  {line}" for line in found)
    if lines:
        raise StoreError(
            f"{text_of(location)}: the store belongs to another sweep:{lines}\nNothing was changed; "
            f"{remedy}."
        )


def cut_of(grid: Grid) -> dict[str, list[int]]:
    """Return the grid as attributes of a store; the shape of shards only if they have several chunks."""
    cut = {"chunk_shape": list(grid.chunk_shape)}
    whole = grid.shard_shape == grid.chunk_shape
    return cut if whole else cut | {"shard_shape": list(grid.shard_shape)}


def grid_of(attributes: Mapping[str, Any], shape: tuple[int, ...], theories: int) -> Grid:
    """Return the grid of a store from its attributes."""
    chunk = tuple(attributes["chunk_shape"])
    return Grid(shape, chunk, theories, tuple(attributes.get("shard_shape", chunk)))
