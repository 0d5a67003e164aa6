"""Base motions as inputs: the rigid motion they impose, and the exact response relative to it."""

from __future__ import annotations

from collections.abc import Sequence

from jaxmodal.arm.loaded import under_forces
from jaxmodal.arm.serial_arms import SerialArm
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.response.driven.ports import Port
from jaxmodal.response.exact.frequency_response import motions
from jaxmodal.response.exact.kinds import RESPONSES
from jaxmodal.runtime.array_types import Complexes, Floats
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.arms.arm import AnyArm


def require_free_tips(arm: SerialArm, inputs: Sequence[Port]) -> None:
    """Refuse a base motion of an arm with supports, which do not move with the base and bend the arm.

    Raises
    ------
    ArmError
    """
    moving = [each for each in inputs if each.place == "base"]
    for number, link in enumerate(arm.links, start=1):
        for name, stiffness in link.springs_to_ground.items():
            if moving and stiffness:
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
        rigid = RESPONSES.of(arm).carried(arm, inputs, outputs)[:, at_base, None]
        found[:, at_base] = (found[:, at_base] - rigid) / -(omega * omega)
    return found
