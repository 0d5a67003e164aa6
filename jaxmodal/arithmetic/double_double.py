"""Double-double arithmetic: about 32 significant digits from pairs of float64, in plain JAX.

A frequency of a multi-link arm is a root of a determinant in which numbers of very different size cancel: short stiff
links, resonances of single members close to a root, clusters and coincident roots cost float64 up to ten digits.
In double-double, the same formulas keep more than 16 correct digits in every such case and need no special treatment.

A number is the unevaluated sum ``hi + lo`` with ``|lo| <= ulp(hi)/2``. Sums follow Knuth's and products Dekker's
error-free transformations (T. J. Dekker, Numer. Math. 18, 1971, 224-242; Y. Hida, X. S. Li, D. H. Bailey, 15th IEEE
Symposium on Computer Arithmetic, 2001), in a form that stays exact under a compiler that contracts multiplications and
additions: factors are split by masking bits and only exact products are added.
"""

from __future__ import annotations

import dataclasses
import functools
from fractions import Fraction
from math import factorial, frexp
from typing import Any

import jax
import numpy as np
from jax.typing import ArrayLike

from jaxmodal.runtime.namespace import Array, bits, from_bits, on_host, repeat, take_first, xp

_LOW_BITS = 27
_HIGH_BITS = np.array(-(1 << _LOW_BITS))
# pi and log 2 to 60 digits
_PI = Fraction("3.14159265358979323846264338327950288419716939937510582097494")
_LN2 = Fraction("0.693147180559945309417232121458176568075500134360255254120680")


def _parts(value: Fraction, count: int) -> tuple[float, ...]:
    """Return the ``count`` leading float64 parts of an exact rational."""
    parts = []
    for _ in range(count):
        parts.append(float(value))
        value -= Fraction(parts[-1])
    return tuple(parts)


#: reciprocal and three float64 parts of the periods of the functions
HALF_PI, LOG_2 = ((float(1 / x), np.array(_parts(x, 3))) for x in (_PI / 2, _LN2))


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class DoubleDouble:
    """An array of numbers ``hi + lo``; both are float64 arrays of the same shape."""

    hi: Array
    lo: Array

    def __getitem__(self, index: Any) -> DoubleDouble:
        return DoubleDouble(self.hi[index], self.lo[index])

    def __add__(self, other: DoubleDouble | ArrayLike) -> DoubleDouble:
        other = as_double_double(other)
        s, e = _two_sum(self.hi, other.hi)
        t, f = _two_sum(self.lo, other.lo)
        return DoubleDouble(*_gathered(s, e, t, f))

    def __mul__(self, other: DoubleDouble | ArrayLike) -> DoubleDouble:
        if isinstance(other, int | float) and frexp(other)[0] in (0.5, -0.5):
            return DoubleDouble(self.hi * other, self.lo * other)
        other = as_double_double(other)
        p, e = _two_product(self.hi, other.hi)
        crossed = self.hi * other.lo
        crossed += self.lo * other.hi
        e += crossed
        return DoubleDouble(*_fast_two_sum(p, e))

    def __truediv__(self, other: DoubleDouble | ArrayLike) -> DoubleDouble:
        other = as_double_double(other)
        first = self.hi / other.hi
        p, e = _two_product(other.hi, first)
        e += other.lo * first
        p, e = _fast_two_sum(p, e)
        # the difference of leading parts is exact: what is left is 2^-52 of it at most
        rest = (self.hi - p) + (self.lo - e)
        return DoubleDouble(*_fast_two_sum(first, rest / other.hi))

    def __neg__(self) -> DoubleDouble:
        return DoubleDouble(-self.hi, -self.lo)

    def __sub__(self, other: DoubleDouble | ArrayLike) -> DoubleDouble:
        return self + (-as_double_double(other))

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other: ArrayLike) -> DoubleDouble:
        return as_double_double(other) + (-self)

    def __rtruediv__(self, other: ArrayLike) -> DoubleDouble:
        return as_double_double(other) / self


def as_double_double(value: DoubleDouble | ArrayLike) -> DoubleDouble:
    """Return a float64 array (taken as exact) or a double-double as a double-double."""
    if isinstance(value, DoubleDouble):
        return value
    hi = xp.asarray(value, dtype=np.float64)
    return DoubleDouble(hi, xp.zeros_like(hi))


# NumPy writes over its own intermediate arrays, by `_less` and by +=, which of JAX is a new array: new room costs more
def _less(a: Array, b: Array) -> Array:
    """Return the difference a - b; for NumPy arrays it overwrites b, which is not used any more."""
    return np.subtract(a, b, out=b) if type(b) is np.ndarray else a - b


def _two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    s = a + b
    bb = s - a
    e = _less(a, s - bb)
    e += _less(b, bb)
    return s, e


def _gathered(s: Array, e: Array, t: Array, f: Array) -> tuple[Array, Array]:
    """Return the sum of the results of two two-sums, of the leading and of the lower parts; ``e`` is overwritten."""
    e += t
    s, e = _fast_two_sum(s, e)
    e += f
    return _fast_two_sum(s, e)


def _fast_two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    s = a + b
    return s, _less(b, s - a)


def _split(a: Array) -> tuple[Array, Array]:
    high = from_bits(bits(a) & _HIGH_BITS)
    return high, a - high


def _two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """Return the exact product in two parts.

    Every product below is exact except the last, tiny one. A compiler that contracts ``x*y + z`` into one rounding (in
    one of several copies of an expression, as XLA does) therefore changes nothing. NumPy does not contract, so that the
    rounded product can be used there.
    """
    ah, al = _split(a)
    bh, bl = _split(b)
    if type(a) is np.ndarray and type(b) is np.ndarray and (a.ndim or b.ndim):
        product, rest = a * b, ah * bh
        rest -= product
        part = ah * bl
        rest += part
        rest += np.multiply(al, bh, out=part)
        rest += np.multiply(al, bl, out=part)
        return product, rest
    middle, rest = _two_sum(ah * bl, al * bh)
    p, e = _fast_two_sum(ah * bh, middle)
    rest += al * bl
    e += rest
    return p, e


# of numbers of NumPy that have their two parts along the second axis, into room that is there: fewer calls
def sum_of_pairs(x: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
    """Write the sums of numbers with their two parts along the second axis into ``out``."""
    sums, rests = _two_sum(x, y)
    high, rest = sums[:, 0], rests[:, 0]
    rest += sums[:, 1]
    total = high + rest
    rest -= np.subtract(total, high, out=high)
    rest += rests[:, 1]
    _write(total, rest, out)


def product_of_pairs(x: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
    """Write the products of numbers with their two parts along the second axis into ``out``."""
    a, b = x[:, 0], y[:, 0]
    product, rest = _two_product(a, b)
    crossed = a * y[:, 1]
    rest += crossed
    rest += np.multiply(x[:, 1], b, out=crossed)
    _write(product, rest, out)


def _write(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Write `_fast_two_sum` into ``out``; ``a`` and ``b`` are overwritten."""
    total = np.add(a, b, out=out[:, 0])
    np.subtract(b, np.subtract(total, a, out=a), out=out[:, 1])


def sqrt(x: DoubleDouble) -> DoubleDouble:
    """Return the square root of ``x >= 0``, by one Newton step from the float64 root."""
    safe = xp.where(x.hi > 0, x.hi, 1.0)
    root = xp.sqrt(safe)
    p, e = _two_product(root, root)
    rest = x - DoubleDouble(p, e)
    s, e = _fast_two_sum(root, rest.hi / (2.0 * root))
    positive = x.hi > 0
    return DoubleDouble(xp.where(positive, s, 0.0), xp.where(positive, e, 0.0))


_SERIES = {
    "sin": [Fraction((-1) ** k, factorial(2 * k + 1)) for k in range(15)],
    "cos": [Fraction((-1) ** k, factorial(2 * k)) for k in range(15)],
    "sinh_ratio": [Fraction(1, factorial(2 * k + 1)) for k in range(14)],
    "exp": [Fraction(1, factorial(k)) for k in range(15)],
}
SERIES_PARTS = {name: np.array([_parts(c, 2) for c in row]) for name, row in _SERIES.items()}
EXP_HALVINGS = 4


@functools.cache
def _coefficients(names: tuple[str, ...]) -> np.ndarray:
    """Return the coefficients of several series, shape (terms, 2, series); shorter series are padded with zeros."""
    coefficients = np.zeros((max(len(_SERIES[name]) for name in names), 2, len(names)))
    for j, name in enumerate(names):
        coefficients[: len(_SERIES[name]), :, j] = SERIES_PARTS[name]
    return coefficients


def _polynomials(x: DoubleDouble, *names: str) -> DoubleDouble:
    """Return sums ``sum_k coefficients[j][k] x[j]**k`` by Horner's rule; entry j of x's first axis has series j.

    It is a loop over the coefficients; unrolled, the sums would take most of a program's compilation time.
    """
    parts = _coefficients(names)
    parts = parts.reshape(parts.shape + (1,) * (x.hi.ndim - 1))
    degree = parts.shape[0] - 1
    total = DoubleDouble(*(xp.broadcast_to(part, x.hi.shape) for part in parts[degree]))

    def step(i: Array | int, total: DoubleDouble) -> DoubleDouble:
        hi, lo = take_first(parts, degree - 1 - i)
        return total * x + DoubleDouble(hi, lo)

    found: DoubleDouble = repeat(0, degree, step, total, on_host(x.hi))
    return found


def reduce_half_pi(x: DoubleDouble) -> tuple[Array, DoubleDouble]:
    """Return ``(k, r)`` with ``x = k pi/2 + r``, k integral (float64) and ``|r| <= pi/4``; for ``0 <= x < 2**26``."""
    return _reduce(x, *HALF_PI)


def _reduce(x: DoubleDouble, reciprocal: float, parts: np.ndarray) -> tuple[Array, DoubleDouble]:
    """Return ``(k, r)`` with ``x = k period + r``; the period has three float64 parts."""
    k = xp.round(x.hi * reciprocal)

    def step(i: Array | int, r: DoubleDouble) -> DoubleDouble:
        return r - DoubleDouble(*_two_product(k, xp.full_like(k, take_first(parts, i))))

    return k, repeat(0, 3, step, x, on_host(k))


def sin_cos(x: DoubleDouble) -> tuple[DoubleDouble, DoubleDouble, Array]:
    """Return ``sin x, cos x, floor(2 x/pi)`` for ``x >= 0``, consistent because of one common range reduction."""
    k, r = reduce_half_pi(x)
    square = r * r
    sums = _polynomials(_stacked(square[None], square[None]), "sin", "cos")
    return _turned(k, r, sums[0] * r, sums[1])


def _turned(
    k: Array, r: DoubleDouble, sine: DoubleDouble, cosine: DoubleDouble
) -> tuple[DoubleDouble, DoubleDouble, Array]:
    """Return `sin_cos` of ``k pi/2 + r`` from sine and cosine of r."""
    quadrant = k.astype(np.int64) & 3
    odd = (quadrant & 1) == 1
    s = where(odd, cosine, sine)
    c = where(odd, sine, cosine)
    s = where(quadrant >= 2, -s, s)
    c = where((quadrant == 1) | (quadrant == 2), -c, c)
    return s, c, xp.where(r.hi < 0, k - 1.0, k)


def exp_negative(x: DoubleDouble) -> DoubleDouble:
    """Return ``exp(-x)`` for ``x >= 0``; underflows to zero beyond x = 700."""
    beyond, k, r = _reduced_exponent(x)
    return _raised(_polynomials(r[None], "exp")[0], beyond, k)


def _reduced_exponent(x: DoubleDouble) -> tuple[Array, Array, DoubleDouble]:
    """Return a mask of x that underflow, and k and r with ``exp(-x) = 2**-k exp(r)**16``."""
    beyond = x.hi > 700.0
    clipped = where(beyond, xp.full_like(x.hi, 700.0), x)
    k, r = _reduce(clipped, *LOG_2)
    return beyond, k, -r * 0.5**EXP_HALVINGS


def _raised(total: DoubleDouble, beyond: Array, k: Array) -> DoubleDouble:
    """Return `exp_negative` from the ``total`` of its series."""
    total = repeat(0, EXP_HALVINGS, lambda _, y: y * y, total, on_host(k))
    # 2**-k through the exponent bits: a library power would not be exact
    scale = from_bits((1023 - k.astype(np.int64)) << 52)
    scale = xp.where(beyond, 0.0, scale)
    return DoubleDouble(total.hi * scale, total.lo * scale)


def sinh_ratio(z: DoubleDouble) -> DoubleDouble:
    """Return ``sinh(sqrt z)/sqrt z`` by its power series in z, for ``|z| <= 1/4``."""
    return _polynomials(z[None], "sinh_ratio")[0]


def functions_together(
    x: DoubleDouble, y: DoubleDouble, z: DoubleDouble
) -> tuple[tuple[DoubleDouble, DoubleDouble, Array], DoubleDouble, DoubleDouble]:
    """Return `sin_cos` of x, `exp_negative` of y, `sinh_ratio` of z, with all series in one loop.

    x has one more axis, its first.
    """
    k, r = reduce_half_pi(x)
    beyond, power, rest = _reduced_exponent(y)
    square, angles = r * r, x.hi.shape[0]
    names = ("sin",) * angles + ("cos",) * angles + ("exp", "sinh_ratio")
    sums = _polynomials(_stacked(square, square, rest[None], z[None]), *names)
    circular = _turned(k, r, sums[:angles] * r, sums[angles:-2])
    return circular, _raised(sums[-2], beyond, power), sums[-1]


def _stacked(*x: DoubleDouble) -> DoubleDouble:
    """Concatenate along the first axis."""
    return DoubleDouble(xp.concatenate([y.hi for y in x]), xp.concatenate([y.lo for y in x]))


def where(
    condition: Array, x: DoubleDouble | ArrayLike, y: DoubleDouble | ArrayLike
) -> DoubleDouble:
    """Return an elementwise choice between two double-doubles."""
    x, y = as_double_double(x), as_double_double(y)
    return DoubleDouble(xp.where(condition, x.hi, y.hi), xp.where(condition, x.lo, y.lo))
