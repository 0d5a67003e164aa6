"""Frequencies where something gives way and has no mass, as what stands between springs in a row.

B is then singular. What has no mass follows the rest as if it were at rest: frequencies come from the flexibility, the
inverse of K, under the forces of inertia, and those of the directions without mass are infinite.
"""

from __future__ import annotations

import numpy as np

from jaxmodal.runtime.errors import ArmError

#: eigenvalues of a mass matrix, scaled by its diagonal, that are rounding of 0
_NO_MASS = 1e-14


def massless(mass: np.ndarray) -> np.ndarray:
    """Which eigenvalues of a mass matrix, scaled by its diagonal, ascending, are rounding of 0, shape (..., k)."""
    scale = _by_diagonal(mass)
    found = np.linalg.eigvalsh(mass * scale[..., :, None] * scale[..., None, :])
    return np.asarray(np.abs(found) < _NO_MASS)


def frequencies_with_massless(mass: np.ndarray, stiffness: np.ndarray) -> np.ndarray:
    """Angular frequencies, ascending, rad/s, (..., k): inf, last, for as many directions as have no mass.

    Raises
    ------
    ArmError
        If the stiffness is not positive definite.
    """
    if mass.ndim > 2:
        pairs = zip(mass, stiffness, strict=True)
        return np.stack([frequencies_with_massless(m, k) for m, k in pairs])
    scale = _by_diagonal(stiffness)
    try:
        factor = np.linalg.cholesky(
            0.5 * (stiffness + stiffness.T) * scale[:, None] * scale[None, :]
        )
    except np.linalg.LinAlgError as error:
        raise ArmError(
            "the state is not stable, or moves freely, and something that gives way has no mass: its stiffness must be "
            "positive definite: give a body to what stands between springs (of an elastic base the stator of link 1)."
        ) from error
    half = np.linalg.solve(factor, mass * scale[:, None] * scale[None, :])
    flexibility = np.linalg.eigvalsh(np.linalg.solve(factor, half.T))[::-1]
    none = int(np.sum(massless(mass)))
    found = np.full(len(flexibility), np.inf)
    found[: len(flexibility) - none] = 1.0 / np.sqrt(flexibility[: len(flexibility) - none])
    return found


def _by_diagonal(matrix: np.ndarray) -> np.ndarray:
    diagonal = np.abs(np.diagonal(matrix, axis1=-2, axis2=-1))
    return np.asarray(1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0)))
