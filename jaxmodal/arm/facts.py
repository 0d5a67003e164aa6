"""Derived quantities of the links of an arm: masses, section values, slenderness, cut-off frequencies."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from jaxmodal.arm.links import Link
from jaxmodal.arm.serial_arms import SerialArm
from jaxmodal.statics.link_parts import BODY

#: dimensions of sections in the plane of motion, of which each shape has one
IN_PLANE = ("depth", "diameter", "outer_diameter")


@dataclass(frozen=True)
class LinkFacts:
    """Derived quantities of one link, as `check_arm` shows them; SI units, cut-off in Hz, None where not defined."""

    headings: ClassVar[tuple[str, ...]] = (
        *("link", "section", "length [m]", "mass [kg]", "tip mass [kg]", "tip inertia [kg m²]"),
        *("A [m²]", "I [m⁴]", "κ", "L/r", "L/h", "cut-off [Hz]"),
    )
    legend: ClassVar[str] = (
        "r: radius of gyration of the section; h: its extent in the plane of motion; cut-off: "
        "sqrt(κGA/(ρI))/2π, needs shear data. The payload is part of the last tip."
    )
    shown: ClassVar[tuple[str, ...]] = ("length", *BODY)
    """Fields of links that are not shown beside it."""
    nothing: ClassVar[dict[str, Any]] = {
        "joint_angle": 0.0,
        "joint_stiffness": math.inf,
        "thickness_factor": 1.0,
    }
    """Values of fields that change nothing."""
    otherwise: ClassVar[float | None] = None
    """That of all other fields, if there is one."""
    number: int
    shape: str
    length: float
    mass: float
    tip_mass: float
    """Mass of the body at the tip, payload included."""
    tip_inertia: float
    area: float
    second_moment: float
    shear_coefficient: float | None
    slenderness: float
    """Length over radius of gyration of the section, L sqrt(A/I)."""
    length_over_depth: float | None
    """Length over the depth of the section in the plane of motion; None for a raw section."""
    cutoff_hz: float | None
    """Cut-off frequency sqrt(kappa G A/(rho I)) / 2 pi, above which a Timoshenko beam has no evanescent wave."""


def link_facts(arm: SerialArm) -> list[LinkFacts]:
    """Return masses, section values, slenderness and cut-off frequency of each link of a planar arm.

    Notes
    -----
    The cut-off frequency is that of the paper's eqs (29)-(36): sqrt(kappa G A/(rho I)).

    Examples
    --------
    >>> from jaxmodal import examples
    >>> [round(fact.length_over_depth) for fact in link_facts(examples.two_link_flexible())]
    [820, 900]
    """
    facts = []
    for number, link in enumerate(arm.links, start=1):
        last = number == len(arm.links)
        area, second_moment = float(link.area), float(link.second_moment)
        depth = depth_in_plane(link)
        kappa = link.section.shear_coefficient_value(link.poisson_ratio)
        cutoff = None
        if link.has_shear:
            stiffness = float(link.shear_modulus_effective) * area
            cutoff = math.sqrt(stiffness / float(link.density) / second_moment) / (2.0 * math.pi)
        facts.append(
            LinkFacts(
                number=number,
                shape=link.section.shape or "area and second moment",
                length=float(link.length),
                mass=float(link.mass),
                tip_mass=float(link.body.mass) + last * float(arm.payload.mass),
                tip_inertia=float(link.body.inertia) + last * float(arm.payload.inertia),
                area=area,
                second_moment=second_moment,
                shear_coefficient=None if kappa is None else float(kappa),
                slenderness=float(link.length) * math.sqrt(area / second_moment),
                length_over_depth=None if depth is None else float(link.length) / depth,
                cutoff_hz=cutoff,
            )
        )
    return facts


def depth_in_plane(link: Link) -> float | None:
    """Return the depth of the section in the plane of motion, thickness factor included; None if unknown."""
    for name in IN_PLANE:
        if hasattr(link.section, name):
            return float(getattr(link.section, name)) * float(link.thickness_factor)
    return None
