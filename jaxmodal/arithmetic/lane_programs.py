"""Recorded formulas over thousands of lanes in NumPy: one call per operation, results in memory that is used again.

Called with arrays, a formula of some thousand operations spends much of its time on what is beside the numbers: each
result is an array of its own, entries are looked up, and what nobody asks for is computed as well. A recorded formula
leaves out what its outputs do not need, zeros and factors of 1, and does no operation twice. Its results share so few
rows of memory that they stay in the cache. Numbers may be real or complex.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxmodal.arithmetic.nothing import NOTHING
from jaxmodal.arithmetic.programs import Expression, Recorder

#: numbers by which rows of memory are longer than their lanes: rows that begin at multiples of 4 KiB would all fall on
#: the same lines of the first-level cache
_APART = 24
#: kinds of numbers: one for all lanes, a real or a complex one for each
_SINGLE, _REAL, _COMPLEX = 0, 1, 2
#: kinds of inputs that are left out of formulas, with their values
_KNOWN = {-1: 0.0, -2: 1.0}


def kind_of(x: Any) -> int:
    """Return the kind of an input, for `LaneProgram`: what is 0 or 1 for all lanes is left out of its formula."""
    if x is NOTHING:
        return -1
    if isinstance(x, np.ndarray) and x.ndim:
        return _COMPLEX if x.dtype.kind == "c" else _REAL
    return next((kind for kind, value in _KNOWN.items() if x == value), _SINGLE)


def _nonzero(x: Any, _: Any, out: Any) -> None:
    np.copyto(out, x)
    np.copyto(out, 1e-280, where=x == 0.0)


def _negative(x: Any, _: Any, out: Any) -> None:
    np.negative(x, out)


def _absolute(x: Any, _: Any, out: Any) -> None:
    np.absolute(x, out)


def _taken(x: Any, _: Any, out: Any) -> None:
    np.copyto(out, x)


def _where_positive(condition: Any, x: Any, out: Any) -> None:
    """Replace what is in ``out``, the other choice of a selection, where the condition is positive."""
    np.copyto(out, x, where=np.real(condition) > 0.0)


#: operations on lanes, ``f(x, y, out)``
_ON_LANES: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "negative": _negative,
    "nonzero": _nonzero,
    "absolute": _absolute,
}
#: operations on single numbers
_ON_SINGLES: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "negative": operator.neg,
    "nonzero": lambda x: x if x != 0.0 else 1e-280,
    "absolute": abs,
    "select": lambda condition, x, y: x if np.real(condition) > 0.0 else y,
}


class _Node(NamedTuple):
    """An operation, its operands (none for an input or a constant), and the kind of its result."""

    name: str
    operands: tuple[int, ...]
    kind: int


class LaneProgram:
    """A formula, recorded for inputs of certain kinds.

    Parameters
    ----------
    formula
        A function of numbers that uses only ``+ - * /`` and `operations.absolute`, ``nonzero`` and ``select``, and
        returns a sequence of numbers.
    kinds
        The kind of each input, see `kind_of`.
    """

    def __init__(self, formula: Callable[..., Sequence[Expression]], kinds: Sequence[int]) -> None:
        recorder = Recorder(in_float64=True, on_lanes=True)
        inputs = [
            recorder.node("constant", (), _KNOWN[kind])
            if kind in _KNOWN
            else recorder.node("input", (), float(place))
            for place, kind in enumerate(kinds)
        ]
        found = formula(*inputs)
        plain = _Simplified(kinds)
        plain.add(recorder)
        self._schedule(plain, [plain.result(x) for x in found])

    def _schedule(self, plain: _Simplified, outputs: list[int | None]) -> None:
        """Choose the row of each result; a row is used again after the last use of its number."""
        nodes, last = plain.nodes, dict[int, int]()
        asked = {x for x in outputs if x is not None}
        needed = set(asked)
        for i in reversed(range(len(nodes))):
            if i in needed:
                for j in nodes[i].operands:
                    needed.add(j)
                    last.setdefault(j, i)
        # values are numbered: first those of all nodes, for inputs and single numbers, then the rows
        self._count = len(nodes)
        self._inputs = [(i, place) for i, place in plain.inputs.items() if i in needed]
        self._constants = [(i, x) for i, x in plain.constants.items() if i in needed]
        self._singles: list[tuple[Callable[..., Any], tuple[int, ...], int]] = []
        self._steps: list[tuple[Callable[..., Any], int, int, int]] = []
        self._rows: list[int] = []
        free: dict[int, list[int]] = {_REAL: [], _COMPLEX: []}
        at: dict[int, int] = {}

        def release(operands: tuple[int, ...], i: int) -> None:
            for j in set(operands):
                if last[j] == i and at[j] >= self._count and j not in asked:
                    free[nodes[j].kind].append(at[j])

        for i, (name, operands, kind) in enumerate(nodes):
            if i not in needed:
                continue
            if kind == _SINGLE or not operands:
                at[i] = i
                if operands:
                    self._singles.append((_ON_SINGLES[name], operands, i))
                continue
            if name != "select":  # a result may replace its operand
                release(operands, i)
            if free[kind]:
                at[i] = free[kind].pop()
            else:
                at[i] = self._count + len(self._rows)
                self._rows.append(kind)
            first, final = at[operands[0]], at[operands[-1]]
            if name == "select":
                self._steps.append((_taken, final, final, at[i]))
                self._steps.append((_where_positive, first, at[operands[1]], at[i]))
                release(operands, i)
            else:
                self._steps.append((_ON_LANES[name], first, final, at[i]))
        self._outputs = [None if x is None else at[x] for x in outputs]

    def __call__(self, inputs: Sequence[Any], lanes: int) -> list[Any]:
        """Return the outputs: arrays (lanes,), numbers, or `NOTHING` for zero.

        An output that is an input is the same array.
        """
        values: list[Any] = [None] * self._count
        for i, place in self._inputs:
            values[i] = inputs[place]
        for i, x in self._constants:
            values[i] = x
        for f, operands, i in self._singles:
            values[i] = f(*(values[j] for j in operands))
        memory = {
            kind: iter(np.empty((self._rows.count(kind), lanes + _APART), dtype)[:, :lanes])
            for kind, dtype in ((_REAL, np.float64), (_COMPLEX, np.complex128))
        }
        values += [next(memory[kind]) for kind in self._rows]
        for step, a, b, out in self._steps:
            step(values[a], values[b], values[out])
        return [NOTHING if x is None else values[x] for x in self._outputs]


#: the number of an operation and the sign of its result; None for zero
_Signed = tuple[int, float] | None


class _Simplified:
    """Recorded operations without those on zeros and with factors of 1, of equal ones the first."""

    def __init__(self, kinds: Sequence[int]) -> None:
        self._kinds = kinds
        self.nodes: list[_Node] = []
        self.inputs: dict[int, int] = {}
        self.constants: dict[int, float] = {}
        self._known: dict[tuple[str, tuple[int, ...]], int] = {}
        self._found: list[_Signed] = []

    def add(self, recorder: Recorder) -> None:
        """Take over all operations."""
        for name, operands, value in recorder.nodes:
            self._found.append(self._taken_over(name, operands, value))

    def result(self, x: Any) -> int | None:
        """Return the number of an output; None for zero."""
        if not isinstance(x, Expression):
            return None if x is NOTHING or x == 0.0 else self._constant(float(x))[0]
        found = self._found[x.index]
        return None if found is None else self._positive((found[0], found[1] * x.sign))

    def _node(self, name: str, *operands: int) -> int:
        key = name, operands
        if key not in self._known:
            self._known[key] = len(self.nodes)
            self.nodes.append(_Node(name, operands, self._kind(name, operands)))
        return self._known[key]

    def _kind(self, name: str, operands: tuple[int, ...]) -> int:
        """Return the kind of a result."""
        kinds = [self.nodes[j].kind for j in operands]
        if name == "absolute" or name == "select":
            kinds[0] = min(kinds[0], _REAL)
        return max(kinds)

    def _leaf(self, name: str, kind: int) -> int:
        self.nodes.append(_Node(name, (), kind))
        return len(self.nodes) - 1

    def _constant(self, value: float) -> tuple[int, float]:
        found = self._leaf("constant", _SINGLE)
        self.constants[found] = value
        return found, 1.0

    def _positive(self, x: tuple[int, float]) -> int:
        return x[0] if x[1] > 0.0 else self._node("negative", x[0])

    def _taken_over(self, name: str, operands: tuple[int, ...], value: float) -> _Signed:
        if name == "input":
            found = self._leaf("input", self._kinds[int(value)])
            self.inputs[found] = int(value)
            return found, 1.0
        if name == "constant":
            return None if value == 0.0 else self._constant(value)
        x = [self._found[j] for j in operands]
        if name == "add":
            return self._sum(x[0], x[1], value)
        if name == "multiply":
            return self._product(x[0], x[1])
        if name == "select":
            if x[0] is None:
                return x[2]
            return self._node("select", *(self._positive(y or self._constant(0.0)) for y in x)), 1.0
        if x[0] is None:
            return self._constant(1e-280) if name == "nonzero" else None
        if name == "divide":
            below = x[1] or self._constant(0.0)
            return self._node("divide", x[0][0], below[0]), x[0][1] * below[1]
        return self._node(name, self._positive(x[0])), 1.0

    def _sum(self, x: _Signed, y: _Signed, sign: float) -> _Signed:
        if y is None:
            return x
        y = y[0], y[1] * sign
        if x is None:
            return y
        if x[1] == y[1]:
            return self._node("add", *sorted((x[0], y[0]))), x[1]
        x, y = (x, y) if x[1] > 0.0 else (y, x)
        return self._node("subtract", x[0], y[0]), 1.0

    def _product(self, x: _Signed, y: _Signed) -> _Signed:
        if x is None or y is None:
            return None
        for one, other in ((x, y), (y, x)):
            if self.constants.get(one[0]) == 1.0:
                return other[0], other[1] * one[1]
        return self._node("multiply", x[0], y[0]), x[1] * y[1]
