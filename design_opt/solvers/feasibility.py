"""The design with the smallest constraint violation, for problems that may have no feasible design."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from design_opt.evaluation.evaluator import Chosen, Evaluator, Linearised


def least_violation(evaluator: Evaluator, start: np.ndarray, chosen: Chosen | None) -> np.ndarray:
    """Return the positions with the smallest largest violation, from a start.

    Notes
    -----
    Solved by SLSQP: minimise s such that every margin is at least -s and every equality holds within s. Where the start
    violates by more than 1, s and the margins count relative to that: a tolerance below the rounding of a large s is
    met by no line search.
    """
    program, size = evaluator.program, evaluator.problem.space.size
    bounds = program.best_bounds(evaluator.report(start, chosen).terms) - 10.0  # never binding

    def at(x: np.ndarray) -> Linearised:
        inside = np.clip(x[:size], 0.0, 1.0)
        return evaluator.linearise(np.concatenate([inside, bounds]), chosen)

    def margins(x: np.ndarray) -> np.ndarray:
        found = at(x)
        rows = [found.inequalities, found.equalities, -found.equalities]
        return np.concatenate(rows) / unit + x[size]

    def rates(x: np.ndarray) -> np.ndarray:
        found = at(x)
        equal = found.equality_rates[:, :size]
        rows = np.concatenate([found.inequality_rates[:, :size], equal, -equal])
        return np.column_stack([rows / unit, np.ones(len(rows))])

    unit = 1.0
    worst = max(0.0, -float(margins(np.append(start, 0.0)).min()))
    unit = max(worst, unit)
    slope = np.append(np.zeros(size), 1.0)
    found = minimize(
        lambda x: x[size],
        np.append(start, worst / unit),
        jac=lambda x: slope,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * size + [(0.0, 1.0)],
        constraints=[{"type": "ineq", "fun": margins, "jac": rates}],
        options={"maxiter": 100, "ftol": 1e-10},
    )
    return np.asarray(np.clip(found.x[:size], 0.0, 1.0))
