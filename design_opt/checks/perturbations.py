"""A check of an optimum without derivatives: random designs about it that keep the constraints, none of them better."""

from __future__ import annotations

import dataclasses

import numpy as np

from design_opt.evaluation.evaluator import Linearised
from design_opt.solvers.results import OptimisationResult
from design_opt.solvers.scipy_solver import working_set

#: margins below zero by less than this are rounding; a score must be higher by more than that to be better
MARGIN = 1e-9
#: sizes of the random steps, relative to the box, drawn evenly in their logarithm
SMALLEST, LARGEST = 1e-4, 0.1
_TRIES = 40


@dataclasses.dataclass(frozen=True)
class Perturbations:
    """Result of a random search about a design.

    Attributes
    ----------
    feasible : int
        Number of designs that keep all constraints.
    better : int
        How many of them have a better objective.
    best_gain : float
        The largest gain of the score, relative to the start; negative if all are worse.
    """

    feasible: int
    better: int
    best_gain: float


def perturb(result: OptimisationResult, count: int) -> Perturbations:
    """Look for better designs among random feasible ones about a result.

    Parameters
    ----------
    count
        Feasible designs to look at.

    Notes
    -----
    A step that leaves the feasible region is brought back by moving along the gradients of the active constraints
    at the optimum, scaled up until the constraints hold; a random direction alone would hardly ever keep several of
    them. Of large posture sets the critical postures are looked at; a design that seems better there is looked at
    over all.
    """
    evaluator = result.evaluator
    chosen = working_set(evaluator, result.report, result.outcome)
    at = result.refined(chosen)
    size = evaluator.problem.space.size
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
        gain = report.score - result.report.score
        if gain > MARGIN:
            whole = evaluator.report(y)
            if whole.violation > limit:
                continue
            gain = whole.score - result.report.score
        feasible += 1
        better += gain > MARGIN
        best_gain = max(best_gain, gain)
    return Perturbations(feasible, int(better), float(best_gain))


def _constraint_rates(at: Linearised, size: int) -> np.ndarray:
    """Gradients of the constraints that are active at the design, without those that bound an objective."""
    bounding = at.inequality_rates[:, size:].any(axis=1)
    return at.inequality_rates[(at.inequalities <= 1e-3) & ~bounding, :size]
