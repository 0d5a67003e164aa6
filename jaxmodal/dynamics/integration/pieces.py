"""Simulation in pieces for progress reports, with the same program for every piece."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from jaxmodal.dynamics.integration.trajectories import Trajectory
from jaxmodal.runtime.statuses import Status

#: approximate number of reports
REPORTS = 20
#: arrays over time in a trajectory; the last two accumulate from piece to piece
_BY_TIME = (
    *("q", "rate", "acceleration", "torques", "tip", "tip_velocity", "tip_acceleration"),
    *("kinetic", "elastic", "gravity", "work", "dissipated"),
)
_SUMS = ("work", "dissipated")


def intervals_per_piece(intervals: int) -> int:
    """Return the number of intervals in a piece: a divisor of their total, if there is one near.

    Otherwise the last piece starts inside the one before. A small number of intervals is one piece.
    """
    if intervals < 2 * REPORTS:
        return intervals
    aim = max(1, round(intervals / REPORTS))
    near = [size for size in range(max(1, aim // 2), 2 * aim + 1) if intervals % size == 0]
    return min(near, key=lambda size: abs(size - aim), default=aim)


def in_pieces(
    run: Callable[[np.ndarray, np.ndarray, np.ndarray], Trajectory],
    q: np.ndarray,
    rate: np.ndarray,
    times: np.ndarray,
    report: Callable[[int, int], None],
) -> Trajectory:
    """Return a whole trajectory, computed in pieces with the same number of times.

    Parameters
    ----------
    run
        Function from a state (q, rate) and ascending times to a trajectory in NumPy.
    q, rate
        State at the first time.
    times
        All times, shape (T,).
    report
        Function called with (intervals done, total intervals) after every piece.
    """
    intervals = times.size - 1
    size = intervals_per_piece(intervals)
    starts = [min(first, intervals - size) for first in range(0, intervals, size)]
    whole: dict[str, np.ndarray] = {}
    steps, first = 0, 0
    for first in starts:
        if first:
            q, rate = whole["q"][first], whole["rate"][first]
        piece = run(q, rate, times[first : first + size + 1])
        if not whole:
            whole = {
                name: np.full((times.size, *np.shape(getattr(piece, name))[1:]), np.nan)
                for name in _BY_TIME
            }
        before = {name: whole[name][first] if first else 0.0 for name in _SUMS}
        for name in _BY_TIME:
            values = np.asarray(getattr(piece, name))
            # values at the junction of pieces come from the piece before
            kept = slice(1 if first else 0, None)
            shifted = values + before[name] if name in _SUMS else values
            whole[name][first : first + size + 1][kept] = shifted[kept]
        steps += int(piece.steps)
        report(first + size, intervals)
        if int(piece.status) != Status.finished:
            break
    return piece._replace(times=times, steps=np.asarray(steps), **whole)
