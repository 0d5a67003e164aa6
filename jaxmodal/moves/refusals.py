"""Arms of which moves know nothing, and what is said of them."""

from __future__ import annotations

from typing import Any

from jaxmodal.arm.arm import Arm
from jaxmodal.arm.descriptions import stands_on_support
from jaxmodal.arm.quantities import shown
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import is_traced
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.arms.plausibility import nothing_gives_way


def require_moving_arm(arm: Any, vibrating: bool = True) -> None:
    """Refuse an arm that `move_vibration` does not know; what does not vibrate, too, where it has to.

    Raises
    ------
    ArmError
        Says which value it is, and what helps.
    """
    if not isinstance(arm, Arm | SpatialArm):
        raise ArmError(
            f"arm = {shown(arm)}: must be an Arm or a SpatialArm; load_arm reads a file."
        )
    if is_traced(arm):
        raise ArmError(
            "arm: holds traced values, and its modes are followed in NumPy; give a concrete arm, outside of jax.jit, "
            "jax.vmap and jax.grad."
        )
    if arm.base_stiffness is not None:
        raise ArmError(
            "base_stiffness: moves know no base that gives way or floats; take it away, which clamps the arm."
        )
    if getattr(arm, "loads", None) is not None:
        raise ArmError(
            "loads: moves know none; take them away, and give gravity to move_vibration if it is to act."
        )
    for number, link in enumerate(arm.links, start=1):
        if stands_on_support(link):
            raise ArmError(
                f"link{number}: stands on a support, which an arm that moves leaves; take it away."
            )
        if number in arm.joints and arm.slides(number):
            raise ArmError(
                f"link{number}: its joint slides, and moves know only joints that turn; take prismatic away."
            )
        free = [name for name in _springs(link) if getattr(link, name) == 0.0]
        free += [s.kind for s in getattr(link, "joint_springs", ()) if s.stiffness == 0.0]
        if free:
            raise ArmError(
                f"link{number}: {free[0]} = 0 lets its joint go, so that the motor moves nothing; give a stiffness "
                "above 0, or leave it out for a rigid one."
            )
    if vibrating and isinstance(arm, SpatialArm) and nothing_gives_way(arm):
        raise ArmError(
            "arm: nothing gives way, all links and joints are rigid, so nothing vibrates; give joint_stiffness, or "
            "links a section and a material."
        )


def _springs(link: Any) -> tuple[str, ...]:
    names = ("joint_stiffness", "joint_axial_stiffness", "joint_shear_stiffness")
    return tuple(name for name in names if getattr(link, name, None) is not None)
