"""Records of shards, written after their data; a shard counts as computed only with its record.

A record is one small piece. It has the digest of every other piece of the shard, so that these can be checked without
decoding, and the number of modes of each status, so that summaries need no data.
"""

from __future__ import annotations

import hashlib
import struct
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from jaxmodal.runtime.array_types import Numbers
from sweeps.store.packing import checked, unchecked

DESCRIPTION = (
    "of a computed shard: for each variable the SHA-256 of its stored piece (32 bytes) and the number of its bytes "
    "(8, little endian); then how often each status stands in the shard (8 bytes each, from status 0)"
)
_PIECE, _COUNT = struct.Struct("<32sQ"), struct.Struct("<Q")
#: number of status codes in a record: more than exist, so that later versions can read stores of earlier ones
_ROOM = 32


class Record(NamedTuple):
    """Digest and size of each piece of a shard, in the order of outputs, and the number of modes of each status."""

    pieces: tuple[tuple[bytes, int], ...]
    statuses: tuple[int, ...]

    @classmethod
    def of(cls, pieces: Sequence[bytes], status: Numbers) -> Self:
        """Return the record of pieces with these statuses."""
        counts = np.bincount(status.ravel(), minlength=_ROOM)
        return cls(tuple(map(signed, pieces)), tuple(map(int, counts)))

    @classmethod
    def unpacked(cls, data: bytes, outputs: int) -> Self | None:
        """Return the record in bytes; None if all are 0, for a shard that is not computed.

        Raises
        ------
        ValueError
            If the bytes are truncated or changed.
        """
        inside = unchecked(data)
        if len(inside) != record_bytes(outputs):
            raise ValueError(f"a record of {len(inside)} bytes")
        if not any(inside):
            return None
        middle = outputs * _PIECE.size
        counts = tuple(count for (count,) in _COUNT.iter_unpack(inside[middle:]))
        return cls(tuple(_PIECE.iter_unpack(inside[:middle])), counts)

    def packed(self) -> bytes:
        """Return the record as the bytes of its piece."""
        pieces = (_PIECE.pack(*piece) for piece in self.pieces)
        return checked(b"".join((*pieces, *map(_COUNT.pack, self.statuses))))

    @property
    def modes(self) -> Counter[int]:
        """Number of modes of each status in the shard."""
        return Counter({code: count for code, count in enumerate(self.statuses) if count})


def signed(piece: bytes) -> tuple[bytes, int]:
    """Return digest and size of a piece."""
    return hashlib.sha256(piece).digest(), len(piece)


def record_bytes(outputs: int) -> int:
    """Return the size of a record in bytes, without its checksum."""
    return outputs * _PIECE.size + _ROOM * _COUNT.size
