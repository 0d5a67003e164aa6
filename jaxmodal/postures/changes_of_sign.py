"""Between which separators the determinant of each cell changes its sign, and whether all of these signs are certain.

Values are of shape (separators, cells), as many inside each panel. Errors are those of panels, (P, cells or 1); the
value at the last separator has a bound of its own, (1, cells or 1).
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from jaxmodal.runtime.namespace import once

#: intervals whose changes of sign are the bits of one word
_WORD = 64
#: separators that are read in one step: a quarter of the steps, each little longer
_AT_ONCE = 4


def signs_on_host(
    values: np.ndarray, error: np.ndarray, weakest: np.ndarray, modes: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As `signs_of`, in NumPy."""
    negative = values < 0.0
    cell, place = np.nonzero((negative[1:] != negative[:-1]).T)
    number = np.bincount(cell, minlength=values.shape[1])
    rank = np.arange(cell.size) - (np.cumsum(number) - number)[cell]
    first = rank < modes
    interval = np.full((modes, values.shape[1]), values.shape[0] - 2)
    interval[rank[first], cell[first]] = place[first]
    size = np.abs(values)
    inner = size[1:-1].reshape(error.shape[0], -1, values.shape[1])
    clear = (size[0] >= error[0]) & (size[-1] >= weakest[0])
    clear &= np.all(np.min(inner, axis=1) >= error, axis=0)
    return number.astype(np.float64), interval, clear


def signs_of(values: Array, error: Array, weakest: Array, modes: int) -> tuple[Array, Array, Array]:
    """How often the values of every cell change their sign, the intervals, and whether all signs are certain.

    The intervals are the first in which they do, (modes, cells); the last one stands where there are fewer.
    """
    words, clear = once(_words(values, error, weakest))
    number = jnp.sum(lax.population_count(words), axis=0).astype(jnp.float64)
    return number, jnp.minimum(_first_bits(words, modes), values.shape[0] - 2), clear


def _words(values: Array, error: Array, weakest: Array) -> tuple[Array, Array]:
    """Bit i of word w, shape (W, cells): the sign differs between the rows 64 w + i and the next; and what is certain.

    Each value is read once.
    """
    last, cells, panels = values.shape[0] - 1, values.shape[1], error.shape[0]
    # the first separator counts to the first panel
    inner = np.repeat(np.arange(panels), (last - 1) // panels)
    panel = jnp.asarray(np.concatenate([[0], inner, [panels]]).astype(np.int32))
    errors = jnp.concatenate([error, weakest])
    first = jnp.arange(-(-last // _WORD), dtype=jnp.int32) * _WORD

    def read(rows: Array) -> tuple[Array, Array]:
        found = values[rows]
        return found < 0.0, jnp.abs(found) >= errors[panel[rows]]

    def step(i: Array, state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        words, before, clear = state
        negative, certain = read(jnp.minimum(first + (i + 1), last))
        bit = jnp.left_shift(jnp.uint64(1), i.astype(jnp.uint64))
        words |= jnp.where(negative != before, bit, jnp.uint64(0))
        return words, negative, clear & certain

    none = jnp.zeros((first.size, cells), jnp.uint64)
    words, _, clear = lax.fori_loop(0, _WORD, step, (none, *read(first)), unroll=_AT_ONCE)
    return words, jnp.all(clear, axis=0)


def _first_bits(words: Array, number: int) -> Array:
    """Positions of the lowest bits that are set, shape (number, cells); the last position where there are fewer."""
    one, last = jnp.uint64(1), words.shape[0] - 1

    def step(words: tuple[Array, ...], _: None) -> tuple[tuple[Array, ...], Array]:
        word, at = words[last], jnp.full(words[last].shape, last, jnp.int32)
        for i in reversed(range(last)):
            some = words[i] != 0
            word, at = jnp.where(some, words[i], word), jnp.where(some, i, at)
        lowest = word & (~word + one)
        bit = lax.population_count(lowest - one).astype(jnp.int32)
        left = tuple(jnp.where(at == i, w ^ lowest, w) for i, w in enumerate(words))
        return left, jnp.minimum(_WORD * at + bit, _WORD * (last + 1) - 1)

    return lax.scan(step, tuple(words), None, length=number)[1]
