"""Data with which the page of a sweep solves its arm exactly, also between the cells."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from jaxmodal.arm.addresses import resolve_address
from jaxmodal.arm.arm import Arm
from jaxmodal.dynamic_stiffness.beams import theory_named
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.arms.arm import SpatialArm
from sweeps.explorer.solver import arm_json


def between_cells(
    arm: Arm | SpatialArm, theories: Sequence[str], axes: Sequence[Sequence[str]]
) -> dict[str, Any]:
    """The arm as the solver in the page reads it, and which values the columns of every axis set.

    Parameters
    ----------
    arm
        The arm of a sweep, with the values of axes that have been selected.
    theories
        Those of the sweep.
    axes
        The parameters that every axis sets.

    Returns
    -------
    dict
        ``arms``, one for each theory, ``addresses`` of every column of every axis, ``space``; or ``why`` there is none.
    """
    try:
        arms = [json.loads(arm_json(arm, theory_named(theory))) for theory in theories]
        addresses = [[resolve_address(arm, parameter) for parameter in columns] for columns in axes]
    except ArmError as error:
        return {"why": str(error)}
    fixed = [
        name
        for columns in addresses
        for names in columns
        for name in names
        if name not in arms[0]["addresses"]
    ]
    if fixed:
        return {"why": f"{', '.join(fixed)}: the solver in the page cannot change this."}
    return {"arms": arms, "addresses": addresses, "space": isinstance(arm, SpatialArm)}
