"""Texts that describe arms, their postures, links and values."""

from __future__ import annotations

import math
from typing import Any, Protocol

from jaxmodal.arm.joint_limits import position_text
from jaxmodal.arm.links import Link
from jaxmodal.arm.paths import value_at
from jaxmodal.arm.quantities import Record, given, quantities, shown, value_text
from jaxmodal.arm.shapes import Section
from jaxmodal.statics.link_parts import BODY


class Jointed(Protocol):
    """Protocol of an arm of links with joint angles."""

    @property
    def links(self) -> tuple[Any, ...]: ...

    @property
    def joints(self) -> tuple[int, ...]: ...

    def slides(self, number: int) -> bool: ...

    def position_of(self, number: int) -> str: ...


def first_angle_matters(arm: Jointed) -> bool:
    """Return True if the angle of joint 1 changes frequencies: with an elastic base, supports or loads."""
    if any(getattr(arm, name, None) is not None for name in ("base_stiffness", "loads")):
        return True
    return any(link.springs_to_ground for link in arm.links)


def posture_text(arm: Jointed, first: bool = False) -> str:
    """Return the joint angles theta_2 .. theta_n as text; empty if there are none.

    theta_1 is included with ``first``, and wherever it changes frequencies (`first_angle_matters`). Sliding joints are
    given with their names.

    Examples
    --------
    >>> from jaxmodal import examples
    >>> posture_text(examples.three_link_industrial().with_posture_deg([45, -90]))
    'posture 45°, -90°'
    """
    first = first or first_angle_matters(arm)
    texts = []
    for number in arm.joints:
        link, slides = arm.links[number - 1], arm.slides(number)
        if number == 1 and not (first or slides):
            continue
        position = value_at(link, arm.position_of(number))
        text = position_text(position, slides) if isinstance(position, float) else shown(position)
        texts.append(f"{link.name or f'joint {number}'} {text}" if slides else text)
    return f"posture {', '.join(texts)}" if texts else ""


def link_row(link: Link, number: int) -> dict[str, str]:
    """Return the row of a link in a table, with its joint and the body it carries, by headings."""
    return {
        "link": str(number),
        "section": section_text(link.section),
        "length [m]": value_text(link.length),
        "mass [kg]": value_text(link.mass),
        "joint": _joint(link, number),
        "tip body": _body(link),
        "also": ", ".join(_features(link)),
    }


def section_text(section: Section) -> str:
    """Return a section as text: ``hollow_circle, 80 x 3 mm``."""
    values = {
        item.name: getattr(section, item.name)
        for item in quantities(section)
        if item.name != "shear_coefficient"
    }
    if not section.shape or not all(isinstance(value, float) for value in values.values()):
        return ", ".join(f"{name} {value_text(value)}" for name, value in values.items())
    sizes = " x ".join(f"{1e3 * value:.6g}" for value in values.values())
    return f"{section.shape}, {sizes} mm"


def _joint(link: Link, number: int) -> str:
    if link.segment:
        return "none (segment)"
    stiffness = link.joint_stiffness
    if isinstance(stiffness, float):
        clamped = number == 1 and all(x is None or x == math.inf for x in link.slides)
        kind = {0.0: "free hinge", math.inf: "clamped" if clamped else "rigid"}
        spring = kind.get(float(stiffness), f"{stiffness:.6g} N m/rad")
    else:
        spring = f"{shown(stiffness)} N m/rad"
    angle = link.joint_angle
    turned = f"{math.degrees(angle):.6g}°, " if isinstance(angle, float) and angle else ""
    return turned + spring


def _body(link: Link) -> str:
    mass, inertia = (
        f"{value_text(x)} {unit}" for x, unit in zip(link.body[:2], ("kg", "kg m²"), strict=True)
    )
    mass, inertia = link.body[:2]
    bare = isinstance(mass, float) and mass == 0.0 == inertia
    return "-" if bare else f"{mass}, {inertia}"


_OTHER = ("length", *BODY, "joint_angle", "joint_stiffness")
_MATERIAL = ("youngs_modulus", "density", "poisson_ratio", "shear_modulus")


def _features(link: Link) -> list[str]:
    """Return texts of the values of a link other than its length, material, joint and tip body."""
    flags = ["rigid"] if link.rigid else []
    motor = [] if link.motor is None else [f"motor {link.motor}"]
    values = [text for text in value_texts(link) if text.split(" ")[0] not in (*_OTHER, *_MATERIAL)]
    return flags + values + motor


def value_texts(record: Record) -> list[str]:
    """Return texts of the values of a record that are not at their defaults: ``length 0.5 m``."""
    found = []
    for item, value in given(record):
        unit = item.metadata["unit"]
        found.append(f"{item.name} {value_text(value)}{'' if unit == '1' else f' {unit}'}")
    return found
