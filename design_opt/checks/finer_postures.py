"""Evaluation of a design on a finer grid of postures than in its optimisation."""

from __future__ import annotations

import numpy as np

from design_opt.evaluation.evaluator import Evaluator, Report
from design_opt.problem.designs import OWN, of_joints
from design_opt.solvers.results import OptimisationResult


def finer_grid(angles: np.ndarray) -> np.ndarray | None:
    """Return a regular grid with the midpoints between its points added; None if the postures are not a full grid.

    Parameters
    ----------
    angles
        Postures in rad, shape (P, links).

    Examples
    --------
    >>> finer_grid(np.array([[0.0, 0.0], [0.0, 1.0]])).tolist()
    [[0.0, 0.0], [0.0, 0.5], [0.0, 1.0]]
    """
    axes = [np.unique(column) for column in angles.T]
    if np.prod([len(axis) for axis in axes]) != len(angles):
        return None
    finer = []
    for axis in axes:
        index = np.arange(2 * len(axis) - 1) / 2
        finer.append(np.interp(index, np.arange(len(axis)), axis))
    return np.stack([x.ravel() for x in np.meshgrid(*finer, indexing="ij")], axis=1)


def on_finer_postures(result: OptimisationResult) -> tuple[int, Report] | None:
    """Evaluate a design on finer grids of postures than it was optimised for.

    Returns
    -------
    int
        Number of postures of the finer sets.
    Report
        Objectives, margins and frequencies there; the score is relative to the start on the finer postures.

    None if no set is a full grid.
    """
    problem = result.problem
    sets = {
        name: of_joints(problem.arm, problem.sets[name])
        for name in problem.used_sets
        if name != OWN
    }
    finer_sets = {name: finer_grid(angles) for name, angles in sets.items()}
    full = {name: grid for name, grid in finer_sets.items() if grid is not None}
    if not full:
        return None
    finer = problem.changed(postures=sets | full)
    return sum(len(grid) for grid in full.values()), Evaluator(finer).report(result.report.y)
