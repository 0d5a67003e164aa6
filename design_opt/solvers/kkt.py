"""Optimality conditions (KKT) of a design, checked independently of the solver.

At an optimum the gradient of the objective is a combination of the gradients of the active constraints and bounds with
nonnegative multipliers (Karush, Kuhn and Tucker). The multipliers are computed from the derivatives alone by
nonnegative least squares; the residual is the remaining gradient.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy.optimize import nnls

from design_opt.evaluation.evaluator import Linearised

#: inequalities with a smaller margin are active and can have a multiplier
ACTIVE = 1e-5


@dataclasses.dataclass(frozen=True)
class Optimality:
    """Residual of the optimality conditions, and the multipliers.

    Attributes
    ----------
    residual : float
        The largest of stationarity (remaining gradient relative to that of the objective), violation and
        complementarity.
    stationarity, violation, complementarity : float
        The three parts of the residual.
    multipliers : array
        One per inequality, >= 0.
    equality_multipliers : array
        One per equality.
    bound_multipliers : array
        One per unknown: positive at a lower, negative at an upper bound.
    """

    residual: float
    stationarity: float
    violation: float
    complementarity: float
    multipliers: np.ndarray
    equality_multipliers: np.ndarray
    bound_multipliers: np.ndarray


def optimality(
    at: Linearised,
    w: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    *,
    active: float = ACTIVE,
    extra: np.ndarray | None = None,
) -> Optimality:
    """Return the optimality conditions at a point.

    Parameters
    ----------
    at
        Values and derivatives at the point.
    w, lower, upper
        The unknowns and their bounds, shape (size,).
    active
        Margins and distances to bounds below this are active.
    extra
        Further gradients, shape (rays, size), that may have a multiplier: mixed directions of a cluster, see
        `design_opt.solvers.cluster_conditions`.
    """
    rows = np.flatnonzero(at.inequalities <= active)
    at_lower = np.flatnonzero(w - lower <= active)
    at_upper = np.flatnonzero(upper - w <= active)
    unit = np.eye(w.size)
    rays = np.zeros((0, w.size)) if extra is None else extra
    columns = [at.inequality_rates[rows], at.equality_rates, -at.equality_rates]
    columns += [unit[at_lower], -unit[at_upper], rays]
    matrix = np.concatenate(columns).T
    scale = max(1.0, float(np.abs(at.objective_rate).max(initial=0.0)))
    if matrix.shape[1]:
        lengths = np.linalg.norm(matrix, axis=0)
        lengths = np.where(lengths > 0.0, lengths, 1.0)
        weights, _ = nnls(matrix / lengths, at.objective_rate, maxiter=50 * matrix.shape[1] + 100)
        weights = weights / lengths
        rest = matrix @ weights - at.objective_rate
    else:
        weights, rest = np.zeros(0), -at.objective_rate
    stationarity = float(np.abs(rest).max(initial=0.0)) / scale
    parts = np.split(weights, np.cumsum([len(part) for part in columns])[:-1])
    multipliers = np.zeros(at.inequalities.size)
    multipliers[rows] = parts[0]
    of_bounds = np.zeros(w.size)
    of_bounds[at_lower] += parts[3]
    of_bounds[at_upper] -= parts[4]
    beside = np.minimum(np.abs(w - lower), np.abs(upper - w))
    distances = np.concatenate(
        [
            multipliers * np.abs(at.inequalities),
            np.abs(of_bounds) * np.where(of_bounds != 0.0, beside, 0.0),  # bounds may be infinite
        ]
    )
    complementarity = float(distances.max(initial=0.0)) / scale
    violation = max(
        float((-at.inequalities).max(initial=0.0)), float(np.abs(at.equalities).max(initial=0.0))
    )
    return Optimality(
        max(stationarity, violation, complementarity),
        stationarity,
        violation,
        complementarity,
        multipliers,
        parts[1] - parts[2],
        of_bounds,
    )
