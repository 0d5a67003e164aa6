"""Zeros of trigonometric polynomials of degree 2, many at a time.

They are those of a quartic in exp(i theta); of an even one, of a quadratic in cos theta. Polynomials are arrays
(..., 5): the coefficients of 1, cos, sin, cos 2, sin 2.
"""

from __future__ import annotations

import numpy as np

from jaxmodal.postures.newton import zeros_in_brackets

#: a polynomial has at most so many zeros
MOST_ANGLES = 4
#: the five angles at which values determine it
FIFTHS = 2.0 * np.pi / 5.0 * np.arange(5)
#: a value below this share of the polynomial's size may be a touching zero
_TOUCHING = 1e-11
#: angles nearer to each other are one, rad
_SAME = 1e-7
#: steps to an angle of no slope, and the largest that is taken, rad: the start is a double zero, known to its root of
#: rounding
_FLAT_ROUNDS, _FLAT = 8, 1e-2
#: a second harmonic below this share of the polynomial's size counts as this share
_TINY = 1e-14
#: steps to a zero that crosses: halving alone takes 53 to the last digit of an angle
_ROUNDS = 60


def through_fifths(values: np.ndarray) -> np.ndarray:
    """Coefficients of 1, cos, sin, cos 2, sin 2, shape (N, 5), from values at fifths of a turn."""
    terms = _terms(FIFTHS)
    return values @ terms * (np.array([1.0, 2.0, 2.0, 2.0, 2.0]) / 5.0)


def _terms(angle: np.ndarray) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.stack([np.ones_like(c), c, s, c * c - s * s, 2.0 * s * c], axis=-1)


def value_at(polynomial: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """Values of polynomials (..., 5) at angles (...)."""
    return np.einsum("...k,...k->...", polynomial, _terms(angle))


def slope_at(polynomial: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """Their derivatives."""
    _, c, s, cc, ss = np.moveaxis(_terms(angle), -1, 0)
    zero = np.zeros_like(c)
    return np.einsum("...k,...k->...", polynomial, np.stack([zero, -s, c, -2.0 * ss, 2.0 * cc], -1))


def wrapped(angle: np.ndarray) -> np.ndarray:
    """The angle in (-pi, pi]."""
    return np.asarray(angle - 2.0 * np.pi * np.ceil((angle - np.pi) / (2.0 * np.pi)))


def corrected(polynomial: np.ndarray, angle: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """One Newton step with the exact value; none where the slope is so small that the step would be noise."""
    with np.errstate(divide="ignore", invalid="ignore"):
        step = exact / slope_at(polynomial, angle)
    return np.asarray(angle - np.where(np.abs(step) < _SAME, step, 0.0))


def stationary(polynomial: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """The nearest angle at which the slope vanishes."""
    # derivatives of the terms 1, cos, sin, cos 2, sin 2
    slope = polynomial[:, [0, 2, 1, 4, 3]] * [0.0, 1.0, -1.0, 2.0, -2.0]
    for _ in range(_FLAT_ROUNDS):
        with np.errstate(divide="ignore", invalid="ignore"):
            step = value_at(slope, angle) / slope_at(slope, angle)
        angle = angle - np.where(np.abs(step) < _FLAT, step, 0.0)
    return angle


def repeated(angle: np.ndarray, proven: np.ndarray) -> np.ndarray:
    """Proven angles that stand in an earlier column already."""
    same = np.abs(wrapped(angle[:, :, None] - angle[:, None, :])) < _SAME
    same &= proven[:, :, None] & proven[:, None, :]
    return np.asarray(np.tril(same, -1).any(axis=2))


def zeros(polynomial: np.ndarray, even: bool) -> tuple[np.ndarray, np.ndarray]:
    """Real zeros, shape (N, 4), NaN where there are fewer, and which of them cross zero; others may touch it."""
    near = np.sort(_even_candidates(polynomial) if even else _candidates(polynomial), axis=1)
    following = np.concatenate([near[:, 1:], near[:, :1] + 2.0 * np.pi], axis=1)
    between = 0.5 * (near + following)
    after = between
    before = np.concatenate([between[:, -1:] - 2.0 * np.pi, between[:, :-1]], axis=1)
    expanded = polynomial[:, None]
    low_value, high_value = value_at(expanded, before), value_at(expanded, after)
    crossing = (low_value < 0.0) != (high_value < 0.0)
    crossed = zeros_in_brackets(
        lambda x: value_at(expanded, x),
        lambda x: slope_at(expanded, x),
        *(before, after, low_value, near),
        _ROUNDS,
    )
    touching = (np.abs(value_at(expanded, near)) < _TOUCHING) & ~crossing
    return np.where(crossing, crossed, np.where(touching, near, np.nan)), crossing


def _candidates(polynomial: np.ndarray) -> np.ndarray:
    """Arguments of the four zeros of the quartic in exp(i theta)."""
    a0, a1, b1, a2, b2 = polynomial.T
    leading = a2 - 1j * b2
    # where the second harmonic vanishes two zeros go to infinity: a share of rounding keeps them finite
    tiny = _TINY * np.abs(polynomial).sum(axis=1)
    leading = np.where(np.abs(leading) > tiny, leading, tiny)
    lower = np.stack([a1 - 1j * b1, 2.0 * a0 + 0j, a1 + 1j * b1, a2 + 1j * b2], axis=1)
    companion = np.zeros((len(polynomial), 4, 4), complex)
    companion[:, 0] = -lower / leading[:, None]
    companion[:, [1, 2, 3], [0, 1, 2]] = 1.0
    return np.asarray(np.angle(np.linalg.eigvals(companion)))


def _even_candidates(polynomial: np.ndarray) -> np.ndarray:
    """Plus and minus the angles whose cosines solve ``2 a2 x^2 + a1 x + a0 - a2 = 0``, clipped to the real ones."""
    a, b, c = 2.0 * polynomial[:, 3], polynomial[:, 1], polynomial[:, 0] - polynomial[:, 3]
    root = np.sqrt(np.maximum(b * b - 4.0 * a * c, 0.0))
    q = -0.5 * (b + np.where(b < 0.0, -root, root))
    with np.errstate(divide="ignore", invalid="ignore"):
        cosines = np.stack([q / a, c / q], axis=1)
    angle = np.arccos(np.clip(np.nan_to_num(cosines, nan=1.0), -1.0, 1.0))
    return np.concatenate([-angle, angle], axis=1)
