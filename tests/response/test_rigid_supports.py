"""Matrices with their last rows held: Schur complements, and what rounding or a resonance on the supports does."""

import numpy as np

from jaxmodal.response.receptance.rigid_supports import supported
from jaxmodal.spatial.stiffness.symmetric import Symmetric, places


def of(matrix):
    return Symmetric([matrix[i, j] for i, j in places(len(matrix))])


def test_what_is_left_and_the_sizes_of_its_terms():
    """A - B C^-1 B^T, and |A| + 2 |B||X| + |X||C||X| of the diagonal, also where C has a zero on its own."""
    matrix = np.random.default_rng(0).normal(size=(8, 8, 3))
    matrix = matrix + matrix.swapaxes(0, 1)
    matrix[6, 6, 0] = 0.0
    left_over, sizes = supported(of(matrix), 2)
    for lane in range(3):
        a, b, c = (matrix[(*part, lane)] for part in (np.s_[:6, :6], np.s_[:6, 6:], np.s_[6:, 6:]))
        x = np.linalg.solve(c, b.T)
        truth, size = a - b @ x, np.abs(x)
        own = np.einsum("si,st,ti->i", size, np.abs(c), size)
        terms = np.abs(np.diag(a)) + 2.0 * np.einsum("is,si->i", np.abs(b), size) + own
        np.testing.assert_allclose([x[lane] for x in sizes], terms, rtol=1e-12, atol=0.0)
        left = [left_over[i, j][lane] for i, j in places(6)]
        np.testing.assert_allclose(
            left, [truth[i, j] for i, j in places(6)], rtol=0.0, atol=1e-14 * terms.max()
        )


def test_supports_in_resonance_give_large_numbers_and_no_number_gives_none_in_its_lane_alone():
    matrix = np.random.default_rng(0).normal(size=(8, 8, 3))
    matrix = matrix + matrix.swapaxes(0, 1)
    matrix[6:, 6:] = np.array([[1.0, 2.0], [2.0, 4.0]])[..., None]
    matrix[7, 7, 1] = np.nan
    matrix[7, 7, 2] = 5.0
    left_over, sizes = supported(of(matrix), 2)
    left, terms = left_over[0, 0], sizes[0]
    assert np.isfinite(left[0])
    assert terms[0] > 1e14
    assert np.isnan(left[1])
    solved = np.linalg.solve(matrix[6:, 6:, 2], matrix[6:, 0, 2])
    truth = matrix[0, 0, 2] - matrix[0, 6:, 2] @ solved
    np.testing.assert_allclose(left[2], truth, rtol=1e-13, atol=0.0)
