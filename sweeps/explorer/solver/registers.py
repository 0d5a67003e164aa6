"""Numbers of a tape in arrays of NumPy: formulas of the library that are written with arrays write the tape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sweeps.explorer.solver.tapes import Tape


class Register:
    """A number of a tape.

    Products with the constants 0, 1 and -1 and sums with 0 need no operation: most entries of matrices of geometry
    are such. A quotient by zero is one by a tiny number, 0 if its numerator is.
    """

    def __init__(self, tape: Tape, place: int) -> None:
        self.tape, self.place = tape, place

    def _made(self, name: str, *operands: Any) -> Register:
        return Register(
            self.tape, self.tape.operation(name, *(placed(self.tape, x) for x in operands))
        )

    def __neg__(self) -> Register:
        return self._made("negative", self)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        return self if _is(other, 0.0) else self._made("add", self, other)

    def __radd__(self, other: Any) -> Any:
        return self if _is(other, 0.0) else self._made("add", other, self)

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        return self if _is(other, 0.0) else self._made("subtract", self, other)

    def __rsub__(self, other: Any) -> Any:
        return -self if _is(other, 0.0) else self._made("subtract", other, self)

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        if _is(other, 0.0):
            return 0.0
        if _is(other, 1.0):
            return self
        return -self if _is(other, -1.0) else self._made("multiply", self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        if _is(other, 1.0):
            return self
        return self._made("divide", self, self._made("nonzero", other))

    def __rtruediv__(self, other: Any) -> Any:
        return 0.0 if _is(other, 0.0) else self._made("divide", other, self._made("nonzero", self))

    def __pow__(self, power: int) -> Any:
        found: Any = 1.0
        for _ in range(power):
            found = self * found
        return found

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *given: Any, **options: Any) -> Any:
        """As a number of an array; it counts as finite, whatever values it will have."""
        if ufunc in (np.isfinite, np.isinf):
            return ufunc is np.isfinite
        arrays = [np.array(x, object) if isinstance(x, Register) else x for x in given]
        return getattr(ufunc, method)(*arrays, **options)

    @property
    def real(self) -> Register:
        return self

    def sqrt(self) -> Register:
        return self._made("root", self)

    def sin(self) -> Register:
        return self._made("sine", self)

    def cos(self) -> Register:
        return self._made("cosine", self)

    def unless_zero(self, other: float) -> Register:
        """Return the number, or another where it is zero."""
        return self._made("where", self._made("equal", self, 0.0), other, self)


def _is(value: Any, constant: float) -> bool:
    return not isinstance(value, Register) and float(value) == constant


def placed(tape: Tape, value: Any) -> int:
    """Return the place of a register, or of the constant that a number is."""
    return value.place if isinstance(value, Register) else tape.constant(float(value))


def tape_of_arrays(
    function: Callable[[list[Register]], Sequence[Any]], num_inputs: int
) -> dict[str, Any]:
    """Return the tape of a function from registers to numbers, written for arrays of NumPy."""
    tape = Tape(num_inputs)
    found = function([Register(tape, k) for k in range(num_inputs)])
    return tape.written([(placed(tape, x), 1.0) for x in found])
