"""An augmented Lagrangian, all in JAX: any optax optimiser inside, several starts side by side under vmap.

Positions y in [0, 1] are written as sin^2 of unconstrained ones, which reach the bounds at finite values.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array

from design_opt.evaluation.evaluator import TWO_PI, Evaluator
from design_opt.evaluation.gradients import PlanarRates
from design_opt.evaluation.spectra import spectra
from design_opt.problem.errors import ProblemError
from design_opt.solvers.kkt import optimality
from design_opt.solvers.recording import FEASIBLE, Recorder
from design_opt.solvers.scipy_solver import Outcome, sharpnesses

#: postures of all sets together that a program in JAX may hold, every one of them at every step
MAX_POSTURES = 256
#: steps of the inner optimiser between two updates of the multipliers
INNER_STEPS = 25
_FIRST_PENALTY, _LARGEST_PENALTY, _GROWTH = 10.0, 1e6, 5.0


class _State(NamedTuple):
    """One start: unconstrained unknowns, multipliers, penalty, and the violation before."""

    u: Array
    multipliers: Array
    equality_multipliers: Array
    penalty: Array
    violation: Array


def solve_augmented_lagrangian(
    evaluator: Evaluator,
    starts: np.ndarray,
    recorder: Recorder,
    tolerance: float,
    max_iterations: int,
    optimizer: optax.GradientTransformation | None = None,
) -> list[Outcome]:
    """Optimise from several starts at once.

    Parameters
    ----------
    starts
        Positions, shape (S, n).
    recorder
        Is told of every update of the multipliers of every start.
    max_iterations
        Inner steps in all.
    optimizer
        Any optax optimiser; L-BFGS by default.

    Raises
    ------
    ProblemError
        If there are too many postures for every one to be part of every step.
    """
    rates = evaluator.rates
    if not isinstance(rates, PlanarRates):
        raise ProblemError(
            "method 'augmented_lagrangian': its programs are those of planar arms, and the arm is one in space. Use "
            "the method 'slsqp'."
        )
    total = sum(len(angles) for angles in evaluator.angles.values())
    if total > MAX_POSTURES:
        raise ProblemError(
            f"method 'augmented_lagrangian': {total} postures; it takes up to {MAX_POSTURES}, all of them at every"
            " step. Use the method 'slsqp', or fewer postures."
        )
    compiled = _Compiled(evaluator, rates, optax.lbfgs() if optimizer is None else optimizer)
    states = jax.vmap(compiled.begin)(jnp.asarray(starts))
    outcomes: list[Outcome] = []
    rounds = max(1, max_iterations // INNER_STEPS)
    steps = list(sharpnesses(evaluator))
    for number in range(rounds):
        sharpness = steps[min(number // 2, len(steps) - 1)]
        states = compiled.round(states, jnp.float64(sharpness))
        unknowns = np.asarray(jax.vmap(compiled.unknowns)(states.u))
        outcomes = [
            _judge(evaluator, recorder, i, w, sharpness, tolerance) for i, w in enumerate(unknowns)
        ]
        if all(found.converged for found in outcomes):
            break
    return outcomes


def _judge(
    evaluator: Evaluator,
    recorder: Recorder,
    start: int,
    w: np.ndarray,
    sharpness: float,
    tolerance: float,
) -> Outcome:
    size = evaluator.problem.space.size
    lower = np.concatenate([np.zeros(size), np.full(w.size - size, -1e3)])
    upper = np.concatenate([np.ones(size), np.full(w.size - size, 1e3)])
    report = evaluator.report(w[:size])
    found = optimality(evaluator.linearise(w, None, sharpness), w, lower, upper)
    recorder.start = start
    recorder.add(report, found.residual, sharpness)
    final = sharpness == evaluator.problem.sharpness
    good = final and found.residual <= tolerance and report.violation <= FEASIBLE
    return Outcome(w[:size], w, found, report, good, evaluator.everything(), sharpness)


class _Compiled:
    """The compiled parts: a round of inner steps for all starts and the update of the multipliers."""

    def __init__(
        self, evaluator: Evaluator, rates: PlanarRates, optimizer: optax.GradientTransformation
    ) -> None:
        self.evaluator, self.rates = evaluator, rates
        self.size = evaluator.problem.space.size
        zeros = [(hz == 0.0).sum(axis=1) for hz in evaluator.start.hz.values()]
        self.zeros = np.concatenate(zeros) if evaluator.start.lowest_mode > 1 else None
        self.optimizer = optax.with_extra_args_support(optimizer)
        # optax mixes types where strict promotion would refuse
        with jax.numpy_dtype_promotion("standard"):
            self._round = jax.jit(jax.vmap(self._one_round, in_axes=(0, None)))

    def begin(self, y: Array) -> _State:
        """The state of a start."""
        evaluator = self.evaluator
        inside = jnp.clip(y, 1e-3, 1.0 - 1e-3)  # the map is flat at the bounds
        u = jnp.concatenate(
            [
                2.0 / jnp.pi * jnp.arcsin(jnp.sqrt(inside)),
                jnp.asarray(evaluator.program.best_bounds(evaluator.start.terms)),
            ]
        )
        rows = jax.eval_shape(lambda u: self._rows(u, jnp.float64(1.0)), u)
        return _State(
            u,
            jnp.zeros(rows[1].shape),
            jnp.zeros(rows[2].shape),
            jnp.float64(_FIRST_PENALTY),
            jnp.float64(jnp.inf),
        )

    def round(self, states: _State, sharpness: Array) -> _State:
        """Inner steps and an update of the multipliers for every start."""
        with jax.numpy_dtype_promotion("standard"):
            found: _State = self._round(states, sharpness)
        return found

    def unknowns(self, u: Array) -> Array:
        """Positions and bounds from unconstrained unknowns."""
        return jnp.concatenate([jnp.sin(0.5 * jnp.pi * u[: self.size]) ** 2, u[self.size :]])

    def _rows(self, u: Array, sharpness: Array) -> tuple[Array, Array, Array]:
        evaluator = self.evaluator
        w = self.unknowns(u)
        hz = self._frequencies(w[: self.size]) if evaluator.angles else {}
        angles = {name: jnp.asarray(value) for name, value in evaluator.angles.items()}
        today = evaluator.today_design()
        return evaluator.program.rows(w, hz, angles, today, sharpness)

    def _frequencies(self, y: Array) -> dict[str, Array]:
        evaluator = self.evaluator
        parts = [self.rates.lanes(y, name, angles) for name, angles in evaluator.angles.items()]
        cells = jax.tree_util.tree_map(lambda *x: jnp.concatenate(x), *parts)
        hz = spectra(evaluator.problem.num_modes, cells, self.rates.flags, self.zeros) / TWO_PI
        ends = np.cumsum([len(angles) for angles in evaluator.angles.values()])[:-1]
        return dict(zip(evaluator.angles, jnp.split(hz, ends), strict=True))

    def _lagrangian(self, u: Array, state: _State, sharpness: Array) -> Array:
        objective, inequalities, equalities = self._rows(u, sharpness)
        rho = state.penalty
        pushed = jnp.maximum(state.multipliers - rho * inequalities, 0.0)
        kept = jnp.sum(pushed**2 - state.multipliers**2) / (2.0 * rho)
        held = jnp.sum(-state.equality_multipliers * equalities + 0.5 * rho * equalities**2)
        return objective + kept + held

    def _one_round(self, state: _State, sharpness: Array) -> _State:
        def value(u: Array) -> Array:
            return self._lagrangian(u, state, sharpness)

        def step(carry: tuple[Array, Any], _: None) -> tuple[tuple[Array, Any], None]:
            u, inner = carry
            at, slope = jax.value_and_grad(value)(u)
            updates, inner = self.optimizer.update(
                slope, inner, u, value=at, grad=slope, value_fn=value
            )
            new = optax.apply_updates(u, updates)
            usable = jnp.all(jnp.isfinite(new))
            return (jnp.where(usable, new, u), inner), None

        (u, _), _ = jax.lax.scan(
            step, (state.u, self.optimizer.init(state.u)), None, length=INNER_STEPS
        )
        _, inequalities, equalities = self._rows(u, sharpness)
        violation = jnp.maximum(
            jnp.max(-inequalities, initial=0.0), jnp.max(jnp.abs(equalities), initial=0.0)
        )
        slow = violation > 0.25 * state.violation
        penalty = jnp.where(
            slow, jnp.minimum(_GROWTH * state.penalty, _LARGEST_PENALTY), state.penalty
        )
        return _State(
            u,
            jnp.maximum(state.multipliers - state.penalty * inequalities, 0.0),
            state.equality_multipliers - state.penalty * equalities,
            penalty,
            violation,
        )
