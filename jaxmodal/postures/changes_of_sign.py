"""Between which separators the determinant of each cell changes its sign, and whether all of these signs are certain.

Every panel has as many separators, both ends among them, and the same ones in its coordinate u: that at its upper end
is the first of the next. Values there are those of the panels' polynomials (P, d, cells). Errors are those of panels,
(P, cells or 1); the value at the last separator has a bound of its own, (1, cells or 1).
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from jax import lax

from jaxmodal.postures.series import DEGREES
from jaxmodal.runtime.namespace import Array, on_host, once, xp

#: bits of a word: one for each interval, of a panel one more for its upper end and one for what is certain, so that a
#: panel has 62 intervals at the most
_WORD = 64
_ONE, _NONE = np.uint64(1), np.uint64(0)
#: what values in single precision have rounded, of the sum of the moduli of coefficients: each coefficient is rounded
#: once, and with n coefficients n operations act on it, with n/2 factors that are rounded themselves
_SINGLE = (1.5 * DEGREES + 4.0) * 2.0**-24
#: sums between which they neither overflow nor lose digits to denormal numbers
_LEAST, _MOST = 1e-28, 1e30


def separators(intervals: int) -> np.ndarray:
    """Ends of so many intervals of a panel, an even number, in u: Chebyshev's, to the last bit alike on both sides."""
    u = -np.cos(np.arange(intervals + 1) * np.pi / intervals)
    return 0.5 * (u - u[::-1])


class Changes(NamedTuple):
    """Where the values of cells change their signs.

    Attributes
    ----------
    words : Array of uint64, shape (W, cells)
        A bit for each interval, those of `_panels_of_a_word` panels in a word.
    number : Array, shape (cells,)
        How many there are.
    negative : Array, shape (cells,)
        Whether the value at the first separator is below 0.
    clear : Array, shape (cells,)
        Whether all signs are certain.
    """

    words: Array
    number: Array
    negative: Array
    clear: Array


def changes_of_sign(
    polynomials: Array, error: Array, weakest: Array, intervals: int, *, single: bool
) -> Changes:
    """Of polynomials with so many intervals on each panel.

    Values may be in ``single`` precision, of which twice as many go in a vector. Then a few in a thousand cells are not
    clear that would be.
    """
    word = np.uint32 if single and intervals < 32 else np.uint64

    def signs(polynomial: Array, error: Array) -> Array:
        in_range = True
        if single:
            polynomial = polynomial.astype(np.float32)
            size = functools.reduce(operator.add, [xp.abs(x) for x in polynomial])
            error = error.astype(np.float32) + _SINGLE * size
            in_range = (size > _LEAST) & (size < _MOST)
        values = _at_separators(polynomial, intervals)[:-1]
        certain = in_range & (xp.abs(values[0]) >= error)
        for x in values[1:]:
            certain = certain & (xp.abs(x) >= error)
        # both in one word: of two results XLA would compute the values twice
        return _bits((*(x < 0.0 for x in values), certain), word)

    certain_bit = _ONE << np.uint64(intervals)
    known = _of_each(signs, polynomials, error).astype(np.uint64)
    last = _at_separators(polynomials[-1], intervals)[-1]
    clear = xp.all(known >= certain_bit, axis=0) & (xp.abs(last) >= weakest[0])
    ends = xp.concatenate([known[1:] & _ONE, xp.where(last < 0.0, _ONE, _NONE)[None]])
    inner = known & (certain_bit - _ONE)
    words = once(_packed(inner ^ (inner >> _ONE | ends << np.uint64(intervals - 1)), intervals))
    number = xp.sum(xp.bitwise_count(words), axis=0).astype(np.float64)
    return Changes(words, number, known[0] & _ONE == _ONE, clear)


def dips(polynomials: Array, changes: Changes, intervals: int) -> Array:
    """Words as of `Changes` of the intervals without a change in which the moduli of values have a least one."""

    def inwards(polynomial: Array, _: Array) -> Array:
        order = np.arange(1.0, len(polynomial)).reshape(-1, *(1,) * (polynomial.ndim - 1))
        of_slopes = _at_separators(polynomial[1:] * order, intervals)
        values = _at_separators(polynomial, intervals)
        falls = _bits(
            (x * slope < 0.0 for x, slope in zip(values, of_slopes, strict=True)), np.uint64
        )
        return falls & ~(falls >> _ONE) & np.uint64((1 << intervals) - 1)

    found = _of_each(inwards, polynomials, polynomials[:, 0])
    return _packed(found, intervals) & ~changes.words


def _of_each(word: Callable[[Array, Array], Array], polynomials: Array, beside: Array) -> Array:
    """Words (P, cells) of the polynomials (d, ..., cells) of panels, with what is beside them, (..., cells or 1).

    Programs take one panel after the other: of what is in memory XLA computes nothing again.
    """
    if on_host(polynomials):
        return word(np.moveaxis(polynomials, 1, 0), beside)
    return lax.map(lambda each: word(*each), (polynomials, beside))


def first_intervals(words: Array, number: int, intervals: int) -> Array:
    """The first intervals whose bits are set, ascending, (number, cells); one past any where there are fewer."""
    last, length = words.shape[0] - 1, intervals * _panels_of_a_word(intervals)

    def step(words: tuple[Array, ...], _: None) -> tuple[tuple[Array, ...], Array]:
        word, at = words[last], xp.full_like(words[last], last)
        for i in reversed(range(last)):
            some = words[i] != _NONE
            word, at = xp.where(some, words[i], word), xp.where(some, np.uint64(i), at)
        lowest = word & (~word + _ONE)
        bit = xp.bitwise_count(lowest - _ONE)
        left = tuple(xp.where(at == i, w ^ lowest, w) for i, w in enumerate(words))
        beyond = np.int32(length * (last + 1))
        found = at.astype(np.int32) * np.int32(length) + bit.astype(np.int32)
        return left, xp.where(word == _NONE, beyond, found)

    rest = tuple(words[i] for i in range(last + 1))
    if not on_host(words):
        return lax.scan(step, rest, None, length=number)[1]
    rows = []
    for _ in range(number):
        rest, row = step(rest, None)
        rows.append(row)
    return np.stack(rows)


def _at_separators(polynomials: Array, intervals: int) -> list[Array]:
    """Values of polynomials (d, ..., cells) at all separators: even and odd powers serve both sides of the middle."""
    a, u = [polynomials[k] for k in range(len(polynomials))], separators(intervals)
    found = [a[0]] * (intervals + 1)
    for j in range(intervals // 2):
        size, square = float(-u[j]), float(u[j] * u[j])
        even, odd = _horner(a[0::2], square), _horner(a[1::2], square) * size
        found[j], found[intervals - j] = even - odd, even + odd
    return found


def _horner(a: Sequence[Array], x: float) -> Array:
    found = a[-1]
    for coefficient in a[-2::-1]:
        found = found * x + coefficient
    return found


def _bits(each: Iterable[Array], kind: type[np.unsignedinteger[Any]]) -> Array:
    """Bit j of a word of this kind: whether the j-th holds."""
    word: Array = kind(0)
    for j, holds in enumerate(each):
        word = word | xp.where(holds, kind(1 << j), kind(0))
    return word


def _panels_of_a_word(intervals: int) -> int:
    return _WORD // intervals


def _packed(words: Array, intervals: int) -> Array:
    """Words of panels (P, cells), as many as go in one side by side."""
    each = _panels_of_a_word(intervals)
    rows = [
        _joined(
            [
                words[k] << np.uint64(intervals * (k - first))
                for k in range(first, min(first + each, len(words)))
            ]
        )
        for first in range(0, len(words), each)
    ]
    return xp.stack(rows)


def _joined(words: list[Array]) -> Array:
    found = words[0]
    for word in words[1:]:
        found = found | word
    return found
