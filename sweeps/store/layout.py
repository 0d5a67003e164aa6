"""What lies where in the Zarr store of a sweep, and how a store begins."""

from __future__ import annotations

import contextlib
import errno
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import zarr
from zarr.abc.store import Store
from zarr.codecs import Crc32cCodec, ZstdCodec

from sweeps.definition.errors import StoreError
from sweeps.definition.sweep import Sweep
from sweeps.solution.quantities import QUANTITIES
from sweeps.store.dataset import (
    auxiliary_names,
    coordinates,
    global_attributes,
    variable_attributes,
)
from sweeps.store.grid import Grid

Location = str | Path | Store

PROGRESS = "progress"
CHUNK_DIGEST = "chunk_digest"
DIGEST_BYTES = 32
UNFINISHED = "not finished; cells with the status not_computed hold no values"


def create_layout(location: Location, sweep: Sweep, grid: Grid) -> None:
    """Write all metadata and coordinates; the array of marks last, which completes the creation."""
    attributes = global_attributes(sweep, grid) | {
        "certificate_summary": UNFINISHED,
        "chunk_shape": list(grid.chunk_shape),
    }
    root = plain(location)
    group = zarr.create_group(root, attributes=attributes, zarr_format=3, overwrite=True)
    codecs = [ZstdCodec(level=3), Crc32cCodec()]
    for name, (dims, values, about) in coordinates(sweep).items():
        kind = {"dtype": "string"} if values.dtype == object else {"dtype": values.dtype}
        array = group.create_array(
            name,
            shape=values.shape,
            chunks=values.shape,
            dimension_names=dims,
            attributes=about,
            compressors=codecs,
            overwrite=True,
            config={"write_empty_chunks": True},
            **kind,
        )
        array[...] = values if values.ndim else values.item()
    theories = (len(sweep.theories),) if len(sweep.theories) > 1 else ()
    for name in sweep.outputs:
        quantity = QUANTITIES[name]
        about = _json_attributes(name) | {"coordinates": " ".join(auxiliary_names(sweep, name))}
        group.create_array(
            name,
            shape=(*theories, *sweep.shape, *sweep.cell_shape(name)),
            chunks=(*theories, *grid.chunk_shape, *sweep.cell_shape(name)),
            dtype=quantity.dtype,
            fill_value=quantity.fill,
            dimension_names=sweep.dims_of(name),
            attributes=about,
            compressors=codecs,
            overwrite=True,
        )
    size = (len(sweep.outputs), DIGEST_BYTES)
    group.require_group(PROGRESS).create_array(
        CHUNK_DIGEST,
        shape=(grid.num_chunks, *size),
        chunks=(1, *size),
        dtype="uint8",
        fill_value=0,
        dimension_names=("chunk", "variable", "byte"),
        attributes={"description": "SHA-256 of each variable's values in a computed chunk"},
        compressors=[Crc32cCodec()],
        overwrite=True,
    )
    consolidate(location)


def _json_attributes(name: str) -> dict[str, Any]:
    found = variable_attributes(name)
    return {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in found.items()}


def is_created(location: Location) -> bool:
    """Return whether the creation of a store has been completed."""
    with explained(location):
        group = zarr.open_group(plain(location), mode="r", use_consolidated=False)
        return f"{PROGRESS}/{CHUNK_DIGEST}" in group


def is_consolidated(location: Location) -> bool:
    """Return whether the root holds all metadata."""
    group = zarr.open_group(plain(location), mode="r")
    return group.metadata.consolidated_metadata is not None


def consolidate(location: Location) -> None:
    """Gather all metadata in the root, which plain ``xarray.open_zarr`` expects."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the specification of Zarr 3 does not know it yet
        zarr.consolidate_metadata(plain(location))


def plain(location: Location) -> str | Store:
    """Return a location as Zarr takes it."""
    return str(location) if isinstance(location, Path) else location


def text_of(location: Location) -> str:
    """Return how messages name a location."""
    return f"store {plain(location)}"


@contextlib.contextmanager
def explained(location: Location) -> Iterator[None]:
    """Turn an error of the file system into one that says what to do."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            remedy = "free space and run the same command again: chunks that are complete are kept"
        else:
            remedy = "give a folder that can be written; chunks that are complete are kept"
        raise StoreError(f"{text_of(location)}: cannot be written ({reason}); {remedy}.") from error
