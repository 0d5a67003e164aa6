"""Derived quantities of links in space, as `arm.facts` has them of planar links."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from jaxmodal.arm.shapes import Section
from jaxmodal.spatial.parts.bodies import RigidBody
from jaxmodal.spatial.parts.links import SpatialLink


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
    shown: ClassVar[tuple[str, ...]] = (
        "length",
        "youngs_modulus",
        "density",
        "poisson_ratio",
        "shear_modulus",
    )
    nothing: ClassVar[dict[str, Any]] = {"joint_stiffness": math.inf, "joint_axis.z": 1.0}
    otherwise: ClassVar[float | None] = 0.0
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


def facts_of(link: SpatialLink, number: int, payload: RigidBody | None) -> SpatialLinkFacts:
    """Return the properties of the link of a number; the last one bears the payload."""
    values = link.section_values
    bodies = [getattr(link, name) for name in link.bodies]
    carried = sum(float(body.mass) for body in bodies if body is not None)
    carried += 0.0 if payload is None else float(payload.mass)
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
