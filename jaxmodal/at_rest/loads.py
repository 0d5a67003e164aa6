"""Dead loads of an arm, from arguments and from the arm's own values, checked."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from jaxmodal.arm.arguments import finite
from jaxmodal.arm.arrays import require_one_arm
from jaxmodal.arm.quantities import shown
from jaxmodal.arm.refusals import require_concrete
from jaxmodal.arm.serial_arms import SerialArm
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.errors import ArmError

#: remedy in messages about traced arms
_OUTSIDE = "call it outside of jit, vmap and grad (buckling gives derivatives by addresses)"


class Asked(NamedTuple):
    """Loads as a caller gives them, None for none: accelerations in m/s^2, a force in N and a moment in N m."""

    gravity: Any
    tip_force: Any
    tip_moment: Any
    base_acceleration: Any

    def refuse_moment(self) -> None:
        """Refuse a moment at the tip of a planar arm."""
        if self.tip_moment is not None:
            raise ArmError(
                f"tip_moment = {shown(self.tip_moment)}: is taken of arms in space alone; jaxmodal.to_spatial makes "
                "one of a planar arm."
            )

    def vectors(self, words: Words) -> tuple[Floats, Floats, Floats]:
        """Return gravity, and force and moment at the tip, zeros for None; refuse anything but finite numbers.

        A steady acceleration of the base acts like gravity in the opposite direction.
        """

        def vector(name: str, unit: str) -> Floats:
            value = getattr(self, name)
            if value is None:
                return np.zeros(words.axes)
            what = f"{words.numbers}, in {unit}, such as {words.example}"
            return np.asarray(finite(name, value, (words.axes,), what))

        down = vector("gravity", "m/s^2") - vector("base_acceleration", "m/s^2")
        return down, vector("tip_force", "N"), vector("tip_moment", "N m")


class Words(NamedTuple):
    """What messages say of loads: number of components and their description, gravity as an example, the remedy."""

    axes: int
    numbers: str
    example: str
    give: str


IN_PLANE = Words(
    2,
    "two finite numbers, along x and y of the base",
    "(0.0, -9.81)",
    "give gravity=(0.0, -9.81), in m/s^2 along x and y of the base, tip_force=(x, y) in N, or base_acceleration=(x, y) "
    "in m/s^2, or the arm loads=Loads(gravity=9.81); in the shell --gravity 0,-9.81, --tip-force or "
    "--base-acceleration.",
)
IN_SPACE = Words(
    3,
    "three finite numbers, along x, y and z of the ground",
    "(0.0, 0.0, -9.81)",
    "give gravity=(0.0, 0.0, -9.81), in m/s^2 along x, y and z of the ground, tip_force=(x, y, z) in N, "
    "tip_moment=(x, y, z) in N m, or base_acceleration=(x, y, z) in m/s^2, or the arm "
    "loads=SpatialLoads(gravity_z=-9.81); in the shell --gravity 0,0,-9.81, --tip-force, --tip-moment or "
    "--base-acceleration.",
)


def require_one(arm: SerialArm, what: str) -> None:
    """Refuse traced arms and batches of arms; ``what`` names the caller."""
    require_concrete(arm, what, _OUTSIDE)
    require_one_arm(arm)


def require_some(arm: SerialArm, loads: Any, words: Words, or_axial: bool) -> None:
    """Refuse an arm without any load; with ``or_axial`` an axial force in a link is enough."""
    pressed = or_axial and any(link.axial_force is not None for link in arm.links)
    if not pressed and not loads.any:
        raise ArmError(f"no load: {words.give}")
