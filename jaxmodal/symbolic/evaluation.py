"""Values of expressions, node by node, in plain numbers or arrays: the reference for all that is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jaxmodal.symbolic.graph import (
    ADD,
    COSINE,
    MULTIPLY,
    NEGATE,
    NUMBER,
    SINE,
    SUBTRACT,
    SYMBOL,
    TANH,
    Expression,
    Graph,
)

_RULES: Mapping[str, Any] = {
    ADD: lambda a, b: a + b,
    SUBTRACT: lambda a, b: a - b,
    MULTIPLY: lambda a, b: a * b,
    NEGATE: lambda a: -a,
    SINE: np.sin,
    COSINE: np.cos,
    TANH: np.tanh,
}


def evaluated(graph: Graph, roots: Sequence[Expression], values: Mapping[str, Any]) -> list[Any]:
    """Values of some expressions; ``values`` gives numbers or arrays of one shape for all symbols, by name."""
    known: dict[int, Any] = {}
    for index in graph.needed(roots):
        operation, operands = graph.operations[index], graph.operands[index]
        if operation == NUMBER:
            known[index] = operands[0]
        elif operation == SYMBOL:
            known[index] = values[str(operands[0])]
        else:
            known[index] = _RULES[operation](*(known[int(i)] for i in operands))  # type: ignore[call-overload]
    return [known[root.index] for root in roots]
