"""A check of an optimum without derivatives: random feasible designs around it, none of which should be better."""

from __future__ import annotations

import dataclasses

import numpy as np

from design_opt.evaluation.evaluator import Linearised
from design_opt.solvers.results import OptimisationResult
from design_opt.solvers.scipy_solver import working_set

#: larger violations, and larger gains of the score, are not rounding errors
MARGIN = 1e-9
#: range of the random step lengths, relative to the box; uniform on a logarithmic scale
SMALLEST, LARGEST = 1e-4, 0.1
_TRIES = 40


@dataclasses.dataclass(frozen=True)
class Perturbations:
    """Result of a random search around a design.

    Attributes
    ----------
    feasible : int
        Number of feasible designs evaluated.
    better : int
        Number of feasible designs with a better objective.
    best_gain : float
        Largest gain of the score, relative to the start, or to the design where that is far from it; negative if all
        designs are worse.
    """

    feasible: int
    better: int
    best_gain: float


def perturb(result: OptimisationResult, count: int) -> Perturbations:
    """Search for better designs among random feasible designs around a result.

    Parameters
    ----------
    count
        Number of feasible designs to evaluate.

    Notes
    -----
    A step that leaves the feasible region is corrected along the gradients of the constraints that are active at the
    optimum; the correction is increased until the constraints hold. Without it, random steps would almost never satisfy
    several constraints. Large posture sets are evaluated at critical postures only; a design that is better there is
    evaluated at all postures.
    """
    evaluator = result.evaluator
    chosen = working_set(evaluator, result.report, result.outcome)
    at = result.refined(chosen)
    size, unit = evaluator.problem.space.size, evaluator.program.size_of_score
    rates = np.concatenate([_constraint_rates(at, size), at.equality_rates[:, :size]])
    inward = np.linalg.pinv(rates) if len(rates) else np.zeros((size, 0))
    of_equalities = len(at.equalities)
    rng = np.random.default_rng(0)
    feasible = better = 0
    best_gain = -np.inf
    limit = max(MARGIN, 2.0 * result.report.violation)
    for _ in range(_TRIES * count):
        if feasible >= count:
            break
        length = np.exp(rng.uniform(np.log(SMALLEST), np.log(LARGEST)))
        direction = rng.normal(size=size)
        step = length * direction / np.linalg.norm(direction)
        target = rates @ step
        lacking = np.maximum(-target, 0.0)
        if of_equalities:
            lacking[-of_equalities:] = -target[-of_equalities:]
        for push in (1.0, 1.3, 2.0):
            y = np.clip(result.report.y + step + push * inward @ lacking, 0.0, 1.0)
            report = evaluator.report(y, chosen)
            if report.violation <= limit:
                break
        else:
            continue
        gain = (report.score - result.report.score) / unit
        if gain > MARGIN:
            whole = evaluator.report(y)
            if whole.violation > limit:
                continue
            gain = (whole.score - result.report.score) / unit
        feasible += 1
        better += gain > MARGIN
        best_gain = max(best_gain, gain)
    return Perturbations(feasible, int(better), float(best_gain))


def _constraint_rates(at: Linearised, size: int) -> np.ndarray:
    """Return the gradients of constraints active at the design, without the bounds of objectives."""
    bounding = at.inequality_rates[:, size:].any(axis=1)
    return at.inequality_rates[(at.inequalities <= 1e-3) & ~bounding, :size]
