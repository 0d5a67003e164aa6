"""Float64 operations of a compiled program, counted: as its formulas are written, and as XLA's loops execute them.

XLA cuts a program into loops over its arrays (fusions). What several loops need is computed in each or goes
through memory: `executed` counts both, `written` does neither. XLA's own cost analysis parts no divisions from
additions and takes a loop's body once, whatever its trip count.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterator
from typing import Any

#: operations of the compiled program and of the traced one, by what they cost
KINDS = {
    "add_multiply": "add subtract multiply sub mul square",
    "divide": "divide div",
    "square_root": "sqrt rsqrt",
    "exponential": "exponential exponential-minus-one exp expm1",
    "logarithm": "log log-plus-one log1p",
    "select": "compare select maximum minimum abs negate sign floor round-nearest-even clamp is-finite convert"
    " eq ne lt le gt ge select_n max min neg round is_finite convert_element_type",
}  # fmt: skip
#: what only moves values, and costs the bytes that it moves
_MOVING = """
broadcast slice dynamic-slice concatenate copy transpose reshape iota pad gather bitcast bitcast-convert tuple reverse
dynamic-update-slice parameter get-tuple-element broadcast_in_dim dynamic_slice squeeze bitcast_convert_type stack
unstack dynamic_update_slice expand_dims stop_gradient optimization_barrier
"""
_KIND_OF = {name: kind for kind, names in KINDS.items() for name in names.split()}


@dataclasses.dataclass(frozen=True)
class Operations:
    """Numbers of operations on float64, and bytes that loops over arrays read and write (0 where not counted)."""

    add_multiply: float = 0.0
    divide: float = 0.0
    square_root: float = 0.0
    exponential: float = 0.0
    logarithm: float = 0.0
    select: float = 0.0
    bytes: float = 0.0

    def __add__(self, other: Operations) -> Operations:
        return Operations(
            *(
                a + b
                for a, b in zip(dataclasses.astuple(self), dataclasses.astuple(other), strict=True)
            )
        )

    def times(self, factor: float) -> Operations:
        """All of them so many times."""
        return Operations(*(factor * x for x in dataclasses.astuple(self)))


def written(jaxpr: Any) -> Operations:
    """Operations of a closed jaxpr without data-dependent loops; a division by a constant is a multiplication.

    Sums, maxima and minima of arrays count as additions.

    Raises
    ------
    ValueError
        It holds a loop whose length is not known, a branch, or an operation that is in none of `KINDS`.
    """
    return _written(jaxpr.jaxpr)


def _written(jaxpr: Any) -> Operations:
    total, constant, ones = Operations(), set(), set()
    for equation in jaxpr.eqns:
        name, out = equation.primitive.name, equation.outvars[0]
        fixed = [hasattr(v, "val") or v in constant for v in equation.invars]
        one = [not hasattr(v, "val") and v in ones for v in equation.invars]
        if name in ("pjit", "jit", "select_n") and len(fixed) == 3 and fixed == [False, True, True]:
            ones.add(out)  # the divisor of `arithmetic.keep`, whose division LLVM drops
            continue
        if name == "convert_element_type" and one[0]:
            ones.add(out)
        if name == "div" and one[1]:
            continue
        if name in ("while", "cond"):
            raise ValueError(f"{name}: how often its body runs is not known beforehand")
        inner = equation.params.get("jaxpr", equation.params.get("call_jaxpr"))
        if inner is not None:
            inside = _written(getattr(inner, "jaxpr", inner))
            total += inside.times(equation.params["length"] if name == "scan" else 1.0)
        elif all(fixed) and fixed:
            constant.add(out)
        elif any(str(v.aval.dtype) == "float64" for v in equation.invars):
            if name.startswith("reduce_"):
                total += Operations(add_multiply=float(equation.invars[0].aval.size))
            elif name == "integer_pow":
                power = abs(equation.params["y"])
                products = power.bit_length() + power.bit_count() - 2
                total += Operations(
                    add_multiply=float(products * out.aval.size),
                    divide=float(out.aval.size * (equation.params["y"] < 0)),
                )
            else:
                by_constant = name == "div" and fixed[1]
                total += _operation("mul" if by_constant else name, out.aval.size)
    return total


_INSTRUCTION = re.compile(r"\s*(ROOT )?%(\S+) = (\(.*?\)|\S+) ([a-z\-]+)\((.*)")
_ARRAY = re.compile(r"(\w+)\[([\d,]*)\]")
_TRIPS = re.compile(r'"known_trip_count":\{"n":"(\d+)"\}')
_FREE = (
    "parameter", "constant", "tuple", "get-tuple-element", "bitcast", "while", "call", "after-all",
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class _Instruction:
    name: str
    arrays: list[tuple[str, int]]
    opcode: str
    rest: str
    root: bool

    def called(self, role: str) -> str:
        """The computation that plays a role, such as ``body``."""
        found = re.search(role + r"=%([^\s,}]+)", self.rest)
        if found is None:
            raise ValueError(f"{self.opcode} %{self.name} names no {role}")
        return found.group(1)

    def operands(self) -> list[str]:
        return re.findall(r"%([^\s,()]+)", self.rest.partition("), ")[0])


def executed(text: str) -> Operations:
    """Operations of a compiled program, given as HLO text (``compiled.as_text()``).

    A fusion computes all that is in it for every element of its output.

    Raises
    ------
    ValueError
        A loop has no known trip count, or there is a branch, or an operation that is in none of `KINDS`.
    """
    computations = dict(_computations(text))
    return _executed(computations, next(name for name in computations if name.startswith("ENTRY ")))


def _computations(text: str) -> Iterator[tuple[str, list[_Instruction]]]:
    name = ""
    found: list[_Instruction] = []
    for line in text.splitlines():
        head = re.match(r"(ENTRY )?%(\S+) \(.*\{\s*$", line)
        if head:
            name, found = (head.group(1) or "") + head.group(2), []
        elif line.startswith("}"):
            yield name, found
        elif match := _INSTRUCTION.match(re.sub(r"/\*index=\d+\*/", "", line)):
            root, label, shape, opcode, rest = match.groups()
            arrays = [
                (kind, math.prod(int(d) for d in dims.split(",") if d))
                for kind, dims in _ARRAY.findall(shape)
            ]
            found.append(_Instruction(label, arrays, opcode, rest, bool(root)))


def _executed(computations: dict[str, list[_Instruction]], name: str) -> Operations:
    total, instructions = Operations(), computations[name]
    sizes = {i.name: i.arrays for i in instructions}
    for i in instructions:
        if i.opcode == "conditional":
            raise ValueError(f"conditional %{i.name}: which branch runs is not known beforehand")
        if i.opcode == "while":
            trips = _TRIPS.search(i.rest)
            if trips is None:
                raise ValueError(f"while %{i.name}: its trip count is not known beforehand")
            total += _executed(computations, i.called("body")).times(int(trips.group(1)))
        elif i.opcode == "call":
            total += _executed(computations, i.called("to_apply"))
        elif i.opcode not in _FREE:
            elements = max(size for _, size in i.arrays)
            if i.opcode == "fusion":
                total += _fused(computations[i.called("calls")], elements)
            else:
                total += _one(i, sizes, elements)
            read = sum(
                8.0 * min(size, elements)
                for operand in i.operands()
                for kind, size in sizes.get(operand, [])
                if kind == "f64"
            )
            wrote = sum(8.0 * size for kind, size in i.arrays if kind == "f64")
            total += Operations(bytes=read + wrote)
    return total


def _fused(instructions: list[_Instruction], elements: int) -> Operations:
    """Everything once for each element of the output; a reduction's operand and what leads to it as large as it is."""
    sizes = {i.name: i.arrays for i in instructions}
    ones = _kept_ones(instructions)
    reduces = any(i.opcode == "reduce" for i in instructions)
    total = Operations()
    for i in instructions:
        own = max((size for _, size in i.arrays), default=0)
        dropped = i.name in ones or (i.opcode == "divide" and i.operands()[1] in ones)
        if (own > 1 or elements == 1) and not dropped:
            total += _one(i, sizes, own if reduces else elements)
    return total


def _kept_ones(instructions: list[_Instruction]) -> set[str]:
    """Divisors of `arithmetic.keep`, selections between two constants: LLVM drops the divisions."""
    constant: set[str] = set()
    ones: set[str] = set()
    for i in instructions:
        fixed = [name in constant for name in i.operands()]
        if i.opcode == "constant" or (i.opcode in ("broadcast", "bitcast") and all(fixed)):
            constant.add(i.name)
        elif i.opcode == "select" and fixed == [False, True, True]:
            ones.add(i.name)
    return ones


def _one(i: _Instruction, sizes: dict[str, list[tuple[str, int]]], elements: int) -> Operations:
    operands = [array for name in i.operands() for array in sizes.get(name, [])]
    if not any(kind == "f64" for kind, _ in operands):
        return Operations()
    if i.opcode == "reduce":
        return Operations(add_multiply=float(max(size for _, size in operands)))
    return _operation(i.opcode, elements)


def _operation(name: str, elements: int) -> Operations:
    if name in _MOVING.split():
        return Operations()
    if name not in _KIND_OF:
        raise ValueError(f"{name}: what it costs is not known; kinds are {', '.join(KINDS)}")
    return Operations(**{_KIND_OF[name]: float(elements)})
