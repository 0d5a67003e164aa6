"""Result of `urdf_report`."""

from __future__ import annotations

import math
from dataclasses import dataclass

from jaxmodal.arm.quantities import value_text
from jaxmodal.runtime.tables import ShowsTables, Table
from jaxmodal.spatial.arms.arm import SpatialArm


@dataclass(frozen=True)
class UrdfJointFacts:
    """A joint of the arm and the links that move with it.

    Attributes
    ----------
    name, kind, link : str
        Name and type of the joint, and its child link.
    position, lower, upper : float
        Position and limits, rad, of a prismatic joint m; a missing limit is infinite.
    stiffness : float
        N m/rad, of a prismatic joint N/m, inf for a rigid joint.
    mass : float
        Mass of the link and all links fixed to it according to the file, kg.
    beam, bodies : float
        Mass of the link's beam, and of the remaining bodies, kg.
    fixed : tuple of str
        Links that move with the link.
    """

    name: str
    kind: str
    link: str
    position: float
    lower: float
    upper: float
    stiffness: float
    mass: float
    beam: float
    bodies: float
    fixed: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class UrdfReport(ShowsTables):
    """Report of `urdf_report` on a URDF file; `print` shows it as tables.

    Attributes
    ----------
    arm : SpatialArm
        The arm that `read_urdf` returns.
    base, tip : str
        First and last link of the arm.
    joints : tuple of UrdfJointFacts
        Joints of the arm, base to tip; joint k belongs to link k of the arm.
    ground_mass : float
        Mass of all bodies fixed to the base, kg; they are the stator of link 1, and move only on an elastic base.
    notes : tuple of str
        Joints held, bodies lumped, links omitted, and data ignored.
    missing : tuple of str
        Data that the file lacks and that were not given as arguments.
    """

    arm: SpatialArm
    base: str
    tip: str
    joints: tuple[UrdfJointFacts, ...]
    ground_mass: float
    notes: tuple[str, ...]
    missing: tuple[str, ...]

    def tables(self) -> list[Table]:
        """Return tables of the joints, the notes and the missing data."""
        rows = []
        for number, joint in enumerate(self.joints, start=1):
            unit, per = (" m", " N/m") if joint.kind == "prismatic" else ("", "")
            limits = "none"
            if math.isfinite(joint.lower) or math.isfinite(joint.upper):
                limits = f"{joint.lower:.6g} to {joint.upper:.6g}{unit}"
            spring = f"{value_text(joint.stiffness)}{per}".replace(f"inf{per}", "rigid")
            masses = (f"{x:.6g}" for x in (joint.mass, joint.beam, joint.bodies))
            names = str(number), joint.name, joint.link
            rows.append([*names, f"{joint.position:.6g}{unit}", limits, spring, *masses])
        head = ("link", "joint", "of URDF", "position [rad]", "limits [rad]", "spring [N m/rad]")
        masses_of = ("file [kg]", "beam [kg]", "bodies [kg]")
        moving = sum(joint.mass for joint in self.joints)
        title = (
            f"{self.arm.name or 'robot'}: {len(self.joints)} joints from {self.base!r} to {self.tip!r}, "
            f"{moving:.6g} kg in motion, {self.ground_mass:.6g} kg at rest"
        )
        found = [Table(title, (*head, *masses_of), rows, self.notes, ("joint", "of URDF"))]
        if self.missing:
            found.append(Table("missing:", (), (), tuple(f"- {text}" for text in self.missing)))
        return found
