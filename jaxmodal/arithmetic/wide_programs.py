"""Recorded formulas in NumPy: each step is one kind of operation, on as many numbers as are ready for it.

A call of NumPy takes about a microsecond, whatever the few hundred numbers that it works on. So equal operations of a
formula, and of formulas that are evaluated side by side, are done in one call.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from jaxmodal.arithmetic import double_double as dd
from jaxmodal.arithmetic.double_double import DoubleDouble
from jaxmodal.arithmetic.programs import ARITY, Expression, operated, recorded


class Step(NamedTuple):
    """Operations of one ``kind``: the registers of their operands, one slot after the other, and of their results.

    ``signs`` are those of the second operands of additions; None where all are 1.
    """

    kind: str
    operands: np.ndarray
    results: slice
    signs: np.ndarray | None


class WideProgram(NamedTuple):
    """A schedule: ``first`` are the steps that need none of the inputs that follow ``later``."""

    num_registers: int
    constants: np.ndarray
    first: list[Step]
    last: list[Step]
    outputs: np.ndarray
    signs: np.ndarray


@functools.cache
def record_wide(
    formula: Callable[..., Sequence[Expression]], num_inputs: int, later: tuple[int, ...] = ()
) -> WideProgram:
    """Record ``formula`` and schedule its operations: of the kind that the longest path waits for, all that can go."""
    nodes, outputs, height = recorded(formula, num_inputs)
    waits = [False] * len(nodes)
    for i, (_, arguments, _) in enumerate(nodes):
        waits[i] = i in later or any(waits[j] for j in arguments)
    constants = [i for i, n in enumerate(nodes) if n[0] == "constant"]
    register = {i: i for i in range(num_inputs)}
    register |= {c: num_inputs + k for k, c in enumerate(constants)}

    def scheduled(open_nodes: list[int]) -> list[Step]:
        steps = []
        while open_nodes:
            ready = [i for i in open_nodes if all(j in register for j in nodes[i][1])]
            kind = nodes[max(ready, key=lambda i: height[i])][0]
            chosen = [i for i in ready if nodes[i][0] == kind]
            rows = [register[nodes[i][1][slot]] for slot in range(ARITY[kind]) for i in chosen]
            start = len(register)
            register.update({i: start + k for k, i in enumerate(chosen)})
            signs = np.array([nodes[i][2] for i in chosen]) if kind == "add" else np.ones(1)
            turned = signs if np.any(signs < 0.0) else None
            steps.append(Step(kind, np.array(rows), slice(start, len(register)), turned))
            open_nodes = [i for i in open_nodes if i not in register]
        return steps

    operations = [i for i, n in enumerate(nodes) if n[0] in ARITY]
    first = scheduled([i for i in operations if not waits[i]])
    last = scheduled([i for i in operations if waits[i]])
    return WideProgram(
        num_registers=len(register),
        constants=np.array([nodes[c][2] for c in constants]),
        first=first,
        last=last,
        outputs=np.array([register[o.index] for o in outputs]),
        signs=np.array([o.sign for o in outputs]),
    )


class Begun:
    """Evaluations of a formula side by side, along the first axis of its inputs, up to those that are not known yet.

    Inputs that follow in `finished` are None. What does not depend on them is computed at once for all; ``shape`` is
    that of each number.
    """

    def __init__(
        self,
        formula: Callable[..., Sequence[Expression]],
        inputs: Sequence[DoubleDouble | None],
        shape: tuple[int, ...],
    ) -> None:
        self._later = tuple(i for i, x in enumerate(inputs) if x is None)
        self._program = program = record_wide(formula, len(inputs), self._later)
        self._values = np.empty((shape[0], 2, program.num_registers, *shape[1:]))
        for i, x in enumerate(inputs):
            if x is not None:
                self._values[:, 0, i], self._values[:, 1, i] = x.hi, x.lo
        constants = slice(len(inputs), len(inputs) + len(program.constants))
        self._values[:, 0, constants] = self._column(program.constants)
        self._values[:, 1, constants] = 0.0
        self._run(program.first, self._values)

    def _column(self, x: np.ndarray) -> np.ndarray:
        return x.reshape((-1,) + (1,) * (self._values.ndim - 3))

    def _run(self, steps: list[Step], values: np.ndarray) -> None:
        for kind, operands, results, signs in steps:
            taken = values.take(operands, 2)
            count = results.stop - results.start
            x = [taken[:, :, k : k + count] for k in range(0, operands.size, count)]
            if kind == "add":
                second = x[1] if signs is None else x[1] * self._column(signs)
                found = dd.sum_of_pairs(x[0], second)
            elif kind == "multiply":
                found = dd.product_of_pairs(*x)
            else:
                y = operated(kind, [DoubleDouble(z[:, 0], z[:, 1]) for z in x])
                found = y.hi, y.lo
            values[:, 0, results], values[:, 1, results] = found

    def finished(self, place: int, inputs: Sequence[DoubleDouble] = ()) -> list[DoubleDouble]:
        """The results at one place along the first axis, once the other ``inputs`` are known."""
        values, program = self._values[place : place + 1], self._program
        for i, x in zip(self._later, inputs, strict=True):
            values[:, 0, i], values[:, 1, i] = x.hi, x.lo
        self._run(program.last, values)
        hi, lo = values[0].take(program.outputs, 1) * self._column(program.signs)
        return [DoubleDouble(*x) for x in zip(hi, lo, strict=True)]


def run_on_host(
    formula: Callable[..., Sequence[Expression]], inputs: Sequence[DoubleDouble]
) -> list[DoubleDouble]:
    """`programs.run` in NumPy: a few hundred calls, whatever the number of lanes."""
    shape = np.broadcast_shapes(*(x.hi.shape for x in inputs))
    return Begun(formula, inputs, (1, *shape)).finished(0)
