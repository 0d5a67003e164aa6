"""Continuation of undamped roots to damped ones as the damping grows from zero, for many arms at once."""

from __future__ import annotations

import numpy as np

from jaxmodal.response.receptance.characteristic import Characteristic
from jaxmodal.runtime.array_types import Complexes, Floats, Integers

#: largest imaginary part of the damping on its path from 0 to 1, which avoids critical damping
_DETOUR = 0.3
#: relative change at which the correction of roots stops along the path; at its end they are corrected to rounding
_ON_THE_WAY = 1e-8
#: a step is accepted if the last correction is below the first value, relative, and the root has moved from its guess
#: by less than the second value times the distance to the nearest other root
_SURE, _ROOM = 1e-7, 0.25
#: first step, and smallest step, below which a root counts as lost, as shares of the path
_FIRST_STEP, _LEAST_STEP = 0.05, 1e-10
#: largest number of corrections of a root, and relative offset of the second start value of the secant method
_CORRECTIONS, _BESIDE = 40, 1e-6


def followed(determinant: Characteristic, start: Floats) -> Complexes:
    """Return the roots at full damping that continue those of the undamped arms.

    Parameters
    ----------
    determinant
        Characteristic determinant of C arms.
    start : array, shape (C, K)
        Undamped roots of each arm, not 0, rad/s.

    Returns
    -------
    array, shape (2, C, K)
        Roots by a path through complex values of the damping, and by its mirror image. Critical damping is a branch
        point between the paths, so that they lead to the two roots of an overdamped mode. NaN for arms whose roots were
        lost.
    """
    count, modes = start.shape
    cell, side = np.tile(np.arange(count), 2), np.repeat([1.0, -1.0], count)
    roots = np.tile(start.astype(complex), (2, 1))
    before, place, earlier = roots.copy(), np.zeros(2 * count), np.full(2 * count, -1.0)
    step = np.full(2 * count, _FIRST_STEP)
    while True:
        lanes = np.flatnonzero(place < 1.0)
        if lanes.size == 0:
            return roots.reshape(2, count, modes)
        own, last = roots[lanes], before[lanes]
        move = np.minimum(step[lanes], 1.0 - place[lanes])
        there = place[lanes] + move
        share = there + 1j * side[lanes] * _DETOUR * 4.0 * there * (1.0 - there)
        behind = np.where(earlier[lanes] < 0.0, np.inf, place[lanes] - earlier[lanes])
        guess = own + (own - last) * (move / behind)[:, None]
        enough = np.where(there < 1.0, _ON_THE_WAY, 0.0)
        found, change = _corrected(determinant, cell[lanes], guess, share, enough)
        gaps = np.abs(own[:, :, None] - own[:, None, :]) + np.eye(modes) * np.abs(own)[:, None]
        room = _ROOM * np.minimum(gaps.min(axis=2), np.abs(own))
        sure = (np.abs(found - guess) <= room) & (change <= _SURE * np.abs(found))
        sure = sure.all(axis=1)
        lost = ~sure & (move <= _LEAST_STEP)
        step[lanes] = np.where(sure, 1.5 * move, 0.5 * move)
        good = lanes[sure]
        before[good], earlier[good] = roots[good], place[good]
        roots[good], place[good] = found[sure], there[sure]
        roots[lanes[lost]], place[lanes[lost]] = complex(np.nan, np.nan), 1.0


def _corrected(
    determinant: Characteristic,
    cell: Integers,
    guess: Complexes,
    share: Complexes,
    enough: Floats,
) -> tuple[Complexes, Floats]:
    """Return zeros near the guesses (L, K) by the secant method, and their last changes.

    ``enough`` (L,) is the relative change at which the iteration stops.
    """
    cells = np.broadcast_to(cell[:, None], guess.shape).ravel()
    shares = np.broadcast_to(share[:, None], guess.shape).ravel()
    limits = np.broadcast_to(enough[:, None], guess.shape).ravel()
    new = guess.flatten()
    old = new * (1.0 + _BESIDE)
    log_old = determinant(cells, old, shares)
    log_new, change = np.full(new.shape, np.nan, complex), np.full(new.shape, np.inf)
    active = np.arange(new.size)
    for _ in range(_CORRECTIONS):
        log_new[active] = determinant(cells[active], new[active], shares[active])
        with np.errstate(all="ignore"):
            ratio = np.exp(log_old[active] - log_new[active])
            step = (new[active] - old[active]) / (1.0 - ratio)
        move = np.isfinite(step) & (np.abs(step) < change[active])
        active, step = active[move], step[move]
        if active.size == 0:
            break
        old[active], log_old[active] = new[active], log_new[active]
        new[active], change[active] = new[active] - step, np.abs(step)
        active = active[change[active] > limits[active] * np.abs(new[active])]
    # a root that never moved is a zero to the last digit, where the logarithm is infinite
    change = np.where(np.isfinite(change), change, np.where(np.isfinite(log_new), np.inf, 0.0))
    return new.reshape(guess.shape), change.reshape(guess.shape)
