"""Frequencies of traced values of an arm that makes its own model: NumPy solves it, from within a program or outside.

Derivatives are those that the modes give; nothing is differentiated through the search.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.frequencies.models import OtherArm
from jaxmodal.frequencies.results import NaturalFrequencies
from jaxmodal.runtime.callbacks import shaped
from jaxmodal.runtime.namespace import Array, is_traced, to_host
from jaxmodal.runtime.statuses import Status


def traced_frequencies(
    arm: OtherArm, theory: TheoryName, count: int, solve: Callable[[OtherArm], NaturalFrequencies]
) -> NaturalFrequencies:
    """The ``count`` lowest frequencies of an arm of which values are traced.

    Parameters
    ----------
    solve : callable
        Solves a concrete arm in NumPy.

    Returns
    -------
    NaturalFrequencies
        Under jit and vmap a call back to NumPy, cell by cell; under grad alone computed at once. ``omega`` has first
        derivatives, members of a repeated frequency those of its mean. An impossible value gives NaN and
        `Status.invalid_input`.
    """
    leaves, structure = jax.tree_util.tree_flatten(arm)
    leaves = [jnp.asarray(leaf, np.float64) for leaf in leaves]
    known = to_host(lax.stop_gradient(leaves))

    def solved(*values: Any) -> list[np.ndarray]:
        """The leaves of the result."""
        concrete = _concrete(structure, values)
        found = solve(concrete) if concrete.possible() else _impossible(count, theory)
        return [
            np.asarray(x, like.dtype)
            for x, like in zip(jax.tree_util.tree_leaves(found), template, strict=True)
        ]

    template, of_result = jax.tree_util.tree_flatten(_impossible(count, theory))
    if is_traced(known):
        shapes = [shaped(x.shape, x.dtype) for x in template]
        values = jax.pure_callback(solved, shapes, *known, vmap_method="sequential")
    else:
        values = solved(*known)
    found: NaturalFrequencies = jax.tree_util.tree_unflatten(of_result, values)
    modes = [jnp.asarray(x) for x in (found.omega, found.group, found.multiplicity)]
    return dataclasses.replace(found, omega=_differentiable(structure, theory, leaves, modes))


def _concrete(structure: Any, values: Any) -> Any:
    """The arm of values that are arrays of NumPy or JAX."""
    return jax.tree_util.tree_unflatten(structure, [np.float64(np.asarray(x)) for x in values])


def _impossible(count: int, theory: TheoryName) -> NaturalFrequencies:
    """The result for an arm with a value that no arm may have."""
    numbers = np.arange(count)
    return NaturalFrequencies(
        omega=np.full(count, np.nan),
        status=np.full(count, int(Status.invalid_input), np.int64),
        count_below=numbers,
        count_above=numbers + 1,
        bracket=np.full((count, 2), np.nan),
        group=numbers,
        residual_ratio=np.full(count, np.nan),
        evaluations=np.asarray(0),
        theory=theory,
    )


@functools.partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def _differentiable(
    structure: Any, theory: TheoryName, leaves: list[Array], modes: list[Array]
) -> Array:
    """The frequencies, the first of ``modes``, unchanged, as a differentiable function of the leaves of the arm.

    The others are the first mode of the group of each, and how many there are in it.
    """
    return modes[0]


@_differentiable.defjvp
def _differentiable_jvp(
    structure: Any, theory: TheoryName, primals: Any, tangents: Any
) -> tuple[Array, Array]:
    leaves, modes = primals
    gradient = _gradients(structure, theory, leaves, modes)
    return modes[0], gradient @ jnp.stack(tangents[0])


@functools.partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def _gradients(
    structure: Any, theory: TheoryName, leaves: list[Array], modes: list[Array]
) -> Array:
    """The derivatives of the frequencies by the leaves, (K, leaves)."""
    size = (modes[0].shape[0], len(leaves))

    def gradients(modes: Any, values: Any) -> np.ndarray:
        arm = _concrete(structure, values)
        if not arm.possible():
            return np.full(size, np.nan)
        found: np.ndarray = arm.frequency_gradients(theory, *map(np.asarray, modes))
        return found

    given = to_host((modes, leaves))
    if is_traced(given):
        found: Array = jax.pure_callback(gradients, shaped(size), *given, vmap_method="sequential")
        return found
    return jnp.asarray(gradients(*given))


@_gradients.defjvp
def _no_second_derivatives(*_: Any) -> Any:
    raise TypeError(
        "second derivatives of the frequencies of an arm in space are not available: take differences of first ones, "
        "which jax.grad, jax.jacfwd and jaxmodal.sensitivities give exactly"
    )
