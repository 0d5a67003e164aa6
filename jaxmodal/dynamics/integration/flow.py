"""The equations of motion as a first-order system, with the work of the motors and what is dissipated beside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp

from jaxmodal.dynamics.drives.events import Event
from jaxmodal.dynamics.drives.motions import Motion
from jaxmodal.dynamics.mechanics import equations, free_bases
from jaxmodal.dynamics.mechanics.solves import held, solve_definite
from jaxmodal.dynamics.model import FlexibleModel
from jaxmodal.runtime.namespace import Array

#: torques of the motors: a law of `torques`, or any function with these arguments
LawLike = Callable[[Any, Array, Array, FlexibleModel], Array]


class Driven(NamedTuple):
    """An arm with what moves it.

    Attributes
    ----------
    model
        The arm.
    law
        Torques of the motors.
    motion
        None where the motors give torques; otherwise they move exactly so, with whatever torque that takes, and the
        law counts for nothing.
    events
        What ends the motion before its last time.
    """

    model: FlexibleModel
    law: Any
    motion: Motion | None
    events: tuple[Event, ...] = ()


def split(state: Array, model: FlexibleModel) -> tuple[Array, Array]:
    """Coordinates and rates of a state (q, rates, work, dissipated)."""
    size = model.num_coordinates
    return state[:size], state[size : size + model.num_rates]


def motor_state(system: Driven, time: Any, state: Array) -> tuple[Array, Array]:
    """Coordinates and rates, with what the motors hold set to its motion."""
    q, rate = split(state, system.model)
    if system.motion is None:
        return q, rate
    driven = system.model.layout.driven
    angle, speed, _ = system.motion(time)
    return q.at[driven].set(angle), rate.at[driven].set(speed)


def margins(system: Driven, time: Any, state: Array) -> Array:
    """The margins of all events, shape (k,): positive before they happen; a margin of NaN has happened, as -1."""
    found = given_margins(system, time, state)
    return jnp.where(jnp.isnan(found), -1.0, found)


def given_margins(system: Driven, time: Any, state: Array) -> Array:
    """The margins of all events as the events give them, shape (k,)."""
    q, rate = motor_state(system, time, state)
    return jnp.stack([event(time, q, rate, system.model) for event in system.events])


def motion_of(system: Driven, time: Any, q: Array, rate: Array) -> tuple[Array, Array, Array]:
    """Accelerations (N,), torques of the motors (n,), and the smallest relative pivot of B."""
    model = system.model
    driven = model.layout.driven
    if system.motion is None:
        torques = system.law(time, q, rate, model)
        acceleration, pivot = equations.accelerations(model, q, rate, torques)
        return acceleration, torques, pivot
    given = jnp.zeros(model.num_rates).at[driven].set(system.motion(time)[2])
    free = model.layout.free
    matrix = equations.inertia(model, q)
    resisting = equations.resistance(model, q, rate)
    right = free * (-resisting - matrix @ given) + given
    acceleration, pivot = solve_definite(held(matrix, free), right)
    torques = (matrix @ acceleration + resisting)[driven]
    return acceleration, torques, pivot


def derivative(time: Any, state: Array, system: Driven) -> Array:
    """Time derivative of a state (q, rates, work of the motors, energy dissipated), shape (2 N + 2,)."""
    model = system.model
    q, rate = motor_state(system, time, state)
    acceleration, torques, _ = motion_of(system, time, q, rate)
    power = jnp.sum(torques * rate[model.layout.driven])
    loss = rate @ (model.damping @ rate) + rate @ equations.friction(model, rate)
    speed = free_bases.coordinate_rates(model, q, rate)
    return jnp.concatenate([speed, acceleration, jnp.stack([power, loss])])
