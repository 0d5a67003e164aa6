"""Data with which the page of a sweep solves the arm exactly, also between the cells."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from jaxmodal.arm.addresses import resolve_address
from jaxmodal.dynamic_stiffness.beams import theory_named
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.arms.arm import AnyArm
from sweeps.explorer.solver import arm_json


def between_cells(
    arm: AnyArm, theories: Sequence[str], axes: Sequence[Sequence[str]]
) -> dict[str, Any]:
    """Return the arm in the form of the solver in the page, and the values that the columns of each axis set.

    Parameters
    ----------
    arm
        Arm of the sweep, with the selected values of axes.
    theories
        Beam theories of the sweep.
    axes
        Parameters that each axis sets.

    Returns
    -------
    dict
        ``arms``, one per theory; ``addresses`` of every column of every axis; ``space``, True for an arm in space;
        ``loads``, True for one in space under loads. If the page cannot solve the arm: only ``why``, the reason.
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
    loads = bool(arms[0].get("rest"))
    return {"arms": arms, "addresses": addresses, "space": "z" in arm.directions, "loads": loads}
