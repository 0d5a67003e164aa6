"""Operations of the beam formulas for float64 arrays, double-doubles, recorded expressions and registers.

The formulas of `beams`, `member` and `condensation` are written once, with ``+ - * /`` and the functions below. The
type of the arguments selects the evaluation (`evaluate_formula`): directly in float64, through `programs` in
double-double, or as `registers` inside a kernel.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, assert_never

import jax
import jax.numpy as jnp
import numpy as np

from jaxmodal.arithmetic import double_double as dd
from jaxmodal.arithmetic import programs
from jaxmodal.arithmetic.double_double import DoubleDouble
from jaxmodal.arithmetic.exactness import require_exact
from jaxmodal.arithmetic.programs import Expression
from jaxmodal.arithmetic.registers import Register, bare
from jaxmodal.arithmetic.wide_programs import run_on_host
from jaxmodal.runtime.namespace import Array, OfNumpy, bits, from_bits, is_complex, on_host, xp

#: A float64 array, a DoubleDouble, an Expression or a Register. All numbers of one formula are of one kind.
Number = Any
Kept = TypeVar("Kept", bound=tuple[Any, ...])

#: up to so many numbers a call costs more than its numbers; beyond, stacking them spoils the cache
_FEW = 4096


class Arithmetic(enum.Enum):
    """The arithmetic of the formulas, which selects the type that `number` returns for an array."""

    float64 = "float64"
    """The array itself."""
    double_double = "double_double"
    """A DoubleDouble."""
    registers = "registers"
    """A Register, inside a compiled kernel."""


def evaluate_formula(
    formula: Callable[..., Sequence[Number]], inputs: Sequence[Number]
) -> Sequence[Number]:
    """Return ``formula(*inputs)``; for double-doubles it is recorded and run step by step."""
    if isinstance(inputs[0], DoubleDouble):
        on_the_host = all(on_host(x.hi) for x in inputs)
        return (run_on_host if on_the_host else programs.run)(formula, inputs)
    return formula(*inputs)


def number(value: Array, arithmetic: Arithmetic) -> Number:
    """Return a float64 array as it is, as a double-double or as a register.

    Anything but an `Arithmetic` is refused, and so is double-double if it is not exact: all its numbers are created
    here.
    """
    if arithmetic is Arithmetic.float64:
        return value
    if arithmetic is Arithmetic.double_double:
        require_exact(value)
        return dd.as_double_double(value)
    if arithmetic is Arithmetic.registers:
        return Register(value)
    assert_never(arithmetic)


def leading(x: Number) -> Array:
    """Return the float64 value nearest to x; its sign is exact."""
    return x.hi if isinstance(x, DoubleDouble) else bare(x)


def is_positive(x: Number) -> Any:
    """Return a mask of numbers > 0, complex ones by their real parts: 0 and imaginary numbers are not positive."""
    return x.real > 0.0


def select(condition: Number, if_positive: Number, otherwise: Number) -> Number:
    """Return ``if_positive`` where ``condition`` is positive (`is_positive`), and ``otherwise`` elsewhere."""
    if isinstance(condition, Expression):
        return condition.select(if_positive, otherwise)
    if isinstance(condition, DoubleDouble):
        return dd.where(condition.hi > 0.0, if_positive, otherwise)
    if isinstance(condition, Register):
        return Register(xp.where(condition.value > 0.0, bare(if_positive), bare(otherwise)))
    return xp.where(is_positive(condition), if_positive, otherwise)


def absolute(x: Number) -> Number:
    """Return the absolute value."""
    if isinstance(x, Expression):
        return x.absolute()
    if isinstance(x, DoubleDouble):
        return select(x, x, -x)
    return Register(xp.abs(x.value)) if isinstance(x, Register) else abs(x)


def size_of(x: Any) -> Any:
    """Return the absolute value; for complex numbers the sum of those of real and imaginary part."""
    parts = isinstance(x, Expression) or is_complex(x)
    return abs(x.real) + abs(x.imag) if parts else abs(x)


def over_size(terms: Any, result: Any, limit: float, out: Any = None) -> Any:
    """Return terms over the `size_of` a result; for speed over its real part alone where that is below ``limit``.

    Arguments are real terms and a result, NumPy or recorded on lanes; the ratio is written into ``out``, which is
    neither of them.
    """
    if isinstance(result, Expression):
        return result.under(terms, limit)
    ratio = np.divide(terms, np.abs(result.real), out=out)
    if is_complex(result):
        large = np.nonzero(~(ratio <= limit))
        if large[0].size:
            whole, above = np.broadcast_to(result, ratio.shape), np.broadcast_to(terms, ratio.shape)
            ratio[large] = above[large] / size_of(whole[large])
    return ratio


def maximum(x: Any, y: Any) -> Any:
    """Return the larger of two real numbers, float64 or recorded on lanes; NaN if one is NaN."""
    return _extreme("maximum", x, y)


def minimum(x: Any, y: Any) -> Any:
    """Return the smaller of two real numbers, float64 or recorded on lanes; NaN if one is NaN."""
    return _extreme("minimum", x, y)


def _extreme(name: str, x: Any, y: Any) -> Any:
    for one, other in ((x, y), (y, x)):
        if isinstance(one, Expression):
            return one.extreme(name, other)
    return getattr(xp, name)(x, y)


def rounds_to_float64(x: Number) -> bool:
    """Return True if a number is float64, including recorded numbers and registers."""
    if isinstance(x, Expression):
        return x.recorder.in_float64
    return not isinstance(x, DoubleDouble)


def nonzero(x: Number) -> Number:
    """Return a denominator with exact zeros replaced by a tiny number (double-double divisions do this themselves)."""
    if isinstance(x, Expression):
        return x.nonzero()
    if isinstance(x, Register):
        return Register(nonzero(x.value))
    if isinstance(x, jax.Array | np.ndarray | np.generic | OfNumpy):
        return xp.where(x == 0.0, 1e-280, x)
    return x


def keep(x: Number) -> Number:
    """Return x, forced to be computed once: a float64 array is divided by a 1 that XLA cannot simplify.

    XLA on a CPU repeats a cheap operation in every loop that uses its result; without this, the determinant of a link
    takes six times the multiplications. It never repeats a division. LLVM, which runs later, knows that an odd number
    is not zero and removes the division. Of a complex number both parts are kept.
    """
    if not isinstance(x, jax.Array):
        return x
    if jnp.iscomplexobj(x):
        return jax.lax.complex(keep(x.real), keep(x.imag))
    odd = bits(x) | 1
    return x / xp.where(odd != 0, 1.0, 0.0)


def keep_all(values: Kept) -> Kept:
    """Apply `keep` to every entry of a named tuple."""
    return type(values)(*(keep(x) for x in values))


def sqrt(x: Number) -> Number:
    """Return the square root: zero for real x <= 0, the principal root for complex numbers."""
    if isinstance(x, Expression):
        return x.sqrt()
    if isinstance(x, DoubleDouble):
        return dd.sqrt(x)
    if isinstance(x, Register):
        return Register(sqrt(x.value))
    if is_complex(x):
        return complex_root(x)
    positive = x > 0.0
    return xp.where(positive, xp.sqrt(xp.where(positive, x, 1.0)), 0.0)


def complex_root(z: Array) -> Array:
    """Return the principal square root, with all digits, of complex numbers whose squares are far from overflow.

    It uses real square roots. Library functions also handle infinite and denormal numbers, but take thirty times as
    long and make programs longer.
    """
    real, imag = z.real, z.imag
    larger = xp.sqrt(0.5 * (xp.sqrt(real * real + imag * imag) + xp.abs(real)))
    smaller = 0.5 * imag / xp.where(larger == 0.0, 1.0, larger)
    right, below = (
        real >= 0.0,
        imag < 0.0,
    )  # not abs(smaller): on the cut both parts have the derivative of one side
    return xp.where(right, larger, xp.where(below, -smaller, smaller)) + 1j * xp.where(
        right, smaller, xp.where(below, -larger, larger)
    )


def sin_cos(*arguments: Number) -> list[tuple[Number, Number, Array]]:
    """Return ``sin x, cos x, floor(2 x/pi)`` for each argument x >= 0.

    They are consistent, because they use one common range reduction.
    """
    if isinstance(arguments[0], DoubleDouble):
        s, c, k = dd.sin_cos(_stacked(arguments))
        return [(s[i], c[i], k[i]) for i in range(len(arguments))]
    if isinstance(arguments[0], Register):
        found = sin_cos(*(x.value for x in arguments))
        return [(Register(sine), Register(cosine), turns) for sine, cosine, turns in found]
    if _are_few(arguments):
        sine, cosine, turns = _sin_cos(np.stack(arguments))
        return list(zip(sine, cosine, turns, strict=True))
    return [_sin_cos(x) for x in arguments]


def _are_few(arguments: Sequence[Array]) -> bool:
    """Return True for several small NumPy arrays that are alike: one call for all takes half the time of several."""
    if len(arguments) == 1 or any(type(x) is not np.ndarray for x in arguments):
        return False
    alike = len({(x.shape, x.dtype) for x in arguments}) == 1
    return alike and arguments[0].size <= _FEW


def _stacked(numbers: Sequence[DoubleDouble]) -> DoubleDouble:
    """Stack numbers whose shapes broadcast along a new first axis."""
    shape = xp.broadcast_shapes(*(x.hi.shape for x in numbers))
    return DoubleDouble(
        xp.stack([xp.broadcast_to(x.hi, shape) for x in numbers]),
        xp.stack([xp.broadcast_to(x.lo, shape) for x in numbers]),
    )


def functions_of(
    angles: Sequence[Number], exponent: Number, square: Number
) -> tuple[list[tuple[Number, Number, Array]], Number, Number]:
    """Return `sin_cos` of the angles, `exp_negative` of the exponent and `sinh_ratio` of the square."""
    if isinstance(exponent, DoubleDouble) and on_host(exponent.hi):
        x = _stacked([*angles, exponent, _small(square)])
        (s, c, k), decay, ratio = dd.functions_together(x[:-2], x[-2], x[-1])
        return [(s[i], c[i], k[i]) for i in range(len(angles))], decay, ratio
    return sin_cos(*angles), exp_negative(exponent), sinh_ratio(square)


#: pi in three parts; the products of the first two with k < 2**20 are exact
PI_PARTS = (3.1415926534682512, 1.2154201012607933e-10, 4.044532497591901e-21)
SIN_SERIES = [(-1) ** (k + 1) / math.factorial(2 * k + 3) for k in range(10)]
COS_SERIES = [(-1) ** k / math.factorial(2 * k + 4) for k in range(10)]


def _sin_cos(x: Array) -> tuple[Array, Array, Array]:
    """Return `sin_cos` in float64 by elementary operations (about 1 ulp).

    Library calls keep a fused loop from vectorising. The reduction by pi needs no exchange of sine and cosine, so that
    XLA, which computes the two separately, evaluates one polynomial for each. Complex numbers use their real parts.
    """
    if is_complex(x):
        (sine, cosine, k), rise = _sin_cos(x.real), x.imag
        grown, risen = xp.cosh(rise), 1j * xp.sinh(rise)
        return sine * grown + cosine * risen, cosine * grown - sine * risen, k
    k = xp.floor(x * (1.0 / math.pi) + 0.5)
    r = x
    for part in PI_PARTS:
        r = r - k * part
    z = r * r
    sine, cosine = xp.full_like(r, SIN_SERIES[-1]), xp.full_like(r, COS_SERIES[-1])
    for c in reversed(SIN_SERIES[:-1]):
        sine = sine * z + c
    for c in reversed(COS_SERIES[:-1]):
        cosine = cosine * z + c
    sign = 1.0 - 2.0 * (k - 2.0 * xp.floor(0.5 * k))
    # the remainder is at most pi/2: its cosine is positive, and has the sign that the turns say
    sine, cosine = r + r * z * sine, xp.maximum(1.0 - 0.5 * z + z * z * cosine, 1e-18)
    return sign * sine, sign * cosine, xp.where(r < 0.0, 2.0 * k - 1.0, 2.0 * k)


def exp_negative(x: Number) -> Number:
    """Return ``exp(-x)`` for x >= 0."""
    if isinstance(x, Register):
        return Register(exp_negative(x.value))
    return dd.exp_negative(x) if isinstance(x, DoubleDouble) else xp.exp(-x)


def log(x: Array) -> Array:
    """Return the natural logarithm of normal numbers x > 0 by elementary operations (about 1 ulp).

    The logarithm of XLA does not vectorise.
    """
    word = bits(x)
    exponent = (word >> 52) - 1023
    mantissa = from_bits((word & (2**52 - 1)) | (1023 << 52))
    large = mantissa > math.sqrt(2.0)
    mantissa = xp.where(large, 0.5 * mantissa, mantissa)
    power = exponent.astype(np.float64) + xp.where(large, 1.0, 0.0)
    s = (mantissa - 1.0) / (mantissa + 1.0)
    z = s * s
    total = xp.full_like(z, 2.0 / (2 * _LOG_TERMS + 1))
    for k in range(_LOG_TERMS - 1, 0, -1):
        total = total * z + 2.0 / (2 * k + 1)
    # NaN and infinity are no normal numbers: they give NaN
    return power * math.log(2.0) + (2.0 * s + s * (z * total)) + 0.0 * x


#: of the series of artanh(s), s <= 0.172
_LOG_TERMS = 11


def sinh_ratio(z: Number) -> Number:
    """Return ``sinh(sqrt z)/sqrt z`` by its power series, for ``0 <= z <= 1/4``.

    Other arguments are clipped to this range.
    """
    if isinstance(z, DoubleDouble):
        return dd.sinh_ratio(_small(z))
    if isinstance(z, Register):
        return Register(sinh_ratio(z.value))
    z = xp.clip(z, 0.0, 0.25)
    total = xp.full_like(z, 1.0 / math.factorial(17))
    for k in range(7, -1, -1):
        total = total * z + 1.0 / math.factorial(2 * k + 1)
    return total


def _small(z: DoubleDouble) -> DoubleDouble:
    """Return z, or 0 outside the range of its power series."""
    inside = (z.hi >= 0.0) & (z.hi <= 0.25)
    return dd.where(inside, z, xp.zeros_like(z.hi))
