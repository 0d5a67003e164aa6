"""The equations of motion of one arm: B(q) q'' + h(q, q') + K q + D q' + c(q') + g(q) = Q u.

Everything rests on the components P(q) of the links' points and their Gram matrices G, which the kinematics of planar
arms or of arms in space give. With J = dP/dq, ``B = sum J^T G J`` and what turning adds; since G is constant,
``h = sum J^T G P''`` with P'' the second derivative of P along a motion with q'' = 0, which is two Jacobian-vector
products and never a table of N^3 numbers. It equals the Christoffel symbols of B, De Luca and Siciliano's eq (26).

Written in plain `jax.numpy`, not in `xp`: Jacobians come from automatic differentiation, so that there is always
something to trace. Of a base that floats freely the derivatives are by its displacements (`free_bases`). The functions
here are for one state and meant to be traced; `states` has their jitted, batched form.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from jaxmodal.dynamics.mechanics import (
    free_bases,
    recursion,
    recursion_in_space,
    supports,
)
from jaxmodal.dynamics.mechanics.kinds import kinematics_of
from jaxmodal.dynamics.mechanics.solves import solve_definite, solve_held
from jaxmodal.dynamics.model import FlexibleArm, FlexibleModel, require_motor_inertia
from jaxmodal.dynamics.model_in_space import SpatialFlexibleArm
from jaxmodal.runtime.namespace import Array

Vector = Float[Array, " N"]


class Energies(NamedTuple):
    """Kinetic, elastic and gravitational energy in J; the last is 0 with all mass at the base joint.

    The elastic one is with that of supports. Of an arm on a free base it is 0 with all mass at the ground's origin.
    """

    kinetic: Array
    elastic: Array
    gravity: Array


class Momenta(NamedTuple):
    """Linear momentum, kg m/s, and angular momentum about the ground's origin, kg m^2/s, in the axes of the ground."""

    linear: Array
    angular: Array


def _without_deflection(model: FlexibleModel, q: Array) -> tuple[Array, Array]:
    """Q with modal coordinates 0, and the modal coordinates alone, both of shape (N,)."""
    bent = np.zeros(model.num_coordinates)
    bent[model.layout.modal] = 1.0
    return q * (1.0 - bent), q * bent


def _products(left: Array, table: Array, right: Array) -> Array:
    """Sum over links of left^T G right: (n, k, d, N) twice gives (N, N)."""
    return jnp.einsum("ikac,ikl,ilad->cd", left, table, right)


def inertia(model: FlexibleModel, q: Vector) -> Float[Array, "N N"]:
    """The inertia matrix B(q), De Luca and Siciliano's eq (25); with `inertia_order` ``"first"`` their eq (32)."""
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
    """Components, their velocities and their accelerations, and the same of the tip."""

    parts: Array
    velocities: Array
    accelerations: Array
    tip: TipMotion


def _motion(model: FlexibleModel, q: Array, rate: Array, acceleration: Array) -> _Motion:
    """The components on a motion with the given q, q', q''."""
    moving = kinematics_of(model)
    moved, here = free_bases.displacements(model, q)
    faster = free_bases.second_rates(model, rate, acceleration)

    def velocity(at: Array, along: Array) -> tuple[Any, Any]:
        return jax.jvp(lambda it: moving.components_and_tip(model, moved(it)), (at,), (along,))

    (places, speeds), (_, changes) = jax.jvp(velocity, (here, rate), (rate, faster))
    parts, tips = zip(places, speeds, changes, strict=True)
    return _Motion(*parts, TipMotion(*tips))


def kinetic(model: FlexibleModel, q: Vector, rate: Vector) -> Float[Array, ""]:
    """Kinetic energy, J; to first order in the deflections where the inertia matrix is."""
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
    """Kinetic energy of components that move so."""
    moving = kinematics_of(model)
    turning = moving.turning_energy(model, parts, velocities, rate)
    return 0.5 * jnp.einsum("ika,ikl,ila->", velocities, moving.gram(model), velocities) + turning


def velocity_forces(model: FlexibleModel, q: Vector, rate: Vector) -> Vector:
    """Coriolis and centrifugal forces h(q, q'), eq (26), of the B of the model."""
    if model.inertia_order == "full":
        return _moving(model, q, rate, jnp.zeros_like(rate), heavy=False)

    def momentum(at: Array) -> Array:
        return jax.grad(lambda it: kinetic(model, at, it))(rate)

    change = jax.jvp(momentum, (q,), (rate,))[1]
    return change - jax.grad(lambda it: kinetic(model, it, rate))(q)


def potential(model: FlexibleModel, q: Vector) -> Float[Array, ""]:
    """Energy in the field of gravity, J; never truncated."""
    return _potential_of(model, kinematics_of(model).components(model, q))


def _potential_of(model: FlexibleModel, parts: Array) -> Array:
    """The same, of components."""
    weights = kinematics_of(model).weights(model)
    return -jnp.einsum("ik,ika,a->", weights, parts, jnp.asarray(model.gravity))


def weight(model: FlexibleModel, q: Vector) -> Vector:
    """The gravity vector g(q), the gradient of `potential`."""
    moved, here = free_bases.displacements(model, q)
    return jax.grad(lambda it: potential(model, moved(it)))(here)


def friction(model: FlexibleModel, rate: Vector) -> Vector:
    """Dry friction of the joints, smoothed: torque tanh(rate/width) at the coordinate that each motor moves."""
    driven = model.layout.driven
    torque = model.coulomb * jnp.tanh(rate[driven] / model.coulomb_width)
    return jnp.zeros(model.num_rates).at[driven].set(torque)


def applied(model: FlexibleModel, torques: Float[Array, " n"]) -> Vector:
    """Q u: each motor's torque at the coordinate that it moves."""
    return jnp.zeros(model.num_rates).at[model.layout.driven].set(torques)


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


@functools.partial(jax.jit, inline=True)  # an integration asks for it five times: traced once
def accelerations(
    model: FlexibleModel,
    q: Vector,
    rate: Vector,
    torques: Float[Array, " n"],
    of_base: Array | None = None,
) -> tuple[Array, Array]:
    """Forward dynamics: q'', shape (N,), and the smallest relative pivot of B, positive where B is definite.

    ``of_base`` (6,) are the accelerations of a base that is driven, 0 if left out.

    By the recursion where that is faster; the pivot is then 1, for a full B is definite. Motors without inertia, which
    leave B singular, are refused.
    """
    require_motor_inertia(model)
    right = applied(model, torques) - resistance(model, q, rate)
    articulated = recursion if isinstance(model, FlexibleArm) else recursion_in_space
    given = model.layout.given
    if articulated.pays(model):
        if given.size:
            right = right.at[given].set(0.0 if of_base is None else of_base)
        return articulated.solve(model, q, right), jnp.ones(())
    matrix = inertia(model, q)
    if not given.size:
        return solve_definite(matrix, right)
    moved = jnp.zeros_like(right)
    if of_base is not None:
        moved = moved.at[given].set(of_base)
    return solve_held(matrix, right, model.layout.loose, moved)


def accelerations_held(
    model: FlexibleModel, q: Vector, rate: Vector, given: Vector
) -> tuple[Array, Array, Array]:
    """Accelerations with motors, and what drives a base, that move as they are told; torques of the motors.

    ``given`` (N,) holds the accelerations that are told. The third is the smallest relative pivot, as above.
    """
    layout, resisting = model.layout, resistance(model, q, rate)
    if isinstance(model, SpatialFlexibleArm) and recursion_in_space.pays(model):
        right = jnp.where(layout.free > 0.0, -resisting, given)
        found, needed = recursion_in_space.solve_held(model, q, right)
        return found, needed + resisting[layout.driven], jnp.ones(())
    matrix = inertia(model, q)
    found, pivot = solve_held(matrix, -resisting, layout.free, given)
    return found, (matrix @ found + resisting)[layout.driven], pivot


def generalised_forces(
    model: FlexibleModel, q: Vector, rate: Vector, acceleration: Vector
) -> Vector:
    """Inverse dynamics: what must act on each coordinate, B q'' + h + K q + D q' + c + g."""
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
    """Linear momentum, and angular momentum about the ground's origin, of an arm on a free base."""
    pushes = (inertia(model, q) @ rate)[-6:]
    place, axes = free_bases.pose(q)
    linear = axes @ pushes[:3]
    return Momenta(linear, axes @ pushes[3:] + jnp.cross(place, linear))


def tip(model: FlexibleModel, q: Vector) -> Float[Array, " d"]:
    """Position of the tip of the arm, m."""
    return kinematics_of(model).tip(model, q)


def tip_axes(model: FlexibleModel, q: Vector) -> Float[Array, "d d"]:
    """The axes of the tip as columns, in those of the base."""
    return kinematics_of(model).tip_axes(model, q)


def points(model: FlexibleModel, q: Vector) -> Float[Array, "n s d"]:
    """Positions along the links, at the stations of the model, m."""
    return kinematics_of(model).points(model, q)


def tip_motion(model: FlexibleModel, q: Vector, rate: Vector, acceleration: Vector) -> TipMotion:
    """How the tip moves."""
    return _motion(model, q, rate, acceleration).tip


def described(
    model: FlexibleModel, q: Vector, rate: Vector, acceleration: Vector
) -> tuple[TipMotion, Energies]:
    """The motion of the tip and the energies together, from the motion of all points."""
    found = _motion(model, q, rate, acceleration)
    full = model.inertia_order == "full"
    moving = (
        _kinetic_of(model, found.parts, found.velocities, rate) if full else kinetic(model, q, rate)
    )
    return found.tip, Energies(
        moving, _elastic(model, q, found.parts), _potential_of(model, found.parts)
    )
