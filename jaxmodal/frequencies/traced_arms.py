"""Natural frequencies of arms in space with traced values, solved in NumPy inside a program or outside.

Derivatives are computed from the modes, not by differentiating the search.
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
    """Return the ``count`` lowest frequencies of an arm with traced values.

    Parameters
    ----------
    solve : callable
        Solves a concrete arm in NumPy.

    Returns
    -------
    NaturalFrequencies
        Under jit and vmap computed by a callback into NumPy for each cell; under grad alone computed immediately.
        ``omega`` has first derivatives; members of a repeated frequency have those of its mean. An invalid value gives
        NaN and `Status.invalid_input`.
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
    """Return the arm with concrete values, given as NumPy or JAX arrays."""
    return jax.tree_util.tree_unflatten(structure, [np.float64(np.asarray(x)) for x in values])


def _impossible(count: int, theory: TheoryName) -> NaturalFrequencies:
    """Return the result for an arm with an invalid value."""
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
    """Return the frequencies, ``modes[0]``, as a differentiable function of the leaves of the arm.

    The other two entries of ``modes`` are the first mode of each mode's group, and the size of the group.
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
    """Return the derivatives of the frequencies by the leaves, (K, leaves)."""
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
        "second derivatives of the frequencies of an arm in space are not available; take differences of the first "
        "derivatives, which jax.grad, jax.jacfwd and jaxmodal.sensitivities compute exactly"
    )
