"""Responses where the recursion loses digits, from frequencies on a circle around: Cauchy's mean value.

Where the part of an arm beyond a joint is in resonance while that joint is held, the recursion passes through numbers
much larger than its result. The response itself is analytic there, so that it is the mean of those on a circle of
complex frequencies, which stays clear of the held resonance. Fourier coefficients around the circle fall like a
geometric series to the rounding errors, so that the last of them tell how far the mean may be trusted: also rounding,
and a resonance of the arm within the circle, show there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

#: radii of circles, relative to the frequency, tried in turn, and points on each
_RADII, _POINTS = (3e-2, 6e-3, 1.2e-3), 32
#: last coefficients, relative to the largest response on the circle: a mean is taken below the first, no other radius
#: is tried below the second
_SMALL, _ENOUGH = 1e-9, 4e-15
#: a mean may differ from what the recursion has by this times the squared growth, of the largest on the circle
_APART = 1e-14
#: growth beyond which the recursion may have no digit
_NONE_LEFT = 1e7

#: responses (outputs, inputs, L) of lanes, an array (L,), at frequencies (L,) that may be complex
Responses = Callable[[np.ndarray, np.ndarray], np.ndarray]


def kept_digits(
    responses: Responses, values: np.ndarray, growth: np.ndarray, omega: np.ndarray
) -> np.ndarray:
    """Values (outputs, inputs, L) of lanes with those replaced whose digits the recursion loses.

    Parameters
    ----------
    responses
        The recursion at other frequencies.
    values
        What it has at ``omega``; real where nothing is damped.
    growth
        How much larger numbers in it are than their results, about, shape (L,).
    omega
        Angular frequencies, rad/s, shape (L,).
    """
    kept, error = values.copy(), np.full(values.shape, np.inf)
    growth = np.where(np.isnan(growth), np.inf, growth)
    left = np.arange(omega.size)
    turns = np.exp(2j * np.pi * (np.arange(_POINTS) + 0.5) / _POINTS)
    for radius in _RADII:
        if not left.size:
            break
        around = omega[left] * (1.0 + radius * turns)[:, None]
        found = responses(np.tile(left, _POINTS), around.reshape(-1))
        found = found.reshape(*values.shape[:2], _POINTS, left.size)
        last = np.abs(np.fft.fft(found, axis=2)[:, :, -3:]).max(axis=2) / _POINTS
        largest, mean = np.abs(found).max(axis=2), found.mean(axis=2)
        mean = mean if np.iscomplexobj(values) else mean.real
        at = np.s_[:, :, left]
        allowed = _APART * growth[left] ** 2 * largest
        unlike = (np.abs(mean - values[at]) > allowed) & (growth[left] < _NONE_LEFT)
        better = (last < error[at]) & (last <= _SMALL * largest) & ~unlike
        kept[at] = np.where(better, mean, kept[at])
        error[at] = np.where(better, last, error[at])
        left = left[~(error[at] <= _ENOUGH * largest).all(axis=(0, 1))]
    return kept
