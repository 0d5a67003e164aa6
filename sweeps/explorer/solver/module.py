"""The solver as a JavaScript module with the library's constants, and an arm as the text that it reads."""

from __future__ import annotations

import json
import math
from importlib import resources
from typing import Any

from jaxmodal.arithmetic import double_double as dd
from jaxmodal.arithmetic import operations
from jaxmodal.arithmetic.operations import Arithmetic
from jaxmodal.arm.addresses import ALIASES
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.dynamic_stiffness.condensation import ROUNDING
from jaxmodal.dynamic_stiffness.evaluation import CERTAIN
from jaxmodal.dynamic_stiffness.link_constants import GROUND
from jaxmodal.dynamic_stiffness.member import FreeEndMember
from jaxmodal.dynamic_stiffness.rigid_motions import STILL
from jaxmodal.frequencies.certificate import EPS, TOLERANCE
from jaxmodal.frequencies.resolution import RESOLVED
from jaxmodal.response.driven.loaded_chains import RIGIDITIES
from jaxmodal.spatial.arms.arm import AnyArm, SpatialArm
from jaxmodal.spatial.modes.values import BeamValues
from jaxmodal.spatial.preload import condensation, members
from jaxmodal.spatial.preload.chain import LOOKED_AT
from jaxmodal.spatial.preload.loaded import ROUNDING as ROUNDING_AT_REST
from jaxmodal.spatial.preload.series import TERMS
from jaxmodal.spatial.preload.vibrating import NEARLY_ZERO
from jaxmodal.spatial.stiffness.condensation import BODY_INERTIA, BODY_MASS
from jaxmodal.spatial.stiffness.model import NO_ROOM, SLOWLY
from jaxmodal.statics import load_factors
from jaxmodal.statics.equilibrium import BALANCED
from jaxmodal.statics.link_parts import REFLECTED
from jaxmodal.statics.stability import NO_STIFFNESS
from sweeps.explorer.solver.programs import LEVER, arm_programs
from sweeps.explorer.solver.spatial_layouts import OF_LOAD
from sweeps.explorer.solver.spatial_programs import spatial_programs
from sweeps.explorer.solver.tapes import OPERATIONS

#: formats of the texts of planar arms, of arms in space, and of those under loads; their numbers increase with every
#: change
FORMAT, SPACE_FORMAT = "jaxmodal arm 3", "jaxmodal arm in space 4"
REST_FORMAT = "jaxmodal arm in space under loads 2"
_PLACE = "// @generated constants\n"
#: scripts that together form one module for arms of one kind; each needs only scripts before it
_FIRST = ("arithmetic.js", "members.js", "ports.js")
_LAST = ("search.js", "answers.js")
_DAMPED = ("damped.js",)
SCRIPTS = (*_FIRST, *_DAMPED, "arm.js", "shapes.js", "plane_damped.js", *_LAST)
_IN_SPACE = (*_FIRST, "space.js", "space_places.js")
SPACE_SCRIPTS = (
    *_IN_SPACE,
    *(*_DAMPED, "space_determinant.js", "space_supports.js", "space_shapes.js", "space_damped.js"),
    *_LAST,
)
#: determinants, supports, shapes and damping of other arms in space hold for none under loads
REST_SCRIPTS = (
    *_IN_SPACE,
    *("matrices.js", "space_pieces.js", "space_held.js", "space_rest.js", "space_rest_damped.js"),
    *_LAST,
)


#: numbers of arms in space under loads: of the pieces of links, of counts, of what is rounding
_AT_REST = {
    "stages": members.STAGES,
    "points": members.POINTS.tolist(),
    "weights": members.WEIGHTS.tolist(),
    "integrals": members.INTEGRALS.tolist(),
    "terms": TERMS,
    "most": members.MOST_PIECES,
    "shares": LOOKED_AT.tolist(),
    "nearlySingular": condensation.NEARLY_SINGULAR,
    "rounded": condensation.ROUNDED,
    "acts": condensation.ACTS,
    "noRoom": NO_ROOM,
    "rounding": ROUNDING_AT_REST,
    "noStiffness": NO_STIFFNESS,
    "nearlyZero": NEARLY_ZERO,
    "balanced": BALANCED,
    "still": STILL,
    "moduli": [BeamValues._fields.index(name) for name in RIGIDITIES],
    "close": load_factors.CLOSE,
    "widest": load_factors.WIDEST,
}


def module_text(in_space: bool = False, under_loads: bool = False) -> str:
    """Return the text of the solver as an ES module: for planar arms, arms in space, or those under loads.

    It exports ``loadArm(json)``, ``setValue(arm, address, value)``, ``setValues(arm, values)``,
    ``frequencies(arm, nModes)``,
    ``shape(arm, omega, pointsPerLink)``, ``slopes(arm, omega, addresses)`` and
    ``receptances(arm, omega, port, port, loss, own)``; the source describes arguments and results.
    """
    if under_loads and not in_space:
        raise ValueError(
            "under_loads: one text serves planar arms with and without loads; leave it out."
        )
    at_rest = under_loads
    constants = {
        "FORMAT": REST_FORMAT if at_rest else SPACE_FORMAT if in_space else FORMAT,
        "OPERATIONS": OPERATIONS,
        "GROUND": GROUND,
        "ROTOR": REFLECTED,
        "LEVER": LEVER,
        "MEMBER_FIELDS": FreeEndMember._fields,
        "BODY_MASS": BODY_MASS,
        "BODY_INERTIA": BODY_INERTIA,
        "OF_LOAD": OF_LOAD,
        "SLOWLY": SLOWLY,
        "NO_ROOM": NO_ROOM,
        "ROUNDING": ROUNDING,
        "CERTAIN": CERTAIN,
        "TOLERANCE": TOLERANCE,
        "EPS": EPS,
        "RESOLVED": {
            "float64": RESOLVED[Arithmetic.float64],
            "double": RESOLVED[Arithmetic.double_double],
        },
        "PI": operations.PI_PARTS,
        "SIN": operations.SIN_SERIES,
        "COS": operations.COS_SERIES,
        "SINH_RATIO": [1.0 / math.factorial(2 * k + 1) for k in range(9)],
        "HALF_PI": [dd.HALF_PI[0], dd.HALF_PI[1].tolist()],
        "LOG_2": [dd.LOG_2[0], dd.LOG_2[1].tolist()],
        "SERIES": {name: rows.tolist() for name, rows in dd.SERIES_PARTS.items()},
        "EXP_HALVINGS": dd.EXP_HALVINGS,
    }
    if at_rest:
        constants["REST"] = _AT_REST
    lines = [f"const {name} = {json.dumps(value)};\n" for name, value in constants.items()]
    folder = resources.files(__package__)
    scripts = REST_SCRIPTS if at_rest else SPACE_SCRIPTS if in_space else SCRIPTS
    source = "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in scripts)
    return source.replace(_PLACE, "".join(lines))


def arm_json(arm: AnyArm, theory: TheoryName = "timoshenko") -> str:
    """Return an arm as the text that ``loadArm`` of the module reads.

    Parameters
    ----------
    arm : Arm or SpatialArm
        The arm. Its structure (rigid links, optional features) is fixed, its values can be set. In space these are
        positions and stiffnesses of joints, dimensions and material of elastic links, bodies, offsets, lengths of
        rigid links, the elastic base and supports.
    theory : str
        As for `jaxmodal.natural_frequencies`.

    Raises
    ------
    ArmError
        The solver in the page does not support the forces at rest, or `jaxmodal.natural_frequencies` refuses the arm.
    """
    written: dict[str, Any] = {"aliases": ALIASES}
    if isinstance(arm, SpatialArm):
        own = SPACE_FORMAT if arm.loads is None else REST_FORMAT
        written |= {"format": own, **spatial_programs(arm, theory)}
    else:
        written |= {"format": FORMAT, **arm_programs(arm, theory)}
    return json.dumps(written, allow_nan=False, separators=(",", ":"))
