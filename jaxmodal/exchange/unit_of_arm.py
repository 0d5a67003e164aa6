"""C source of the equations of motion of an arm as x' = f(x, u), y = g(x, u), on every base."""

from __future__ import annotations

from typing import Any

import numpy as np

from jaxmodal.dynamics.mechanics.free_bases import require_pose
from jaxmodal.dynamics.model import FlexibleModel, require_motor_inertia
from jaxmodal.exchange.unit_models import UnitModel, Variable
from jaxmodal.runtime.array_types import Floats
from jaxmodal.symbolic.c_code import c_files
from jaxmodal.symbolic.python_code import function
from jaxmodal.symbolic.writers import writer_of

#: number of postures, in addition to the first, in which the fastest oscillation is searched
_LOOKED_AT = 16
_EQUATIONS = "arm_equations"
_MEANINGS = {
    "B": "inertia matrix",
    "h": "Coriolis and centrifugal forces",
    "s": "K q + D q' + c(q') + g(q)",
    "p": "place of the tip",
}


def arm_model(model: FlexibleModel, start: Floats) -> UnitModel:
    """Return the equations of motion of an arm.

    States are coordinates and rates, inputs the torques or forces of the motors and the accelerations of a driven base.
    """
    require_motor_inertia(model)
    require_pose(model, "start", start[: model.num_coordinates])
    writer = writer_of(model, "numeric")
    tip = writer.tip()
    made = {
        "B": writer.inertia(),
        "h": writer.velocity_forces(),
        "s": writer.steady(),
        "p": tip,
    }
    equations = writer.written(made, _MEANINGS, "numeric")
    states = [
        state._replace(start=float(value))
        for state, value in zip(_states(model), start, strict=True)
    ]
    files = c_files(equations, _EQUATIONS)
    files.pop(f"{_EQUATIONS}_test.c")
    fastest, stiffest = _fastest(model, function(equations), start[: model.num_coordinates])
    return UnitModel(
        "arm",
        tuple(_inputs(model)),
        tuple(states),
        tuple(Variable(f"der({s.name})", f"{s.unit}/s", f"derivative of {s.name}") for s in states),
        tuple(_outputs(model, len(tip))),
        fastest,
        stiffest,
        files | {"model.c": _source(model, len(tip))},
    )


def _joint_units(model: FlexibleModel) -> list[str]:
    return ["rad" if turns else "m" for turns in model.layout.turns]


def _inputs(model: FlexibleModel) -> list[Variable]:
    found = [
        Variable(f"torque{i}", "N.m", "torque of the motor")
        if unit == "rad"
        else Variable(f"force{i}", "N", "force of the motor")
        for i, unit in enumerate(_joint_units(model), start=1)
    ]
    for place in model.layout.given:
        name = model.layout.names[place]
        unit = f"{_units(model)[place]}/s/s"
        found.append(Variable(f"{name}.acceleration", unit, f"second derivative of {name}"))
    return found


def _states(model: FlexibleModel) -> list[Variable]:
    """Return coordinates and rates in order; those of a free base are its pose and its two velocities."""
    layout = model.layout
    own = list(zip(layout.names[: layout.size], _units(model), strict=True))
    coordinates = [Variable(name, unit, f"coordinate {name}") for name, unit in own]
    rates = [Variable(f"{name}.rate", f"{unit}/s", f"rate of {name}") for name, unit in own]
    if model.floats:
        coordinates += [Variable(f"base.{a}", "m", "place of the base") for a in "xyz"]
        coordinates += [Variable(f"base.q{a}", "1", "quaternion of the base") for a in "wxyz"]
        rates += [Variable(f"base.v{a}", "m/s", "velocity of the base in its axes") for a in "xyz"]
        turning = "angular velocity of the base in its axes"
        rates += [Variable(f"base.w{a}", "rad/s", turning) for a in "xyz"]
    return [*coordinates, *rates]


def _outputs(model: FlexibleModel, places: int) -> list[Variable]:
    units = list(enumerate(_joint_units(model), start=1))
    named = {"rad": "angle", "m": "position"}
    found = [Variable(f"joint{i}.{named[u]}", u, f"{named[u]} of the joint") for i, u in units]
    found += [
        Variable(f"joint{i}.rate", f"{u}/s", f"rate of the joint's {named[u]}") for i, u in units
    ]
    found += [Variable(f"tip.{a}", "m", "place of the tip") for a in "xyz"[:places]]
    if model.floats:
        found += [Variable(f"base.position.{a}", "m", "place of the base") for a in "xyz"]
        turned = "quaternion of the base, of length 1"
        found += [Variable(f"base.quaternion.{a}", "1", turned) for a in "wxyz"]
    return found


def _units(model: FlexibleModel) -> list[str]:
    """Return the units of coordinates, but those of a free base; 1 for shapes and springs of joints."""
    layout, joints = model.layout, _joint_units(model)
    of_base = {"displacement": "m", "rotation": "rad"}
    modal = [
        of_base.get(kind, "1") if link == 0 else "1" for link, kind, _ in layout.modal_coordinates
    ]
    motors = [unit for unit, spring in zip(joints, model.elastic, strict=True) if spring]
    return [*joints, *modal, *motors]


def _fastest(model: FlexibleModel, compute: Any, start: Floats) -> tuple[float, float]:
    """Return the largest eigenvalues of small motions at rest, over postures, without and with dry friction.

    Friction is steepest at rest, where it holds a joint as a damper does. Gravity is neglected.
    """
    loose = model.layout.loose > 0.0
    kept = np.ix_(loose, loose)
    driven = np.asarray(model.layout.driven)
    rubbed = np.array(model.damping)
    rubbed[driven, driven] += np.asarray(model.coulomb) / float(model.coulomb_width)
    stiffness, smooth, rubbed = (
        np.asarray(table)[kept] for table in (model.stiffness, model.damping, rubbed)
    )
    dampings = [smooth, rubbed] if np.any(rubbed != smooth) else [smooth]
    size, turning = len(stiffness), np.flatnonzero(model.layout.turns)
    angles = np.random.default_rng(0).uniform(-np.pi, np.pi, (_LOOKED_AT, turning.size))
    found = np.zeros(len(dampings))
    for k in range(_LOOKED_AT + 1):
        q = np.array(start)
        if model.floats:
            q[-4:] /= np.linalg.norm(q[-4:])
        if k:
            q[turning] = angles[k - 1]
        inertia = compute(q, np.zeros(model.num_rates))["B"][kept]
        for place, damping in enumerate(dampings):
            solved = np.linalg.solve(inertia, np.concatenate([stiffness, damping], axis=1))
            matrix = np.block([[np.zeros((size, size)), np.eye(size)], [-solved]])
            found[place] = max(found[place], float(np.abs(np.linalg.eigvals(matrix)).max()))
    return float(found[0]), float(found[-1])


#: of a base that moves as it is told: its rows become x'' = u
_GIVEN = """    for (int g = GIVEN; g < GIVEN + 6; g++)
        for (int i = 0; i < SIZE; i++)
            right[i] -= B[i][g] * u[JOINTS + g - GIVEN];
    for (int g = GIVEN; g < GIVEN + 6; g++) {
        for (int i = 0; i < SIZE; i++)
            B[i][g] = B[g][i] = 0.0;
        B[g][g] = 1.0;
        right[g] = u[JOINTS + g - GIVEN];
    }
"""
#: of a base that floats: a quaternion of length 1, and the derivatives of its pose
_FREE = """/* coordinates with a quaternion of length 1, which the written equations want */
static void prepared(const double x[], double q[COORDINATES])
{
    const double *p = x + COORDINATES - 4;
    const double size = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3]);
    for (int i = 0; i < COORDINATES; i++)
        q[i] = i < COORDINATES - 4 ? x[i] : x[i] / size;
}

static void cross(const double a[3], const double b[3], double c[3])
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

/* of place and quaternion, from velocity v and angular velocity w in the axes of the base */
static void pose_rates(const double x[], const double q[COORDINATES], double rate[])
{
    const double *p = x + COORDINATES - 4, *turn = q + COORDINATES - 4;
    const double *v = x + COORDINATES + SIZE - 6, *w = v + 3;
    double once[3], twice[3], side[3];
    cross(turn + 1, v, once);
    cross(turn + 1, once, twice);
    cross(p + 1, w, side);
    for (int a = 0; a < 3; a++) {
        rate[COORDINATES - 7 + a] = v[a] + 2.0 * (turn[0] * once[a] + twice[a]);
        rate[COORDINATES - 3 + a] = 0.5 * (p[0] * w[a] + side[a]);
    }
    rate[COORDINATES - 4] = -0.5 * (p[1] * w[0] + p[2] * w[1] + p[3] * w[2]);
}

"""


def _source(model: FlexibleModel, places: int) -> str:
    layout, free = model.layout, model.floats
    driven = ", ".join(str(int(place)) for place in layout.driven)
    given = f", GIVEN = {layout.given[0]}" if layout.given.size else ""
    sizes = f"SIZE = {model.num_rates}, COORDINATES = {model.num_coordinates}, OWN = {layout.size}"
    at, prepare = ("q", "    prepared(x, q);\n") if free else ("x", "")
    room = ", q[COORDINATES]" if free else ""
    base = "        y[2 * JOINTS + PLACES + i] = q[COORDINATES - 7 + i];\n"
    base = f"    for (int i = 0; i < 7; i++)\n{base}" if free else ""
    return f"""/* B q'' = Q u - h - s: the written equations of an arm, solved by Cholesky's factors. */
#include <math.h>
#include "{_EQUATIONS}.h"
#include "model.h"

enum {{ {sizes}, JOINTS = {model.num_links}, PLACES = {places}{given} }};

static const int driven[JOINTS] = {{{driven}}};

{_FREE if free else ""}int model_derivatives(const double x[], const double u[], double rate[])
{{
    double B[SIZE][SIZE], h[SIZE], s[SIZE], p[PLACES], right[SIZE]{room};
{prepare}    {_EQUATIONS}({at}, x + COORDINATES, B, h, s, p);
    for (int i = 0; i < SIZE; i++)
        right[i] = -h[i] - s[i];
    for (int j = 0; j < JOINTS; j++)
        right[driven[j]] += u[j];
{_GIVEN if given else ""}    for (int i = 0; i < SIZE; i++) {{
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
    for (int i = 0; i < OWN; i++)
        rate[i] = x[COORDINATES + i];
{"    pose_rates(x, q, rate);" + chr(10) if free else ""}    for (int i = 0; i < SIZE; i++)
        rate[COORDINATES + i] = right[i];
    return 0;
}}

void model_outputs(const double x[], const double u[], double y[])
{{
    double B[SIZE][SIZE], h[SIZE], s[SIZE], p[PLACES]{room};
    (void)u;
{prepare}    {_EQUATIONS}({at}, x + COORDINATES, B, h, s, p);
    for (int i = 0; i < JOINTS; i++) {{
        y[i] = x[i];
        y[JOINTS + i] = x[COORDINATES + i];
    }}
    for (int i = 0; i < PLACES; i++)
        y[2 * JOINTS + i] = p[i];
{base}}}
"""
