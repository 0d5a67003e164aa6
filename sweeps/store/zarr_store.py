"""Sweeps on disk: a Zarr v3 group that survives a kill at any moment and resumes.

Beside the data arrays lies the group ``progress`` with one entry for each chunk, written after the
chunk's data: the SHA-256 of each array's values in the chunk. A chunk counts as computed only while its
entry can be read and the data still have these digests. Every stored piece ends with a checksum, so
that a torn one raises an error in any reader instead of yielding values.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import zarr
from numpy.typing import NDArray

from sweeps.definition.descriptions import differences
from sweeps.definition.errors import StoreError
from sweeps.definition.sweep import Sweep
from sweeps.store.dataset import block_region, certificate_summary, provenance, status_counts
from sweeps.store.grid import Grid, make_grid
from sweeps.store.layout import (
    CHUNK_DIGEST,
    PROGRESS,
    Location,
    consolidate,
    create_layout,
    explained,
    is_consolidated,
    is_created,
    plain,
    text_of,
)

_VERSIONS = ("jaxmodal_version", "git_commit", "jax_version", "device")


class SweepStore:
    """A sweep's store on disk, opened for writing; made by `open_store`."""

    def __init__(
        self, location: Location, outputs: Sequence[str], theories: int, grid: Grid
    ) -> None:
        self.location, self.theories, self.grid = location, theories, grid
        with explained(location), zarr.config.set({"array.write_empty_chunks": True}):
            self.group = zarr.open_group(plain(location), mode="r+", use_consolidated=False)
            self.arrays = {name: _array(self.group, name) for name in outputs}
            self.marks = _array(self.group, f"{PROGRESS}/{CHUNK_DIGEST}")

    def write(self, chunk: int, block: Mapping[str, NDArray[Any]]) -> None:
        """Write the arrays of one chunk, then its mark.

        Raises
        ------
        StoreError
            If the disk is full or cannot be written; everything written before stays valid.
        """
        region = block_region(self.theories, self.grid, chunk)
        with explained(self.location):
            for name, array in self.arrays.items():
                array[region] = block[name]
            self.marks[chunk] = np.stack([_digest(block[name]) for name in self.arrays])

    def missing(self) -> list[int]:
        """Return the chunks that have not been computed, or whose data are torn or changed."""
        return [chunk for chunk in range(self.grid.num_chunks) if not self._is_complete(chunk)]

    def _is_complete(self, chunk: int) -> bool:
        region = block_region(self.theories, self.grid, chunk)
        try:
            marks = np.asarray(self.marks[chunk])
            if not marks.any():
                return False
            return all(
                np.array_equal(_digest(np.asarray(array[region])), mark)
                for array, mark in zip(self.arrays.values(), marks, strict=True)
            )
        except (ValueError, RuntimeError, OSError):  # what the codecs raise for torn bytes
            return False

    def finish(self) -> None:
        """Write the summary of certificates, and remove what a kill left half written."""
        counts: dict[int, int] = {}
        for chunk in range(self.grid.num_chunks):
            region = block_region(self.theories, self.grid, chunk)
            for code, number in status_counts(np.asarray(self.arrays["status"][region])).items():
                counts[code] = counts.get(code, 0) + number
        summary = certificate_summary(counts)
        with explained(self.location):
            if self.group.attrs["certificate_summary"] != summary:
                self.group.update_attributes({"certificate_summary": summary})
                consolidate(self.location)
            if isinstance(self.location, (str, Path)) and "://" not in str(self.location):
                for leftover in Path(self.location).rglob("*.partial"):
                    leftover.unlink(missing_ok=True)


def open_store(location: Location, sweep: Sweep, chunk_cells: int | None = None) -> SweepStore:
    """Create the store of a sweep, or open the one that is there in order to go on with it.

    Parameters
    ----------
    location
        Path of a folder, URL that fsspec knows, or a Zarr store.
    sweep
        The definition.
    chunk_cells
        Cells of one chunk, for a new store; a store that is there keeps its chunks.

    Raises
    ------
    StoreError
        If the location holds something else, or the store of another definition, or one that other
        versions or another kind of device have begun; or if it cannot be written.
    """
    with explained(location):
        attributes = _existing_attributes(location)
    if attributes is None or not is_created(location):
        grid = make_grid(sweep, chunk_cells)
        if attributes is not None:
            _check_same(location, attributes, sweep, None)
        with explained(location):
            create_layout(location, sweep, grid)
        return SweepStore(location, sweep.outputs, len(sweep.theories), grid)
    _check_same(location, attributes, sweep, chunk_cells)
    with explained(location):
        if not is_consolidated(location):
            consolidate(location)
    grid = Grid(sweep.shape, tuple(attributes["chunk_shape"]))
    return SweepStore(location, sweep.outputs, len(sweep.theories), grid)


def stored_definition(location: Location) -> dict[str, Any]:
    """Return attributes of a store: definition, fingerprint, chunk_shape, versions, summary.

    Raises
    ------
    StoreError
        If there is no store of a sweep.
    """
    with explained(location):
        attributes = _existing_attributes(location)
    if attributes is None:
        raise StoreError(f"{text_of(location)}: there is no store of a sweep; run the sweep first.")
    return attributes


def _existing_attributes(location: Location) -> dict[str, Any] | None:
    """Attributes of the sweep at a location; None where there is nothing at all."""
    try:
        group = zarr.open_group(plain(location), mode="r", use_consolidated=False)
    except (FileNotFoundError, zarr.errors.GroupNotFoundError):
        path = Path(str(location))
        if isinstance(location, (str, Path)) and path.is_dir():
            others = [e.name for e in path.iterdir() if e.suffix != ".partial"]
            if others:
                raise StoreError(
                    f"{path}: the folder holds something else ({sorted(others)[0]}); give a new folder."
                ) from None
        return None
    except NotADirectoryError:
        raise
    except (ValueError, KeyError) as error:
        raise StoreError(
            f"{text_of(location)}: zarr.json cannot be read ({error}); the store is damaged beyond "
            "resuming: delete it and run again."
        ) from error
    attributes = dict(group.attrs)
    if "fingerprint" not in attributes or "chunk_shape" not in attributes:
        raise StoreError(
            f"{text_of(location)}: holds a Zarr group that is no sweep; give a new folder."
        )
    return attributes


def _check_same(
    location: Location, attributes: Mapping[str, Any], sweep: Sweep, chunk_cells: int | None
) -> None:
    now = provenance()
    found = differences(json.loads(attributes["definition"]), sweep.description())
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


def _array(group: zarr.Group, name: str) -> zarr.Array[Any]:
    array = group.get(name)
    if not isinstance(array, zarr.Array):
        raise StoreError(
            f"store {group.store_path}: the array {name!r} is missing or damaged; delete the store and run "
            "again."
        )
    return array


def _digest(values: NDArray[Any]) -> NDArray[np.uint8]:
    little = np.ascontiguousarray(values, values.dtype.newbyteorder("<"))
    return np.frombuffer(hashlib.sha256(little.tobytes()).digest(), np.uint8)


def count_missing(location: Location) -> tuple[int, int]:
    """Return how many chunks of a store are missing or torn, and how many there are.

    Raises
    ------
    StoreError
        If there is no store of a sweep.
    """
    attributes = stored_definition(location)
    definition = json.loads(attributes["definition"])
    shape = tuple(next(iter(entry.values()))["size"] for entry in definition["axes"].values())
    grid = Grid(shape, tuple(attributes["chunk_shape"]))
    if not is_created(location):
        return grid.num_chunks, grid.num_chunks
    opened = SweepStore(location, definition["outputs"], len(definition["theories"]), grid)
    return len(opened.missing()), grid.num_chunks
