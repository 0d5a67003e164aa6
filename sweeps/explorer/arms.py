"""Data of the page of an arm: the arm for the solver in the page, sliders and picture."""

from __future__ import annotations

import json
from typing import Any

import jax
import numpy as np

import jaxmodal
from jaxmodal.arm.arm import Arm
from jaxmodal.arm.facts import IN_PLANE
from jaxmodal.arm.loaded import segments
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.spatial.arms.arm import AnyArm, SpatialArm
from sweeps.explorer.arm_texts import text_with_places
from sweeps.explorer.data import picture
from sweeps.explorer.plane_sliders import CLOSED, plane_sliders
from sweeps.explorer.solver import arm_json
from sweeps.explorer.space import space_page_data

#: modes in the table
MODES = 10
#: points of each link at which a mode is drawn; links that are split into pieces have fewer per piece
POINTS = 15


def arm_page_data(arm: AnyArm, theory: TheoryName = "timoshenko") -> dict[str, Any]:
    """Return the data of an arm's page as plain values.

    Parameters
    ----------
    arm : Arm
        The arm.
    theory : str
        As for `jaxmodal.natural_frequencies`.

    Raises
    ------
    ArmError
        The solver in the page does not support the forces at rest (see `sweeps.explorer.solver.arm_json`).
    """
    if isinstance(arm, SpatialArm):
        pieces, shown = 1, space_page_data(arm, theory)
    else:
        pieces, shown = max(segments(arm.loads, [False])), _plane(arm, theory)
    return {
        "title": f"{arm.name or 'arm'}, {theory}",
        "space": "z" in arm.directions,
        "modes": MODES,
        "points": max(4, POINTS // pieces),
        "motors": motors(arm),
        **shown,
        "toml": text_with_places(arm, [slider["address"] for slider in shown["sliders"]]),
        "versions": {
            "jaxmodal_version": jaxmodal.__version__,
            "jax_version": jax.__version__,
            "numpy_version": np.__version__,
        },
    }


def motors(arm: AnyArm) -> list[int]:
    """Return the indices of links, from 0, whose joints can have a motor: the joints that do not slide."""
    return [k - 1 for k in arm.joints if not arm.slides(k)]


def _plane(arm: Arm, theory: TheoryName) -> dict[str, Any]:
    solved = json.loads(arm_json(arm, theory))
    return {
        "solved": solved,
        "sliders": plane_sliders(arm, solved["addresses"]),
        "folded": CLOSED,
        "picture": picture(arm),
        "depths": [_depth(arm, k) for k in range(arm.num_links)],
    }


def _depth(arm: Arm, k: int) -> str | None:
    """Return the address of the value that the picture draws as the depth of a link; None without one."""
    section = arm.links[k].section
    return next(
        (f"link{k + 1}.section.{name}" for name in IN_PLANE if hasattr(section, name)), None
    )
