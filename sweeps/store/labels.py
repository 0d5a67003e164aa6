"""The labels of a store (metadata and coordinates): their digests, checks on opening, and repair.

``progress/zarr.json`` holds the SHA-256 of every label as it was written, and a copy of the root's attributes.
It and the root's ``zarr.json`` hold a digest of themselves.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sweeps.definition.errors import StoreError
from sweeps.definition.sweep import Sweep
from sweeps.store.grid import Grid
from sweeps.store.layout import METADATA, PROGRESS, layout
from sweeps.store.pieces import Location, place_of, read_piece, text_of, write_piece

LABELS = f"{PROGRESS}/{METADATA}"
_DIGEST = "metadata_digest"
_REPAIR = (
    "run the same sweep into this store again: it writes what is damaged anew, and leaves the rest"
)
_UNCLAIMED = (
    "; without claims (--claim), since a run with claims reads no data of shards that are complete"
)


@dataclasses.dataclass(frozen=True)
class Found:
    """The labels found in a store, and those that cannot be trusted.

    Attributes
    ----------
    attributes : dict
        Attributes of the root.
    digests : dict or None
        SHA-256 of each label as written; None if lost.
    damage : dict
        Description of the damage, by key.
    """

    attributes: dict[str, Any]
    digests: dict[str, str] | None
    damage: dict[str, str]


def examine(location: Location) -> Found | None:
    """Return the labels of a store, all checked; None for an empty location.

    Raises
    ------
    StoreError
        If the location holds something else, or too little is left to identify the sweep.
    """
    pieces = {key: read_piece(location, key) for key in (METADATA, LABELS)}
    if pieces[METADATA] is None and pieces[LABELS] is None:
        others = _contents(location)
        if METADATA in others:  # another process has begun the store meanwhile
            return examine(location)
        if others:
            raise StoreError(
                f"{location}: the folder holds something else ({others[0]}); give a new folder."
            )
        return None
    documents = {key: _opened(data) for key, data in pieces.items()}
    damage = {key: _verdict(pieces[key]) for key, found in documents.items() if found is None}
    if METADATA in damage and LABELS in damage:
        raise StoreError(_lost(location, pieces[METADATA]))
    labels = documents[LABELS]
    copy = None if labels is None else labels["attributes"]["root"]
    root = documents[METADATA]
    attributes: Any = copy if root is None else _own(root)
    if copy is not None and attributes != copy:
        labels, damage[LABELS] = None, "belongs to another store"
    digests = None if labels is None else labels["attributes"]["sha256"]
    for key, digest in (digests or {}).items():
        data = read_piece(location, key)
        if data is None or _sha256(data) != digest:
            damage[key] = _verdict(data)
    return Found(dict(attributes), digests, damage)


def damaged(location: Location, damage: Mapping[str, str], claimed: bool = False) -> StoreError:
    """Return the error that lists the damaged pieces of a store; a run with claims would not mend them."""
    lines = [f"\n  {place_of(location, key)} {what}" for key, what in list(damage.items())[:5]]
    more = f"\n  and {len(damage) - 5} more" if len(damage) > 5 else ""
    return StoreError(
        f"{text_of(location)}: is damaged or was not made to its end:{''.join(lines)}{more}\n{_REPAIR}"
        f"{_UNCLAIMED if claimed else ''}."
    )


def begin(location: Location, sweep: Sweep, grid: Grid, attributes: Mapping[str, Any]) -> None:
    """Write the root of a new store, unless another process has just begun one there."""
    root = _sealed_layout(sweep, grid, attributes)[METADATA]
    write_piece(location, METADATA, root, replace=False)


def repair(location: Location, sweep: Sweep, grid: Grid, found: Found) -> None:
    """Write the labels that are missing or damaged, and nothing else.

    Raises
    ------
    StoreError
        If a label would differ from the original.
    """
    pieces = _sealed_layout(sweep, grid, found.attributes)
    wanted = {key: data for key, data in pieces.items() if key not in (METADATA, LABELS)}
    for key, data in wanted.items():
        if found.digests is None:
            if read_piece(location, key) != data:
                write_piece(location, key, data)
        elif key in found.damage:
            if found.digests.get(key) != _sha256(data):
                raise StoreError(
                    f"{place_of(location, key)} {found.damage[key]}, and another version of zarr wrote it: go on "
                    "with the version that began the store, or give a new folder."
                )
            write_piece(location, key, data)
    for key in found.damage.keys() - pieces.keys():
        raise StoreError(
            f"{place_of(location, key)} {found.damage[key]}, and this sweep has no such piece: go on with the version "
            "that began the store, or give a new folder."
        )
    for key in (LABELS, METADATA):  # digests are written after the pieces that they describe
        if key in found.damage:
            write_piece(location, key, pieces[key])


def copy_labels(source: Location, target: Location) -> None:
    """Copy labels from another store of the same sweep to a store where they are missing or damaged."""
    found, there = examine(source), examine(target)
    if found is None or found.digests is None:
        raise damaged(source, {LABELS: "is missing, cut or changed"})
    for key in (METADATA, *found.digests, LABELS):
        if there is not None and key not in there.damage and (there.digests or key == METADATA):
            continue
        data = read_piece(source, key)
        if data is None:
            raise damaged(source, {key: "is missing"})
        write_piece(target, key, data)


def write_summary(location: Location, summary: str) -> None:
    """Write the summary of certificates into the root."""
    document = _opened(read_piece(location, METADATA))
    if document is None:
        raise damaged(location, {METADATA: "is missing, cut or changed"})
    if document["attributes"]["certificate_summary"] != summary:
        document["attributes"]["certificate_summary"] = summary
        write_piece(location, METADATA, _sealed(document))


def _sealed_layout(sweep: Sweep, grid: Grid, attributes: Mapping[str, Any]) -> dict[str, bytes]:
    pieces = layout(sweep, grid, attributes)
    digests = {k: _sha256(data) for k, data in pieces.items() if k not in (METADATA, LABELS)}
    labels = json.loads(pieces[LABELS])
    labels["attributes"] = {"sha256": digests, "root": dict(attributes)}
    return pieces | {LABELS: _sealed(labels), METADATA: _sealed(json.loads(pieces[METADATA]))}


def _own(root: Mapping[str, Any]) -> dict[str, Any]:
    """Return the root's attributes for their copy: without the digest and the summary, which changes."""
    attributes = root["attributes"]
    return {k: v for k, v in attributes.items() if k not in (_DIGEST, "certificate_summary")}


def _sealed(document: dict[str, Any]) -> bytes:
    """Return a document as bytes, with its digest among its attributes."""
    document["attributes"][_DIGEST] = _digest_of(document)
    return json.dumps(document, indent=2).encode()


def _opened(data: bytes | None) -> Any:
    """Return the document in a piece if its digest is right, otherwise None."""
    try:
        document = json.loads(data or b"")
        right = document["attributes"][_DIGEST] == _digest_of(document)
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return document if right else None


def _digest_of(document: Mapping[str, Any]) -> str:
    attributes = {k: v for k, v in document["attributes"].items() if k != _DIGEST}
    text = json.dumps({**document, "attributes": attributes}, sort_keys=True)
    return _sha256(text.encode())


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _verdict(data: bytes | None) -> str:
    return "is missing" if data is None else "is cut or changed"


def _lost(location: Location, root: bytes | None) -> str:
    """Return the reason why a store cannot be read: not a sweep, an earlier version, or both halves damaged."""
    try:
        attributes = json.loads(root or b"")["attributes"]
    except (ValueError, TypeError, KeyError, RecursionError):
        attributes = {"fingerprint": None}
    if "fingerprint" not in attributes:
        return f"{text_of(location)}: holds a Zarr group that is no sweep; give a new folder."
    both = " and ".join(place_of(location, key) for key in (METADATA, LABELS))
    return (
        f"{text_of(location)}: {both} are missing, cut or changed, or an earlier version of jaxmodal wrote them "
        "without digests; it is not known what computed the numbers: delete the store, or give a new folder, and "
        "run again."
    )


def _contents(location: Location) -> list[str]:
    """Return the names in a folder; empty for stores that are not folders."""
    path = Path(str(location))
    if isinstance(location, (str, Path)) and path.is_dir():
        return sorted(entry.name for entry in path.iterdir() if entry.suffix != ".partial")
    return []
