"""Encoding of pieces of arrays in the format of Zarr, without its threads and look-ups.

For a small piece these take a hundred times as long as the encoding itself. Zarr reads these pieces; tests check that
it writes the same bytes if a shard is one chunk.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import google_crc32c
import numpy as np
from numcodecs.zstd import Zstd

from jaxmodal.runtime.array_types import Numbers

#: level of zstd compression, as in the metadata of arrays
LEVEL = 3
_CHECKSUM_BYTES = 4
_ZSTD = Zstd(level=LEVEL)
#: entry in the index of a shard for a chunk outside the array
_NOTHING = 2**64 - 1

Shape = tuple[int, ...]


def packed(values: Numbers, chunk: Shape, shard: Shape | None = None, fill: Any = 0) -> bytes:
    """Return the bytes of one piece (a chunk, or a shard of several chunks); missing values are filled.

    A shard has its chunks in C order, followed by an index of their offsets and lengths.
    """
    if shard is None:
        return _chunk(values, chunk, fill)
    counts = tuple(whole // step for whole, step in zip(shard, chunk, strict=True))
    index, pieces, at = np.full((*counts, 2), _NOTHING, "<u8"), list[bytes](), 0
    for place, part in _parts(values.shape, chunk):
        pieces.append(_chunk(values[part], chunk, fill))
        index[place] = at, len(pieces[-1])
        at += len(pieces[-1])
    return b"".join((*pieces, checked(index.tobytes())))


def _parts(shape: Shape, chunk: Shape) -> Iterator[tuple[Shape, tuple[slice, ...]]]:
    """Yield the chunks that begin inside a shape: their indices and slices."""
    counts = [range(math.ceil(size / step)) for size, step in zip(shape, chunk, strict=True)]
    for place in itertools.product(*counts):
        yield place, tuple(slice(k * s, (k + 1) * s) for k, s in zip(place, chunk, strict=True))


def _chunk(values: Numbers, shape: Shape, fill: Any) -> bytes:
    if values.shape != shape:
        whole = np.full(shape, fill, values.dtype)
        whole[tuple(map(slice, values.shape))] = values
        values = whole
    little = np.ascontiguousarray(values, values.dtype.newbyteorder("<"))
    return checked(bytes(_ZSTD.encode(little.tobytes())))


def checked(data: bytes) -> bytes:
    """Return bytes with a CRC-32C checksum appended."""
    return data + int(google_crc32c.value(data)).to_bytes(_CHECKSUM_BYTES, "little")


def unchecked(data: bytes) -> bytes:
    """Return the bytes before the checksum.

    Raises
    ------
    ValueError
        If the checksum is wrong: the bytes are truncated or changed.
    """
    inside = data[:-_CHECKSUM_BYTES]
    if checked(inside) != data:
        raise ValueError("the checksum is not that of the bytes")
    return inside
