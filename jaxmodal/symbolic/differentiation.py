"""Derivatives of expressions in forward and reverse mode; substitution.

Both modes pass through the graph once, so that a derivative is only a few times as long as its expression.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jaxmodal.symbolic.graph import (
    ADD,
    COSINE,
    MULTIPLY,
    NEGATE,
    SINE,
    SUBTRACT,
    TANH,
    Expression,
    Graph,
)


def _partials(graph: Graph, index: int) -> list[tuple[int, Expression]]:
    """Return the operands of a node with the derivatives with respect to them; empty for numbers and symbols."""
    operation, parts = graph.operations[index], graph.parts(Expression(graph, index))
    if operation == MULTIPLY:
        factors = [parts[1], parts[0]]
    elif operation == SINE:
        factors = [graph.function(COSINE, parts[0])]
    elif operation == COSINE:
        factors = [-graph.function(SINE, parts[0])]
    elif operation == TANH:
        node = Expression(graph, index)
        factors = [1.0 - node * node]
    else:
        signs = {ADD: (1.0, 1.0), SUBTRACT: (1.0, -1.0), NEGATE: (-1.0,)}.get(operation, ())
        factors = [graph.number(sign) for sign in signs]
    return [(part.index, factor) for part, factor in zip(parts, factors, strict=True)]


def tangent(
    graph: Graph, roots: Sequence[Expression], along: Mapping[int, Expression]
) -> list[Expression]:
    """Return derivatives of expressions along a direction: ``along`` holds the rate of symbols by their index."""
    rates: dict[int, Expression] = dict(along)
    for index in graph.needed(roots):
        parts = graph.made_of(index)
        if index in rates or not any(part in rates for part in parts):
            continue
        given = [rates.get(part, graph.zero) for part in parts]
        if (
            graph.operations[index] == SUBTRACT
        ):  # with a sign before it, a difference would be another node
            rates[index] = given[0] - given[1]
        else:
            factors = (factor for _, factor in _partials(graph, index))
            rates[index] = graph.total(a * b for a, b in zip(given, factors, strict=True))
    return [rates.get(root.index, graph.zero) for root in roots]


def gradient(graph: Graph, root: Expression, symbols: Sequence[Expression]) -> list[Expression]:
    """Return the derivatives of one expression with respect to several symbols."""
    concerned = {symbol.index for symbol in symbols}
    order = graph.needed([root])
    for index in order:
        if not concerned.isdisjoint(graph.made_of(index)):
            concerned.add(index)
    shares: dict[int, Expression] = {root.index: graph.one}
    for index in reversed(order):
        if index in shares and not concerned.isdisjoint(graph.made_of(index)):
            for part, factor in _partials(graph, index):
                if part in concerned:
                    share = shares[index] * factor
                    shares[part] = shares.get(part, graph.zero) + share
    return [shares.get(symbol.index, graph.zero) for symbol in symbols]


def substitute(
    graph: Graph, roots: Sequence[Expression], values: Mapping[int, Expression]
) -> list[Expression]:
    """Return the same expressions with other nodes in place of some, by their index; labels are kept."""
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
