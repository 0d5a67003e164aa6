"""Refinement of estimated frequencies inside brackets that double-double counts prove; on host arrays.

Every evaluation gives the count J and the determinant D. The count tells on which side of a mode the trial lies, so
that the ends of a bracket are proven, however good the estimates were. Between two ends that enclose a single mode D
changes its sign once, and a parabola through them and a third point has exactly one zero there. Trials aim past that
zero, towards the farther end, until both ends are closer than `WIDTH`. A neighbouring mode just outside the bracket,
where D is as small as at the mode, can therefore not be mistaken for it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import jax
import numpy as np

from jaxmodal.dynamic_stiffness.evaluation import CERTAIN, Evaluation
from jaxmodal.frequencies.brackets import Enclosure
from jaxmodal.runtime.namespace import Array, loop, tree_on_host, xp

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


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class _Search:
    """State of a search; arrays of shape (lanes,).

    ``first`` and ``half`` are the initial estimate and the relative half-width of the first bracket, ``mode`` is the
    number of modes below. ``aim`` is how far past the zero the next trial aims, ``reach`` how far away a missing end is
    sought; ``mark`` is the width to be halved, and ``failed`` the number of trials that did not halve it.
    """

    first: Array
    half: Array
    mode: Array
    e: Enclosure
    aim: Array
    reach: Array
    mark: Array
    failed: Array
    settled: Array
    going: Array

    @classmethod
    def of(cls, omega: Array, half: Array, mode: Array) -> _Search:
        """Return the initial state: only the estimates are known."""
        ones, never = xp.ones_like(omega), xp.zeros_like(omega) > 0.0
        return cls(
            first=omega,
            half=half,
            mode=mode,
            e=_unknown(omega),
            aim=_BEYOND * ones,
            reach=1.0 * half,
            mark=xp.inf * ones,
            failed=0.0 * ones,
            settled=never,
            going=xp.isfinite(omega) & (omega > 0.0),
        )

    def take(self, lanes: np.ndarray) -> _Search:
        """Return some of the lanes (NumPy arrays)."""
        some: _Search = jax.tree_util.tree_map(lambda x: x[lanes], self)
        return some

    def put(self, lanes: np.ndarray, some: _Search) -> None:
        """Write the changed fields of some lanes into the NumPy arrays."""
        self.e.put(lanes, some.e)
        for name in ("aim", "reach", "mark", "failed", "settled", "going"):
            getattr(self, name)[lanes] = getattr(some, name)


def _unknown(omega: Array) -> Enclosure:
    """Return enclosures of which only the estimate is known."""
    zeros, ones, none = xp.zeros_like(omega), xp.ones_like(omega), xp.full_like(omega, xp.nan)
    infinite = xp.full_like(omega, xp.inf)
    return Enclosure(
        lower=zeros,
        upper=infinite,
        lower_count=0.0 * ones,
        upper_count=1.0 * infinite,
        lower_log=none,
        upper_log=1.0 * none,
        omega=1.0 * omega,
        third=1.0 * none,
        third_log=1.0 * none,
        third_sign=ones,
        consistent=ones > 0.0,
        error=1.0 * infinite,
        lower_noise=0.0 * ones,
        upper_noise=0.0 * ones,
    )


def _enclosed(e: Enclosure) -> Array:
    """Return True where both ends have been evaluated."""
    return (e.lower > 0.0) & xp.isfinite(e.upper)


def _alone(e: Enclosure) -> Array:
    """Return True where both ends have been evaluated and their counts leave one mode between them."""
    return _enclosed(e) & e.isolated


def _tightened(e: Enclosure, mode: Array, trial: Array, d: Evaluation) -> Enclosure:
    """Return the enclosures after an evaluation at ``trial``, which replaces the end on its side if it is closer."""
    count = d.count.astype(np.float64)
    passed = count > mode
    up, down = passed & (trial < e.upper), ~passed & (trial > e.lower)
    lower_count = xp.where(down, count, e.lower_count)
    displaced = _enclosed(e) & (up | down)
    odd = (xp.where(up, e.upper_count, e.lower_count) - lower_count) % 2.0 == 1.0
    return dataclasses.replace(
        e,
        lower=xp.where(down, trial, e.lower),
        upper=xp.where(up, trial, e.upper),
        lower_count=lower_count,
        upper_count=xp.where(up, count, e.upper_count),
        lower_log=xp.where(down, d.log_abs, e.lower_log),
        upper_log=xp.where(up, d.log_abs, e.upper_log),
        lower_noise=xp.where(down, d.noise, e.lower_noise),
        upper_noise=xp.where(up, d.noise, e.upper_noise),
        third=xp.where(displaced, xp.where(up, e.upper, e.lower), e.third),
        third_log=xp.where(displaced, xp.where(up, e.upper_log, e.lower_log), e.third_log),
        third_sign=xp.where(displaced, xp.where(odd, -1.0, 1.0), e.third_sign),
        consistent=e.consistent & ((d.sign > 0.0) == (d.count % 2 == 0)) & (d.log_abs < xp.inf),
    )


def _retreated(e: Enclosure, trial: Array) -> tuple[Enclosure, Array]:
    """Drop an end of a closed bracket that lies on the zero itself, and return a trial clear of it."""
    zero = e.omega
    closed = _alone(e) & (e.upper - e.lower <= WIDTH * zero)
    at_lower = closed & (zero - e.lower <= _CLEAR * zero)
    at_upper = closed & (e.upper - zero <= _CLEAR * zero) & ~at_lower
    given_up = at_lower | at_upper
    e = dataclasses.replace(
        e,
        lower=xp.where(at_lower, 0.0, e.lower),
        upper=xp.where(at_upper, xp.inf, e.upper),
        third=xp.where(given_up, xp.where(at_lower, e.lower, e.upper), e.third),
        third_log=xp.where(given_up, xp.where(at_lower, e.lower_log, e.upper_log), e.third_log),
        third_sign=xp.where(given_up, xp.where(at_lower, 1.0, -1.0), e.third_sign),
    )
    trial = xp.where(at_lower, zero * (1.0 - 4.0 * _CLEAR), trial)
    return e, xp.where(at_upper, zero * (1.0 + 4.0 * _CLEAR), trial)


def _zero(e: Enclosure) -> Array:
    """Return the zero between two ends of the parabola through them and the third point; without one, of the chord."""
    span = e.upper - e.lower
    size = xp.fmax(e.lower_log, e.upper_log)
    low, high = xp.exp(e.lower_log - size), -xp.exp(e.upper_log - size)
    third = e.third_sign * xp.exp(e.third_log - size)
    at = (e.third - e.lower) / span
    straight = low / (low - high)
    curvature = ((third - low) / at - (high - low)) / (at - 1.0)
    slope = high - low - curvature
    root = xp.sqrt(xp.maximum(slope * slope - 4.0 * curvature * low, 0.0))
    half = -0.5 * (slope + xp.copysign(root, slope))
    share = xp.full_like(straight, xp.nan)
    for candidate in (low / half, half / curvature):
        share = xp.where((candidate > 0.0) & (candidate < 1.0), candidate, share)
    share = xp.where(xp.isfinite(share), share, straight)
    return e.lower + share * span


def _next_trial(s: _Search, turn: Array | int) -> tuple[_Search, Array]:
    """Return the next trial frequency of every lane, and the lanes without ends that lie on the zero itself."""
    halve = _enclosed(s.e) & (~_alone(s.e) | (s.failed >= _PATIENCE))
    trial = xp.where(halve, 0.5 * (s.e.lower + s.e.upper), _trial(s, turn))
    e, trial = _retreated(s.e, trial)
    return dataclasses.replace(s, e=e), trial


def _after(s: _Search, trial: Array, d: Evaluation, turn: Array | int) -> _Search:
    """Return the state of the lanes after an evaluation at the trial frequencies."""
    e = _tightened(s.e, s.mode, trial, d)
    enclosed, alone = _enclosed(e), _alone(e)
    reach = xp.where((turn == 0) | enclosed, s.reach, _FARTHER * s.reach)
    width = xp.where(enclosed, (e.upper - e.lower) / e.upper, xp.inf)
    failed = xp.where(width > 0.5 * s.mark, s.failed + 1.0, 0.0)
    zero = xp.where(alone, _zero(e), e.omega)
    change = xp.where(alone, xp.abs(zero / e.omega - 1.0), xp.inf)
    error = xp.maximum(xp.minimum(change, width), _KNOWN)
    e = dataclasses.replace(e, omega=zero, error=error)
    closed = alone & (width <= WIDTH)
    from_lower, from_upper = zero - e.lower, e.upper - zero
    inside = xp.minimum(from_lower, from_upper) > _CLEAR * zero
    drowned = (CERTAIN * e.lower_noise * zero > from_lower) | (
        CERTAIN * e.upper_noise * zero > from_upper
    )
    known = xp.minimum(change, width) <= _KNOWN
    settled = closed & inside & e.consistent & known & ~drowned
    hopeless = (enclosed & ~alone & (width < _TOGETHER)) | (reach > _FARTHEST)
    hopeless = hopeless | (closed & known & drowned)
    return dataclasses.replace(
        s,
        e=e,
        reach=reach,
        mark=xp.where(width <= 0.5 * s.mark, width, s.mark),
        failed=failed,
        aim=xp.where(closed, 0.125 * s.aim, s.aim),
        settled=settled,
        going=e.consistent & ~settled & ~hopeless,
    )


def refine(
    evaluate: Callable[[np.ndarray, np.ndarray], Evaluation],
    omega: np.ndarray,
    half: np.ndarray,
    mode: np.ndarray,
) -> tuple[Enclosure, np.ndarray]:
    """Refine estimates of modes to the last digits, each inside its own proven bracket.

    Parameters
    ----------
    evaluate : Callable
        ``evaluate(lanes, omega)`` returns D and J in double-double for some lanes, one frequency each (rad/s).
    omega : np.ndarray, shape (lanes,)
        Estimates. A wrong one costs evaluations or leaves the mode open, but never gives a wrong frequency.
    half : np.ndarray, shape (lanes,)
        Relative half-width of the first bracket about them.
    mode : np.ndarray, shape (lanes,)
        Number of modes below each.

    Returns
    -------
    e : Enclosure
        Arrays of shape (lanes,). ``omega`` is the frequency, the counts at the two ends prove it, and ``error`` is its
        relative error bound: the change in the last evaluation, but at least four units in the last place.
    settled : np.ndarray, shape (lanes,)
        True where the bracket holds only this mode and has closed. Elsewhere all other values are undefined: modes are
        closer than float64 resolves, the count and the sign of D contradict each other, or there is no such mode
        within 3e-4 to 1e-2 of the estimate.
    """
    with np.errstate(all="ignore"):  # of ends that are not there
        s = _Search.of(np.array(omega, float), np.array(half, float), np.array(mode))
        sides = _at_both_sides(evaluate, s.first, s.half, np.flatnonzero(s.going))
        for turn in range(_MOST):
            at = np.flatnonzero(s.going)
            if at.size == 0:
                break
            some, trial = _next_trial(s.take(at), turn)
            d = sides[turn].take(at) if turn < len(sides) else evaluate(at, trial)
            s.put(at, _after(some, trial, d, turn))
    return s.e, s.settled


def refine_together(
    evaluate: Callable[[Array], Evaluation], omega: Array, half: Array, mode: Array
) -> tuple[Enclosure, Array, Array]:
    """Return `refine` as a traceable function: all lanes are evaluated until the last one is finished.

    The third array is the number of evaluations that each lane needed.
    """

    def goes_on(state: tuple[Array, _Search, Array]) -> Array:
        turn, s, _ = state
        return (turn < _MOST) & xp.any(s.going)

    def body(state: tuple[Array, _Search, Array]) -> tuple[Array, _Search, Array]:
        turn, s, evaluations = state
        some, trial = _next_trial(s, turn)
        safe = xp.where(s.going, trial, s.first)
        better = _after(some, trial, evaluate(safe), turn)
        kept = jax.tree_util.tree_map(lambda x, y: xp.where(s.going, x, y), better, s)
        return turn + 1, kept, evaluations + s.going.astype(np.int64)

    none = xp.zeros_like(omega, np.int64)
    start = np.int64(0), _Search.of(omega, half, mode), none
    _, s, evaluations = loop(goes_on, body, start, tree_on_host(omega, half, mode))
    return s.e, s.settled, evaluations


@dataclasses.dataclass(frozen=True)
class _Side:
    """Evaluations at one side of the estimates of some lanes, in ascending order."""

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
    """Return the evaluations of the first two turns, if one call for both is cheaper; else an empty list."""
    if not 0 < lanes.size <= _BOTH:
        return []
    own = omega[lanes], half[lanes]
    trials = np.concatenate([_first(*own, turn) for turn in (0, 1)])
    both = evaluate(np.concatenate([lanes, lanes]), trials)
    ends = slice(lanes.size), slice(lanes.size, None)
    return [_Side(lanes, jax.tree_util.tree_map(lambda x, end=end: x[end], both)) for end in ends]


def _first(omega: Array, half: Array, turn: Array | int) -> Array:
    return omega * (1.0 + xp.where(turn == 0, -half, half))


def _trial(s: _Search, turn: Array | int) -> Array:
    """Return the next frequency of every lane.

    First both sides of the estimate, then a missing end, then past the zero.
    """
    e, zero = s.e, s.e.omega
    outside = xp.where(xp.isfinite(e.upper), e.upper * (1.0 - s.reach), e.lower * (1.0 + s.reach))
    to_lower, to_upper = zero - e.lower, e.upper - zero
    step = xp.minimum(s.aim * zero, 0.5 * xp.maximum(to_lower, to_upper))
    past = zero + xp.where(to_lower < to_upper, step, -step)
    later = xp.where(_enclosed(e), past, outside)
    return xp.where(turn < 2, _first(s.first, s.half, turn), later)
