"""Derivatives of expressions by the rules of their operations, forwards and backwards; substitution.

Both ways follow the graph once, so that a derivative is a few times as long as what it is the derivative of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jaxmodal.symbolic.graph import (
    ADD,
    COSINE,
    MULTIPLY,
    NEGATE,
    NUMBER,
    SINE,
    SUBTRACT,
    SYMBOL,
    Expression,
    Graph,
)


def _slope(graph: Graph, operation: str, node: Expression, argument: Expression) -> Expression:
    """Derivative of a function of one argument; ``node`` is its value."""
    if operation == SINE:
        return graph.function(COSINE, argument)
    if operation == COSINE:
        return -graph.function(SINE, argument)
    return 1.0 - node * node


def tangent(
    graph: Graph, roots: Sequence[Expression], along: Mapping[int, Expression]
) -> list[Expression]:
    """Derivatives of some expressions along a direction: ``along`` gives the rate of symbols by their index."""
    rates: dict[int, Expression] = dict(along)
    for index in graph.needed(roots):
        operation = graph.operations[index]
        if index in rates or operation in (NUMBER, SYMBOL):
            continue
        node = Expression(graph, index)
        parts = graph.parts(node)
        given = [rates.get(part.index, graph.zero) for part in parts]
        if all(rate.is_zero for rate in given):
            continue
        if operation == ADD:
            rates[index] = given[0] + given[1]
        elif operation == SUBTRACT:
            rates[index] = given[0] - given[1]
        elif operation == NEGATE:
            rates[index] = -given[0]
        elif operation == MULTIPLY:
            rates[index] = given[0] * parts[1] + parts[0] * given[1]
        else:
            rates[index] = given[0] * _slope(graph, operation, node, parts[0])
    return [rates.get(root.index, graph.zero) for root in roots]


def gradient(graph: Graph, root: Expression, symbols: Sequence[Expression]) -> list[Expression]:
    """Derivatives of one expression by several symbols."""
    wanted = {symbol.index for symbol in symbols}
    order = graph.needed([root])
    concerned = set(wanted)
    for index in order:
        if graph.operations[index] not in (NUMBER, SYMBOL) and not concerned.isdisjoint(
            graph.operands[index]
        ):
            concerned.add(index)
    shares: dict[int, Expression] = {root.index: graph.one}

    def give(part: Expression, share: Expression) -> None:
        if part.index in concerned:
            shares[part.index] = shares.get(part.index, graph.zero) + share

    for index in reversed(order):
        if index not in shares or graph.operations[index] in (NUMBER, SYMBOL):
            continue
        node, share, operation = Expression(graph, index), shares[index], graph.operations[index]
        parts = graph.parts(node)
        if operation == ADD:
            give(parts[0], share)
            give(parts[1], share)
        elif operation == SUBTRACT:
            give(parts[0], share)
            give(parts[1], -share)
        elif operation == NEGATE:
            give(parts[0], -share)
        elif operation == MULTIPLY:
            give(parts[0], share * parts[1])
            give(parts[1], share * parts[0])
        elif parts[0].index in concerned:
            give(parts[0], share * _slope(graph, operation, node, parts[0]))
    return [shares.get(symbol.index, graph.zero) for symbol in symbols]


def substitute(
    graph: Graph, roots: Sequence[Expression], values: Mapping[int, Expression]
) -> list[Expression]:
    """The same expressions with other nodes in place of some, by their index; labels are kept."""
    made: dict[int, Expression] = dict(values)
    for index in graph.needed(roots):
        if index in made:
            continue
        node = Expression(graph, index)
        parts = graph.parts(node)
        others = [made[part.index] for part in parts]
        if all(one.index == other.index for one, other in zip(parts, others, strict=True)):
            made[index] = node
            continue
        made[index] = graph.apply(graph.operations[index], others)
        if index in graph.labels:
            graph.label(made[index], graph.labels[index])
    return [made[root.index] for root in roots]
