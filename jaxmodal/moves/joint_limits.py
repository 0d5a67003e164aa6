"""Speeds, accelerations and torques of joints along a path, and the shortest duration within limits on each."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from jaxmodal.arm.arguments import reals
from jaxmodal.arm.quantities import shown
from jaxmodal.dynamics.assembly.flexible_arms import flexible_arm
from jaxmodal.dynamics.mechanics.states import inverse_dynamics
from jaxmodal.moves.pushing_supports import refuse_half_turns
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.arms.arm import AnyArm


class Loads(NamedTuple):
    """Speeds, accelerations, inertia torques and static torques of the joints at times, each (T, n).

    Static torques are those of gravity and of supports.

    If the move is stretched in time by a factor s, speeds are divided by s, and accelerations and inertia torques by
    s^2.
    """

    rates: Floats
    changes: Floats
    inertia: Floats | None
    weight: Floats | None


class Limit(NamedTuple):
    """A limit on the joints: name, unit, the time stretch it requires, and the joint that requires it."""

    name: str
    stretch: float
    joint: str


def loads_of(arm: AnyArm, way: tuple[Floats, Floats, Floats], gravity: Any, torque: bool) -> Loads:
    """Return `Loads` from angles, rates and accelerations.

    Torques are of the rigid arm, after the gears, rotors included; refused as by `refuse_half_turns`.
    """
    angles, rates, changes = way
    if not torque:
        return Loads(rates, changes, None, None)
    refuse_half_turns(arm, angles)
    model = flexible_arm(_rigid(arm), 0, gravity=gravity)
    weight = np.asarray(inverse_dynamics(model, angles, 0.0 * rates, 0.0 * changes))
    whole = np.asarray(inverse_dynamics(model, angles, rates, changes))
    return Loads(rates, changes, whole - weight, weight)


def limits_of(
    loads: Loads, joints: tuple[str, ...], speed: Any, acceleration: Any, torque: Any
) -> list[Limit]:
    """Return the given limits, each with the time stretch it requires."""
    count = len(joints)
    found = []
    if speed is not None:
        needed = np.abs(loads.rates).max(axis=0) / each_joint("speed", speed, count, "rad/s")
        found.append(_limit("speed", needed, joints))
    if acceleration is not None:
        most = each_joint("acceleration", acceleration, count, "rad/s^2")
        needed = np.sqrt(np.abs(loads.changes).max(axis=0) / most)
        found.append(_limit("acceleration", needed, joints))
    if torque is not None:
        most = each_joint("torque", torque, count, "N m")
        assert loads.inertia is not None
        assert loads.weight is not None
        require_strong(loads.weight, most, joints)
        # weight + inertia/s^2 reaches the limit on the side to which inertia pushes
        room = most - np.sign(loads.inertia) * loads.weight
        needed = np.sqrt((np.abs(loads.inertia) / room).max(axis=0))
        found.append(_limit("torque", needed, joints))
    return found


def require_strong(weight: Floats, most: Floats, joints: tuple[str, ...]) -> None:
    """Raise an error if the static torques (T, n) alone exceed a torque limit on the path."""
    still = np.abs(weight).max(axis=0)
    if np.any(still >= most):
        k = int(np.argmax(still - most))
        raise ArmError(
            f"torque: {joints[k]} needs {still[k]:.4g} N m for gravity and supports alone on this path; must have "
            f"more than that, not {most[k]:.4g} N m."
        )


def _limit(name: str, needed: Floats, joints: tuple[str, ...]) -> Limit:
    k = int(np.argmax(needed))
    return Limit(name, float(needed[k]), joints[k])


def joints_of(arm: AnyArm) -> tuple[str, ...]:
    """Return labels of the joints in tables: their names, or their numbers."""
    known = {number: name for name, numbers in arm.joint_names.items() for number in numbers}
    return tuple(known.get(number, f"joint {number}") for number in arm.joints)


def each_joint(name: str, given: Any, count: int, unit: str) -> Floats:
    """Expand a limit to one value per joint."""
    values = reals(name, given, f"numbers greater than 0, {unit}")
    if values.shape not in ((), (count,)) or not np.all(values > 0.0):
        raise ArmError(
            f"{name} = {shown(given)}: must be greater than 0, {unit}, one number or {count}, one for each joint."
        )
    return np.broadcast_to(values, (count,))


def _rigid(arm: Any) -> Any:
    """Return the arm with rigid joints: without joint springs and dampers."""
    names = ("stiffness", "damping", "axial_stiffness", "axial_damping", "shear_stiffness")
    none = dict.fromkeys((*(f"joint_{name}" for name in names), "joint_shear_damping"))
    links = []
    for link in arm.links:
        own = {name: value for name, value in none.items() if getattr(link, name, None) is not None}
        if getattr(link, "joint_springs", ()):
            own |= {"joint_springs": ()}
        links.append(link.replace(**own))
    return arm.replace(links=tuple(links))
