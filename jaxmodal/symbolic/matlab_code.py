"""Equations as a MATLAB function file, which also runs in GNU Octave."""

from __future__ import annotations

import numpy as np

from jaxmodal.symbolic.equations import WrittenEquations
from jaxmodal.symbolic.headings import arguments_of, heading
from jaxmodal.symbolic.infix import infix_language, wrapped
from jaxmodal.symbolic.schedule import scheduled


def matlab_function(equations: WrittenEquations, name: str) -> str:
    """Return a function file: results in the order of the quantities, from q and rate (and acceleration for tau)."""
    plan = scheduled(equations, infix_language())
    arguments = ", ".join(argument for argument, _ in arguments_of(equations))
    title, *more = heading(equations, "MATLAB")
    lines = wrapped(
        f"function [{', '.join(equations.quantities)}] = {name}({arguments})", "", " ..."
    )
    lines += [f"% {name.upper()}  {title}"]
    lines += [f"% {line}".rstrip() for line in more]

    def assign(target: str, text: str) -> None:
        lines.extend(wrapped(f"{target} = {text};", "    ", " ..."))

    for constant, value in equations.constants.items():
        assign(constant, repr(value))
    for argument, names in arguments_of(equations):
        for place, symbol_name in enumerate(names, start=1):
            if symbol_name in equations.used:
                assign(symbol_name, f"{argument}({place})")
    for target, form in [*plan.constants, *plan.steps]:
        assign(target, form.text)
    for quantity, entries in plan.results.items():
        shape = equations.shapes[quantity]
        extents = ", ".join(str(extent) for extent in (shape if len(shape) == 2 else (*shape, 1)))
        assign(quantity, f"zeros({extents})")
        for at, entry in zip(np.ndindex(shape), entries, strict=True):
            if entry.text != "0.0":
                index = ", ".join(str(k + 1) for k in at)
                assign(f"{quantity}({index})", entry.text)
    return "\n".join([*lines, "end"]) + "\n"
