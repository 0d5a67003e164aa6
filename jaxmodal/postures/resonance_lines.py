"""Borders of resonance maps as lines: which borders of neighbouring rows are one, and rows between where none fits."""

from __future__ import annotations

import dataclasses
import math
from typing import NamedTuple

import jax
import numpy as np

from jaxmodal.postures.resonance_maps import on_rows, whole_turn
from jaxmodal.postures.resonance_results import ResonanceMap
from jaxmodal.spatial.arms.arm import AnyArm

#: neighbouring points of a line are no farther apart than this share of the joint's range
_STEP = 0.004
#: neighbouring rows are no closer than this share of theirs
_CLOSEST = 1e-9
#: rows solved at once, and in all: beyond, lines keep gaps
_BATCH, _MOST = 256, 5000


class Link(NamedTuple):
    """A piece of a border: from one row and angle (rad) to another; the same row where two borders end in each other.

    Angles may lie beyond the range of the joint, where a border goes on at its other end.
    """

    end: int
    rows: tuple[int, int]
    angles: tuple[float, float]


def links(found: ResonanceMap, apart: float) -> tuple[list[Link], np.ndarray]:
    """Join the borders of neighbouring rows that are nearest to each other, of the same end and mode.

    Parameters
    ----------
    apart : float
        Borders farther apart than this, rad, are not joined.

    Returns
    -------
    list of Link
    array of bool, shape (M - 1,)
        Whether every border between two rows is joined, ends at a limit of the joint, or at another one in its row.
    """
    border, end, mode = (np.asarray(x) for x in (found.border, found.end, found.border_mode))
    low, high = np.asarray(found.limits).tolist()
    turn = 2.0 * math.pi if whole_turn(found.joint, (low, high)) else math.inf
    made: list[Link] = []
    whole = np.ones(border.shape[0] - 1, bool)
    for row in range(border.shape[0] - 1):
        kinds = {
            (end[i, k], mode[i, k]) for i in (row, row + 1) for k in np.flatnonzero(end[i] >= 0)
        }
        for kind in sorted(kinds):
            here, there = (
                border[i][(end[i] == kind[0]) & (mode[i] == kind[1])] for i in (row, row + 1)
            )
            steps = there - here[:, None]
            steps = steps - turn * np.round(steps / turn) if turn < math.inf else steps
            pairs = _nearest(np.abs(steps), apart)
            for i, k in pairs:
                made.append(Link(kind[0], (row, row + 1), (here[i], here[i] + steps[i, k])))
            for which, (angles, own) in enumerate(((here, 0), (there, 1))):
                left = np.delete(angles, [pair[own] for pair in pairs])
                joined, alone = _ending(left, apart, turn)
                made += [Link(kind[0], (row + which, row + which), both) for both in joined]
                at_limit = (np.minimum(alone - low, high - alone) <= apart) & (turn == math.inf)
                whole[row] &= bool(at_limit.all())
    return made, whole


def _nearest(distance: np.ndarray, apart: float) -> list[tuple[int, int]]:
    """Pairs of rows and columns that are each other's nearest, no farther than ``apart``."""
    if not distance.size:
        return []
    column, row = distance.argmin(axis=1), distance.argmin(axis=0)
    pairs = [(i, int(k)) for i, k in enumerate(column) if row[k] == i and distance[i, k] <= apart]
    return pairs


def _ending(
    angles: np.ndarray, apart: float, turn: float
) -> tuple[list[tuple[float, float]], np.ndarray]:
    """Borders of one row without a neighbour: those next to each other end in each other; and those left alone."""
    joined: list[tuple[float, float]] = []
    alone: list[float] = []
    left = angles.tolist()
    while left:
        first = left.pop(0)
        if left and left[0] - first <= apart:
            joined.append((first, left.pop(0)))
        elif left and first + turn - left[-1] <= apart:
            joined.append((left.pop(), first + turn))
        else:
            alone.append(first)
    return joined, np.array(alone)


def refined(arm: AnyArm, found: ResonanceMap) -> ResonanceMap:
    """Return a map with further rows, where borders run along rows, turn back or end, so that its lines are smooth.

    Parameters
    ----------
    arm : Arm or SpatialArm
        That of the map.
    found : ResonanceMap
        Of two rows or more; a map of one row is returned as it is.

    Returns
    -------
    ResonanceMap
        All rows of ``found``, and between them as many as bring neighbouring borders within 1/250 of the range of the
        joint; each is solved for as the others are.
    """
    low, high = np.asarray(found.limits).tolist()
    apart = _STEP * (high - low)
    rows = np.asarray(found.across_angle)
    closest = _CLOSEST * abs(float(rows[-1] - rows[0]))
    band = tuple(np.asarray(found.band).tolist())
    while 1 < found.border.shape[0] < _MOST:
        rows = np.asarray(found.across_angle)
        between = ~links(found, apart)[1] & (np.diff(rows) > closest)
        middle = (0.5 * (rows[1:] + rows[:-1]))[between]
        if not middle.size:
            break
        parts = [
            on_rows(arm, band, found.joint, found.across, some, (low, high), found.theory)
            for some in np.split(middle, range(_BATCH, middle.size, _BATCH))
        ]
        found = _merged(found, parts)
    return found


def _merged(found: ResonanceMap, parts: list[ResonanceMap]) -> ResonanceMap:
    """One map of the rows of several, in order."""
    order = np.argsort(np.concatenate([np.asarray(x.across_angle) for x in (found, *parts)]))
    names = ("across_angle", "border", "end", "border_mode", "modes_inside")
    joined = {
        name: np.concatenate([np.asarray(getattr(x, name)) for x in (found, *parts)])[order]
        for name in names
    }
    return dataclasses.replace(found, **jax.device_put(joined))
