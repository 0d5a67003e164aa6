"""The derivative of natural frequencies with respect to the arm, attached to them by the implicit function theorem.

Nothing is differentiated through the search: at the frequencies found, the modes give all first derivatives at
once (`energies`), and since the modes themselves are differentiable (`eigenspaces`), so are these derivatives.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from jaxmodal.arm import BeamArrays
from jaxmodal.beams import Theory
from jaxmodal.eigenspaces import SLOTS, eigenspace
from jaxmodal.energies import frequency_gradient
from jaxmodal.modal_mass import ModeFields, padding


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def with_derivative(
    num_points: int,
    beams: BeamArrays,
    theory: Theory,
    omega: Array,
    first: Array,
    multiplicity: Array,
) -> Array:
    """``omega`` unchanged, as a differentiable function of ``beams``.

    Parameters
    ----------
    num_points : int
        Quadrature nodes for each link, see `modal_mass.quadrature_size`.
    beams, theory
        The links and the flags of the theory.
    omega : Array, shape (K,)
        Natural frequencies in rad/s.
    first, multiplicity : Array, shape (K,)
        Index of the first frequency of each one's group, and how many modes the group has.

    Returns
    -------
    Array, shape (K,)

    Notes
    -----
    Members of a repeated frequency have no derivative of their own. Each gets the mean of the group, which is
    smooth; sums and all other symmetric functions of a whole group have exact first derivatives thereby.
    """
    return omega


@with_derivative.defjvp
def _with_derivative_jvp(
    num_points: int,
    primals: tuple[BeamArrays, Theory, Array, Array, Array],
    tangents: tuple[BeamArrays, Any, Any, Any, Any],
) -> tuple[Array, Array]:
    beams, theory, _, first, multiplicity = primals
    omega = with_derivative(num_points, *primals)
    gradient = mean_gradient(num_points, beams, theory, omega[first], multiplicity)
    terms = jax.tree_util.tree_map(lambda g, t: jnp.einsum("kn,n->k", g, t), gradient, tangents[0])
    return omega, sum(jax.tree_util.tree_leaves(terms), start=jnp.zeros_like(omega))


def mean_gradient(
    num_points: int, beams: BeamArrays, theory: Theory, omega: Array, multiplicity: Array
) -> BeamArrays:
    """Derivative of each frequency (of its group's mean) with respect to the link values; shapes (K, n)."""
    num_modes = omega.shape[0]
    _, fill = padding(num_modes)
    gradient = _padded_gradient(num_points, beams, theory, omega[fill], multiplicity[fill])
    kept: BeamArrays = jax.tree_util.tree_map(lambda x: x[:num_modes], gradient)
    return kept


@functools.partial(jax.jit, static_argnums=0)
def _padded_gradient(
    num_points: int, beams: BeamArrays, theory: Theory, omega: Array, multiplicity: Array
) -> BeamArrays:
    def one(omega: Array, multiplicity: Array) -> BeamArrays:
        space = eigenspace(beams, theory, omega, multiplicity, num_points)
        modes = ModeFields(space.inner, space.nodes, space.outer)
        each = jax.vmap(lambda mode: frequency_gradient(beams, theory, omega, mode, mode))(modes)
        mean: BeamArrays = jax.tree_util.tree_map(
            lambda x: jnp.sum(x, axis=0) / multiplicity.astype(x.dtype), each
        )
        return mean

    return jax.vmap(one)(omega, jnp.clip(multiplicity, 1, SLOTS))
