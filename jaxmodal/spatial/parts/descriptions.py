"""Tables of the links of an arm in space, for `print` and notebooks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from jaxmodal.arm.descriptions import section_text
from jaxmodal.arm.joint_limits import position_text
from jaxmodal.arm.paths import value_at
from jaxmodal.arm.quantities import shown, value_text
from jaxmodal.arm.shapes import Section
from jaxmodal.runtime.tables import Table
from jaxmodal.spatial.parts.bodies import RigidBody
from jaxmodal.spatial.parts.links import SpatialLink
from jaxmodal.spatial.parts.springs import SPRINGS

_LEFT = ("name", "section", "springs", "bodies [kg]")


def links_table(
    links: Sequence[SpatialLink], payload: RigidBody, total_mass: Any, title: str, base: str
) -> Table:
    """Return a row for each link, with its joint, section, offsets and masses; the total mass is in the notes."""
    named = any(link.name for link in links)
    rows = []
    for number, link in enumerate(links, start=1):
        rows.append(
            [
                str(number),
                *([link.name] if named else []),
                _section(link),
                value_text(link.length),
                _offsets(link),
                "-" if link.segment else ", ".join(map(value_text, link.joint_axis)),
                _position(link),
                _springs(link),
                value_text(link.mass),
                _bodies(link),
            ]
        )
    headings = (
        *("link", *(("name",) if named else ()), "section", "length [m]", "offsets [m]"),
        *("joint axis", "position", "springs", "mass [kg]", "bodies [kg]"),
    )
    notes = [f"total mass {value_text(total_mass)} kg", "all values: to_toml()"]
    if not (isinstance(payload.mass, float) and payload.mass == 0.0):
        notes.insert(0, f"payload: {value_text(payload.mass)} kg")
    if base:
        notes.insert(0, base)
    return Table(title, headings, rows, notes, _LEFT)


def _section(link: SpatialLink) -> str:
    """Return a description of the section, and whether the link is rigid."""
    if link.section is None:
        return "rigid" if link.rigid else "none"
    own = section_text(link.section) if isinstance(link.section, Section) else "by its values"
    return f"rigid, {own}" if link.rigid else own


def _offsets(link: SpatialLink) -> str:
    """Return the base and end offset of the link in words; the base offset of a sliding link is its position."""
    parts = []
    for name, offset in (("base", link.base_offset), ("end", link.end_offset)):
        if offset is None or (name == "base" and link.prismatic):
            continue
        parts.append(f"{name} {', '.join(map(value_text, offset))}")
    return "; ".join(parts) or "-"


def _position(link: SpatialLink) -> str:
    if link.segment:
        return "none (segment)"
    position = value_at(link, link.position)
    return (
        position_text(position, link.prismatic) if isinstance(position, float) else shown(position)
    )


def _springs(link: SpatialLink) -> str:
    """Return the springs of the joint in words, the one about its axis first."""
    if link.segment:
        return "-"
    found = []
    if not (isinstance(link.joint_stiffness, float) and link.joint_stiffness == math.inf):
        found.append(f"{value_text(link.joint_stiffness)} N m/rad")
    found += [
        f"{value_text(spring.stiffness)} {SPRINGS[spring.kind]}" for spring in link.joint_springs
    ]
    return ", ".join(found) or "rigid"


def _bodies(link: SpatialLink) -> str:
    """Return the masses of the bodies of the link: ``hub 3, body 1.5``."""
    bodies = [(name, getattr(link, name)) for name in SpatialLink.bodies]
    found = [f"{name} {value_text(body.mass)}" for name, body in bodies if body is not None]
    return ", ".join(found) or "-"
