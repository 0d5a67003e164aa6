"""Callbacks from JAX programs into NumPy, with derivatives computed in NumPy."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from jaxmodal.runtime.array_types import Numbers

#: a value (...) of arrays, and, where the flag asks for them, its derivatives by each leaf, (..., shape of the leaf)
Solved: TypeAlias = Callable[[list[Numbers], bool], tuple[Numbers, list[Numbers]]]


def shaped(shape: tuple[int, ...], dtype: Any = np.float64) -> Any:
    """Return shape and type of the result of a callback."""
    make: Any = jax.ShapeDtypeStruct  # has no types
    return make(shape, dtype)


@functools.partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def in_numpy(solved: Solved, shape: tuple[int, ...], leaves: list[Any], others: list[Any]) -> Any:
    """Return the value, of the given shape, of ``solved`` for leaves and other arrays that may be traced.

    It is differentiable once by the leaves, in forward and reverse mode.
    """

    def value(*arrays: Any) -> Numbers:
        return solved([np.asarray(x) for x in arrays], False)[0]

    return jax.pure_callback(value, shaped(shape), *leaves, *others, vmap_method="sequential")


@in_numpy.defjvp
def _rates(solved: Solved, shape: tuple[int, ...], primals: Any, tangents: Any) -> tuple[Any, Any]:
    (leaves, others), (rates, _) = primals, tangents

    def both(*arrays: Any) -> tuple[Numbers, tuple[Numbers, ...]]:
        value, slopes = solved([np.asarray(x) for x in arrays], True)
        return value, tuple(slopes)

    shapes = shaped(shape), tuple(shaped((*shape, *x.shape)) for x in leaves)
    value, slopes = jax.pure_callback(both, shapes, *leaves, *others, vmap_method="sequential")
    parts = [jnp.tensordot(x, rate, rate.ndim) for x, rate in zip(slopes, rates, strict=True)]
    return value, sum(parts)
