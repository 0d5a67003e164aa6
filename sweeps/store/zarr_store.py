"""The results of a sweep on disk: a Zarr v3 store that xarray can open, written shard by shard.

Every shard (see `sweeps.store.grid`) has one piece in each array, and its record in ``progress/shard_record``, written
after the others (see `sweeps.store.records`). A shard counts as computed only if its record can be read and its pieces
match it. Every stored piece ends with a checksum, so that a torn one raises an error in any reader instead of giving
values. Metadata and coordinates have their own digests, see `sweeps.store.labels`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import zarr

from jaxmodal.arm.file_kinds import STORE, kind_at
from jaxmodal.runtime.array_types import Numbers
from sweeps.definition.errors import StoreError
from sweeps.definition.sweep import Sweep
from sweeps.store import attempts
from sweeps.store.claim_files import given_up, name_of
from sweeps.store.claim_places import claim_files
from sweeps.store.dataset import certificate_summary, global_attributes
from sweeps.store.first_chunk import measured_grid
from sweeps.store.grid import Grid, make_grid
from sweeps.store.identity import check_cut, check_sweep, cut_of, grid_of
from sweeps.store.labels import (
    begin,
    damaged,
    examine,
    repair,
    write_summary,
)
from sweeps.store.layout import PROGRESS, RECORD
from sweeps.store.packing import packed
from sweeps.store.pieces import (
    Location,
    explained,
    folder_of,
    in_memory,
    open_group,
    read_listed,
    read_pieces,
    remove_leftovers,
    sizes_in,
    text_of,
    write_pieces,
)
from sweeps.store.records import Record, signed
from sweeps.store.shares import Claimed

_RECORDS = f"{PROGRESS}/{RECORD}"
#: array of digests in earlier versions
_EARLIER = f"{PROGRESS}/chunk_digest"
_WRONG = "is missing, cut or changed"


class SweepStore:
    """Store of a sweep with valid labels, from `open_store`."""

    def __init__(
        self,
        location: Location,
        outputs: Sequence[str],
        grid: Grid,
        mode: str = "r+",
    ) -> None:
        self.location, self.grid = location, grid
        self.text = text_of(location)
        with explained(location):
            group = open_group(location, mode)
            self.arrays = {name: _array(location, group, name) for name in outputs}
            if _EARLIER in group and _RECORDS not in group:
                raise StoreError(
                    f"{self.text}: an earlier version of jaxmodal wrote it and recorded its shards otherwise; read it "
                    "by xarray.open_zarr, or give a new folder and run again."
                )
            _array(location, group, _RECORDS)
        self._cuts = {name: _Cut.of(array) for name, array in self.arrays.items()}

    def write(self, shard: int, block: Mapping[str, Numbers]) -> None:
        """Write the arrays of one shard, then its record; each piece is written atomically.

        Raises
        ------
        StoreError
            If the disk is full or cannot be written; everything written before stays valid.
        ValueError
            If the shape of an array is not that of the shard.
        """
        sizes = tuple(part.stop - part.start for part in self.grid.region(shard))
        cells = (*self._before, *sizes)
        pieces = [cut.packed(block[name], cells) for name, cut in self._cuts.items()]
        record = Record.of(pieces, block["status"])
        self.put(shard, [*pieces, record.packed()])

    def put(self, shard: int, pieces: Sequence[bytes]) -> None:
        """Write the pieces of a shard and its record, in the form of `taken`."""
        with explained(self.location):
            write_pieces(self.location, zip(self._keys(shard), pieces, strict=True))

    def taken(self, shard: int, record: Record) -> list[bytes]:
        """Return the stored pieces of a computed shard, and its record.

        Raises
        ------
        StoreError
            If its data are torn or changed.
        """
        found = list(read_pieces(self.location, self._keys(shard)[:-1]))
        wrong = self._changed(shard, record, found)
        if wrong:
            raise damaged(self.location, dict.fromkeys(wrong, _WRONG))
        return [*(piece for piece in found if piece is not None), record.packed()]

    def values(self, shard: int) -> list[Numbers]:
        """Return the arrays of a computed shard."""
        return [np.asarray(array[self.grid.block(shard)]) for array in self.arrays.values()]

    def missing(self, shards: Sequence[int] | None = None) -> list[int]:
        """Return the shards, of these or of all, that are not computed, or whose data are torn or changed."""
        return [
            shard
            for shard, record in self.records(shards)
            if not isinstance(record, Record) or self._wrong(shard, record)
        ]

    def marked(self, shard: int) -> bool:
        """Return True if a shard has a record; the data are not checked."""
        (data,) = read_pieces(self.location, [_record_key(shard)])
        return isinstance(self._record(data), Record)

    def without_mark(self) -> list[int]:
        """Return the shards without a record."""
        return [k for k, record in self.records() if not isinstance(record, Record)]

    def records(
        self, shards: Sequence[int] | None = None
    ) -> Iterator[tuple[int, Record | Exception | None]]:
        """Yield each shard, of these or of all, with its record; None without a record, an error for a torn one."""
        every = range(self.grid.num_shards) if shards is None else shards
        found = read_listed(self.location, _RECORDS, map(_record_key, every))
        for shard, data in zip(every, found, strict=True):
            yield shard, self._record(data)

    def _record(self, data: bytes | None) -> Record | Exception | None:
        try:
            return None if data is None else Record.unpacked(data, len(self.arrays))
        except ValueError as error:
            return error

    def _wrong(self, shard: int, record: Record) -> list[str]:
        """Return the keys of pieces that do not match the record; every byte is read."""
        found = read_pieces(self.location, self._keys(shard)[:-1])
        return self._changed(shard, record, found)

    def _changed(self, shard: int, record: Record, found: Iterable[bytes | None]) -> list[str]:
        together = zip(self._keys(shard), found, record.pieces, strict=False)
        return [key for key, data, piece in together if data is None or signed(data) != piece]

    def state(self, every_byte: bool = True) -> State:
        """Return the state of the store; pieces are checked by all their bytes, or only by their sizes."""
        missing, torn, modes = list[int](), dict[str, str](), Counter[int]()
        size_of = sizes_in(self.location, () if every_byte else self.arrays)
        for shard, record in self.records():
            wrong = [_record_key(shard)] if isinstance(record, Exception) else []
            torn |= dict.fromkeys(wrong, "is cut or changed")
            if isinstance(record, Record):
                keys = zip(self._keys(shard), record.pieces, strict=False)
                # another process may have written it after the sizes were listed
                if every_byte or any(size_of(key) != size for key, (_, size) in keys):
                    wrong = self._wrong(shard, record)
                torn |= dict.fromkeys(wrong, _WRONG)
            if isinstance(record, Record) and not wrong:
                modes.update(record.modes)
            else:
                missing.append(shard)
        ended = self.given_up() if missing else frozenset()
        return State(
            len(missing), self.grid.num_shards, torn, modes, tuple(k for k in missing if k in ended)
        )

    def modes(self, shards: Sequence[int]) -> Counter[int]:
        """Return the number of modes of each status in the computed shards among these."""
        found = Counter[int]()
        for _, record in self.records(shards):
            found.update(record.modes if isinstance(record, Record) else {})
        return found

    def unmarked(self) -> frozenset[str]:
        """Return the keys of data of shards without a record, from interrupted runs; they may be incomplete."""
        return frozenset(key for k in self.without_mark() for key in self._keys(k)[:-1])

    @property
    def _before(self) -> tuple[int, ...]:
        """The leading axis of theories in the shape of arrays; empty for a single theory."""
        return (self.grid.theories,) if self.grid.theories > 1 else ()

    def _keys(self, shard: int) -> list[str]:
        """Return the keys of the pieces of a shard: its arrays, then its record."""
        place = ".".join(
            [
                "c",
                *("0" for _ in self._before),
                *map(str, np.unravel_index(shard, self.grid.counts)),
            ]
        )
        behind = len(self._before) + len(self.grid.counts)
        pieces = (f"{n}/{place}{'.0' * (len(cut.shape) - behind)}" for n, cut in self._cuts.items())
        return [*pieces, _record_key(shard)]

    def finish(self, state: State) -> None:
        """Write the summary of certificates of a complete store, and remove abandoned files and claims."""
        with explained(self.location):
            write_summary(self.location, certificate_summary(state.modes))
            root = folder_of(self.location)
            if root is not None:
                remove_leftovers(root)
            claims = claim_files(self.location)
            if claims is not None:
                claims.remove_all()

    def give_up(self, shard: int) -> None:
        """Record that a shard has ended too many processes, if the store can hold claims."""
        claims = claim_files(self.location)
        if claims is not None:
            claims.make(name_of(shard, attempts.MOST))

    def given_up(self) -> frozenset[int]:
        """Return the shards recorded as given up, even if they have been computed since."""
        claims = claim_files(self.location)
        return frozenset() if claims is None else given_up(claims.names())

    def claimed(self, lease: float) -> Claimed:
        """Return the claims of this process, in a store accepted by `require_claims`."""
        claims = claim_files(self.location)
        assert claims is not None
        return Claimed(claims, lease, self.marked)


class _Cut(NamedTuple):
    """Division of an array into pieces: shape, chunks, shards of several chunks, and empty value."""

    shape: tuple[int, ...]
    chunk: tuple[int, ...]
    shard: tuple[int, ...] | None
    fill: Any
    dtype: np.dtype[Any]

    @classmethod
    def of(cls, array: zarr.Array[Any]) -> Self:
        return cls(array.shape, array.chunks, array.shards, array.fill_value, array.dtype)

    def packed(self, values: Numbers, cells: tuple[int, ...]) -> bytes:
        """Return the piece of a shard with these cells, preceded by the axis of theories."""
        wanted = (*cells, *self.shape[len(cells) :])
        if values.shape != wanted:
            raise ValueError(
                f"values of shape {values.shape} are not one whole piece, of shape {wanted}."
            )
        return packed(np.asarray(values, self.dtype), self.chunk, self.shard, self.fill)


class State(NamedTuple):
    """State of a store.

    ``missing`` is the number of shards missing or damaged, ``shards`` the total number, ``torn`` the damage by key,
    ``modes`` the number of modes of each status in the other shards, ``given_up`` the missing shards that are given up.
    """

    missing: int
    shards: int
    torn: dict[str, str]
    modes: Counter[int]
    given_up: tuple[int, ...] = ()


def open_store(
    location: Location,
    sweep: Sweep,
    chunk_cells: int | None = None,
    shard_cells: int | None = None,
) -> SweepStore:
    """Create the store of a sweep, or open an existing one to continue it.

    Missing or damaged labels are rewritten from the definition. Nothing is removed, so several processes may open the
    same store at the same time.

    Parameters
    ----------
    location
        Path of a folder, an address ``s3://bucket/name.zarr``, another URL that fsspec supports, or a Zarr store.
    chunk_cells, shard_cells
        Cells per chunk and per shard of a new store; without both, the size of shards of a large sweep follows from the
        measured speed of the solver. An existing store keeps its chunks and shards.

    Raises
    ------
    StoreError
        If the location holds something else, or a store of another definition, of other versions or another kind of
        device; or if it cannot be written, or is damaged beyond repair.
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
    """Raise an error for a store in the memory of this process: dask workers would write into copies."""
    if in_memory(location):
        raise StoreError(
            f"{text_of(location)}: is in the memory of this process, where workers of dask cannot write; give the "
            "path of a folder that all can reach, or leave the store out."
        )


def stored_definition(location: Location) -> dict[str, Any]:
    """Return the attributes of a store: definition, fingerprint, chunk_shape, versions.

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


def _record_key(shard: int) -> str:
    return f"{_RECORDS}/c.{shard}.0"


def _array(location: Location, group: zarr.Group, name: str) -> zarr.Array[Any]:
    array = group.get(name)
    if not isinstance(array, zarr.Array):
        raise damaged(location, {f"{name}/zarr.json": "is missing, cut or changed"})
    return array


def stored(location: Location) -> SweepStore:
    """Return an existing store, for reading.

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


def state_of(location: Location, every_byte: bool = True) -> State:
    """Return the state of a store, by all bytes of its pieces or only by their sizes; errors as for `stored`."""
    return stored(location).state(every_byte)


def require_whole(location: Location) -> None:
    """Raise an error for a store with a damaged piece, with the remedy; shards may be missing.

    Raises
    ------
    StoreError
        If data are torn or changed; also as for `state_of`.
    """
    torn = state_of(location).torn
    if torn:
        raise damaged(location, torn)
