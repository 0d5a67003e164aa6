"""Frequency response of planar arms: of one arm, whose values may be traced, or of many variants at once.

With the motions of their ports as the rigid arm moves with its base.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxmodal.arm.arm import Arm
from jaxmodal.arm.arrays import beam_values
from jaxmodal.arm.columns import require_variants
from jaxmodal.arm.parameters import set_parameters
from jaxmodal.dynamic_stiffness.beams import TheoryName, theory_flags
from jaxmodal.response.driven.held_places import require_moving
from jaxmodal.response.driven.held_tips import require_soft, require_unvaried, rigid_supports
from jaxmodal.response.driven.members import rows_on_segments
from jaxmodal.response.driven.ports import RELATIVE, Port, port_row
from jaxmodal.response.driven.systems import system_of
from jaxmodal.response.receptance.posture_sums import responses_of_postures
from jaxmodal.response.static.buckled import buckled_arms
from jaxmodal.response.static.in_plane import point_of, read_of
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.namespace import Array
from jaxmodal.statics.chain import geometry


def answers_in_plane(
    arm: Arm,
    theory: TheoryName,
    lowered: Any,
    columns: tuple[Sequence[str], Floats] | None,
    omega: Array,
    inputs: Sequence[Port],
    outputs: Sequence[Port],
    quantity: str,
    judge_stability: bool,
) -> tuple[Array, Array, Array, Array | None]:
    """Return values (outputs, inputs, cells, F), a mask of infinite values, and two masks of shape (cells,).

    The latter are those of invalid arms and of arms that static forces buckle; None unless ``judge_stability``. The arm
    is ``lowered`` to its model, or its ``columns`` are addresses and their values, (addresses, cells).

    Raises
    ------
    ArmError
        If a port with an imposed displacement cannot move, or the variants do not suit.
    """
    of: Any = lowered if columns is None else columns
    varied = {} if columns is None else dict(zip(*columns, strict=True))
    if varied:
        require_variants(arm, theory, varied)
        require_unvaried(rigid_supports(arm), varied)
    with np.errstate(all="ignore"):  # cells whose values cannot be
        require_moving(quantity, inputs, set_parameters(arm, varied) if varied else arm)
    system = system_of(arm, theory, quantity, inputs, outputs, of)
    require_soft(system.beams, system.held_links)
    found, invalid = responses_of_postures(system, omega), system.invalid
    unstable = None
    if judge_stability:
        unstable = buckled_arms(arm, theory_flags(theory), of, invalid)
    return *found, invalid, unstable


def motion_of_base(found: Port, arm: Arm) -> Floats:
    """Return the ground motion of a base port: along x, along y, and rotation."""
    u, v, turn = np.asarray(port_row(Port("joint", found.direction, 1), arm).row, np.float64)
    angle = float(arm.links[0].joint_angle)
    sine, cosine = np.sin(angle), np.cos(angle)
    return np.array([cosine * u - sine * v, sine * u + cosine * v, turn])


def carried_in_plane(arm: Arm, inputs: Sequence[Port], outputs: Sequence[Port]) -> Floats:
    """Return the output motions of a rigid arm that moves with its base, shape (outputs, inputs); 0 for forces."""
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
