"""Equations as a Python module for NumPy or JAX: one function of the state, and its constants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxmodal.dynamics.model import one_of
from jaxmodal.symbolic.equations import WrittenEquations, require_equations
from jaxmodal.symbolic.headings import arguments_of, heading
from jaxmodal.symbolic.infix import Text, infix_language, wrapped
from jaxmodal.symbolic.schedule import scheduled

_MODULES = {"numpy": ("numpy", "np"), "jax": ("jax.numpy", "jnp")}

_STACKED = '''

def _stacked(shape, states, entries):
    """Entries along the last axes of an array, after those of the states."""
    batch = {xp}.broadcast_shapes(*(state.shape[:-1] for state in states))
    whole = [{xp}.broadcast_to(entry, batch) for entry in entries]
    return {xp}.stack(whole, axis=-1).reshape(batch + shape)
'''


def python_module(equations: WrittenEquations, form: str, name: str = "equations") -> str:
    """Return a module with the function ``name`` of a state, or of batches of states, that returns a dict of arrays.

    Parameters
    ----------
    form
        ``"numpy"`` or ``"jax"``; the latter works with `jax.jit`, `jax.vmap` and `jax.grad`.
    name
        Name of the function.
    """
    module, xp = _MODULES[form]
    plan = scheduled(equations, infix_language(f"{xp}.sin", f"{xp}.cos", f"{xp}.tanh"))
    arguments = arguments_of(equations)
    lines = ['"""' + heading(equations, form)[0], ""]
    lines += [*heading(equations, form)[1:], '"""', "", f"import {module} as {xp}", ""]
    lines += [f"{constant} = {value!r}" for constant, value in equations.constants.items()]
    for target, text in plan.constants:
        lines += wrapped_python(f"{target} = ", text)
    lines.append(_STACKED.format(xp=xp))
    signature = ", ".join(argument for argument, _ in arguments)
    lines += [
        "",
        f"def {name}({signature}):",
        f'    """{", ".join(equations.quantities)} as a dict of arrays; the last axis of q has '
        f'{len(equations.coordinates)} entries, of rate {len(equations.rates)}."""',
    ]
    for argument, names in arguments:
        size = len(names)
        message = (
            f"{argument}: of shape {{{argument}.shape}}; its last axis must have {size} entries"
        )
        lines.append(f"    {argument} = {xp}.asarray({argument})")
        lines.append(f"    if {argument}.shape[-1:] != ({size},):")
        lines.append(f'        raise ValueError(f"{message}")')
        for place, symbol_name in enumerate(names):
            if symbol_name in equations.used:
                lines.append(f"    {symbol_name} = {argument}[..., {place}]")
    for target, text in plan.steps:
        lines += wrapped_python(f"{target} = ", text, "    ")
    states = f"({signature})"
    lines.append("    return {")
    for quantity, entries in plan.results.items():
        lines.append(f'        "{quantity}": _stacked({equations.shapes[quantity]}, {states}, [')
        lines += wrapped(", ".join(entry.text for entry in entries), " " * 12)
        lines.append("        ]),")
    lines.append("    }")
    return "\n".join(lines) + "\n"


def wrapped_python(start: str, text: Text, indent: str = "") -> list[str]:
    """Return an assignment, with brackets if it takes several lines."""
    line = f"{indent}{start}{text.text}"
    if len(line) <= 110:
        return [line]
    return [f"{indent}{start}(", *wrapped(text.text, indent + "    "), f"{indent})"]


def function(equations: WrittenEquations, form: str = "numpy") -> Callable[..., dict[str, Any]]:
    """Return the equations as a function of states.

    Parameters
    ----------
    equations
        Equations to compute.
    form
        ``"numpy"`` or ``"jax"``.

    Returns
    -------
    callable
        Function from q and rate (and acceleration if tau is among the quantities), each of shape (..., N), to a dict of
        arrays by quantity, of shapes (..., N, N) and so on; leading axes are broadcast. A last axis that is not N
        raises ValueError. With a free base q has N + 7 entries and the others N + 6.

    Raises
    ------
    ArmError
        If the form is not one of these.
    """
    require_equations(equations)
    one_of("form", form, tuple(_MODULES), "write() gives the other forms")
    names: dict[str, Any] = {}
    exec(compile(python_module(equations, form), f"<equations for {form}>", "exec"), names)
    return names["equations"]
