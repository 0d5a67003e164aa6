"""Matrices of dual numbers: are their derivatives those of complex steps, and of singular matrices those in books?"""

import numpy as np
import pytest

from jaxmodal.arithmetic.dual import Dual, solved, value_of, zeros

STEP = 1e-100
RANDOM = np.random.default_rng(5)


def pair(*shape):
    """A dual number with three directions, and the same value stepped in each."""
    value, slopes = RANDOM.normal(size=shape), RANDOM.normal(size=(3, *shape))
    return Dual(value, slopes), [value + 1j * STEP * x for x in slopes]


def into(x, y):
    """Products written into an array, as the recursion does."""
    found = zeros((4, 3, 3), x, y)
    found[:, :2] = x[:, :2] @ y
    found[..., 2, 1] -= 0.5 * x[:, 0, 1]
    found[:, :, 0] += y.swapaxes(0, 1)[0]
    return found


@pytest.mark.parametrize(
    "formula",
    [
        lambda x, y: x @ y,
        lambda x, y: y.T @ x,
        lambda x, y: np.arange(3.0) @ x,
        lambda x, y: np.linalg.inv(x),
        lambda x, y: np.linalg.det(x),
        lambda x, y: np.moveaxis(x, -1, 0)[1:].reshape(4, 2, 3),
        lambda x, y: np.tensordot(y, y, 1),
        lambda x, y: np.tensordot(y[0][..., None] ** np.arange(3), x[:3], 1),
        into,
    ],
)
def test_derivatives_are_those_of_complex_steps(formula):
    (x, of_x), (y, of_y) = pair(4, 3, 3), pair(3, 3)
    found = formula(x, y)
    stepped = np.array([formula(*each) for each in zip(of_x, of_y, strict=True)])
    np.testing.assert_allclose(found.value, stepped[0].real, rtol=1e-13, atol=1e-13)
    slopes = np.broadcast_to(found.slopes, stepped.shape)
    np.testing.assert_allclose(slopes, stepped.imag / STEP, rtol=1e-11, atol=1e-11)


def test_what_is_solved_has_the_derivatives_of_the_inverse():
    (x, _), (y, _) = pair(4, 3, 3), pair(4, 3, 2)
    inverse = np.linalg.inv(np.eye(3) - x.value)
    found, expected = solved(x, inverse, y), np.linalg.inv(np.eye(3) - x) @ y
    np.testing.assert_allclose(found.value, expected.value, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.slopes, expected.slopes, rtol=1e-11, atol=1e-11)


def test_the_determinant_of_a_singular_matrix_changes_with_its_cofactors():
    """Those of ((1, 2), (2, 4)) are ((4, -2), (-2, 1))."""
    found = np.linalg.det(Dual(np.array([[1.0, 2.0], [2.0, 4.0]]), np.eye(4).reshape(4, 2, 2)))
    np.testing.assert_allclose(found.slopes, [4.0, -2.0, -2.0, 1.0], rtol=0, atol=1e-14)


def test_directions_left_out_come_back_as_zeros():
    x, _ = pair(2, 3)
    which = np.array([0, 2])
    found = (2.0 * x.along(which)).among(which, 3)
    np.testing.assert_array_equal(found.slopes[which], 2.0 * x.slopes[which])
    assert not found.slopes[1].any()
    assert value_of(found) is found.value
