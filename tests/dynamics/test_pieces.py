"""Is a simulation piece by piece the whole one: times, sums, what happens at a failure? Nothing is compiled."""

import itertools

import numpy as np
import pytest

from jaxmodal.dynamics.integration.pieces import in_pieces, intervals_per_piece
from jaxmodal.dynamics.integration.trajectories import Trajectory
from jaxmodal.runtime.statuses import Status

FAILS = 3.3


def run(q, rate, times):
    """q' = rate, which stays, with a power of 2 W since the start of the piece; nothing beyond `FAILS`."""
    moved = q + rate * (times - times[0])[:, None]
    power = 2.0 * (times - times[0])
    late = times > FAILS
    for values in (moved, power):
        values[late] = np.nan
    pairs = np.stack([times, times], axis=-1)
    halted = bool(late.any())
    return Trajectory(
        times, moved, np.broadcast_to(rate, moved.shape), moved, pairs, pairs, pairs, pairs,
        *[power] * 5, np.int64(Status.halted if halted else Status.finished), FAILS if halted else times[-1], moved[0],
        np.int64(10 * (len(times) - 1)),
    )  # fmt: skip


@pytest.mark.parametrize("intervals", [1, 39, 40, 97, 100, 1009, 5000])
def test_the_pieces_are_the_whole(intervals):
    times = np.cumsum(np.concatenate([[0.0], np.random.default_rng(0).uniform(0.5, 1, intervals)]))
    times *= 3.0 / times[-1]
    told = []
    found = in_pieces(run, np.zeros(2), np.ones(2), times, lambda *parts: told.append(parts))
    expected = run(np.zeros(2), np.ones(2), times)
    for name in ("times", "q", "rate", "torques", "work", "dissipated", "status", "reached"):
        np.testing.assert_allclose(
            getattr(found, name), getattr(expected, name), rtol=0.0, atol=1e-12
        )
    assert told[-1] == (intervals, intervals)
    assert all(before < after for before, after in itertools.pairwise(told))
    assert len(told) == 1 if intervals < 40 else 10 <= len(told) <= 41
    if intervals % intervals_per_piece(intervals) == 0:
        assert found.steps == expected.steps


def test_a_failure_ends_it():
    """Status, time and state are those of the piece that failed; what comes after is NaN."""
    times = np.linspace(0.0, 10.0, 101)
    told = []
    found = in_pieces(run, np.zeros(2), np.ones(2), times, lambda *parts: told.append(parts))
    assert (int(found.status), found.reached) == (Status.halted, FAILS)
    known = times <= FAILS
    np.testing.assert_allclose(found.q[known, 0], times[known], rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(found.work[known], 2.0 * times[known], rtol=0.0, atol=1e-12)
    assert np.all(np.isnan(found.q[~known]))
    assert told[-1][0] < 40
