"""Checks for arms that the functions of moves do not support."""

from __future__ import annotations

from typing import Any

import numpy as np

from jaxmodal.arm.arm import require_arm
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import is_traced
from jaxmodal.spatial.arms.plausibility import why_still


def require_moving_arm(arm: Any, vibrating: bool = True) -> None:
    """Raise an error for an arm that `move_vibration` does not support, including one without any flexibility.

    Raises
    ------
    ArmError
        If the arm is not supported; the message names the value and the remedy.
    """
    require_arm(arm)
    if is_traced(arm):
        raise ArmError(
            "arm: holds traced values, and its modes are followed in NumPy; give a concrete arm, outside of jax.jit, "
            "jax.vmap and jax.grad."
        )
    if arm.base_stiffness is not None:
        raise ArmError(
            "base_stiffness: moves need a clamped arm, not one on an elastic or floating base; remove it."
        )
    if arm.loads is not None:
        raise ArmError(
            "loads: moves do not support them; remove them, and give gravity to move_vibration if it is to act."
        )
    for number, link in enumerate(arm.links, start=1):
        rigid = [name for name, stiffness in link.springs_to_ground.items() if np.isinf(stiffness)]
        if rigid:
            raise ArmError(
                f"link{number}.{rigid[0]} = inf: a moving arm would leave a rigid support; must be "
                "finite (N/m or N m/rad), or remove it."
            )
        if number in arm.joints and arm.slides(number):
            raise ArmError(
                f"link{number}: its joint slides, and moves support only joints that turn; remove prismatic."
            )
        free = [s.stiffness_at for s in link.springs_of_joint if s.stiffness == 0.0]
        if free:
            raise ArmError(
                f"link{number}: {free[0]} = 0 leaves its joint free, so no motor can move the link; give a stiffness "
                "above 0, or leave it out for a rigid one."
            )
    if vibrating and (still := why_still(arm)) is not None:
        raise ArmError(f"arm: {still.reason}, so nothing vibrates; {still.remedy}.")
