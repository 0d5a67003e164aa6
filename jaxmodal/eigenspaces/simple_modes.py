"""Simple modes by their integrals: input of energies, derivatives and base motions, without stored fields.

For many modes at once; `null_spaces` handles repeated frequencies, shapes and second derivatives.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.dynamic_stiffness.fields import link_motion
from jaxmodal.eigenspaces.energies import mode_energies
from jaxmodal.eigenspaces.heavy_bodies import with_heavy_bodies
from jaxmodal.eigenspaces.modal_mass import (
    ModeFields,
    link_starts,
    lumped_coordinates,
    quadrature,
    rigid_fields,
)
from jaxmodal.eigenspaces.null_vectors import null_vector
from jaxmodal.eigenspaces.preload_energies import LinkIntegrals
from jaxmodal.statics.beam_arrays import BeamArrays
from jaxmodal.statics.laws import line_mass


class SimpleMode(NamedTuple):
    """A mode of unit modal mass; its sign is arbitrary.

    Attributes
    ----------
    ends : ModeFields
        The fields at both ends of each link, shapes (n, 6); without nodes.
    integrals : LinkIntegrals
        Integrals of the mode with itself.
    means : Array, shape (n, 4)
        Means over each link of u, v, psi and x v/L.
    change : Array
        Relative change in the last correction of the null vector (`null_vectors`).
    """

    ends: ModeFields
    integrals: LinkIntegrals
    means: Array
    change: Array


def simple_mode(beams: BeamArrays, theory: Theory, omega: Array, num_points: int) -> SimpleMode:
    """Return the mode at a simple natural frequency.

    Parameters
    ----------
    omega : Array
        A natural frequency in rad/s, well separated from the others.
    num_points : int
        Number of quadrature nodes, see `modal_mass.quadrature_size`.

    Returns
    -------
    SimpleMode
        Not for differentiation.
    """
    constants, change = null_vector(beams, theory, omega)
    nodes, weights = quadrature(num_points)
    xi = jnp.asarray(np.concatenate([[0.0], nodes, [1.0]]))
    motion = jax.vmap(link_motion, in_axes=(0, None, None, None, 0))
    fields = motion(beams, theory, omega, xi, constants)  # (n, 6, s)
    inner, inside, outer = fields[..., 0], fields[..., 1:-1], fields[..., -1]
    largest = jnp.max(jnp.abs(fields), axis=2)
    inner, outer = with_heavy_bodies(beams, omega, inner, outer, largest)
    ends = ModeFields(inner, jnp.zeros((inner.shape[0], 0, 6)), outer)
    weighted = inside * jnp.asarray(weights)[None, None, :]
    integrals = LinkIntegrals(
        jnp.sum(weighted * inside, axis=2) * beams.length[:, None],
        jnp.sum(weighted[:, 4] * inside[:, 2], axis=1),
    )
    means = jnp.concatenate(
        [
            jnp.sum(weighted[:, :3], axis=2),
            jnp.sum(weighted[:, 1] * jnp.asarray(nodes)[None, :], axis=1)[:, None],
        ],
        axis=1,
    )
    energy = mode_energies(beams, theory, omega, ends, ends, integrals).kinetic
    size = jnp.sqrt(2.0 * energy) / omega
    return SimpleMode(
        ModeFields(inner / size, ends.nodes, outer / size),
        LinkIntegrals(*(x / (size * size) for x in integrals)),
        means / size,
        change,
    )


def participation(beams: BeamArrays, theory: Theory, mode: SimpleMode) -> Array:
    """Return mass products with rigid motions, shape (3,): base in x, y (sqrt(kg)), rotation (m sqrt(kg))."""
    angle = jnp.cumsum(beams.joint_angle)
    c, s = jnp.cos(angle), jnp.sin(angle)
    x, y = link_starts(beams).T
    mass = line_mass(beams) * beams.length
    rotary = theory.rotary_inertia * beams.density * beams.length * beams.second_moment
    u, v, psi, moment = mode.means.T
    turning = (x * s - y * c) * u + (x * c + y * s) * v + beams.length * moment
    of_links = jnp.stack(
        [
            jnp.sum(mass * (c * u - s * v)),
            jnp.sum(mass * (s * u + c * v)),
            jnp.sum(mass * turning + rotary * psi),
        ]
    )
    rigid = rigid_fields(beams, 1)
    lumped = jax.vmap(lambda m: lumped_coordinates(beams, m))(rigid)
    own = lumped_coordinates(beams, mode.ends)
    return of_links + jnp.sum(lumped * own[None, :], axis=1)
