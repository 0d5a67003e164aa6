"""Motions in polynomial pieces: splines through points, and profiles of limited speed and acceleration."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxmodal.arm.arguments import positive, reals
from jaxmodal.dynamics.drives.motions import Motion
from jaxmodal.dynamics.drives.rules import floats, numbers
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import Array

#: pieces shorter than this share of the whole are left out of a profile
_NOTHING = 1e-12


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True, repr=False)
class PiecewisePolynomial(Motion):
    """Motion that is a polynomial in each of M pieces, and at rest before and after.

    Created by `cubic_spline`, `quintic_spline`, `trapezoid`, `s_curve` and `modal_s_curve`.

    Attributes
    ----------
    breaks
        Ascending start times of the pieces, and the end time, s, shape (M + 1,).
    coefficients
        Coefficients of ``(t - break)^0``, ``^1`` and so on in each piece, rad and s, shape (M, order + 1, n).
    """

    breaks: Any = numbers("finite, ascending (s)", lambda x: np.isfinite(x) & _ascending(x))
    coefficients: Any = numbers("finite, of shape (pieces, order + 1, joints)")

    def angles(self, time: Any) -> Array:
        breaks, coefficients = floats(self.breaks, self.coefficients)
        # both ends belong to their pieces; jnp.clip would halve the rates there, and quarter the accelerations
        piece = jnp.clip(jnp.searchsorted(breaks, time, side="right") - 1, 0, breaks.size - 2)
        inside = (time >= breaks[0]) & (time <= breaks[-1])
        at = jnp.where(inside, time, jnp.where(time < breaks[0], breaks[0], breaks[-1]))
        at = at - breaks[piece]
        own = coefficients[piece]
        value = own[-1]
        for k in range(own.shape[0] - 2, -1, -1):
            value = own[k] + at * value
        return value


def _ascending(x: np.ndarray) -> bool:
    return x.ndim == 1 and x.size > 1 and bool(np.all(np.diff(x) > 0.0))


def cubic_spline(times: Any, angles: Any) -> PiecewisePolynomial:
    """Return the cubic spline through angles at times, at rest at both ends.

    Parameters
    ----------
    times
        Ascending times, s, shape (T,), at least two.
    angles
        Angles of the joints at these times, rad, shape (T, n).

    Raises
    ------
    ArmError
        If they are not finite, not ascending, or do not fit together.

    Notes
    -----
    Angles, rates and accelerations are continuous inside; accelerations may jump at the ends.

    Examples
    --------
    >>> import jax; jax.config.update("jax_enable_x64", True)
    >>> move = cubic_spline([0.0, 1.0], [[0.0], [2.0]])
    >>> [round(float(move.angles(t)[0]), 6) for t in (-1.0, 0.0, 0.5, 1.0, 2.0)]
    [0.0, 0.0, 1.0, 2.0, 2.0]
    """
    return through(*_points(times, angles), "clamped")


def through(moments: np.ndarray, places: np.ndarray, ends: str) -> PiecewisePolynomial:
    """Return the cubic spline through angles at times, with end conditions named as in SciPy's `CubicSpline`."""
    from scipy.interpolate import CubicSpline

    spline = CubicSpline(moments, places, bc_type=ends)
    return PiecewisePolynomial(moments, np.moveaxis(spline.c[::-1], 0, 1))


def quintic_spline(times: Any, angles: Any) -> PiecewisePolynomial:
    """Return the quintic spline through angles at times, at rest and without acceleration at both ends.

    Parameters
    ----------
    times, angles
        As for `cubic_spline`.

    Raises
    ------
    ArmError
        As for `cubic_spline`.

    Notes
    -----
    Derivatives up to the fourth are continuous inside, accelerations also at the ends. For two points it is the
    polynomial of `RestToRest`. It overshoots more than `cubic_spline` between unevenly spaced points.

    Examples
    --------
    >>> import jax; jax.config.update("jax_enable_x64", True)
    >>> move = quintic_spline([0.0, 1.0], [[0.0], [2.0]])
    >>> [round(float(move.angles(t)[0]), 6) for t in (-1.0, 0.0, 0.25, 0.5, 1.0, 2.0)]
    [0.0, 0.0, 0.207031, 1.0, 2.0, 2.0]
    """
    from scipy.interpolate import PPoly, make_interp_spline

    moments, places = _points(times, angles)
    rest = [(order, np.zeros(places.shape[1])) for order in (1, 2)]
    spline = make_interp_spline(moments, places, k=5, bc_type=(rest, rest))
    # knots are the points, with the two ends six times
    pieces = [PPoly.from_spline((spline.t, column, 5)).c[::-1, 5:-5].T for column in spline.c.T]
    return PiecewisePolynomial(moments, np.stack(pieces, axis=-1))


def _points(times: Any, angles: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return times (T,) and angles (T, n) that are checked for a spline."""
    moments = reals("times", times, "ascending times, s")
    places = reals("angles", angles, "angles of the joints at each time, rad")
    if not _ascending(moments):
        raise ArmError("times: must be at least two, in a row, each later than the one before (s).")
    if places.ndim != 2 or places.shape[0] != moments.size or places.shape[1] == 0:
        raise ArmError(
            f"angles: of shape {places.shape} with {moments.size} times; must be of shape ({moments.size}, joints), "
            "a row for each time."
        )
    if not (np.all(np.isfinite(moments)) and np.all(np.isfinite(places))):
        raise ArmError("times, angles: must be finite; leave out rows without values.")
    return moments, places


def trapezoid(start: Any, end: Any, speed: Any, acceleration: Any) -> PiecewisePolynomial:
    """Return a motion on a line of joint angles with constant acceleration, speed and deceleration, rest to rest.

    The joint that is most restricted by its limits sets the pace for all.

    Parameters
    ----------
    start, end
        Joint angles, rad, shape (n,).
    speed, acceleration
        Limits, rad/s and rad/s^2, one for all joints or (n,).

    Raises
    ------
    ArmError
        If a limit is not greater than 0, or the ends are the same.

    Examples
    --------
    >>> move = trapezoid([0.0, 0.0], [1.0, -0.5], speed=1.0, acceleration=2.0)
    >>> move.breaks.tolist()
    [0.0, 0.5, 1.0, 1.5]
    """
    first, way, limits = _on_a_line(start, end, speed=speed, acceleration=acceleration)
    top, push = limits["speed"], limits["acceleration"]
    gaining = min(top / push, 1.0 / np.sqrt(push))
    steady = max(1.0 / (push * gaining) - gaining, 0.0)
    return _profile(first, way, [gaining, steady, gaining], [push, 0.0, -push], [0.0, 0.0, 0.0])


def s_curve(start: Any, end: Any, speed: Any, acceleration: Any, jerk: Any) -> PiecewisePolynomial:
    """Return a motion as of `trapezoid` with limited jerk: up to seven pieces, fewer for short distances.

    Parameters
    ----------
    start, end, speed, acceleration
        As for `trapezoid`.
    jerk
        Limit of the rate of change of the acceleration, rad/s^3, one for all joints or (n,).

    Raises
    ------
    ArmError
        As for `trapezoid`.

    Examples
    --------
    >>> s_curve([0.0], [1.0], speed=1.0, acceleration=2.0, jerk=8.0).breaks.tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75]
    """
    first, way, limits = _on_a_line(start, end, speed=speed, acceleration=acceleration, jerk=jerk)
    top, push, rise = limits["speed"], limits["acceleration"], limits["jerk"]
    rising = min(push / rise, np.sqrt(top / rise))
    gaining = rising + top / (rise * rising)  # time of the whole change of speed
    if rise * rising * (gaining - rising) * gaining > 1.0:  # the speed limit is not reached
        rising = min(push / rise, (0.5 / rise) ** (1.0 / 3.0))
        gaining = 0.5 * rising + np.sqrt(0.25 * rising**2 + 1.0 / (rise * rising))
    reached = rise * rising * (gaining - rising)
    steady = max(1.0 / reached - gaining, 0.0)
    held, most = max(gaining - 2.0 * rising, 0.0), rise * rising
    durations = [rising, held, rising, steady, rising, held, rising]
    pushes = [0.0, most, most, 0.0, 0.0, -most, -most]
    return _profile(first, way, durations, pushes, [rise, 0.0, -rise, 0.0, -rise, 0.0, rise])


def modal_s_curve(
    start: Any, end: Any, omega: Any, speed: Any, acceleration: Any, jerk: Any = None
) -> PiecewisePolynomial:
    """Return an S-curve whose jerk and acceleration times are periods of modes, which it leaves at rest.

    Parameters
    ----------
    start, end, speed, acceleration
        As for `trapezoid`; the limits are kept.
    omega
        Angular frequencies of two modes, rad/s, or of one mode, whose period is then used twice, which makes the motion
        robust to a small error of the frequency.
    jerk
        Limit of the jerk as for `s_curve`; no limit by default.

    Raises
    ------
    ArmError
        As for `trapezoid`; also if a frequency is not greater than 0, or there are more than two.

    Notes
    -----
    The rate is a convolution of rectangles: two with the periods as lengths, and a third as short as the limits allow.
    Without damping, each cancels vibration at its frequency and all multiples of it. If the periods alone keep the
    limits, there is no third rectangle, and accelerations jump.

    Examples
    --------
    >>> import math
    >>> modal_s_curve([0.0], [1.0], [4 * math.pi, 16 * math.pi], 1.0, 4.0).breaks.tolist()
    [0.0, 0.125, 0.5, 0.625, 1.0, 1.125, 1.5, 1.625]
    """
    given = {"speed": speed, "acceleration": acceleration} | (
        {} if jerk is None else {"jerk": jerk}
    )
    first, way, limits = _on_a_line(start, end, **given)
    omega = np.atleast_1d(reals("omega", omega, "angular frequencies, rad/s"))
    if omega.shape not in ((1,), (2,)) or not np.all((omega > 0.0) & np.isfinite(omega)):
        raise ArmError(
            f"omega = {omega.tolist()}: must be one or two angular frequencies greater than 0, rad/s."
        )
    long, short = 2.0 * np.pi / omega.min(), 2.0 * np.pi / omega.max()
    if not long * short > 1e-100:
        raise ArmError(
            f"omega = {omega.tolist()}: periods are too short to shape anything; check the unit, rad/s."
        )
    # with rectangles of area 1, the longest bounds the rate, the two longest the acceleration, all three the jerk,
    # which is twice as large if none is as long as the other two together
    needed = 1.0 / limits["speed"], 1.0 / (limits["acceleration"] * long)
    third = max(
        0.0 if long >= needed[0] else needed[0],
        0.0 if short >= needed[1] else needed[1],
    )
    if "jerk" in limits:
        least = 1.0 / (limits["jerk"] * long * short)
        single = max(third, least)
        if long - short < single < long + short:
            single = min(max(third, 2.0 * least), long + short)
        third = single
    # the highest derivative jumps at all sums of subsets of the lengths
    times, jumps = np.zeros(1), np.ones(1)
    for length in (long, short, third) if third > 0.0 else (long, short):
        times = np.concatenate([times, times + length])
        jumps = np.concatenate([jumps, -jumps]) / length
    order = np.argsort(times, kind="stable")
    durations = np.diff(times[order])
    levels = np.cumsum(jumps[order])[:-1]
    if third > 0.0:
        pushes, jerks = np.concatenate([[0.0], np.cumsum(levels * durations)[:-1]]), levels
    else:
        pushes, jerks = levels, np.zeros_like(levels)
    return _profile(first, way, durations.tolist(), pushes.tolist(), jerks.tolist())


def _on_a_line(
    start: Any, end: Any, **limits: Any
) -> tuple[np.ndarray, np.ndarray, dict[str, float]]:
    """Return start, distance, and the limits in shares of the distance."""
    first, last = (
        np.atleast_1d(reals(name, value, "angles of the joints, rad"))
        for name, value in (("start", start), ("end", end))
    )
    if first.ndim != 1 or first.shape != last.shape:
        raise ArmError(
            f"start, end: of shapes {first.shape} and {last.shape}; must be two rows with an angle for each joint."
        )
    way = last - first
    if not np.all(np.isfinite(way)) or not np.any(way):
        raise ArmError("start, end: must be finite and differ; Hold keeps joints where they are.")
    shares, moving = {}, way != 0.0
    for name, value in limits.items():
        each = reals(name, value, "numbers greater than 0, one for each joint or one for all")
        if each.shape not in ((), way.shape) or not np.all(each > 0.0):
            raise ArmError(
                f"{name} = {each.tolist()}: must be greater than 0, one for all joints or {way.size}."
            )
        shares[name] = float(np.min(np.broadcast_to(each, way.shape)[moving] / np.abs(way[moving])))
        positive(name, shares[name])
    return first, way, shares


def _profile(
    first: np.ndarray,
    way: np.ndarray,
    durations: Sequence[float],
    pushes: Sequence[float],
    jerks: Sequence[float],
) -> PiecewisePolynomial:
    """Return a motion along a line from pieces of constant jerk and the acceleration at the start of each."""
    whole = sum(durations)
    breaks, rows, done, speed = [0.0], [], 0.0, 0.0
    for time, push, jerk in zip(durations, pushes, jerks, strict=True):
        if time <= _NOTHING * whole:
            continue
        rows.append([done, speed, 0.5 * push, jerk / 6.0])
        done += time * (speed + time * (0.5 * push + time * jerk / 6.0))
        speed += time * (push + 0.5 * time * jerk)
        breaks.append(breaks[-1] + time)
    shares = np.array(rows)[:, :, None]
    coefficients = shares * way
    coefficients[:, 0] += first
    return PiecewisePolynomial(np.array(breaks), coefficients)
