"""Elastic bases, free joints, and what supports at tips do to B."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from .cases import Case


def hinges(case: Case) -> int:
    """Free joints, each of which adds a mode of zero frequency where no support hinders it."""
    of_joints = sum(k == 0.0 for link in case.links for k in (link.kT, link.kx, link.ky))
    return of_joints + sum(loose for _, loose in base_strains(case))


def base_strains(case: Case) -> list[tuple[np.ndarray, bool]]:
    """Motions (x, y, rotation) of the base of unit strain energy each, and those that it is free to make (True)."""
    if case.base is None:
        return []
    matrix = np.array(case.base)
    own = np.diag(matrix)
    sprung = np.flatnonzero((own > 0.0) & np.isfinite(own))
    found = [(np.eye(3)[k], True) for k in np.flatnonzero(own == 0.0)]
    factor = np.zeros((3, sprung.size))
    factor[sprung] = (
        scipy.linalg.cholesky(np.linalg.inv(matrix[np.ix_(sprung, sprung)]), lower=True)
        if sprung.size
        else factor[sprung]
    )
    return found + [(column, False) for column in factor.T]


def supported(
    factor: np.ndarray, free: int, sprung: np.ndarray, still: np.ndarray
) -> tuple[np.ndarray, int]:
    """B in coordinates of unit strain energy with supports, after the motions that these leave without any."""
    strain = np.vstack([np.eye(factor.shape[1])[free:], sprung])
    if still.size:
        allowed = scipy.linalg.null_space(still, rcond=1e-13)
        factor, strain = factor @ allowed, strain @ allowed
    sizes = np.linalg.norm(factor, axis=0)
    factor, strain = factor / sizes, strain / sizes
    # rows of stiff springs first, or their rounding would hide the soft ones
    order = np.argsort(-np.max(np.abs(strain), axis=1))
    triangle, places = scipy.linalg.qr(strain[order], mode="r", pivoting=True)
    size = np.abs(np.diag(triangle))
    held = int(np.sum(size > 1e-13 * size[0]))
    factor = factor[:, places]
    within = scipy.linalg.solve_triangular(triangle[:held, :held], triangle[:held, held:])
    moved = factor[:, held:] - factor[:, :held] @ within
    bent = scipy.linalg.solve_triangular(triangle[:held, :held], factor[:, :held].T, trans=1).T
    return np.hstack([moved, bent]), moved.shape[1]
