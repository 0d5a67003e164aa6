"""A sweep's results on disk: a Zarr v3 store that plain xarray opens, written shard by shard.

Every shard (see `sweeps.store.grid`) has one piece in each array, and one in ``progress/shard_record``, written after
the others: its record (see `sweeps.store.records`). A shard counts as computed only while its record can be read and
its pieces are those that it names. Every stored piece ends with a checksum, so
that a torn one raises an error in any reader instead of yielding values. Metadata and coordinates have
digests of their own, see `sweeps.store.labels`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import zarr
from numpy.typing import NDArray

from jaxmodal.arm.file_kinds import STORE, kind_at
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
#: where earlier versions had digests of the values
_EARLIER = f"{PROGRESS}/chunk_digest"
_WRONG = "is missing, cut or changed"


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

    def write(self, shard: int, block: Mapping[str, NDArray[Any]]) -> None:
        """Write the arrays of one shard, then its record; each is one piece, there whole or not at all.

        Raises
        ------
        StoreError
            If the disk is full or cannot be written; everything written before stays valid.
        ValueError
            If an array has another shape than the shard.
        """
        sizes = tuple(part.stop - part.start for part in self.grid.region(shard))
        cells = (*self._before, *sizes)
        pieces = [cut.packed(block[name], cells) for name, cut in self._cuts.items()]
        record = Record.of(pieces, block["status"])
        self.put(shard, [*pieces, record.packed()])

    def put(self, shard: int, pieces: Sequence[bytes]) -> None:
        """Write the pieces of a shard and its record, as `taken` has them."""
        with explained(self.location):
            write_pieces(self.location, zip(self._keys(shard), pieces, strict=True))

    def taken(self, shard: int, record: Record) -> list[bytes]:
        """The pieces of a computed shard, and its record, as they are stored.

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

    def values(self, shard: int) -> list[NDArray[Any]]:
        """The arrays of a computed shard."""
        return [np.asarray(array[self.grid.block(shard)]) for array in self.arrays.values()]

    def missing(self, shards: Sequence[int] | None = None) -> list[int]:
        """The shards, of these or of all, that have not been computed, or whose data are torn or changed."""
        return [
            shard
            for shard, record in self.records(shards)
            if not isinstance(record, Record) or self._wrong(shard, record)
        ]

    def marked(self, shard: int) -> bool:
        """Whether a shard has its record, without a look at the data."""
        (data,) = read_pieces(self.location, [_record_key(shard)])
        return isinstance(self._record(data), Record)

    def without_mark(self, shards: Sequence[int] | None = None) -> list[int]:
        """Those shards, of these or of all, that are not `marked`."""
        return [k for k, record in self.records(shards) if not isinstance(record, Record)]

    def records(
        self, shards: Sequence[int] | None = None
    ) -> Iterator[tuple[int, Record | Exception | None]]:
        """Each shard, of these or of all, with its record; None where it has none, an error where this is torn."""
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
        """The keys of pieces that are not those of the record: every byte is read."""
        found = read_pieces(self.location, self._keys(shard)[:-1])
        return self._changed(shard, record, found)

    def _changed(self, shard: int, record: Record, found: Iterable[bytes | None]) -> list[str]:
        together = zip(self._keys(shard), found, record.pieces, strict=False)
        return [key for key, data, piece in together if data is None or signed(data) != piece]

    def state(self, every_byte: bool = True) -> State:
        """How far the store is; whether the pieces are whole by every byte of them, or by their sizes alone."""
        missing, torn, modes = list[int](), dict[str, str](), Counter[int]()
        size_of = sizes_in(self.location, () if every_byte else self.arrays)
        for shard, record in self.records():
            wrong = [_record_key(shard)] if isinstance(record, Exception) else []
            torn |= dict.fromkeys(wrong, "is cut or changed")
            if isinstance(record, Record):
                keys = zip(self._keys(shard), record.pieces, strict=False)
                # another process may have written it since a server listed the sizes
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
        """How often each status stands in those of these shards that are computed."""
        found = Counter[int]()
        for _, record in self.records(shards):
            found.update(record.modes if isinstance(record, Record) else {})
        return found

    def unmarked(self) -> frozenset[str]:
        """The data of shards without a record, which a kill left there: nothing says that they are whole."""
        return frozenset(key for k in self.without_mark() for key in self._keys(k)[:-1])

    @property
    def _before(self) -> tuple[int, ...]:
        """Return the leading axis of theories in an array's shape; empty for a single theory."""
        return (self.grid.theories,) if self.grid.theories > 1 else ()

    def _keys(self, shard: int) -> list[str]:
        """The keys of the pieces of a shard: its arrays, then its record."""
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
        """Write the summary of certificates of a complete store, and remove what a kill left half written."""
        with explained(self.location):
            write_summary(self.location, certificate_summary(state.modes))
            root = folder_of(self.location)
            if root is not None:
                remove_leftovers(root)
            claims = claim_files(self.location)
            if claims is not None:
                claims.remove_all()

    def give_up(self, shard: int) -> None:
        """Record that a shard has ended as many processes as it may, where the store can hold claims."""
        claims = claim_files(self.location)
        if claims is not None:
            with explained(self.location):
                claims.make(name_of(shard, attempts.MOST))

    def given_up(self) -> frozenset[int]:
        """The shards of which this is recorded, computed since or not."""
        claims = claim_files(self.location)
        return frozenset() if claims is None else given_up(claims.names())

    def claimed(self, lease: float) -> Claimed:
        """The claims of this process, in a store that `require_claims` lets pass."""
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

    def packed(self, values: NDArray[Any], cells: tuple[int, ...]) -> bytes:
        """The piece of a shard of these cells, theories before them."""
        wanted = (*cells, *self.shape[len(cells) :])
        if values.shape != wanted:
            raise ValueError(
                f"values of shape {values.shape} are not one whole piece, of shape {wanted}."
            )
        return packed(np.asarray(values, self.dtype), self.chunk, self.shard, self.fill)


class State(NamedTuple):
    """How far a store is.

    Shards missing or damaged, shards in all, what is wrong by key, how many modes of the others have each status; and
    which of the missing ones have been given up.
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


def _record_key(shard: int) -> str:
    return f"{_RECORDS}/c.{shard}.0"


def _array(location: Location, group: zarr.Group, name: str) -> zarr.Array[Any]:
    array = group.get(name)
    if not isinstance(array, zarr.Array):
        raise damaged(location, {f"{name}/zarr.json": "is missing, cut or changed"})
    return array


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


def state_of(location: Location, every_byte: bool = True) -> State:
    """How far a store is, by every byte of its pieces or by their sizes alone; raises as `stored`."""
    return stored(location).state(every_byte)


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
