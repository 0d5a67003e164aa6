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
from jaxmodal.spatial.arms.plausibility import warn_of_implausible_values, why_still
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
    """Return the arm between two links of a robot described by a URDF file.

    Parameters
    ----------
    path
        The URDF file. For a xacro file, run ``xacro robot.urdf.xacro > robot.urdf`` first.
    base, tip
        Names of the first and the last link of the arm. By default the base is the root of the file, and the tip is the
        outermost link after the most turning joints; prismatic joints beyond the last turning joint are then held.
    positions
        Positions of joints by name, rad, of prismatic joints m; 0 by default. In this and all other arguments by name,
        names may be patterns such as ``"wrist_*"`` (`fnmatch`). An exact name takes precedence, and patterns that match
        the same name must give equal values.
    joint_stiffness
        Stiffness of joints about their axes by name, N m/rad; rigid by default.
    slide_stiffness
        Stiffness of prismatic joints along their axes by name, N/m; rigid by default.
    sections
        Cross-sections of flexible links by link name. Such a link is a beam from its joint to the next. All other links
        are rigid.
    materials
        Materials of flexible links by link name: dicts with ``youngs_modulus``, ``density`` and ``poisson_ratio`` or
        ``shear_modulus``, and optionally ``loss_factor`` and ``kelvin_voigt_time`` for damping.
    section_roll
        Rotation of the sections of flexible links about the link's axis by link name, rad. For 0, the default, the z
        axis of the section is as close to the joint axis as possible.
    along
        Ends of beams by link name: the two positions (x, y, z), m, in the frame of the link. The parts between these
        and the joints are rigid. By default a beam extends from its joint to the next.
    joint_damping, slide_damping
        Dampers in parallel with the springs of joints by name, N m s/rad, of prismatic joints N s/m; none by default.
    rotors
        Rotors of joints by name: dicts with ``inertia`` about the joint's axis, kg m^2, ``gear_ratio`` and ``motor``,
        which are ``rotor_inertia``, ``gear_ratio`` and ``motor`` of `SpatialLink`.
    structural_mass
        ``"inside"`` if the inertial of a link includes the mass of its beam, so that the total mass of the link is that
        of the file; ``"beside"`` if the mass of the beam is added to it.
    inertia_check
        Whether inertia tensors with a principal moment greater than the sum of the other two, which no body has, are
        refused. If False, they are used as in the file, with a warning.
    payload
        Body carried at the tip, in the axes of the tip link.
    name
        Name of the arm; by default that of the robot.
    check
        Give an `ImplausibleWarning` if values look like wrong units, or if nothing is flexible.

    Returns
    -------
    SpatialArm
        One link for each joint between base and tip that turns or slides (revolute, continuous, prismatic), with the
        joint's name and position. Bodies fixed to the base are the stator of link 1.

    Raises
    ------
    ArmError
        If the file is not URDF or its links do not form a tree, if a name is not in the file, or if a value is invalid.
    X64DisabledError
        If JAX's 64-bit mode is off.

    Notes
    -----
    Links after fixed joints move with their parent. So do links outside the chain, whose joints are held at their
    positions. `urdf_report` lists these, and all missing data.
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
    """Report how `read_urdf` interprets a URDF file: joints and masses, held joints, ignored and missing data.

    Parameters
    ----------
    path, base, tip, positions, joint_stiffness, slide_stiffness, sections, materials, section_roll, along, \
    joint_damping, slide_damping, rotors, structural_mass, inertia_check, payload, name
        As for `read_urdf`.

    Returns
    -------
    UrdfReport
        The report, which prints as tables; its ``arm`` is that of `read_urdf`.

    Raises
    ------
    ArmError, X64DisabledError
        As for `read_urdf`.
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
        if not ground.possible:  # it moves only on an elastic base
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
        missing=tuple(missing_of(chain, springs, beams, why_still(arm))),
    )


def _ways(chain: Chain) -> list[np.ndarray]:
    """Return displacements from joint to joint, and from the last to the tip, each in the moving frame of its joint."""
    ways = [each.place[:3, 3] for each in chain.moving[1:]] + [chain.tip_place[:3, 3]]
    size = sum(float(np.linalg.norm(way)) for way in ways)
    return [without_noise(way, size) for way in ways]


def _joint(moving: Moving, way: np.ndarray, position: float, beam: Beam | None) -> MovingJoint:
    legs = np.zeros(3), way
    fixed, own = moving.place[:3, :3], np.eye(3)
    elastic = "straight" if beam is None or beam.ends is None else beam.ends
    return MovingJoint(fixed, moving.joint.axis, position, legs, elastic, own, moving.slides)


def _spring(moving: Moving, stiffness: Any, damping: Any) -> dict[str, Any]:
    """Return the elasticity of a joint as link arguments: about its axis, or along it for a prismatic joint."""
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
    """Return the link arguments other than those of the joint, and the link's masses.

    The masses are those in the file, of its beam, and of its bodies.
    """
    name, total = moving.joint.child, total_of(moving.parts)
    origin, way = np.zeros(3), joint.legs[1]
    if beam is None:
        with within(f"link {name!r}: "):
            # bodies of a slide are relative to the tip, those of a revolute joint to the joint
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
