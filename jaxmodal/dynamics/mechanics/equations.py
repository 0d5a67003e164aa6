"""Equations of motion of one arm: B(q) q'' + h(q, q') + K q + D q' + c(q') + g(q) = Q u.

Everything follows from the components P(q) of the points of the links and their Gram matrices G, which the kinematics
of planar arms or of arms in space provide. With J = dP/dq, ``B = sum J^T G J`` plus the contribution of rotating
bodies. Since G is constant, ``h = sum J^T G P''``, where P'' is the second derivative of P along a motion with q'' = 0:
two Jacobian-vector products and never an array of N^3 numbers. It equals the Christoffel form from B, De Luca and
Siciliano's eq (26).

The code uses plain `jax.numpy`, not `xp`: Jacobians come from automatic differentiation, so the values are always
traced. With a free base, derivatives are with respect to its displacements (`free_bases`). The functions take one state
and are meant to be traced; `states` has their compiled form for batches.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from jaxmodal.dynamics.mechanics import free_bases, supports
from jaxmodal.dynamics.mechanics.entries import at_places, placed
from jaxmodal.dynamics.mechanics.kinds import kinematics_of, recursion_of
from jaxmodal.dynamics.mechanics.solves import solve_definite, solve_held
from jaxmodal.dynamics.model import FlexibleModel, require_motor_inertia
from jaxmodal.runtime.namespace import Array

Vector = Float[Array, " N"]


class Energies(NamedTuple):
    """Kinetic, elastic and gravitational energy in J; the gravitational energy is 0 with all mass at the base joint.

    The elastic one is with that of supports. Of an arm on a free base it is 0 with all mass at the ground's origin.
    """

    kinetic: Array
    elastic: Array
    gravity: Array


class Momenta(NamedTuple):
    """Linear momentum, kg m/s, and angular momentum about the ground origin, kg m^2/s, in the axes of the ground."""

    linear: Array
    angular: Array


def _without_deflection(model: FlexibleModel, q: Array) -> tuple[Array, Array]:
    """Return q with modal coordinates 0, and the modal coordinates alone, both of shape (N,)."""
    bent = np.zeros(model.num_coordinates)
    bent[model.layout.modal] = 1.0
    return q * (1.0 - bent), q * bent


def _products(left: Array, table: Array, right: Array) -> Array:
    """Return the sum over links of left^T G right, shape (N, N), from two arrays (n, k, d, N)."""
    return jnp.einsum("ikac,ikl,ilad->cd", left, table, right)


def inertia(model: FlexibleModel, q: Vector) -> Float[Array, "N N"]:
    """Return the inertia matrix B(q), eq (25) of De Luca and Siciliano; eq (32) if `inertia_order` is ``"first"``."""
    moving = kinematics_of(model)
    moved, here = free_bases.displacements(model, q)

    def jacobian(at: Array) -> tuple[Array, Array]:
        return jax.jacfwd(lambda it: (moving.components(model, moved(it)),) * 2, has_aux=True)(at)

    table = moving.gram(model)
    if model.inertia_order == "full":
        rows, parts = jacobian(here)
        return _products(rows, table, rows) + moving.turning_inertia(model, parts, rows)
    straight, bent = _without_deflection(model, q)

    def rows_and_turning(at: Array) -> tuple[Array, Array]:
        rows, parts = jacobian(at)
        return rows, moving.turning_inertia(model, parts, rows)

    (rows, still), (change, turned) = jax.jvp(rows_and_turning, (straight,), (bent,))
    mixed = _products(rows, table, change)
    return _products(rows, table, rows) + mixed + mixed.T + still + turned


class TipMotion(NamedTuple):
    """Position, velocity and acceleration of the tip, m, m/s, m/s^2, each of shape (d,)."""

    position: Array
    velocity: Array
    acceleration: Array


class _Motion(NamedTuple):
    """Components with their velocities and accelerations, and the motion of the tip."""

    parts: Array
    velocities: Array
    accelerations: Array
    tip: TipMotion


def _motion(model: FlexibleModel, q: Array, rate: Array, acceleration: Array) -> _Motion:
    """Return the motion of the components and of the tip for given q, q', q''."""
    moving = kinematics_of(model)
    moved, here = free_bases.displacements(model, q)
    faster = free_bases.second_rates(model, rate, acceleration)

    def velocity(at: Array, along: Array) -> tuple[Any, Any]:
        return jax.jvp(lambda it: moving.components_and_tip(model, moved(it)), (at,), (along,))

    (places, speeds), (_, changes) = jax.jvp(velocity, (here, rate), (rate, faster))
    parts, tips = zip(places, speeds, changes, strict=True)
    return _Motion(*parts, TipMotion(*tips))


def kinetic(model: FlexibleModel, q: Vector, rate: Vector) -> Float[Array, ""]:
    """Return the kinetic energy, J, with the same truncation as the inertia matrix."""
    moving = kinematics_of(model)
    moved, here = free_bases.displacements(model, q)

    def velocity(at: Array) -> tuple[Array, Array]:
        return jax.jvp(lambda it: moving.components(model, moved(it)), (at,), (rate,))

    if model.inertia_order == "full":
        return _kinetic_of(model, *velocity(here), rate)
    table = moving.gram(model)
    straight, bent = _without_deflection(model, q)

    def speeds_and_turning(at: Array) -> tuple[Array, Array]:
        parts, speeds = velocity(at)
        return speeds, moving.turning_energy(model, parts, speeds, rate)

    (speeds, still), (change, turned) = jax.jvp(speeds_and_turning, (straight,), (bent,))
    energy = jnp.einsum("ika,ikl,ila->", speeds, table, 0.5 * speeds + change)
    return energy + still + turned


def _kinetic_of(model: FlexibleModel, parts: Array, velocities: Array, rate: Array) -> Array:
    """Return the kinetic energy from components and their velocities, without truncation."""
    moving = kinematics_of(model)
    turning = moving.turning_energy(model, parts, velocities, rate)
    return 0.5 * jnp.einsum("ika,ikl,ila->", velocities, moving.gram(model), velocities) + turning


def velocity_forces(model: FlexibleModel, q: Vector, rate: Vector) -> Vector:
    """Return the Coriolis and centrifugal forces h(q, q'), eq (26), that belong to the inertia matrix of the model."""
    if model.inertia_order == "full":
        return _moving(model, q, rate, jnp.zeros_like(rate), heavy=False)

    def momentum(at: Array) -> Array:
        return jax.grad(lambda it: kinetic(model, at, it))(rate)

    change = jax.jvp(momentum, (q,), (rate,))[1]
    return change - jax.grad(lambda it: kinetic(model, it, rate))(q)


def potential(model: FlexibleModel, q: Vector) -> Float[Array, ""]:
    """Return the gravitational energy, J, which is never truncated."""
    return _potential_of(model, kinematics_of(model).components(model, q))


def _potential_of(model: FlexibleModel, parts: Array) -> Array:
    """Return the gravitational energy from components."""
    weights = kinematics_of(model).weights(model)
    return -jnp.einsum("ik,ika,a->", weights, parts, jnp.asarray(model.gravity))


def weight(model: FlexibleModel, q: Vector) -> Vector:
    """Return the gravity vector g(q), the gradient of `potential`."""
    moved, here = free_bases.displacements(model, q)
    return jax.grad(lambda it: potential(model, moved(it)))(here)


def friction(model: FlexibleModel, rate: Vector) -> Vector:
    """Return smoothed Coulomb friction: torque tanh(rate/width) at the coordinate that each motor drives."""
    driven = model.layout.driven
    torque = model.coulomb * jnp.tanh(rate[driven] / model.coulomb_width)
    return applied(model, torque)


def applied(model: FlexibleModel, torques: Float[Array, " n"]) -> Vector:
    """Return Q u: the torque of each motor at the coordinate that it drives."""
    return at_places(model.num_rates, model.layout.driven, torques)


def resistance(model: FlexibleModel, q: Vector, rate: Vector) -> Vector:
    """All of the equations that does not multiply q'': h + K q + D q' + c + g, and supports."""
    if model.inertia_order == "first":
        moving = velocity_forces(model, q, rate) + weight(model, q)
    else:
        moving = _moving(model, q, rate, jnp.zeros_like(rate))
    return moving + _steady(model, q, rate)


def _moving(
    model: FlexibleModel, q: Array, rate: Array, acceleration: Array, heavy: bool = True
) -> Array:
    """Return the forces that a motion needs against inertia and gravity, without any truncation."""
    moving = kinematics_of(model)
    found = _motion(model, q, rate, acceleration)
    forces = jnp.einsum("ikl,ila->ika", moving.gram(model), found.accelerations)
    if heavy:
        forces = (
            forces - moving.weights(model)[:, :, None] * jnp.asarray(model.gravity)[None, None, :]
        )
    more, turning = moving.turning_forces(model, *found[:3], rate, acceleration)
    moved, here = free_bases.displacements(model, q)
    _, work = jax.vjp(lambda it: moving.components(model, moved(it)), here)
    (made,) = work(forces + more)
    return made + turning


def _steady(model: FlexibleModel, q: Array, rate: Array) -> Array:
    """K q + D q' + c, and what supports resist with."""
    elastic = model.stiffness @ free_bases.strain(model, q) + supports.forces(model, q)
    return elastic + model.damping @ rate + friction(model, rate)


@functools.partial(jax.jit, inline=True)  # used five times in one integration: traced once
def accelerations(
    model: FlexibleModel,
    q: Vector,
    rate: Vector,
    torques: Float[Array, " n"],
    of_base: Array | None = None,
) -> tuple[Array, Array]:
    """Return q'', shape (N,), and the smallest relative pivot of B, which is positive where B is positive definite.

    ``of_base`` (6,) holds the accelerations of a driven base, 0 by default.

    The articulated recursion is used where it is faster; the pivot is then 1, because a full B is positive definite.
    Motors without inertia, which make B singular, are refused.
    """
    require_motor_inertia(model)
    right = applied(model, torques) - resistance(model, q, rate)
    articulated, given = recursion_of(model), model.layout.given
    if articulated.pays(model):
        if given.size:
            right = placed(right, given, jnp.zeros(()) if of_base is None else of_base)
        return articulated.solved(model, q, right)[0], jnp.ones(())
    matrix = inertia(model, q)
    if not given.size:
        return solve_definite(matrix, right)
    moved = jnp.zeros_like(right)
    if of_base is not None:
        moved = at_places(moved.size, given, of_base)
    return solve_held(matrix, right, model.layout.loose, moved)


@functools.partial(jax.jit, inline=True)  # as often as `accelerations`
def accelerations_held(
    model: FlexibleModel, q: Vector, rate: Vector, given: Vector
) -> tuple[Array, Array, Array]:
    """Return accelerations with prescribed motors and driven base, the motor torques, and the smallest relative pivot.

    ``given`` (N,) holds the prescribed accelerations. The pivot is as for `accelerations`.
    """
    layout, resisting = model.layout, resistance(model, q, rate)
    articulated = recursion_of(model)
    if articulated.pays(model):
        right = jnp.where(layout.free > 0.0, -resisting, given)
        found, needed = articulated.solved(model, q, right, held=True)
        return found, needed + resisting[layout.driven], jnp.ones(())
    matrix = inertia(model, q)
    found, pivot = solve_held(matrix, -resisting, layout.free, given)
    return found, (matrix @ found + resisting)[layout.driven], pivot


def generalised_forces(
    model: FlexibleModel, q: Vector, rate: Vector, acceleration: Vector
) -> Vector:
    """Return the forces of inverse dynamics on each coordinate, B q'' + h + K q + D q' + c + g."""
    if model.inertia_order == "first":
        return inertia(model, q) @ acceleration + resistance(model, q, rate)
    return _moving(model, q, rate, acceleration) + _steady(model, q, rate)


def energies(model: FlexibleModel, q: Vector, rate: Vector) -> Energies:
    """Kinetic, elastic and gravitational energy, J."""
    parts = kinematics_of(model).components(model, q)
    return Energies(kinetic(model, q, rate), _elastic(model, q, parts), _potential_of(model, parts))


def _elastic(model: FlexibleModel, q: Array, parts: Array) -> Array:
    """Of links and joints, of an elastic base and of supports."""
    strain = free_bases.strain(model, q)
    return 0.5 * (strain @ (model.stiffness @ strain)) + supports.energy(model, q, parts)


def momenta(model: FlexibleModel, q: Vector, rate: Vector) -> Momenta:
    """Return linear momentum, and angular momentum about the ground origin, of an arm on a free base."""
    pushes = (inertia(model, q) @ rate)[-6:]
    place, axes = free_bases.pose(q)
    linear = axes @ pushes[:3]
    return Momenta(linear, axes @ pushes[3:] + jnp.cross(place, linear))


def tip(model: FlexibleModel, q: Vector) -> Float[Array, " d"]:
    """Return the position of the tip of the arm, m."""
    return kinematics_of(model).tip(model, q)


def tip_axes(model: FlexibleModel, q: Vector) -> Float[Array, "d d"]:
    """Return the axes of the tip as columns, in the axes of the base."""
    return kinematics_of(model).tip_axes(model, q)


def points(model: FlexibleModel, q: Vector) -> Float[Array, "n s d"]:
    """Return positions along the links, at the stations of the model, m."""
    return kinematics_of(model).points(model, q)


def tip_motion(model: FlexibleModel, q: Vector, rate: Vector, acceleration: Vector) -> TipMotion:
    """Return position, velocity and acceleration of the tip."""
    return _motion(model, q, rate, acceleration).tip


def described(
    model: FlexibleModel, q: Vector, rate: Vector, acceleration: Vector
) -> tuple[TipMotion, Energies]:
    """Return the motion of the tip and the energies together; the motion of all points is computed once."""
    found = _motion(model, q, rate, acceleration)
    full = model.inertia_order == "full"
    moving = (
        _kinetic_of(model, found.parts, found.velocities, rate) if full else kinetic(model, q, rate)
    )
    return found.tip, Energies(
        moving, _elastic(model, q, found.parts), _potential_of(model, found.parts)
    )
