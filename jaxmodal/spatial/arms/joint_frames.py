"""Arms in space from Denavit-Hartenberg parameters, or from joint origins as in URDF."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from jaxmodal.arm.arguments import require_truth
from jaxmodal.arm.quantities import shown
from jaxmodal.runtime.errors import ArmError, ImplausibleWarning, within
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.arms.moving_frames import (
    ALONG,
    MovingJoint,
    arm_of,
    fixed_number,
    fixed_vector,
)
from jaxmodal.spatial.parts.bodies import RigidBody

#: the two conventions for Denavit-Hartenberg frames
CONVENTIONS = ("standard", "modified")
#: lengths below this share of the arm's total are rounding errors of 0, such as 0.4 cos(pi / 2)
_NOISE = 1e-12


class DenavitHartenberg(NamedTuple):
    """Denavit-Hartenberg parameters of one joint: theta and alpha in rad, d and a in m.

    ``offset``, rad, is a constant that is added to theta. For a ``prismatic`` joint d is the position and theta is
    fixed.

    In the standard convention frame i is obtained from frame i-1 by Rot(z, theta) Trans(z, d) Trans(x, a) Rot(x,
    alpha). In the modified convention (Craig) it is obtained by Rot(x, alpha) Trans(x, a) Rot(z, theta) Trans(z, d); a
    and alpha of the row are those often given the index i-1.
    """

    theta: float
    d: float
    a: float
    alpha: float
    offset: float = 0.0
    prismatic: bool = False


class JointOrigin(NamedTuple):
    """A joint as in URDF: its frame at angle 0 relative to the frame of the previous joint, and its axis in this frame.

    ``xyz`` is in m; ``rpy`` are roll, pitch and yaw, rad, about fixed axes: R = Rot(z, yaw) Rot(y, pitch) Rot(x, roll).
    A ``prismatic`` joint slides along its axis.
    """

    xyz: Sequence[float] = (0.0, 0.0, 0.0)
    rpy: Sequence[float] = (0.0, 0.0, 0.0)
    axis: Sequence[float] = (1.0, 0.0, 0.0)
    prismatic: bool = False


def arm_from_denavit_hartenberg(
    rows: Sequence[Sequence[float]],
    links: Sequence[Mapping[str, Any]],
    convention: str = "standard",
    *,
    tip: Sequence[float] | None = None,
    payload: RigidBody | None = None,
    name: str = "",
) -> SpatialArm:
    """Return the arm described by rows of Denavit-Hartenberg parameters.

    Parameters
    ----------
    rows
        One `DenavitHartenberg`, or (theta, d, a, alpha), for each joint.
    links
        For each row a dict of arguments of `SpatialLink` other than length, joint_axis, joint_angle, joint_frame,
        base_offset and end_offset, which follow from the rows. ``along`` selects the elastic part of the way to the
        next joint: ``"a"`` (d is then a rigid offset before it), ``"d"`` (a is a rigid offset after it), or
        ``"straight"`` for the line from joint to joint. The default is a, or d if a = 0; if a row has both, d is rigid
        and massless, and a warning is given. A row with d = a = 0, as in a wrist with intersecting axes, is a rigid
        link of length 0: it needs neither material nor section, and may have bodies and a rotor. Lengths below 1e-12 of
        the total size of the arm count as 0. The link of a prismatic row is rigid if it has no material; its bodies are
        then given as ``body``, relative to its tip. With material a is a beam, a `segment` after the rigid link of the
        slide, whose ``hub`` slides with its base.
    convention
        ``"standard"`` or ``"modified"``; see `DenavitHartenberg`.
    tip
        End of the last link for the modified convention, (x, y, z) in m, relative to the last frame and in its axes.
    payload, name
        As for `SpatialArm`.

    Returns
    -------
    SpatialArm
        One link for each row, with theta as the joint angle, or d as the ``base_offset.x`` of a prismatic row. A
        prismatic row with a beam gives two links; the second has no angle in a posture.

    Raises
    ------
    ArmError
        If the numbers of rows and links differ, a value is invalid, or a row of zero length has a flexible link.

    Warns
    -----
    ImplausibleWarning
        If a row has both d and a, and its flexible link does not give ``along``.

    Notes
    -----
    Bodies, directions of springs and the payload are given in the axes of frame i, which both conventions fix to link
    i; ``stator`` is given in those of frame i-1. The centre of ``hub`` is relative to the joint, that of ``body`` to
    the tip, as in `SpatialLink`. The z axis of the section is as close to the joint axis as possible; for a link along
    the joint axis, its y axis is that of the joint's frame.

    Examples
    --------
    >>> from jaxmodal.arm.sections import circle
    >>> link = {"youngs_modulus": 7e10, "density": 2700.0, "poisson_ratio": 0.3, "section": circle(0.05, "cowper")}
    >>> links = [link, link | {"along": "a"}]
    >>> arm = arm_from_denavit_hartenberg([(0.0, 0.4, 0.0, 1.5), (0.7, 0.1, 0.5, 0.0)], links)
    >>> [float(link.length) for link in arm.links]
    [0.4, 0.5]
    """
    if not isinstance(convention, str) or convention not in CONVENTIONS:
        raise ArmError(
            f"convention = {shown(convention)}: must be {' or '.join(map(repr, CONVENTIONS))}."
        )
    given = [_row(number, row) for number, row in enumerate(_listed("rows", rows), start=1)]
    entries = _entries(links, len(given))
    chosen = [entry.pop("along", None) for entry in entries]
    end = None if tip is None else _three("tip", tip)
    if (end is None) == (convention == "modified"):
        raise ArmError(
            f"tip = {shown(tip)}: must be (x, y, z) for modified rows, which end at the last joint, and left out for "
            "standard rows, the last of which leads to the tip."
        )
    size = sum(abs(row.a) + abs(row.d) for row in given)
    size += 0.0 if end is None else float(np.linalg.norm(end))
    joints = []
    for number, row in enumerate(given, start=1):
        last = number == len(given)
        turned = _about("x", row.alpha)
        if convention == "standard":
            fixed = _about("x", given[number - 2].alpha) if number > 1 else np.eye(3)
            along, own = np.array([row.a, 0.0, 0.0]), turned
        else:
            fixed, own = turned, np.eye(3)
            along = np.array([0.0 if last else given[number].a, 0.0, 0.0])
            along = end if last and end is not None else along
        along = without_noise(along, size)
        d = 0.0 if row.prismatic else row.d
        legs = without_noise(np.array([0.0, 0.0, d]), size), along
        elastic = chosen[number - 1]
        if elastic is None:
            elastic = "a" if np.any(along) else "d"
        if not isinstance(elastic, str) or elastic not in ALONG:
            raise ArmError(
                f"link{number}.along = {shown(elastic)}: must be one of {', '.join(map(repr, ALONG))}."
            )
        if row.prismatic and chosen[number - 1] not in (None, "a"):
            raise ArmError(
                f"link{number}.along = {shown(elastic)}: d of a prismatic row is the way that it slides, and does not "
                "bend; give 'a', or leave it out."
            )
        # rotations about the same axis z commute
        fixed = fixed @ _about("z", row.offset + row.theta if row.prismatic else row.offset)
        position = row.d if row.prismatic else row.theta
        z = np.array([0.0, 0.0, 1.0])
        joints.append(MovingJoint(fixed, z, position, legs, elastic, own, row.prismatic))
    arm = arm_of(joints, entries, payload, name)
    _warn_of_rigid(joints, chosen, entries, name)
    return arm


def _warn_of_rigid(
    joints: Sequence[MovingJoint],
    chosen: Sequence[Any],
    entries: Sequence[Mapping[str, Any]],
    name: str,
) -> None:
    """Warn about links of which a part is rigid by default rather than by choice."""
    remarks = []
    for number, (joint, along, entry) in enumerate(zip(joints, chosen, entries, strict=True), 1):
        both = all(np.any(leg) for leg in joint.legs)
        if both and along is None and not entry.get("rigid"):
            d, a = (float(leg[axis]) for leg, axis in zip(joint.legs, (2, 0), strict=True))
            bends = f"a = {a:.6g} m" if a else "the way to the tip"
            remarks.append(
                f"{name}{': ' * bool(name)}link{number}: d = {d:.6g} m is rigid and massless, and {bends} alone bends, "
                "for along is left out; say along = 'a' to mean that, 'd' for the other, 'straight' for a beam from "
                "joint to joint"
            )
    if remarks:
        warnings.warn("\n".join(remarks), ImplausibleWarning, stacklevel=3)


def arm_from_joint_origins(
    origins: Sequence[JointOrigin],
    links: Sequence[Mapping[str, Any]],
    tip: Sequence[float],
    *,
    payload: RigidBody | None = None,
    name: str = "",
) -> SpatialArm:
    """Return the arm described by joint origins as in URDF, each link a straight beam from its joint to the next.

    Parameters
    ----------
    origins
        One `JointOrigin` for each joint. The first one places the whole arm; this changes the frequencies only on an
        elastic base, whose stiffness is in the axes of the ground.
    links
        For each joint a dict of arguments of `SpatialLink` other than length, joint_axis, joint_frame, base_offset and
        end_offset. ``joint_angle`` is the position of the joint; for a prismatic joint it is ``joint_position``, m. If
        a joint coincides with the next, to 1e-12 of the total size of the arm, its link is rigid and of length 0, as
        for a row of zero length in `arm_from_denavit_hartenberg`.
    tip
        End of the last link, (x, y, z) in m in the frame of the last joint; it may be at the joint.
    payload, name
        As for `SpatialArm`.

    Returns
    -------
    SpatialArm
        As for `arm_from_denavit_hartenberg`.

    Raises
    ------
    ArmError
        As for `arm_from_denavit_hartenberg`.

    Notes
    -----
    Bodies, directions of springs and the payload are given in the frame that moves with the joint, the link frame of
    URDF: ``hub`` with ``centre`` as the xyz of ``<inertial>``, ``stator`` in the frame of the previous link. The z axis
    of the section is as close to the joint axis as possible; for a link along the joint axis, its y axis is that of the
    frame, or its z axis if the link lies along y.

    Examples
    --------
    >>> from jaxmodal.arm.sections import circle
    >>> link = {"youngs_modulus": 7e10, "density": 2700.0, "poisson_ratio": 0.3, "section": circle(0.05, "cowper")}
    >>> joints = [JointOrigin(axis=(0, 0, 1)), JointOrigin((0, 0, 0.3), (1.57, 0, 0), (0, 0, 1))]
    >>> arm = arm_from_joint_origins(joints, [link, link | {"joint_angle": 0.4}], tip=(0.5, 0, 0))
    >>> [float(link.length) for link in arm.links]
    [0.3, 0.5]
    """
    given = []
    for number, origin in enumerate(_listed("origins", origins), start=1):
        if not isinstance(origin, JointOrigin):
            raise ArmError(
                f"origins{number} = {shown(origin)}: must be a JointOrigin(xyz, rpy, axis)."
            )
        with within(f"origins{number}."):
            xyz, axis = _three("xyz", origin.xyz), _three("axis", origin.axis, "of any length")
            require_truth("prismatic", origin.prismatic)
            rpy = _three("rpy", origin.rpy, "rad")
            given.append(JointOrigin(xyz, rpy, axis, origin.prismatic))
            if not np.any(given[-1].axis):
                raise ArmError(
                    f"axis = {shown(origin.axis)}: must not be zero; give the joint's axis."
                )
            axis /= np.max(np.abs(axis))  # its square stays in double precision at any length
    entries = _entries(links, len(given))
    ends = [*(origin.xyz for origin in given[1:]), _three("tip", tip)]
    size = sum(float(np.linalg.norm(end)) for end in ends)
    joints = []
    for number, (origin, end, entry) in enumerate(zip(given, ends, entries, strict=True), start=1):
        roll, pitch, yaw = origin.rpy
        fixed = _about("z", yaw) @ _about("y", pitch) @ _about("x", roll)
        key = "joint_position" if origin.prismatic else "joint_angle"
        position = fixed_number(f"link{number}.{key}", entry.pop(key, 0.0))
        axis = np.asarray(origin.axis) / np.linalg.norm(origin.axis)
        legs = np.zeros(3), without_noise(np.asarray(end), size)
        own = np.eye(3)
        joints.append(MovingJoint(fixed, axis, position, legs, "straight", own, origin.prismatic))
    return arm_of(joints, entries, payload, name)


def _about(axis: str, angle: float) -> np.ndarray:
    c, s = math.cos(angle), math.sin(angle)
    rows = {
        "x": [[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]],
        "y": [[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]],
        "z": [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]],
    }
    return np.array(rows[axis])


def without_noise(way: np.ndarray, size: float) -> np.ndarray:
    """Return zero if ``way`` is rounding error relative to the ``size`` of the arm, else ``way``."""
    return way if np.linalg.norm(way) > _NOISE * size else np.zeros(3)


def _has_entries(value: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, (tuple, list)) or (isinstance(value, np.ndarray) and value.ndim > 0)


def _listed(name: str, value: object) -> Sequence[Any]:
    if not _has_entries(value) or len(value) == 0:
        raise ArmError(f"{name} = {shown(value)}: must be a list of one or more.")
    return value


def _entries(links: object, count: int) -> list[dict[str, Any]]:
    listed = _listed("links", links)
    if len(listed) != count:
        raise ArmError(f"links: there are {len(listed)} for {count} joints; give one for each.")
    for number, entry in enumerate(listed, start=1):
        if not isinstance(entry, Mapping):
            raise ArmError(
                f"link{number} = {shown(entry)}: must be a dict of what SpatialLink takes."
            )
    return [dict(entry) for entry in listed]


def _row(number: int, row: object) -> DenavitHartenberg:
    *numbers, prismatic = DenavitHartenberg._fields
    if not _has_entries(row) or not 4 <= len(row) <= len(numbers) + 1:
        raise ArmError(
            f"rows{number} = {shown(row)}: must be (theta, d, a, alpha), rad and m, and at most an offset of theta and "
            "whether the joint is prismatic."
        )
    slides = row[len(numbers)] if len(row) > len(numbers) else False
    require_truth(f"rows{number}.{prismatic}", slides)
    theta, d, a, alpha, offset = (
        fixed_number(f"rows{number}.{field}", x)
        for field, x in zip(numbers, (*row, 0.0), strict=False)
    )
    return DenavitHartenberg(theta, d, a, alpha, offset, bool(slides))


def _three(name: str, value: object, unit: str = "m") -> Any:
    if not _has_entries(value) or len(value) != 3:
        raise ArmError(f"{name} = {shown(value)}: must be three numbers ({unit}).")
    return fixed_vector(name, value)
