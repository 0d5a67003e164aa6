"""The mass of an arm as a scalar product of motions: quadrature along the links, lumped bodies at their tips."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

from jaxmodal.arm import BeamArrays
from jaxmodal.beams import Theory

#: modes are computed in multiples of this number, so that calls for other numbers need no new compilation
_LANES = 16


def padding(num_modes: int) -> tuple[int, Array]:
    """Number of lanes, and the mode that each computes: the last one over and over beyond those asked for."""
    lanes = _LANES * -(-num_modes // _LANES)
    return lanes, jnp.minimum(jnp.arange(lanes), num_modes - 1)


class ModeFields(NamedTuple):
    """The six fields (`fields.FIELDS`) of one mode: inner ends (n, 6), nodes (n, q, 6), outer ends (n, 6)."""

    inner: Array
    nodes: Array
    outer: Array


def quadrature(num_points: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of Gauss and Legendre's rule on [0, 1]."""
    points, weights = np.polynomial.legendre.leggauss(num_points)
    return 0.5 * (points + 1.0), 0.5 * weights


def quadrature_size(highest_mode: int) -> int:
    """Number of nodes that integrate products of two modes up to ``highest_mode`` over a link to rounding.

    The first K frequencies admit at most K clamped-clamped frequencies of a link below them, hence wave numbers
    of at most (K + 2) pi over its length; a product of two fields has twice that, and Gauss's rule with q nodes
    resolves 2 q radians of it and 12 to 20 nodes more.
    """
    lanes, _ = padding(highest_mode)
    return 24 + -(-13 * (lanes + 2) // 4)


def mass_coordinates(beams: BeamArrays, theory: Theory, nodes: Array, outer: Array) -> Array:
    """A motion as a vector whose scalar products are those of the mass.

    Parameters
    ----------
    beams, theory
        The n links and the flags of the theory.
    nodes, outer : Array, shapes (n, q, 6) and (n, 6)
        The fields at the quadrature nodes and at the tip ends; the displacements, which come first, count.

    Returns
    -------
    Array, shape (3 n (q + 1),)
        Square roots of mass times displacement, in m sqrt(kg).
    """
    weights = jnp.asarray(quadrature(nodes.shape[1])[1])
    line = beams.density * beams.length
    rotary = theory.rotary_inertia * line * beams.second_moment
    density = jnp.stack([line * beams.area, line * beams.area, rotary], axis=-1)
    lumped = jnp.stack([beams.tip_mass, beams.tip_mass, beams.tip_inertia], axis=-1)
    along = nodes[..., :3] * _root(density)[:, None, :] * jnp.sqrt(weights)[None, :, None]
    ends = outer[..., :3] * _root(lumped)
    return jnp.concatenate([along.reshape(-1), ends.reshape(-1)])


def _root(x: Array) -> Array:
    return jnp.where(x > 0.0, jnp.sqrt(jnp.where(x > 0.0, x, 1.0)), 0.0)


def rigid_fields(beams: BeamArrays, num_points: int) -> ModeFields:
    """Motions of the rigid arm with its base: unit displacement in x, in y, unit rotation; leading axis 3."""
    angle = jnp.cumsum(beams.joint_angle)
    c, s = jnp.cos(angle), jnp.sin(angle)
    step_x, step_y = beams.length * c, beams.length * s
    start_x, start_y = jnp.cumsum(step_x) - step_x, jnp.cumsum(step_y) - step_y

    def fields(xi: Array) -> Array:
        x = start_x[:, None] + step_x[:, None] * xi[None, :]
        y = start_y[:, None] + step_y[:, None] * xi[None, :]
        cosine, sine = c[:, None] + 0.0 * x, s[:, None] + 0.0 * x
        zero, one = jnp.zeros_like(x), jnp.ones_like(x)
        motions = (
            (cosine, -sine, zero),
            (sine, cosine, zero),
            (x * sine - y * cosine, x * cosine + y * sine, one),
        )
        return jnp.stack(
            [jnp.stack([*motion, zero, zero, zero], axis=-1) for motion in motions]
        )  # (3, n, s, 6)

    nodes = jnp.asarray(quadrature(num_points)[0])
    ends = fields(jnp.array([0.0, 1.0]))
    return ModeFields(ends[:, :, 0], fields(nodes), ends[:, :, 1])
