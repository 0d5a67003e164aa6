"""Models x' = f(x, u), y = g(x, u) with the C sources of a unit, and those of linear systems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxmodal.arm.quantities import shown
from jaxmodal.response.modal.state_space import StateSpace
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.errors import ArmError

#: name of models of linear systems
_LINEAR = "linear"
#: size of a state of a linear system, relative to the largest of all, that is rounding; also in ``unit.c``
_NEGLIGIBLE = 1e-6
#: ratio to the size of a pole at which no pole is expected: those of an unstable pendulum are p and -p
_BEYOND = 1.4


class Variable(NamedTuple):
    """A variable of a unit: name, unit, description, start value, and the usual size of a state."""

    name: str
    unit: str
    meaning: str
    start: float = 0.0
    nominal: float = 1.0


class UnitModel(NamedTuple):
    """A model with the data that the sources of a unit need.

    ``fastest`` is its fastest eigenvalue, rad/s, without dry friction, and ``stiffest`` with it.
    """

    name: str
    inputs: tuple[Variable, ...]
    states: tuple[Variable, ...]
    rates: tuple[Variable, ...]
    outputs: tuple[Variable, ...]
    fastest: float
    stiffest: float
    sources: dict[str, str]


def linear_model(system: StateSpace) -> UnitModel:
    """Return the model of a linear system, with the names of its inputs, outputs and states."""
    if system.time_step is not None:
        raise ArmError(
            f"system: has time_step = {shown(system.time_step)}, and a unit integrates derivatives; give the "
            "continuous one, before discrete()."
        )
    states = tuple(
        Variable(name, "1", "state", nominal=size)
        for name, size in zip(system.states, _usual_sizes(system), strict=True)
    )
    fastest = float(np.abs(system.poles).max())
    return UnitModel(
        _LINEAR,
        tuple(Variable(name, "1", "input") for name in system.inputs),
        states,
        tuple(Variable(f"der({s.name})", "1", f"derivative of {s.name}") for s in states),
        tuple(Variable(name, "1", "output") for name in system.outputs),
        fastest,
        fastest,
        {"model.c": _linear_source(system)},
    )


def _usual_sizes(system: StateSpace) -> list[float]:
    """Return the usual size of each state while an input is 1; 1 for states that no input reaches.

    It is the largest of ``s (s I - A)^-1 B`` over s, 1.4 times the sizes of the poles: the mean of the response to a
    step, weighted by ``s exp(-s t)``. No pole is near such an s, so that it is finite without damping too.
    """
    matrix, driven = np.asarray(system.A, float), np.asarray(system.B, float)
    sizes = np.zeros(len(matrix))
    for s in np.unique(_BEYOND * np.abs(system.poles)):
        if s > 0.0:
            states = s * np.linalg.solve(s * np.eye(len(matrix)) - matrix, driven)
            sizes = np.maximum(sizes, np.abs(states).max(axis=1, initial=0.0))
    return np.where(sizes > _NEGLIGIBLE * sizes.max(initial=0.0), sizes, 1.0).tolist()


def header(model: UnitModel, token: str, step: float, tolerance: float) -> str:
    """Return ``model.h``: sizes, start values, and the functions that `unit.c` calls."""
    return "\n".join(
        [
            "#ifndef MODEL_H",
            "#define MODEL_H",
            "",
            f"#define MODEL_INPUTS {len(model.inputs)}",
            f"#define MODEL_STATES {len(model.states)}",
            f"#define MODEL_OUTPUTS {len(model.outputs)}",
            f'#define MODEL_TOKEN "{token}"',
            "/* longest step of the integrator, or its first one where steps follow their error, s */",
            f"#define MODEL_STEP {step!r}",
            "/* of a step; 0 where all steps are alike */",
            f"#define MODEL_TOLERANCE {tolerance!r}",
            "/* whether the states are those of a linear system, in any units */",
            f"#define MODEL_LINEAR {int(model.name == _LINEAR)}",
            "",
            "static const double model_start[MODEL_STATES] = {",
            *_rows([state.start for state in model.states]),
            "};",
            "static const double model_nominal[MODEL_STATES] = {",
            *_rows([state.nominal for state in model.states]),
            "};",
            "",
            "/* x' = f(x, u); not 0 where there is none */",
            "int model_derivatives(const double x[], const double u[], double rate[]);",
            "/* y = g(x, u) */",
            "void model_outputs(const double x[], const double u[], double y[]);",
            "",
            "#endif",
            "",
        ]
    )


def _linear_source(system: StateSpace) -> str:
    lines = ["/* x' = A x + B u, y = C x + D u */", '#include "model.h"', ""]
    shapes = {"A": "[MODEL_STATES][MODEL_STATES]", "B": "[MODEL_STATES][MODEL_INPUTS]"}
    shapes |= {"C": "[MODEL_OUTPUTS][MODEL_STATES]", "D": "[MODEL_OUTPUTS][MODEL_INPUTS]"}
    for name, shape in shapes.items():
        lines.append(f"static const double {name}{shape} = {{")
        for row in np.asarray(getattr(system, name), float):
            lines += ["    {", *_rows(row), "    },"]
        lines.append("};")
    for result, count, of_state, of_input in (
        ("rate", "MODEL_STATES", "A", "B"),
        ("y", "MODEL_OUTPUTS", "C", "D"),
    ):
        first = "int model_derivatives" if result == "rate" else "void model_outputs"
        lines += [
            "",
            f"{first}(const double x[], const double u[], double {result}[])",
            "{",
            f"    for (int i = 0; i < {count}; i++) {{",
            f"        {result}[i] = 0.0;",
            "        for (int k = 0; k < MODEL_STATES; k++)",
            f"            {result}[i] += {of_state}[i][k] * x[k];",
            "        for (int k = 0; k < MODEL_INPUTS; k++)",
            f"            {result}[i] += {of_input}[i][k] * u[k];",
            "    }",
            *(["    return 0;"] if result == "rate" else []),
            "}",
        ]
    return "\n".join(lines) + "\n"


def _rows(values: Sequence[Any] | Floats) -> list[str]:
    """Return numbers as lines of a C initialiser."""
    return [f"        {float(value)!r}," for value in values]
