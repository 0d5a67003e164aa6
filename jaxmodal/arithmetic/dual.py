"""Dual numbers: NumPy arrays with derivatives along some directions (forward-mode differentiation).

``f(x + e) = f(x) + f'(x) e``: a formula is evaluated together with its derivatives, exactly, for real or complex
numbers and without compilation. The cost grows with the number of directions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from jaxmodal.runtime.namespace import OfNumpy


class Dual(np.lib.mixins.NDArrayOperatorsMixin, OfNumpy):
    """A value with its derivatives.

    Parameters
    ----------
    value
        Array of shape S.
    slopes
        Derivatives, in a shape that broadcasts to (directions, *S).
    """

    __slots__ = ("slopes", "value")

    def __init__(self, value: Any, slopes: Any) -> None:
        self.value = np.asarray(value)
        # of as many axes as the value and one for the directions, so that both broadcast alike
        missing = self.value.ndim + 1 - slopes.ndim
        self.slopes = slopes.reshape(slopes.shape[:1] + (1,) * missing + slopes.shape[1:])

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the value."""
        return self.value.shape

    @property
    def ndim(self) -> int:
        """Number of axes of the value."""
        return self.value.ndim

    @property
    def size(self) -> int:
        """Number of values."""
        return self.value.size

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the value."""
        return self.value.dtype

    @property
    def real(self) -> Dual:
        """The real part."""
        return Dual(self.value.real, self.slopes.real)

    @property
    def imag(self) -> Dual:
        """The imaginary part."""
        return Dual(self.value.imag, self.slopes.imag)

    def __getitem__(self, index: Any) -> Dual:
        index = index if isinstance(index, tuple) else (index,)
        slopes = np.broadcast_to(self.slopes, (len(self.slopes), *self.shape))
        return Dual(self.value[index], slopes[(slice(None), *index)])

    def __iter__(self) -> Iterator[Dual]:
        return (self[k] for k in range(len(self.value)))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options:
            return NotImplemented
        values = [x.value if isinstance(x, Dual) else x for x in inputs]
        if ufunc in _PLAIN:
            return ufunc(*values)
        rule = _RULES.get(ufunc)
        if rule is None:
            return NotImplemented
        value = ufunc(*values)
        total: Any = 0.0
        for x, factor in zip(inputs, rule(value, *values), strict=True):
            if isinstance(x, Dual):
                total = total + _expanded(x.slopes, np.ndim(value)) * factor
        return Dual(value, total)

    def __array_function__(
        self, function: Callable[..., Any], types: Any, inputs: Any, options: Any
    ) -> Any:
        if function in _FUNCTIONS:
            return _FUNCTIONS[function](*inputs, **options)
        if function in (np.ndim, np.shape, np.size):
            return getattr(self, function.__name__)
        return NotImplemented


def _expanded(slopes: np.ndarray, ndim: int) -> np.ndarray:
    """Return slopes with the axis of directions followed by ``ndim`` axes."""
    return slopes.reshape(slopes.shape[:1] + (1,) * (ndim + 1 - slopes.ndim) + slopes.shape[1:])


#: what depends on values alone
_PLAIN = frozenset((np.less, np.greater, np.greater_equal, np.equal, np.isinf, np.isfinite))
#: derivatives by each argument, from the value and the arguments
_RULES: dict[np.ufunc, Callable[..., tuple[Any, ...]]] = {
    np.add: lambda _, x, y: (1.0, 1.0),
    np.subtract: lambda _, x, y: (1.0, -1.0),
    np.multiply: lambda _, x, y: (y, x),
    np.divide: lambda z, x, y: (1.0 / y, -z / y),
    np.negative: lambda _, x: (-1.0,),
    np.sqrt: lambda z, x: (0.5 / z,),
    np.exp: lambda z, x: (z,),
    np.expm1: lambda z, x: (z + 1.0,),
    np.sin: lambda _, x: (np.cos(x),),
    np.cos: lambda _, x: (-np.sin(x),),
    np.absolute: lambda _, x: (np.sign(x),),  # of real numbers
}


def _parts(x: Any) -> tuple[Any, Any]:
    """Return the value and the slopes; 0 for numbers without slopes."""
    return (x.value, x.slopes) if isinstance(x, Dual) else (x, 0.0)


def _where(condition: Any, x: Any, y: Any) -> Dual:
    (a, da), (b, db) = _parts(x), _parts(y)
    value = np.where(condition, a, b)
    da, db = (_expanded(d, value.ndim) if isinstance(d, np.ndarray) else d for d in (da, db))
    return Dual(value, np.where(condition, da, db))


def _stack(arrays: Sequence[Any], axis: int = 0) -> Dual:
    first = next(x for x in arrays if isinstance(x, Dual))
    slopes = []
    for x in arrays:
        value, d = _parts(x)
        full = (len(first.slopes), *np.shape(value))
        slopes.append(np.broadcast_to(d, full))
    return Dual(np.stack([_parts(x)[0] for x in arrays], axis), np.stack(slopes, axis + 1))


def _broadcast_to(x: Dual, shape: tuple[int, ...]) -> Dual:
    slopes = _expanded(x.slopes, len(shape))
    return Dual(np.broadcast_to(x.value, shape), np.broadcast_to(slopes, (len(slopes), *shape)))


_FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.where: _where,
    np.stack: _stack,
    np.broadcast_to: _broadcast_to,
    np.any: lambda x: bool(x.value.any() or x.slopes.any()),
    np.ones_like: lambda x: np.ones(x.shape, x.dtype),
    np.zeros_like: lambda x: np.zeros(x.shape, x.dtype),
}
