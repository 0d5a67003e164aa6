"""Newton's method held inside brackets: many zeros at once, in NumPy or traced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jaxmodal.runtime.namespace import Array, on_host, repeat, xp


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
