"""Arms of frames that move with the joints: each link gets axes of its own, along which it lies.

What is said of a link in the frame that moves with its joint is turned into these axes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxmodal.arm.quantities import as_scalar, shown
from jaxmodal.runtime.errors import ArmError, within
from jaxmodal.runtime.namespace import is_traced
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.parts.bodies import RigidBody
from jaxmodal.spatial.parts.geometry import Rotation, rotation_of
from jaxmodal.spatial.parts.links import SpatialLink, Spring

#: what may be elastic between two joints of rows
ALONG = ("a", "d", "straight")
#: what a row without length may say: its joint has no link of its own
_OF_JOINT = ("joint_stiffness", "rotor_inertia", "gear_ratio")
#: what rows and origins say themselves
_SAID = ("length", "joint_axis", "joint_angle", "joint_frame", "base_offset", "end_offset")
#: what a link cannot be without
_MATERIAL = ("youngs_modulus", "density", "section")
#: a link along its joint's axis to this has its section's axes by the frame's y
_PARALLEL = 1e-6


class MovingJoint(NamedTuple):
    """One joint: ``fixed`` leads from the moving frame before to the joint's, in which it turns about ``axis``.

    ``legs`` are the ways from the joint to the next in the moving frame, ``elastic`` says which of them deform,
    ``own`` are the axes of the frame in which bodies are given, in those of the moving one.
    """

    fixed: np.ndarray
    axis: np.ndarray
    angle: float
    legs: tuple[np.ndarray, np.ndarray]
    elastic: str
    own: np.ndarray


def arm_of(
    joints: Sequence[MovingJoint],
    entries: Sequence[dict[str, Any]],
    payload: RigidBody | None,
    name: str,
) -> SpatialArm:
    """The arm of moving frames; joints without a link are one with the next that has one."""
    before = np.eye(3)  # axes of the moving frame before, in those of the link before
    of_bodies = np.eye(3)  # likewise those in which the bodies of the link before are given
    made: list[SpatialLink] = []
    waiting: list[tuple[MovingJoint, dict[str, Any]]] = []
    for number, (joint, entry) in enumerate(zip(joints, entries, strict=True), start=1):
        with within(f"link{number}."):
            waiting.append((joint, entry))
            if not any(np.any(leg) for leg in joint.legs):
                _check_waiting(entry, waiting, number == len(joints))
                continue
            mount, geometry = _mounted(joint)
            turns, springs = _turns(before, waiting, mount)
            frame = mount.T @ joint.own
            values = _turned_values(entry, frame, of_bodies)
            _check_material(values, geometry["length"])
            if len(waiting) > 1:
                rotor = {key: entry[key] for key in _OF_JOINT[1:] if entry.get(key) is not None}
                if rotor:
                    raise ArmError(
                        f"rotor_inertia = {shown(rotor.get('rotor_inertia'))}: its joint is one with that of the row "
                        "before, which alone may have a rotor; give that row a length."
                    )
                if values.get("stator") is not None:
                    raise ArmError(
                        "stator: its joint is one with that of the row before; give that row a length, or leave it out."
                    )
                values |= {key: waiting[0][1].get(key) for key in _OF_JOINT}
                values["joint_springs"] = (*springs, *values.get("joint_springs", ()))
            made.append(SpatialLink(**geometry | turns | values))
            waiting, before, of_bodies = [], mount.T, frame
    carried: Any = RigidBody() if payload is None else payload
    if isinstance(carried, RigidBody):
        with within("payload."):
            carried = _turned_body(carried, of_bodies)
    return SpatialArm(tuple(made), carried, name)


def fixed_number(name: str, value: object) -> float:
    """A number that frames are multiplied with, which must be known when the arm is made."""
    if is_traced(value):
        raise ArmError(
            f"{name} = {shown(value)}: is traced, and frames are multiplied out when the arm is made; make the arm of "
            "numbers first, then change it with set_parameters."
        )
    found = as_scalar(name, value, "finite")
    if np.ndim(found):
        raise ArmError(
            f"{name} = {shown(value)}: must be one number, for frames are multiplied out when the arm is made; make "
            "an arm of numbers first, then change it with set_parameters."
        )
    if not math.isfinite(found):
        raise ArmError(f"{name} = {shown(value)}: must be a finite number.")
    return float(found)


def fixed_vector(name: str, values: Sequence[Any]) -> np.ndarray:
    """Three such numbers, along x, y and z."""
    return np.array(
        [fixed_number(f"{name}.{axis}", x) for axis, x in zip("xyz", values, strict=True)]
    )


def _check_waiting(
    entry: dict[str, Any], waiting: Sequence[tuple[MovingJoint, dict[str, Any]]], last: bool
) -> None:
    for key, value in entry.items():
        if value is not None and key not in (_OF_JOINT if len(waiting) == 1 else _OF_JOINT[:1]):
            raise ArmError(
                f"{key} = {shown(value)}: this joint is at the place of the next and has no link of its own; give it a "
                f"length, or say {_OF_JOINT[0]} alone."
            )
    if last:
        raise ArmError("length: the last joint has no link; give the way from it to the tip.")
    if len(waiting) > 1 and not _is_rigid(entry.get("joint_stiffness")):
        raise ArmError(
            f"joint_stiffness = {shown(entry['joint_stiffness'])}: the middle one of three joints at one place must be "
            "rigid; give one of them a length."
        )


def _check_material(values: Mapping[str, Any], length: float) -> None:
    missing = [key for key in _MATERIAL if key not in values]
    if missing:
        raise ArmError(
            f"{' and '.join(missing)} {'are' if len(missing) > 1 else 'is'} missing: the way to the next joint is "
            f"{length:.6g} m long and needs a link; give youngs_modulus, density and section, or no way (d = a = 0, "
            "the same place) for a joint without a link."
        )


def _mounted(joint: MovingJoint) -> tuple[np.ndarray, dict[str, Any]]:
    """The link's axes as columns in the moving frame, and its length and offsets in its own axes."""
    first, second = joint.legs
    way = {"a": second, "d": first, "straight": first + second}[joint.elastic]
    length = float(np.linalg.norm(way))
    if length == 0.0:
        raise ArmError(
            f"along = {shown(joint.elastic)}: what is to be elastic has no length (d = {float(first[2])!r}, a = "
            f"{float(np.linalg.norm(second))!r}); choose another of {', '.join(map(repr, ALONG))}."
        )
    x = way / length
    z = joint.axis - (joint.axis @ x) * x
    if np.linalg.norm(z) < _PARALLEL:
        across = np.eye(3)[1] if abs(x[1]) < 1.0 - _PARALLEL else np.eye(3)[2]
        z = np.cross(x, across)
    z = z / np.linalg.norm(z)
    mount = np.stack([x, np.cross(z, x), z], axis=1)
    values: dict[str, Any] = {"length": length}
    if joint.elastic == "a" and np.any(first):
        values["base_offset"] = tuple(map(float, mount.T @ first))
    if joint.elastic == "d" and np.any(second):
        values["end_offset"] = tuple(map(float, mount.T @ second))
    return mount, values


def _turns(
    before: np.ndarray, waiting: Sequence[tuple[MovingJoint, dict[str, Any]]], mount: np.ndarray
) -> tuple[dict[str, Any], list[Spring]]:
    """Axis, angle and frame of the joints at one place, and the springs of those after the first."""
    head = waiting[0][0]
    lead = before @ head.fixed
    values: dict[str, Any] = {
        "joint_axis": tuple(map(float, lead @ head.axis)),
        "joint_angle": head.angle,
    }
    turns, springs = [], []
    for place, (joint, entry) in enumerate(waiting[1:], start=2):
        lead = lead @ joint.fixed
        axis: Any = tuple(map(float, lead @ joint.axis))
        turns.append(Rotation(axis, joint.angle, joint=True))
        stiffness: Any = entry.get("joint_stiffness")
        if place == len(waiting) and not _is_rigid(stiffness):
            springs.append(Spring("rotation", mount.T @ joint.axis, stiffness))
    rest = lead @ mount
    if np.max(np.abs(rest - np.eye(3))) > 1e-15:
        turns.append(rotation_of("joint_frame", rest))
    return values | {"joint_frame": tuple(turns)}, springs


def _is_rigid(stiffness: Any) -> bool:
    """Whether a stiffness is left out or infinite; one that is traced or a column is a spring."""
    if stiffness is None:
        return True
    return not is_traced(stiffness) and np.ndim(stiffness) == 0 and bool(stiffness == math.inf)


def _turned_values(
    entry: Mapping[str, Any], frame: np.ndarray, before: np.ndarray
) -> dict[str, Any]:
    """What is said of a link in its frame, in the link's own axes."""
    for key in _SAID:
        if key in entry:
            raise ArmError(
                f"{key} = {shown(entry[key])}: follows from the row or the origin; leave it out."
            )
    values = dict(entry)
    for key in SpatialLink.bodies:
        if isinstance(values.get(key), RigidBody):
            with within(f"{key}."):
                values[key] = _turned_body(values[key], before if key == "stator" else frame)
    if "joint_springs" in values:
        springs = values["joint_springs"]
        if not isinstance(springs, tuple | list):
            raise ArmError(f"joint_springs = {shown(springs)}: must be a list of Spring.")
        values["joint_springs"] = tuple(
            _turned_spring(number, spring, frame) for number, spring in enumerate(springs, start=1)
        )
    return values


def _turned_spring(number: int, spring: Any, frame: np.ndarray) -> Any:
    if not isinstance(spring, Spring):
        return spring  # the link refuses it
    with within(f"joint_springs{number}."):
        direction = frame @ fixed_vector("direction", tuple(spring.direction))
        return spring.replace(direction=tuple(map(float, direction)))


def _turned_body(body: RigidBody, frame: np.ndarray) -> RigidBody:
    if np.array_equal(frame, np.eye(3)):
        return body
    centre, inertia = body.centre, body.inertia
    changes: dict[str, Any] = {}
    if centre is not None:
        changes["centre"] = tuple(map(float, frame @ fixed_vector("centre", tuple(centre))))
    if inertia is not None:
        own = [[fixed_number("inertia", x) for x in row] for row in inertia.rows()]
        tensor = frame @ np.array(own) @ frame.T
        changes["inertia"] = 0.5 * (tensor + tensor.T)
    return body.replace(**changes)
