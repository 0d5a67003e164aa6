"""Recorded formulas in NumPy: each step applies one kind of operation to all numbers that are ready for it.

A NumPy call takes about a microsecond, whether it works on ten numbers or on a few hundred. Therefore equal operations
of a formula, and of formulas that are evaluated together, are done in one call.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxmodal.arithmetic import double_double as dd
from jaxmodal.arithmetic.double_double import DoubleDouble
from jaxmodal.arithmetic.programs import ARITY, Expression, operated, recorded


class Step(NamedTuple):
    """Operations of one ``kind``: registers of their operands, one slot after the other, and of their results.

    ``slots`` are the positions of the slots among the operands; ``signs`` are the signs of the second operands of
    additions, None if all are 1.
    """

    kind: str
    operands: np.ndarray
    slots: list[slice]
    results: slice
    signs: np.ndarray | None


class WideProgram(NamedTuple):
    """A schedule: the steps ``first`` do not need the inputs that follow ``later``.

    ``kept`` are the registers from these steps that the ``last`` steps and the outputs need.
    """

    num_registers: int
    constants: np.ndarray
    first: list[Step]
    kept: np.ndarray
    last: list[Step]
    outputs: np.ndarray
    signs: np.ndarray


@functools.cache
def record_wide(
    formula: Callable[..., Sequence[Expression]],
    num_inputs: int,
    later: tuple[int, ...],
    in_float64: bool,
) -> WideProgram:
    """Record ``formula`` and schedule its operations.

    Each step takes all ready operations of the kind that is next on the longest path.
    """
    nodes, outputs, height = recorded(formula, num_inputs, in_float64)
    waits, needed = [False] * len(nodes), {o.index for o in outputs}
    users: list[list[int]] = [[] for _ in nodes]
    for i, (_, arguments, _) in enumerate(nodes):
        waits[i] = i in later or any(waits[j] for j in arguments)
    for i in reversed(range(len(nodes))):
        if i in needed:
            needed.update(nodes[i][1])
            for j in set(nodes[i][1]):
                users[j].append(i)
    constants = [i for i, n in enumerate(nodes) if n[0] == "constant" and i in needed]
    register = {i: i for i in range(num_inputs)}
    register |= {c: num_inputs + k for k, c in enumerate(constants)}

    def scheduled(chosen_nodes: list[int]) -> list[Step]:
        """Return the steps of some nodes; each takes all ready operations of the kind on the longest path."""
        steps = []
        missing = {i: sum(j not in register for j in set(nodes[i][1])) for i in chosen_nodes}
        ready = [i for i in chosen_nodes if missing[i] == 0]
        while ready:
            kind = nodes[max(ready, key=lambda i: height[i])][0]
            chosen = [i for i in ready if nodes[i][0] == kind]
            rows = [register[nodes[i][1][slot]] for slot in range(ARITY[kind]) for i in chosen]
            start = len(register)
            register.update({i: start + k for k, i in enumerate(chosen)})
            signs = np.array([nodes[i][2] for i in chosen]) if kind == "add" else np.ones(1)
            turned = signs if np.any(signs < 0.0) else None
            slots = [slice(k, k + len(chosen)) for k in range(0, len(rows), len(chosen))]
            results = slice(start, len(register))
            steps.append(Step(kind, np.array(rows), slots, results, turned))
            ready = [i for i in ready if nodes[i][0] != kind]
            for user in (j for i in chosen for j in users[i] if j in missing):
                missing[user] -= 1
                if missing[user] == 0:
                    ready.append(user)
            ready.sort()
        return steps

    operations = [i for i, n in enumerate(nodes) if n[0] in ARITY and i in needed]
    first = scheduled([i for i in operations if not waits[i]])
    known = {register[i] for i in register if not waits[i]}
    last = scheduled([i for i in operations if waits[i]])
    asked = {row for step in last for row in step.operands} | {register[o.index] for o in outputs}
    return WideProgram(
        num_registers=len(register),
        constants=np.array([nodes[c][2] for c in constants]),
        first=first,
        kept=np.array(sorted(known & asked), int),
        last=last,
        outputs=np.array([register[o.index] for o in outputs]),
        signs=np.array([o.sign for o in outputs]),
    )


class Begun:
    """Evaluations of a formula, along the first axis of its inputs, as far as the known inputs allow.

    Inputs that follow in `go_on` are None; the others are all float64 or all DoubleDouble. Values that do not depend on
    later inputs are computed immediately, for all places; ``shape`` is that of each number. Inputs of larger shapes are
    treated like later inputs: values independent of them are computed once, the rest place by place.
    """

    def __init__(
        self,
        formula: Callable[..., Sequence[Expression]],
        inputs: Sequence[np.ndarray | DoubleDouble | None],
        shape: tuple[int, ...],
    ) -> None:
        self._in_pairs = isinstance(inputs[0], DoubleDouble)
        self._later = tuple(i for i, x in enumerate(inputs) if x is None)
        known = {i: x for i, x in enumerate(inputs) if x is not None}
        self._wider = {i: x for i, x in known.items() if _is_wider(_shape(x), shape)}
        waiting = tuple(sorted((*self._later, *self._wider)))
        program = record_wide(formula, len(inputs), waiting, not self._in_pairs)
        self._program = program
        parts = 2 if self._in_pairs else 1
        self._values = np.zeros((shape[0], parts, program.num_registers, *shape[1:]))
        for i, x in known.items():
            if i not in self._wider:
                self._set(self._values, i, x)
        constants = slice(len(inputs), len(inputs) + len(program.constants))
        lanes = shape[1:]
        self._values[:, 0, constants] = _column(program.constants, lanes)
        _run(program.first, self._values)
        # where inputs are wider, the registers of the places at which the rest has been computed
        self._wide_shape = np.broadcast_shapes(shape, *(_shape(x) for x in self._wider.values()))
        self._widened: dict[int, np.ndarray] = {}

    def go_on(self, place: int, inputs: Sequence[np.ndarray | DoubleDouble]) -> None:
        """Compute the rest at one place along the first axis, with the remaining ``inputs``."""
        values = self._values[place : place + 1]
        if self._wider:
            known, kept = values, self._program.kept
            values = np.empty((*values.shape[:3], *self._wide_shape[1:]))
            values[:, :, kept] = known[:, :, kept]
            for i, x in self._wider.items():
                self._set(values, i, x[place : place + 1])
            self._widened[place] = values
        for i, x in zip(self._later, inputs, strict=True):
            self._set(values, i, x)
        _run(self._program.last, values)

    def outputs(
        self, place: int | None = None, first: int = 0, last: int | None = None
    ) -> list[Any]:
        """Return the results from ``first`` to before ``last``, at one place along the first axis or at all."""
        rows, signs = (x[first:last] for x in (self._program.outputs, self._program.signs))
        if place is not None:
            values = self._widened[place][0] if self._wider else self._values[place]
            found = values.take(rows, 1)
        else:
            values = self._values
            if self._wider:
                values = np.concatenate([x for _, x in sorted(self._widened.items())])
            found = values.take(rows, 2).swapaxes(0, 1).swapaxes(1, 2)
            signs = signs[:, None]
        parts = found * _column(signs, self._values.shape[3:])
        return (
            [DoubleDouble(*x) for x in zip(*parts, strict=True)] if self._in_pairs else [*parts[0]]
        )

    def _set(self, values: np.ndarray, register: int, x: Any) -> None:
        if self._in_pairs:
            values[:, 0, register], values[:, 1, register] = x.hi, x.lo
        else:
            values[:, 0, register] = x


def _column(x: np.ndarray, lanes: tuple[int, ...]) -> np.ndarray:
    """Return one number for each register, the same for all lanes."""
    return x.reshape(x.shape + (1,) * len(lanes))


def _run(steps: list[Step], values: np.ndarray) -> None:
    """Run the steps on registers (places, parts, registers, ...): one part in float64, two in double-double."""
    if values.shape[1] == 1:
        _run_in_float64(steps, values[:, 0].reshape(len(values), values.shape[2], -1))
        return
    for kind, operands, slots, results, signs in steps:
        taken = values.take(operands, 2)
        x = [taken[:, :, slot] for slot in slots]
        if signs is not None:
            x[1] *= _column(signs, values.shape[3:])
        _in_pairs(kind, x, values[:, :, results])


def _shape(x: np.ndarray | DoubleDouble) -> tuple[int, ...]:
    return np.shape(x.hi if isinstance(x, DoubleDouble) else x)


def _is_wider(x: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Return True if an array exceeds a shape in some axis; NumPy's own check takes longer than a step."""
    return any(n > m for n, m in zip(reversed(x), reversed(shape), strict=False))


def _in_pairs(kind: str, x: Sequence[np.ndarray], out: np.ndarray) -> None:
    """Apply one kind of operation to stacked operands, with the parts along the second axis of operands and results."""
    if kind == "add":
        dd.sum_of_pairs(x[0], x[1], out)
    elif kind == "multiply":
        dd.product_of_pairs(x[0], x[1], out)
    else:
        found = operated(kind, [DoubleDouble(y[:, 0], y[:, 1]) for y in x])
        out[:, 0], out[:, 1] = found.hi, found.lo


def _run_in_float64(steps: list[Step], values: np.ndarray) -> None:
    """Apply `_run` to registers (places, registers, lanes), of which ``values`` is a view."""
    for kind, operands, slots, results, signs in steps:
        taken, found = values.take(operands, 1), values[:, results]
        a = taken[:, slots[0]]
        if kind == "multiply":
            np.multiply(a, taken[:, slots[1]], out=found)
        elif kind == "add" and signs is None:
            np.add(a, taken[:, slots[1]], out=found)
        elif signs is not None:
            np.add(a, taken[:, slots[1]] * signs[:, None], out=found)
        elif kind == "divide":
            np.divide(a, taken[:, slots[1]], out=found)
        elif kind == "nonzero":
            found[...] = np.where(a == 0.0, 1e-280, a)
        elif kind == "sqrt":
            found[...] = np.where(a > 0.0, np.sqrt(np.where(a > 0.0, a, 1.0)), 0.0)
        else:
            found[...] = np.where(a > 0.0, taken[:, slots[1]], taken[:, slots[2]])


def run_on_host(
    formula: Callable[..., Sequence[Expression]], inputs: Sequence[DoubleDouble]
) -> list[DoubleDouble]:
    """Run `programs.run` in NumPy: a few hundred calls, whatever the number of lanes."""
    shape = np.broadcast_shapes(*(x.hi.shape for x in inputs))
    return Begun(formula, inputs, (1, *shape)).outputs(0)


def run_stacked(
    formula: Callable[..., Sequence[Any]], inputs: Sequence[Any], most: int
) -> np.ndarray | DoubleDouble:
    """Return ``formula`` of inputs stacked along the first axis, with stacked outputs; all of one kind.

    In float64 with more than ``most`` lanes the formula is called directly, because a NumPy call then costs less than
    its numbers.
    """
    in_pairs = isinstance(inputs[0], DoubleDouble)
    groups = [np.stack([x.hi, x.lo]) if in_pairs else x[None] for x in inputs]
    lanes = np.broadcast_shapes(*(x.shape[2:] for x in groups))
    if not in_pairs and math.prod(lanes) > most:
        return np.stack(np.broadcast_arrays(*formula(*(row for x in inputs for row in x))))
    program = record_wide(formula, sum(x.shape[1] for x in groups), (), True)
    values = np.empty((1, 2 if in_pairs else 1, program.num_registers, *lanes))
    start = 0
    for x in (*groups, np.stack([program.constants, 0.0 * program.constants])):
        rows = slice(start, start + x.shape[1])
        values[0, :, rows] = x if x.ndim > 2 else _column(x[: values.shape[1]], lanes)
        start = rows.stop
    _run(program.first, values)
    found = values[0].take(program.outputs, 1) * _column(program.signs, lanes)
    return DoubleDouble(*found) if in_pairs else found[0]
