"""What was read of a URDF file, what was held, lumped or passed over, and what the file cannot say."""

from __future__ import annotations

import math
from dataclasses import dataclass

from jaxmodal.arm.quantities import value_text
from jaxmodal.runtime.tables import ShowsTables, Table
from jaxmodal.spatial.arms.arm import SpatialArm


@dataclass(frozen=True)
class UrdfJointFacts:
    """A joint of the arm and what moves with it.

    Attributes
    ----------
    name, kind, link : str
        Name and type of the joint, and the link behind it.
    position, lower, upper : float
        rad, of a prismatic joint m; the limits are infinite where there are none.
    stiffness : float
        N m/rad, of a prismatic joint N/m, inf for a rigid joint.
    mass : float
        Of the link and all that is fixed to it, as the file has it, kg.
    beam, bodies : float
        The mass of the link's beam, and of the bodies beside it, kg.
    fixed : tuple of str
        Links that move with it.
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
    """What `urdf_report` found in a file; `print` shows it.

    Attributes
    ----------
    arm : SpatialArm
        As `read_urdf` returns it.
    base, tip : str
        Links between which the arm is.
    joints : tuple of UrdfJointFacts
        Of the arm, base to tip: joint k is that of link k of the arm.
    ground_mass : float
        Of what stands with the base, kg; it is the stator of link 1, and moves only on an elastic base.
    notes : tuple of str
        What was held, lumped, left out or passed over.
    missing : tuple of str
        What the file cannot say and nobody did.
    """

    arm: SpatialArm
    base: str
    tip: str
    joints: tuple[UrdfJointFacts, ...]
    ground_mass: float
    notes: tuple[str, ...]
    missing: tuple[str, ...]

    def tables(self) -> list[Table]:
        """Return the joints, the notes and what is missing."""
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
