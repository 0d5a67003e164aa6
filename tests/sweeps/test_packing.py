"""The bytes of pieces: Zarr reads what is packed, and packs the same where a shard is one chunk."""

import itertools

import numpy as np
import pytest
import zarr
from zarr.codecs import Crc32cCodec, ZstdCodec
from zarr.core.buffer import default_buffer_prototype
from zarr.storage import MemoryStore

from jaxmodal.runtime.statuses import Status
from sweeps.store.packing import LEVEL, checked, packed, unchecked
from sweeps.store.records import Record, record_bytes

KINDS = [("f8", np.nan), ("i4", -1), ("u1", 127), ("bool", False)]
#: shape, chunk, shard; all of them stand out at the edges
CUTS = [((2, 7, 3, 2), (2, 2, 3, 2), None), ((2, 7, 5, 2), (2, 1, 2, 2), (2, 2, 4, 2))]


@pytest.mark.parametrize(("kind", "fill"), KINDS)
@pytest.mark.parametrize(("shape", "chunk", "shard"), CUTS)
def test_zarr_reads_what_is_packed(kind, fill, shape, chunk, shard):
    pieces = {}
    with zarr.config.set({"array.write_empty_chunks": True}):
        array = zarr.create_array(
            MemoryStore(pieces),
            shape=shape,
            chunks=chunk,
            shards=shard,
            dtype=kind,
            fill_value=fill,
            compressors=[ZstdCodec(level=LEVEL), Crc32cCodec()],
        )
        values = (np.random.default_rng(3).random(shape) * 5).astype(kind)
        array[...] = values
    own = {"zarr.json": pieces["zarr.json"]}
    step = shard or chunk
    for place in itertools.product(*(range(-(-n // s)) for n, s in zip(shape, step, strict=True))):
        part = values[tuple(slice(k * s, (k + 1) * s) for k, s in zip(place, step, strict=True))]
        data = packed(part, chunk, shard, fill)
        key = "c/" + "/".join(map(str, place))
        if shard is None:
            assert data == pieces[key].to_bytes()
        own[key] = default_buffer_prototype().buffer.from_bytes(data)
    assert own.keys() == pieces.keys()
    read = zarr.open_array(MemoryStore(own), mode="r")
    np.testing.assert_array_equal(read[...], values)
    np.testing.assert_array_equal(read[:, 6, 2], values[:, 6, 2])  # a chunk at the edge alone


def test_a_record_is_read_as_it_was_written_and_refused_when_cut_or_changed():
    status = np.array([[0, 0, 3], [1, 0, 3]], np.uint8)
    record = Record.of([b"one", b"another"], status)
    data = record.packed()
    assert len(unchecked(data)) == record_bytes(2)
    assert Record.unpacked(data, 2) == record
    # digests and sizes, and room for 32 statuses, however many there are
    assert (record_bytes(2), len(Status) <= 32) == (2 * 40 + 32 * 8, True)
    assert [size for _, size in record.pieces] == [3, 7]
    assert record.modes == {int(Status.certified): 3, 1: 1, int(Status.invalid_input): 2}
    assert Record.unpacked(checked(bytes(record_bytes(2))), 2) is None
    for wrong in (b"", data[:-1], data[1:], bytes([data[0] ^ 1]) + data[1:]):
        with pytest.raises(ValueError, match="checksum"):
            Record.unpacked(wrong, 2)
    with pytest.raises(ValueError, match="bytes"):
        Record.unpacked(data, 3)
