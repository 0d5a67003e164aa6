"""Natural frequencies from singular values of B, and counts below a frequency from pivots."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.linalg

from .cases import Case
from .geometric_stiffness import pencil
from .model import Model, assembled
from .supports import hinges, supported


def frequencies(
    case: Case, num_modes: int, degree: int = 16, elements: int | Sequence[int] = 1
) -> np.ndarray:
    """The lowest natural frequencies in rad/s, ascending, repeated by multiplicity."""
    model = assembled(case, degree, elements)
    factor, sprung, still = model.factor, model.sprung, model.still
    if model.geometric is not None:
        return _loaded_frequencies(case, model)[:num_modes]
    free = hinges(case)
    if sprung.size or still.size:
        factor, free = supported(factor, free, sprung, still)
    if free:  # the strained motions, each with the free ones that make its momenta vanish
        loose = scipy.linalg.qr(factor[:, :free], mode="economic")[0]
        factor = factor[:, free:]
        for _ in range(2):
            factor = factor - loose @ (loose.T @ factor)
    singular = scipy.linalg.svdvals(_graded(factor))
    return np.append(np.zeros(free), 1 / singular[: max(num_modes - free, 0)])[:num_modes]


def _loaded_frequencies(case: Case, model: Model) -> np.ndarray:
    """All frequencies of an arm that its load does not buckle: 1 over the singular values of B R^-1, K = R^T R."""
    full, factor = pencil(case, model)
    triangle = scipy.linalg.cholesky(full)
    moved = scipy.linalg.solve_triangular(triangle, factor.T, trans=1).T
    return 1 / scipy.linalg.svdvals(_graded(moved))


def _graded(factor: np.ndarray) -> np.ndarray:
    """A triangle with the same singular values, large rows first.

    The columns of B span many orders of magnitude (a soft joint beside a stiff link). Two
    pivoted QR steps order and grade the triangle, after which the small singular values keep
    their digits relative to themselves rather than to the largest one.
    """
    triangle = scipy.linalg.qr(factor, mode="r", pivoting=True)[0][: factor.shape[1]]
    return scipy.linalg.qr(triangle.T, mode="r", pivoting=True)[0]


def count_below(
    case: Case, omega: float, degree: int = 16, elements: int | Sequence[int] = 1
) -> int:
    """Sturm count: natural frequencies below omega [rad/s], by the inertia of an LDL^T.

    The negative eigenvalues of the stiffness minus omega^2 times the mass, I - omega^2 B^T B,
    counted on the pivots of a Bunch-Kaufman factorisation (Sylvester's law); no eigenvalue of
    the pencil is computed.
    """
    return counts_below(case, [omega], degree, elements)[0]


def counts_below(
    case: Case, omega: Sequence[float], degree: int = 16, elements: int | Sequence[int] = 1
) -> list[int]:
    """`count_below` at several frequencies, of one assembly."""
    full, factor = pencil(case, assembled(case, degree, elements))
    mass = factor.T @ factor
    return [_negative(full - x**2 * mass) for x in omega]


def _negative(pencil: np.ndarray) -> int:
    """Negative eigenvalues, on the pivots."""
    _, blocks, _ = scipy.linalg.ldl(pencil)
    return int(np.sum(scipy.linalg.eigvalsh_tridiagonal(np.diag(blocks), np.diag(blocks, 1)) < 0))
