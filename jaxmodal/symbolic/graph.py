"""Expressions as a graph without repetition: equal expressions are one node.

A `Graph` records sums, differences, products and functions as they are formed. Equal expressions share one node, known
numbers are combined, and zeros and ones vanish at once. Nothing is expanded or rearranged, so that the size of a graph
is the number of operations that formed it, and code written from it is as long as the graph.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

NUMBER, SYMBOL = "number", "symbol"
ADD, SUBTRACT, NEGATE, MULTIPLY = "add", "subtract", "negate", "multiply"
SINE, COSINE, TANH = "sin", "cos", "tanh"

#: functions of one argument, with their numerical implementation
FUNCTIONS = {SINE: math.sin, COSINE: math.cos, TANH: math.tanh}


class Expression:
    """One node of a graph; the usual operators create further nodes of the same graph."""

    __slots__ = ("graph", "index")

    def __init__(self, graph: Graph, index: int) -> None:
        self.graph = graph
        self.index = index

    def __add__(self, other: Expression | float) -> Expression:
        return self.graph.add(self, self.graph.of(other))

    def __radd__(self, other: float) -> Expression:
        return self.graph.add(self.graph.of(other), self)

    def __sub__(self, other: Expression | float) -> Expression:
        return self.graph.subtract(self, self.graph.of(other))

    def __rsub__(self, other: float) -> Expression:
        return self.graph.subtract(self.graph.of(other), self)

    def __mul__(self, other: Expression | float) -> Expression:
        return self.graph.multiply(self, self.graph.of(other))

    def __rmul__(self, other: float) -> Expression:
        return self.graph.multiply(self.graph.of(other), self)

    def __neg__(self) -> Expression:
        return self.graph.negate(self)

    @property
    def is_zero(self) -> bool:
        """True if this is the number 0."""
        return self.graph.number_of(self) == 0.0


class Graph:
    """Nodes of expressions, each after its operands.

    Attributes
    ----------
    operations : list of str
        Kind of each node: ``"number"``, ``"symbol"``, ``"add"`` and so on.
    operands : list of tuple
        Indices of the operands of each node; for a number its value, for a symbol its name.
    varies : list of bool
        True for a node that depends on a symbol of the state.
    labels : dict of int to str
        Names of nodes with a known meaning, for code and documents.
    """

    def __init__(self) -> None:
        self.operations: list[str] = []
        self.operands: list[tuple[object, ...]] = []
        self.varies: list[bool] = []
        self.labels: dict[int, str] = {}
        self._known: dict[tuple[object, ...], int] = {}
        self.zero, self.one = self.number(0.0), self.number(1.0)

    def __len__(self) -> int:
        return len(self.operations)

    def _node(self, operation: str, operands: tuple[object, ...], varies: bool) -> Expression:
        key = (operation, *operands)
        index = self._known.get(key)
        if index is None:
            index = self._known[key] = len(self.operations)
            self.operations.append(operation)
            self.operands.append(operands)
            self.varies.append(varies)
        return Expression(self, index)

    def _made(self, operation: str, *made_of: Expression) -> Expression:
        varies = any(self.varies[node.index] for node in made_of)
        return self._node(operation, tuple(node.index for node in made_of), varies)

    def number(self, value: float) -> Expression:
        """Return the node of a known number; -0 is 0."""
        return self._node(NUMBER, (float(value) + 0.0,), False)

    def symbol(self, name: str, varies: bool) -> Expression:
        """Return the node of a symbol: part of the state (``varies``) or a constant of the arm."""
        return self._node(SYMBOL, (name,), varies)

    def of(self, value: Expression | float) -> Expression:
        """Return an expression unchanged, or the node of a number."""
        return value if isinstance(value, Expression) else self.number(value)

    def number_of(self, node: Expression) -> float | None:
        """Return the value of a known number, None for any other node."""
        if self.operations[node.index] != NUMBER:
            return None
        return float(self.operands[node.index][0])  # type: ignore[arg-type]

    def made_of(self, index: int) -> tuple[int, ...]:
        """Return the indices of the operands of a node; empty for numbers and symbols."""
        leaf = self.operations[index] in (NUMBER, SYMBOL)
        return () if leaf else self.operands[index]  # type: ignore[return-value]

    def parts(self, node: Expression) -> tuple[Expression, ...]:
        """Return the operands of a node; empty for numbers and symbols."""
        return tuple(Expression(self, index) for index in self.made_of(node.index))

    def add(self, left: Expression, right: Expression) -> Expression:
        """Return the node of left + right."""
        a, b = self.number_of(left), self.number_of(right)
        if a is not None and b is not None:
            return self.number(a + b)
        if a == 0.0:
            return right
        if b == 0.0:
            return left
        if left.index == right.index:
            return self.multiply(self.number(2.0), left)
        if self.operations[right.index] == NEGATE:
            return self.subtract(left, self.parts(right)[0])
        if self.operations[left.index] == NEGATE:
            return self.subtract(right, self.parts(left)[0])
        if right.index < left.index:
            left, right = right, left
        return self._made(ADD, left, right)

    def subtract(self, left: Expression, right: Expression) -> Expression:
        """Return the node of left - right."""
        a, b = self.number_of(left), self.number_of(right)
        if a is not None and b is not None:
            return self.number(a - b)
        if a == 0.0:
            return self.negate(right)
        if b == 0.0:
            return left
        if left.index == right.index:
            return self.zero
        if self.operations[right.index] == NEGATE:
            return self.add(left, self.parts(right)[0])
        if self.operations[left.index] == NEGATE:
            return self.negate(self.add(self.parts(left)[0], right))
        return self._made(SUBTRACT, left, right)

    def negate(self, node: Expression) -> Expression:
        """Return the node of -node."""
        value = self.number_of(node)
        if value is not None:
            return self.number(-value)
        operation = self.operations[node.index]
        if operation == NEGATE:
            return self.parts(node)[0]
        if operation == SUBTRACT:
            left, right = self.parts(node)
            return self.subtract(right, left)
        return self._made(NEGATE, node)

    def multiply(self, left: Expression, right: Expression) -> Expression:
        """Return the node of left * right, with a known number first and signs moved outwards."""
        a, b = self.number_of(left), self.number_of(right)
        if a is not None and b is not None:
            return self.number(a * b)
        if b is not None:
            left, right, a = right, left, b
        if a is not None:
            if a == 0.0:
                return self.zero
            if a == 1.0:
                return right
            if a == -1.0:
                return self.negate(right)
            if self.operations[right.index] == MULTIPLY:
                first, rest = self.parts(right)
                factor = self.number_of(first)
                if factor is not None:
                    return self.multiply(self.number(a * factor), rest)
        for one, other in ((left, right), (right, left)):
            if self.operations[one.index] == NEGATE:
                return self.negate(self.multiply(self.parts(one)[0], other))
        if a is None and right.index < left.index:
            left, right = right, left
        return self._made(MULTIPLY, left, right)

    def function(self, name: str, argument: Expression) -> Expression:
        """Return the node of a sine, cosine or hyperbolic tangent."""
        value = self.number_of(argument)
        if value is not None:
            return self.number(FUNCTIONS[name](value))
        return self._made(name, argument)

    def total(self, terms: Iterable[Expression]) -> Expression:
        """Return the sum of terms, from the first to the last."""
        result = self.zero
        for term in terms:
            result = self.add(result, term)
        return result

    def label(self, node: Expression, name: str) -> Expression:
        """Set a name for a node, unless it has one or is a number, a symbol or a change of sign; return the node."""
        if self.operations[node.index] not in (NUMBER, SYMBOL, NEGATE):
            self.labels.setdefault(node.index, name)
        return node

    def needed(self, roots: Iterable[Expression]) -> list[int]:
        """Return the indices of all nodes on which the given ones depend, themselves included, ascending."""
        seen = set()
        waiting = [root.index for root in roots]
        while waiting:
            index = waiting.pop()
            if index not in seen:
                seen.add(index)
                waiting.extend(self.made_of(index))
        return sorted(seen)

    def apply(self, operation: str, made_of: list[Expression]) -> Expression:
        """Return the node of an operation on other operands."""
        if operation in FUNCTIONS:
            return self.function(operation, made_of[0])
        if operation == NEGATE:
            return self.negate(made_of[0])
        by_name = {ADD: self.add, SUBTRACT: self.subtract, MULTIPLY: self.multiply}
        return by_name[operation](*made_of)


#: rows of expressions
Table = list[list[Expression]]
