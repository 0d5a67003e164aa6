"""Enclosure of roughly known natural frequencies by six evaluations per mode.

Trial frequencies between the guessed modes isolate almost all modes; one count each proves it. Inverse quadratic
interpolation of the determinant over omega^2, with other modes divided out, then reaches float64 accuracy. The last two
evaluations enclose the mode on both sides. The interpolation has converged before the last one, so its change is
rounding noise, which gives a measured bound of the error. Modes for which the schedule fails are left to `root_search`.

Arrays have shape (modes, arms); in `improve` (1, lanes), where a lane is one mode of an arm.
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

#: relative distances of the last three trial frequencies from the estimate
_OUTER, _INNER = 3e-6, 1e-8
#: relative width of a finished enclosure
WIDTH = 4.0 * _INNER
#: in place of a mode's own square among the other modes, over the square of the highest upper end: without effect
_FAR = 1e3
#: upper end of a bracket that no count has closed, over the highest trial frequency, and a stand-in for its count
_BEYOND, _UNBOUNDED = 4.0, 2.0**62
#: (beyond, aside) of each evaluation: twice at the estimate, once past it, and on both sides
SCHEDULE = [(0.0, 0.0), (0.0, 0.0), (_OUTER, 0.0), (0.0, -_INNER), (0.0, _INNER)]
_SECOND_SCHEDULE = [(0.0, 0.0), (30.0 * _OUTER, 0.0), (0.0, -_INNER), (0.0, _INNER)]
#: on both sides of a known mode, at other places than before
_AGAIN_SCHEDULE = [(0.0, -0.6 * _INNER), (0.0, 0.6 * _INNER)]
#: number of times that brackets of several modes are halved before double-double is used
HALVINGS = 3


class Purpose(enum.IntEnum):
    """Purpose of `improve`: cut brackets at the estimate, halve them, or estimate a known mode again."""

    cut = 0
    halve = 1
    estimate_again = 2

    @property
    def evaluations(self) -> int:
        """Number of evaluations of `improve`."""
        return len(_AGAIN_SCHEDULE if self is Purpose.estimate_again else _SECOND_SCHEDULE)


def _row(x: Array, j: int) -> Array:
    return x[j : j + 1]


@dataclasses.dataclass(frozen=True)
class Others:
    """The other modes of an arm, for each of its modes, and access to the values of other lanes.

    Attributes
    ----------
    known : int
        K, the number of modes enclosed together.
    beyond : tuple of Array, shape (1, arms)
        Estimates of the modes above these, one array each.
    row : Callable
        ``row(x, j)`` is the value of mode j + 1 in an array over modes and arms, shape (1, arms).
    """

    known: int
    beyond: tuple[Array, ...]
    row: Callable[[Array, int], Array] = _row


def enclose(
    evaluate: Callable[[Array], Evaluation], modes: Array, guess: Array, log_at_zero: Array
) -> Enclosure:
    """Enclose the roughly known modes 1 to K of arms.

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
        ``omega`` is a mode if ``lower_count = mode - 1``, ``upper_count = mode`` and ``consistent``; it is accurate to
        ``error`` if the relative distance of the ends is at most `WIDTH`.
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
    """Return `enclose` with given estimates ``own`` and first trial frequencies, shape (lanes, arms).

    There is one lane per mode; further lanes repeat the last mode.
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
    """Return enclosures from one evaluation between any two guessed modes; every count can tighten every bracket."""
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
        # from above: the lowest trial that passes a mode is its upper end
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
    """Improve enclosures that `enclose` left open by a few more evaluations, lane by lane.

    ``e`` and ``modes`` have shape (1, lanes). ``omegas``, (K, lanes), are the frequencies of all modes of each lane's
    arm, and ``beyond`` estimates of the modes above. ``purpose``, a `Purpose`, may be traced. Brackets of several modes
    are cut at the estimate or, with ``halve``, in the middle, which is slower but separates modes that the estimates do
    not. With ``estimate_again``, D is evaluated on both sides of a mode again.
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
    """Return enclosures after several evaluations, one at each ``place`` (beyond, aside), in a loop compiled once.

    A trial frequency is at the relative distance ``beyond`` from the estimate, towards the farther end and at most
    half-way there, plus ``aside``. With ``halve``, brackets of several modes are halved. ``omegas`` are the frequencies
    of all modes, None if ``e`` has them all.
    """

    def stage(i: Array | int, e: Enclosure) -> Enclosure:
        trial = trial_frequency(e, *place(i))
        if halve is not None:
            several = halve & (e.upper_count - e.lower_count > 1.5)
            trial = xp.where(several, 0.5 * (e.lower + e.upper), trial)
        return advanced(e, modes, trial, evaluate, omegas, others)

    return repeat(0, stages, stage, e, tree_on_host(e, modes))


def trial_frequency(e: Enclosure, beyond: Array, aside: Array) -> Array:
    """Return the trial frequency at the relative distances ``beyond`` and ``aside``, see `_stages`."""
    to_lower, to_upper = e.omega - e.lower, e.upper - e.omega
    step = xp.minimum(beyond * e.omega, 0.5 * xp.maximum(to_lower, to_upper))
    return e.omega + xp.where(to_lower < to_upper, step, -step) + aside * e.omega


def scheduled(schedule: list[tuple[float, float]]) -> Callable[[Array | int], tuple[Array, Array]]:
    """Return a function for ``schedule[i]`` that uses comparisons, because kernels have no tables."""

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
    """Return enclosures after one more evaluation of every mode, with a new estimate."""
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
    """Return estimates by inverse quadratic interpolation of D over omega^2, other modes divided out, or chords."""
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
    # all higher modes: prod (1 - z/z_j), with z_j growing like j^4, is about exp(-tail z)
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
    # a third point between the ends is so close to the root that its rounding error would dominate
    outside = (d_third < 0.0) | (d_third > d_high)
    offset = xp.where(inside & outside, quadratic, chord)
    return raised(e.lower, offset)
