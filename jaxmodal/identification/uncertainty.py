"""Uncertainty of fitted parameters: covariance, undetermined combinations, outliers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import norm, t

from jaxmodal.identification.unknowns import Unknowns
from jaxmodal.runtime.array_types import Bools, Floats

#: singular values below this share of the largest are rounding
_ROUNDING = 1e-8
#: standard error along a combination, in x, beyond which the data do not determine it: a factor of e
UNKNOWN = 1.0
#: components of a combination, relative to its largest, that are named; and components that are rounding
_NAMED, _NONE = 0.1, 1e-4
#: probability that any of all measured values is called an outlier by chance
_CHANCE = 0.05
#: free share of a residual (1 - leverage) below which it is not judged
_FREE = 1e-6
#: relative residual that is rounding: of exact values without standard deviations nothing else is left
_EXACT = 1e-9


class Losses(NamedTuple):
    """Loss of residuals r: its weight ρ'(r²), and the derivative of its influence r ρ'(r²) with respect to r."""

    weight: Floats
    growth: Floats


def losses(kind: str, residuals: Floats) -> Losses:
    """Return the loss functions of SciPy's ``least_squares``."""
    z = residuals**2
    if kind == "linear":
        return Losses(np.ones_like(z), np.ones_like(z))
    if kind == "soft_l1":
        return Losses((1.0 + z) ** -0.5, (1.0 + z) ** -1.5)
    if kind == "huber":
        inside = z <= 1.0
        return Losses(
            np.where(inside, 1.0, 1.0 / np.sqrt(np.maximum(z, 1.0))), np.where(inside, 1.0, 0.0)
        )
    return Losses(1.0 / (1.0 + z), (1.0 - z) / (1.0 + z) ** 2)  # cauchy


def combinations(jacobian: Floats, sigma: float) -> tuple[Floats, Floats]:
    """Return principal directions (P, P) in x, one a row, least certain first, and standard errors; inf if unknown."""
    count = jacobian.shape[1]
    _, sizes, rows = np.linalg.svd(jacobian, full_matrices=True)
    sizes = np.concatenate([sizes, np.zeros(count - sizes.size)])
    with np.errstate(divide="ignore"):
        errors = np.where(
            sizes > _ROUNDING * max(sizes[0], 1e-300), sigma / np.maximum(sizes, 1e-300), np.inf
        )
    return rows[::-1], errors[::-1]


def covariance_of(directions: Floats, errors: Floats) -> Floats:
    """Return the covariance of x; for undetermined parameters inf on the diagonal and NaN off it."""
    none = np.isinf(errors)
    known = directions[~none]
    covariance = (known.T * errors[~none] ** 2) @ known
    lost = np.any(np.abs(directions[none]) > _NONE, axis=0) if none.any() else np.zeros(0, int)
    if none.any():
        covariance[lost] = covariance[:, lost] = np.nan
        covariance[lost, lost] = np.inf
    return np.asarray(covariance)


def not_determined(
    unknowns: Unknowns,
    names: Sequence[str],
    jacobian: Floats,
    sigma: float,
    directions: Floats,
    errors: Floats,
) -> list[str]:
    """Return undetermined parameter combinations, one sentence each."""
    found = []
    for direction, error in zip(directions, errors, strict=True):
        if error <= UNKNOWN:
            break
        step = direction / direction[np.argmax(np.abs(direction))]
        order = np.argsort(-np.abs(step), kind="stable")
        parts = [k for k in order if abs(step[k]) >= _NAMED]
        changes = []
        for k in parts:
            unit = "%" if unknowns.sizes[k] else unknowns.one_per_cent(k).partition(" ")[2]
            size = 1.0 if unknowns.sizes[k] else 0.01 * float(unknowns.scale[k])
            way = "more" if step[k] > 0.0 else "less"
            changes.append(f"{abs(step[k]) * size:.3g} {unit} {way} {names[k]}")
        moved = float(np.abs(jacobian @ (0.01 * step)).max()) / sigma if sigma > 0.0 else 0.0
        effect = (
            "changes nothing that was measured"
            if np.isinf(error)
            else f"changes what was measured by at most {moved:.2g} standard deviations"
        )
        if len(parts) == 1:
            found.append(f"the data do not determine {names[parts[0]]}: {changes[0]} {effect}")
        else:
            together = f"{', '.join(names[k] for k in parts[:-1])} and {names[parts[-1]]}"
            found.append(
                f"the data cannot tell apart {together}: {' with '.join(changes)} {effect}"
            )
    return found


def robust_factor(kind: str, residuals: Floats, free: int) -> float:
    """Return the factor by which a robust loss increases the covariance, that of an M-estimator; at least 1."""
    if kind == "linear" or free < 1:
        return 1.0
    loss = losses(kind, residuals)
    influence = float(np.sum((residuals * loss.weight) ** 2)) / free
    growth = float(np.mean(loss.growth))
    return max(1.0, influence / growth**2) if growth > 0.0 else np.inf


def far_out(residuals: Floats, jacobian: Floats, known: bool) -> Bools:
    """Return whether each residual is an outlier, taking into account its leverage in the fit."""
    count, parameters = jacobian.shape
    free = count - parameters
    if free < 2:
        return np.zeros(count, bool)
    basis, sizes, _ = np.linalg.svd(jacobian, full_matrices=False)
    basis = basis[:, sizes > _ROUNDING * max(sizes[0], 1e-300)]
    left = 1.0 - np.sum(basis**2, axis=1)
    level = 0.5 * _CHANCE / count
    with np.errstate(all="ignore"):
        if known:
            away, limit = np.abs(residuals) / np.sqrt(left), norm.isf(level)
        else:
            squares = residuals**2 / left / (np.sum(residuals**2) / free)
            away = np.sqrt(squares * (free - 1) / np.maximum(free - squares, 0.0))
            limit = t.isf(level, free - 1)
    judged = (left > _FREE) & (known | (np.abs(residuals) > _EXACT))
    return np.asarray(judged & (away > limit))
