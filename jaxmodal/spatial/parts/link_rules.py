"""Consistency checks of the values of a link in space."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from jaxmodal.arm.quantities import Constraint, shown
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import on_host
from jaxmodal.spatial.parts.geometry import Direction
from jaxmodal.statics.link_parts import ROTOR


def check_material(link: Any) -> None:
    """Check the material: complete for a flexible link; section and density or neither for a rigid one."""
    rigid = link.rigid is True
    needed = ("density", "section") if rigid else ("youngs_modulus", "density", "section")
    missing = [name for name in needed if getattr(link, name) is None]
    if not missing or (rigid and missing == [*needed]):
        if link.section is None and link.torsion_constant is not None:
            raise ArmError(
                f"torsion_constant = {shown(link.torsion_constant)}: belongs to a section; leave it out."
            )
        return
    names = " and ".join([", ".join(missing[:-1]), missing[-1]] if missing[1:] else missing)
    are = f"{names} {'are' if len(missing) > 1 else 'is'} missing"
    if rigid:
        raise ArmError(
            f"{are}: the mass of a rigid link is that of its section and its density, or of its bodies alone; give "
            "both or neither."
        )
    raise ArmError(
        f"{are}: a link that deforms needs youngs_modulus, density and section; give them, or rigid = true for a "
        "link that does not deform."
    )


def check_slide(link: Any) -> None:
    """Check that a prismatic joint has a position, and no values of a revolute joint."""
    turning = {"joint_angle": 0.0, "joint_stiffness": math.inf}
    for name in (*turning, ROTOR[0], "hub", "joint_damping"):
        value = getattr(link, name)
        given = value is not None
        if name in turning:  # traced values are of an arm that was made of numbers
            given = on_host(value) and bool(np.any(value != turning[name]))
        if given:
            remedy = {
                "joint_stiffness": "give a spring of joint_springs along (1, 0, 0), N/m",
                "joint_damping": "give the damping of a spring of joint_springs along (1, 0, 0), N s/m",
                "hub": "give body, which slides with the link",
            }.get(name, "leave it out")
            raise ArmError(
                f"{name} = {shown(value)}: belongs to a joint that turns, and this one is prismatic; {remedy}."
            )


def check_segment(link: Any) -> None:
    """Check that a segment has no values of a joint other than a fixed rotation."""
    joint = link.without_joint()
    if link.prismatic:
        raise ArmError(
            "prismatic = True: a segment continues the link before and has no joint; take segment = true away, or "
            "prismatic."
        )
    for name, absent in joint.items():
        value = getattr(link, name)
        if isinstance(value, Direction):
            given = on_host(*value) and tuple(map(float, value)) != absent
        elif isinstance(value, (tuple, str)) or value is None:
            given = value != absent
        else:  # traced values are of an arm that was made of numbers
            given = absent is None or (on_host(value) and bool(np.any(value != absent)))
        if given:
            raise ArmError(
                f"{name} = {shown(value)}: a segment continues the link before and has no joint; leave it out, or "
                "take segment = true away."
            )


def pressed(link: Any) -> tuple[Constraint, ...]:
    """Check that an axial force leaves shear and torsion a positive stiffness."""
    if link.axial_force is None or link.section is None:
        return ()
    s, shear = link.section_values, link.shear_modulus_value
    polar = (s.second_moment_y + s.second_moment_z) / s.area
    left = link.axial_force * polar + shear * s.torsion_constant > 0.0
    for kappa in (s.shear_coefficient_y, s.shear_coefficient_z):
        if kappa is not None:
            left = left & (link.axial_force + kappa * shear * s.area > 0.0)
    allowed = "large enough for the link to be stable in torsion and shear at any length"
    remedy = "check the sign (tension is positive) and the unit (N)"
    # rigid offsets along the link carry the force, too, and so have a geometric stiffness
    beside = [
        Constraint(
            f"{name}.x",
            offset.x,
            offset.x == 0.0,
            "0 beside an axial_force, which would also resist the rotation of a rigid part along it",
            "remove one of the two; preloaded_frequencies and buckling include all effects of static loads",
        )
        for name in ("base_offset", "end_offset")
        if (offset := getattr(link, name)) is not None
    ]
    return (Constraint("axial_force", link.axial_force, left, allowed, remedy), *beside)
