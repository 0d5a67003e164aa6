"""Rules that involve several fields of a link: fields that belong together, or exclude one another.

`Link` imports this module.
"""

from __future__ import annotations

import math
from typing import Any

from jaxmodal.arm.quantities import Constraint, shown
from jaxmodal.runtime.errors import ArmError
from jaxmodal.statics.beam_arrays import SUPPORTS, TURNING
from jaxmodal.statics.link_parts import BASE_OFFSET, HUB, ROTOR, SLIDES, STATOR

#: fields that are true or false
FLAGS = ("segment", "rigid")
#: the springs of a joint; one of stiffness 0 lets it move freely
JOINT_SPRINGS = ("joint_stiffness", *SLIDES)
#: what a segment has none of: it continues the previous link, without a joint
JOINT_FIELDS = (
    "joint_angle",
    *(*JOINT_SPRINGS, *HUB, *STATOR, *ROTOR, *BASE_OFFSET, TURNING[0]),
    "joint_damping",
    "joint_axial_damping",
    "joint_shear_damping",
)
#: what damps a link and its joint; natural frequencies are those without
DAMPING_FIELDS = ("loss_factor", "kelvin_voigt_time", *JOINT_FIELDS[-3:])


def is_damping(address: str) -> bool:
    """Return True for an address of a damping value, on which undamped frequencies do not depend.

    In space, the addresses of joint dampers end in ``damping``.
    """
    return address.rpartition(".")[2] in (*DAMPING_FIELDS, "damping")


def link_constraints(link: Any) -> tuple[Constraint, ...]:
    """Return the constraints that involve several values of a link."""
    return (*_scaling(link), *_held(link), *_pressed(link))


def _pressed(link: Any) -> tuple[Constraint, ...]:
    """Compression must be less than the shear stiffness kappa G A."""
    if link.axial_force is None or not link.has_shear:
        return ()
    rigidity = link.shear_modulus_effective * link.area
    return (
        Constraint(
            "axial_force",
            link.axial_force,
            link.axial_force + rigidity > 0.0,
            "greater than -kappa G A, at which the link shears off whatever its length",
            "check the sign (tension is positive) and the unit (N)",
        ),
    )


def _held(link: Any) -> tuple[Constraint, ...]:
    """A rigid link must not have a rigid support at its tip."""
    given = [(name, getattr(link, name)) for name in SUPPORTS if link.rigid]
    return tuple(
        Constraint(
            name,
            value,
            value < math.inf,
            "finite at the tip of a rigid link",
            "give a large one, or hold the link by its joint",
        )
        for name, value in given
        if value is not None
    )


def _scaling(link: Any) -> tuple[Constraint, ...]:
    if not link.section.scalable:
        unscaled = Constraint(
            "thickness_factor",
            link.thickness_factor,
            link.thickness_factor == 1.0,
            f"1 for a section of shape {link.section.shape!r}, which has no single thickness",
            f"vary section.{link.section.dimension_to_vary} instead",
        )
        return (unscaled,)
    return tuple(
        Constraint(
            "thickness_factor",
            link.thickness_factor,
            (value > 0.0) & (value < math.inf),
            f"such that the {name} stays finite and greater than 0",
            "give a factor nearer to 1",
        )
        for name, value in (("area", link.area), ("second moment", link.second_moment))
    )


def check_combinations(link: Any) -> None:
    """Refuse meaningless combinations of fields.

    These are a joint on a segment, a rotor without a gear ratio, and a turning stiffness without an axial force.
    """
    for name in TURNING:
        if getattr(link, name) is not None and link.axial_force is None:
            raise ArmError(
                f"axial_force is missing: {name} = {shown(getattr(link, name))} belongs to a link with forces at rest; "
                "give both, axial_force = 0 where there is none."
            )
    if link.segment:
        free = {"joint_angle": 0.0, "joint_stiffness": math.inf}
        for name in JOINT_FIELDS:
            value, absent = getattr(link, name), free.get(name)
            if isinstance(value, float) and value != absent:
                raise ArmError(
                    f"{name} = {shown(value)}: a segment continues the previous link and has no "
                    "joint; leave it out, or take segment = true away."
                )
    require_together(link, *ROTOR)


def require_together(record: object, *names: str) -> None:
    """Refuse a record that has one of two fields but not the other."""
    missing = [name for name in names if getattr(record, name) is None]
    if len(missing) == 1:
        (given,) = set(names) - set(missing)
        raise ArmError(
            f"{missing[0]} is missing: {given} = {shown(getattr(record, given))} needs it; give both."
        )
