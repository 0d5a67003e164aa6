"""Rules to accept the enclosure of a mode, and its correction by one evaluation in double-double.

The functions take arrays of NumPy or JAX: `work` uses them on the host for gathered modes, `resident` on the device for
all modes of a block.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from jaxmodal.batches.guided_search import WIDTH
from jaxmodal.dynamic_stiffness.evaluation import CERTAIN, Evaluation
from jaxmodal.frequencies.brackets import Enclosure, chord
from jaxmodal.runtime.namespace import Array, xp

#: limits to accept a float64 frequency: relative change in the last evaluation at a converged estimate (NOISE), and
#: estimated effect of rounding (BOUND), because one small change may be an accident. If a second estimate agrees with
#: the first, the estimated effect of rounding may be larger by the last factor
NOISE, BOUND, _AGREEMENT = 5e-14, 1e-12, 16.0
#: BOUND for arms with supports, whose rounding errors are not part of the noise
OF_SUPPORTS = BOUND / 16.0
#: largest relative error of a frequency in units of the noise at the ends of its enclosure: less than the limit for
#: counts, because the change of the last estimate is also measured
_ERROR = CERTAIN / 16.0
#: stated relative error, in units of the last change of the estimate
SAFETY = 4.0
#: least distance of a mode from the ends of its enclosure, in units of `WIDTH`, so that their signs are above the noise
_INSIDE = 0.1
#: relative distance of neighbouring modes below which a second estimate must agree (D is flat between them; the error
#: is about 6e-16 over the distance), and below which both modes are finished in double-double
CLOSE, CROWDED = 1e-2, 1e-6
#: largest float64 error of a mode that one evaluation in double-double can correct
KNOWN = 1e-11
#: largest relative error of the chord after that evaluation
_CORRECTED = 1e-14
#: half-width of the first bracket in double-double: multiple of the float64 error, smallest and largest value
_ERRORS, _LEAST, _MOST = 4.0, 4e-13, 2e-9
#: largest relative width of a bracket with several modes that double-double separates
_NARROW = 1e-4


def accepted(e: Enclosure, number: Array, most: float = BOUND) -> Array:
    """Return True for proven enclosures of the modes ``number`` with an error of at most ``most``."""
    return quiet(e, number) & (bound(e) <= most)


def bound(e: Enclosure) -> Array:
    """Return the estimated relative error: the last change, or the rounding error at the ends, whichever is larger."""
    return xp.maximum(e.error, _ERROR * e.noise)


def stated(e: Enclosure) -> Array:
    """Return the stated bound of the relative error of accepted modes, at most `BOUND`."""
    return xp.minimum(_at_most(e), BOUND)


def _at_most(e: Enclosure) -> Array:
    """Return bounds of the relative error from the last change and the noise, at least one rounding error."""
    return xp.maximum(SAFETY * e.error, CERTAIN * xp.maximum(e.noise, 1.0))


def with_neighbour(omega: Array, distance: float) -> Array:
    """Return True for modes with a neighbour within a relative distance; ``omega`` has shape (modes, cells)."""
    near = xp.abs(omega[1:] - omega[:-1]) <= distance * omega[1:]
    none = xp.zeros_like(near[:1], shape=(1, *omega.shape[1:]))
    return xp.concatenate([near, none]) | xp.concatenate([none, near])


def distance_to_nearest(below: Array, own: Array, above: Array) -> Array:
    """Return the distance of modes to the nearer neighbour, relative to the higher mode; NaN means no neighbour."""
    return xp.fmin(
        xp.fmin(xp.abs(own - below) / own, xp.abs(above - own) / above), xp.full_like(own, xp.inf)
    )


def doubtful(e: Enclosure, number: Array, close: Array, most: float = BOUND) -> Array:
    """Return True for enclosures that need a second estimate; ``close`` is True for modes with a close neighbour."""
    alone = bound(e)
    return quiet(e, number) & (alone <= _AGREEMENT * most) & ((alone > most) | close)


def quiet(e: Enclosure, number: Array) -> Array:
    """Return True for proven enclosures with a small change in the last evaluation."""
    return proven(e, number) & (e.error <= NOISE)


def proven(e: Enclosure, number: Array) -> Array:
    """Return True for modes proven by counts at both ends of a narrow enclosure, well inside the ends."""
    inside = xp.minimum(e.omega - e.lower, e.upper - e.omega)
    return enclosed(e, number) & (inside > _INSIDE * WIDTH * e.omega)


def clear(e: Enclosure) -> Array:
    """Return True for enclosures whose counts rounding errors cannot change."""
    from_lower, from_upper = e.omega - e.lower, e.upper - e.omega
    return (from_lower > CERTAIN * e.lower_noise * e.omega) & (
        from_upper > CERTAIN * e.upper_noise * e.omega
    )


def enclosed(e: Enclosure, number: Array) -> Array:
    """Return True for modes enclosed by the counts at both ends of a narrow enclosure, if the counts are right."""
    return (
        (e.lower_count == number - 1)
        & (e.upper_count == number)
        & e.consistent
        & (e.upper - e.lower <= WIDTH * e.upper)
    )


def estimated_again(e: Enclosure, again: Enclosure, number: Array) -> tuple[Array, Array]:
    """Return the mean of two estimates, and True where they agree within `NOISE`; ``again`` is the second one."""
    change = xp.abs(again.omega / e.omega - 1.0)
    return 0.5 * (again.omega + e.omega), quiet(again, number) & (change <= NOISE)


def corrected(
    e: Enclosure, mode: Array, d: Evaluation, beside: Array, distance: Array
) -> tuple[Enclosure, Array]:
    """Return enclosures improved by the chord from a double-double evaluation at the mode to an end of the enclosure.

    The relative error of the step has two parts: the error of D at the float64 end (noise of the mode over its
    distance), and the curvature of D. A mode stays open where they leave an error above `_CORRECTED`.

    Parameters
    ----------
    mode : Array
        Number of modes below each.
    d : Evaluation
        Evaluation in double-double at ``e.omega``.
    beside : Array, shape (2, lanes)
        Modes below and above; NaN for none.
    distance : Array
        Distance to the nearer of these, see `distance_to_nearest`.

    Returns
    -------
    Enclosure, Array
        The enclosures, with new frequency and ends where the count proves them and new error where it is small enough;
        and True where it is.
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
    # the stated error is an upper bound, for modes on both sides at this distance
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
    """Return the relative half-width of the first double-double bracket of a mode that float64 has enclosed."""
    return xp.clip(_ERRORS * xp.maximum(e.error, _ERROR * e.noise), _LEAST, _MOST)


def worth_refining(e: Enclosure) -> Array:
    """Return True for enclosures of one mode, or narrow ones of several, which double-double may separate."""
    alone = e.upper_count - e.lower_count == 1
    return alone | (e.upper - e.lower <= _NARROW * e.upper)
