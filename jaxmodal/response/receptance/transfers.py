"""Stiffness and loads in space carried from a joint to the previous link, at many frequencies in one product.

Rotation and shift are linear in the entries of a stiffness, with the same coefficients at all frequencies. So they are
one product of matrices, which takes NumPy a fifth of the time of the same sums entry by entry. Where an entry is not
finite, at a resonance, 0 times that entry would spoil all others: these frequencies are summed entry by entry.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxmodal.arithmetic.dual import Dual
from jaxmodal.arithmetic.nothing import NOTHING
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.namespace import Array
from jaxmodal.spatial.stiffness.link_entries import LinkEntries
from jaxmodal.spatial.stiffness.symmetric import PLACES, Symmetric, places, shifted, turned

#: rows and columns of the entries, and where these differ
_ROWS, _COLUMNS = np.array(PLACES).T
_MIXED = (_ROWS != _COLUMNS).astype(float)


def to_previous(w: Symmetric, link: LinkEntries, omega: Array) -> Symmetric:
    """Return the stiffness at the outer end of the previous link's elastic part, from that at the joint of a link."""
    if isinstance(omega, Dual):
        return shifted(turned(w, link.rotation), link.offset).kept()
    motion, of_entries = _motions(tuple(link.rotation), tuple(link.offset))
    own, loads = len(PLACES), range(6, w.size)
    (entries,), finite = combined(of_entries, [w.entries[:own]], omega)
    moved = Symmetric([*entries, *w.entries[own:]])
    columns = [[w[i, load] for i in range(6)] for load in loads]
    forces, finite_forces = combined(motion, columns, omega)
    for load, force in zip(loads, forces, strict=True):
        for i, x in enumerate(force):
            moved[i, load] = x
    if not (finite and finite_forces):
        _sum_not_finite(moved, w, link, omega.shape)
    return moved


def combined(
    matrix: Floats, columns: Sequence[Sequence[Any]], omega: Array
) -> tuple[list[list[Any]], bool]:
    """Return the products of a matrix with columns of entries, each an array (F,), a number or `NOTHING`.

    The second value is False where an entry may not be finite.
    """
    every = [x for column in columns for x in column if x is not NOTHING]
    if not every:
        return [[NOTHING] * len(matrix) for _ in columns], True
    known = np.array([[x is not NOTHING for x in column] for column in columns]).T
    rows = known.any(axis=1)
    kind = np.result_type(*every)
    values = np.zeros((np.count_nonzero(rows), len(columns), omega.size), kind)
    for place, row in zip(np.flatnonzero(rows).tolist(), values, strict=True):
        for number, column in enumerate(columns):
            if column[place] is not NOTHING:
                row[number] = column[place]
    flat = values.reshape(len(values), -1).view(np.float64)
    product = (matrix[:, rows] @ flat).view(kind).reshape(-1, *values.shape[1:])
    there = (matrix != 0.0) @ known
    found = [
        [x if some else NOTHING for x, some in zip(product[:, k], there[:, k], strict=True)]
        for k in range(len(columns))
    ]
    # an entry that is not finite spoils every row of the product at its frequency, so that the first tells
    return found, bool(np.isfinite(product[0].sum()))


def _sum_not_finite(
    moved: Symmetric, w: Symmetric, link: LinkEntries, shape: tuple[int, ...]
) -> None:
    """Replace what is not finite in ``moved`` by sums of entries of ``w``, which leave out what is `NOTHING`."""

    def of_lanes(x: Any) -> Any:
        return x if x is NOTHING else np.broadcast_to(x, shape)[lanes]

    there = [x for x in w.entries if x is not NOTHING]
    lanes = ~np.all([np.broadcast_to(np.isfinite(x), shape) for x in there], axis=0)
    some = Symmetric([of_lanes(x) for x in w.entries])
    summed = shifted(turned(some, link.rotation), link.offset)
    for i, j in places(w.size):
        if i < 6 and moved[i, j] is not NOTHING:
            moved[i, j][lanes] = summed[i, j]


@functools.lru_cache(maxsize=64)  # a block of frequencies follows the other
def _motions(rotation: tuple[Any, ...], offset: tuple[Any, ...]) -> tuple[Floats, Floats]:
    """Return the matrices of `turned` and `shifted`: from forces at a joint to those at the previous link, and of W.

    The first, M, has shape (6, 6); the second, (21, 21), takes the entries of W to those of ``M W M^T``.
    """
    turn = _numbers(rotation).reshape(3, 3)
    x, y, z = _numbers(offset)
    motion = np.zeros((6, 6))
    motion[:3, :3] = motion[3:, 3:] = turn
    motion[3:, :3] = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]) @ turn
    i, j = _ROWS[:, None], _COLUMNS[:, None]
    straight = motion[i, _ROWS] * motion[j, _COLUMNS]
    return motion, straight + _MIXED * (motion[i, _COLUMNS] * motion[j, _ROWS])


def _numbers(entries: Sequence[Any]) -> Floats:
    return np.array([0.0 if x is NOTHING else x for x in entries])
