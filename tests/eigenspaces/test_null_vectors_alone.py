"""Null vectors of matrices side by side, and of one that is singular to the last bit: those of the decomposition?"""

import numpy as np
import pytest

from jaxmodal.eigenspaces.null_spaces import equilibration, null_space

SIZE = 24


def singular(seed, scale=1.0):
    """A matrix with one null vector, which is returned, too."""
    rng = np.random.default_rng(seed)
    left, _ = np.linalg.qr(rng.normal(size=(SIZE, SIZE)))
    right, _ = np.linalg.qr(rng.normal(size=(SIZE, SIZE)))
    values = np.append(np.geomspace(1.0, 1e-3, SIZE - 1), 0.0)
    return scale * (left * values) @ right.T, right[:, -1]


def found(matrix, slope):
    rows, columns = equilibration(np.abs(matrix))
    return null_space(matrix, slope, rows, columns, np.ones(1))[..., 0]


def unit(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def test_matrices_side_by_side_have_their_own_null_vectors():
    made = [singular(seed, 10.0**seed) for seed in range(4)]
    matrices = np.stack([matrix for matrix, _ in made])
    slopes = np.random.default_rng(9).normal(size=matrices.shape)
    together = unit(found(matrices, slopes))
    for k, (matrix, expected) in enumerate(made):
        alone = unit(found(matrix, slopes[k]))
        for vector in (together[k], alone):
            # 1e-16 over the next smallest singular value; the product of both knows of an error its square alone
            apart = vector - np.sign(vector @ expected) * expected
            assert np.max(np.abs(apart)) <= 1e-12


@pytest.mark.parametrize("spoilt", [np.zeros(SIZE), np.full(SIZE, 1e-320)])
def test_a_matrix_that_is_singular_to_the_last_bit_goes_to_the_decomposition(spoilt):
    """A column of zeros, and one so small that what it is divided by overflows."""
    matrix = np.random.default_rng(3).normal(size=(SIZE, SIZE))
    matrix[:, 5] = spoilt
    ones = np.ones(SIZE)
    vector = unit(null_space(matrix, np.eye(SIZE), ones, ones, np.ones(1))[:, 0])
    np.testing.assert_allclose(np.abs(vector), np.eye(SIZE)[5], rtol=0.0, atol=1e-12)
