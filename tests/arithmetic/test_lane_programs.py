"""Do recorded formulas over lanes have the bits of the formulas, and leave out what is zero or asked by nobody?"""

import numpy as np
import pytest

from jaxmodal.arithmetic.lane_programs import LaneProgram, kind_of
from jaxmodal.arithmetic.nothing import NOTHING
from jaxmodal.arithmetic.operations import (
    absolute,
    maximum,
    minimum,
    nonzero,
    over_size,
    select,
    size_of,
)

LANES = 1001  # no multiple of the width of a vector


def numbers(kind, seed):
    rng = np.random.default_rng(seed)
    real, imag = rng.normal(size=(2, LANES))
    return real + 1j * imag if kind is complex else real


def formula(a, b, c, d):
    """Operations of each kind, of arrays a and b and numbers c and d; in some lanes b - a is zero."""
    product, difference = b * a, nonzero(b - a)
    chosen = select(b - a * c, product - a, d / (a + 2.0))
    chain = a
    for k in range(30):  # more results than rows: rows are used again
        chain = (chain * b - chosen) * 0.25 + c * float(k)
    return [
        product / difference,
        chosen,
        -chain,
        absolute(-a) + absolute(product) * d,
        c * d - d,
        1.0 / difference,
        product * product - product,
    ]


@pytest.mark.parametrize("kinds", [(float, float), (complex, complex), (complex, float)])
@pytest.mark.parametrize(("c", "d"), [(0.3, -2.5), (1.0, 0.7), (0.2, 1.0)])
def test_recorded_formulas_have_the_bits_of_the_formula(kinds, c, d):
    a, b = (numbers(kind, seed) for seed, kind in enumerate(kinds))
    a[::7] = b[::7]
    given = [a, b, c, d]
    found = LaneProgram(formula, [kind_of(x) for x in given])(given, LANES)
    with np.errstate(all="ignore"):
        expected = formula(*given)
    for x, y in zip(found, expected, strict=True):
        assert np.array_equal(x, y)
        assert np.asarray(x).dtype == np.asarray(y).dtype
    assert np.array_equal(a[::7], b[::7])  # inputs stay as they are


def test_zeros_are_left_out_and_tell():
    def sums(a, b, zero):
        return [a + zero * b, zero - a, zero * a, select(zero, b, a), absolute(zero), a * b]

    a, b = numbers(complex, 0), numbers(complex, 1)
    program = LaneProgram(sums, [kind_of(x) for x in (a, b, NOTHING)])
    same, negative, nothing, other, size, product = program([a, b, NOTHING], LANES)
    assert same is a
    assert other is a
    assert nothing is size is NOTHING
    assert np.array_equal(negative, -a)
    assert np.array_equal(product, a * b)
    assert len(program._steps) == 2


def test_what_nobody_asks_for_is_not_computed_and_equal_operations_once():
    def of(a, b):
        unread = [a / b, (a + b) * b]
        again = a * b
        return [again + (a * b), again] if unread else []

    a, b = numbers(float, 0), numbers(float, 1)
    program = LaneProgram(of, [kind_of(a), kind_of(b)])
    double, single = program([a, b], LANES)
    assert np.array_equal(double, 2.0 * (a * b))
    assert np.array_equal(single, a * b)
    assert len(program._steps) == 2


def test_results_of_one_call_outlive_the_next():
    a, b = numbers(float, 0), numbers(float, 1)
    program = LaneProgram(formula, [kind_of(x) for x in (a, b, 0.5, 0.5)])
    first = program([a, b, 0.5, 0.5], LANES)[0]
    kept = first.copy()
    program([b, a, 0.5, 0.5], LANES)
    assert np.array_equal(first, kept)


def checks(a, b, c):
    """Operations that tell of lost digits; of some results the real part is a small part."""
    lost = maximum(over_size(1.0, a - b.real, 2.0), over_size(size_of(b) + c, a, 2.0))
    return [
        lost,
        maximum(0.0, -size_of(c)),
        minimum(np.inf, absolute((a * b).real)),
        minimum(size_of(-a), absolute((b - a).imag)),
        (-a).real - a.imag,
        b.real * c,
        over_size(c * c, c, 2.0),
    ]


@pytest.mark.parametrize("kinds", [(float, float), (complex, complex), (complex, float)])
@pytest.mark.parametrize("c", [0.3, -1.5])
def test_parts_extremes_and_ratios_have_the_bits_of_the_formula(kinds, c):
    a, b = (numbers(kind, seed) for seed, kind in enumerate(kinds))
    c = c * np.ones(LANES) if c > 0.0 else c
    found = LaneProgram(checks, [kind_of(x) for x in (a, b, c)])([a, b, c], LANES)
    for x, y in zip(found, checks(a, b, np.asarray(c)), strict=True):
        assert np.array_equal(x + np.zeros(LANES), y + np.zeros(LANES))


def test_what_does_not_vary_along_an_axis_is_computed_once_for_it():
    rng = np.random.default_rng(0)
    rows, columns = rng.normal(size=(7, 1)), rng.normal(size=11) + 1j
    whole = rng.normal(size=(7, 11))

    def of(x, y, z):
        return [x * x + 2.0, y / (y + 1.0), x * y, z - x * y, size_of(y)]

    given = [rows, columns, whole]
    found = LaneProgram(of, [kind_of(x) for x in given])(given, (7, 11))
    assert [x.shape for x in found] == [(7, 1), (1, 11), (7, 11), (7, 11), (1, 11)]
    for x, y in zip(found, of(*given), strict=True):
        assert np.array_equal(x, np.broadcast_to(y, x.shape))
