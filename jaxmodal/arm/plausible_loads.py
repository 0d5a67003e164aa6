"""Implausible loads: loads that bend the arm far, or are close to buckling it."""

from __future__ import annotations

from typing import Any

import numpy as np

from jaxmodal.arm.arm import Arm
from jaxmodal.arm.arrays import beam_values
from jaxmodal.arm.plausible_joints import Finding, in_another_unit
from jaxmodal.arm.quantities import quantities
from jaxmodal.runtime.errors import ArmError
from jaxmodal.statics.chain import DeadLoads
from jaxmodal.statics.equilibrium import (
    LARGE_DISPLACEMENT,
    LARGE_ROTATION,
    Equilibrium,
    held_equilibrium,
)
from jaxmodal.statics.stability import moves_without_strain, prestress, unstable

#: a factor of the forces at rest below which a buckling load is near
NEAR = 1.25
PUSHED_OUT = "the forces at rest push the arm out of this posture, in which no spring holds it"
BEYOND = (
    "the forces at rest are beyond the critical load: the arm buckles in this posture (jaxmodal buckling says by how "
    "much)"
)
NEARLY = "the forces at rest are more than 80 % of the critical load"
#: the largest plausible gravity in m/s^2: that of large centrifuges, a hundred times that of the Earth
MOST_GRAVITY = 1000.0


def gravity_findings(gravity: float) -> list[str]:
    """Return a remark on gravity, or a component of it, that is probably in another unit, or an empty list."""

    def plausible(value: float) -> bool:
        return abs(value) <= MOST_GRAVITY

    if plausible(gravity):
        return []
    meant = in_another_unit(gravity, ((1e-3, "mm/s^2"), (1e-2, "cm/s^2")), plausible)
    return [f"m/s^2 expected, a hundred times that of the Earth at most{meant}"]


def load_findings(arm: Arm) -> list[Finding]:
    """Return implausible static forces of an arm, each with the address it refers to."""
    given = _largest_load(arm)
    if given is None:
        return []
    size = 0.0 if arm.loads is None else float(arm.loads.gravity or 0.0)
    found: list[Finding] = [("loads.gravity", size, text) for text in gravity_findings(size)]
    beams = beam_values(arm.replace(loads=None))
    dead = DeadLoads(*np.zeros(4)) if arm.loads is None else arm.loads.dead()
    try:
        rest = held_equilibrium(beams, 1.0, 1.0, dead)
    except ArmError as error:
        return [*found, (*given, str(error))]
    if arm.loads is not None and (text := _far(arm, rest)):
        found.append((*given, text))
    forces = prestress(beams, dead, rest)

    if unstable(beams, 1.0, 1.0, forces, 1.0):
        pushed = moves_without_strain(beams, 1.0, 1.0, forces)
        found.append((*given, PUSHED_OUT if pushed else BEYOND))
    elif not moves_without_strain(beams, 1.0, 1.0, forces) and unstable(
        beams, 1.0, 1.0, forces, NEAR
    ):
        found.append((*given, NEARLY))
    return found


def _largest_load(arm: Arm) -> tuple[str, Any] | None:
    """Return address and value of the first load, or of the largest compressive axial force.

    None without forces.
    """
    if arm.loads is not None:
        for item in quantities(arm.loads):
            value = getattr(arm.loads, item.name)
            if item.default is None and value is not None and value != 0.0:
                return f"loads.{item.name}", float(value)
    forces = [0.0 if x.axial_force is None else float(x.axial_force) for x in arm.links]
    pressed = int(np.argmin(forces))
    return (f"link{pressed + 1}.axial_force", forces[pressed]) if forces[pressed] < 0.0 else None


def _far(arm: Arm, rest: Equilibrium) -> str:
    """Return a message if the ends of links move too far for small-deflection theory, else an empty string."""
    moved = rest.displacements
    turn = max(float(np.max(np.abs(x[2]))) for x in (moved.start, moved.outer))
    way = max(float(np.max(np.hypot(x[0], x[1]))) for x in (moved.outer, moved.tip))
    return far_text(turn, way / sum(float(link.length) for link in arm.links))


def far_text(turn: float, share: float) -> str:
    """Return a message if a turn, rad, or a way as a share of an arm's length is too much, else an empty string."""
    if turn <= LARGE_ROTATION and share <= LARGE_DISPLACEMENT:
        return ""
    return (
        f"the arm bends by {turn:.3g} rad and {100 * share:.3g} % of its length under its loads, too much for small "
        "deflections (0.1 rad, 5 %): forces at rest are those of the posture without it"
    )
