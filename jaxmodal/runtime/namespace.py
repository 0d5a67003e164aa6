"""One set of array functions for NumPy and JAX; the types of the arguments select the library.

Formulas written with `xp` are computed immediately, without compilation, if all arguments are NumPy's, and are traced
and compiled if one is a JAX array. Arrays that depend on no argument (constants, `numpy.arange`) are NumPy arrays in
both cases, so that they do not influence the choice.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmodal.runtime.freed_memory import room


class OfNumpy:
    """Base class of number types that work with NumPy functions through its protocols; with ``shape`` and ``dtype``."""

    __slots__ = ()


if TYPE_CHECKING:  # what the kinds have in common has no name that mypy knows
    Array: TypeAlias = Any
else:  # the tests check annotations by this one at every call: all that `xp` computes with
    Array = jax.Array | np.ndarray | np.generic | OfNumpy


_COMMON = frozenset((np.ndarray, np.float64, np.bool_, np.int64, float, int, bool, slice, str))
_OF_NUMPY = (OfNumpy, np.ndarray, np.generic, float, int, bool, str, slice, type, type(None))


def on_host(*values: Any) -> bool:
    """Return True if no value, nor any entry of lists and tuples among them, is a JAX array."""
    for value in values:
        if type(value) in _COMMON:
            continue
        if isinstance(value, list | tuple):
            if not on_host(*value):
                return False
        elif not isinstance(value, _OF_NUMPY):
            return False
    return True


def tree_on_host(*trees: Any) -> bool:
    """Return `on_host` for all leaves of pytrees."""
    return on_host(*jax.tree_util.tree_leaves(trees))


def is_traced(*trees: Any) -> bool:
    """Return True if any leaf of the pytrees is traced (jit, vmap, grad)."""
    return any(isinstance(x, jax.core.Tracer) for x in jax.tree_util.tree_leaves(trees))


def to_host(tree: Any) -> Any:
    """Return a pytree with its concrete arrays as NumPy arrays; traced ones are kept."""
    return jax.tree_util.tree_map(
        lambda x: x if isinstance(x, jax.core.Tracer) else np.asarray(x)[()], tree
    )


def to_device(tree: Any) -> Any:
    """Return a pytree with its arrays as JAX arrays, in one transfer without compilation; traced ones are kept."""
    leaves, structure = jax.tree_util.tree_flatten(tree)
    known = [None if isinstance(x, jax.core.Tracer) else x for x in leaves]
    moved = [x if k is None else k for x, k in zip(leaves, jax.device_put(known), strict=True)]
    return jax.tree_util.tree_unflatten(structure, moved)


def unfilled(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Return an uninitialised NumPy array for results that `jax.device_put` on a CPU uses in place.

    Other arrays are copied, which takes as long as filling them. Do not write to the array after `jax.device_put`.
    """
    memory = room(math.prod(shape) * np.dtype(dtype).itemsize + _ALIGNED)
    first = -memory.ctypes.data % _ALIGNED
    return memory[first : memory.size - _ALIGNED + first].view(dtype).reshape(shape)


#: bytes of which the address of an array that XLA takes over is a multiple
_ALIGNED = 64


def at_once(function: Callable[..., Any], *values: Any) -> Any:
    """Return ``function(*values)``; concrete JAX arrays are computed in NumPy, so that no program is compiled.

    The result has the kind of the values: NumPy, JAX, or traced. Values that are not finite give no warning, as in JAX.
    """
    with np.errstate(all="ignore"):
        result = function(*to_host(values))
    return result if tree_on_host(values) else to_device(result)


def is_complex(x: Any) -> bool:
    """Return True if a number or an array, possibly traced, is complex."""
    return x.dtype.kind == "c" if hasattr(x, "dtype") else isinstance(x, complex)


class _Namespace:
    """``xp.name(...)`` is ``numpy.name`` or ``jax.numpy.name``."""

    inf = np.inf
    nan = np.nan

    def __init__(self, of_numpy: Any = np, of_jax: Any = jnp) -> None:
        self._of_numpy, self._of_jax = of_numpy, of_jax

    def __getattr__(self, name: str) -> Callable[..., Any]:
        of_numpy, of_jax = getattr(self._of_numpy, name), getattr(self._of_jax, name)

        def function(*values: Any, **options: Any) -> Any:
            for value in values:
                if type(value) not in _COMMON:
                    return (of_numpy if on_host(*values) else of_jax)(*values, **options)
            return of_numpy(*values, **options)

        setattr(self, name, function)
        return function


xp: Any = _Namespace()
linalg: Any = _Namespace(np.linalg, jnp.linalg)


def bits(x: Any) -> Any:
    """Return the 64 bits of float64 numbers as integers."""
    return (
        x.view(np.int64)
        if type(x) in _COMMON or on_host(x)
        else lax.bitcast_convert_type(x, jnp.int64)
    )


def from_bits(x: Any) -> Any:
    """Return float64 numbers from their bits."""
    return (
        x.view(np.float64)
        if type(x) in _COMMON or on_host(x)
        else lax.bitcast_convert_type(x, jnp.float64)
    )


def take_first(tree: Any, index: Any) -> Any:
    """Return the entry at ``index`` of the first axis of every leaf."""
    if isinstance(tree, np.ndarray) and on_host(index):
        return tree[index]

    def entry(x: Any) -> Any:
        if on_host(x, index):
            return x[index]
        return lax.dynamic_index_in_dim(jnp.asarray(x), index, keepdims=False)

    return jax.tree_util.tree_map(entry, tree)


def repeat(start: int, stop: Any, body: Callable[[Any, Any], Any], state: Any, host: bool) -> Any:
    """Run `lax.fori_loop`, or a Python loop if ``host`` is True (all values are NumPy's)."""
    if not host:
        return lax.fori_loop(start, stop, body, state)
    for i in range(start, int(stop)):
        state = body(i, state)
    return state


def loop(goes_on: Callable[[Any], Any], body: Callable[[Any], Any], state: Any, host: bool) -> Any:
    """Run `lax.while_loop`, or a Python loop if ``host`` is True (all values are NumPy's)."""
    if not host:
        return lax.while_loop(goes_on, body, state)
    while goes_on(state):
        state = body(state)
    return state


def product(a: Any, b: Any) -> Any:
    """Return the product of two matrices in full float64 precision on every device.

    NumPy sums in one thread. BLAS threads would oversubscribe the cores, because callers have threads of their own, and
    their number would change the last digits.
    """
    if on_host(
        a, b
    ):  # a column has the same bits beside others as alone, which einsum adds up otherwise
        b = np.ascontiguousarray(b)
        return np.einsum("ij,jk->ik", a, b if b.shape[1] != 1 else b.repeat(2, axis=1))[
            :, : b.shape[1]
        ]
    return jnp.matmul(a, b, precision=lax.Precision.HIGHEST)


def cummax(x: Any) -> Any:
    """Return the cumulative maximum of a vector."""
    return np.maximum.accumulate(x) if on_host(x) else lax.cummax(x)


def placed(x: Any, index: Any, value: Any) -> Any:
    """Return a copy of x with ``value`` at an index (`numpy.s_`)."""
    if not on_host(x, value):
        return jnp.asarray(x).at[index].set(value)
    x = np.array(x)
    x[index] = value
    return x


def added(x: Any, index: Any, value: Any) -> Any:
    """Return a copy of x with ``value`` added at an index (`numpy.s_`) without repeated entries."""
    if not on_host(x, value):
        return jnp.asarray(x).at[index].add(value)
    x = np.array(x)
    x[index] += value
    return x


def once(tree: Any) -> Any:
    """Return the values of a pytree, written to memory; XLA would recompute them for every result that uses them."""
    return tree if tree_on_host(tree) else lax.optimization_barrier(tree)  # type: ignore[no-untyped-call]


def constant(tree: Any) -> Any:
    """Apply `lax.stop_gradient`; NumPy arrays have no derivative and are kept."""
    return jax.tree_util.tree_map(lambda x: x if on_host(x) else lax.stop_gradient(x), tree)


def mapped(function: Callable[..., Any], in_axes: Any = 0) -> Callable[..., Any]:
    """Apply `jax.vmap` over first axes; for NumPy arrays, call the function once per entry."""

    def over_first_axis(*values: Any) -> Any:
        if not tree_on_host(values):
            return jax.vmap(function, in_axes)(*values)
        axes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(values)
        first = next(v for v, axis in zip(values, axes, strict=True) if axis is not None)
        results = [
            function(
                *(
                    value if axis is None else take_first(value, k)
                    for value, axis in zip(values, axes, strict=True)
                )
            )
            for k in range(len(jax.tree_util.tree_leaves(first)[0]))
        ]
        return jax.tree_util.tree_map(lambda *x: np.stack(x), *results)

    return over_first_axis
