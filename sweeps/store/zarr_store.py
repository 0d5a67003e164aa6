"""Sweeps on disk: a Zarr v3 group that survives a kill at any moment and resumes.

Beside the data arrays lies the group ``progress`` with one entry for each chunk, written after the
chunk's data: the SHA-256 of each array's values in the chunk. A chunk counts as computed only while its
entry can be read and the data still have these digests. Every stored piece ends with a checksum, so
that a torn one raises an error in any reader instead of yielding values. Metadata and coordinates have
digests of their own, see `sweeps.store.labels`.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import zarr
from numpy.typing import NDArray

from sweeps.definition.descriptions import differences
from sweeps.definition.errors import StoreError
from sweeps.definition.sweep import Sweep
from sweeps.store.dataset import (
    certificate_summary,
    global_attributes,
    provenance,
    status_counts,
)
from sweeps.store.grid import Grid, make_grid
from sweeps.store.labels import (
    begin,
    damaged,
    examine,
    repair,
    write_summary,
)
from sweeps.store.layout import CHUNK_DIGEST, PROGRESS
from sweeps.store.pieces import Location, explained, hiding, in_memory, open_group, text_of

_VERSIONS = (
    *("jaxmodal_version", "git_commit", "solver_numbers"),
    *("jax_version", "numpy_version", "device"),
)
#: seconds after which a half-written file is no longer that of a process at work
_LEFTOVER = 3600.0
_MARKS = f"{PROGRESS}/{CHUNK_DIGEST}"
#: what the codecs raise for torn bytes
_TORN = (ValueError, RuntimeError, OSError)


class SweepStore:
    """A sweep's store on disk, its labels sound; made by `open_store`."""

    def __init__(
        self,
        location: Location,
        outputs: Sequence[str],
        grid: Grid,
        mode: str = "r+",
    ) -> None:
        self.location, self.grid = location, grid
        with explained(location), zarr.config.set({"array.write_empty_chunks": True}):
            group = open_group(location, mode)
            self.arrays = {name: _array(location, group, name) for name in outputs}
            self.marks = _array(location, group, _MARKS)

    def write(self, chunk: int, block: Mapping[str, NDArray[Any]]) -> None:
        """Write the arrays of one chunk, then its mark.

        Raises
        ------
        StoreError
            If the disk is full or cannot be written; everything written before stays valid.
        """
        region = self.grid.block(chunk)
        with explained(self.location):
            for name, array in self.arrays.items():
                array[region] = block[name]
            self.marks[chunk] = np.stack([_digest(block[name]) for name in self.arrays])

    def missing(self) -> list[int]:
        """Return the chunks that have not been computed, or whose data are torn or changed."""
        return [chunk for chunk in range(self.grid.num_chunks) if not self._is_complete(chunk)]

    def _is_complete(self, chunk: int) -> bool:
        marks = self._marks(chunk)
        return marks is not None and bool(marks.any()) and not any(self._wrong(chunk, marks))

    def _marks(self, chunk: int) -> NDArray[np.uint8] | None:
        """The digests of the data of a chunk, one for each array; None where they are torn."""
        try:
            return np.asarray(self.marks[chunk])
        except _TORN:
            return None

    def _wrong(self, chunk: int, marks: NDArray[np.uint8]) -> Iterator[str]:
        """The arrays whose data of a chunk cannot be read or have other digests (0: whatever they are)."""
        for (name, array), mark in zip(self.arrays.items(), marks, strict=True):
            try:
                values = np.asarray(array[self.grid.block(chunk)])
            except _TORN:
                yield name
                continue
            if mark.any() and not np.array_equal(_digest(values), mark):
                yield name

    def state(self) -> State:
        """Look at every piece of every chunk."""
        missing, torn = 0, dict[str, str]()
        for chunk in range(self.grid.num_chunks):
            marks = self._marks(chunk)
            if marks is None:
                torn[_piece(self.marks, (chunk, 0, 0))] = "is cut or changed"
                marks = np.zeros(self.marks.shape[1:], np.uint8)
            wrong = list(self._wrong(chunk, marks))
            for name in wrong:
                torn[self._piece_of(name, chunk)] = "is missing, cut or changed"
            missing += bool(wrong) or not marks.any()
        return State(missing, self.grid.num_chunks, torn)

    def unmarked(self) -> frozenset[str]:
        """The data of chunks without a mark, which a kill left there: nothing says that they are whole."""
        chunks = [k for k in range(self.grid.num_chunks) if not np.any(self._marks(k))]
        return frozenset(self._piece_of(name, k) for k in chunks for name in self.arrays)

    def _piece_of(self, name: str, chunk: int) -> str:
        """The key of an array's data of a chunk."""
        array, place = self.arrays[name], np.unravel_index(chunk, self.grid.counts)
        before = (0,) if self.grid.theories > 1 else ()
        behind = (0,) * (array.ndim - len(place) - len(before))
        return _piece(array, (*before, *map(int, place), *behind))

    def finish(self) -> None:
        """Write the summary of certificates, and remove what a kill left half written."""
        counts = Counter[int]()
        for chunk in range(self.grid.num_chunks):
            counts.update(status_counts(self.arrays["status"][self.grid.block(chunk)]))
        with explained(self.location):
            write_summary(self.location, certificate_summary(counts))
            if isinstance(self.location, (str, Path)) and "://" not in str(self.location):
                _remove_leftovers(Path(self.location))


class State(NamedTuple):
    """How far a store is: chunks missing or damaged, chunks in all, and what is wrong, by key."""

    missing: int
    chunks: int
    torn: dict[str, str]


def _piece(array: zarr.Array[Any], place: tuple[int, ...]) -> str:
    return f"{array.path}/{array.metadata.encode_chunk_key(place)}"


def _remove_leftovers(root: Path) -> None:
    """Remove half-written files, but not those that another process may be writing."""
    for leftover in root.rglob("*.partial"):
        try:
            if time.time() - leftover.stat().st_mtime > _LEFTOVER:
                leftover.unlink()
        except FileNotFoundError:
            continue


def open_store(location: Location, sweep: Sweep, chunk_cells: int | None = None) -> SweepStore:
    """Create the store of a sweep, or open the one that is there in order to go on with it.

    Labels that are missing or damaged are written anew from the definition. Nothing is ever removed, so several
    processes may start the same store at the same moment.

    Parameters
    ----------
    location
        Path of a folder, URL that fsspec knows, or a Zarr store.
    chunk_cells
        Cells of one chunk, for a new store; a store that is there keeps its chunks.

    Raises
    ------
    StoreError
        If the location holds something else, or the store of another definition, or one that other
        versions or another kind of device have begun; or if it cannot be written, or is damaged beyond repair.
    """
    with explained(location):
        found = examine(location)
        if found is None:
            grid = make_grid(sweep, chunk_cells)
            attributes = global_attributes(sweep) | {"chunk_shape": list(grid.chunk_shape)}
            begin(location, sweep, grid, attributes)
            found = examine(location)
    if found is None:
        raise StoreError(f"{text_of(location)}: was removed while it was begun; run again.")
    _check_same(location, found.attributes, sweep, chunk_cells)
    grid = Grid(sweep.shape, tuple(found.attributes["chunk_shape"]), len(sweep.theories))
    if found.damage:
        with explained(location):
            repair(location, sweep, grid, found)
    return SweepStore(location, sweep.outputs, grid)


def require_reachable(location: Location) -> None:
    """Refuse, for workers of dask, a store in the memory of this process: they would write into copies."""
    if in_memory(location):
        raise StoreError(
            f"{text_of(location)}: is in the memory of this process, where workers of dask cannot write; give the "
            "path of a folder that all can reach, or leave the store out."
        )


def stored_definition(location: Location) -> dict[str, Any]:
    """Return attributes of a store: definition, fingerprint, chunk_shape, versions.

    Raises
    ------
    StoreError
        If there is no store of a sweep, or its metadata or coordinates are damaged.
    """
    with explained(location):
        found = examine(location)
    if found is None:
        raise StoreError(f"{text_of(location)}: there is no store of a sweep; run the sweep first.")
    if found.damage:
        raise damaged(location, found.damage)
    return found.attributes


def _check_same(
    location: Location, attributes: Mapping[str, Any], sweep: Sweep, chunk_cells: int | None
) -> None:
    now = provenance()
    old, new = (
        {**definition, "order of axes": list(definition["axes"])}
        for definition in (json.loads(attributes["definition"]), sweep.description())
    )
    found = differences(old, new)
    remedy = "give a new folder, or the old definition"
    if not found:
        old_versions = {key: attributes.get(key) for key in _VERSIONS}
        found = differences(old_versions, {key: now.get(key) for key in _VERSIONS})
        remedy = "the bits could differ: give a new folder, or go on with what began it"
    if not found and chunk_cells is not None:
        wanted = list(make_grid(sweep, chunk_cells).chunk_shape)
        found = differences({"chunk_shape": attributes["chunk_shape"]}, {"chunk_shape": wanted})
        remedy = "a store keeps its chunks: leave chunk_cells out, or give a new folder"
    if found:
        lines = "".join(f"\n  {line}" for line in found)
        raise StoreError(
            f"{text_of(location)}: the store belongs to another sweep:{lines}\nNothing was changed; "
            f"{remedy}."
        )


def _array(location: Location, group: zarr.Group, name: str) -> zarr.Array[Any]:
    array = group.get(name)
    if not isinstance(array, zarr.Array):
        raise damaged(location, {f"{name}/zarr.json": "is missing, cut or changed"})
    return array


def _digest(values: NDArray[Any]) -> NDArray[np.uint8]:
    little = np.ascontiguousarray(values, values.dtype.newbyteorder("<"))
    return np.frombuffer(hashlib.sha256(little.tobytes()).digest(), np.uint8)


def stored(location: Location) -> SweepStore:
    """The store that is there, to read from.

    Raises
    ------
    StoreError
        If there is no store of a sweep, or its metadata or coordinates are damaged.
    """
    attributes = stored_definition(location)
    definition = json.loads(attributes["definition"])
    shape = tuple(next(iter(entry.values()))["size"] for entry in definition["axes"].values())
    grid = Grid(shape, tuple(attributes["chunk_shape"]), len(definition["theories"]))
    return SweepStore(location, definition["outputs"], grid, "r")


def state_of(location: Location) -> State:
    """Look at every piece of a store and say how far it is; raises as `stored`."""
    return stored(location).state()


def computed(location: Location) -> tuple[Location, bool]:
    """The store to read from, its chunks without a mark not computed, and whether there are any; raises as `stored`."""
    unmarked = stored(location).unmarked()
    return hiding(location, unmarked), bool(unmarked)


def require_whole(location: Location) -> None:
    """Refuse a store with a damaged piece; the message names it and the remedy. Chunks may be missing.

    Raises
    ------
    StoreError
        As `state_of`, and if data are torn or changed.
    """
    torn = state_of(location).torn
    if torn:
        raise damaged(location, torn)
