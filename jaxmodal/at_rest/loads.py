"""Dead loads of an arm, from arguments and from the arm's own values, checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from jaxmodal.arm.arguments import finite
from jaxmodal.arm.arm import Arm
from jaxmodal.arm.arrays import require_one_arm
from jaxmodal.arm.quantities import shown
from jaxmodal.arm.refusals import require_concrete, require_known
from jaxmodal.arm.serial_arms import SerialArm
from jaxmodal.dynamic_stiffness.beams import Theory, TheoryName, theory_flags
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.precision import require_x64
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.parts.loads import NO_LOADS, LoadsInSpace
from jaxmodal.statics.chain import DeadLoads

#: remedy in messages about traced arms
_OUTSIDE = "call it outside of jit, vmap and grad (buckling gives derivatives by addresses)"


#: number of components of a load, their description, and gravity as an example
_IN_PLANE = (2, "two finite numbers, along x and y of the base", "(0.0, -9.81)")
_IN_SPACE = (3, "three finite numbers, along x, y and z of the ground", "(0.0, 0.0, -9.81)")


def _vector(value: Any, name: str, unit: str, kind: tuple[int, str, str] = _IN_PLANE) -> Any:
    """Return the components of a load, zeros for None; refuse anything but finite numbers."""
    count, what, example = kind
    if value is None:
        return np.zeros(count)
    return np.asarray(finite(name, value, (count,), f"{what}, in {unit}, such as {example}"))


def under_loads(
    arm: Arm,
    theory: TheoryName,
    what: str,
    gravity: Any,
    tip_force: Any,
    base_acceleration: Any,
    or_axial: bool = False,
) -> tuple[Theory, DeadLoads]:
    """Return the theory's flags, and the sum of the arm's own loads and the given ones.

    A steady acceleration of the base acts like gravity in the opposite direction. Refuse traced arms, arms that do not
    suit the theory, and arms without any load; with ``or_axial`` an axial force in a link is enough. ``what`` names the
    caller in messages.
    """
    flags = theory_flags(theory)
    require_x64()
    _require_one(arm, what)
    require_known(arm, theory)
    down = _vector(gravity, "gravity", "m/s^2") - _vector(
        base_acceleration, "base_acceleration", "m/s^2"
    )
    added = (*down, *_vector(tip_force, "tip_force", "N"))
    own = (0.0, 0.0, 0.0, 0.0) if arm.loads is None else arm.loads.dead()
    loads = DeadLoads(*(np.float64(a) + np.float64(b) for a, b in zip(own, added, strict=True)))
    pressed = or_axial and any(link.axial_force is not None for link in arm.links)
    if not pressed and not any(float(x) for x in loads):
        raise ArmError(
            "no load: give gravity=(0.0, -9.81), in m/s^2 along x and y of the base, tip_force=(x, y) in N, or "
            "base_acceleration=(x, y) in m/s^2, or the arm loads=Loads(gravity=9.81); in the shell --gravity 0,-9.81, "
            "--tip-force or --base-acceleration."
        )
    return flags, loads


def _require_one(arm: SerialArm, what: str) -> None:
    """Refuse traced arms and batches of arms."""
    require_concrete(arm, what, _OUTSIDE)
    require_one_arm(arm)


def refuse_moment(tip_moment: Any) -> None:
    """Refuse a moment at the tip of a planar arm."""
    if tip_moment is not None:
        raise ArmError(
            f"tip_moment = {shown(tip_moment)}: is taken of arms in space alone; jaxmodal.to_spatial makes one of a "
            "planar arm."
        )


def loads_in_space(
    arm: SpatialArm,
    what: str,
    gravity: Any,
    tip_force: Any,
    tip_moment: Any,
    base_acceleration: Any,
    or_axial: bool = False,
) -> LoadsInSpace:
    """Return the given loads on an arm in space, which come on top of its own (`loaded_in_space`).

    Refuse traced arms, batches of arms, and an arm without loads of either kind; with ``or_axial`` an axial force in a
    link is enough. ``what`` names the caller in messages.
    """
    _require_one(arm, what)
    down = _vector(gravity, "gravity", "m/s^2", _IN_SPACE)
    moved = _vector(base_acceleration, "base_acceleration", "m/s^2", _IN_SPACE)
    force = _vector(tip_force, "tip_force", "N", _IN_SPACE)
    found = LoadsInSpace(down - moved, force, _vector(tip_moment, "tip_moment", "N m", _IN_SPACE))
    pressed = or_axial and any(link.axial_force is not None for link in arm.links)
    own = NO_LOADS if arm.loads is None else arm.loads.dead()
    if not pressed and not own.plus(found).any:
        raise ArmError(
            "no load: give gravity=(0.0, 0.0, -9.81), in m/s^2 along x, y and z of the ground, tip_force=(x, y, z) in "
            "N, tip_moment=(x, y, z) in N m, or base_acceleration=(x, y, z) in m/s^2, or the arm "
            "loads=SpatialLoads(gravity_z=-9.81); in the shell --gravity 0,0,-9.81, --tip-force, --tip-moment or "
            "--base-acceleration."
        )
    return found
