"""Do formulas that NumPy runs side by side give what each gives by itself, and is nothing lost in double-double?"""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from jaxmodal.arithmetic import double_double as dd
from jaxmodal.arithmetic.double_double import DoubleDouble
from jaxmodal.arithmetic.operations import nonzero, select
from jaxmodal.arithmetic.wide_programs import Begun, run_stacked

PLACES, LANES = 3, 5


def formula(a, b, c, d):
    """Operations of each kind; the third result is a denominator that is zero in some lanes."""
    quotient = a / (b * b + 1.0)
    difference = nonzero(b - c)
    return [quotient * d - c, select(d - a, -quotient, d) + 2.0, difference, d / difference]


def numbers(seed):
    """As many as the formula has arguments; the second and the third are equal in some lanes."""
    x = np.random.default_rng(seed).uniform(-2.0, 2.0, (4, PLACES, LANES))
    x[2, :, ::2] = x[1, :, ::2]
    return x


def begun(known, last):
    """The results of all places, the last argument being known later."""
    side_by_side = Begun(formula, [*known, None], (PLACES, LANES))
    for place in range(PLACES):
        side_by_side.go_on(place, [last[place]])
    return side_by_side


def test_float64_side_by_side_has_the_bits_of_the_formula():
    *known, last = numbers(0)
    found, expected = begun(known, last), formula(*known, last)
    assert np.any(expected[2] == 1e-280)
    for place in range(PLACES):
        for x, y, z in zip(found.outputs(), found.outputs(place), expected, strict=True):
            assert x[place].tobytes() == y.tobytes() == z[place].tobytes()
    (second,) = found.outputs(1, 1, 2)
    assert second.tobytes() == expected[1][1].tobytes()


@pytest.mark.parametrize("in_pairs", [False, True])
def test_an_input_that_alone_is_wider_has_the_bits_of_all_inputs_as_wide(in_pairs):
    """``b`` has lanes where the others have one; the quotient waits for it, the rest of what is known does not."""
    x = numbers(3)
    narrow, wide = (PLACES, 1), (PLACES, LANES)
    a, b, c, d = (y if i == 1 else y[:, :1] for i, y in enumerate(x))
    every = [np.broadcast_to(y, wide).copy() for y in (a, b, c, d)]
    if in_pairs:
        a, b, c, d, *every = (DoubleDouble(y, y * 2.0**-60) for y in (a, b, c, d, *every))
    found, expected = Begun(formula, [a, b, c, None], narrow), begun(every[:3], every[3])
    for place in range(PLACES):
        found.go_on(place, [d[place]])
    for place in (None, 0, PLACES - 1):
        for one, other in zip(found.outputs(place), expected.outputs(place), strict=True):
            parts = [(one.hi, other.hi), (one.lo, other.lo)] if in_pairs else [(one, other)]
            assert all(p.tobytes() == q.tobytes() for p, q in parts)


def test_double_double_side_by_side_keeps_30_digits():
    x = numbers(1)
    x[2] += 0.5  # no denominator of zero: it has no value to compare with
    *known, last = (DoubleDouble(y, y * 2.0**-60) for y in x)
    results = begun(known, last).outputs()

    for place in range(PLACES):
        for lane in range(LANES):
            given = [
                Fraction(y.hi[place, lane]) + Fraction(y.lo[place, lane]) for y in (*known, last)
            ]
            a, b, c, d = given
            quotient = a / (b * b + 1)
            expected = [quotient * d - c, (-quotient if d > a else d) + 2, b - c, d / (b - c)]
            for found, exact in zip(results, expected, strict=True):
                value = Fraction(found.hi[place, lane]) + Fraction(found.lo[place, lane])
                assert abs(value - exact) <= Fraction(1e-30) * max(abs(exact), 1)


@pytest.mark.parametrize("most", [0, 100])
def test_stacked_numbers_recorded_or_not_have_the_bits_of_the_formula(most):
    """Of numbers that broadcast, in two groups."""
    x = numbers(3)
    known, last = x[:3], x[3:, :1]
    found = run_stacked(formula, [known, last], most)
    expected = np.stack(np.broadcast_arrays(*formula(*known, *last)))
    assert found.tobytes() == expected.tobytes()
    in_pairs = run_stacked(formula, [DoubleDouble(y, 0.0 * y) for y in (known, last)], most)
    np.testing.assert_allclose(in_pairs.hi, expected, rtol=1e-14)
    assert np.all(in_pairs.hi[2][expected[2] == 1e-280] == 1e-280)


@pytest.mark.parametrize("shape", [(7,), (2, 4)])
def test_functions_by_one_series_have_the_bits_of_each(shape):
    rng = np.random.default_rng(2)
    angles, exponent, square = (
        DoubleDouble(x, x * 2.0**-60)
        for x in (rng.uniform(0, 50, (3, *shape)), rng.uniform(0, 800, shape), rng.uniform(0, 0.25, shape))
    )  # fmt: skip
    circular, decay, ratio = dd.functions_together(angles, exponent, square)
    alone = [*dd.sin_cos(angles), dd.exp_negative(exponent), dd.sinh_ratio(square)]
    for x, y in zip([*circular, decay, ratio], alone, strict=True):
        parts = [(x, y)] if isinstance(x, np.ndarray) else [(x.hi, y.hi), (x.lo, y.lo)]
        assert all(p.tobytes() == q.tobytes() for p, q in parts)
    with mpmath.workdps(50):
        first = (0,) * len(shape)
        z = mpmath.mpf(square.hi[first]) + mpmath.mpf(square.lo[first])
        exact = mpmath.sinh(mpmath.sqrt(z)) / mpmath.sqrt(z)
        assert abs(mpmath.mpf(ratio.hi[first]) + mpmath.mpf(ratio.lo[first]) - exact) < 1e-30
