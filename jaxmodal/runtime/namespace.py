"""One set of array functions for arrays of NumPy and of JAX: what a function gets decides which of the two computes.

Formulas written with `xp` are computed at once, without any compilation, where all their arguments are NumPy's, and
are traced and compiled where one is an array of JAX. Arrays that depend on no argument (constants, `numpy.arange`) are
NumPy's in both cases, so that they never decide.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


class OfNumpy:
    """Kinds of numbers on which the functions of NumPy work, by its protocols; with ``shape`` and ``dtype``."""

    __slots__ = ()


if TYPE_CHECKING:  # what the kinds have in common has no name that mypy knows
    Array: TypeAlias = Any
else:  # the tests check annotations by this one at every call: all that `xp` computes with
    Array = jax.Array | np.ndarray | np.generic | OfNumpy


_COMMON = frozenset((np.ndarray, np.float64, np.bool_, np.int64, float, int, bool, slice, str))
_OF_NUMPY = (OfNumpy, np.ndarray, np.generic, float, int, bool, str, slice, type, type(None))


def on_host(*values: Any) -> bool:
    """Whether none of the values, nor of the entries of lists and tuples among them, is an array of JAX."""
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
    """`on_host` of all leaves of pytrees."""
    return on_host(*jax.tree_util.tree_leaves(trees))


def is_traced(*trees: Any) -> bool:
    """Whether any leaf of the pytrees stands for a value that is not known yet (jit, vmap, grad)."""
    return any(isinstance(x, jax.core.Tracer) for x in jax.tree_util.tree_leaves(trees))


def to_host(tree: Any) -> Any:
    """A pytree with its concrete arrays as arrays of NumPy; traced ones stay."""
    return jax.tree_util.tree_map(
        lambda x: x if isinstance(x, jax.core.Tracer) else np.asarray(x)[()], tree
    )


def to_device(tree: Any) -> Any:
    """A pytree with its arrays as those of JAX, in one transfer, which compiles nothing; traced ones stay."""
    leaves, structure = jax.tree_util.tree_flatten(tree)
    known = [None if isinstance(x, jax.core.Tracer) else x for x in leaves]
    moved = [x if k is None else k for x, k in zip(leaves, jax.device_put(known), strict=True)]
    return jax.tree_util.tree_unflatten(structure, moved)


def unfilled(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """An array of NumPy for results, not filled yet, that `jax.device_put` on a CPU takes over where it lies.

    Others it copies, which takes as long as to fill them. Nothing may be written into it afterwards.
    """
    room = np.empty(math.prod(shape) * np.dtype(dtype).itemsize + _ALIGNED, np.uint8)
    first = -room.ctypes.data % _ALIGNED
    return room[first : room.size - _ALIGNED + first].view(dtype).reshape(shape)


#: bytes of which the address of an array that XLA takes over is a multiple
_ALIGNED = 64


def at_once(function: Callable[..., Any], *values: Any) -> Any:
    """``function(*values)``, of concrete arrays of JAX computed in NumPy, so that no program is compiled for it.

    The result is of the kind of the values: of NumPy, of JAX, or traced. What is not finite is no warning, as in JAX.
    """
    with np.errstate(all="ignore"):
        result = function(*to_host(values))
    return result if tree_on_host(values) else to_device(result)


def is_complex(x: Any) -> bool:
    """Whether an array, a traced one, too, or a number is complex."""
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
    """The 64 bits of float64 numbers as integers."""
    return (
        x.view(np.int64)
        if type(x) in _COMMON or on_host(x)
        else lax.bitcast_convert_type(x, jnp.int64)
    )


def from_bits(x: Any) -> Any:
    """Float64 numbers from their bits."""
    return (
        x.view(np.float64)
        if type(x) in _COMMON or on_host(x)
        else lax.bitcast_convert_type(x, jnp.float64)
    )


def take_first(tree: Any, index: Any) -> Any:
    """The entry at ``index`` of the first axis of every leaf."""
    if isinstance(tree, np.ndarray) and on_host(index):
        return tree[index]

    def entry(x: Any) -> Any:
        if on_host(x, index):
            return x[index]
        return lax.dynamic_index_in_dim(jnp.asarray(x), index, keepdims=False)

    return jax.tree_util.tree_map(entry, tree)


def repeat(start: int, stop: Any, body: Callable[[Any, Any], Any], state: Any, host: bool) -> Any:
    """`lax.fori_loop`, or where all that it works on is of the ``host``, the loop itself."""
    if not host:
        return lax.fori_loop(start, stop, body, state)
    for i in range(start, int(stop)):
        state = body(i, state)
    return state


def loop(goes_on: Callable[[Any], Any], body: Callable[[Any], Any], state: Any, host: bool) -> Any:
    """`lax.while_loop`, or where all that it works on is of the ``host``, the loop itself."""
    if not host:
        return lax.while_loop(goes_on, body, state)
    while goes_on(state):
        state = body(state)
    return state


def product(a: Any, b: Any) -> Any:
    """The product of two matrices, all digits of float64 on every device.

    NumPy adds up in one thread: the threads of a BLAS would be more than the cores, since callers have threads of
    their own, and their number would show in the last digits.
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
    """A copy of x with ``value`` added at an index (`numpy.s_`) in which no place comes twice."""
    if not on_host(x, value):
        return jnp.asarray(x).at[index].add(value)
    x = np.array(x)
    x[index] += value
    return x


def once(tree: Any) -> Any:
    """The values of a pytree, written to memory: XLA would compute them anew for every result that uses them."""
    return tree if tree_on_host(tree) else lax.optimization_barrier(tree)  # type: ignore[no-untyped-call]


def constant(tree: Any) -> Any:
    """`lax.stop_gradient`; an array of NumPy has no derivative and stays."""
    return jax.tree_util.tree_map(lambda x: x if on_host(x) else lax.stop_gradient(x), tree)


def mapped(function: Callable[..., Any], in_axes: Any = 0) -> Callable[..., Any]:
    """`jax.vmap` over first axes, or for arrays of NumPy one call after the other."""

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
