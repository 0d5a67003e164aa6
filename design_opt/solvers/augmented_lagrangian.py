"""Augmented Lagrangian method: multipliers for the constraints, with L-BFGS or any optax optimiser between updates.

SciPy's L-BFGS handles the bounds of positions y in [0, 1]. Optax optimisers have no bounds: for these, positions are
sin^2 of unconstrained variables, which reach the bounds at finite values, but have zero slope there.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from scipy.optimize import minimize

from design_opt.evaluation.evaluator import Evaluator, Linearised
from design_opt.problem.errors import ProblemError
from design_opt.solvers.kkt import optimality
from design_opt.solvers.recording import FEASIBLE, Recorder
from design_opt.solvers.scipy_solver import Outcome, sharpnesses
from jaxmodal.runtime.errors import ArmError

if TYPE_CHECKING:
    import optax

#: most postures of all sets together: each has a row and a gradient in every step
MAX_POSTURES = 256
#: inner steps between two updates of the multipliers
INNER_STEPS = 25
_FIRST_PENALTY, _LARGEST_PENALTY, _GROWTH = 10.0, 1e6, 5.0

#: least distance from the bounds at the start, and at restarts, of an optax optimiser: the slope is 0 at a bound
_FIRST_INSIDE, _INSIDE = 1e-3, 1e-6


def check_postures(evaluator: Evaluator) -> None:
    """Raise an error if a problem has too many postures to evaluate all of them in every step."""
    total = sum(len(angles) for angles in evaluator.angles.values())
    if total > MAX_POSTURES:
        raise ProblemError(
            f"method 'augmented_lagrangian': {total} postures; it takes up to {MAX_POSTURES}, all of them at every"
            " step. Use the method 'slsqp', or fewer postures."
        )


def solve_augmented_lagrangian(
    evaluator: Evaluator,
    start: np.ndarray,
    recorder: Recorder,
    tolerance: float,
    max_iterations: int,
    optimizer: optax.GradientTransformation | None = None,
) -> Outcome:
    """Search from one start, and return its outcome.

    Parameters
    ----------
    start
        Positions, shape (n,).
    recorder
        Recorder, called at every update of the multipliers.
    max_iterations
        Total number of inner steps.
    optimizer
        Any optax optimiser; L-BFGS by default.
    """
    y = start if optimizer is None else np.clip(start, _FIRST_INSIDE, 1.0 - _FIRST_INSIDE)
    w = np.concatenate([y, evaluator.program.best_bounds(evaluator.report(y).terms)])
    state = _Prices(evaluator)
    steps = list(sharpnesses(evaluator))
    rounds = max(1, max_iterations // INNER_STEPS)
    for number in range(rounds):
        state.sharpness = steps[min(number // 2, len(steps) - 1)]
        w = _lbfgs(state, w) if optimizer is None else _by(optimizer, state, w)
        outcome = _judged(state, w, recorder, tolerance)
        if outcome.converged:
            break
        state.update(w)
    used = (number + 1) * INNER_STEPS
    return dataclasses.replace(outcome, iterations=used, used_up=not outcome.converged)


def _judged(state: _Prices, w: np.ndarray, recorder: Recorder, tolerance: float) -> Outcome:
    evaluator, sharpness = state.evaluator, state.sharpness
    y = w[: evaluator.problem.space.size]
    found = optimality(state.at(w), w, *evaluator.program.box)
    report = evaluator.report(y)
    recorder.add(report, found.residual, sharpness)
    final = sharpness == evaluator.problem.sharpness
    good = final and found.residual <= tolerance and report.violation <= FEASIBLE
    return Outcome(y, found, report, good, evaluator.everything(), evaluator)


class _Prices:
    """Multipliers and penalty of one start, and the augmented Lagrangian."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator, self.sharpness = evaluator, evaluator.problem.sharpness
        self.inequality: np.ndarray | float = 0.0
        self.equality: np.ndarray | float = 0.0
        self.penalty, self.violation = _FIRST_PENALTY, np.inf

    def at(self, w: np.ndarray) -> Linearised:
        """Return values and derivatives of the program at all postures."""
        return self.evaluator.linearise(w, None, self.sharpness)

    def lagrangian(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        """Return value and gradient; not finite for an invalid arm, which a trial step may reach."""
        try:
            at = self.at(w)
        except (ArmError, ProblemError):
            return np.inf, np.full_like(w, np.nan)
        rho = self.penalty
        pushed = np.maximum(self.inequality - rho * at.inequalities, 0.0)
        kept = np.sum(pushed**2 - np.square(self.inequality)) / (2.0 * rho)
        held = np.sum((0.5 * rho * at.equalities - self.equality) * at.equalities)
        slope = at.objective_rate - pushed @ at.inequality_rates
        slope = slope + (rho * at.equalities - self.equality) @ at.equality_rates
        return float(at.objective + kept + held), slope

    def update(self, w: np.ndarray) -> None:
        """Update the multipliers by the violations; increase the penalty where these decreased too slowly."""
        at = self.at(w)
        lacking = np.concatenate([-at.inequalities, np.abs(at.equalities)])
        violation = float(lacking.max(initial=0.0))
        self.inequality = np.maximum(self.inequality - self.penalty * at.inequalities, 0.0)
        self.equality = self.equality - self.penalty * at.equalities
        if violation > 0.25 * self.violation:
            self.penalty = min(_GROWTH * self.penalty, _LARGEST_PENALTY)
        self.violation = violation


def _lbfgs(state: _Prices, w: np.ndarray) -> np.ndarray:
    bounds = list(zip(*state.evaluator.program.box, strict=True))
    options = {"maxiter": INNER_STEPS, "ftol": 0.0, "gtol": 1e-12}
    found = minimize(
        state.lagrangian, w, jac=True, method="L-BFGS-B", bounds=bounds, options=options
    )
    return np.asarray(found.x)


def _by(optimizer: optax.GradientTransformation, state: _Prices, w: np.ndarray) -> np.ndarray:
    """Return the unknowns after steps of an optax optimiser; the value is a JAX function, for line searches."""
    import optax

    config: Any = jax.config  # has no types
    disabled, promotion = config.jax_disable_jit, config.jax_numpy_dtype_promotion
    size = state.evaluator.problem.space.size

    def unknowns(u: np.ndarray) -> np.ndarray:
        return np.concatenate([np.sin(0.5 * np.pi * u[:size]) ** 2, u[size:]])

    def both(at: jax.Array) -> tuple[jax.Array, jax.Array]:
        u = np.asarray(at)
        with jax.disable_jit(disabled), jax.numpy_dtype_promotion(promotion):
            value, slope = state.lagrangian(unknowns(u))
        slope[:size] *= 0.5 * np.pi * np.sin(np.pi * u[:size])
        return jnp.float64(value), jnp.asarray(slope)

    value = jax.custom_vjp(lambda u: both(u)[0])
    value.defvjp(both, lambda slope, at: (at * slope,))
    updated = optax.with_extra_args_support(optimizer).update
    inside = np.clip(w[:size], _INSIDE, 1.0 - _INSIDE)
    at = jnp.asarray(np.concatenate([2.0 / np.pi * np.arcsin(np.sqrt(inside)), w[size:]]))
    # without jit, because NumPy solves the frequencies; optax mixes types, which strict promotion forbids
    with jax.disable_jit(), jax.numpy_dtype_promotion("standard"):
        inner = optimizer.init(at)
        for _ in range(INNER_STEPS):
            now, slope = both(at)
            change, inner = updated(slope, inner, at, value=now, grad=slope, value_fn=value)
            new = optax.apply_updates(at, change)
            at = new if np.isfinite(np.asarray(new)).all() else at
    return unknowns(np.asarray(at))
