"""Optimality conditions where frequencies coincide, including the mixed directions of a cluster.

The members of a cluster have no individual gradients. They are replaced by the matrix G of derivatives projected on the
modes of the cluster: every unit vector c gives a ray c' G c. At an optimum the gradient of the objective is a
nonnegative combination of the rays of all c, of the active constraints and of the bounds (the weights form a positive
semidefinite matrix; Seyranian, Lund and Olhoff, Structural Optimization 8 (1994) 207-227). A finite number of vectors c
is used, and refined around those with positive weight.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from design_opt.evaluation.evaluator import Evaluator, Linearised
from design_opt.problem.objectives import MaximiseFrequency
from design_opt.solvers.kkt import Optimality, optimality

_RAYS, _REFINEMENTS = 32, 6


@dataclasses.dataclass(frozen=True)
class Cluster:
    """Coincident frequencies in one posture that limit an objective: mode numbers from 1, Hz."""

    postures: str
    posture: int
    modes: tuple[int, ...]
    hz: tuple[float, ...]


def active_clusters(evaluator: Evaluator, y: np.ndarray, tolerance: float) -> list[Cluster]:
    """Return the clusters of two or three modes at the worst postures of frequency objectives.

    Parameters
    ----------
    tolerance
        Values within this relative distance of the smallest are active.
    """
    report = evaluator.report(y)
    found = []
    for part, values in zip(evaluator.problem.objectives, report.terms, strict=True):
        if not isinstance(part, MaximiseFrequency):
            continue
        least = values.min()
        near = values <= least * (1.0 + tolerance)
        for posture in np.flatnonzero(near.sum(axis=1) > 1):
            columns = np.flatnonzero(near[posture])
            hz = tuple(float(f) for f in values[posture, columns])
            modes = tuple(int(part.mode + column) for column in columns)
            found.append(Cluster(part.postures, int(posture), modes, hz))
    return found


def cluster_optimality(
    evaluator: Evaluator, y: np.ndarray, *, tolerance: float = 1e-3
) -> tuple[Optimality, list[Cluster]]:
    """Return the exact optimality conditions of a max-min design, including clusters.

    Parameters
    ----------
    evaluator
        Evaluator of a problem with one objective, a `MaximiseFrequency` with the aggregate ``"bound"`` or a smooth one.
        The conditions are those of the exact smallest value.
    tolerance
        Values within this relative distance of the smallest are active, as are margins below it. It should cover the
        error of the smoothing.

    Returns
    -------
    Optimality
        Optimality in the unknowns (y, t).
    list of Cluster
        The coincident frequencies.
    """
    program = evaluator.program
    part, scale = evaluator.problem.objectives[0], program.measure.scales[0]
    report = evaluator.report(y)
    clusters = active_clusters(evaluator, y, tolerance)
    values = report.terms[0]
    rows, rates = _active_rows(evaluator, y, values, tolerance, clusters)
    size = evaluator.problem.space.size
    t = float(values.min()) / scale
    kept = evaluator.linearise(np.concatenate([y, program.best_bounds(report.terms)]))
    first = values.size if program.num_bounds else 0  # rows of the objective come first
    at = Linearised(
        objective=-part.weight * t,
        inequalities=np.concatenate([rows / scale - t, kept.inequalities[first:]]),
        equalities=kept.equalities,
        objective_rate=np.append(np.zeros(size), -part.weight),
        inequality_rates=np.concatenate(
            [_with_bound(rates / scale, -1.0), _with_bound(kept.inequality_rates[first:, :size])]
        ),
        equality_rates=_with_bound(kept.equality_rates[:, :size]),
    )
    w = np.append(y, t)
    lower, upper = np.append(np.zeros(size), -1e3), np.append(np.ones(size), 1e3)
    found = optimality(at, w, lower, upper, active=tolerance)
    matrices = [evaluator.cluster_rates(y, c.postures, c.posture, np.array(c.hz)) for c in clusters]
    directions = [_directions(len(c.modes)) for c in clusters]
    for _ in range(_REFINEMENTS if clusters else 0):
        rays = [
            _with_bound(np.einsum("ri,rj,ijn->rn", c, c, g) / scale, -1.0)
            for c, g in zip(directions, matrices, strict=True)
        ]
        found = optimality(at, w, lower, upper, active=tolerance, extra=np.concatenate(rays))
        directions = [_refined(c) for c in directions]
    return found, clusters


def _active_rows(
    evaluator: Evaluator,
    y: np.ndarray,
    values: np.ndarray,
    tolerance: float,
    clusters: list[Cluster],
) -> tuple[np.ndarray, np.ndarray]:
    """Return active values of the objective and their gradients, without members of clusters (they have rays)."""
    part = evaluator.problem.objectives[0]
    near = np.argwhere(values <= values.min() * (1.0 + tolerance))
    clustered = {(c.posture, mode) for c in clusters for mode in c.modes}
    rows, rates = [], []
    for posture, column in near:
        mode = int(part.highest_mode - values.shape[1] + 1 + column)
        if (int(posture), mode) in clustered:
            continue
        own = evaluator.cluster_rates(y, part.postures, int(posture), values[posture, [column]])
        rows.append(float(values[posture, column]))
        rates.append(own[0, 0])
    size = evaluator.problem.space.size
    return np.array(rows), np.array(rates).reshape(len(rows), size)


def _with_bound(rates: np.ndarray, rate: float = 0.0) -> np.ndarray:
    """Return derivatives by the positions, (rows, n), extended by the derivative by the bound t, (rows, n + 1)."""
    return np.column_stack([rates, np.full(len(rates), rate)])


def _directions(count: int) -> np.ndarray:
    """Return unit vectors distributed over the half-sphere, shape (rays, count)."""
    if count == 2:
        angle = np.linspace(0.0, np.pi, _RAYS, endpoint=False)
        return np.stack([np.cos(angle), np.sin(angle)], axis=1)
    vectors = np.random.default_rng(0).normal(size=(4 * _RAYS, count))
    vectors = np.concatenate([np.eye(count), vectors])
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def _refined(directions: np.ndarray) -> np.ndarray:
    """Return the directions, and the midpoints between successive ones."""
    following = np.roll(directions, -1, axis=0)
    sign = np.where((directions * following).sum(axis=1) < 0.0, -1.0, 1.0)
    middle = directions + sign[:, None] * following
    middle = middle / np.linalg.norm(middle, axis=1, keepdims=True)
    return np.concatenate([directions, middle])
