"""The stiffness of arms under forces at rest, and what damped ones do under harmonic forces at the tip."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.linalg

from .cases import Case
from .model import Model, assembled
from .supports import hinges


def stiffness(case: Case, degree: int = 16, elements: int | Sequence[int] = 1) -> np.ndarray:
    """The stiffness over the strains that rigid supports allow: elastic, of supports, and geometric."""
    return pencil(case, assembled(case, degree, elements))[0]


def tip_receptance(
    case: Case, omega: float, damped: complex, degree: int = 16, elements: int | Sequence[int] = 1
) -> np.ndarray:
    """Motions (u, v, psi) of the last tip in its link's axes for unit forces there, complex, (3, 3).

    ``damped`` multiplies the elastic stiffness, as 1 + i eta of a loss factor that all links and springs have; forces
    at rest and supports are as they are.
    """
    tips: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    model = assembled(case, degree, elements, tips)
    rows = np.stack(tips[-1])
    free, columns = hinges(case), model.factor.shape[1]
    full = np.diag(damped * np.append(np.zeros(free), np.ones(columns - free)))
    full = full + model.sprung.T @ model.sprung - omega**2 * model.factor.T @ model.factor
    if model.geometric is not None:
        full = full + model.geometric
    return rows @ np.linalg.solve(full, rows.T)


def pencil(case: Case, model: Model) -> tuple[np.ndarray, np.ndarray]:
    """Stiffness and B over the strains that rigid supports allow."""
    free, columns = hinges(case), model.factor.shape[1]
    elastic = np.append(np.zeros(free), np.ones(columns - free))
    full = np.diag(elastic) + model.sprung.T @ model.sprung
    if model.geometric is not None:
        full = full + model.geometric
    if not model.still.size:
        return full, model.factor
    allowed = scipy.linalg.null_space(model.still, rcond=1e-13)
    return allowed.T @ full @ allowed, model.factor @ allowed
