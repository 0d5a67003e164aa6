"""Position of every part of a planar arm: the frames of De Luca and Siciliano, eqs (1)-(7), for all links at once.

The recursion over links is a sum of angles and a sum of steps, so it is written as products with triangular matrices of
ones: a small program for any number of links. Planar vectors are pairs of real numbers along the last axis.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from jaxmodal.dynamics.model import FlexibleArm, FlexibleModel
from jaxmodal.runtime.namespace import Array


class Frames(NamedTuple):
    """Frames of all links at one instant.

    Attributes
    ----------
    origin : Array, shape (n + 1, 2)
        Base of each link, and the tip of the arm, m.
    axis : Array, shape (n, 2)
        Direction w of the x axis of each link; a unit vector, except that linear frames stretch it.
    deltas : Array, shape (n, m)
        Modal coordinates by link.
    """

    origin: Array
    axis: Array
    deltas: Array


def _none_lacks(model: FlexibleModel) -> bool:
    """Return True if every link has all modes, so that they stand in q link by link."""
    layout = model.layout
    return np.array_equal(layout.places.ravel(), np.arange(layout.modal.start, layout.modal.stop))


def modal_by_link(model: FlexibleModel, q: Float[Array, " N"]) -> Array:
    """Return modal coordinates by link, shape (n, m), with zeros where a link has fewer modes."""
    layout = model.layout
    if _none_lacks(model):
        return q[layout.modal].reshape(layout.places.shape)
    return q[: layout.size] @ jnp.asarray(layout.spread)  # see `entries`


def modal_of_links(model: FlexibleModel, by_link: Array) -> Array:
    """Return coordinates (N,) that are 0 but for modal ones, from those by link, shape (n, m)."""
    layout = model.layout
    if _none_lacks(model):
        motors = jnp.zeros(layout.size - layout.modal.stop)
        return jnp.concatenate([jnp.zeros(layout.modal.start), by_link.ravel(), motors])
    return jnp.einsum("iac,ic->a", layout.spread, by_link)


def quarter_turn(vectors: Array) -> Array:
    """Return vectors turned counter-clockwise by a right angle."""
    return jnp.stack([-vectors[..., 1], vectors[..., 0]], axis=-1)


def frames(model: FlexibleArm, q: Float[Array, " N"]) -> Frames:
    """Return the frames of the links at generalised coordinates q."""
    n = model.num_links
    deltas = modal_by_link(model, q)
    slope = jnp.sum(model.tip_slope * deltas, axis=1)
    deflection = jnp.sum(model.tip * deltas, axis=1)
    up_to = np.tril(np.ones((n, n)))
    before = np.tril(np.ones((n, n)), -1)
    if model.frames == "rotation":
        turn, stretch = slope, jnp.ones(n)
    else:  # 1 + i s
        # arctan(slope) by the half angle: XLA's arctan, and arctan2(x, 1), which it makes of it, are wrong for vectors
        # of 512 bits (jax 0.10.2), which `runtime.compilation.CPU_FLAGS` asks for
        turn = 2.0 * jnp.arctan2(slope, 1.0 + jnp.sqrt(1.0 + slope**2))
        stretch = jnp.exp(before @ (0.5 * jnp.log1p(slope**2)))
    angle = up_to @ q[:n] + before @ turn
    axis = stretch[:, None] * jnp.stack([jnp.cos(angle), jnp.sin(angle)], axis=-1)
    along = model.length
    if model.foreshortening:
        along = along - 0.5 * jnp.einsum("ij,ijk,ik->i", deltas, model.shortening, deltas)
    step = along[:, None] * axis + deflection[:, None] * quarter_turn(axis)
    origin = jnp.concatenate([np.zeros((1, 2)), up_to @ step])
    return Frames(origin, axis, deltas)


@functools.partial(jax.jit, inline=True)  # the equations ask for them several times: traced once
def components(model: FlexibleArm, q: Float[Array, " N"]) -> Array:
    """Return the coefficients of the functions 1, x, phi_j (and Gamma_jk) in the positions of the points of each link.

    Returns
    -------
    Array, shape (n, k, 2)
        In m, 1, m per unit of phi, and so on; without foreshortening the Gamma_jk are left out.
    """
    origin, axis, deltas = frames(model, q)
    across = quarter_turn(axis)
    parts = [origin[:-1, None], axis[:, None], deltas[:, :, None] * across[:, None]]
    if model.foreshortening:
        rows, columns = model.layout.pairs
        share = np.where(rows == columns, 0.5, 1.0)
        one, other = (
            deltas @ jnp.asarray(np.eye(deltas.shape[1])[:, of]) for of in (rows, columns)
        )
        squares = share[None, :] * one * other
        parts.append(-squares[:, :, None] * axis[:, None])
    return jnp.concatenate(parts, axis=1)


def components_and_tip(model: FlexibleArm, q: Array) -> tuple[Array, Array]:
    """Return `components`, and the position of the tip of the arm."""
    return components(model, q), tip(model, q)


def gram(model: FlexibleArm) -> Array:
    """Return the Gram matrices that belong to `components`, shape (n, k, k)."""
    if model.foreshortening:
        return jnp.asarray(model.gram)
    size = 2 + model.tip.shape[1]
    return jnp.asarray(model.gram[:, :size, :size])


def weights(model: FlexibleArm) -> Array:
    """Return the mass integral of each function, shape (n, k)."""
    return gram(model)[:, 0]


def tip(model: FlexibleArm, q: Array) -> Float[Array, " 2"]:
    """Return the position of the tip of the arm, m."""
    return frames(model, q).origin[-1]


def tip_axes(model: FlexibleArm, q: Array) -> Float[Array, "2 2"]:
    """Return the axes of the tip as columns, in the axes of the base."""
    _, axis, deltas = frames(model, q)
    slope = jnp.sum(model.tip_slope[-1] * deltas[-1])
    across = quarter_turn(axis[-1])
    if model.frames == "rotation":
        along = jnp.cos(slope) * axis[-1] + jnp.sin(slope) * across
    else:
        along = axis[-1] + slope * across
    return jnp.stack([along, quarter_turn(along)], axis=-1)


def points(model: FlexibleArm, q: Array) -> Float[Array, "n s 2"]:
    """Return positions along the links, at the stations of the model, m."""
    parts = components(model, q)
    return jnp.einsum("isk,ika->isa", jnp.asarray(model.stations)[:, :, : parts.shape[1]], parts)


def turning_inertia(model: FlexibleArm, parts: Array, rows: Array) -> Array:
    """Return the part (N, N) of the inertia matrix due to rotation: all bodies turn at constant combinations of q'."""
    weighted = model.inertias[:, None] * model.rates
    return jnp.asarray(model.rates.T @ weighted)


def turning_energy(model: FlexibleArm, parts: Array, velocities: Array, rate: Array) -> Array:
    """Return the kinetic energy of rotating bodies, J."""
    return 0.5 * jnp.sum(model.inertias * (model.rates @ rate) ** 2)


def turning_forces(
    model: FlexibleArm,
    parts: Array,
    velocities: Array,
    accelerations: Array,
    rate: Array,
    acceleration: Array,
) -> tuple[Array, Array]:
    """Return the forces due to rotation: none on components, those on the coordinates as (N,)."""
    return jnp.zeros_like(parts), model.rates.T @ (model.inertias * (model.rates @ acceleration))
