"""Inverse kinematics, damped and within limits, for one time after another.

The arm is undeflected. At each time the joints take steps of the Levenberg-Marquardt method, ``J^T (J J^T + c)^-1 e``
for the error e, with a damping c that decreases with the size of e down to a small number: on the path the solution is
exact, out of reach it settles at a nearest point, and near singular postures steps stay short. A joint at a limit that
would step beyond it is held, and the others make the step. Each time starts from the solution of the previous one, so
that an arm with redundant joints moves them little.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxmodal.dynamics.mechanics import equations
from jaxmodal.dynamics.mechanics.entries import at_places, placed
from jaxmodal.dynamics.model import FlexibleModel
from jaxmodal.runtime.namespace import Array

#: largest number of steps at one time; smallest change of a joint that counts as motion (rad, m); longest step of a
#: joint (rad, m)
_STEPS, _STILL, _LONGEST = 200, 1e-13, 0.5
#: number of times that a step is recomputed because a joint met its limit
_HOLDS = 4


class Found(NamedTuple):
    """Joint positions at each time, errors of position and orientation, and the smallest singular value."""

    angles: Array
    miss: Array
    turn: Array
    singular: Array


def _posture(model: FlexibleModel, angles: Array) -> Array:
    """Return the coordinates of the undeflected arm, with motors on springs at the positions of their joints."""
    q = at_places(model.num_coordinates, np.arange(model.num_links), angles)
    return placed(q, model.layout.driven, angles)


@jax.jit
def axes_at(model: FlexibleModel, angles: Array) -> Array:
    """Return the axes of the undeflected tip as columns."""
    return equations.tip_axes(model, _posture(model, angles))


@jax.jit
def length_of(model: FlexibleModel) -> Array:
    """Return the length of the line of the undeflected arm, m."""
    points = equations.points(model, _posture(model, jnp.zeros(model.num_links)))
    steps = jnp.diff(points.reshape(-1, points.shape[-1]), axis=0)
    return jnp.sum(jnp.sqrt(jnp.sum(steps**2, axis=-1)))


def _place_and_axes(model: FlexibleModel, angles: Array) -> tuple[Array, Array]:
    q = _posture(model, angles)
    return equations.tip(model, q), equations.tip_axes(model, q)


def _turn(axes: Array, wanted: Array) -> tuple[Array, Array]:
    """Return sine times axis of the rotation from ``axes`` to ``wanted``, in base axes, and its angle."""
    sine = 0.5 * jnp.sum(jnp.cross(axes.T, wanted.T), axis=0)
    cosine = 0.5 * (jnp.sum(axes * wanted) - 1.0)
    size = jnp.sqrt(jnp.sum(sine**2))
    return sine, jnp.arctan2(size, cosine)


def _error(
    model: FlexibleModel, angles: Array, wanted: tuple[Array, Array | None], length: Array
) -> tuple[Array, Array, Array]:
    """Return the error in shares of the length and in rad, its Jacobian, and the missed distance and angle."""
    (by_place, by_axes), (here, turned) = jax.jacfwd(
        lambda it: (_place_and_axes(model, it),) * 2, has_aux=True
    )(angles)
    place, axes = wanted
    away = place - here
    miss = jnp.sqrt(jnp.sum(away**2))
    if axes is None:
        return away / length, by_place / length, jnp.stack([miss, 0.0 * miss])
    sine, angle = _turn(turned, axes)
    spins = jnp.einsum("abn,cb->acn", by_axes, turned)
    rates = jnp.stack([spins[2, 1], spins[0, 2], spins[1, 0]])
    error = jnp.concatenate([away / length, sine])
    return error, jnp.concatenate([by_place / length, rates]), jnp.stack([miss, angle])


@jax.jit
def followed(
    model: FlexibleModel,
    begin: Array,
    places: Array,
    axes: Array | None,
    lower: Array,
    upper: Array,
    least: Array,
) -> Found:
    """Return joint positions for given positions (T, d) and axes (T, 3, 3) of the tip; None leaves the axes free.

    ``least`` is the damping that remains on the path.
    """
    length = length_of(model)

    def at(angles: Array, wanted: Any) -> tuple[Array, Found]:
        def change(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
            here, _, count = state
            error, rows, _ = _error(model, here, wanted, length)
            damped = (0.5 * jnp.sqrt(jnp.sum(error**2)) + least) * jnp.eye(error.shape[0])

            def step(moving: Array) -> Array:
                some = rows * moving[None, :]
                made = some.T @ jnp.linalg.solve(some @ some.T + damped, error)
                return made * jnp.minimum(1.0, _LONGEST / jnp.maximum(jnp.abs(made).max(), 1e-300))

            moving = jnp.ones(here.shape)
            for _ in range(_HOLDS):
                made = step(moving)
                stuck = ((here <= lower) & (made < 0.0)) | ((here >= upper) & (made > 0.0))
                moving = jnp.where(stuck, 0.0, moving)
            then = jnp.clip(here + step(moving), lower, upper)
            return then, jnp.abs(then - here).max(), count + 1

        def going(state: tuple[Array, Array, Array]) -> Array:
            return (state[1] > _STILL) & (state[2] < _STEPS)

        found, _, _ = jax.lax.while_loop(going, change, (angles, jnp.asarray(jnp.inf), 0))
        _, rows, missed = _error(model, found, wanted, length)
        singular = jnp.linalg.svd(rows, compute_uv=False)[-1]
        return found, Found(found, missed[0], missed[1], singular)

    _, found = jax.lax.scan(at, jnp.clip(begin, lower, upper), (places, axes))
    return found


@jax.jit
def missed_by(
    model: FlexibleModel, angles: Array, places: Array, axes: Array | None
) -> tuple[Array, Array]:
    """Return the distances and angles by which joint angles (T, n) miss the path."""

    def one(at: Array, place: Array, wanted: Array | None) -> Array:
        here, turned = _place_and_axes(model, at)
        miss = jnp.sqrt(jnp.sum((place - here) ** 2))
        angle = jnp.zeros(()) if wanted is None else _turn(turned, wanted)[1]
        return jnp.stack([miss, angle])

    found = jax.vmap(one)(angles, places, axes)
    return found[:, 0], found[:, 1]
