"""Six evaluations per mode: enclosure of natural frequencies that are roughly known beforehand.

Trial frequencies between the guessed modes isolate nearly all of them, as one count each proves. Inverse quadratic
interpolation of the determinant over omega^2, the other modes divided out, then reaches float64's
accuracy. The last two
evaluations enclose the mode on both sides, and as the interpolation has converged before the last, what that still
changes is rounding noise: a measured bound of the error. Modes for which the schedule fails are left to
`root_search`.

Arrays have shape (modes, arms); those of `improve` (1, lanes), a lane being any one mode of an arm.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable

import numpy as np

from jaxmodal.dynamic_stiffness.evaluation import Evaluation
from jaxmodal.frequencies.brackets import Enclosure, raised
from jaxmodal.frequencies.root_search import CLEAR, separating_trials
from jaxmodal.runtime.namespace import Array, repeat, tree_on_host, xp

#: relative distances from the estimate of the last three trial frequencies
_OUTER, _INNER = 3e-6, 1e-8
#: relative width of a finished enclosure
WIDTH = 4.0 * _INNER
#: stands for a mode's own square among those of the others, over that of the highest upper end: it divides out nothing
_FAR = 1e3
#: upper end, over the highest trial frequency, of a bracket that no count has closed; what stands for its count
_BEYOND, _UNBOUNDED = 4.0, 2.0**62
#: (beyond, aside) of each evaluation: twice at the estimate, once past it, and at both sides, whatever ends are nearer
SCHEDULE = [(0.0, 0.0), (0.0, 0.0), (_OUTER, 0.0), (0.0, -_INNER), (0.0, _INNER)]
_SECOND_SCHEDULE = [(0.0, 0.0), (30.0 * _OUTER, 0.0), (0.0, -_INNER), (0.0, _INNER)]
#: at both sides of a mode that is known, but not where it was evaluated before
_AGAIN_SCHEDULE = [(0.0, -0.6 * _INNER), (0.0, 0.6 * _INNER)]
#: how often brackets of several modes are halved before the search is left to double-double
HALVINGS = 3


class Purpose(enum.IntEnum):
    """Why `improve` goes on: to cut brackets at the estimate, or in the middle, or to estimate a known mode again."""

    cut = 0
    halve = 1
    estimate_again = 2

    @property
    def evaluations(self) -> int:
        """How many evaluations `improve` takes."""
        return len(_AGAIN_SCHEDULE if self is Purpose.estimate_again else _SECOND_SCHEDULE)


def _row(x: Array, j: int) -> Array:
    return x[j : j + 1]


@dataclasses.dataclass(frozen=True)
class Others:
    """The other modes of an arm as each of its modes sees them, and how one lane reads the values of another.

    Attributes
    ----------
    known : int
        K, the number of modes that are enclosed together.
    beyond : tuple of Array, shape (1, arms)
        Estimates of the modes above them, one array each.
    row : Callable
        ``row(x, j)`` is what mode j + 1 has of an array over modes and arms, shape (1, arms).
    """

    known: int
    beyond: tuple[Array, ...]
    row: Callable[[Array, int], Array] = _row


def enclose(
    evaluate: Callable[[Array], Evaluation], modes: Array, guess: Array, log_at_zero: Array
) -> Enclosure:
    """Enclose the modes 1 to K of arms of which they are roughly known.

    Parameters
    ----------
    evaluate : Callable
        Count and determinant at frequencies of shape (K, arms).
    modes : Array
        Mode numbers 1 to K, float64, shape (K, 1).
    guess : Array
        Estimates of the modes 1 to K and a few more, shape (K + extra, arms), rad/s.
    log_at_zero : Array
        Limit of log|D| at zero frequency.

    Returns
    -------
    Enclosure
        ``omega`` is a mode where ``lower_count = mode - 1``, ``upper_count = mode`` and ``consistent`` hold; it is
        accurate to ``error`` where the ends are no farther apart than `WIDTH`.
    """
    known = modes.shape[0]
    others = Others(known, tuple(guess[known:, None]))
    trial = separating_trials(guess, known)
    return enclose_from(evaluate, modes, guess[:known], trial, others, log_at_zero)


def enclose_from(
    evaluate: Callable[[Array], Evaluation],
    modes: Array,
    own: Array,
    trial: Array,
    others: Others,
    log_at_zero: Array,
) -> Enclosure:
    """`enclose` with given estimates ``own`` and first trial frequencies, arrays of shape (lanes, arms).

    There are as many lanes as modes, or more that repeat the last mode.
    """
    e = isolated(evaluate, modes, own, trial, others, log_at_zero)
    return _stages(e, modes, evaluate, None, others, scheduled(SCHEDULE), len(SCHEDULE), None)


def isolated(
    evaluate: Callable[[Array], Evaluation],
    modes: Array,
    own: Array,
    trial: Array,
    others: Others,
    log_at_zero: Array,
) -> Enclosure:
    """Enclosures from one evaluation between any two guessed modes: every count may tighten every bracket."""
    row = others.row
    value = evaluate(trial)
    count = value.count.astype(trial.dtype)
    agrees = ((value.sign > 0.0) == (value.count % 2 == 0)).astype(trial.dtype)
    lower = xp.zeros_like(trial)
    upper = _BEYOND * row(trial, others.known - 1) * xp.ones_like(trial)
    lower_log, upper_log = log_at_zero * xp.ones_like(trial), xp.zeros_like(trial)
    lower_count, upper_count = xp.zeros_like(trial), xp.full_like(trial, _UNBOUNDED)
    consistent = xp.ones_like(trial)
    seen = [
        tuple(row(x, j) for x in (trial, count, value.log_abs, agrees)) for j in range(others.known)
    ]
    for at, counted, log_abs, agreed in reversed(seen):
        # from above: the last trial that passes a mode is its upper end
        passed = counted >= modes
        upper = xp.where(passed, at, upper)
        upper_log = xp.where(passed, log_abs, upper_log)
        upper_count = xp.where(passed, counted, upper_count)
        consistent = xp.where(passed, agreed, consistent)
    for at, counted, log_abs, _ in seen:
        below = counted < modes
        lower = xp.where(below, at, lower)
        lower_log = xp.where(below, log_abs, lower_log)
        lower_count = xp.where(below, counted, lower_count)
    inside = (own > lower) & (own < upper)
    return Enclosure(
        omega=xp.where(inside, own, 0.5 * (lower + upper)),
        lower=lower,
        upper=upper,
        lower_log=lower_log,
        upper_log=upper_log,
        lower_count=lower_count,
        upper_count=upper_count,
        third=xp.full_like(lower, xp.nan),
        third_log=lower_log,
        third_sign=xp.ones_like(lower),
        consistent=consistent > 0.0,
        error=xp.ones_like(lower),
        lower_noise=xp.zeros_like(lower),
        upper_noise=xp.zeros_like(lower),
    )


def improve(
    e: Enclosure,
    evaluate: Callable[[Array], Evaluation],
    modes: Array,
    omegas: Array,
    beyond: Array,
    purpose: Array,
) -> Enclosure:
    """A few more evaluations for enclosures that `enclose` left open, lane by lane.

    ``e`` and ``modes`` have shape (1, lanes); ``omegas`` the frequencies of all modes of each lane's arm, shape
    (K, lanes), ``beyond`` estimates of the modes above them. ``purpose``, a `Purpose`, may be traced. Brackets of
    several modes are cut at the estimate, or, to ``halve`` them, in the middle: slower, but it parts what the estimates
    do not. To ``estimate_again`` a mode, D is evaluated at both sides of it anew.
    """
    others = Others(omegas.shape[0], tuple(beyond[:, None]))
    anew = purpose == Purpose.estimate_again

    def place(i: Array | int) -> tuple[Array, Array]:
        again, second = scheduled(_AGAIN_SCHEDULE)(i), scheduled(_SECOND_SCHEDULE)(i)
        return xp.where(anew, again[0], second[0]), xp.where(anew, again[1], second[1])

    stages = xp.where(anew, len(_AGAIN_SCHEDULE), len(_SECOND_SCHEDULE))
    return _stages(e, modes, evaluate, omegas, others, place, stages, purpose == Purpose.halve)


def _stages(
    e: Enclosure,
    modes: Array,
    evaluate: Callable[[Array], Evaluation],
    omegas: Array | None,
    others: Others,
    place: Callable[[Array | int], tuple[Array, Array]],
    stages: int | Array,
    halve: Array | None,
) -> Enclosure:
    """So many evaluations, one for each ``place`` (beyond, aside), in a loop, so that it is compiled once.

    A trial frequency lies at the relative distance ``beyond`` past the estimate, towards the farther end and at most
    half-way there, and ``aside`` above it; where ``halve`` holds, brackets of several modes are halved. ``omegas`` are
    the frequencies of all modes, None if ``e`` has them all.
    """

    def stage(i: Array | int, e: Enclosure) -> Enclosure:
        trial = trial_frequency(e, *place(i))
        if halve is not None:
            several = halve & (e.upper_count - e.lower_count > 1.5)
            trial = xp.where(several, 0.5 * (e.lower + e.upper), trial)
        return advanced(e, modes, trial, evaluate, omegas, others)

    return repeat(0, stages, stage, e, tree_on_host(e, modes))


def trial_frequency(e: Enclosure, beyond: Array, aside: Array) -> Array:
    """The trial frequency at the relative distances ``beyond`` and ``aside``, see `_stages`."""
    to_lower, to_upper = e.omega - e.lower, e.upper - e.omega
    step = xp.minimum(beyond * e.omega, 0.5 * xp.maximum(to_lower, to_upper))
    return e.omega + xp.where(to_lower < to_upper, step, -step) + aside * e.omega


def scheduled(schedule: list[tuple[float, float]]) -> Callable[[Array | int], tuple[Array, Array]]:
    """``schedule[i]`` by comparisons: kernels have no tables."""

    def entry(values: tuple[float, ...], i: Array | int) -> Array:
        chosen = np.float64(values[-1])
        for k, value in enumerate(values[:-1]):
            chosen = xp.where(i == k, value, chosen)
        return chosen

    beyond, aside = zip(*schedule, strict=True)
    return lambda i: (entry(beyond, i), entry(aside, i))


def advanced(
    e: Enclosure,
    modes: Array,
    trial: Array,
    evaluate: Callable[[Array], Evaluation],
    omegas: Array | None,
    others: Others,
) -> Enclosure:
    """One more evaluation of every mode and the estimate that follows from it."""
    value = evaluate(trial)
    count = value.count.astype(trial.dtype)
    passed = count >= modes
    agrees = (value.sign > 0.0) == (value.count % 2 == 0)
    e = Enclosure(
        omega=e.omega,
        lower=xp.where(passed, e.lower, trial),
        upper=xp.where(passed, trial, e.upper),
        lower_log=xp.where(passed, e.lower_log, value.log_abs),
        upper_log=xp.where(passed, value.log_abs, e.upper_log),
        lower_count=xp.where(passed, e.lower_count, count),
        upper_count=xp.where(passed, count, e.upper_count),
        third=xp.where(passed, e.upper, e.lower),
        third_log=xp.where(passed, e.upper_log, e.lower_log),
        third_sign=xp.where(passed, -1.0, 1.0),
        consistent=e.consistent & agrees,
        error=e.error,
        lower_noise=xp.where(passed, e.lower_noise, value.noise),
        upper_noise=xp.where(passed, value.noise, e.upper_noise),
    )
    omega = _estimate(e, modes, e.omega if omegas is None else omegas, others)
    return dataclasses.replace(e, omega=omega, error=xp.abs(omega / e.omega - 1.0))


def _estimate(e: Enclosure, modes: Array, omegas: Array, others: Others) -> Array:
    """Inverse quadratic interpolation of D over omega^2, the other modes divided out; else the chord."""
    known, row, guessed = others.known, others.row, others.known + len(others.beyond)
    reach = 1.0 / xp.maximum(xp.max(e.upper, axis=0, keepdims=True), row(omegas, known - 1))
    z, low, high, third = ((x * reach) ** 2 for x in (omegas, e.lower, e.upper, e.third))
    at_low, at_high, at_third = xp.ones_like(low), xp.ones_like(low), xp.ones_like(low)
    for j in range(guessed):
        if j < known:
            other = xp.where(modes == j + 1.0, _FAR, row(z, j))
        else:
            other = xp.maximum(others.beyond[j - known] * reach, CLEAR) ** 2
        at_low, at_high = at_low * (other - low), at_high * (other - high)
        at_third = at_third * (other - third)
    # the infinitely many modes beyond: prod (1 - z/z_j), z_j growing like j^4, is about exp(-tail z)
    tail = guessed / 3.0 * (guessed / (guessed + 0.5)) ** 3 / (others.beyond[-1] * reach) ** 2
    high_log = e.upper_log - e.lower_log + tail * (high - low)
    third_log = e.third_log - e.lower_log + tail * (third - low)
    high_value = -xp.abs(at_low / at_high) * xp.exp(high_log)
    third_value = e.third_sign * xp.abs(at_low / at_third) * xp.exp(third_log)
    d_high = (e.upper - e.lower) * (e.upper + e.lower)
    d_third = (e.third - e.lower) * (e.third + e.lower)
    weight_high = third_value / ((high_value - 1.0) * (high_value - third_value))
    weight_third = high_value / ((third_value - 1.0) * (third_value - high_value))
    quadratic = d_high * weight_high + d_third * weight_third
    chord = d_high / (1.0 - high_value)
    inside = (quadratic > 0.0) & (quadratic < d_high)
    # a third point between the ends lies so near the root that its rounding error alone would decide, again
    outside = (d_third < 0.0) | (d_third > d_high)
    offset = xp.where(inside & outside, quadratic, chord)
    return raised(e.lower, offset)
