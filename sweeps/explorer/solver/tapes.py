"""Tapes: straight-line programs as lists of numbers, which the page runs in float64 or in double-double.

There are two writers. `tape_of_formula` records a formula of the engine, as for NumPy and XLA. `tape_of_function`
traces a function of arrays with JAX (from the fields of an arm to its constants, the count of a link) and reduces it
to operations on single numbers.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from jaxmodal.arithmetic.programs import recorded
from jaxmodal.runtime.errors import ArmError

#: operations of tapes; the index of each is its code
OPERATIONS = (
    *("add", "subtract", "multiply", "divide", "sqrt", "select", "nonzero"),
    *("where", "less", "less_equal", "equal", "and", "or", "xor", "not"),
    *("negative", "absolute", "sign", "floor", "is_finite", "maximum", "minimum", "root", "sine", "cosine"),
    *("quotient", "power", "arctangent", "exponential"),
)  # fmt: skip
#: JAX primitives that act on single numbers, and their operations
_PRIMITIVES = {
    "add": "add",
    "add_any": "add",
    "sub": "subtract",
    "mul": "multiply",
    "div": "quotient",
    "lt": "less",
    "le": "less_equal",
    "eq": "equal",
    "and": "and",
    "or": "or",
    "xor": "xor",
    "not": "not",
    "neg": "negative",
    "abs": "absolute",
    "sign": "sign",
    "floor": "floor",
    "is_finite": "is_finite",
    "max": "maximum",
    "min": "minimum",
    "sqrt": "root",
    "sin": "sine",
    "cos": "cosine",
    "pow": "power",
    "atan": "arctangent",
    "exp": "exponential",
}
#: JAX primitives that leave numbers unchanged
_SAME = ("convert_element_type", "copy", "stop_gradient", "copy_p")
#: JAX primitives that only rearrange numbers; JAX applies them to register numbers
_MOVES = (
    *("broadcast_in_dim", "reshape", "squeeze", "slice", "concatenate", "transpose", "rev", "pad"),
    *("expand_dims", "stack", "tile"),
)


class Tape:
    """Operations on registers: first the inputs, then constants and results in order; equal ones share a register."""

    def __init__(self, num_inputs: int) -> None:
        self.num_inputs = num_inputs
        self.constants: dict[int, float] = {}
        self.operations: list[tuple[int, int, tuple[int, ...]]] = []
        self.size = num_inputs
        self._known: dict[Any, int] = {}
        self._made: dict[int, tuple[str, tuple[int, ...]]] = {}

    def constant(self, value: float) -> int:
        """Return the register of a constant."""
        key = float(value).hex()
        if key not in self._known:
            self._known[key] = self.size
            self.constants[self.size] = float(value)
            self.size += 1
        return self._known[key]

    def operation(self, name: str, *operands: int) -> int:
        """Return the register of the result of an operation."""
        key = (name, *operands)
        if key not in self._known:
            self._known[key] = self.size
            self.operations.append((OPERATIONS.index(name), self.size, operands))
            self._made[self.size] = name, operands
            self.size += 1
        return self._known[key]

    def known_value(self, register: int) -> float:
        """Return the value of a register that depends only on constants (indices, which JAX may count from the end)."""
        if register in self.constants:
            return self.constants[register]
        name, operands = self._made[register]
        values = [self.known_value(k) for k in operands]
        if name == "where":
            return values[1] if values[0] else values[2]
        return {"add": values[0] + values[1], "less": float(values[0] < values[1])}[name]

    def written(self, outputs: Sequence[tuple[int, float]]) -> dict[str, Any]:
        """Return the tape as values for JSON, without operations that no output needs."""
        needed = {register for register, _ in outputs}
        kept = []
        for operation, result, operands in reversed(self.operations):
            if result in needed:
                needed.update(operands)
                kept.append((operation, result, operands))
        place = {k: k for k in range(self.num_inputs)}
        for k in (k for k in self.constants if k in needed):
            place[k] = len(place)
        constants = [number(x) for k, x in self.constants.items() if k in needed]
        code: list[int] = []
        for operation, result, operands in reversed(kept):
            place[result] = len(place)
            three = [*(place[k] for k in operands), 0, 0][:3]
            code += [operation, place[result], *three]
        return {
            "inputs": self.num_inputs,
            "constants": constants,
            "size": len(place),
            "code": code,
            "outputs": [place[k] for k, _ in outputs],
            "signs": [int(sign) for _, sign in outputs],
        }


def number(value: float) -> float | str:
    """Return a number as JSON holds it; NaN and infinities as text."""
    x = float(value)
    if math.isfinite(x):
        return x
    return "NaN" if math.isnan(x) else "Infinity" if x > 0 else "-Infinity"


@functools.cache
def tape_of_formula(
    formula: Callable[..., Sequence[Any]], num_inputs: int, in_float64: bool
) -> dict[str, Any]:
    """Return the tape of a formula that `jaxmodal.arithmetic.programs` records."""
    nodes, outputs, _ = recorded(formula, num_inputs, in_float64)
    tape = Tape(num_inputs)
    register: dict[int, int] = {}
    for k, (kind, arguments, value) in enumerate(nodes):
        operands = [register[j] for j in arguments]
        if kind == "input":
            register[k] = int(value)
        elif kind == "constant":
            register[k] = tape.constant(value)
        else:
            name = "subtract" if kind == "add" and value < 0.0 else kind
            register[k] = tape.operation(name, *operands)
    return tape.written([(register[o.index], o.sign) for o in outputs])


def tape_of_function(function: Callable[..., Any], num_inputs: int) -> dict[str, Any]:
    """Return the tape of a function of numbers that returns a sequence of numbers and arrays.

    Raises
    ------
    ArmError
        The function uses an operation that tapes lack.
    """
    closed = jax.make_jaxpr(function)(*(np.float64(1.0),) * num_inputs)
    tape = Tape(num_inputs)
    inputs = [np.array(k, object) for k in range(num_inputs)]
    outputs = _worked_off(tape, closed.jaxpr, closed.consts, inputs)
    return tape.written([(int(k), 1.0) for x in outputs for k in np.ravel(x)])


def _registers(tape: Tape, value: Any) -> np.ndarray:
    """Return the registers of an array of constants."""
    given = np.asarray(value)
    found = np.empty(given.shape, object)
    for place in np.ndindex(given.shape):
        found[place] = tape.constant(float(given[place]))
    return found


def _worked_off(tape: Tape, jaxpr: Any, consts: Sequence[Any], inputs: list[Any]) -> list[Any]:
    """Return the registers of the outputs of a traced JAX function."""
    known: dict[Any, np.ndarray] = dict(zip(jaxpr.invars, inputs, strict=True))
    known |= {v: _registers(tape, x) for v, x in zip(jaxpr.constvars, consts, strict=True)}

    def read(atom: Any) -> np.ndarray:
        return _registers(tape, atom.val) if hasattr(atom, "val") else known[atom]

    for equation in jaxpr.eqns:
        x = [read(atom) for atom in equation.invars]
        found = _applied(tape, equation, x)
        known.update(zip(equation.outvars, found, strict=True))
    return [read(atom) for atom in jaxpr.outvars]


def _applied(tape: Tape, equation: Any, x: list[np.ndarray]) -> list[np.ndarray]:
    """Return the results of one JAX primitive on arrays of registers."""
    name, given = equation.primitive.name, equation.params
    if given.get("name") == "solve":
        return [_solved(tape, *x)]
    inner = given.get("jaxpr", given.get("call_jaxpr"))
    if inner is not None:
        return _worked_off(tape, getattr(inner, "jaxpr", inner), getattr(inner, "consts", ()), x)
    if name in _SAME:
        return [x[0]]
    if name == "iota":
        return [_registers(tape, equation.primitive.bind(**given))]
    if name in _MOVES:
        return [_moved(equation, x)]
    if name == "gather":
        return [_gathered(tape, equation, *x)]
    if name == "select_n":  # two cases; the second where the condition holds
        return [_elementwise(tape, "where", x[0], x[2], x[1])]
    if name == "ne":
        return [_elementwise(tape, "not", _elementwise(tape, "equal", *x))]
    if name in ("gt", "ge"):
        return [_elementwise(tape, {"gt": "less", "ge": "less_equal"}[name], x[1], x[0])]
    if name == "square":
        return [_elementwise(tape, "multiply", x[0], x[0])]
    if name == "integer_pow":
        power = x[0]
        for _ in range(abs(given["y"]) - 1):
            power = _elementwise(tape, "multiply", power, x[0])
        if given["y"] < 0:
            power = _elementwise(tape, "quotient", _registers(tape, np.ones(power.shape)), power)
        return [power]
    if name == "cumsum":
        return [_summed(tape, x[0], given["axis"], given["reverse"])]
    reductions = {"reduce_sum": "add", "reduce_min": "minimum", "reduce_max": "maximum"}
    reductions |= {"reduce_and": "and", "reduce_or": "or", "reduce_prod": "multiply"}
    if name in reductions:
        return [_reduced(tape, reductions[name], x[0], given["axes"])]
    if name not in _PRIMITIVES:
        raise ArmError(
            f"the operation {name} has no form in the page: tapes know {', '.join(_PRIMITIVES)}."
        )
    return [_elementwise(tape, _PRIMITIVES[name], *x)]


def _solved(tape: Tape, matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the solution of a linear system by elimination with partial pivoting."""

    def each(name: str, *operands: Any) -> np.ndarray:
        return _elementwise(tape, name, *operands)

    rows = [np.concatenate(row) for row in zip(matrix, right, strict=True)]
    size = len(rows)
    for k in range(size):
        for i in range(k + 1, size):
            larger = each("less", each("absolute", rows[k][k]), each("absolute", rows[i][k]))
            rows[k], rows[i] = (
                each("where", larger, *pair) for pair in ((rows[i], rows[k]), (rows[k], rows[i]))
            )
        for i in range(k + 1, size):
            share = each("quotient", rows[i][k], rows[k][k])
            rows[i] = each("subtract", rows[i], each("multiply", share, rows[k]))
    found: list[np.ndarray] = [np.empty(0)] * size
    for k in reversed(range(size)):
        rest = rows[k][size:]
        for j in range(k + 1, size):
            rest = each("subtract", rest, each("multiply", rows[k][j], found[j]))
        found[k] = each("quotient", rest, rows[k][k])
    return np.stack(found)


def _moved(equation: Any, x: list[np.ndarray]) -> np.ndarray:
    """Return the result of a primitive that rearranges numbers; JAX, which compiles each, does what is rare."""
    name, given = equation.primitive.name, equation.params
    if name in _IN_NUMPY and not (name == "reshape" and given["dimensions"]):
        return _IN_NUMPY[name](x, given)
    places = [np.asarray(a, np.int64) for a in x]
    moved = equation.primitive.bind(*(jax.numpy.asarray(a) for a in places), **given)
    return np.asarray(moved).astype(object)


def _broadcast(x: list[np.ndarray], given: dict[str, Any]) -> np.ndarray:
    """Return an array whose axes are some of a larger one's, repeated along the others."""
    sizes = [1] * len(given["shape"])
    for axis, size in zip(given["broadcast_dimensions"], x[0].shape, strict=True):
        sizes[axis] = size
    return np.broadcast_to(x[0].reshape(sizes), given["shape"])


def _sliced(x: list[np.ndarray], given: dict[str, Any]) -> np.ndarray:
    strides = given["strides"] or (1,) * x[0].ndim
    bounds = zip(given["start_indices"], given["limit_indices"], strides, strict=True)
    return x[0][tuple(slice(*each) for each in bounds)]


_IN_NUMPY: dict[str, Callable[[list[np.ndarray], dict[str, Any]], np.ndarray]] = {
    "broadcast_in_dim": _broadcast,
    "slice": _sliced,
    "reshape": lambda x, given: x[0].reshape(given["new_sizes"]),
    "squeeze": lambda x, given: np.squeeze(x[0], tuple(given["dimensions"])),
    "rev": lambda x, given: np.flip(x[0], tuple(given["dimensions"])),
    "transpose": lambda x, given: np.transpose(x[0], given["permutation"]),
    "concatenate": lambda x, given: np.concatenate(x, given["dimension"]),
    "stack": lambda x, given: np.stack(x, given["axis"]),
}
"""The usual ones of `_MOVES`, on registers and the parameters of JAX's primitive."""


def _gathered(tape: Tape, equation: Any, x: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Return numbers taken at constant indices."""
    at = np.empty(indices.shape, np.int64)
    for place in np.ndindex(at.shape):
        at[place] = int(tape.known_value(int(indices[place])))
    places = jax.numpy.asarray(np.asarray(x, np.int64))
    moved = equation.primitive.bind(places, jax.numpy.asarray(at), **equation.params)
    return np.asarray(moved).astype(object)


def _elementwise(tape: Tape, name: str, *x: np.ndarray) -> np.ndarray:
    wide = np.broadcast_arrays(*x)
    found = np.empty(wide[0].shape, object)
    for place in np.ndindex(found.shape):
        found[place] = tape.operation(name, *(int(a[place]) for a in wide))
    return found


def _summed(tape: Tape, x: np.ndarray, axis: int, reverse: bool) -> np.ndarray:
    """Return running sums along an axis."""
    rows = list(np.moveaxis(x, axis, 0))
    rows = rows[::-1] if reverse else rows
    for k in range(1, len(rows)):
        rows[k] = _elementwise(tape, "add", rows[k - 1], rows[k])
    rows = rows[::-1] if reverse else rows
    return np.moveaxis(np.stack(rows), 0, axis)


def _reduced(tape: Tape, name: str, x: np.ndarray, axes: Sequence[int]) -> np.ndarray:
    for axis in sorted(axes, reverse=True):
        first, *others = np.moveaxis(x, axis, 0)
        for other in others:
            first = _elementwise(tape, name, first, other)
        x = np.asarray(first, object)
    return x


@dataclasses.dataclass(frozen=True)
class Both:
    """A formula in both arithmetics, float64 and double-double."""

    formula: Callable[..., Sequence[Any]]
    num_inputs: int

    def written(self) -> dict[str, Any]:
        """Return the tapes in float64 and in double-double; the second is None if they are equal."""
        single = tape_of_formula(self.formula, self.num_inputs, True)
        double = tape_of_formula(self.formula, self.num_inputs, False)
        return {"float64": single, "double": None if single == double else double}
