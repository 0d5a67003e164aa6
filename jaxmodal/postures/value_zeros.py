"""Zeros of polynomials of low degree in a value that may be anything from 0 on, many at a time.

A coordinate x is taken as ``t = (x - low)/(x - low + usual)``, from 0 to 1, and a polynomial of degree d in x times
``(1 - t)**d``, which is one in t: so values far below and far above the usual one are found alike. Polynomials are
arrays (..., d + 1): their values at the places of `places`.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from jaxmodal.postures.newton import zeros_next_to

#: zeros nearer to each other than this, in shares of the larger or of what is usual, are one
_SAME = 1e-7
#: an imaginary part up to this size may belong to two real zeros that rounding has parted from the line
_ALMOST_REAL = 1e-3
#: a step with an exact value is taken up to this share of the coordinate; one to an extreme value up to this in t
_STEP, _FLAT, _FLAT_ROUNDS = 0.1, 1e-2, 8
#: a highest power below this share of the polynomial's size counts as this share
_TINY = 1e-15


@dataclasses.dataclass(frozen=True)
class Span:
    """From where to where a coordinate x goes, ``high`` may be inf, and what is usual of it."""

    low: float
    high: float
    usual: float

    def share(self, x: np.ndarray) -> np.ndarray:
        """The coordinates as t, 0 to 1."""
        beyond = np.where(np.isinf(x), 0.0, x) - self.low
        return np.where(np.isinf(x), 1.0, beyond / (beyond + self.usual))

    def coordinate(self, share: np.ndarray) -> np.ndarray:
        """From t to x."""
        with np.errstate(divide="ignore"):
            return self.low + self.usual * share / (1.0 - share)

    @property
    def last(self) -> float:
        """The share of the upper end."""
        return float(self.share(np.array(self.high)))


def places(degree: int) -> np.ndarray:
    """Shares t at which values determine a polynomial: Chebyshev's, none of them at an end."""
    return 0.5 - 0.5 * np.cos((np.arange(degree + 1) + 0.5) * np.pi / (degree + 1))


def through(values: np.ndarray) -> np.ndarray:
    """Coefficients of the powers of ``s = 2 t - 1``, (N, d + 1), from values of the polynomial in x at `places`."""
    degree = values.shape[-1] - 1
    t = places(degree)
    rows = values * (1.0 - t) ** degree
    return rows @ np.linalg.inv(np.vander(2.0 * t - 1.0, increasing=True)).T


def _at(polynomial: np.ndarray, t: np.ndarray) -> np.ndarray:
    s, found = 2.0 * t - 1.0, np.zeros(np.broadcast_shapes(polynomial.shape[:-1], t.shape))
    for k in reversed(range(polynomial.shape[-1])):
        found = found * s + polynomial[..., k]
    return found


def _slope(polynomial: np.ndarray) -> np.ndarray:
    """The derivatives in t."""
    order = np.arange(1, polynomial.shape[-1])
    return 2.0 * order * polynomial[..., 1:]


def slope_at(polynomial: np.ndarray, x: np.ndarray, span: Span) -> np.ndarray:
    """Derivatives in t, at zeros x."""
    return _at(_slope(polynomial), span.share(x))


def corrected(polynomial: np.ndarray, x: np.ndarray, exact: np.ndarray, span: Span) -> np.ndarray:
    """One step of Newton's method with the exact value; none where it would be large."""
    degree = polynomial.shape[-1] - 1
    rest = span.usual / (x - span.low + span.usual)  # 1 - t, without loss of digits
    with np.errstate(divide="ignore", invalid="ignore"):
        t = span.share(x)
        slope = _at(_slope(polynomial), t) + degree * _at(polynomial, t) / rest
        step = exact * rest**degree / slope * span.usual / rest**2
    return np.where(np.abs(step) < _STEP * np.abs(x), x - step, x)


def stationary(polynomial: np.ndarray, x: np.ndarray, span: Span) -> np.ndarray:
    """Where the slope vanishes next to x; x itself where that is far."""
    slope, t = _slope(polynomial), span.share(x)
    for _ in range(_FLAT_ROUNDS):
        with np.errstate(divide="ignore", invalid="ignore"):
            step = _at(slope, t) / _at(_slope(slope), t)
        t = t - np.where(np.abs(step) < _FLAT, step, 0.0)
    return np.clip(span.coordinate(t), span.low, span.high)


def repeated(x: np.ndarray, proven: np.ndarray, usual: float) -> np.ndarray:
    """Zeros (N, d) that another column has as well, which is proven or, where both are or none is, comes first.

    Of values far below the usual one D changes by a share of x over that, or by its square: what parts zeros there is
    rounding, whatever their ratio.
    """
    size = np.maximum(np.abs(x), usual)
    with np.errstate(invalid="ignore"):
        apart = np.abs(x[:, :, None] - x[:, None, :])
        same = apart <= _SAME * np.maximum(size[:, :, None], size[:, None, :])
    earlier = np.tri(x.shape[1], k=-1, dtype=bool)
    own, other = proven[:, :, None], proven[:, None, :]
    return np.asarray((same & ((other & ~own) | ((other == own) & earlier))).any(axis=2))


def zeros(polynomial: np.ndarray, span: Span) -> tuple[np.ndarray, np.ndarray]:
    """Zeros within a span, (N, d), NaN where there are fewer, and which of them cross zero; others may touch it."""
    t = _candidates(polynomial)
    near = np.sort(np.clip(t, 0.0, span.last), axis=1)
    between = 0.5 * (near[:, 1:] + near[:, :-1])
    edge = np.zeros((len(near), 1))
    before = np.concatenate([edge, between], axis=1)
    after = np.concatenate([between, edge + span.last], axis=1)
    expanded = polynomial[:, None]
    slope = _slope(expanded)
    found, crossing = zeros_next_to(
        near, before, after, lambda s: _at(expanded, s), lambda s: _at(slope, s)
    )
    found = span.coordinate(found)
    known = np.isfinite(found)  # at t = 1 lies inf, which is no value of x
    return np.where(known, found, np.nan), crossing & known


def _candidates(polynomial: np.ndarray) -> np.ndarray:
    """Real parts of the zeros as t, (N, d); of complex ones, which are none, a place that is not in the span."""
    number, degree = len(polynomial), polynomial.shape[1] - 1
    size = np.abs(polynomial).max(axis=1)
    size = np.where(size > 0.0, size, 1.0)
    # where the highest power vanishes a zero goes to infinity: a share of rounding keeps it finite
    leading = polynomial[:, -1]
    leading = np.where(np.abs(leading) > _TINY * size, leading, _TINY * size)
    companion = np.zeros((number, degree, degree))
    companion[:, 0] = -polynomial[:, -2::-1] / leading[:, None]
    companion[:, np.arange(1, degree), np.arange(degree - 1)] = 1.0
    s = np.linalg.eigvals(companion)
    real = np.abs(s.imag) <= _ALMOST_REAL
    return np.asarray(np.where(real, 0.5 + 0.5 * s.real, 2.0))
