"""Responses where the recursion loses digits, as means over circles of complex frequencies (Cauchy's mean value).

Where the part of an arm beyond a joint is in resonance while that joint is held, the recursion passes through numbers
much larger than its result. The response itself is analytic there and equals its mean over a circle of complex
frequencies, which avoids the held resonance. Fourier coefficients around the circle fall geometrically to the rounding
errors, so that the last of them measure the error of the mean, including rounding and the effect of a resonance of the
arm within the circle.

One resonance of the arm within the circle can be removed: with the residue r at a distance d from the centre the
coefficient of order -k is r d^(k-1)/radius^k. The first two of these give r and d, the next ones check the assumption,
and -r/d is added to the mean.

A mean that differs from the recursion by more than the estimated loss is taken where a second circle has the same one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

#: radii of circles, relative to the frequency, tried in turn, and number of points on each
_RADII, _POINTS = (3e-2, 6e-3, 1.2e-3), 32
#: size of the last coefficients, relative to the largest response on the circle: a mean is accepted below the first
#: value, and no other radius is tried below the second
_SMALL, _ENOUGH = 1e-9, 4e-15
#: allowed difference between a mean and the recursion, relative to the largest on the circle, per squared growth
_APART = 1e-14
#: growth beyond which the recursion may have no correct digits
_NONE_LEFT = 1e7

#: responses (outputs, inputs, L) of lanes (L,) at frequencies (L,), which may be complex
Responses = Callable[[np.ndarray, np.ndarray], np.ndarray]


def kept_digits(
    responses: Responses,
    values: np.ndarray,
    growth: np.ndarray,
    omega: np.ndarray,
    enough: float = _ENOUGH,
) -> np.ndarray:
    """Return values (outputs, inputs, L) of lanes, replaced by means where the recursion loses digits.

    NaN where a mean and the recursion differ by more than both may err, and no other circle tells which is right.

    Parameters
    ----------
    responses
        The recursion, as a function of frequencies.
    values
        Its values at ``omega``; real without damping.
    growth
        Approximate ratio of numbers in the recursion to its results, shape (L,); NaN where it has no digit.
    omega
        Angular frequencies, rad/s, shape (L,).
    enough
        Relative size of the last coefficients below which no other radius is tried.
    """
    kept, error = values.copy(), np.full(values.shape, np.inf)
    # means of earlier circles that differ from the recursion
    before = np.full(values.shape, np.nan, complex)
    left = np.arange(omega.size)
    # what is real on the real axis has conjugate values at conjugate frequencies: half a circle tells the other half
    mirrored = not np.iscomplexobj(values)
    places = np.arange(_POINTS // 2 if mirrored else _POINTS)
    turns = np.exp(2j * np.pi * (places + 0.5) / _POINTS)
    for radius in _RADII:
        if not left.size:
            break
        around = omega[left] * (1.0 + radius * turns)[:, None]
        found = responses(np.tile(left, turns.size), around.reshape(-1))
        found = found.reshape(*values.shape[:2], turns.size, left.size)
        if mirrored:
            found = np.concatenate([found, found[:, :, ::-1].conj()], axis=2)
        largest, at = np.abs(found).max(axis=2), np.s_[:, :, left]
        settled = np.zeros(largest.shape, bool)
        apart = before[at].copy()
        for value, wrong in _centres(np.fft.fft(found, axis=2) / _POINTS, largest):
            value = value if np.iscomplexobj(values) else value.real
            size = np.maximum(largest, np.abs(value))
            unlike = (np.abs(value - values[at]) > _APART * growth[left] ** 2 * size) & (
                growth[left] < _NONE_LEFT
            )
            # the growth is an estimate; if two circles agree, it was too small
            small = wrong <= _SMALL * size
            unlike &= ~(np.abs(value - before[at]) <= _SMALL * size)
            apart = np.where(small & unlike, value, apart)
            better = (wrong < error[at]) & small & ~unlike
            kept[at] = np.where(better, value, kept[at])
            error[at] = np.where(better, wrong, error[at])
            settled |= error[at] <= enough * size
        before[at] = apart
        left = left[~settled.all(axis=(0, 1))]
    return np.where(np.isfinite(before) & np.isinf(error), np.nan, kept)


def _centres(
    coefficients: np.ndarray, largest: np.ndarray
) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Return the value at the centre and its error, without a pole in the circle and with one.

    Each has shape (outputs, inputs, L). ``coefficients`` are those of the points, (outputs, inputs, points, L).
    """
    mean = coefficients[:, :, 0]
    # the first point is half a step from the real axis
    turns = np.exp(1j * np.pi * np.arange(1, 5) / _POINTS)
    at = coefficients[:, :, [-1, -2, -3, -4]]
    first, second, third, fourth = np.moveaxis(at, 2, 0) * turns[:, None, None, None]
    regular = np.abs([first, second, third]).max(axis=0)
    with np.errstate(all="ignore"):
        distance = second / first
        unexplained = np.maximum(abs(third - second * distance), abs(fourth - third * distance))
        noise = unexplained + np.finfo(float).eps * largest
        wrong = noise * (2.0 / abs(distance) + 1.0 / abs(distance) ** 2)
        with_pole = mean - first / distance
    # a pole outside the circle makes all of these coefficients small
    wrong = np.where((abs(distance) < 0.9) & np.isfinite(with_pole), wrong, np.inf)
    return (mean, regular), (with_pole, wrong)
