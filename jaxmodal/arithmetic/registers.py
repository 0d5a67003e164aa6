"""Float64 numbers inside a kernel: each is computed once and stays in a register.

For arrays, `arithmetic.keep` does this by a division that XLA cannot remove; a kernel needs none.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
from jax import Array


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Register:
    """A float64 array in a kernel, with the operators that formulas use; the other operand may be an array."""

    value: Array

    def __neg__(self) -> Register:
        return Register(-self.value)

    def __add__(self, other: Any) -> Register:
        return Register(self.value + bare(other))

    def __sub__(self, other: Any) -> Register:
        return Register(self.value - bare(other))

    def __rsub__(self, other: Any) -> Register:
        return Register(bare(other) - self.value)

    def __mul__(self, other: Any) -> Register:
        return Register(self.value * bare(other))

    def __truediv__(self, other: Any) -> Register:
        return Register(self.value / bare(other))

    def __rtruediv__(self, other: Any) -> Register:
        return Register(bare(other) / self.value)

    __radd__ = __add__
    __rmul__ = __mul__


def bare(x: Any) -> Any:
    """Return the array of a register; anything else unchanged."""
    return x.value if isinstance(x, Register) else x
