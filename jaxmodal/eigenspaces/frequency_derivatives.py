"""Derivatives of natural frequencies with respect to the arm, attached by the implicit function theorem.

The search is not differentiated: at known frequencies, the modes give all first derivatives (`energies`), and since
the modes are differentiable (`null_spaces`), so are these derivatives.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.custom_derivatives import SymbolicZero

from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.eigenspaces.clusters import CLUSTER_TOLERANCE, refuse_repeated
from jaxmodal.eigenspaces.energies import energies_and_gradient
from jaxmodal.eigenspaces.modal_mass import ModeFields
from jaxmodal.eigenspaces.null_spaces import SLOTS, Eigenspace, eigenspace
from jaxmodal.runtime.namespace import Array, is_traced, mapped, on_host, to_host, tree_on_host, xp
from jaxmodal.statics.beam_arrays import BeamArrays


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def with_derivative(
    num_points: int,
    beams: BeamArrays,
    theory: Theory,
    omega: Array,
    first: Array,
    multiplicity: Array,
) -> Array:
    """Return ``omega`` as a differentiable function of ``beams``.

    Parameters
    ----------
    num_points : int
        Number of quadrature nodes per link, see `modal_mass.quadrature_size`.
    first, multiplicity : Array, shape (K,)
        Index of the first frequency of each frequency's group, and number of modes in the group.

    Returns
    -------
    Array, shape (K,)

    Notes
    -----
    Members of a repeated frequency have no derivative of their own. Each is given the derivative of the mean of the
    group, which is smooth. Thus sums and all other symmetric functions of a whole group have exact first derivatives.
    `individual_modes` is False for these modes. Their second derivatives are refused (`guarded`).
    """
    return omega


def _with_derivative_jvp(
    num_points: int,
    primals: tuple[BeamArrays, Theory, Array, Array, Array],
    tangents: tuple[BeamArrays, Any, Any, Any, Any],
) -> tuple[Array, Array]:
    omega = with_derivative(num_points, *primals)
    beams, theory, known, first, multiplicity = to_host(primals)
    # as numbers only where the links are: second derivatives go through the frequencies, too
    known = known if tree_on_host(beams, known) else omega
    gradient = mean_gradient(num_points, beams, theory, known[first], multiplicity)
    alone = _alone(known, multiplicity)
    gradient = guarded("second derivatives", gradient, known, alone)
    rates = jax.tree_util.tree_map(
        lambda g, t: np.zeros(g.shape[1:]) if isinstance(t, SymbolicZero) else t,
        gradient,
        tangents[0],
    )
    return omega, _contracted(gradient, rates)


with_derivative.defjvp(_with_derivative_jvp, symbolic_zeros=True)


@jax.jit
def _contracted(gradient: BeamArrays, rates: BeamArrays) -> Array:
    """Return the rates of frequencies (K,) from derivatives (K, n) by the link values and the rates (n,) of these."""
    terms = jax.tree_util.tree_map(functools.partial(jnp.einsum, "kn,n->k"), gradient, rates)
    total: Array = sum(jax.tree_util.tree_leaves(terms))
    return total


def require_concrete(inputs: Any) -> None:
    """Refuse traced values for frequencies of batches, which are solved outside JAX's transformations.

    Raises
    ------
    TypeError
        With the function to use instead.
    """
    if any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree_util.tree_leaves(inputs)):
        raise TypeError(
            "natural_frequencies_batch takes concrete values: it is a transformation of its own, and grad, jit and"
            " vmap do not see through it. For derivatives of its result use modal_quantities_batch, which gives all of"
            " them at once; inside grad, jit and vmap use jax.vmap of natural_frequencies"
        )


def individual_modes(omega: Array, multiplicity: Array) -> Array:
    """Return True for isolated modes, which have derivatives of their own.

    Parameters
    ----------
    omega, multiplicity : Array, shape (..., K)
        See `NaturalFrequencies`; may be traced.

    Returns
    -------
    Array of bool, shape (..., K)
        False for a mode whose group has several members (closer than 1e-12, relative, the list's end
        included), and for one that is closer than 1e-9 to a neighbour in the list.

    Examples
    --------
    >>> import jaxmodal as jm
    >>> found = jm.natural_frequencies(jm.examples.two_link_flexible(), 3)
    >>> individual_modes(found.omega, found.multiplicity).tolist()
    [True, True, True]
    """
    found = _alone(*to_host((omega, multiplicity)))
    return jax.device_put(found) if on_host(found) else found


def _alone(omega: Array, multiplicity: Array) -> Array:
    """Return `individual_modes`; a NumPy array if both arguments are."""
    omega = omega if on_host(omega) else lax.stop_gradient(omega)
    near = omega[..., 1:] - omega[..., :-1] <= CLUSTER_TOLERANCE * omega[..., 1:]
    end = np.zeros((*omega.shape[:-1], 1), bool)
    joined = xp.concatenate([end, near], axis=-1) | xp.concatenate([near, end], axis=-1)
    return (multiplicity <= 1) & ~joined


def guarded(what: str, values: Any, omega: Array, alone: Array) -> Any:
    """Return ``values``, leading axis K, unchanged; only isolated modes can be differentiated.

    Differentiation for other modes raises `RepeatedFrequencyError`. Under jit and vmap, where nothing can be raised,
    the derivatives of such modes are NaN.
    """
    leaves, structure = jax.tree_util.tree_flatten(values)
    return jax.tree_util.tree_unflatten(structure, _guarded(what, leaves, omega, alone))


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def _guarded(what: str, values: list[Array], omega: Array, alone: Array) -> list[Array]:
    return values


@_guarded.defjvp
def _guarded_jvp(
    what: str, primals: tuple[list[Array], Array, Array], tangents: tuple[list[Any], Any, Any]
) -> tuple[list[Array], list[Any]]:
    values, omega, alone = primals
    if not isinstance(alone, jax.core.Tracer):
        refuse_repeated(what, omega, alone)
    factor = jnp.where(alone, 1.0, jnp.nan)

    def masked(tangent: Array) -> Array:
        return tangent * factor.reshape(factor.shape + (1,) * (tangent.ndim - 1))

    return values, jax.tree_util.tree_map(masked, tangents[0])


def mean_gradient(
    num_points: int, beams: BeamArrays, theory: Theory, omega: Array, multiplicity: Array
) -> BeamArrays:
    """Return the derivative of each frequency (of its group's mean) with respect to the link values; shapes (K, n)."""
    given = to_host((beams, theory, omega, multiplicity))
    if is_traced(given):
        compiled: BeamArrays = _compiled_gradient(num_points, *given)
        return compiled
    beams, theory, omega, multiplicity = given
    exists = np.isfinite(omega)
    with np.errstate(all="ignore"):
        gradient = mapped(functools.partial(group_gradient, num_points, beams, theory))(
            np.where(exists, omega, 1.0), multiplicity
        )
    known: BeamArrays = jax.tree_util.tree_map(
        lambda x: np.where(exists[:, None], x, np.nan), gradient
    )
    return known


def group_gradient(
    num_points: int, beams: BeamArrays, theory: Theory, omega: Array, multiplicity: Array
) -> BeamArrays:
    """Return the derivative of one frequency, or of its group's mean, with respect to the link values; shapes (n,)."""
    multiplicity = xp.clip(multiplicity, 1, SLOTS)
    space = eigenspace(beams, theory, omega, multiplicity, num_points)
    gradient: BeamArrays = group_means(
        space, multiplicity, lambda m: energies_and_gradient(beams, theory, omega, m, m)[1]
    )
    return gradient


def group_means(
    space: Eigenspace, multiplicity: Array, of_mode: Callable[[ModeFields], Any]
) -> Any:
    """Return means over the modes of a group of the results of ``of_mode``; unused slots contribute 0."""
    each = mapped(of_mode)(ModeFields(space.inner, space.nodes, space.outer))
    return jax.tree_util.tree_map(lambda x: xp.sum(x, axis=0) / multiplicity.astype(x.dtype), each)


def projected_gradients(
    beams: BeamArrays, theory: Theory, omega: Array, modes: ModeFields
) -> BeamArrays:
    """Return the derivative of the frequency projected on each pair of m nearly degenerate modes, (m, m, n)."""

    def projected(a: ModeFields, b: ModeFields) -> BeamArrays:
        return energies_and_gradient(beams, theory, omega, a, b)[1]

    matrices: BeamArrays = mapped(mapped(projected, (None, 0)), (0, None))(modes, modes)
    return matrices


@functools.partial(jax.jit, static_argnums=0)
def _compiled_gradient(num_points: int, beams: BeamArrays, theory: Theory, *modes: Array) -> Any:
    return jax.vmap(functools.partial(group_gradient, num_points, beams, theory))(*modes)
