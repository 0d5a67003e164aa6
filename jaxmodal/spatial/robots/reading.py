"""Arms in space from URDF files."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from jaxmodal.arm.arguments import require_truth
from jaxmodal.arm.quantities import shown
from jaxmodal.runtime.errors import ArmError, within
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.arms.joint_frames import without_noise
from jaxmodal.spatial.arms.moving_frames import MovingJoint, arm_of, mounted, turned_body
from jaxmodal.spatial.arms.plausibility import warn_of_implausible_values
from jaxmodal.spatial.parts.bodies import RigidBody
from jaxmodal.spatial.parts.links import SpatialLink
from jaxmodal.spatial.parts.springs import Spring
from jaxmodal.spatial.robots.bodies import (
    STRUCTURAL_MASS,
    at_ends,
    beam_lump,
    total_of,
)
from jaxmodal.spatial.robots.chains import Chain, Moving, chain_of
from jaxmodal.spatial.robots.descriptions import read_robot
from jaxmodal.spatial.robots.keywords import (
    Beam,
    beams_of,
    dampings_of,
    positions_of,
    rotors_of,
    stiffnesses_of,
)
from jaxmodal.spatial.robots.notes import missing_of, notes_of
from jaxmodal.spatial.robots.tables import UrdfJointFacts, UrdfReport


def read_urdf(
    path: str | Path,
    base: str | None = None,
    tip: str | None = None,
    *,
    positions: Mapping[str, float] | None = None,
    joint_stiffness: Mapping[str, Any] | None = None,
    slide_stiffness: Mapping[str, Any] | None = None,
    sections: Mapping[str, Any] | None = None,
    materials: Mapping[str, Mapping[str, Any]] | None = None,
    section_roll: Mapping[str, Any] | None = None,
    along: Mapping[str, Any] | None = None,
    joint_damping: Mapping[str, Any] | None = None,
    slide_damping: Mapping[str, Any] | None = None,
    rotors: Mapping[str, Mapping[str, Any]] | None = None,
    structural_mass: str = "inside",
    inertia_check: bool = True,
    payload: RigidBody | None = None,
    name: str | None = None,
    check: bool = True,
) -> SpatialArm:
    """Return the arm between two links of a robot that a URDF file describes.

    Parameters
    ----------
    path
        The URDF file; of xacro run ``xacro robot.urdf.xacro > robot.urdf`` first.
    base, tip
        Names of the links between which the arm is. Left out, the base is the root of the file, and the tip the
        outermost link behind the most joints that turn; prismatic joints beyond the last of these are then held.
    positions
        Position of joints by name, rad, of prismatic ones m; 0 where none is given. Names in all of these may be
        patterns such as ``"wrist_*"`` (`fnmatch`): an exact name counts first, and patterns that fit one name agree.
    joint_stiffness
        Stiffness of joints about their axes by name, N m/rad; rigid where none is given.
    slide_stiffness
        Stiffness of prismatic joints along their axes by name, N/m; rigid where none is given.
    sections
        Cross-section of links that are to deform, by the link's name: a beam from its joint to the next. All others
        are rigid.
    materials
        For these a dict with ``youngs_modulus``, ``density`` and ``poisson_ratio`` or ``shear_modulus``, by the link's
        name; with ``loss_factor`` and ``kelvin_voigt_time`` where it is damped.
    section_roll
        Turn of their sections about the link's axis, rad, by the link's name; 0 where none is given: z of the section
        is then as near the joint's axis as can be.
    along
        Where beams lie, by the link's name: the places (x, y, z) where each begins and ends, m, in the frame of the
        link. From its joint to the next where none are given; what is left of the way to both is rigid.
    joint_damping, slide_damping
        Dampers beside the springs of joints by name, N m s/rad, of prismatic ones N s/m; none where none is given.
    rotors
        Rotors of joints by name, dicts with ``inertia`` about the joint's axis, kg m^2, ``gear_ratio`` and ``motor``:
        what `SpatialLink` takes as ``rotor_inertia``, ``gear_ratio`` and ``motor``.
    structural_mass
        Whether the mass of a beam is ``"inside"`` its link's inertial, so that the link keeps its mass, or
        ``"beside"`` it.
    inertia_check
        Whether what moves with a joint is refused where a principal moment of it is greater than the sum of the other
        two, which no body has; if False it is taken as the file has it, with a warning.
    payload
        What the tip carries, in the axes of the tip link.
    name
        Of the arm; left out, that of the robot.
    check
        Give an `ImplausibleWarning` where values look like wrong units, or where nothing gives way.

    Returns
    -------
    SpatialArm
        One link for each joint between base and tip that turns or slides (revolute, continuous, prismatic), with the
        joint's name; its angle, or way, is the position. What stands with the base is the stator of link 1.

    Raises
    ------
    ArmError
        The file is no URDF or describes no tree, a name is none of it, or a value is not allowed.
    X64DisabledError
        If JAX's 64-bit mode is off.

    Notes
    -----
    Links behind fixed joints move with their parent; so do those beside the chain, whose joints are held at their
    positions. `urdf_report` tells of all that, and of what is missing.
    """
    report = urdf_report(
        path,
        base,
        tip,
        positions=positions,
        joint_stiffness=joint_stiffness,
        slide_stiffness=slide_stiffness,
        sections=sections,
        materials=materials,
        section_roll=section_roll,
        along=along,
        joint_damping=joint_damping,
        slide_damping=slide_damping,
        rotors=rotors,
        structural_mass=structural_mass,
        inertia_check=inertia_check,
        payload=payload,
        name=name,
    )
    if check:
        warn_of_implausible_values(report.arm, str(path))
    return report.arm


def urdf_report(
    path: str | Path,
    base: str | None = None,
    tip: str | None = None,
    *,
    positions: Mapping[str, float] | None = None,
    joint_stiffness: Mapping[str, Any] | None = None,
    slide_stiffness: Mapping[str, Any] | None = None,
    sections: Mapping[str, Any] | None = None,
    materials: Mapping[str, Mapping[str, Any]] | None = None,
    section_roll: Mapping[str, Any] | None = None,
    along: Mapping[str, Any] | None = None,
    joint_damping: Mapping[str, Any] | None = None,
    slide_damping: Mapping[str, Any] | None = None,
    rotors: Mapping[str, Mapping[str, Any]] | None = None,
    structural_mass: str = "inside",
    inertia_check: bool = True,
    payload: RigidBody | None = None,
    name: str | None = None,
) -> UrdfReport:
    """Tell what `read_urdf` makes of a URDF file: joints and masses, what is held or passed over, what is missing.

    Parameters
    ----------
    path, base, tip, positions, joint_stiffness, slide_stiffness, sections, materials, section_roll, along, \
    joint_damping, slide_damping, rotors, structural_mass, inertia_check, payload, name
        As of `read_urdf`.

    Returns
    -------
    UrdfReport
        To be printed; its ``arm`` is that of `read_urdf`.

    Raises
    ------
    ArmError, X64DisabledError
        As `read_urdf`.
    """
    robot = read_robot(path)
    with within(f"{path}: "):
        if structural_mass not in STRUCTURAL_MASS:
            raise ArmError(
                f"structural_mass = {shown(structural_mass)}: must be {' or '.join(map(repr, STRUCTURAL_MASS))}."
            )
        require_truth("inertia_check", inertia_check)
        at = positions_of(robot, positions)
        chain = chain_of(robot, base, tip, at)
        springs = stiffnesses_of(robot, chain, joint_stiffness, slide_stiffness)
        dampings = dampings_of(robot, chain, joint_damping, slide_damping, springs)
        beams = beams_of(chain, sections, materials, section_roll, along)
        geared = rotors_of(robot, chain, rotors)
        ground = total_of(chain.ground)
        if not ground.possible:  # it moves on an elastic base alone
            ground = ground._replace(tensor=np.zeros((3, 3)))
        joints: list[MovingJoint] = []
        entries: list[dict[str, Any]] = []
        facts: list[UrdfJointFacts] = []
        for moving, way in zip(chain.moving, _ways(chain), strict=True):
            own = beams.get(moving.joint.child)
            joint = _joint(moving, way, at.get(moving.joint.name, 0.0), own)
            entry, masses = _entry(moving, joint, own, structural_mass, inertia_check)
            stiffness = springs.get(moving.joint.name, math.inf)
            damping = dampings.get(moving.joint.name)
            entry |= _spring(moving, stiffness, damping) | {"name": moving.joint.name}
            entry |= geared.get(moving.joint.name, {})
            entry |= {
                "joint_limits": moving.joint.limits,
                "joint_velocity_limit": moving.joint.speed,
            }
            if not entries:
                entry["stator"] = ground.body(moving.place[:3, 3])
            facts.append(_facts(moving, joint.position, stiffness, masses))
            joints.append(joint)
            entries.append(entry)
        carried = payload
        if isinstance(payload, RigidBody):
            with within("payload."):
                carried = turned_body(payload, chain.tip_place[:3, :3])
        arm = arm_of(joints, entries, carried, robot.name if name is None else name)
    return UrdfReport(
        arm=arm,
        base=chain.base,
        tip=chain.tip,
        joints=tuple(facts),
        ground_mass=ground.mass,
        notes=tuple(notes_of(robot, chain, at, bool(beams), structural_mass)),
        missing=tuple(missing_of(chain, springs, beams)),
    )


def _ways(chain: Chain) -> list[np.ndarray]:
    """The way from each joint to the next, of the last to the tip, in the frame that moves with it."""
    ways = [each.place[:3, 3] for each in chain.moving[1:]] + [chain.tip_place[:3, 3]]
    size = sum(float(np.linalg.norm(way)) for way in ways)
    return [without_noise(way, size) for way in ways]


def _joint(moving: Moving, way: np.ndarray, position: float, beam: Beam | None) -> MovingJoint:
    legs = np.zeros(3), way
    fixed, own = moving.place[:3, :3], np.eye(3)
    elastic = "straight" if beam is None or beam.ends is None else beam.ends
    return MovingJoint(fixed, moving.joint.axis, position, legs, elastic, own, moving.slides)


def _spring(moving: Moving, stiffness: Any, damping: Any) -> dict[str, Any]:
    """What gives way at a joint: about its axis, or along it where it slides."""
    if not moving.slides:
        return {"joint_stiffness": stiffness, "joint_damping": damping}
    if stiffness is math.inf:
        return {}
    with within(f"slide_stiffness[{moving.joint.name!r}]: "):
        axis: Any = tuple(map(float, moving.joint.axis))
        return {"joint_springs": (Spring("translation", axis, stiffness, damping),)}


def _entry(
    moving: Moving,
    joint: MovingJoint,
    beam: Beam | None,
    structural_mass: str,
    inertia_check: bool,
) -> tuple[dict[str, Any], tuple[float, float, float]]:
    """What is said of a link beside its joint, and its masses: in the file, of its beam, of its bodies."""
    name, total = moving.joint.child, total_of(moving.parts)
    origin, way = np.zeros(3), joint.legs[1]
    if beam is None:
        with within(f"link {name!r}: "):
            # what slides is seen from the tip, what turns from the joint
            own = (
                {"body": total.body(way, inertia_check)}
                if moving.slides
                else {"hub": total.body(origin, inertia_check)}
            )
        return {"rigid": True, **own}, (total.mass, 0.0, total.mass)
    start, end = (origin, way) if beam.ends is None else beam.ends
    if not (np.any(way) or beam.ends):
        raise ArmError(
            f"sections[{name!r}]: the next joint, or the tip, is at the place of joint {moving.joint.name!r}, so that "
            "the link has no length that could deform; leave it out."
        )
    mount, geometry = mounted(joint.beam if moving.slides else joint)
    with within(f"link {name!r}: "):
        elastic = beam_lump(SpatialLink(**geometry, **beam.values), mount, start)
        hub, tip = at_ends(moving.parts, (start, end), elastic, structural_mass)
        bodies = {
            "hub": hub.body(origin, inertia_check),
            "body": tip.body(way, inertia_check),
        }
    return {**beam.values, **bodies}, (total.mass, elastic.mass, hub.mass + tip.mass)


def _facts(
    moving: Moving, position: float, stiffness: Any, masses: tuple[float, float, float]
) -> UrdfJointFacts:
    joint = moving.joint
    return UrdfJointFacts(
        joint.name,
        joint.kind,
        joint.child,
        position,
        -math.inf if joint.lower is None else joint.lower,
        math.inf if joint.upper is None else joint.upper,
        stiffness,
        *masses,
        tuple(part.link.name for part in moving.parts[1:]),
    )
