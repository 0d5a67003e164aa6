"""The equations of motion of one arm: B(q) q'' + h(q, q') + K q + D q' + c(q') + g(q) = Q u.

Everything rests on the components P(q) of the links' points (`kinematics.components`) and their Gram matrices G. With
J = dP/dq and the rates R of what turns, ``B = sum J^T G J + R^T I R``; since G, R are constant, ``h = sum J^T G P''``
with P'' the second derivative of P along a motion with q'' = 0, which is two Jacobian-vector products and never a
table of N^3 numbers. It equals the Christoffel symbols of B, De Luca and Siciliano's eq (26).

Written in plain `jax.numpy`, not in `xp`: Jacobians come from automatic differentiation, so that there is always
something to trace. The functions here are for one state and meant to be traced; `states` has their jitted, batched
form.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from jaxmodal.dynamics.mechanics import recursion
from jaxmodal.dynamics.mechanics.kinematics import components, frames, gram
from jaxmodal.dynamics.mechanics.solves import solve_definite
from jaxmodal.dynamics.model import FlexibleArm, require_motor_inertia
from jaxmodal.runtime.namespace import Array

Vector = Float[Array, " N"]


class Energies(NamedTuple):
    """Kinetic, elastic and gravitational energy in J; the last is 0 with all mass at the base joint."""

    kinetic: Array
    elastic: Array
    gravity: Array


def rotary_inertia(model: FlexibleArm) -> Array:
    """The constant part of B of all that turns, shape (N, N)."""
    weighted = model.inertias[:, None] * model.rates
    return jnp.asarray(model.rates.T @ weighted)


def _without_deflection(model: FlexibleArm, q: Array) -> tuple[Array, Array]:
    """Q with modal coordinates 0, and the modal coordinates alone, both of shape (N,)."""
    bent = np.zeros(model.num_coordinates)
    bent[model.layout.modal] = 1.0
    return q * (1.0 - bent), q * bent


def _products(left: Array, table: Array, right: Array) -> Array:
    """Sum over links of left^T G right: (n, k, 2, N) twice gives (N, N)."""
    return jnp.einsum("ikac,ikl,ilad->cd", left, table, right)


def inertia(model: FlexibleArm, q: Vector) -> Float[Array, "N N"]:
    """The inertia matrix B(q), De Luca and Siciliano's eq (25); with `inertia_order` ``"first"`` their eq (32)."""

    def jacobian(at: Array) -> Array:
        return jax.jacfwd(lambda it: components(model, it))(at)

    table = gram(model)
    if model.inertia_order == "full":
        rows = jacobian(q)
        return _products(rows, table, rows) + rotary_inertia(model)
    straight, bent = _without_deflection(model, q)
    rows, change = jax.jvp(jacobian, (straight,), (bent,))
    mixed = _products(rows, table, change)
    return _products(rows, table, rows) + mixed + mixed.T + rotary_inertia(model)


def _second_derivative(model: FlexibleArm, q: Array, rate: Array, acceleration: Array) -> Array:
    """Accelerations of the components on a motion with the given q, q', q''."""

    def velocity(at: Array, along: Array) -> Array:
        return jax.jvp(lambda it: components(model, it), (at,), (along,))[1]

    return jax.jvp(velocity, (q, rate), (rate, acceleration))[1]


def kinetic(model: FlexibleArm, q: Vector, rate: Vector) -> Float[Array, ""]:
    """Kinetic energy, J; to first order in the deflections where the inertia matrix is."""

    def velocity(at: Array) -> Array:
        return jax.jvp(lambda it: components(model, it), (at,), (rate,))[1]

    table = gram(model)
    turning = 0.5 * jnp.sum(model.inertias * (model.rates @ rate) ** 2)
    if model.inertia_order == "full":
        moving = velocity(q)
        return 0.5 * jnp.einsum("ika,ikl,ila->", moving, table, moving) + turning
    straight, bent = _without_deflection(model, q)
    moving, change = jax.jvp(velocity, (straight,), (bent,))
    return jnp.einsum("ika,ikl,ila->", moving, table, 0.5 * moving + change) + turning


def velocity_forces(model: FlexibleArm, q: Vector, rate: Vector) -> Vector:
    """Coriolis and centrifugal forces h(q, q'), eq (26), of the B of the model."""
    if model.inertia_order == "full":
        still = jnp.zeros_like(q)
        acceleration = _second_derivative(model, q, rate, still)
        return _virtual_work(model, q, jnp.einsum("ikl,ila->ika", gram(model), acceleration))

    def momentum(at: Array) -> Array:
        return jax.grad(lambda it: kinetic(model, at, it))(rate)

    change = jax.jvp(momentum, (q,), (rate,))[1]
    return change - jax.grad(lambda it: kinetic(model, it, rate))(q)


def _virtual_work(model: FlexibleArm, q: Array, forces: Array) -> Array:
    """J^T F for forces F on the components."""
    return jax.vjp(lambda it: components(model, it), q)[1](forces)[0]


def potential(model: FlexibleArm, q: Vector) -> Float[Array, ""]:
    """Energy in the field of gravity, J; never truncated."""
    weights = gram(model)[:, 0]
    return -jnp.einsum("ik,ika,a->", weights, components(model, q), jnp.asarray(model.gravity))


def weight(model: FlexibleArm, q: Vector) -> Vector:
    """The gravity vector g(q), the gradient of `potential`."""
    return jax.grad(lambda it: potential(model, it))(q)


def friction(model: FlexibleArm, rate: Vector) -> Vector:
    """Dry friction of the joints, smoothed: torque tanh(rate/width) at the coordinate that each motor moves."""
    driven = model.layout.driven
    torque = model.coulomb * jnp.tanh(rate[driven] / model.coulomb_width)
    return jnp.zeros(model.num_coordinates).at[driven].set(torque)


def applied(model: FlexibleArm, torques: Float[Array, " n"]) -> Vector:
    """Q u: each motor's torque at the coordinate that it moves."""
    return jnp.zeros(model.num_coordinates).at[model.layout.driven].set(torques)


def resistance(model: FlexibleArm, q: Vector, rate: Vector) -> Vector:
    """All of the equations that does not multiply q'': h + K q + D q' + c + g."""
    if model.inertia_order == "first":
        moving = velocity_forces(model, q, rate) + weight(model, q)
    else:
        moving = _moving(model, q, rate, jnp.zeros_like(q))
    return moving + _steady(model, q, rate)


def _moving(model: FlexibleArm, q: Array, rate: Array, acceleration: Array) -> Array:
    """What a motion needs against the inertia of all points and gravity, nothing of it truncated."""
    table = gram(model)
    forces = jnp.einsum("ikl,ila->ika", table, _second_derivative(model, q, rate, acceleration))
    forces = forces - table[:, 0, :, None] * jnp.asarray(model.gravity)[None, None, :]
    return _virtual_work(model, q, forces)


def _steady(model: FlexibleArm, q: Array, rate: Array) -> Array:
    """K q + D q' + c."""
    return model.stiffness @ q + model.damping @ rate + friction(model, rate)


@functools.partial(jax.jit, inline=True)  # an integration asks for it five times: traced once
def accelerations(
    model: FlexibleArm, q: Vector, rate: Vector, torques: Float[Array, " n"]
) -> tuple[Array, Array]:
    """Forward dynamics: q'', shape (N,), and the smallest relative pivot of B, positive where B is definite.

    By the recursion where that is faster; the pivot is then 1, for a full B is definite. Motors without inertia, which
    leave B singular, are refused.
    """
    require_motor_inertia(model)
    right = applied(model, torques) - resistance(model, q, rate)
    if recursion.pays(model):
        return recursion.solve(model, q, right), jnp.ones(())
    return solve_definite(inertia(model, q), right)


def generalised_forces(model: FlexibleArm, q: Vector, rate: Vector, acceleration: Vector) -> Vector:
    """Inverse dynamics: what must act on each coordinate, B q'' + h + K q + D q' + c + g."""
    if model.inertia_order == "first":
        return inertia(model, q) @ acceleration + resistance(model, q, rate)
    turning = model.rates.T @ (model.inertias * (model.rates @ acceleration))
    return _moving(model, q, rate, acceleration) + turning + _steady(model, q, rate)


def energies(model: FlexibleArm, q: Vector, rate: Vector) -> Energies:
    """Kinetic, elastic and gravitational energy, J."""
    return Energies(kinetic(model, q, rate), 0.5 * (q @ (model.stiffness @ q)), potential(model, q))


def tip(model: FlexibleArm, q: Vector) -> Float[Array, " 2"]:
    """Position of the tip of the arm, m."""
    return frames(model, q).origin[-1]


def points(model: FlexibleArm, q: Vector) -> Float[Array, "n s 2"]:
    """Positions along the links, at the stations of the model, m."""
    parts = components(model, q)
    return jnp.einsum("isk,ika->isa", jnp.asarray(model.stations)[:, :, : parts.shape[1]], parts)


def tip_motion(
    model: FlexibleArm, q: Vector, rate: Vector, acceleration: Vector
) -> tuple[Array, Array, Array]:
    """Position, velocity and acceleration of the tip, m, m/s, m/s^2, each of shape (2,)."""

    def velocity(at: Array, along: Array) -> tuple[Array, Array]:
        return jax.jvp(lambda it: tip(model, it), (at,), (along,))

    (position, speed), (_, change) = jax.jvp(velocity, (q, rate), (rate, acceleration))
    return position, speed, change
