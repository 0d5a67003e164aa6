"""Are the elementary functions written out in float64 operations as good as the library's, and is nothing lost?"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmodal.arithmetic.double_double import DoubleDouble
from jaxmodal.arithmetic.operations import Arithmetic, is_positive, keep, log, number, select
from jaxmodal.arithmetic.registers import Register

UNITS = 2.0
"""In the last place: sums and products of a few rounded numbers."""


def normal_numbers() -> np.ndarray:
    """Over all exponents, and dense near one and near the ends of a binade."""
    rng = np.random.default_rng(0)
    wide = np.exp(rng.uniform(-700.0, 700.0, 20000))
    near = 1.0 + np.concatenate([[0.0], 10.0 ** rng.uniform(-15.0, -1.0, 5000)])
    ends = np.sqrt(2.0) * (1.0 + 1e-16 * rng.integers(-50, 50, 1000))
    return np.concatenate([wide, near, 2.0 - near / 2.0, ends, 2.0 ** np.arange(-1022.0, 1023.0)])


def test_logarithm_to_the_last_places():
    x = normal_numbers()
    found, exact = np.asarray(jax.jit(log)(jnp.asarray(x))), np.log(x)
    # the logarithm of numbers near one is small: its error is that of the sum, some parts of 1e-16 of one
    assert np.all(np.abs(found - exact) <= UNITS * np.maximum(np.spacing(np.abs(exact)), 2.0**-53))
    assert found[x == 1.0].tolist() == [0.0] * int(np.sum(x == 1.0))


def test_logarithm_of_what_is_no_normal_number():
    x = jnp.asarray([np.nan, np.inf])
    assert np.isnan(np.asarray(log(x))).all()


def test_what_is_kept_is_unchanged():
    x = jnp.asarray([0.0, -0.0, 1e-300, -1.5, np.inf, -np.inf, np.nan, 1e300])
    for kept in (keep(x), jax.jit(keep)(x)):
        assert np.asarray(kept).tobytes() == np.asarray(x).tobytes()


def test_numbers_of_each_arithmetic():
    x = np.array([1.5, -2.0])
    assert number(x, Arithmetic.float64) is x
    assert isinstance(number(x, Arithmetic.double_double), DoubleDouble)
    assert isinstance(number(x, Arithmetic.registers), Register)


@pytest.mark.parametrize("wrong", [True, False, "registers"])
def test_what_is_no_arithmetic_is_refused(wrong):
    with pytest.raises(AssertionError, match=repr(wrong)):
        number(np.ones(2), wrong)


def test_neither_zero_nor_an_imaginary_number_is_positive():
    z = np.array([0j, 2j, -2j, complex(-0.0, 1.0), 1e-300 + 1j, -1.0 + 1j])
    chosen = [False, False, False, False, True, False]
    assert is_positive(z).tolist() == chosen
    assert is_positive(np.array([0.0, -0.0, 1e-300, -1.0])).tolist() == [False, False, True, False]
    assert select(z, 1.0, 2.0).tolist() == [1.0 if x else 2.0 for x in chosen]
