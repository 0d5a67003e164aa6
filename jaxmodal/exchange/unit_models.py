"""C sources of models x' = f(x, u), y = g(x, u): equations of motion of an arm, and linear systems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaxmodal.arm.quantities import shown
from jaxmodal.dynamics.mechanics.free_bases import require_held_base
from jaxmodal.dynamics.model import FlexibleModel
from jaxmodal.dynamics.model_in_space import SpatialFlexibleArm
from jaxmodal.response.modal.state_space import StateSpace
from jaxmodal.runtime.errors import ArmError
from jaxmodal.symbolic.c_code import c_files
from jaxmodal.symbolic.python_code import function
from jaxmodal.symbolic.writers import writer_of

Floats = NDArray[np.float64]

#: number of postures, in addition to the first, in which the fastest oscillation is searched
_LOOKED_AT = 16
_EQUATIONS = "arm_equations"
_MEANINGS = {
    "B": "inertia matrix",
    "h": "Coriolis and centrifugal forces",
    "s": "K q + D q' + c(q') + g(q)",
    "p": "place of the tip",
}


class Variable(NamedTuple):
    """A variable of a unit: name, unit, description and start value."""

    name: str
    unit: str
    meaning: str
    start: float = 0.0


class UnitModel(NamedTuple):
    """A model with the data that the sources of a unit need; ``fastest`` is its fastest eigenvalue, rad/s."""

    name: str
    inputs: tuple[Variable, ...]
    states: tuple[Variable, ...]
    rates: tuple[Variable, ...]
    outputs: tuple[Variable, ...]
    fastest: float
    sources: dict[str, str]


def arm_model(model: FlexibleModel, start: Floats) -> UnitModel:
    """Return the equations of motion of an arm; states are coordinates and their rates, inputs motor torques."""
    _check(model)
    writer = writer_of(model, "numeric")
    tip = writer.tip()
    made = {
        "B": writer.inertia(),
        "h": writer.velocity_forces(),
        "s": writer.steady(),
        "p": tip,
    }
    equations = writer.written(made, _MEANINGS, "numeric")
    size, joints = model.num_coordinates, model.num_links
    names, units = model.layout.names, _units(model)
    states = [
        Variable(name, unit, f"coordinate {name}", float(value))
        for name, unit, value in zip(names, units, start[:size], strict=True)
    ]
    states += [
        Variable(f"{name}.rate", f"{unit}/s", f"rate of {name}", float(value))
        for name, unit, value in zip(names, units, start[size:], strict=True)
    ]
    rates = [Variable(f"der({s.name})", f"{s.unit}/s", f"derivative of {s.name}") for s in states]
    outputs = [Variable(f"joint{i + 1}.angle", "rad", "angle of the joint") for i in range(joints)]
    outputs += [
        Variable(f"joint{i + 1}.rate", "rad/s", "rate of the joint's angle") for i in range(joints)
    ]
    outputs += [
        Variable(f"tip.{axis}", "m", "place of the tip")
        for axis, _ in zip("xyz", tip, strict=False)
    ]
    files = c_files(equations, _EQUATIONS)
    files.pop(f"{_EQUATIONS}_test.c")
    return UnitModel(
        "arm",
        tuple(Variable(f"torque{i + 1}", "N.m", "torque of the motor") for i in range(joints)),
        tuple(states),
        tuple(rates),
        tuple(outputs),
        _fastest(model, function(equations), start[:size]),
        files | {"model.c": _arm_source(size, joints, len(tip), model.layout.driven)},
    )


def _check(model: FlexibleModel) -> None:
    """Raise an error for models that a unit does not support: other states, other joints, elastic or driven bases."""
    require_held_base(model, "a unit of FMI")
    if isinstance(model, SpatialFlexibleArm) and not model.is_of_turning_links:
        raise ArmError(
            "model: has joints that slide, segments, or a base that is elastic or driven, which units of FMI do not "
            "know; must be of links that turn at joints, on a clamped base."
        )
    sprung = [str(i) for i, number in enumerate(getattr(model, "springs", ()), start=1) if number]
    if sprung:
        raise ArmError(
            f"model: joint {', '.join(sprung)} has joint_springs, which units of FMI do not know; must be without "
            "them: joint_stiffness is a spring about the joint's axis."
        )


def linear_model(system: StateSpace) -> UnitModel:
    """Return the model of a linear system, with the names of its inputs, outputs and states."""
    if system.time_step is not None:
        raise ArmError(
            f"system: has time_step = {shown(system.time_step)}, and a unit integrates derivatives; give the "
            "continuous one, before discrete()."
        )
    states = tuple(Variable(name, "1", "state") for name in system.states)
    return UnitModel(
        "linear",
        tuple(Variable(name, "1", "input") for name in system.inputs),
        states,
        tuple(Variable(f"der({s.name})", "1", f"derivative of {s.name}") for s in states),
        tuple(Variable(name, "1", "output") for name in system.outputs),
        float(np.abs(system.poles).max()),
        {"model.c": _linear_source(system)},
    )


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
            "/* of a step, relative and absolute; 0 where all steps are alike */",
            f"#define MODEL_TOLERANCE {tolerance!r}",
            "",
            "static const double model_start[MODEL_STATES] = {",
            *_rows([state.start for state in model.states]),
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


def _units(model: FlexibleModel) -> list[str]:
    """Return the units of coordinates: rad for joints and motors, 1 for modal coordinates (scaled as the model)."""
    modal = model.layout.modal
    return ["1" if modal.start <= k < modal.stop else "rad" for k in range(model.num_coordinates)]


def _fastest(model: FlexibleModel, compute: Any, start: Floats) -> float:
    """Return the largest eigenvalue of small motions at rest, over postures; gravity and friction are neglected."""
    size = model.num_coordinates
    stiffness, damping = np.asarray(model.stiffness), np.asarray(model.damping)
    angles = np.random.default_rng(0).uniform(-np.pi, np.pi, (_LOOKED_AT, model.num_links))
    found = 0.0
    for k in range(_LOOKED_AT + 1):
        q = np.array(start)
        if k:
            q[: model.num_links] = angles[k - 1]
        inertia = compute(q, np.zeros(size))["B"]
        solved = np.linalg.solve(inertia, np.concatenate([stiffness, damping], axis=1))
        matrix = np.block([[np.zeros((size, size)), np.eye(size)], [-solved]])
        found = max(found, float(np.abs(np.linalg.eigvals(matrix)).max()))
    return found


def _arm_source(size: int, joints: int, places: int, driven: NDArray[np.int64]) -> str:
    driven_text = ", ".join(str(int(place)) for place in driven)
    return f"""/* B q'' = Q u - h - s: the written equations of an arm, solved by Cholesky's factors. */
#include <math.h>
#include "{_EQUATIONS}.h"
#include "model.h"

enum {{ SIZE = {size}, JOINTS = {joints}, PLACES = {places} }};

static const int driven[JOINTS] = {{{driven_text}}};

int model_derivatives(const double x[], const double u[], double rate[])
{{
    double B[SIZE][SIZE], h[SIZE], s[SIZE], p[PLACES], right[SIZE];
    {_EQUATIONS}(x, x + SIZE, B, h, s, p);
    for (int i = 0; i < SIZE; i++)
        right[i] = -h[i] - s[i];
    for (int j = 0; j < JOINTS; j++)
        right[driven[j]] += u[j];
    for (int i = 0; i < SIZE; i++) {{
        for (int j = 0; j <= i; j++) {{
            double left = B[i][j];
            for (int k = 0; k < j; k++)
                left -= B[i][k] * B[j][k];
            if (j < i) {{
                B[i][j] = left / B[j][j];
            }} else {{
                if (!(left > 0.0))
                    return 1;
                B[i][i] = sqrt(left);
            }}
        }}
    }}
    for (int i = 0; i < SIZE; i++) {{
        for (int k = 0; k < i; k++)
            right[i] -= B[i][k] * right[k];
        right[i] /= B[i][i];
    }}
    for (int i = SIZE - 1; i >= 0; i--) {{
        for (int k = i + 1; k < SIZE; k++)
            right[i] -= B[k][i] * right[k];
        right[i] /= B[i][i];
    }}
    for (int i = 0; i < SIZE; i++) {{
        rate[i] = x[SIZE + i];
        rate[SIZE + i] = right[i];
    }}
    return 0;
}}

void model_outputs(const double x[], const double u[], double y[])
{{
    double B[SIZE][SIZE], h[SIZE], s[SIZE], p[PLACES];
    (void)u;
    {_EQUATIONS}(x, x + SIZE, B, h, s, p);
    for (int i = 0; i < JOINTS; i++) {{
        y[i] = x[i];
        y[JOINTS + i] = x[SIZE + i];
    }}
    for (int i = 0; i < PLACES; i++)
        y[2 * JOINTS + i] = p[i];
}}
"""


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
