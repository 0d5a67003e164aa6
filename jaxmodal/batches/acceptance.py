"""When the enclosure of a mode is proof enough, and what one evaluation in double-double makes of one that is not.

Formulas of arrays of NumPy or JAX: `work` asks them of modes that it has gathered on the host, `resident` of all modes
of a block on the device.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from jaxmodal.batches.guided_search import WIDTH
from jaxmodal.dynamic_stiffness.evaluation import CERTAIN, Evaluation
from jaxmodal.frequencies.brackets import Enclosure, chord
from jaxmodal.runtime.namespace import Array, xp

#: a float64 frequency is accepted when the last evaluation, at a converged estimate, changed it by less than the first
#: of these, and when rounding moves it by no more than the second; one small change may be an accident. Where a second
#: estimate agrees with the first, rounding may seem to move it so many times as far
NOISE, BOUND, _AGREEMENT = 5e-14, 1e-12, 16.0
#: the second of these where there are supports: what rounds in those is no part of the noise
OF_SUPPORTS = BOUND / 16.0
#: relative error of a frequency, at the most, in units of the noise of the evaluations at its ends: less than what is
#: allowed for the counts there, as what the last estimate changed is measured as well
_ERROR = CERTAIN / 16.0
#: what is stated of the last change of an estimate, in units of it
SAFETY = 4.0
#: distance of a mode from the ends of its enclosure, in widths, at which their signs are beyond the noise
_INSIDE = 0.1
#: relative distance of neighbouring modes below which a second estimate must agree: D is flat between them, and the
#: error about 6e-16 over the distance; and below which both are finished in double-double
CLOSE, CROWDED = 1e-2, 1e-6
#: a mode whose float64 error is smaller needs one evaluation in double-double
KNOWN = 1e-11
#: relative error that the chord after that evaluation may leave
_CORRECTED = 1e-14
#: half-width of the first brackets in double-double: so many times float64's own error, at the least and at most
_ERRORS, _LEAST, _MOST = 4.0, 4e-13, 2e-9
#: brackets of several modes that are narrower are parted in double-double, relative
_NARROW = 1e-4


def accepted(e: Enclosure, number: Array, most: float = BOUND) -> Array:
    """Enclosures of the modes of these numbers, proven, and with rounding noise of ``most`` unless a mode is close."""
    return quiet(e, number) & (bound(e) <= most)


def bound(e: Enclosure) -> Array:
    """Relative error of the modes by one estimate: what it changed, and what was rounded at the ends."""
    return xp.maximum(e.error, _ERROR * e.noise)


def stated(e: Enclosure) -> Array:
    """The bound of the relative error that is stated of modes that are accepted: of those the largest is `BOUND`."""
    return xp.minimum(_at_most(e), BOUND)


def _at_most(e: Enclosure) -> Array:
    """Return bounds of the relative error: the change of the last estimate, at least a rounding of the values."""
    return xp.maximum(SAFETY * e.error, CERTAIN * xp.maximum(e.noise, 1.0))


def with_neighbour(omega: Array, distance: float) -> Array:
    """Modes with a neighbour within a relative distance; ``omega`` of shape (modes, cells)."""
    near = xp.abs(omega[1:] - omega[:-1]) <= distance * omega[1:]
    none = xp.zeros_like(near[:1], shape=(1, *omega.shape[1:]))
    return xp.concatenate([near, none]) | xp.concatenate([none, near])


def distance_to_nearest(below: Array, own: Array, above: Array) -> Array:
    """Distance of modes to the nearer of the two beside them, relative to the higher one; NaN stands for none there."""
    return xp.fmin(
        xp.fmin(xp.abs(own - below) / own, xp.abs(above - own) / above), xp.full_like(own, xp.inf)
    )


def doubtful(e: Enclosure, number: Array, close: Array, most: float = BOUND) -> Array:
    """Enclosures whose rounding noise may be small by accident; ``close`` are those with a close neighbour."""
    alone = bound(e)
    return quiet(e, number) & (alone <= _AGREEMENT * most) & ((alone > most) | close)


def quiet(e: Enclosure, number: Array) -> Array:
    """Enclosures that are proven and that the last evaluation changed little."""
    return proven(e, number) & (e.error <= NOISE)


def proven(e: Enclosure, number: Array) -> Array:
    """Modes that the counts at both ends of a narrow enclosure prove, the ends clear of the noise at the mode."""
    inside = xp.minimum(e.omega - e.lower, e.upper - e.omega)
    return enclosed(e, number) & (inside > _INSIDE * WIDTH * e.omega)


def clear(e: Enclosure) -> Array:
    """Enclosures whose ends lie farther from the mode than rounding can move what was counted there."""
    from_lower, from_upper = e.omega - e.lower, e.upper - e.omega
    return (from_lower > CERTAIN * e.lower_noise * e.omega) & (
        from_upper > CERTAIN * e.upper_noise * e.omega
    )


def enclosed(e: Enclosure, number: Array) -> Array:
    """Modes that the counts at both ends of a narrow enclosure prove, as far as these are right."""
    return (
        (e.lower_count == number - 1)
        & (e.upper_count == number)
        & e.consistent
        & (e.upper - e.lower <= WIDTH * e.upper)
    )


def estimated_again(e: Enclosure, again: Enclosure, number: Array) -> tuple[Array, Array]:
    """The middle of two estimates of modes, and which agree so well that it is known; ``again`` is the second one."""
    change = xp.abs(again.omega / e.omega - 1.0)
    return 0.5 * (again.omega + e.omega), quiet(again, number) & (change <= NOISE)


def corrected(
    e: Enclosure, mode: Array, d: Evaluation, beside: Array, distance: Array
) -> tuple[Enclosure, Array]:
    """The chord from an evaluation in double-double at a mode that float64 knows well to an end of its enclosure.

    The step along the chord is as wrong, relative to itself, as D at the float64 end, whose noise is that of the
    mode over its distance, and as D is curved on the way. Where that leaves more than `_CORRECTED` the mode stays
    open.

    Parameters
    ----------
    mode : Array
        How many modes lie below each.
    d : Evaluation
        In double-double at ``e.omega``.
    beside : Array, shape (2, lanes)
        The modes below and above, NaN for none.
    distance : Array
        To the nearer of these, `distance_to_nearest`.

    Returns
    -------
    Enclosure, Array
        With the frequency and the ends that follow where the count proves them, with the error where that is small
        enough; and where it is.
    """
    count = d.count.astype(np.float64)
    above = count > mode
    chosen = xp.stack([~above, above])
    ends = xp.where(chosen, e.omega, xp.stack([e.lower, e.upper]))
    logs = xp.where(chosen, d.log_abs, xp.stack([e.lower_log, e.upper_log]))
    counts = xp.where(chosen, count, xp.stack([e.lower_count, e.upper_count]))
    omega = chord(ends, logs, beside)
    step = xp.abs(omega / e.omega - 1.0)
    to_end = xp.where(above, e.omega - e.lower, e.upper - e.omega) / e.omega
    error = step * (xp.maximum(bound(e), step) / to_end + to_end / distance)
    isolated = xp.all(counts == xp.stack([mode, mode + 1]), axis=0)
    sound = isolated & ((d.sign > 0.0) == (d.count % 2 == 0))
    inside = (ends[0] < omega) & (omega < ends[1])
    good = sound & inside
    settled = good & (step <= KNOWN) & (error <= _CORRECTED)
    # stated is what it may be at most, with modes on both sides at that distance
    error = SAFETY * step * (xp.maximum(_at_most(e), step) / to_end + 2.0 * to_end / distance)
    error = error + 2.0**-52
    found = {
        "omega": omega,
        "lower": ends[0],
        "upper": ends[1],
        "lower_log": logs[0],
        "upper_log": logs[1],
    }
    kept = {name: xp.where(good, value, getattr(e, name)) for name, value in found.items()}
    return dataclasses.replace(e, **kept, error=xp.where(settled, error, e.error)), settled


def first_half_width(e: Enclosure) -> Array:
    """Relative half-width of the first bracket in double-double of a mode that float64 has enclosed."""
    return xp.clip(_ERRORS * xp.maximum(e.error, _ERROR * e.noise), _LEAST, _MOST)


def worth_refining(e: Enclosure) -> Array:
    """Enclosures with one mode, or narrow ones of several, which double-double may part."""
    alone = e.upper_count - e.lower_count == 1
    return alone | (e.upper - e.lower <= _NARROW * e.upper)
