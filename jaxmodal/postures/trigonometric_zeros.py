"""Zeros of trigonometric polynomials, many at a time.

Those of degree d are zeros of a polynomial of degree 2 d in exp(i theta); of an even one of degree 2, of a quadratic in
cos theta. Polynomials are arrays (..., 2 d + 1): the coefficients of 1, cos, sin, cos 2, sin 2 and so on.
"""

from __future__ import annotations

import numpy as np

from jaxmodal.postures.newton import zeros_next_to

#: angles nearer to each other are one, rad
_SAME = 1e-7
#: steps to an angle of no slope, and the largest that is taken, rad: the start is a double zero, known to its root of
#: rounding
_FLAT_ROUNDS, _FLAT = 8, 1e-2
#: a second harmonic below this share of the polynomial's size counts as this share
_TINY = 1e-14


def evenly(points: int) -> np.ndarray:
    """So many angles evenly over a turn: those at which as many values determine a polynomial."""
    return 2.0 * np.pi / points * np.arange(points)


def through(values: np.ndarray) -> np.ndarray:
    """Coefficients, shape (N, 2 d + 1), from values at the angles of `evenly`."""
    points = values.shape[-1]
    terms = _terms(evenly(points), points // 2)
    return values @ terms * (np.where(np.arange(points) == 0, 1.0, 2.0) / points)


def _terms(angle: np.ndarray, degree: int) -> np.ndarray:
    first = np.exp(1j * angle)
    powers = [np.ones_like(first)]
    for _ in range(degree):
        powers.append(powers[-1] * first)
    both = [x for power in powers[1:] for x in (power.real, power.imag)]
    return np.stack([powers[0].real, *both], axis=-1)


def _slope(polynomial: np.ndarray) -> np.ndarray:
    """The polynomials that are the derivatives of others."""
    degree = polynomial.shape[-1] // 2
    k = np.arange(1, degree + 1)
    found = np.zeros_like(polynomial)
    found[..., 1::2], found[..., 2::2] = k * polynomial[..., 2::2], -k * polynomial[..., 1::2]
    return found


def value_at(polynomial: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """Values of polynomials (..., 2 d + 1) at angles (...)."""
    return np.einsum("...k,...k->...", polynomial, _terms(angle, polynomial.shape[-1] // 2))


def slope_at(polynomial: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """Their derivatives."""
    return value_at(_slope(polynomial), angle)


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
    slope = _slope(polynomial)
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
    """Real zeros, shape (N, 2 d), NaN where there are fewer, and which of them cross zero; others may touch it.

    ``even`` says that polynomials have degree 2 and no sines.
    """
    near = np.sort(_even_candidates(polynomial) if even else _candidates(polynomial), axis=1)
    following = np.concatenate([near[:, 1:], near[:, :1] + 2.0 * np.pi], axis=1)
    between = 0.5 * (near + following)
    after = between
    before = np.concatenate([between[:, -1:] - 2.0 * np.pi, between[:, :-1]], axis=1)
    expanded = polynomial[:, None]
    return zeros_next_to(
        near, before, after, lambda x: value_at(expanded, x), lambda x: slope_at(expanded, x)
    )


def _candidates(polynomial: np.ndarray) -> np.ndarray:
    """Arguments of the 2 d zeros of the polynomial in exp(i theta)."""
    number, degree = len(polynomial), polynomial.shape[1] // 2
    cosines, sines = polynomial[:, 1::2], polynomial[:, 2::2]
    upper = cosines - 1j * sines  # of exp(i k theta), twice; those of exp(-i k theta) are conjugate
    leading = upper[:, -1]
    # where the last harmonic vanishes two zeros go to infinity: a share of rounding keeps them finite
    tiny = _TINY * np.abs(polynomial).sum(axis=1)
    leading = np.where(np.abs(leading) > tiny, leading, tiny)
    middle = 2.0 * polynomial[:, :1] + 0j
    lower = np.concatenate([upper[:, -2::-1], middle, upper.conj()], axis=1)
    size = 2 * degree
    companion = np.zeros((number, size, size), complex)
    companion[:, 0] = -lower / leading[:, None]
    companion[:, np.arange(1, size), np.arange(size - 1)] = 1.0
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
