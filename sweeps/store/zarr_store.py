"""Sweeps on disk: a Zarr v3 group that survives a kill at any moment and resumes.

Beside the data arrays lies the group ``progress`` with one entry for each shard, its mark, written after the
shard's data: the SHA-256 of each array's values in the shard. A shard counts as computed only while its
mark can be read and the data still have these digests. Every stored piece ends with a checksum, so
that a torn one raises an error in any reader instead of yielding values. Metadata and coordinates have
digests of their own, see `sweeps.store.labels`.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import zarr
from numpy.typing import NDArray

from jaxmodal.arm.file_kinds import STORE, kind_at
from sweeps.definition.errors import StoreError
from sweeps.definition.sweep import Sweep
from sweeps.store.claim_places import claim_files
from sweeps.store.dataset import certificate_summary, global_attributes, status_counts
from sweeps.store.grid import Grid, make_grid, measured_grid
from sweeps.store.identity import check_cut, check_sweep, cut_of, grid_of
from sweeps.store.labels import (
    begin,
    damaged,
    examine,
    repair,
    write_summary,
)
from sweeps.store.layout import CHUNK_DIGEST, PROGRESS
from sweeps.store.pieces import (
    Location,
    Piece,
    explained,
    folder_of,
    hiding,
    in_memory,
    is_there,
    open_group,
    read_parts,
    remove_leftovers,
    text_of,
    write_whole_pieces,
)
from sweeps.store.shares import Claimed

_MARKS = f"{PROGRESS}/{CHUNK_DIGEST}"
#: what the codecs raise for torn bytes
_TORN = (ValueError, RuntimeError, OSError)
#: marks, and cells of statuses, that are read at once
_MARKS_AT_ONCE, _CELLS_AT_ONCE = 1024, 2**20


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
        self.text = text_of(location)
        with explained(location), zarr.config.set({"array.write_empty_chunks": True}):
            group = open_group(location, mode)
            self.arrays = {name: _array(location, group, name) for name in outputs}
            self.marks = _array(location, group, _MARKS)

    def write(self, shard: int, block: Mapping[str, NDArray[Any]]) -> None:
        """Write the arrays of one shard, then its mark; each is one piece, there whole or not at all.

        Raises
        ------
        StoreError
            If the disk is full or cannot be written; everything written before stays valid.
        ValueError
            If an array has another shape than the shard.
        """
        place = self.grid.block(shard)
        with explained(self.location):
            pieces = [Piece(array, place, block[name]) for name, array in self.arrays.items()]
            marks = np.stack([_digest(block[name]) for name in self.arrays])
            mark = Piece(self.marks, (slice(shard, shard + 1), ...), marks[None])
            write_whole_pieces([*pieces, mark])

    def read(self, shard: int) -> dict[str, NDArray[Any]]:
        """The arrays of a computed shard.

        Raises
        ------
        StoreError
            If its data are torn or changed.
        """
        marks = self.digests(shard)
        wrong = [] if marks is None else list(self._wrong(shard, marks))
        if marks is None or wrong:
            torn = {self._piece_of(name, shard): "is missing, cut or changed" for name in wrong}
            raise damaged(
                self.location, torn or {_piece(self.marks, (shard, 0, 0)): "is cut or changed"}
            )
        return {
            name: np.asarray(array[self.grid.block(shard)]) for name, array in self.arrays.items()
        }

    def missing(self, shards: Sequence[int] | None = None) -> list[int]:
        """Return the shards, of these or of all, that have not been computed, or whose data are torn or changed."""
        every = range(self.grid.num_shards) if shards is None else shards
        return [
            shard
            for shard, marks in self._every_digest(every)
            if marks is None or not marks.any() or any(self._wrong(shard, marks))
        ]

    def marked(self, shard: int) -> bool:
        """Whether a shard has its mark, without a look at the data."""
        there = is_there(self.location, _piece(self.marks, (shard, 0, 0)))
        return there and bool(np.any(self.digests(shard)))

    def without_mark(self, shards: Sequence[int]) -> list[int]:
        """Those of these shards that are not `marked`."""
        return [shard for shard, marks in self._every_digest(shards) if not np.any(marks)]

    def digests(self, shard: int) -> NDArray[np.uint8] | None:
        """The digests of the data of a shard, one for each array; None where they are torn."""
        ((_, marks),) = self._every_digest([shard])
        return marks

    def _every_digest(
        self, shards: Sequence[int]
    ) -> Iterator[tuple[int, NDArray[np.uint8] | None]]:
        """Each of these shards with its `digests`: those of a range are read together where none is torn."""
        for some in _batches(shards, _MARKS_AT_ONCE):
            together = None
            if isinstance(some, range):
                (found,) = read_parts([(self.marks, (slice(some.start, some.stop, some.step),))])
                together = _whole(found)
            if together is None:
                parts = read_parts([(self.marks, (shard,)) for shard in some])
                yield from zip(some, map(_whole, parts), strict=True)
            else:
                yield from zip(some, together, strict=True)

    def _wrong(self, shard: int, marks: NDArray[np.uint8]) -> Iterator[str]:
        """The arrays whose data of a shard cannot be read or have other digests (0: whatever they are, if any)."""
        place = self.grid.block(shard)
        for (name, array), mark in zip(self.arrays.items(), marks, strict=True):
            if not mark.any() and not is_there(self.location, self._piece_of(name, shard)):
                continue  # Zarr would fill an array with what stands for nothing
            values = _whole(*read_parts([(array, place)]))
            if values is None or (mark.any() and not np.array_equal(_digest(values), mark)):
                yield name

    def state(self) -> State:
        """Look at every piece of every shard."""
        missing, torn, modes = 0, dict[str, str](), Counter[int]()
        for shard, marks in self._every_digest(range(self.grid.num_shards)):
            if marks is None:
                torn[_piece(self.marks, (shard, 0, 0))] = "is cut or changed"
                marks = np.zeros(self.marks.shape[1:], np.uint8)
            wrong = list(self._wrong(shard, marks))
            for name in wrong:
                torn[self._piece_of(name, shard)] = "is missing, cut or changed"
            there = marks.any() and not wrong
            missing += not there
            modes.update(self.modes([shard]) if there else {})
        return State(missing, self.grid.num_shards, torn, modes)

    def modes(self, shards: Sequence[int]) -> Counter[int]:
        """How often each status stands in the data of these shards.

        Raises
        ------
        StoreError
            If the data of one are torn.
        """
        found, array = Counter[int](), self.arrays["status"]
        for some in _batches(shards, max(1, _CELLS_AT_ONCE // self.grid.most_cells)):
            values = read_parts([(array, self.grid.block(shard)) for shard in some])
            for shard, status in zip(some, map(_whole, values), strict=True):
                if status is None:
                    torn = {self._piece_of("status", shard): "is missing, cut or changed"}
                    raise damaged(self.location, torn)
                found.update(status_counts(status))
        return found

    def unmarked(self) -> frozenset[str]:
        """The data of shards without a mark, which a kill left there: nothing says that they are whole."""
        shards = self.without_mark(range(self.grid.num_shards))
        return frozenset(self._piece_of(name, k) for k in shards for name in self.arrays)

    def _piece_of(self, name: str, shard: int) -> str:
        """The key of an array's data of a shard."""
        array, place = self.arrays[name], np.unravel_index(shard, self.grid.counts)
        before = (0,) if self.grid.theories > 1 else ()
        behind = (0,) * (array.ndim - len(place) - len(before))
        return _piece(array, (*before, *map(int, place), *behind))

    def finish(self) -> None:
        """Write the summary of certificates, and remove what a kill left half written."""
        counts = self.modes(range(self.grid.num_shards))
        with explained(self.location):
            write_summary(self.location, certificate_summary(counts))
            root = folder_of(self.location)
            if root is not None:
                remove_leftovers(root)
            claims = claim_files(self.location)
            if claims is not None:
                claims.remove_all()

    def claimed(self, lease: float) -> Claimed:
        """The claims of this process, in a store that `require_claims` lets pass."""
        claims = claim_files(self.location)
        assert claims is not None
        return Claimed(claims, lease, self.marked)


class State(NamedTuple):
    """How far a store is.

    Shards missing or damaged, shards in all, what is wrong by key, and how many modes of the others have each status.
    """

    missing: int
    shards: int
    torn: dict[str, str]
    modes: Counter[int]


def _piece(array: zarr.Array[Any], place: tuple[int, ...]) -> str:
    return f"{array.path}/{array.metadata.encode_chunk_key(place)}"


def open_store(
    location: Location,
    sweep: Sweep,
    chunk_cells: int | None = None,
    shard_cells: int | None = None,
) -> SweepStore:
    """Create the store of a sweep, or open the one that is there in order to go on with it.

    Labels that are missing or damaged are written anew from the definition. Nothing is ever removed, so several
    processes may start the same store at the same moment.

    Parameters
    ----------
    location
        Path of a folder, an address ``s3://bucket/name.zarr``, another URL that fsspec knows, or a Zarr store.
    chunk_cells, shard_cells
        Cells of one chunk and of one shard, for a new store; without either, shards of a large sweep are sized by how
        long the solver takes here for some cells. A store that is there keeps its chunks and shards.

    Raises
    ------
    StoreError
        If the location holds something else, or the store of another definition, or one that other
        versions or another kind of device have begun; or if it cannot be written, or is damaged beyond repair.
    """
    with explained(location):
        found = examine(location)
        if found is None:
            if chunk_cells is None and shard_cells is None:
                grid = measured_grid(sweep)
            else:
                grid = make_grid(sweep, chunk_cells, shard_cells)
            attributes = global_attributes(sweep) | cut_of(grid)
            begin(location, sweep, grid, attributes)
            found = examine(location)
    if found is None:
        raise StoreError(f"{text_of(location)}: was removed while it was begun; run again.")
    grid = grid_of(found.attributes, sweep.shape, len(sweep.theories))
    check_sweep(location, found.attributes, sweep)
    check_cut(location, grid, sweep, chunk_cells, shard_cells)
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
        other = kind_at(Path(location)) if isinstance(location, (str, Path)) else None
        if other is not None and other is not STORE:
            raise StoreError(f"{text_of(location)}: {other.instead_of(STORE.what)}")
        raise StoreError(f"{text_of(location)}: there is no store of a sweep; run the sweep first.")
    if found.damage:
        raise damaged(location, found.damage)
    return found.attributes


def _array(location: Location, group: zarr.Group, name: str) -> zarr.Array[Any]:
    array = group.get(name)
    if not isinstance(array, zarr.Array):
        raise damaged(location, {f"{name}/zarr.json": "is missing, cut or changed"})
    return array


def _whole(found: NDArray[Any] | Exception) -> NDArray[Any] | None:
    """What was read, None where it is torn; what was raised for another reason is raised."""
    if isinstance(found, _TORN):
        return None
    if isinstance(found, Exception):
        raise found
    return found


def _batches(shards: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    return (shards[start : start + size] for start in range(0, len(shards), size))


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
    grid = grid_of(attributes, shape, len(definition["theories"]))
    return SweepStore(location, definition["outputs"], grid, "r")


def state_of(location: Location) -> State:
    """Look at every piece of a store and say how far it is; raises as `stored`."""
    return stored(location).state()


def computed(location: Location) -> tuple[Location, bool]:
    """The store to read from, its shards without a mark not computed, and whether there are any; raises as `stored`."""
    unmarked = stored(location).unmarked()
    return hiding(location, unmarked), bool(unmarked)


def require_whole(location: Location) -> None:
    """Refuse a store with a damaged piece; the message names it and the remedy. Shards may be missing.

    Raises
    ------
    StoreError
        As `state_of`, and if data are torn or changed.
    """
    torn = state_of(location).torn
    if torn:
        raise damaged(location, torn)
