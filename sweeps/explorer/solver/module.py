"""The solver as a module of JavaScript with the library's own constants, and an arm as the text that it reads."""

from __future__ import annotations

import json
import math
from importlib import resources

from jaxmodal.arithmetic import double_double as dd
from jaxmodal.arithmetic import operations
from jaxmodal.arithmetic.operations import Arithmetic
from jaxmodal.arm.addresses import ALIASES
from jaxmodal.arm.arm import Arm
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.dynamic_stiffness.evaluation import CERTAIN
from jaxmodal.dynamic_stiffness.link_constants import GROUND, ROTOR
from jaxmodal.frequencies.certificate import EPS, TOLERANCE
from jaxmodal.frequencies.resolution import RESOLVED
from sweeps.explorer.solver.programs import arm_programs
from sweeps.explorer.solver.tapes import OPERATIONS

#: of the texts of arms; one more with every change of what they hold
FORMAT = "jaxmodal arm 1"
_PLACE = "// @generated constants\n"
#: in the order in which they need each other; together they are one module
SCRIPTS = ("arithmetic.js", "arm.js", "search.js", "shapes.js")


def module_text() -> str:
    """The solver as the text of an ES module.

    It exports ``loadArm(json)``, ``setValue(arm, address, value)``, ``frequencies(arm, nModes)`` and
    ``shape(arm, omega, pointsPerLink)``; what they take and return stands beside them.
    """
    constants = {
        "FORMAT": FORMAT,
        "OPERATIONS": OPERATIONS,
        "GROUND": GROUND,
        "ROTOR": ROTOR,
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
    lines = [f"const {name} = {json.dumps(value)};\n" for name, value in constants.items()]
    folder = resources.files(__package__)
    source = "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in SCRIPTS)
    return source.replace(_PLACE, "".join(lines))


def arm_json(arm: Arm, theory: TheoryName = "timoshenko") -> str:
    """A planar arm as the text that ``loadArm`` of the module reads.

    Parameters
    ----------
    arm : Arm
        The arm; its structure (which links are rigid, which features there are) is fixed, its values can be set.
    theory : str
        As for `jaxmodal.natural_frequencies`.

    Raises
    ------
    ArmError
        The arm is in space, or under forces at rest, or is refused by `jaxmodal.natural_frequencies`, too.
    """
    written = {"format": FORMAT, "aliases": ALIASES, **arm_programs(arm, theory)}
    return json.dumps(written, allow_nan=False, separators=(",", ":"))
