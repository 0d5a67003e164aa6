"""Order in which expressions are computed: results that are used more than once get a name and are computed once."""

from __future__ import annotations

import collections
import dataclasses
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from jaxmodal.symbolic.equations import WrittenEquations, require_equations
from jaxmodal.symbolic.graph import (
    ADD,
    FUNCTIONS,
    MULTIPLY,
    NEGATE,
    NUMBER,
    SUBTRACT,
    SYMBOL,
    Expression,
    Graph,
)

#: largest number of operations in a formula; longer formulas are divided to keep lines readable
LONGEST = 24

Form = TypeVar("Form")


@dataclasses.dataclass(frozen=True)
class Language(Generic[Form]):
    """Notation of one language; a form is a text with its precedence, or an object of a package."""

    number: Callable[[float], Form]
    name: Callable[[str], Form]
    infix: Callable[[str, Form, Form], Form]
    negate: Callable[[Form], Form]
    function: Callable[[str, Form], Form]


#: sums, differences and products for operands that support them: numbers, arrays, objects of a package
ARITHMETIC: Mapping[str, Callable[[Any, Any], Any]] = {
    ADD: operator.add,
    SUBTRACT: operator.sub,
    MULTIPLY: operator.mul,
}


@dataclasses.dataclass(frozen=True)
class Schedule(Generic[Form]):
    """Formulas in the order in which they are computed.

    Attributes
    ----------
    constants, steps : list of (str, Form)
        Named intermediate results: first those of constants alone, then those of the state.
    results : dict of str to list of Form
        Entries of every quantity, in terms of intermediate results.
    """

    constants: list[tuple[str, Form]]
    steps: list[tuple[str, Form]]
    results: dict[str, list[Form]]


@dataclasses.dataclass(frozen=True)
class OperationCounts:
    """Number of operations in one evaluation.

    Attributes
    ----------
    additions
        Number of sums, differences and changes of sign.
    multiplications
        Number of products; there are no divisions.
    functions
        Number of sines, cosines and hyperbolic tangents.
    of_constants
        Number of operations of all kinds on constants alone, which are done once.
    """

    additions: int
    multiplications: int
    functions: int
    of_constants: int

    @property
    def total(self) -> int:
        """Number of all operations that depend on the state."""
        return self.additions + self.multiplications + self.functions


def operation_counts(equations: WrittenEquations) -> OperationCounts:
    """Return the number of operations in the equations, with each intermediate result computed once.

    The number is the same for all written forms, because they are written from the same graph.
    """
    require_equations(equations)
    graph = equations.graph
    found: collections.Counter[str] = collections.Counter()
    constant = 0
    for index in graph.needed(_roots(equations)):
        operation = graph.operations[index]
        if operation in (NUMBER, SYMBOL):
            continue
        if graph.varies[index]:
            found[operation] += 1
        else:
            constant += 1
    return OperationCounts(
        found[ADD] + found[SUBTRACT] + found[NEGATE],
        found[MULTIPLY],
        sum(found[name] for name in FUNCTIONS),
        constant,
    )


def _roots(equations: WrittenEquations) -> list[Expression]:
    return [entry for entries in equations.quantities.values() for entry in entries]


def scheduled(
    equations: WrittenEquations,
    language: Language[Form],
    longest: int = LONGEST,
    *,
    intermediate: bool = True,
) -> Schedule[Form]:
    """Return all formulas of equations in one language; those with more than ``longest`` operations are divided.

    With ``intermediate`` False, intermediate results are inserted in the formulas that use them.
    """
    graph, roots = equations.graph, _roots(equations)
    order = graph.needed(roots)
    named = _named(graph, order, roots, longest) if intermediate else set()
    names = _Names(equations)
    forms: dict[int, Form] = {}
    constants: list[tuple[str, Form]] = []
    steps: list[tuple[str, Form]] = []
    for index in order:
        form = _form(graph, index, forms, language)
        if index in named:
            name = names.of(index)
            (steps if graph.varies[index] else constants).append((name, form))
            form = language.name(name)
        forms[index] = form
    results = {
        quantity: [forms[entry.index] for entry in entries]
        for quantity, entries in equations.quantities.items()
    }
    return Schedule(constants, steps, results)


class _Names:
    """Unique names of intermediate results: their label if there is one, else t1, t2 and so on."""

    def __init__(self, equations: WrittenEquations) -> None:
        self.labels = equations.graph.labels
        self.taken = set(equations.symbols) | set(equations.quantities) | {"q", "rate"}
        self.count = 0

    def of(self, index: int) -> str:
        name = self.labels.get(index)
        if name is None or name in self.taken:
            self.count += 1
            name = f"t{self.count}"
        self.taken.add(name)
        return name


def _named(
    graph: Graph, order: Sequence[int], roots: Sequence[Expression], longest: int
) -> set[int]:
    """Return the nodes that get a name: used twice, labelled, constant in a formula of the state, or too long."""
    uses: collections.Counter[int] = collections.Counter()
    for root in {root.index for root in roots}:
        uses[root] += 1
    wanted: collections.Counter[int] = collections.Counter(root.index for root in roots)
    for index in order:
        for part in graph.made_of(index):
            uses[part] += 1
            # a constant in a formula of the state is computed once, before all states
            if graph.varies[index] and not graph.varies[part]:
                uses[part] += 1
    named, length = set(), {}
    for index in order:
        if graph.operations[index] in (NUMBER, SYMBOL):
            length[index] = 0
            continue
        length[index] = 1 + sum(length[part] for part in graph.made_of(index))
        several = uses[index] > 1 or wanted[index] > 1 or index in graph.labels
        if graph.operations[index] == NEGATE and index not in graph.labels:
            several = False  # a change of sign costs nothing and is written in place
        if several or length[index] > longest:
            named.add(index)
            length[index] = 0
    return named


def _form(graph: Graph, index: int, forms: dict[int, Form], language: Language[Form]) -> Form:
    operation, operands = graph.operations[index], graph.operands[index]
    if operation == NUMBER:
        return language.number(float(operands[0]))  # type: ignore[arg-type]
    if operation == SYMBOL:
        return language.name(str(operands[0]))
    parts = [forms[part] for part in graph.made_of(index)]
    if operation == NEGATE:
        return language.negate(*parts)
    if operation in FUNCTIONS:
        return language.function(operation, *parts)
    return language.infix(operation, *parts)
