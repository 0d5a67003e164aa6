"""Symmetric 6 x 6 matrices by their entries, with loads as further directions; rotations and shifts."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from typing import Any

from jaxmodal.arithmetic.operations import keep

#: the entries of a symmetric 6 x 6 matrix, by rows, and of a 3 x 3 one
PLACES = [(i, j) for i in range(6) for j in range(i, 6)]
TRIANGLE = [(i, j) for i in range(3) for j in range(i, 3)]


@functools.cache
def places(size: int) -> list[tuple[int, int]]:
    """Return the entries of a symmetric matrix: those of the 6 x 6 part by rows, then those of the loads by columns."""
    return PLACES + [(i, j) for j in range(6, size) for i in range(j + 1)]


@functools.cache
def _at(size: int) -> dict[tuple[int, int], int]:
    return {place: k for k, place in enumerate(places(size))}


class Symmetric:
    """A symmetric 6 x 6 matrix, or a larger one with loads, by its entries in the order of `places`."""

    def __init__(self, entries: Sequence[Any]) -> None:
        self.entries = list(entries)
        self.size = (math.isqrt(8 * len(self.entries) + 1) - 1) // 2
        self._at = _at(self.size)

    def __getitem__(self, place: tuple[int, int]) -> Any:
        i, j = place
        return self.entries[self._at[(i, j) if i <= j else (j, i)]]

    def __setitem__(self, place: tuple[int, int], value: Any) -> None:
        i, j = place
        self.entries[self._at[(i, j) if i <= j else (j, i)]] = value

    def kept(self) -> Symmetric:
        """Return the matrix with entries marked to be computed once."""
        return Symmetric([keep(x) for x in self.entries])


def total(terms: Any) -> Any:
    """Return the sum that starts from its first term."""
    return functools.reduce(lambda a, b: a + b, terms)


def turned(w: Symmetric, rotation: Sequence[Any]) -> Symmetric:
    """Return ``B W B^T``, B = diag(R, R), block by block.

    This is a rotation into axes in which those of W are the columns of R.
    """
    r = [rotation[3 * i : 3 * i + 3] for i in range(3)]

    def block(row: int, column: int, symmetric: bool) -> dict[tuple[int, int], Any]:
        half = [
            [total(r[i][k] * w[row + k, column + j] for k in range(3)) for j in range(3)]
            for i in range(3)
        ]
        return {
            (row + i, column + j): total(half[i][k] * r[j][k] for k in range(3))
            for i in range(3)
            for j in range(i if symmetric else 0, 3)
        }

    found = block(0, 0, True) | block(0, 3, False) | block(3, 3, True)
    result = Symmetric([*(found[place] for place in PLACES), *w.entries[len(PLACES) :]])
    for load in range(6, w.size):
        for row, i in itertools.product((0, 3), range(3)):
            result[row + i, load] = total(r[i][k] * w[row + k, load] for k in range(3))
    return result.kept()


def shifted(w: Symmetric, offset: Sequence[Any]) -> Symmetric:
    """Return ``G^T W G``: shift to a point from which that of W is at ``offset``."""
    o = list(offset)
    found = Symmetric(w.entries)

    def crossed(v: Sequence[Any]) -> list[Any]:
        return [
            o[1] * v[2] - o[2] * v[1],
            o[2] * v[0] - o[0] * v[2],
            o[0] * v[1] - o[1] * v[0],
        ]

    mixed = []
    for i in range(3):
        row = crossed([w[i, k] for k in range(3)])
        mixed.append([w[i, 3 + j] + row[j] for j in range(3)])
        for j in range(3):
            found[i, 3 + j] = mixed[i][j]
    # [o] B' + B^T [o]^T
    left = [crossed([mixed[k][j] for k in range(3)]) for j in range(3)]
    right = [crossed([w[k, 3 + i] for k in range(3)]) for i in range(3)]
    for i, j in TRIANGLE:
        found[3 + i, 3 + j] = w[3 + i, 3 + j] + left[j][i] + right[i][j]
    for load in range(6, w.size):
        for i, x in enumerate(crossed([w[k, load] for k in range(3)])):
            found[3 + i, load] = w[3 + i, load] + x
    return found
