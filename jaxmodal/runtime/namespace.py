"""One set of array functions for arrays of JAX and of NumPy: what a function gets decides which of the two computes.

Formulas written with `xp` are traced and compiled where an argument is an array of JAX, and computed at once, without
any compilation, where all are NumPy's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

_HOST = (np.ndarray, np.generic, float, int, bool, str, type, type(None))


def on_host(*values: Any) -> bool:
    """Whether none of the values is an array of JAX, or traced."""
    return all(
        isinstance(x, _HOST) or (isinstance(x, list | tuple) and on_host(*x)) for x in values
    )


class _Namespace:
    """``xp.name(...)`` is ``numpy.name`` or ``jax.numpy.name``."""

    inf = np.inf
    nan = np.nan

    def __init__(self, of_numpy: Any = np, of_jax: Any = jnp) -> None:
        self._of_numpy, self._of_jax = of_numpy, of_jax

    def __getattr__(self, name: str) -> Callable[..., Any]:
        of_numpy, of_jax = getattr(self._of_numpy, name), getattr(self._of_jax, name)

        def function(*values: Any, **options: Any) -> Any:
            return (of_numpy if on_host(*values) else of_jax)(*values, **options)

        setattr(self, name, function)
        return function


xp: Any = _Namespace()


def bits(x: Any) -> Any:
    """The 64 bits of float64 numbers as integers."""
    return x.view(np.int64) if on_host(x) else lax.bitcast_convert_type(x, jnp.int64)


def from_bits(x: Any) -> Any:
    """Float64 numbers from their bits."""
    return x.view(np.float64) if on_host(x) else lax.bitcast_convert_type(x, jnp.float64)


def repeat(start: Any, stop: Any, body: Callable[[Any, Any], Any], state: Any, host: bool) -> Any:
    """``lax.fori_loop``, or the loop itself on the ``host``."""
    if not host:
        return lax.fori_loop(start, stop, body, state)
    for i in range(start, int(stop)):
        state = body(i, state)
    return state


def loop(goes_on: Callable[[Any], Any], body: Callable[[Any], Any], state: Any, host: bool) -> Any:
    """``lax.while_loop``, or the loop itself on the ``host``."""
    if not host:
        return lax.while_loop(goes_on, body, state)
    while goes_on(state):
        state = body(state)
    return state


def cummax(x: Any) -> Any:
    """The largest of the entries so far, of a vector."""
    return np.maximum.accumulate(x) if on_host(x) else lax.cummax(x)


def placed(x: Any, index: Any, value: Any) -> Any:
    """A copy of x with ``value`` at an index (`numpy.s_`)."""
    if not on_host(x, value):
        return jnp.asarray(x).at[index].set(value)
    x = np.array(x)
    x[index] = value
    return x


def added(x: Any, index: Any, value: Any) -> Any:
    """A copy of x with ``value`` added at an index (`numpy.s_`), in which no place comes twice."""
    if not on_host(x, value):
        return jnp.asarray(x).at[index].add(value)
    x = np.array(x)
    x[index] += value
    return x


def constant(x: Any) -> Any:
    """`lax.stop_gradient` of a tree of arrays."""
    leaves, structure = jax.tree_util.tree_flatten(x)
    return structure.unflatten([v if on_host(v) else lax.stop_gradient(v) for v in leaves])


def vmap(function: Callable[..., Any], in_axes: Any = 0) -> Callable[..., Any]:
    """``jax.vmap`` over first axes, or one call after the other on the host."""

    def mapped(*values: Any) -> Any:
        if not on_host(*jax.tree_util.tree_leaves(values)):
            return jax.vmap(function, in_axes)(*values)
        axes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(values)
        first = next(v for v, axis in zip(values, axes, strict=True) if axis is not None)
        calls = [
            function(
                *(
                    v if axis is None else jax.tree_util.tree_map(lambda x, k=k: x[k], v)
                    for v, axis in zip(values, axes, strict=True)
                )
            )
            for k in range(len(jax.tree_util.tree_leaves(first)[0]))
        ]
        return jax.tree_util.tree_map(lambda *x: np.stack(x), *calls)

    return mapped


linalg: Any = _Namespace(np.linalg, jnp.linalg)
