"""Records of shards, written after their data; they alone say that a shard is there.

A record is one small piece. It names the bytes of every other piece of the shard, so that these can be checked
without decoding them, and it says how often each status stands in them, so that nothing has to be read to tell.
"""

from __future__ import annotations

import hashlib
import struct
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from sweeps.store.packing import checked, unchecked

DESCRIPTION = (
    "of a computed shard: for each variable the SHA-256 of its stored piece (32 bytes) and the number of its bytes "
    "(8, little endian); then how often each status stands in the shard (8 bytes each, from status 0)"
)
_PIECE, _COUNT = struct.Struct("<32sQ"), struct.Struct("<Q")
#: statuses that a record has room for, so that a version with more of them reads the stores of one with fewer
_ROOM = 32


class Record(NamedTuple):
    """Digest and size of each piece of a shard, in the order of the outputs, and how often each status stands in it."""

    pieces: tuple[tuple[bytes, int], ...]
    statuses: tuple[int, ...]

    @classmethod
    def of(cls, pieces: Sequence[bytes], status: NDArray[Any]) -> Self:
        """The record of pieces that hold these statuses."""
        counts = np.bincount(status.ravel(), minlength=_ROOM)
        return cls(tuple(map(signed, pieces)), tuple(map(int, counts)))

    @classmethod
    def unpacked(cls, data: bytes, outputs: int) -> Self | None:
        """The record in these bytes; None where all are 0, for a shard that is not computed.

        Raises
        ------
        ValueError
            If they are cut or changed.
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
        """The bytes of the piece that holds it."""
        pieces = (_PIECE.pack(*piece) for piece in self.pieces)
        return checked(b"".join((*pieces, *map(_COUNT.pack, self.statuses))))

    @property
    def modes(self) -> Counter[int]:
        """How often each status stands in the shard."""
        return Counter({code: count for code, count in enumerate(self.statuses) if count})


def signed(piece: bytes) -> tuple[bytes, int]:
    """Digest and size of a piece."""
    return hashlib.sha256(piece).digest(), len(piece)


def record_bytes(outputs: int) -> int:
    """How many bytes a record has, without its checksum."""
    return outputs * _PIECE.size + _ROOM * _COUNT.size
