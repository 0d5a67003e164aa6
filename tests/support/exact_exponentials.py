"""exp of the matrices of straight links in mpmath's digits, by a series of two numbers in place of matrices.

Waves run both ways: eigenvalues come in pairs of either sign, and of Cayley and Hamilton's equation only even powers
are left, X^2 = h where two fields meet and X^4 = h X^2 - q where four do. So X^2j = a + b X^2 with two numbers.
`mpmath.expm`, which multiplies matrices, takes five times as long.
"""

import itertools

import mpmath
from mpmath import mpf

GUARD = 25
"""Digits more than are wanted: terms of the series rise before they fall."""


def exponential(matrix, blocks):
    """Of a matrix whose fields meet in each of the blocks alone, two or four of them."""
    found = mpmath.zeros(matrix.rows)
    with mpmath.workdps(mpmath.mp.dps + GUARD):
        for fields in blocks:
            x = mpmath.matrix([[matrix[i, j] for j in fields] for i in fields])
            square, one = x * x, mpmath.eye(len(fields))
            half = _trace(square) / 2
            if len(fields) == 2:
                even, odd = _pair(half)
                total = even * one + odd * x
            else:
                even, odd = _series(half, (half**2 - _trace(square * square) / 2) / 2)
                total = even[0] * one + odd[0] * x + (even[1] * one + odd[1] * x) * square
            for i, j in itertools.product(range(len(fields)), repeat=2):
                found[fields[i], fields[j]] = total[i, j]
    return found


def _trace(matrix):
    return sum(matrix[k, k] for k in range(matrix.rows))


def _pair(square):
    """cosh and sinh z / z of the root z of a square, real where that is."""
    if isinstance(square, mpf) and square < 0:
        root = mpmath.sqrt(-square)
        return mpmath.cos(root), mpmath.sin(root) / root
    root = mpmath.sqrt(square)
    return mpmath.cosh(root), mpmath.sinh(root) / root if root else 1


def _series(half, last):
    """cosh X and sinh X / X as a + b X^2."""
    even, odd = [mpf(0), mpf(0)], [mpf(0), mpf(0)]
    power, factorial = (mpf(1), mpf(0)), mpf(1)
    for k in itertools.count(2, 2):
        even = [s + x / factorial for s, x in zip(even, power, strict=True)]
        factorial *= k - 1
        odd = [s + x / factorial for s, x in zip(odd, power, strict=True)]
        factorial *= k
        power = (-last * power[1], power[0] + half * power[1])
        if k > 4 and not sum(map(abs, power)) > factorial * mpmath.eps:  # also where it is NaN
            return even, odd
