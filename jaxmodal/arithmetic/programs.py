"""Straight-line formulas, recorded once and run step by step in double-double; in NumPy by `wide_programs`.

A formula of several hundred double-double operations, written out, has some ten thousand elementary operations, which
take a compiler half a minute. Here the formula is recorded instead: called with `Expression` arguments, it yields a
list of operations, which is scheduled into steps of a few independent operations each. A step is one small loop body,
so that the whole formula compiles in a fraction of a second. The formula is written only once for float64 and for
double-double.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax

from jaxmodal.arithmetic import double_double as dd
from jaxmodal.arithmetic.double_double import DoubleDouble
from jaxmodal.runtime.namespace import Array, xp

#: operations of each kind in one step
_WIDTH = {"add": 8, "multiply": 8, "divide": 1, "sqrt": 2, "select": 2}
ARITY = {"add": 2, "multiply": 2, "divide": 2, "sqrt": 1, "select": 3, "nonzero": 1}


class Recorder:
    """The operations recorded so far; equal operations are recorded once.

    In float64, denominators that may be zero are operations of their own; in double-double every division handles them.
    On lanes (`lane_programs`), where numbers may be complex, absolute values are operations of their own, too, as are
    parts, larger ones and ratios, and factors stay in their order, for the last digit of a complex product depends on
    it.
    """

    def __init__(self, in_float64: bool = False, on_lanes: bool = False) -> None:
        self.in_float64, self.on_lanes = in_float64, on_lanes
        self.nodes: list[tuple[str, tuple[int, ...], float]] = []
        self._known: dict[tuple[str, tuple[int, ...], float], int] = {}

    def node(self, kind: str, arguments: tuple[int, ...] = (), value: float = 0.0) -> Expression:
        key = (kind, arguments, value)
        if key not in self._known:
            self._known[key] = len(self.nodes)
            self.nodes.append(key)
        return Expression(self, self._known[key], 1.0)


class Expression:
    """A recorded number: ``sign`` times the value of a node. Sign changes need no operation."""

    def __init__(self, recorder: Recorder, index: int, sign: float) -> None:
        self.recorder, self.index, self.sign = recorder, index, sign

    def _other(self, value: Expression | float) -> Expression:
        return (
            value
            if isinstance(value, Expression)
            else self.recorder.node("constant", (), float(value))
        )

    def __neg__(self) -> Expression:
        return Expression(self.recorder, self.index, -self.sign)

    def __add__(self, value: Expression | float) -> Expression:
        a, b = self, self._other(value)
        if a.sign == b.sign:
            first, second = sorted((a.index, b.index))
            return _signed(self.recorder.node("add", (first, second), 1.0), a.sign)
        if a.sign < 0:
            a, b = b, a
        return self.recorder.node("add", (a.index, b.index), -1.0)

    def __sub__(self, value: Expression | float) -> Expression:
        return self + (-self._other(value))

    def __mul__(self, value: Expression | float) -> Expression:
        b = self._other(value)
        factors = self.index, b.index
        first, second = factors if self.recorder.on_lanes else sorted(factors)
        return _signed(self.recorder.node("multiply", (first, second)), self.sign * b.sign)

    def __truediv__(self, value: Expression | float) -> Expression:
        b = self._other(value)
        return _signed(self.recorder.node("divide", (self.index, b.index)), self.sign * b.sign)

    def __rtruediv__(self, value: float) -> Expression:
        return self._other(value) / self

    def __rsub__(self, value: float) -> Expression:
        return self._other(value) + (-self)

    __radd__ = __add__
    __rmul__ = __mul__

    def positive(self) -> Expression:
        """Return a node with the value of this expression, sign included."""
        return self if self.sign > 0 else self.recorder.node("constant") + self

    def sqrt(self) -> Expression:
        return self.recorder.node("sqrt", (self.positive().index,))

    def nonzero(self) -> Expression:
        """Return the expression, or a tiny number in place of zero."""
        if not self.recorder.in_float64:
            return self
        return self.recorder.node("nonzero", (self.positive().index,))

    def absolute(self) -> Expression:
        if not self.recorder.on_lanes:
            return self.select(self, -self)
        return self.recorder.node("absolute", (self.index,))

    __abs__ = absolute

    @property
    def real(self) -> Expression:
        return _signed(self.recorder.node("real", (self.index,)), self.sign)

    @property
    def imag(self) -> Expression:
        return _signed(self.recorder.node("imag", (self.index,)), self.sign)

    def extreme(self, kind: str, value: Expression | float) -> Expression:
        """Return the "maximum" or the "minimum" of this expression and another; on lanes."""
        x, y = self.positive(), self._other(value).positive()
        return self.recorder.node(kind, (x.index, y.index))

    def under(self, terms: Expression | float, limit: float) -> Expression:
        """Return `operations.over_size` of ``terms`` and this expression; on lanes."""
        x, most = self._other(terms).positive(), self._other(limit)
        return self.recorder.node("over_size", (x.index, self.index, most.index))

    def select(self, if_positive: Expression, otherwise: Expression) -> Expression:
        """Return ``if_positive`` where this expression exceeds zero, and ``otherwise`` elsewhere."""
        arguments = (
            self.positive().index,
            if_positive.positive().index,
            otherwise.positive().index,
        )
        return self.recorder.node("select", arguments)


def _signed(node: Expression, sign: float) -> Expression:
    return Expression(node.recorder, node.index, sign)


class Program(NamedTuple):
    """A schedule: for each kind of operation the register rows of its arguments, shape (steps, width)."""

    num_registers: int
    constants: np.ndarray
    steps: int
    arguments: dict[str, list[np.ndarray]]
    signs: np.ndarray
    outputs: list[tuple[int, float]]


def recorded(
    formula: Callable[..., Sequence[Expression]], num_inputs: int, in_float64: bool = False
) -> tuple[list[tuple[str, tuple[int, ...], float]], list[Expression], list[int]]:
    """Return the operations of ``formula``, its results, and the least number of operations that follow each."""
    recorder = Recorder(in_float64)
    inputs = [recorder.node("input", (), float(i)) for i in range(num_inputs)]
    outputs = list(formula(*inputs))
    nodes = recorder.nodes
    height = [0] * len(nodes)
    for i in reversed(range(len(nodes))):
        for j in nodes[i][1]:
            height[j] = max(height[j], height[i] + 1)
    return nodes, outputs, height


def operated(kind: str, x: Sequence[DoubleDouble]) -> DoubleDouble:
    """Apply one kind of operation to stacked operands."""
    if kind == "add":
        return x[0] + x[1]
    if kind == "multiply":
        return x[0] * x[1]
    if kind == "divide":
        return x[0] / dd.where(x[1].hi == 0.0, xp.full_like(x[1].hi, 1e-280), x[1])
    if kind == "sqrt":
        return dd.sqrt(x[0])
    if kind == "nonzero":
        return dd.where(x[0].hi == 0.0, xp.full_like(x[0].hi, 1e-280), x[0])
    return dd.where(x[0].hi > 0.0, x[1], x[2])


@functools.cache
def record(formula: Callable[..., Sequence[Expression]], num_inputs: int) -> Program:
    """Record ``formula`` and schedule its operations (longest path first)."""
    nodes, outputs, height = recorded(formula, num_inputs)
    constants = [i for i, n in enumerate(nodes) if n[0] == "constant"]
    register = {i: i for i in range(num_inputs)} | {
        c: num_inputs + k for k, c in enumerate(constants)
    }
    kinds = [k for k in _WIDTH if any(n[0] == k for n in nodes)]
    offset = dict(zip(kinds, np.cumsum([0] + [_WIDTH[k] for k in kinds]), strict=False))
    block = sum(_WIDTH[k] for k in kinds)
    base = num_inputs + len(constants)
    open_nodes = sorted((i for i, n in enumerate(nodes) if n[0] in kinds), key=lambda i: -height[i])
    arguments: dict[str, list[list[list[int]]]] = {k: [[] for _ in range(ARITY[k])] for k in kinds}
    signs: list[list[float]] = []
    step = 0
    while open_nodes:
        used = dict.fromkeys(kinds, 0)
        rows = {k: [[0] * _WIDTH[k] for _ in range(ARITY[k])] for k in kinds}
        row_signs, done = [1.0] * _WIDTH["add"], {}
        for i in open_nodes:
            kind, args, value = nodes[i]
            if used[kind] < _WIDTH[kind] and all(j in register for j in args):
                for slot, j in enumerate(args):
                    rows[kind][slot][used[kind]] = register[j]
                if kind == "add":
                    row_signs[used[kind]] = value
                done[i] = base + step * block + int(offset[kind]) + used[kind]
                used[kind] += 1
        register |= done
        open_nodes = [i for i in open_nodes if i not in done]
        for k in kinds:
            for slot, r in enumerate(rows[k]):
                arguments[k][slot].append(r)
        signs.append(row_signs)
        step += 1
    return Program(
        num_registers=base + step * block,
        constants=np.array([nodes[c][2] for c in constants]),
        steps=step,
        arguments={k: [np.array(a, dtype=np.int32) for a in v] for k, v in arguments.items()},
        signs=np.array(signs),
        outputs=[(register[o.index], o.sign) for o in outputs],
    )


def run(
    formula: Callable[..., Sequence[Expression]], inputs: Sequence[DoubleDouble]
) -> list[DoubleDouble]:
    """Evaluate ``formula(*inputs)`` in double-double.

    Parameters
    ----------
    formula : Callable
        A module-level function of numbers that uses only ``+ - * /``, `arithmetic.sqrt` and `arithmetic.select`, and
        returns a sequence of numbers. It is recorded at its first use.
    inputs : sequence of DoubleDouble
        Arguments; their shapes broadcast.

    Returns
    -------
    list of DoubleDouble
        The results, of the broadcast shape. A division by exactly zero gives a huge number instead of an infinity.
    """
    program = record(formula, len(inputs))
    shape = jnp.broadcast_shapes(*(x.hi.shape for x in inputs))
    constants = jnp.broadcast_to(
        jnp.asarray(program.constants).reshape((-1,) + (1,) * len(shape)),
        (len(program.constants), *shape),
    )
    rest = jnp.zeros((program.num_registers - len(inputs) - len(program.constants), *shape))
    hi = jnp.concatenate(
        [jnp.stack([jnp.broadcast_to(x.hi, shape) for x in inputs]), constants, rest]
    )
    lo = jnp.concatenate(
        [
            jnp.stack([jnp.broadcast_to(x.lo, shape) for x in inputs]),
            jnp.zeros_like(constants),
            rest,
        ]
    )
    base = len(inputs) + len(program.constants)
    block = (program.num_registers - base) // max(program.steps, 1)

    def step(t: Array, registers: tuple[Array, Array]) -> tuple[Array, Array]:
        results = _step(program, t, *registers)
        row = base + t * block
        return (
            lax.dynamic_update_slice_in_dim(
                registers[0], jnp.concatenate([x.hi for x in results]), row, 0
            ),
            lax.dynamic_update_slice_in_dim(
                registers[1], jnp.concatenate([x.lo for x in results]), row, 0
            ),
        )

    hi, lo = lax.fori_loop(0, program.steps, step, (hi, lo))
    return [DoubleDouble(hi[row] * sign, lo[row] * sign) for row, sign in program.outputs]


def _step(program: Program, t: Array, hi: Array, lo: Array) -> list[DoubleDouble]:
    """Return the results of one step, with one stacked operation for each kind."""

    def operands(kind: str) -> list[DoubleDouble]:
        rows = [jnp.asarray(a)[t] for a in program.arguments[kind]]
        return [
            DoubleDouble(jnp.take(hi, r, axis=0, mode="clip"), jnp.take(lo, r, axis=0, mode="clip"))
            for r in rows
        ]

    signs = jnp.asarray(program.signs)[t].reshape((-1,) + (1,) * (hi.ndim - 1))
    results = []
    for kind in program.arguments:
        x = operands(kind)
        if kind == "add":
            x[1] = DoubleDouble(x[1].hi * signs, x[1].lo * signs)
        results.append(operated(kind, x))
    return results
