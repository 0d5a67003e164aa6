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

import numpy as np

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
#: evaluations of a mode at most; halving alone takes 37 from 1e-2 to `_TOGETHER`
_MOST = 60


@dataclasses.dataclass(frozen=True)
class Sample:
    """D and J at one frequency of each lane: sign, log|D|, count, arrays of shape (lanes,)."""

    sign: np.ndarray
    log_abs: np.ndarray
    count: np.ndarray


@dataclasses.dataclass(frozen=True)
class Refined:
    """Arrays of shape (lanes,): frequency, the ends at which counts prove it, and by how much it may be wrong.

    ``error`` is relative: what the last evaluation changed, and half a unit in the last place. ``settled`` says that
    the bracket holds this mode alone and has closed; all else is undefined where it has not.
    """

    omega: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    error: np.ndarray
    settled: np.ndarray


@dataclasses.dataclass
class _Brackets:
    """What is known of each lane: two ends and the point displaced last, NaN where there is none; shape (lanes,)."""

    lower: np.ndarray
    upper: np.ndarray
    third: np.ndarray
    lower_value: np.ndarray
    upper_value: np.ndarray
    third_value: np.ndarray
    lower_count: np.ndarray
    upper_count: np.ndarray

    @classmethod
    def empty(cls, lanes: int) -> _Brackets:
        start = (0.0, np.inf, *[np.nan] * 4, 0.0, np.inf)
        return cls(*(np.full(lanes, value) for value in start))

    def take(self, lanes: np.ndarray) -> _Brackets:
        return _Brackets(*(getattr(self, f.name)[lanes] for f in dataclasses.fields(self)))

    def put(self, lanes: np.ndarray, some: _Brackets) -> None:
        for field in dataclasses.fields(self):
            getattr(self, field.name)[lanes] = getattr(some, field.name)

    @property
    def enclosed(self) -> np.ndarray:
        """Both ends have been evaluated."""
        return (self.lower > 0.0) & np.isfinite(self.upper)

    @property
    def single(self) -> np.ndarray:
        """The counts at both ends leave one mode between them."""
        return self.enclosed & (self.upper_count - self.lower_count == 1.0)

    def tighten(
        self, mode: np.ndarray, trial: np.ndarray, value: np.ndarray, count: np.ndarray
    ) -> None:
        """One evaluation at ``trial``: it becomes the end on its side of the mode if it is closer than that."""
        passed = count > mode
        up, down = passed & (trial < self.upper), ~passed & (trial > self.lower)
        for at, end in ((up, "upper"), (down, "lower")):
            known = at & self.enclosed
            self.third = np.where(known, getattr(self, end), self.third)
            self.third_value = np.where(known, getattr(self, f"{end}_value"), self.third_value)
            for name, new in ((end, trial), (f"{end}_value", value), (f"{end}_count", count)):
                setattr(self, name, np.where(at, new, getattr(self, name)))

    def retreat(self, zero: np.ndarray, trial: np.ndarray) -> np.ndarray:
        """Give up an end of a closed bracket that lies on the zero itself; one clear of it is tried."""
        closed = self.single & (self.upper - self.lower <= WIDTH * zero)
        at_lower = closed & (zero - self.lower <= _CLEAR * zero)
        at_upper = closed & (self.upper - zero <= _CLEAR * zero) & ~at_lower
        for at, end in ((at_lower, "lower"), (at_upper, "upper")):
            self.third = np.where(at, getattr(self, end), self.third)
            self.third_value = np.where(at, getattr(self, f"{end}_value"), self.third_value)
        self.lower = np.where(at_lower, 0.0, self.lower)
        self.upper = np.where(at_upper, np.inf, self.upper)
        trial = np.where(at_lower, zero * (1.0 - 4.0 * _CLEAR), trial)
        return np.where(at_upper, zero * (1.0 + 4.0 * _CLEAR), trial)

    def zero(self) -> np.ndarray:
        """The zero between two ends, of the parabola through them and the third point; of the chord without one."""
        with np.errstate(all="ignore"):
            span = self.upper - self.lower
            size = np.fmax(np.abs(self.lower_value), np.abs(self.upper_value))
            low, high, third = (
                x / size for x in (self.lower_value, self.upper_value, self.third_value)
            )
            at = (self.third - self.lower) / span
            chord = low / (low - high)
            curvature = ((third - low) / at - (high - low)) / (at - 1.0)
            slope = high - low - curvature
            root = np.sqrt(np.maximum(slope * slope - 4.0 * curvature * low, 0.0))
            half = -0.5 * (slope + np.copysign(root, slope))
            share = np.full_like(chord, np.nan)
            for candidate in (low / half, half / curvature):
                share = np.where((candidate > 0.0) & (candidate < 1.0), candidate, share)
            share = np.where(np.isfinite(share), share, chord)
            return np.asarray(self.lower + share * span)


def refine(
    evaluate: Callable[[np.ndarray, np.ndarray], Sample],
    omega: np.ndarray,
    half: np.ndarray,
    mode: np.ndarray,
) -> Refined:
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
    Refined
        Lanes that are not ``settled`` stay open: their modes are closer than float64 can part, the count and the sign
        of D contradict each other, or no such mode was met near the estimate, within 3e-4 to 1e-2 of it.
    """
    lanes = omega.size
    b, scale = _Brackets.empty(lanes), np.full(lanes, np.nan)
    omega, half = np.array(omega, float), np.array(half, float)
    found, error = omega.copy(), np.full(lanes, np.inf)
    aim, reach = np.full(lanes, _BEYOND), half.copy()
    mark, failed = np.full(lanes, np.inf), np.zeros(lanes)
    settled, going = np.zeros(lanes, bool), np.isfinite(omega) & (omega > 0.0)
    for turn in range(_MOST):
        at = np.flatnonzero(going)
        if at.size == 0:
            break
        some = b.take(at)
        trial = _trial(some, omega[at], found[at], half[at], aim[at], reach[at], turn)
        halve = some.enclosed & (~some.single | (failed[at] >= _PATIENCE))
        trial = np.where(halve, 0.5 * (some.lower + some.upper), trial)
        trial = some.retreat(found[at], trial)
        sample = evaluate(at, trial)
        scale[at] = np.where(np.isnan(scale[at]), sample.log_abs, scale[at])
        with np.errstate(over="ignore", invalid="ignore"):
            value = sample.sign * np.exp(sample.log_abs - scale[at])
        agrees = ((sample.sign > 0.0) == (sample.count % 2 == 0)) & np.isfinite(value)
        some.tighten(mode[at], trial, value, sample.count)
        b.put(at, some)
        if turn:
            reach[at] = np.where(some.enclosed, reach[at], _FARTHER * reach[at])
        with np.errstate(invalid="ignore"):
            width = np.where(some.enclosed, (some.upper - some.lower) / some.upper, np.inf)
        failed[at] = np.where(width > 0.5 * mark[at], failed[at] + 1.0, 0.0)
        mark[at] = np.where(width <= 0.5 * mark[at], width, mark[at])
        zero = np.where(some.single, some.zero(), found[at])
        with np.errstate(invalid="ignore"):
            change = np.where(some.single, np.abs(zero / found[at] - 1.0), np.inf)
        found[at], error[at] = zero, np.minimum(change, width) + 2.0**-53
        closed = some.single & (width <= WIDTH)
        aim[at] = np.where(closed, 0.125 * aim[at], aim[at])
        inside = np.minimum(zero - some.lower, some.upper - zero) > _CLEAR * zero
        settled[at] = closed & inside & agrees & (np.minimum(change, width) <= _KNOWN)
        hopeless = (some.enclosed & ~some.single & (width < _TOGETHER)) | (reach[at] > _FARTHEST)
        going[at] = agrees & ~settled[at] & ~hopeless
    return Refined(found, b.lower, b.upper, error, settled)


def _trial(
    b: _Brackets,
    omega: np.ndarray,
    zero: np.ndarray,
    half: np.ndarray,
    aim: np.ndarray,
    reach: np.ndarray,
    turn: int,
) -> np.ndarray:
    """The next frequency of every lane: first both sides of the estimate, then a missing end, then past the zero."""
    if turn < 2:
        return omega * (1.0 + (half if turn else -half))
    with np.errstate(invalid="ignore"):
        outside = np.where(np.isfinite(b.upper), b.upper * (1.0 - reach), b.lower * (1.0 + reach))
        to_lower, to_upper = zero - b.lower, b.upper - zero
        step = np.minimum(aim * zero, 0.5 * np.maximum(to_lower, to_upper))
        past = zero + np.where(to_lower < to_upper, step, -step)
    return np.where(b.enclosed, past, outside)
