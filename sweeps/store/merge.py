"""Merging of stores with parts of a sweep that were computed separately."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sweeps.definition.errors import StoreError
from sweeps.store.identity import check_together
from sweeps.store.labels import copy_labels, examine
from sweeps.store.pieces import Location, explained, text_of
from sweeps.store.records import Record
from sweeps.store.zarr_store import SweepStore, stored, stored_definition


class Merged(NamedTuple):
    """Numbers of shards copied, still missing, and in total."""

    copied: int
    missing: int
    shards: int


def merge(target: Location, parts: Sequence[Location]) -> Merged:
    """Copy the shards of several stores of one sweep into a store, a new one or one of them.

    All stores are checked before anything is written. After an interruption the same merge may be repeated.

    Parameters
    ----------
    target
        Store to write to.
    parts
        Stores of the same sweep with the same shards.

    Raises
    ------
    StoreError
        If a store is damaged, of another sweep or with other shards, or if two stores have different values.
    """
    others = [stored(part) for part in parts]
    first = stored_definition(parts[0])
    with explained(target):
        there = examine(target)
    for part in parts[1:]:
        check_together(part, stored_definition(part), parts[0], first)
    if there is not None:
        check_together(target, there.attributes, parts[0], first)
    _check_marks(others if there is None or there.damage else [stored(target), *others])
    with explained(target):
        copy_labels(parts[0], target)
    into = SweepStore(target, list(others[0].arrays), others[0].grid)
    copied = 0
    for other in others:
        wanted = set(into.without_mark())
        for shard, record in other.records():
            if shard in wanted and isinstance(record, Record):
                into.put(shard, other.taken(shard, record))
                copied += 1
    state = into.state(every_byte=False)
    if not state.missing:
        into.finish(state)
    return Merged(copied, state.missing, state.shards)


def _check_marks(stores: Sequence[SweepStore]) -> None:
    """Raise an error if two stores have different values of the same shard."""
    for every in zip(*(store.records() for store in stores), strict=True):
        found = [
            (store, shard, record)
            for store, (shard, record) in zip(stores, every, strict=True)
            if isinstance(record, Record)
        ]
        for store, shard, record in found[1:]:
            first, _, wanted = found[0]
            if record != wanted and not _same_values(first, store, shard):
                raise StoreError(
                    f"{text_of(store.location)}: shard {shard} has other values than in {first.text}; nothing "
                    "was written. `jaxmodal sweep verify` tells which is right."
                )


def _same_values(one: SweepStore, other: SweepStore, shard: int) -> bool:
    """Return True if a shard has the same values in two stores; other versions of zstd may give other bytes."""
    pairs = zip(one.values(shard), other.values(shard), strict=True)
    return all(a.tobytes() == b.tobytes() for a, b in pairs)
