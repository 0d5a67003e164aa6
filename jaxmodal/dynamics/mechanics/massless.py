"""Frequencies where something gives way and has no mass, as what stands between springs in a row.

B is then singular. What has no mass follows the rest as if it were at rest: frequencies come from the flexibility, the
inverse of K, under the forces of inertia, and those of the directions without mass are infinite.
"""

from __future__ import annotations

import numpy as np

from jaxmodal.runtime.errors import ArmError

#: eigenvalues of a mass matrix, scaled by what its diagonal is added up from, that are rounding of 0
NO_MASS = 1e-14
#: a diagonal that is less than this share of the largest may be rounding of 0: what it is added up from is looked at
_SUSPECT = 1e-9


def suspect(mass: np.ndarray) -> bool:
    """Whether a diagonal may be rounding of what it is added up from, which the matrix alone does not tell."""
    diagonal = np.diagonal(mass, axis1=-2, axis2=-1)
    return bool(np.any(diagonal < _SUSPECT * diagonal.max(axis=-1, initial=0.0, keepdims=True)))


def massless(mass: np.ndarray, summed: np.ndarray | None = None) -> np.ndarray:
    """Which eigenvalues of a mass matrix, ascending, are rounding of 0, shape (..., k).

    The matrix is scaled by what its diagonal is added up from, ``summed`` (..., k), or else by that itself.
    """
    sizes = np.diagonal(mass, axis1=-2, axis2=-1) if summed is None else summed
    scale = _root_of_inverse(sizes)
    found = np.linalg.eigvalsh(mass * scale[..., :, None] * scale[..., None, :])
    return np.asarray(np.abs(found) < NO_MASS)


def frequencies_with_massless(
    mass: np.ndarray, stiffness: np.ndarray, summed: np.ndarray | None = None
) -> np.ndarray:
    """Angular frequencies, ascending, rad/s, (..., k): inf, last, for as many directions as have no mass.

    ``summed`` is as for `massless`.

    Raises
    ------
    ArmError
        If the stiffness is not positive definite.
    """
    if mass.ndim > 2:
        sizes = [None] * len(mass) if summed is None else summed
        every = zip(mass, stiffness, sizes, strict=True)
        return np.stack([frequencies_with_massless(*each) for each in every])
    scale = _root_of_inverse(np.diagonal(stiffness))
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
    none = int(np.sum(massless(mass, summed)))
    found = np.full(len(flexibility), np.inf)
    found[: len(flexibility) - none] = 1.0 / np.sqrt(flexibility[: len(flexibility) - none])
    return found


def _root_of_inverse(sizes: np.ndarray) -> np.ndarray:
    sizes = np.abs(sizes)
    return np.asarray(1.0 / np.sqrt(np.where(sizes > 0.0, sizes, 1.0)))
