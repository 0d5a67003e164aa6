"""Table ``[dynamics]`` of an arm file: the settings of a simulation."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from jaxmodal.arm.arguments import finite, positive, scalar
from jaxmodal.arm.documents import check_keys, table
from jaxmodal.arm.files import read_document
from jaxmodal.arm.quantities import FINITE, shown
from jaxmodal.dynamics.assembly.flexible_arms import flexible_arm
from jaxmodal.dynamics.drives.events import Event, JointLimits, SlopeLimit
from jaxmodal.dynamics.drives.motions import Hold, RestToRest
from jaxmodal.dynamics.drives.torques import (
    FeedForward,
    JointPD,
    SampledTorque,
    Together,
    bang_bang,
)
from jaxmodal.dynamics.integration.histories import followed
from jaxmodal.dynamics.integration.simulation import check_number_of_times, simulate
from jaxmodal.dynamics.mechanics.free_bases import at_zero, base_pose
from jaxmodal.dynamics.model import FlexibleModel, one_of
from jaxmodal.runtime.errors import ArmError, within
from jaxmodal.spatial.arms.arm import AnyArm
from jaxmodal.spatial.arms.plausibility import warn_of_implausible_values
from jaxmodal.spatial.files.arm_files import arm_from_dict, robot_of

if TYPE_CHECKING:
    import xarray

_OF_MODEL = (
    *("modes", "shapes", "coordinates", "gravity", "kelvin_voigt_time", "damping_ratio"),
    *("viscous_friction", "coulomb_friction", "coulomb_width"),
    *("inertia_order", "frames", "foreshortening"),
    *("second_order", "rotor_motion", "torsion_spin", "torsional_inertia"),
    *("base", "joint_position"),
)
_OF_RUN = ("method", "rtol", "atol", "step", "max_steps")
_OWN = ("until", "every", "start_deg", "start_rates_deg", "motors")
#: keys of the initial pose and velocity of a free base
_OF_BASE = ("start_position", "start_rotation_deg", "start_velocity", "start_angular_velocity_deg")
_EVENTS = ("joint_limits_deg", "slope_limit")
_KNOWN = (*_OWN, *_OF_BASE, *_EVENTS, *_OF_MODEL, *_OF_RUN)
#: kinds of motors, each with its required and its optional keys
MOTORS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "free": ((), ()),
    "locked": ((), ()),
    "bang_bang": (("torques", "half"), ()),
    "pd": (("target_deg", "duration", "proportional", "derivative"), ("feed_forward",)),
    "sampled": (("times", "torques"), ()),
}


class Simulation(NamedTuple):
    """Simulation described by a file: the arm and the arguments of `simulate`."""

    arm: AnyArm
    model: FlexibleModel
    times: np.ndarray
    q: np.ndarray
    rate: np.ndarray
    choices: dict[str, Any]

    def run(self, progress: Callable[[int, int], None] | None = None) -> xarray.Dataset:
        """Run the simulation; ``progress`` as in `simulate`."""
        return simulate(
            self.model, self.times, self.q, self.rate, progress=progress, **self.choices
        )

    def target(self) -> xarray.Dataset | None:
        """Return the motion that the motors follow, as `followed` does; None without one or with a free base."""
        law = self.choices.get("torque")
        laws = law.laws if isinstance(law, Together) else (law,)
        found = [each.motion for each in laws if isinstance(each, JointPD)]
        if not found or self.model.floats:
            return None
        return followed(self.model, found[0], self.times)


def read_simulation(path: str | Path) -> Simulation:
    """Read an arm with its table ``[dynamics]``.

    Parameters
    ----------
    path
        TOML or JSON file, which may name a URDF file with ``urdf``. The table has ``until`` (end time, s) and ``every``
        (interval of output, s, default 0.01). Optional: ``start_deg`` and ``start_rates_deg``, one value per joint
        (degrees and degrees/s; m and m/s for sliding joints; by default the joint positions of the arm, and 0);
        ``joint_limits_deg`` (a pair of positions for each joint) and ``slope_limit`` (rad), which end the simulation;
        the keyword arguments of `flexible_arm` and of `simulate` by their names. With ``base = "free"`` also
        ``start_position`` (m, axes of the ground), ``start_rotation_deg`` (a rotation vector), ``start_velocity`` (m/s)
        and ``start_angular_velocity_deg`` (both in the axes of the base), by default 0. A table ``motors`` has
        ``kind``: ``"free"``, ``"locked"``, ``"bang_bang"`` (torques, half), ``"pd"`` (target_deg, duration,
        proportional, derivative, and optionally feed_forward = true) or ``"sampled"`` (times, torques).

    Raises
    ------
    ArmError
        As for `jaxmodal.read_arm`; also if a key of the table is missing, unknown or not allowed.
    """
    return simulation_from_dict(read_document(path), str(path))


def simulation_from_dict(document: Mapping[str, Any], source: str = "") -> Simulation:
    """Return the simulation of an arm document with a table ``dynamics``; error messages begin with ``source``.

    Raises
    ------
    ArmError
        As for `read_simulation`.
    """
    arm: AnyArm | None = robot_of(document, source)
    if arm is None:
        arm = arm_from_dict(document, source=source)
        warn_of_implausible_values(arm, source, vibrates=False)
    with within(f"{source}: " if source else ""):
        if "dynamics" not in document:
            raise ArmError(
                "dynamics is missing: a simulation needs a table [dynamics] with until, the time in s; add it."
            )
        with within("dynamics."):
            return _simulation(arm, table("dynamics", document["dynamics"], ArmError))


def _simulation(arm: AnyArm, keys: Mapping[str, Any]) -> Simulation:
    check_keys(keys, _KNOWN, ("until",), ArmError)
    until = positive("until", keys["until"], "s")
    every = positive("every", keys.get("every", 0.01), "s")
    with np.errstate(over="ignore"):
        check_number_of_times("every", every, float(np.float64(until) / every) + 1.0)
    count = round(until / every)
    if not (count >= 1 and math.isclose(count * every, until, rel_tol=1e-9)):
        raise ArmError(f"every = {every!r}: must divide until = {until!r} into whole steps (s).")
    model: FlexibleModel = flexible_arm(
        arm, **{name: keys[name] for name in _OF_MODEL if name in keys}
    )
    n = model.num_links
    if model.layout.given.size:
        raise ArmError(
            "base = 'driven': files do not say how a base moves; must be left out: use simulate(..., base_motion=...) "
            "of jaxmodal.dynamics."
        )
    turns = model.layout.turns
    angles = joint_positions(arm)
    if "start_deg" in keys:
        angles = _angles("start_deg", keys["start_deg"], turns)
    rates = _angles("start_rates_deg", keys.get("start_rates_deg", [0.0] * n), turns)
    choices: dict[str, Any] = {name: keys[name] for name in _OF_RUN if name in keys}
    choices["events"] = _events(keys, turns)
    motors = table("motors", keys.get("motors", {"kind": "free"}), ArmError)
    with within("motors."):
        choices |= _motors(motors, angles, turns)
    q, rate = at_zero(model), np.zeros(model.num_rates)
    if model.floats:
        q[-7:], rate[-6:] = _start_of_base(keys)
    elif given := [name for name in _OF_BASE if name in keys]:
        raise ArmError(
            f"{given[0]}: is about a base that floats freely; must be used with base = 'free'."
        )
    for place in (np.arange(n), model.layout.driven):
        q[place], rate[place] = angles, rates
    return Simulation(arm, model, np.linspace(0.0, until, count + 1), q, rate, choices)


def _start_of_base(keys: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return pose and velocities of a free base at the start; the velocities are in the axes of the base."""
    position, turn, velocity, spin = (_vector(name, keys.get(name)) for name in _OF_BASE)
    return base_pose(position, np.radians(turn)), np.concatenate([velocity, np.radians(spin)])


def _vector(name: str, value: object) -> np.ndarray:
    if value is None:
        return np.zeros(3)
    unit = "degrees" if name.endswith("deg") else "m" if name == "start_position" else "m/s"
    expected = f"three finite numbers, {unit}"
    return finite(name, value, (3,), expected)


def joint_positions(arm: AnyArm) -> np.ndarray:
    """Return the joint positions of an arm in its posture: rad for turning joints, m for sliding joints."""
    joints: list[Any] = [link for link in arm.links if not getattr(link, "segment", False)]
    slide = [getattr(link, "prismatic", False) for link in joints]
    return np.array(
        [
            float(link.base_offset.x if slides else link.joint_angle)
            for link, slides in zip(joints, slide, strict=True)
        ]
    )


def _events(keys: Mapping[str, Any], turns: np.ndarray) -> list[Event]:
    found: list[Event] = []
    n = len(turns)
    if "joint_limits_deg" in keys:
        given = keys["joint_limits_deg"]
        expected = f"a list of {n} pairs [lowest, highest], degrees, one for each joint"
        pairs = isinstance(given, (list, tuple)) and len(given) == n
        if not (pairs and all(isinstance(row, (list, tuple)) and len(row) == 2 for row in given)):
            raise ArmError(f"joint_limits_deg = {shown(given)}: must be {expected}.")
        limits = np.array([_row("joint_limits_deg", row, 2) for row in given])
        limits[turns] = np.radians(limits[turns])
        if not np.all(limits[:, 0] < limits[:, 1]):
            raise ArmError(
                f"joint_limits_deg = {shown(given)}: must be {expected}, the lowest below the highest."
            )
        found.append(JointLimits(limits[:, 0], limits[:, 1]))
    if "slope_limit" in keys:
        found.append(SlopeLimit(positive("slope_limit", keys["slope_limit"], "rad")))
    return found


def _motors(keys: Mapping[str, Any], start: np.ndarray, turns: np.ndarray) -> dict[str, Any]:
    kind = keys.get("kind")
    one_of("kind", kind, tuple(MOTORS), "'free' leaves the joints without torque")
    needed, more = MOTORS[str(kind)]
    check_keys(keys, ("kind", *needed, *more), needed, ArmError)
    n = len(start)
    if kind == "free":
        return {}
    if kind == "locked":
        return {"motion": Hold(start)}
    if kind == "bang_bang":
        return {
            "torque": bang_bang(
                _row("torques", keys["torques"], n), positive("half", keys["half"], "s")
            )
        }
    if kind == "sampled":
        return {"torque": SampledTorque(keys["times"], keys["torques"])}
    target = _angles("target_deg", keys["target_deg"], turns)
    motion = RestToRest(start, target, positive("duration", keys["duration"], "s"))
    gains = [_row(name, keys[name], n) for name in ("proportional", "derivative")]
    law = JointPD(motion, *gains)
    forward = keys.get("feed_forward", False)
    if not isinstance(forward, bool):
        raise ArmError(f"feed_forward = {shown(forward)}: must be true or false.")
    return {"torque": Together((FeedForward(motion), law)) if forward else law}


def _row(name: str, value: object, n: int) -> np.ndarray:
    entries = value if isinstance(value, (list, tuple)) else [value] * n
    if len(entries) != n:
        raise ArmError(f"{name} = {shown(value)}: must be one number or {n}, one for each joint.")
    return np.array([float(scalar(name, entry, FINITE)) for entry in entries])


def _angles(name: str, value: object, turns: np.ndarray) -> np.ndarray:
    """Return joint positions in rad from degrees; positions of sliding joints stay in m."""
    n = len(turns)
    if not isinstance(value, (list, tuple)) or len(value) != n:
        raise ArmError(
            f"{name} = {shown(value)}: must be a list of {n} angles, one for each joint."
        )
    found = _row(name, value, n)
    return np.where(turns, np.radians(found), found)


def model_arguments(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return keyword arguments of `flexible_arm` from the table ``dynamics`` of a document.

    The result is empty if there is no table; keys that only a simulation uses are ignored.

    Raises
    ------
    ArmError
        If the table has unknown keys.
    """
    if "dynamics" not in document:
        return {}
    with within("dynamics."):
        keys = table("dynamics", document["dynamics"], ArmError)
        check_keys(keys, _KNOWN, (), ArmError)
    return {name: keys[name] for name in _OF_MODEL if name in keys}
