"""Stationary points of a smooth positive curve on an interval, by piecewise Chebyshev polynomials."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev

from jaxmodal.runtime.array_types import Bools, Floats

#: degree of each polynomial
_DEGREE = 24
#: share of the largest coefficient below which the last coefficients of a resolved piece lie
_RESOLVED = 1e-12
#: share of the largest coefficient below which coefficients may be rounding errors, as for a curve close to its peak
_ROUNDING = 1e-6
#: largest number of halvings of a piece, enough for peaks with a width of 1e-12 of the interval
_MOST_HALVINGS = 44

#: smallest half of a piece, relative to its midpoint, below which frequencies have no more digits
_NARROWEST = 1e-13
#: share of the largest coefficient of a slope below which coefficients are rounding; largest imaginary part of a root
#: that counts as real, which is that of a double root
_NO_SLOPE, _REAL = 1e-13, 1e-7
#: share of a piece below which two stationary points count as one
_SAME = 1e-6

Curve = Callable[[Floats], Floats]


class Extrema(NamedTuple):
    """Stationary points of a curve, in ascending order; ``maximum`` is True for maxima and False for minima."""

    place: Floats
    value: Floats
    maximum: Bools


class Pieces(NamedTuple):
    """A curve as Chebyshev series on adjacent pieces: ends (P, 2), coefficients (P, degree + 1)."""

    ends: Floats
    coefficients: Floats


_NODES = np.cos(np.pi * np.arange(_DEGREE, -1, -1) / _DEGREE)
_TO_COEFFICIENTS = np.linalg.inv(chebyshev.chebvander(_NODES, _DEGREE))


def piecewise(curve: Curve, breaks: Floats) -> Pieces:
    """Return a smooth curve as Chebyshev series; pieces are halved until each is resolved.

    Parameters
    ----------
    curve
        Vectorised function of an array of points, with finite values.
    breaks : array, shape (B,)
        Ascending ends of the first pieces.

    Notes
    -----
    Coefficients that are small and no longer decrease are rounding errors of the curve; such a piece is not halved.
    """
    open_ends = np.stack([breaks[:-1], breaks[1:]], axis=1)
    ends, series = [], []
    for halving in range(_MOST_HALVINGS + 1):
        middle, half = open_ends.mean(axis=1), 0.5 * np.diff(open_ends, axis=1)[:, 0]
        places = middle[:, None] + half[:, None] * _NODES
        values = curve(places.reshape(-1)).reshape(places.shape)
        found = values @ _TO_COEFFICIENTS.T
        size = np.abs(found)
        last, largest = size[:, -4:].max(axis=1), size.max(axis=1)
        resolved = last <= _RESOLVED * largest
        # small coefficients that no longer decrease are rounding, which halving would not reduce
        level = size[:, -12:-4].max(axis=1)
        resolved |= (last <= _ROUNDING * largest) & (last > 0.1 * level)
        narrow = half <= _NARROWEST * np.abs(middle)
        done = resolved | narrow | (halving == _MOST_HALVINGS)
        ends.append(open_ends[done])
        series.append(found[done])
        if done.all():
            break
        left, right = open_ends[~done, 0], open_ends[~done, 1]
        between = 0.5 * (left + right)
        open_ends = np.concatenate(
            [np.stack([left, between], axis=1), np.stack([between, right], axis=1)]
        )
    ends_found, coefficients = np.concatenate(ends), np.concatenate(series)
    order = np.argsort(ends_found[:, 0])
    return Pieces(ends_found[order], coefficients[order])


def extrema(curve: Curve, breaks: Floats) -> Extrema:
    """Return all stationary points of a smooth curve between the first and the last of ``breaks``.

    Notes
    -----
    A point on the border of two pieces may be found in both or, by rounding, in neither. In the latter case the slopes
    on both sides of the border have opposite signs, and the border is taken as the stationary point.
    """
    pieces = piecewise(curve, breaks)
    places, values, maxima, near = [], [], [], []
    before = 0.0
    for (left, right), series in zip(pieces.ends, pieces.coefficients, strict=True):
        half = 0.5 * (right - left)
        slope = chebyshev.chebder(series)
        at_left, at_right = chebyshev.chebval([-1.0, 1.0], slope) / half
        inside = _roots(slope)
        if before * at_left < 0.0:
            inside = np.concatenate([[-1.0], inside])
        bend = chebyshev.chebval(inside, chebyshev.chebder(slope))
        falls = np.where(inside == -1.0, before > 0.0, bend < 0.0)
        places.append(left + half * (1.0 + inside))
        values.append(chebyshev.chebval(inside, series))
        maxima.append(falls)
        near.append(np.full(inside.size, _SAME * half))
        before = at_right
    place, value, maximum, close = (np.concatenate(x) for x in (places, values, maxima, near))
    order = np.argsort(place, kind="stable")
    place, value, maximum, close = place[order], value[order], maximum[order], close[order]
    # of points that were found twice, the one with the larger value of its kind is kept
    kept: list[int] = []
    for k in range(place.size):
        if kept and place[k] - place[kept[-1]] <= max(close[k], close[kept[-1]]):
            if maximum[k] != maximum[kept[-1]]:  # border counted in addition to the point itself
                kept.pop()
            continue
        kept.append(k)
    inner = [k for k in kept if breaks[0] < place[k] < breaks[-1]]
    return Extrema(place[inner], value[inner], maximum[inner])


def _roots(slope: Floats) -> Floats:
    """Return the real roots of a Chebyshev series in [-1, 1], in ascending order."""
    # coefficients below rounding have no influence on the zeros of the slope
    kept = np.flatnonzero(np.abs(slope) > _NO_SLOPE * np.abs(slope).max(initial=0.0))
    if kept.size == 0 or kept[-1] == 0:
        return np.zeros(0)
    roots = chebyshev.chebroots(slope[: kept[-1] + 1])
    real = np.sort(roots[np.abs(roots.imag) < _REAL].real)
    return real[np.abs(real) <= 1.0]
