"""The dead loads of an arm, from arguments or the arm's own values, and the forces at rest that they make."""

from __future__ import annotations

from typing import Any

import numpy as np

from jaxmodal.arm.arguments import finite
from jaxmodal.arm.arm import Arm
from jaxmodal.runtime.errors import ArmError
from jaxmodal.statics.chain import DeadLoads


def pair(value: Any, name: str, unit: str) -> tuple[float, float]:
    """Two finite numbers, along x and y of the base.

    Raises
    ------
    ArmError
        The value is something else.
    """
    words = f"two finite numbers, along x and y of the base, in {unit}, such as (0.0, -9.81)"
    x, y = finite(name, value, (2,), words)
    return float(x), float(y)


def dead_loads(arm: Arm, gravity: Any, tip_force: Any, base_acceleration: Any) -> DeadLoads:
    """The loads that the arm bears and those that arguments give, together.

    A steady acceleration of the base acts as gravity against it.
    """
    down = pair(gravity, "gravity", "m/s^2")
    force = pair(tip_force, "tip_force", "N")
    moved = pair(base_acceleration, "base_acceleration", "m/s^2")
    added = (down[0] - moved[0], down[1] - moved[1], *force)
    own = (0.0, 0.0, 0.0, 0.0) if arm.loads is None else arm.loads.dead()
    return DeadLoads(*(np.float64(a) + np.float64(b) for a, b in zip(own, added, strict=True)))


def require_loads(arm: Arm, loads: DeadLoads, or_axial: bool = False) -> None:
    """Refuse an arm without any load, of which nothing could be said."""
    pressed = or_axial and any(link.axial_force is not None for link in arm.links)
    if not pressed and not any(float(x) for x in loads):
        raise ArmError(
            "no load: give gravity=(0.0, -9.81), in m/s^2 along x and y of the base, tip_force=(x, y) in N, or "
            "base_acceleration=(x, y) in m/s^2, or the arm loads=Loads(gravity=9.81); in the shell --gravity 0,-9.81, "
            "--tip-force or --base-acceleration."
        )
