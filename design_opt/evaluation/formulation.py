"""A problem as a nonlinear program: minimise F(w), inequalities >= 0, equalities = 0, w = (positions, bounds).

Positions y lie in [0, 1]. With the aggregate ``"bound"``, each objective with several values has an additional
unknown t, a lower bound of its values, which is maximised.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from design_opt.problem.designs import Design
from design_opt.problem.errors import ProblemError
from design_opt.problem.problem import Problem, least, size_of

#: larger margins are replaced by this value, because constraints so far from active need no derivative
SATURATION = 1.0
_FAR = 1e3


@dataclasses.dataclass(frozen=True)
class Program:
    """Nonlinear program of a problem, from `make_program`.

    Attributes
    ----------
    problem : Problem
        The problem.
    scales : tuple of float
        Divisor of each objective.
    bounded : tuple of bool
        True for objectives with a bound t.
    """

    problem: Problem
    scales: tuple[float, ...]
    bounded: tuple[bool, ...]

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
        """Lower and upper limits of the unknowns; limits of bounds t are so wide that they are never active."""
        lower, upper = np.zeros(self.size), np.ones(self.size)
        lower[self.problem.space.size :], upper[self.problem.space.size :] = -_FAR, _FAR
        return lower, upper

    def rows(
        self,
        w: Any,
        hz: Mapping[str, Any],
        angles: Mapping[str, Any],
        today: Design,
        sharpness: Any,
    ) -> tuple[Array, Array, Array]:
        """Return objective F, inequalities (I,) and equalities (E,) at a point.

        Parameters
        ----------
        w
            Unknowns, shape (size,).
        sharpness
            Exponent of the smooth aggregates.
        """
        problem = self.problem
        y, bounds = w[: problem.space.size], w[problem.space.size :]
        design = problem.design(y, hz, angles)
        smooth = problem.aggregate != "bound"
        total: Any = jnp.float64(0.0)
        inequalities, equalities = [], []
        used = 0
        for part, values, scale, bounded in zip(
            problem.objectives, problem.terms(design), self.scales, self.bounded, strict=True
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
            total = total - part.weight * score
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
                for values, scale, bounded in zip(terms, self.scales, self.bounded, strict=True)
                if bounded
            ]
        )

    def score(self, terms: list[np.ndarray]) -> float:
        """Return the exact weighted objective, to be maximised, without smoothing."""
        return float(
            sum(
                part.weight * float(np.min(values)) / scale
                for part, values, scale in zip(
                    self.problem.objectives, terms, self.scales, strict=True
                )
            )
        )


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
    scales = tuple(size_of(np.asarray(values)) for values in terms)
    several = [np.asarray(values).size > 1 for values in terms]
    bounded = tuple(problem.aggregate == "bound" and more for more in several)
    return Program(problem, scales, bounded)


def _saturated(margins: Array) -> Array:
    return jnp.where(margins < SATURATION, margins, SATURATION)
