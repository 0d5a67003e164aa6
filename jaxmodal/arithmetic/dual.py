"""Dual numbers: NumPy arrays with derivatives along some directions (forward-mode differentiation).

``f(x + e) = f(x) + f'(x) e``: a formula is evaluated together with its derivatives, exactly, for real or complex
numbers and without compilation. The cost grows with the number of directions. Arrays of matrices are multiplied,
inverted and written into as those of NumPy.
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

    @property
    def T(self) -> Dual:
        """A matrix with rows and columns exchanged."""
        return self.swapaxes(-1, -2)

    def swapaxes(self, one: int, other: int) -> Dual:
        """Return the array with two axes exchanged."""
        one, other = one % self.ndim, other % self.ndim
        slopes = self._whole().swapaxes(one + 1, other + 1)
        return Dual(self.value.swapaxes(one, other), slopes)

    def reshape(self, *shape: int) -> Dual:
        """Return the array in another shape."""
        value = self.value.reshape(*shape)
        return Dual(value, self._whole().reshape(len(self.slopes), *value.shape))

    def astype(self, dtype: Any) -> Dual:
        """Return the numbers as those of another type."""
        return Dual(self.value.astype(dtype), self.slopes.astype(dtype))

    def copy(self) -> Dual:
        """Return a copy."""
        return Dual(self.value.copy(), self.slopes.copy())

    def along(self, which: np.ndarray) -> Dual:
        """Return the numbers with the derivatives in some of the directions alone."""
        return Dual(self.value, self.slopes[which])

    def among(self, which: np.ndarray, count: int) -> Dual:
        """Return the numbers with derivatives in ``count`` directions: its own in some of them, 0 in the others."""
        slopes = np.zeros((count, *self.shape), self.slopes.dtype)
        slopes[which] = self.slopes
        return Dual(self.value, slopes)

    def _whole(self) -> np.ndarray:
        """Return the derivatives in the shape (directions, *S)."""
        return np.broadcast_to(self.slopes, (len(self.slopes), *self.shape))

    def __getitem__(self, index: Any) -> Dual:
        index = index if isinstance(index, tuple) else (index,)
        return Dual(self.value[index], self._whole()[(slice(None), *index)])

    def __setitem__(self, index: Any, new: Any) -> None:
        index = index if isinstance(index, tuple) else (index,)
        value, slopes = _parts(new)
        if isinstance(slopes, np.ndarray):
            slopes = _expanded(slopes, self.value[index].ndim)
        if self.slopes.shape[1:] != self.shape or not self.slopes.flags.writeable:
            self.slopes = np.array(self._whole())
        self.value[index] = value
        self.slopes[(slice(None), *index)] = slopes

    def __iter__(self) -> Iterator[Dual]:
        return (self[k] for k in range(len(self.value)))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        # x += y is x = x + y, and x[...] += y writes that into x
        into = options.pop("out", (self,))
        if method != "__call__" or options or not isinstance(into[0], Dual):
            return NotImplemented
        if ufunc is np.matmul:
            return _matmul(*inputs)
        values = [value_of(x) for x in inputs]
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


def value_of(x: Any) -> Any:
    """Return the value of a dual number; other numbers as they are."""
    return x.value if isinstance(x, Dual) else x


def zeros(shape: tuple[int, ...], *like: Any) -> Any:
    """Return zeros to write into: of the kind of some numbers, real or complex, dual if one of them is dual."""
    dual = [x for x in like if isinstance(x, Dual)]
    kind = np.result_type(*map(value_of, like), *(x.slopes for x in dual))
    found = np.zeros(shape, kind)
    return Dual(found, np.zeros((len(dual[0].slopes), *shape), kind)) if dual else found


def solved(matrices: Any, inverse: np.ndarray, known: Any) -> Any:
    """Return x of ``(1 - B) x = known`` for matrices B, whose values have the ``inverse`` of 1 - B."""
    value = inverse @ value_of(known)
    right = [x.slopes for x in (known,) if isinstance(x, Dual)]
    if isinstance(matrices, Dual):
        right.append(_expanded(_square(matrices), value.ndim) @ value)
    return Dual(value, inverse @ sum(right)) if right else value


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
    np.power: lambda _, x, y: (y * x ** np.maximum(y - 1, 0), 0.0),  # whole numbers from 0
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


def _matmul(a: Any, b: Any) -> Dual:
    """Return products of matrices, the first of which may be a vector."""
    x, y = value_of(a), value_of(b)
    axes = max(np.ndim(x), np.ndim(y))
    total: Any = 0.0
    if isinstance(a, Dual):
        total = total + _expanded(_square(a), axes) @ y
    if isinstance(b, Dual):
        total = total + x @ _expanded(_square(b), axes)
    return Dual(x @ y, total)


def _square(x: Dual) -> np.ndarray:
    """Return the derivatives of matrices, whole along their last two axes."""
    return np.broadcast_to(x.slopes, (*x.slopes.shape[:-2], *x.shape[-2:]))


def _inv(x: Dual) -> Dual:
    value = np.linalg.inv(x.value)
    return Dual(value, -value @ _square(x) @ value)


def _det(x: Dual) -> Dual:
    left, values, right = np.linalg.svd(x.value)
    turned = np.linalg.det(left) * np.linalg.det(right)
    others = np.where(np.eye(values.shape[-1], dtype=bool), 1.0, values[..., None, :])
    # the cofactors, which a singular matrix has as well
    weights = turned[..., None, None] * np.prod(others, axis=-1)[..., None, :]
    cofactors = (right.conj().swapaxes(-1, -2) * weights) @ left.conj().swapaxes(-1, -2)
    slopes = np.sum(cofactors.swapaxes(-1, -2) * x._whole(), axis=(-1, -2))
    return Dual(np.linalg.det(x.value), slopes)


def _moveaxis(x: Dual, source: int, destination: int) -> Dual:
    source, destination = (k % x.ndim for k in (source, destination))
    slopes = np.moveaxis(x._whole(), source + 1, destination + 1)
    return Dual(np.moveaxis(x.value, source, destination), slopes)


def _tensordot(a: Any, b: Any, axes: int) -> Dual:
    """Return the sum of products over the last axis of a and the first of b."""
    x, (y, dy) = value_of(a), _parts(b)
    total: Any = 0.0
    if isinstance(a, Dual):
        total = total + np.tensordot(a._whole(), y, axes)
    if isinstance(dy, np.ndarray):
        total = total + np.moveaxis(np.tensordot(x, dy, (-1, 1)), np.ndim(x) - 1, 0)
    return Dual(np.tensordot(x, y, axes), total)


_FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.where: _where,
    np.stack: _stack,
    np.broadcast_to: _broadcast_to,
    np.any: lambda x: bool(x.value.any() or x.slopes.any()),
    np.ones_like: lambda x: np.ones(x.shape, x.dtype),
    np.zeros_like: lambda x: np.zeros(x.shape, x.dtype),
    np.linalg.inv: _inv,
    np.linalg.det: _det,
    np.moveaxis: _moveaxis,
    np.tensordot: _tensordot,
}
