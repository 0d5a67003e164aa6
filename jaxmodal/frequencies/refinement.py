"""Frequencies inside brackets that counts in double-double prove, closed from both sides; on host arrays.

Every evaluation gives the count J and the determinant D. The count says on which side of a mode it lies, so that the
ends of a bracket are proven, whatever the estimates were worth. Between two ends that hold one mode alone D changes its
sign once, and a parabola through them and a third point has exactly one zero there. Trials aim past that zero, towards
the farther end, until both ends are closer than `WIDTH`. A neighbour just outside the bracket, next to which D is as
small as next to the mode, so cannot be taken for it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import jax
import numpy as np

from jaxmodal.dynamic_stiffness.evaluation import Evaluation
from jaxmodal.frequencies.brackets import Enclosure

#: relative width of a finished bracket: that of the certificate of single arms
WIDTH = 1e-12
#: how far past the zero a trial aims, relative: two such trials close a bracket to less than `WIDTH`
_BEYOND = 0.4 * WIDTH
#: the frequency is known when an evaluation changes it by no more, relative: four units in the last place
_KNOWN = 4.0 * 2.0**-52
#: an end is clear of the zero when it is farther from it, relative
_CLEAR = 2.0 * 2.0**-52
#: a bracket of several modes that is narrower than this is left to the search that knows groups
_TOGETHER = 1e-13
#: a missing end is sought at distances that grow by this factor, up to this distance, relative
_FARTHER, _FARTHEST = 32.0, 1e-2
#: trials of a bracket that may fail to halve it before it is halved in the middle
_PATIENCE = 3
#: so many lanes at the most are evaluated on both sides of their estimates in one call: each call has a cost of its own
_BOTH = 1024
#: evaluations of a mode at most; halving alone takes 37 from 1e-2 to `_TOGETHER`
_MOST = 60


def _unknown(omega: np.ndarray) -> Enclosure:
    """Nothing is known of these lanes but an estimate."""
    none, ones = np.full(omega.size, np.nan), np.ones(omega.size)
    return Enclosure(
        lower=np.zeros(omega.size),
        upper=np.full(omega.size, np.inf),
        lower_count=np.zeros(omega.size),
        upper_count=np.full(omega.size, np.inf),
        lower_log=none.copy(),
        upper_log=none.copy(),
        omega=omega.copy(),
        third=none.copy(),
        third_log=none.copy(),
        third_sign=ones.copy(),
        consistent=np.ones(omega.size, bool),
        error=np.full(omega.size, np.inf),
        smallest=ones,
    )


def _enclosed(e: Enclosure) -> np.ndarray:
    """Both ends have been evaluated."""
    return np.asarray((e.lower > 0.0) & np.isfinite(e.upper))


def _alone(e: Enclosure) -> np.ndarray:
    """Both ends have been evaluated, and the counts there leave one mode between them."""
    return np.asarray(_enclosed(e) & e.isolated)


def _tightened(e: Enclosure, mode: np.ndarray, trial: np.ndarray, d: Evaluation) -> Enclosure:
    """One evaluation at ``trial``: it becomes the end on its side of the mode if it is closer than that."""
    passed = d.count > mode
    up, down = passed & (trial < e.upper), ~passed & (trial > e.lower)
    count = d.count.astype(float)
    lower_count = np.where(down, count, e.lower_count)
    displaced = _enclosed(e) & (up | down)
    with np.errstate(invalid="ignore"):  # of ends that are not there
        odd = (np.where(up, e.upper_count, e.lower_count) - lower_count) % 2.0 == 1.0
    return dataclasses.replace(
        e,
        lower=np.where(down, trial, e.lower),
        upper=np.where(up, trial, e.upper),
        lower_count=lower_count,
        upper_count=np.where(up, count, e.upper_count),
        lower_log=np.where(down, d.log_abs, e.lower_log),
        upper_log=np.where(up, d.log_abs, e.upper_log),
        third=np.where(displaced, np.where(up, e.upper, e.lower), e.third),
        third_log=np.where(displaced, np.where(up, e.upper_log, e.lower_log), e.third_log),
        third_sign=np.where(displaced, np.where(odd, -1.0, 1.0), e.third_sign),
        consistent=e.consistent & ((d.sign > 0.0) == (d.count % 2 == 0)) & (d.log_abs < np.inf),
    )


def _retreated(e: Enclosure, trial: np.ndarray) -> tuple[Enclosure, np.ndarray]:
    """Give up an end of a closed bracket that lies on the zero itself; one clear of it is tried."""
    zero = e.omega
    closed = _alone(e) & (e.upper - e.lower <= WIDTH * zero)
    at_lower = closed & (zero - e.lower <= _CLEAR * zero)
    at_upper = closed & (e.upper - zero <= _CLEAR * zero) & ~at_lower
    given_up = at_lower | at_upper
    e = dataclasses.replace(
        e,
        lower=np.where(at_lower, 0.0, e.lower),
        upper=np.where(at_upper, np.inf, e.upper),
        third=np.where(given_up, np.where(at_lower, e.lower, e.upper), e.third),
        third_log=np.where(given_up, np.where(at_lower, e.lower_log, e.upper_log), e.third_log),
        third_sign=np.where(given_up, np.where(at_lower, 1.0, -1.0), e.third_sign),
    )
    trial = np.where(at_lower, zero * (1.0 - 4.0 * _CLEAR), trial)
    return e, np.where(at_upper, zero * (1.0 + 4.0 * _CLEAR), trial)


def _zero(e: Enclosure) -> np.ndarray:
    """The zero between two ends, of the parabola through them and the third point; of the chord without one."""
    with np.errstate(all="ignore"):
        span = e.upper - e.lower
        size = np.fmax(e.lower_log, e.upper_log)
        low, high = np.exp(e.lower_log - size), -np.exp(e.upper_log - size)
        third = e.third_sign * np.exp(e.third_log - size)
        at = (e.third - e.lower) / span
        straight = low / (low - high)
        curvature = ((third - low) / at - (high - low)) / (at - 1.0)
        slope = high - low - curvature
        root = np.sqrt(np.maximum(slope * slope - 4.0 * curvature * low, 0.0))
        half = -0.5 * (slope + np.copysign(root, slope))
        share = np.full_like(straight, np.nan)
        for candidate in (low / half, half / curvature):
            share = np.where((candidate > 0.0) & (candidate < 1.0), candidate, share)
        share = np.where(np.isfinite(share), share, straight)
        return np.asarray(e.lower + share * span)


def refine(
    evaluate: Callable[[np.ndarray, np.ndarray], Evaluation],
    omega: np.ndarray,
    half: np.ndarray,
    mode: np.ndarray,
) -> tuple[Enclosure, np.ndarray]:
    """Find modes of which estimates are known, to the last digits, each inside its own proven bracket.

    Parameters
    ----------
    evaluate : Callable
        ``evaluate(lanes, omega)`` gives D and J in double-double for some of the lanes, one frequency each (rad/s).
    omega : np.ndarray, shape (lanes,)
        Estimates; a wrong one costs evaluations, or leaves the mode open, and never gives a wrong frequency.
    half : np.ndarray, shape (lanes,)
        Relative half-width of the first bracket about them.
    mode : np.ndarray, shape (lanes,)
        How many modes lie below each.

    Returns
    -------
    e : Enclosure
        Arrays of shape (lanes,). ``omega`` is the frequency, the ends are those at which counts prove it, and ``error``
        is by how much it may be wrong, relative: what the last evaluation changed, and half a unit in the last place.
    settled : np.ndarray, shape (lanes,)
        The bracket holds this mode alone and has closed. All else is undefined where it has not: those modes are closer
        than float64 can part, the count and the sign of D contradict each other, or no such mode was met near the
        estimate, within 3e-4 to 1e-2 of it.
    """
    omega, half = np.array(omega, float), np.array(half, float)
    e, lanes = _unknown(omega), omega.size
    aim, reach = np.full(lanes, _BEYOND), half.copy()
    mark, failed = np.full(lanes, np.inf), np.zeros(lanes)
    settled, going = np.zeros(lanes, bool), np.isfinite(omega) & (omega > 0.0)
    sides = _at_both_sides(evaluate, omega, half, np.flatnonzero(going))
    for turn in range(_MOST):
        at = np.flatnonzero(going)
        if at.size == 0:
            break
        some = e.take(at)
        trial = _trial(some, omega[at], half[at], aim[at], reach[at], turn)
        halve = _enclosed(some) & (~_alone(some) | (failed[at] >= _PATIENCE))
        trial = np.where(halve, 0.5 * (some.lower + some.upper), trial)
        some, trial = _retreated(some, trial)
        d = sides[turn].take(at) if turn < len(sides) else evaluate(at, trial)
        some = _tightened(some, mode[at], trial, d)
        enclosed, alone = _enclosed(some), _alone(some)
        if turn:
            reach[at] = np.where(enclosed, reach[at], _FARTHER * reach[at])
        with np.errstate(invalid="ignore"):
            width = np.where(enclosed, (some.upper - some.lower) / some.upper, np.inf)
        failed[at] = np.where(width > 0.5 * mark[at], failed[at] + 1.0, 0.0)
        mark[at] = np.where(width <= 0.5 * mark[at], width, mark[at])
        zero = np.where(alone, _zero(some), some.omega)
        with np.errstate(invalid="ignore"):
            change = np.where(alone, np.abs(zero / some.omega - 1.0), np.inf)
        error = np.minimum(change, width) + 2.0**-53
        some = dataclasses.replace(some, omega=zero, error=error)
        e.put(at, some)
        closed = alone & (width <= WIDTH)
        aim[at] = np.where(closed, 0.125 * aim[at], aim[at])
        inside = np.minimum(zero - some.lower, some.upper - zero) > _CLEAR * zero
        known = np.minimum(change, width) <= _KNOWN
        settled[at] = closed & inside & some.consistent & known
        hopeless = (enclosed & ~alone & (width < _TOGETHER)) | (reach[at] > _FARTHEST)
        going[at] = some.consistent & ~settled[at] & ~hopeless
    return e, settled


@dataclasses.dataclass(frozen=True)
class _Side:
    """Evaluations at one side of the estimates of some lanes, which ascend."""

    lanes: np.ndarray
    value: Evaluation

    def take(self, lanes: np.ndarray) -> Evaluation:
        at = np.searchsorted(self.lanes, lanes)
        some: Evaluation = jax.tree_util.tree_map(lambda x: x[at], self.value)
        return some


def _at_both_sides(
    evaluate: Callable[[np.ndarray, np.ndarray], Evaluation],
    omega: np.ndarray,
    half: np.ndarray,
    lanes: np.ndarray,
) -> list[_Side]:
    """The evaluations of the first two turns, where one call for both is the cheaper one."""
    if not 0 < lanes.size <= _BOTH:
        return []
    own = omega[lanes], half[lanes]
    trials = np.concatenate([_first(*own, turn) for turn in (0, 1)])
    both = evaluate(np.concatenate([lanes, lanes]), trials)
    ends = slice(lanes.size), slice(lanes.size, None)
    return [_Side(lanes, jax.tree_util.tree_map(lambda x, end=end: x[end], both)) for end in ends]


def _first(omega: np.ndarray, half: np.ndarray, turn: int) -> np.ndarray:
    return omega * (1.0 + (half if turn else -half))


def _trial(
    e: Enclosure,
    omega: np.ndarray,
    half: np.ndarray,
    aim: np.ndarray,
    reach: np.ndarray,
    turn: int,
) -> np.ndarray:
    """The next frequency of every lane: first both sides of the estimate, then a missing end, then past the zero."""
    if turn < 2:
        return _first(omega, half, turn)
    zero = e.omega
    with np.errstate(invalid="ignore"):
        outside = np.where(np.isfinite(e.upper), e.upper * (1.0 - reach), e.lower * (1.0 + reach))
        to_lower, to_upper = zero - e.lower, e.upper - zero
        step = np.minimum(aim * zero, 0.5 * np.maximum(to_lower, to_upper))
        past = zero + np.where(to_lower < to_upper, step, -step)
    return np.where(_enclosed(e), past, outside)
