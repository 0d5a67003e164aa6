"""A problem as a nonlinear program: minimise F(w), inequalities >= 0, equalities = 0, w = (positions, bounds).

Positions y lie in [0, 1]. With the aggregate ``"bound"``, each objective with several values has an additional
unknown t, a lower bound of its values, which is maximised.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

from design_opt.problem.designs import Design
from design_opt.problem.errors import ProblemError
from design_opt.problem.problem import Problem, least, size_of

#: objectives that fell below the first share of the values that they count relative to, or rose above the second, count
#: relative to their own
FALLEN, RISEN = 0.1, 1e3
#: larger margins are replaced by this value, because constraints so far from active need no derivative
SATURATION = 1.0


class Measure(NamedTuple):
    """Divisor and weight of every objective, each of shape (objectives,)."""

    scales: np.ndarray
    weights: np.ndarray


@dataclasses.dataclass(frozen=True)
class Program:
    """Nonlinear program of a problem, from `make_program`.

    Attributes
    ----------
    problem : Problem
        The problem.
    measure : Measure
        Divisors and weights: those of the start, or of a later design with far other values (`at_size_of`).
    bounded : tuple of bool
        True for objectives with a bound t.
    size_of_score : float
        Score of the problem for an F of -1: 1 with the measure of the start.
    """

    problem: Problem
    measure: Measure
    bounded: tuple[bool, ...]
    size_of_score: float = 1.0

    @property
    def num_bounds(self) -> int:
        """Number of unknowns t."""
        return sum(self.bounded)

    @property
    def size(self) -> int:
        """Number of unknowns w."""
        return self.problem.space.size + self.num_bounds

    @property
    def box(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper limits of the unknowns; bounds t have none."""
        lower, upper = np.zeros(self.size), np.ones(self.size)
        lower[self.problem.space.size :], upper[self.problem.space.size :] = -np.inf, np.inf
        return lower, upper

    def rows(
        self,
        w: Any,
        hz: Mapping[str, Any],
        angles: Mapping[str, Any],
        today: Design,
        sharpness: Any,
        measure: Measure,
    ) -> tuple[Array, Array, Array]:
        """Return objective F, inequalities (I,) and equalities (E,) at a point.

        Parameters
        ----------
        w
            Unknowns, shape (size,).
        sharpness
            Exponent of the smooth aggregates.
        measure
            The own `measure`, which may be traced.
        """
        problem = self.problem
        y, bounds = w[: problem.space.size], w[problem.space.size :]
        design = problem.design(y, hz, angles)
        smooth = problem.aggregate != "bound"
        total: Any = jnp.float64(0.0)
        inequalities, equalities = [], []
        used = 0
        for values, scale, weight, bounded in zip(
            problem.terms(design), *measure, self.bounded, strict=True
        ):
            relative = values / scale
            if bounded:
                t = bounds[used]
                used += 1
                inequalities.append(_saturated((relative - t).reshape(-1)))
                score = t
            elif relative.size > 1:
                score = least(relative, problem.aggregate, sharpness)
            else:
                score = relative[0, 0]
            total = total - weight * score
        for rule, margin in zip(problem.rules, problem.margins(design, today), strict=True):
            if rule.equality:
                equalities.append(margin.reshape(-1))
            elif smooth and margin.size > 1:  # "ks", because powers need positive values
                inequalities.append(least(margin, "ks", sharpness)[None])
            else:
                inequalities.append(_saturated(margin.reshape(-1)))
        empty = jnp.zeros((0,))
        return (
            total,
            jnp.concatenate([*inequalities, empty]),
            jnp.concatenate([*equalities, empty]),
        )

    def best_bounds(self, terms: list[np.ndarray]) -> np.ndarray:
        """Return the largest admissible bounds t for given values of the objectives."""
        return np.array(
            [
                float(np.min(values)) / scale
                for values, scale, bounded in zip(
                    terms, self.measure.scales, self.bounded, strict=True
                )
                if bounded
            ]
        )

    def score(self, terms: list[np.ndarray]) -> float:
        """Return the exact weighted objective relative to the start, to be maximised, without smoothing."""
        worst = np.array([float(np.min(values)) for values in terms])
        return self.size_of_score * float(
            np.sum(self.measure.weights * worst / self.measure.scales)
        )

    def at_size_of(self, terms: list[np.ndarray]) -> Program:
        """Return the program whose objectives count relative to these values, if they are far from it; else itself.

        The two programs have the same optima. Where an objective fell from 1e6 to 1, its last halving is a change of
        5e-7 relative to the start: less than the tolerance of the optimality conditions. Where it rose as much,
        postures that differ by a few roundings differ by more than `kkt.ACTIVE`. Functions of the user, whose optimum
        may be 0, keep the values of the start.
        """
        scales = self.measure.scales.copy()
        for k, (part, values) in enumerate(zip(self.problem.objectives, terms, strict=True)):
            size = size_of(values)
            far = size < scales[k] or size > RISEN * scales[k]
            if far and getattr(part, "is_size", False) and np.any(values):
                scales[k] = size
        ratios = scales / self.measure.scales
        weights = self.measure.weights * ratios
        share = float(weights.sum() / self.measure.weights.sum())
        if min(share, ratios.min()) >= FALLEN and ratios.max() <= RISEN:
            return self
        measure = Measure(scales, weights / share)
        return dataclasses.replace(self, measure=measure, size_of_score=share * self.size_of_score)


def make_program(problem: Problem, terms: list[np.ndarray]) -> Program:
    """Return the program of a problem from the values of its objectives at the start.

    Raises
    ------
    ProblemError
        If the aggregate ``"pnorm"`` is given values that are not all greater than 0.
    """
    for part, values in zip(problem.objectives, terms, strict=True):
        if problem.aggregate == "pnorm" and np.size(values) > 1 and np.min(values) <= 0.0:
            raise ProblemError(
                f"aggregate = 'pnorm': the objective {part.label!r} has a value of {float(np.min(values)):.4g} at the"
                " start; powers need values greater than 0. Use 'ks' or 'bound'."
            )
    scales = np.array([size_of(np.asarray(values)) for values in terms])
    weights = np.array([part.weight for part in problem.objectives], float)
    several = [np.asarray(values).size > 1 for values in terms]
    bounded = tuple(problem.aggregate == "bound" and more for more in several)
    return Program(problem, Measure(scales, weights), bounded)


def _saturated(margins: Array) -> Array:
    return jnp.where(margins < SATURATION, margins, SATURATION)
