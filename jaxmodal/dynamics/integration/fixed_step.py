"""Integration with a fixed step by `lax.scan`: cheap to compile, with the same work for every case of a batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmodal.dynamics.integration.flow import (
    Driven,
    derivative,
    margins,
    motion_of,
    motor_state,
    split,
)
from jaxmodal.dynamics.mechanics import equations, free_bases, supports
from jaxmodal.dynamics.mechanics.solves import held, solve_definite
from jaxmodal.runtime.namespace import Array

#: share of a step by which its first and last stage lie inside it, so that jumps at step boundaries fall between steps
_MARGIN = 1e-9
#: bisections of the step with an event: they locate it to 1e-12 of the step
_HALVINGS = 40


def _inside(time: Array, place: Array, step: Array) -> Array:
    """Return the time of a stage, moved slightly inside the step, so that a switch at either end has no effect."""
    return time + step * jnp.clip(place, _MARGIN, 1.0 - _MARGIN)


def runge_kutta_4(time: Array, state: Array, step: Array, system: Driven) -> Array:
    """Return the state after one step of the classical Runge-Kutta method of order 4, as in De Luca and Siciliano."""
    # a scan over the stages, each from the slope of the previous one: the equations occur once in the program

    def stage(slope: Array, place: Array) -> tuple[Array, Array]:
        new = derivative(_inside(time, place, step), state + place * step * slope, system)
        return new, new

    _, slopes = lax.scan(stage, jnp.zeros_like(state), np.array([0.0, 0.5, 0.5, 1.0]))
    return state + step * jnp.asarray(np.array([1.0, 2.0, 2.0, 1.0]) / 6.0) @ slopes


def linearly_implicit(time: Array, state: Array, step: Array, system: Driven) -> Array:
    """One step of a W-method of order 2 that is implicit in K and D, and in the stiffness of supports at its start.

    ROS2 of Verwer and others (1999) with gamma = 1 - 1/sqrt(2), which has order 2 with any matrix in place of the
    Jacobian. With the Jacobian of B q'' = -K q - D q' each stage solves with B + gamma h D + gamma^2 h^2 K, so that
    stiff modes, which limit explicit steps, are damped and need not be resolved.
    """
    model = system.model
    gamma = 1.0 - 1.0 / np.sqrt(2.0)
    share = gamma * step
    q, _ = split(state, model)
    stiff = jnp.asarray(model.stiffness) + supports.tangent(model, q)
    damped = jnp.asarray(model.damping)
    inertia = equations.inertia(model, q)
    free = model.layout.loose if system.motion is None else model.layout.free
    if not free.all():  # held or driven coordinates have no implicit part
        mask = np.outer(free, free)
        inertia, stiff, damped = held(inertia, free), stiff * mask, damped * mask
    matrix = inertia + share * damped + share**2 * stiff

    def stage(before: Array, place: Array) -> tuple[Array, Array]:
        """Solve (1 - gamma h A) k = f(t + c h, y + c h k_before) - 2 c k_before for k; c is 0, then 1."""
        slope = derivative(_inside(time, place, step), state + place * step * before, system)
        right = slope - 2.0 * place * before
        of_q, of_rate = split(right, model)
        forces = inertia @ of_rate - share * (stiff @ free_bases.strain(model, of_q))
        rate_stage, _ = solve_definite(matrix, forces)
        # the pose of a free base, on which no stiffness acts, is explicit
        of_q = of_q.at[: model.layout.size].add(share * rate_stage[: model.layout.size])
        new = jnp.concatenate([of_q, rate_stage, right[-2:]])
        return new, new

    _, (first, second) = lax.scan(stage, jnp.zeros_like(state), np.array([0.0, 1.0]))
    return state + 1.5 * step * first + 0.5 * step * second


METHODS: dict[str, Callable[[Array, Array, Array, Driven], Array]] = {
    "rk4": runge_kutta_4,
    "linearly_implicit": linearly_implicit,
}


class Ended(NamedTuple):
    """Result of an integration at its end.

    Attributes
    ----------
    reached : Array, shape ()
        Time up to which all values are finite, and before any event, s.
    last : Array, shape (2 N + 2,)
        State at that time.
    event : Array of bool, shape ()
        True if an event ended the integration.
    """

    reached: Array
    last: Array
    event: Array


class _Carry(NamedTuple):
    state: Array
    reached: Array
    margin: Array  # smallest margin of all events; 1 without events
    step: Array  # length of the step with an event; 0 without one


def integrate(
    method: str, system: Driven, state: Array, times: Array, substeps: int | Array
) -> tuple[Array, Ended]:
    """Return the states at given times, with ``substeps`` equal steps in each interval.

    If ``substeps`` is traced, one program serves every number, but it has no derivatives in reverse mode.

    Returns
    -------
    tuple
        States, shape (T, 2 N + 2), NaN after the end of the integration, and that end.
    """
    step_by = METHODS[method]

    def left(time: Array, at: Array) -> Array:
        return jnp.min(margins(system, time, at)) if system.events else jnp.ones(())

    def between(carry: _Carry, pair: Array) -> tuple[_Carry, Array]:
        step = (pair[1] - pair[0]) / jnp.asarray(substeps, jnp.float64)

        def one(number: Array, before: _Carry) -> _Carry:
            time = pair[0] + step * jnp.asarray(number, jnp.float64)
            new = step_by(time, before.state, step, system)
            after = left(time + step, new)
            good = jnp.all(jnp.isfinite(new)) & (before.reached >= time - 0.5 * step)
            event = good & (before.margin > 0.0) & (after <= 0.0)
            good = good & ~event
            held = jnp.where(event, step, before.step)
            return _Carry(
                jnp.where(good, new, before.state),
                jnp.where(good, time + step, before.reached),
                jnp.where(good, after, before.margin),
                held,
            )

        # for a constant number of steps JAX uses a scan, which has derivatives in both modes
        carry = lax.fori_loop(0, substeps, one, carry)
        good = carry.reached >= pair[1] - 0.5 * step
        return carry, jnp.where(good, carry.state, jnp.nan)

    pairs = jnp.stack([times[:-1], times[1:]], axis=-1)
    start = _Carry(state, times[0], left(times[0], state), jnp.zeros(()))
    carry, states = lax.scan(between, start, pairs)
    states = jnp.concatenate([state[None], states])
    if not system.events:
        return states, Ended(carry.reached, carry.state, jnp.asarray(False))
    share = _share_to_event(lambda part: _moved(step_by, carry, part, system), left, carry)
    reached, last = carry.reached + share * carry.step, _moved(step_by, carry, share, system)
    happened = carry.step > 0.0
    return states, Ended(
        jnp.where(happened, reached, carry.reached),
        jnp.where(happened, last, carry.state),
        happened,
    )


def _moved(step_by: Any, carry: _Carry, share: Array, system: Driven) -> Array:
    """Return the state after a share of the step with an event."""
    return step_by(carry.reached, carry.state, share * carry.step, system)


def _share_to_event(
    moved: Callable[[Array], Array], left: Callable[[Array, Array], Array], carry: _Carry
) -> Array:
    """Return the share (0 to 1) of its step at which an event happens, by bisection over shorter steps."""

    def margin(share: Array) -> Array:
        return left(carry.reached + share * carry.step, moved(share))

    def halved(bracket: tuple[Array, Array], _: Any) -> tuple[tuple[Array, Array], None]:
        low, high = bracket
        middle = 0.5 * (low + high)
        beyond = margin(middle) <= 0.0
        return (jnp.where(beyond, low, middle), jnp.where(beyond, middle, high)), None

    (_, found), _ = lax.scan(halved, (jnp.zeros(()), jnp.ones(())), None, length=_HALVINGS)
    # bisection has no derivative; one step of Newton's method, which does not change the value, has the derivative of
    # the implicit equation
    found = lax.stop_gradient(found)
    value, slope = jax.jvp(margin, (found,), (jnp.ones(()),))
    moves = jnp.where(slope < 0.0, value / jnp.where(slope < 0.0, slope, 1.0), 0.0)
    return jnp.clip(found - moves, 0.0, 1.0)


def smallest_pivot(system: Driven, time: Any, state: Array) -> Array:
    """Return the smallest relative pivot of the inertia matrix at a state, which is positive if it is definite."""
    q, rate = motor_state(system, time, state)
    return motion_of(system, time, q, rate)[2]
