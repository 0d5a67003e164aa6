"""Construction of arms from frames that move with the joints: each link gets its own axes, along which it lies.

Values of a link that are given in the moving frame of its joint are rotated into these axes.
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
from jaxmodal.spatial.parts.geometry import Rotation, as_inertia, rotation_of
from jaxmodal.spatial.parts.links import SpatialLink
from jaxmodal.spatial.parts.springs import Spring

#: choices of the elastic part between two joints of rows
ALONG = ("a", "d", "straight")
#: arguments that follow from rows and origins
_SAID = (
    *("length", "joint_axis", "joint_angle", "joint_frame", "base_offset", "end_offset"),
    "prismatic",
)
#: arguments that a flexible link requires
_MATERIAL = ("youngs_modulus", "density", "section")
#: sine of the angle below which a link counts as parallel to its joint's axis
_PARALLEL = 1e-6


class MovingJoint(NamedTuple):
    """One joint: ``fixed`` leads from the previous moving frame to the joint's frame, where it turns about ``axis``.

    ``legs`` are the displacements from the joint to the next in the moving frame. ``elastic`` selects which of them
    deform, or gives the ends of the elastic part in that frame. ``own`` are the axes in which bodies are given,
    relative to the moving frame. A ``prismatic`` joint slides along its axis: its ``position`` is in m, otherwise it is
    the angle in rad. A ``segment`` has no joint: its link continues the previous one.
    """

    fixed: np.ndarray
    axis: np.ndarray
    position: float
    legs: tuple[np.ndarray, np.ndarray]
    elastic: str | tuple[np.ndarray, np.ndarray]
    own: np.ndarray
    prismatic: bool = False
    segment: bool = False

    @property
    def beam(self) -> MovingJoint:
        """The flexible part that a prismatic joint moves, as a segment after the slide."""
        return self._replace(fixed=np.eye(3), position=0.0, prismatic=False, segment=True)

    @property
    def slide(self) -> MovingJoint:
        """The prismatic joint alone, with zero distance to the next joint."""
        zero = np.zeros(3)
        return self._replace(legs=(zero, zero), elastic="straight")


def arm_of(
    joints: Sequence[MovingJoint],
    entries: Sequence[dict[str, Any]],
    payload: RigidBody | None,
    name: str,
) -> SpatialArm:
    """Return an arm from moving frames: one link for each joint, of length 0 where the next joint coincides with it.

    A link of length 0 is rigid. A prismatic joint with a flexible link gives two links, the slide and its beam.
    """
    before = np.eye(3)  # axes of the previous moving frame, in those of the previous link
    of_bodies = np.eye(3)  # likewise the axes in which bodies of the previous link are given
    made: list[SpatialLink] = []
    for number, (whole, every) in enumerate(zip(joints, entries, strict=True), start=1):
        with within(f"link{number}."):
            for joint, entry in _parted(whole, every):
                mount, geometry = mounted(joint)
                frame = mount.T @ joint.own
                values = _turned_values(entry, frame, of_bodies)
                _check_material(values, geometry["length"], joint.prismatic)
                if geometry["length"] == 0.0:
                    values["rigid"] = True
                made.append(SpatialLink(**geometry | _turns(before, joint, mount) | values))
                before, of_bodies = mount.T, frame
    carried: Any = RigidBody() if payload is None else payload
    if isinstance(carried, RigidBody):
        with within("payload."):
            carried = turned_body(carried, of_bodies)
    return SpatialArm(tuple(made), carried, name)


def _parted(
    joint: MovingJoint, entry: Mapping[str, Any]
) -> list[tuple[MovingJoint, dict[str, Any]]]:
    """Return the joint and its link values; for a slide with a beam, one pair for each.

    The hub of such a beam slides with the base of the beam.
    """
    if not joint.prismatic or entry.get("rigid") is True or not _of_material(entry):
        return [(joint, dict(entry))]
    if isinstance(joint.elastic, str) and not any(np.any(leg) for leg in joint.legs):
        return [(joint, dict(entry))]  # refused for its length
    own = {name: entry[name] for name in SpatialLink.without_joint() if name in entry}
    rest = {name: value for name, value in entry.items() if name not in own}
    if own.get("hub") is not None:
        own["body"] = own.pop("hub")
    return [(joint.slide, own), (joint.beam, rest)]


def fixed_number(name: str, value: object) -> float:
    """Check a number that frames are computed from, which must be concrete when the arm is made."""
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
    """Check three such numbers, along x, y and z."""
    return np.array(
        [fixed_number(f"{name}.{axis}", x) for axis, x in zip("xyz", values, strict=True)]
    )


def _check_material(values: Mapping[str, Any], length: float, prismatic: bool) -> None:
    if values.get("rigid") is True:
        return
    given = _of_material(values)
    if length == 0.0 and given:
        raise ArmError(
            f"{given[0]} = {shown(values[given[0]])}: the next joint is at the same place, and the link between has no "
            f"length that could deform; leave out {', '.join(given)}, or give rigid = true."
        )
    missing = [key for key in _MATERIAL if key not in given]
    if length > 0.0 and missing:
        raise ArmError(
            f"{' and '.join(missing)} {'are' if len(missing) > 1 else 'is'} missing: the way to the next joint is "
            f"{length:.6g} m long and needs a link; give youngs_modulus, density and section, rigid = true for a link "
            "that does not deform, or no way (d = a = 0, the same place)."
        )


def _of_material(values: Mapping[str, Any]) -> list[str]:
    """Return the names of the given values that only a flexible link needs."""
    return [key for key in _MATERIAL if values.get(key) is not None]


def mounted(joint: MovingJoint) -> tuple[np.ndarray, dict[str, Any]]:
    """Return the link's axes as columns in the moving frame, and its length and offsets in its own axes.

    A link of zero length has the axes of the moving frame. The x axis of a prismatic joint's link is along the joint's
    axis; its length is zero and the way to the next joint is an offset.
    """
    first, second = joint.legs
    if joint.prismatic:  # a slide is rigid here; its beam is `MovingJoint.beam`
        mount = _mount(joint.axis, np.zeros(3))
        values: dict[str, Any] = {"length": 0.0, "prismatic": True}
        values["base_offset"] = (joint.position, 0.0, 0.0)
        if np.any(first + second):
            values["end_offset"] = tuple(map(float, mount.T @ (first + second)))
        return mount, values
    if isinstance(joint.elastic, str) and not (np.any(first) or np.any(second)):
        return np.eye(3), {"length": 0.0}
    tip, zero = first + second, np.zeros(3)
    if isinstance(joint.elastic, str):
        parts = {"a": (first, tip), "d": (zero, first), "straight": (zero, tip)}
        start, end = parts[joint.elastic]
    else:
        start, end = joint.elastic
    way = end - start
    length = float(np.linalg.norm(way))
    if length == 0.0:
        raise ArmError(
            f"along = {shown(joint.elastic)}: what is to be elastic has no length (d = {float(first[2])!r}, a = "
            f"{float(np.linalg.norm(second))!r}); choose another of {', '.join(map(repr, ALONG))}."
        )
    mount = _mount(way / length, joint.axis)
    values = {"length": length}
    if np.any(start):
        values["base_offset"] = tuple(map(float, mount.T @ start))
    if np.any(tip - end):
        values["end_offset"] = tuple(map(float, mount.T @ (tip - end)))
    return mount, values


def _mount(x: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """Return axes as columns: x as given, z as close to ``axis`` as possible.

    If x is along ``axis``, y is along the y axis of the frame, or z along its z axis if x is along y.
    """
    z = axis - (axis @ x) * x
    if np.linalg.norm(z) < _PARALLEL:
        across = np.eye(3)[1] if abs(x[1]) < 1.0 - _PARALLEL else np.eye(3)[2]
        z = np.cross(x, across)
    z = z / np.linalg.norm(z)
    return np.stack([x, np.cross(z, x), z], axis=1)


def _turns(before: np.ndarray, joint: MovingJoint, mount: np.ndarray) -> dict[str, Any]:
    """Return the axis, angle and frame of a joint, as arguments of `SpatialLink`."""
    lead = before @ joint.fixed
    rest = lead @ mount
    frame: tuple[Rotation, ...] = ()
    if np.max(np.abs(rest - np.eye(3))) > 1e-15:
        frame = (rotation_of("joint_frame", rest),)
    if joint.segment:
        return {"segment": True, "joint_frame": frame}
    return {
        "joint_axis": tuple(map(float, lead @ joint.axis)),
        "joint_angle": 0.0 if joint.prismatic else joint.position,
        "joint_frame": frame,
    }


def _turned_values(
    entry: Mapping[str, Any], frame: np.ndarray, before: np.ndarray
) -> dict[str, Any]:
    """Return the values of a link rotated from its moving frame into its own axes."""
    for key in _SAID:
        if key in entry:
            raise ArmError(
                f"{key} = {shown(entry[key])}: follows from the row or the origin; leave it out."
            )
    values = dict(entry)
    for key in SpatialLink.bodies:
        if isinstance(values.get(key), RigidBody):
            with within(f"{key}."):
                values[key] = turned_body(values[key], before if key == "stator" else frame)
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


def turned_body(body: RigidBody, frame: np.ndarray) -> RigidBody:
    """Return a body rotated into new axes; the columns of ``frame`` are its given axes in the new ones."""
    if np.array_equal(frame, np.eye(3)):
        return body
    centre, inertia = body.centre, body.inertia
    changes: dict[str, Any] = {}
    if centre is not None:
        changes["centre"] = tuple(map(float, frame @ fixed_vector("centre", tuple(centre))))
    if inertia is not None:
        own = [[fixed_number("inertia", x) for x in row] for row in inertia.rows()]
        tensor = frame @ np.array(own) @ frame.T
        turned = 0.5 * (tensor + tensor.T)
        changes["inertia"] = as_inertia("inertia", turned, body.inertia_check)
    return body.replace(**changes)
