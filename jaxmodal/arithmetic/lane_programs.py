"""Recorded formulas over thousands of lanes in NumPy: one call per operation, results in memory that is used again.

Called with arrays, a formula of some thousand operations spends much of its time on what is beside the numbers: each
result is an array of its own, entries are looked up, and what nobody asks for is computed as well. A recorded formula
leaves out what its outputs do not need, zeros and factors of 1, and does no operation twice. Its results share so few
rows of memory that they stay in the cache. Numbers may be real or complex, and lanes may have several axes: what does
not vary along one is computed once for it.
"""

from __future__ import annotations

import functools
import math
import operator
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxmodal.arithmetic.nothing import NOTHING
from jaxmodal.arithmetic.operations import over_size
from jaxmodal.arithmetic.programs import Expression, Recorder

#: numbers by which rows of memory are longer than their lanes: rows that begin at multiples of 4 KiB would all fall on
#: the same lines of the first-level cache
_APART = 24
#: kinds of numbers: bits for complex ones and for those that vary along the last axis of lanes, the one before, ...;
#: kinds below the second are of one number for all lanes
_COMPLEX, _LAST = 1, 2
#: kinds of inputs that are left out of formulas, with their values
_KNOWN = {-1: 0.0, -2: 1.0}


def kind_of(x: Any) -> int:
    """Return the kind of an input, for `LaneProgram`: what is 0 or 1 for all lanes is left out of its formula."""
    if x is NOTHING:
        return -1
    if isinstance(x, np.ndarray) and x.ndim:
        axes = sum(_LAST << axis for axis, n in enumerate(reversed(x.shape)) if n > 1)
        return axes | (_COMPLEX if x.dtype.kind == "c" else 0)
    known = (kind for kind, value in _KNOWN.items() if x == value)
    return next(known, _COMPLEX if isinstance(x, complex) else 0)


def _nonzero(x: Any, _: Any, out: Any) -> None:
    zero = x == 0.0
    if out is not x:
        np.copyto(out, x)
    if zero.any():
        np.copyto(out, 1e-280, where=zero)


def _negative(x: Any, _: Any, out: Any) -> None:
    np.negative(x, out)


def _absolute(x: Any, _: Any, out: Any) -> None:
    np.absolute(x, out)


def _real(x: Any, _: Any, out: Any) -> None:
    np.copyto(out, x.real)


def _imag(x: Any, _: Any, out: Any) -> None:
    np.copyto(out, x.imag)


def _absolute_real(x: Any, _: Any, out: Any) -> None:
    np.absolute(x.real, out)


def _absolute_imag(x: Any, _: Any, out: Any) -> None:
    np.absolute(x.imag, out)


def _maximum(x: Any, y: Any, out: Any) -> None:
    np.maximum(x, y, out=out)


def _minimum(x: Any, y: Any, out: Any) -> None:
    np.minimum(x, y, out=out)


def _over_size(limit: float, terms: Any, result: Any, out: Any) -> None:
    over_size(terms, result, limit, out)


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
    "real": _real,
    "imag": _imag,
    "absolute real": _absolute_real,
    "absolute imag": _absolute_imag,
    "maximum": _maximum,
    "minimum": _minimum,
    "complex": _taken,
}
#: operations of real numbers with complex ones
_ARITHMETIC = frozenset(("add", "subtract", "multiply", "divide"))
#: operations whose results are real
_OF_REALS = frozenset(("absolute", "real", "imag", "absolute real", "absolute imag", "over_size"))
#: operations on single numbers
_ON_SINGLES: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "negative": operator.neg,
    "nonzero": lambda x: x if x != 0.0 else 1e-280,
    "absolute": abs,
    "real": np.real,
    "imag": np.imag,
    "absolute real": lambda x: abs(x.real),
    "absolute imag": lambda x: abs(x.imag),
    "maximum": np.maximum,
    "minimum": np.minimum,
    "over_size": lambda terms, result, limit: over_size(terms, np.asarray(result), limit),
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
        A function of numbers that uses only ``+ - * /``, their parts ``real`` and ``imag``, and `operations.absolute`,
        ``nonzero``, ``select``, ``maximum``, ``minimum``, ``size_of`` and ``over_size``, and returns a sequence of
        numbers.
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
        free: dict[int, list[int]] = defaultdict(list)
        at: dict[int, int] = {}

        def release(operands: tuple[int, ...], i: int) -> None:
            for j in set(operands):
                if last[j] == i and at[j] >= self._count and j not in asked:
                    free[nodes[j].kind].append(at[j])

        for i, (name, operands, kind) in enumerate(nodes):
            if i not in needed:
                continue
            if kind < _LAST or not operands:
                at[i] = i
                if operands:
                    self._singles.append((_ON_SINGLES[name], operands, i))
                continue
            if name not in ("select", "over_size"):  # a result may replace its operand
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
            elif name == "over_size":
                of = functools.partial(_over_size, plain.constants[operands[2]])
                self._steps.append((of, first, at[operands[1]], at[i]))
                release(operands, i)
            else:
                self._steps.append((_ON_LANES[name], first, final, at[i]))
        self._outputs = [None if x is None else at[x] for x in outputs]

    def __call__(self, inputs: Sequence[Any], lanes: int | tuple[int, ...]) -> list[Any]:
        """Return the outputs: arrays that broadcast with the lanes, numbers, or `NOTHING` for zero.

        ``lanes`` is their number, or their shape. An output that is an input is the same array.
        """
        values: list[Any] = [None] * self._count
        for i, place in self._inputs:
            values[i] = inputs[place]
        for i, x in self._constants:
            values[i] = x
        for f, operands, i in self._singles:
            values[i] = f(*(values[j] for j in operands))
        whole = (lanes,) if isinstance(lanes, int) else lanes
        memory = {kind: _rows(kind, self._rows.count(kind), whole) for kind in set(self._rows)}
        values += [memory[kind].pop() for kind in self._rows]
        for step, a, b, out in self._steps:
            step(values[a], values[b], values[out])
        return [NOTHING if x is None else values[x] for x in self._outputs]


def _rows(kind: int, count: int, whole: tuple[int, ...]) -> list[np.ndarray]:
    """Return memory for numbers of a kind."""
    axes = range(len(whole) - 1, -1, -1)
    shape = [n if kind & (_LAST << axis) else 1 for axis, n in zip(axes, whole, strict=True)]
    size = math.prod(shape)
    rows = np.empty((count, size + _APART), np.complex128 if kind & _COMPLEX else np.float64)
    return [row[:size].reshape(shape) for row in rows]


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
        if name in _ARITHMETIC and self._kind(name, operands) & _COMPLEX:
            operands = tuple(map(self._complex, operands))
        key = name, operands
        if key not in self._known:
            self._known[key] = len(self.nodes)
            self.nodes.append(_Node(name, operands, self._kind(name, operands)))
        return self._known[key]

    def _complex(self, x: int) -> int:
        """Return real numbers of lanes as complex ones: once, and not in each operation with complex ones."""
        kind = self.nodes[x].kind
        return x if kind & _COMPLEX or kind < _LAST else self._node("complex", x)

    def _kind(self, name: str, operands: tuple[int, ...]) -> int:
        """Return the kind of a result."""
        kinds = [self.nodes[j].kind for j in operands]
        if name == "select":
            kinds[0] &= ~_COMPLEX
        if name == "complex":
            return kinds[0] | _COMPLEX
        found = functools.reduce(operator.or_, kinds)
        return found & ~_COMPLEX if name in _OF_REALS else found

    def _leaf(self, name: str, kind: int) -> int:
        self.nodes.append(_Node(name, (), kind))
        return len(self.nodes) - 1

    def _constant(self, value: float) -> tuple[int, float]:
        found = self._leaf("constant", 0)
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
        if name in ("maximum", "minimum"):
            return self._node(name, *(self._positive(y or self._constant(0.0)) for y in x)), 1.0
        if x[0] is None:
            return self._constant(1e-280) if name == "nonzero" else None
        if name == "divide":
            below = x[1] or self._constant(0.0)
            return self._node("divide", x[0][0], below[0]), x[0][1] * below[1]
        if name == "over_size":
            result, limit = ((y or self._constant(0.0))[0] for y in x[1:])
            return self._node(name, self._positive(x[0]), result, limit), 1.0
        if name in ("real", "imag", "absolute"):
            return self._part(name, *x[0])
        return self._node(name, self._positive(x[0])), 1.0

    def _part(self, name: str, of: int, sign: float) -> _Signed:
        """Return the real or imaginary part, or the absolute value."""
        node = self.nodes[of]
        if name == "absolute":
            if node.name in ("real", "imag"):
                return self._node(f"absolute {node.name}", *node.operands), 1.0
            return self._node(name, of), 1.0
        if node.kind & _COMPLEX:
            return self._node(name, of), sign
        return (of, sign) if name == "real" else None

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
