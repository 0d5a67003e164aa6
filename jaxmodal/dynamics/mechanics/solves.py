"""Solution of small symmetric positive definite systems, with a test of definiteness, and Newton's method."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import cho_solve
from jaxtyping import Float

from jaxmodal.runtime.namespace import Array

#: number of steps of Newton's method, and the allowed change in the last one, relative to 1 plus the largest coordinate
_STEPS, SETTLED = 25, 1e-10
#: matrices up to this size are eliminated row by row in the program itself, which batches well; larger ones by LAPACK
WRITTEN_OUT = 12


def held(matrix: Array, free: np.ndarray) -> Array:
    """Return a matrix in which held coordinates, with ``free`` 0, have only a 1 on the diagonal."""
    return matrix * np.outer(free, free) + np.diag(1.0 - free)


def solve_held(matrix: Array, right: Array, free: np.ndarray, given: Array) -> tuple[Array, Array]:
    """Solve as `solve_definite`, with part of the solution ``given`` where ``free`` is 0; ``given`` is 0 elsewhere."""
    return solve_definite(held(matrix, free), free * (right - matrix @ given) + given)


def solve_definite(matrix: Float[Array, "N N"], right: Float[Array, " N"]) -> tuple[Array, Array]:
    """Solve a system whose matrix should be symmetric and positive definite.

    Returns
    -------
    tuple of Array
        Solution, shape (N,), NaN if the matrix is not positive definite; and the smallest ratio of a pivot to its
        diagonal entry, which is 0, negative or NaN in that case.
    """
    size = matrix.shape[0]
    scale = jnp.diagonal(matrix)
    if size > WRITTEN_OUT:
        lower = jnp.linalg.cholesky(matrix)
        smallest = jnp.min(jnp.diagonal(lower) ** 2 / scale)
        return cho_solve((lower, True), right), smallest
    rest, columns, pivots = matrix, [], []
    below = np.tril(np.ones((size, size)), -1).T
    for k in range(size):
        pivot = rest[k, k]
        column = rest[:, k] / pivot
        rest = rest - pivot * (column[:, None] * column[None, :])
        columns.append(column)
        pivots.append(pivot)
    smallest = jnp.min(jnp.stack(pivots) / scale)
    solution = right
    for k in range(size):  # forward: subtract multiples of row k from the rows below
        solution = solution - below[k] * columns[k] * solution[k]
    solution = solution / jnp.stack(pivots)
    for k in reversed(range(size)):  # backward
        solution = solution.at[k].add(-jnp.sum(below[k] * columns[k] * solution))
    return jnp.where(smallest > 0.0, solution, jnp.nan), smallest


def eliminated(matrix: Array, right: Array) -> Array:
    """Return the solution for several right sides by Gaussian elimination without pivoting; for definite matrices."""
    size = matrix.shape[0]
    rest, table = matrix, right
    for k in range(size):
        others = (np.arange(size) != k).astype(float)
        share = others * rest[:, k] / rest[k, k]
        table = table - share[:, None] * table[k][None, :]
        rest = rest - share[:, None] * rest[k][None, :]
    return table / jnp.diagonal(rest)[:, None]


def zero_of(force: Callable[[Array], Array], free: np.ndarray, start: Array) -> tuple[Array, Array]:
    """Return coordinates at which the forces on the free ones vanish, and the change in the last Newton step.

    ``force`` returns 0 for coordinates that are held; `SETTLED` is the limit for a sufficiently small last step.
    """

    def newton(state: tuple[Array, Array], _: Any) -> tuple[tuple[Array, Array], None]:
        q, _change = state
        change = jnp.linalg.solve(held(jax.jacfwd(force)(q), free), force(q))
        return (q - change, jnp.max(jnp.abs(change))), None

    (q, change), _ = jax.lax.scan(
        newton, (jnp.asarray(start), jnp.asarray(jnp.inf)), None, length=_STEPS
    )
    return q, change
