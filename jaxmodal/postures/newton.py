"""Newton's method held inside brackets: many zeros at once, in NumPy or traced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jaxmodal.runtime.namespace import Array, on_host, repeat, xp

#: a value below this share of the polynomial's size may be a touching zero, or one beyond an end: counts prove it
_TOUCHING = 1e-6
#: steps to a zero that crosses: halving alone takes 53 to the last digit of an angle
_ROUNDS = 60


def zeros_in_brackets(
    value: Callable[[Array], Array],
    slope: Callable[[Array], Array],
    low: Array,
    high: Array,
    low_value: Array,
    start: Array,
    steps: int,
) -> Array:
    """Newton's steps from ``start`` that never leave the bracket, and halve it where they would.

    ``low_value`` is the value at the lower ends; arrays have one shape.
    """

    def step(_: Any, state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        low, high, x = state
        found = value(x)
        left = (found < 0.0) == (low_value < 0.0)
        low, high = xp.where(left, x, low), xp.where(left, high, x)
        newton = x - found / slope(x)
        inside = (newton >= low) & (newton <= high)
        return low, high, xp.where(inside, newton, 0.5 * (low + high))

    with np.errstate(divide="ignore", invalid="ignore"):
        return repeat(0, steps, step, (low, high, start), on_host(low, high, low_value, start))[2]


def zeros_next_to(
    near: np.ndarray,
    before: np.ndarray,
    after: np.ndarray,
    value: Callable[[np.ndarray], np.ndarray],
    slope: Callable[[np.ndarray], np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """Zeros of a polynomial of size 1 next to candidates, NaN where there is none, and which cross zero; some touch it.

    ``before`` and ``after`` are the ends of the interval of each candidate.
    """
    low_value = value(before)
    crossing = (low_value < 0.0) != (value(after) < 0.0)
    crossed = zeros_in_brackets(value, slope, before, after, low_value, near, _ROUNDS)
    touching = (np.abs(value(near)) < _TOUCHING) & ~crossing
    return np.where(crossing, crossed, np.where(touching, near, np.nan)), crossing
