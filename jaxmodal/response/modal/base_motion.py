"""Base motions as inputs: the rigid motion they impose, and the exact response relative to it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jaxmodal.arm.arm import Arm
from jaxmodal.arm.arrays import beam_values
from jaxmodal.arm.loaded import under_forces
from jaxmodal.arm.serial_arms import SerialArm
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.response.driven.members import rows_on_segments
from jaxmodal.response.driven.ports import RELATIVE, Port, port_row
from jaxmodal.response.driven.spatial_readings import carried_in_space
from jaxmodal.response.exact.frequency_response import motions
from jaxmodal.response.static.compliance import point_of, read_of
from jaxmodal.runtime.array_types import Complexes, Floats
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.arms.arm import AnyArm, SpatialArm
from jaxmodal.statics.beam_arrays import SUPPORTS
from jaxmodal.statics.chain import geometry


def require_free_tips(arm: SerialArm, inputs: Sequence[Port]) -> None:
    """Refuse a base motion of an arm with supports, which do not move with the base and bend the arm.

    Raises
    ------
    ArmError
    """
    moving = [each for each in inputs if each.place == "base"]
    for number, link in enumerate(arm.links, start=1):
        for name in SUPPORTS:
            if moving and getattr(link, name, None):
                raise ArmError(
                    f"inputs: {str(moving[0])!r}: the arm has a support, link{number}.{name}, which does not move with "
                    "the base; sums over modes take motions of the base of arms without supports only: use "
                    "frequency_response with quantity='transmissibility'."
                )


def refuse_turned_base(arm: SerialArm, inputs: Sequence[Port]) -> None:
    """Refuse a base rotation of an arm under static forces, which keep their directions and do work on it.

    Raises
    ------
    ArmError
    """
    for each in inputs:
        if each.place == "base" and each.turns and under_forces(arm):
            raise ArmError(
                f"inputs: {str(each)!r}: the arm is under an axial force or loads, which keep their directions and "
                "drive it when the base turns; modal sums contain only inertia forces: use frequency_response "
                "with quantity='transmissibility'."
            )


def motion_of_base(found: Port, arm: Arm) -> Floats:
    """Return the ground motion of a base port: along x, along y, and rotation."""
    u, v, turn = np.asarray(port_row(Port("joint", found.direction, 1), arm).row, np.float64)
    angle = float(arm.links[0].joint_angle)
    sine, cosine = np.sin(angle), np.cos(angle)
    return np.array([cosine * u - sine * v, sine * u + cosine * v, turn])


def carried(arm: AnyArm, inputs: Sequence[Port], outputs: Sequence[Port]) -> Floats:
    """Return the output motions of a rigid arm that moves with its base, shape (outputs, inputs); 0 for forces."""
    if isinstance(arm, SpatialArm):
        return carried_in_space(arm, inputs, outputs)
    found = np.zeros((len(outputs), len(inputs)))
    shape = geometry(beam_values(arm))
    rows = rows_on_segments(arm, outputs)
    for i, driven in enumerate(inputs):
        if driven.place != "base":
            continue
        x, y, rotation = motion_of_base(driven, arm)
        for o, (read, row) in enumerate(zip(outputs, rows, strict=True)):
            if read.direction != RELATIVE:
                at = point_of(shape, row)
                moved = (x - rotation * at[1], y + rotation * at[0], rotation)
                found[o, i] = read_of(shape, row, moved)
    return found


def exact_receptance(
    arm: AnyArm,
    omega: Floats,
    inputs: Sequence[Port],
    outputs: Sequence[Port],
    theory: TheoryName,
) -> Complexes:
    """Return exact motions (p, m, F) for unit forces, and relative to the base for its unit accelerations."""
    found, at_base = motions(arm, omega, inputs, outputs, theory)
    if at_base.any():
        rigid = carried(arm, inputs, outputs)[:, at_base, None]
        found[:, at_base] = (found[:, at_base] - rigid) / -(omega * omega)
    return found
