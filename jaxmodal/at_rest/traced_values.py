"""Functions of arms at rest for traced values, for optimisation: computed in NumPy, their derivatives handed to JAX."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
#: a value (...) of leaves, and, where the flag asks for them, its derivatives by each leaf, (..., shape of the leaf)
Solved = Callable[[list[NDArray[Any]], bool], tuple[Floats, list[Floats]]]


@functools.partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def in_numpy(solved: Solved, shape: tuple[int, ...], leaves: list[Any]) -> Any:
    """The value, of a shape, that ``solved`` has of leaves that may be traced; differentiable once."""

    def value(*arrays: Any) -> Floats:
        return solved([np.asarray(x) for x in arrays], False)[0]

    return jax.pure_callback(value, _shape(*shape), *leaves, vmap_method="sequential")


@in_numpy.defjvp
def _rates(solved: Solved, shape: tuple[int, ...], primals: Any, tangents: Any) -> tuple[Any, Any]:
    (leaves,), (rates,) = primals, tangents

    def both(*arrays: Any) -> tuple[Floats, tuple[Floats, ...]]:
        value, slopes = solved([np.asarray(x) for x in arrays], True)
        return value, tuple(slopes)

    shapes = (_shape(*shape), tuple(_shape(*shape, *x.shape) for x in leaves))
    value, gradient = jax.pure_callback(both, shapes, *leaves, vmap_method="sequential")
    parts = [jnp.tensordot(g, rate, rate.ndim) for g, rate in zip(gradient, rates, strict=True)]
    return value, sum(parts)


def _shape(*sizes: int) -> Any:
    make: Any = jax.ShapeDtypeStruct  # has no types
    return make(sizes, np.float64)
