"""Natural frequencies of systems with elastic coordinates without mass, as between springs in series.

B is then singular. Coordinates without mass follow the others statically: the frequencies come from the flexibility,
the inverse of K, under inertia forces, and the frequencies of directions without mass are infinite.
"""

from __future__ import annotations

import numpy as np

from jaxmodal.runtime.errors import ArmError

#: eigenvalues of a mass matrix, scaled by the sums behind its diagonal, that are below this are rounding of 0
NO_MASS = 1e-14
#: a diagonal entry below this share of the largest one may be rounding of 0, so its sum is examined
_SUSPECT = 1e-9


def suspect(mass: np.ndarray) -> bool:
    """Return True if diagonal entries may be rounding of larger terms, which the matrix alone does not show."""
    diagonal = np.diagonal(mass, axis1=-2, axis2=-1)
    return bool(np.any(diagonal < _SUSPECT * diagonal.max(axis=-1, initial=0.0, keepdims=True)))


def massless(mass: np.ndarray, summed: np.ndarray | None = None) -> np.ndarray:
    """Return True for each eigenvalue of a mass matrix, ascending, that is rounding of 0, shape (..., k).

    The matrix is scaled by the sums of absolute terms on its diagonal, ``summed`` (..., k), or by the diagonal itself.
    """
    sizes = np.diagonal(mass, axis1=-2, axis2=-1) if summed is None else summed
    scale = _root_of_inverse(sizes)
    found = np.linalg.eigvalsh(mass * scale[..., :, None] * scale[..., None, :])
    return np.asarray(np.abs(found) < NO_MASS)


def frequencies_with_massless(
    mass: np.ndarray, stiffness: np.ndarray, summed: np.ndarray | None = None
) -> np.ndarray:
    """Return the angular frequencies, ascending, rad/s, (..., k), with inf last for each direction without mass.

    ``summed`` is the same as in `massless`.

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
