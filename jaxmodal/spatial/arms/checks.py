"""Checks of planar arms and arms in space before they are solved."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jaxmodal.arm import checks as planar
from jaxmodal.arm.arm import require_arm
from jaxmodal.arm.checks import ArmCheck
from jaxmodal.arm.parameters import get_parameter
from jaxmodal.arm.shapes import Section
from jaxmodal.spatial.arms.arm import AnyArm, SpatialArm
from jaxmodal.spatial.arms.plausibility import implausible_values
from jaxmodal.spatial.parts.parameters import unit_of_address

#: values without effect other than 0, and fields that the first table shows
_NOTHING = {"joint_angle": 0.0, "joint_stiffness": math.inf}
_SHOWN = ("length", "youngs_modulus", "density", "poisson_ratio", "shear_modulus")
_USUAL_AXIS = {"joint_axis.x": 0.0, "joint_axis.y": 0.0, "joint_axis.z": 1.0}


@dataclass(frozen=True)
class SpatialLinkFacts:
    """Properties of one link in space that `check_arm` shows; SI units, None where not defined."""

    headings: ClassVar[tuple[str, ...]] = (
        *("link", "section", "length [m]", "rigid [m]", "mass [kg]", "bodies [kg]"),
        *("A [m²]", "Iz [m⁴]", "Iy [m⁴]", "J [m⁴]", "κy", "κz", "L/r", "cut-off [Hz]"),
    )
    legend: ClassVar[str] = (
        "rigid: offsets before and behind the length, which do not bend and have no mass; Iz: bending in the x-y "
        "plane; r: the smaller radius of gyration of the section; bodies: hub, stator and that "
        "at the tip, of the last link with the payload; cut-off: the lower of sqrt(κGA/(ρI))/2π, needs shear data"
    )
    number: int
    shape: str
    length: float
    rigid: float
    mass: float
    bodies: float
    area: float | None = None
    second_moment_z: float | None = None
    second_moment_y: float | None = None
    torsion_constant: float | None = None
    shear_coefficient_y: float | None = None
    shear_coefficient_z: float | None = None
    slenderness: float | None = None
    cutoff_hz: float | None = None


@np.errstate(all="ignore")
def check_arm(arm: AnyArm) -> ArmCheck:
    """Check an arm before it is solved: masses, slenderness, cut-offs, and values that look like wrong units.

    Parameters
    ----------
    arm : Arm or SpatialArm
        An arm with concrete values.

    Returns
    -------
    ArmCheck
        The result, which prints as a table; ``remarks`` is empty if nothing was found.

    Raises
    ------
    ArmError
        If a value is traced or batched.

    Examples
    --------
    >>> from jaxmodal import examples
    >>> check_arm(examples.two_link_flexible()).remarks, check_arm(examples.six_axis_industrial()).remarks
    ((), ())
    """
    require_arm(arm)
    if not isinstance(arm, SpatialArm):
        return planar.check(arm)
    arm.to_dict()  # refuses values that are not numbers
    features = []
    for address in arm.addresses():
        place, _, field = address.partition(".")
        value = float(get_parameter(arm, address))
        nothing = (_NOTHING | _USUAL_AXIS).get(field, 0.0)
        own = field in _SHOWN or field.startswith("section.")
        if not own and value != (nothing if place.startswith("link") else 0.0):
            features.append((address, value, unit_of_address(address, arm)))
    return ArmCheck(
        name=arm.name,
        links=tuple(_facts(arm, number) for number in range(1, arm.num_links + 1)),
        total_mass=float(arm.total_mass),
        payload_mass=float(arm.payload.mass),
        features=tuple(features),
        remarks=tuple(implausible_values(arm)),
    )


def _facts(arm: SpatialArm, number: int) -> SpatialLinkFacts:
    link, values = arm.links[number - 1], arm.links[number - 1].section_values
    bodies = [getattr(link, name) for name in link.bodies]
    carried = sum(float(body.mass) for body in bodies if body is not None)
    carried += (number == arm.num_links) * float(arm.payload.mass)
    offsets = [offset for offset in (link.base_offset, link.end_offset) if offset is not None]
    length, mass = float(link.length), float(link.mass)
    rigid = sum(math.hypot(*map(float, offset)) for offset in offsets)
    if link.section is None or link.density is None:
        return SpatialLinkFacts(
            number=number, shape="none", length=length, rigid=rigid, mass=mass, bodies=carried
        )
    area = float(values.area)
    moments = float(values.second_moment_z), float(values.second_moment_y)
    kappas = [
        None if kappa is None else float(kappa)
        for kappa in (values.shear_coefficient_y, values.shear_coefficient_z)
    ]
    cutoff, shear_modulus = None, link.shear_modulus_value
    if shear_modulus is not None and link.has_shear and not link.rigid:
        stiffness = float(shear_modulus) * area / float(link.density)
        speeds = (
            kappa * stiffness / own for kappa, own in zip(kappas, moments, strict=True) if kappa
        )
        cutoff = math.sqrt(min(speeds)) / (2.0 * math.pi)
    return SpatialLinkFacts(
        number=number,
        shape=link.section.shape if isinstance(link.section, Section) else "values",
        length=length,
        rigid=rigid,
        mass=mass,
        bodies=carried,
        area=area,
        second_moment_z=moments[0],
        second_moment_y=moments[1],
        torsion_constant=float(values.torsion_constant),
        shear_coefficient_y=kappas[0],
        shear_coefficient_z=kappas[1],
        slenderness=length * math.sqrt(area / min(moments)),
        cutoff_hz=cutoff,
    )
