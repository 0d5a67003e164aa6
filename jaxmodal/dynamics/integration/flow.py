"""Equations of motion as a first-order system, with the work of the motors and the dissipated energy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp

from jaxmodal.dynamics.drives.events import Event
from jaxmodal.dynamics.drives.motions import Motion
from jaxmodal.dynamics.mechanics import equations, free_bases
from jaxmodal.dynamics.mechanics.entries import at_places, placed
from jaxmodal.dynamics.model import FlexibleModel, require_base_inertia
from jaxmodal.runtime.namespace import Array

#: torques of the motors: a law of `torques`, or a function with these arguments
LawLike = Callable[[Any, Array, Array, FlexibleModel], Array]


class Driven(NamedTuple):
    """Arm with its inputs.

    Attributes
    ----------
    model
        The arm.
    law
        Torques of the motors; ignored with a ``motion``.
    motion
        Prescribed motion of the motors, with the torque that it takes; None if the motors apply torques.
    events
        Events that end the motion before its last time.
    base
        Prescribed motion of a driven base; None if it is at rest.
    """

    model: FlexibleModel
    law: Any
    motion: Motion | None
    events: tuple[Event, ...] = ()
    base: Motion | None = None


def split(state: Array, model: FlexibleModel) -> tuple[Array, Array]:
    """Return coordinates and rates of a state (q, rates, work, dissipated)."""
    size = model.num_coordinates
    return state[:size], state[size : size + model.num_rates]


def motor_state(system: Driven, time: Any, state: Array) -> tuple[Array, Array]:
    """Return coordinates and rates, with prescribed motors and a driven base set to their motions."""
    q, rate = split(state, system.model)
    layout = system.model.layout
    for motion, places in ((system.motion, layout.driven), (system.base, layout.given)):
        if motion is not None:
            place, speed, _ = motion(time)
            q, rate = placed(q, places, place), placed(rate, places, speed)
    return q, rate


def _of_base(system: Driven, time: Any) -> Array | None:
    """Return the accelerations of a driven base, shape (6,); None without a prescribed motion."""
    return None if system.base is None else jnp.broadcast_to(system.base(time)[2], (6,))


def margins(system: Driven, time: Any, state: Array) -> Array:
    """Return the margins of all events, shape (k,), positive before they happen; NaN counts as -1, an event."""
    found = given_margins(system, time, state)
    return jnp.where(jnp.isnan(found), -1.0, found)


def given_margins(system: Driven, time: Any, state: Array) -> Array:
    """Return the margins of all events without changes, shape (k,)."""
    q, rate = motor_state(system, time, state)
    return jnp.stack([event(time, q, rate, system.model) for event in system.events])


def motion_of(system: Driven, time: Any, q: Array, rate: Array) -> tuple[Array, Array, Array]:
    """Return accelerations (N,), torques of the motors (n,), and the smallest relative pivot of B."""
    model = system.model
    driven = model.layout.driven
    if system.motion is None:
        torques = system.law(time, q, rate, model)
        of_base = _of_base(system, time)
        acceleration, pivot = equations.accelerations(model, q, rate, torques, of_base)
        return acceleration, torques, pivot
    require_base_inertia(model, "as given")
    given = at_places(model.num_rates, driven, system.motion(time)[2])
    if system.base is not None:
        given = placed(given, model.layout.given, _of_base(system, time))
    return equations.accelerations_held(model, q, rate, given)


def derivative(time: Any, state: Array, system: Driven) -> Array:
    """Return the time derivative of a state (q, rates, work of the motors, energy dissipated), shape (2 N + 2,)."""
    model = system.model
    q, rate = motor_state(system, time, state)
    acceleration, torques, _ = motion_of(system, time, q, rate)
    power = jnp.sum(torques * rate[model.layout.driven])
    given = model.layout.given
    if given.size:  # the drive of the base also does work
        forces = equations.generalised_forces(model, q, rate, acceleration)
        power = power + jnp.sum(forces[given] * rate[given])
    loss = rate @ (model.damping @ rate) + rate @ equations.friction(model, rate)
    speed = free_bases.coordinate_rates(model, q, rate)
    return jnp.concatenate([speed, acceleration, jnp.stack([power, loss])])
