"""Layout of the Zarr store of a sweep: metadata and coordinates, from its definition."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any

import zarr
from zarr.codecs import Crc32cCodec, ZstdCodec
from zarr.core.buffer import Buffer
from zarr.storage import MemoryStore

from sweeps.definition.sweep import Sweep
from sweeps.solution.outputs import QUANTITIES
from sweeps.store.dataset import UNFINISHED, auxiliary_names, coordinates, variable_attributes
from sweeps.store.grid import Grid
from sweeps.store.packing import LEVEL
from sweeps.store.records import DESCRIPTION, record_bytes

PROGRESS = "progress"
#: array of the records of written shards, see `sweeps.store.records`
RECORD = "shard_record"
#: key of the metadata of a group
METADATA = "zarr.json"
#: all pieces of an array are in one folder: further folders would cost more than the files
_KEYS: dict[str, Any] = {"name": "default", "configuration": {"separator": "."}}
#: values of a lost coordinate, by the kind of its numbers: never valid values
_LOST = {"f": math.nan, "i": -1}


def layout(sweep: Sweep, grid: Grid, attributes: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the metadata and coordinates of a store: all pieces, by key.

    The bytes depend only on the definition, the attributes and the version of Zarr.
    """
    pieces: dict[str, Buffer] = {}
    root = MemoryStore(pieces)
    about_all = {**attributes, "certificate_summary": UNFINISHED}
    group = zarr.create_group(root, attributes=about_all, zarr_format=3)
    codecs = [ZstdCodec(level=LEVEL), Crc32cCodec()]
    sharded = grid.shard_shape != grid.chunk_shape
    for name, (dims, values, about) in coordinates(sweep).items():
        text = values.dtype == object
        kind: dict[str, Any] = {} if text else {"fill_value": _LOST[values.dtype.kind]}
        array = group.create_array(
            name,
            shape=values.shape,
            dtype="string" if text else values.dtype,
            chunks=values.shape,
            dimension_names=dims,
            attributes=about,
            compressors=codecs,
            config={"write_empty_chunks": True},
            **kind,
        )
        array[...] = values if values.ndim else values.item()
    for name in sweep.outputs:
        quantity = QUANTITIES[name]
        auxiliary = " ".join(auxiliary_names(sweep, name))
        about = variable_attributes(sweep, name) | {"coordinates": auxiliary}
        group.create_array(
            name,
            shape=sweep.array_shape(name),
            chunks=sweep.array_shape(name, grid.chunk_shape),
            shards=sweep.array_shape(name, grid.shard_shape) if sharded else None,
            dtype=quantity.dtype,
            fill_value=quantity.fill,
            dimension_names=sweep.dims_of(name),
            attributes=about,
            compressors=codecs,
            chunk_key_encoding=_KEYS,
        )
    size = record_bytes(len(sweep.outputs))
    group.create_group(PROGRESS).create_array(
        RECORD,
        shape=(grid.num_shards, size),
        chunks=(1, size),
        dtype="uint8",
        fill_value=0,
        dimension_names=("shard", "byte"),
        attributes={"description": DESCRIPTION, "variables": list(sweep.outputs)},
        compressors=[Crc32cCodec()],
        chunk_key_encoding=_KEYS,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # not yet part of the Zarr 3 specification
        zarr.consolidate_metadata(root)  # xarray.open_zarr expects it
    return {key: bytes(buffer.to_bytes()) for key, buffer in pieces.items()}
