"""Addresses of the values of an arm in space: ``link2.joint_angle``, ``link1.body.inertia.xx``, ``payload.mass``.

Rotations of a frame and springs of a joint are numbered from 1: ``link2.joint_frame1.angle``,
``link2.joint_spring1.stiffness``.
"""

from __future__ import annotations

import re
from typing import Any

from jaxmodal.arm.addresses import DECLARED, about, declared, full_address, in_words
from jaxmodal.arm.quantities import Record
from jaxmodal.arm.shapes import SHAPES
from jaxmodal.spatial.parts.bases import BaseStiffness
from jaxmodal.spatial.parts.bodies import RigidBody
from jaxmodal.spatial.parts.geometry import Direction, InertiaTensor, Position, Rotation
from jaxmodal.spatial.parts.links import SpatialLink
from jaxmodal.spatial.parts.loads import SpatialLoads
from jaxmodal.spatial.parts.sections import SpatialSection
from jaxmodal.spatial.parts.springs import DAMPERS, SPRINGS, Spring, Support


def _body(prefix: str, where: str) -> list[tuple[str, type[Record], str]]:
    return [
        (prefix, RigidBody, where),
        (f"{prefix}centre.", Position, f" of the centre of gravity{where}"),
        (f"{prefix}inertia.", InertiaTensor, where),
    ]


_DECLARED = declared(
    [
        ("link.", SpatialLink, ""),
        *(("link.section.", shape, "") for shape in (*SHAPES.values(), SpatialSection)),
        ("link.joint_axis.", Direction, " of the joint's axis"),
        ("link.joint_frame.axis.", Direction, " of the axis of a turn of the joint's frame"),
        ("link.joint_frame.", Rotation, " of the joint's frame"),
        ("link.joint_spring.", Spring, ""),
        ("link.joint_spring.direction.", Direction, " of the direction of a spring of the joint"),
        ("link.support.", Support, ""),
        ("link.support.direction.", Direction, " of the direction of a support"),
        ("link.base_offset.", Position, " of the base offset"),
        ("link.end_offset.", Position, " of the end offset"),
        *_body("link.hub.", " (hub of the joint)"),
        *_body("link.stator.", " (stator of the joint)"),
        *_body("link.body.", " (body at the tip)"),
        *_body("payload.", " (payload)"),
        ("base_stiffness.", BaseStiffness, ""),
        ("loads.", SpatialLoads, ""),
    ]
)


def _about(address: str) -> tuple[str, str]:
    """Return the unit and meaning of an address of a planar arm or an arm in space.

    Shared addresses have the same meaning.
    """
    address = full_address(address)  # refuses anything but text
    without = re.sub(r"(?<=\.)(joint_frame|joint_spring|support)[1-9][0-9]*\.", r"\1.", address)
    return about(without, _DECLARED | DECLARED)


#: address of a spring of a joint or a support: link, kind, number and field
_OF_SPRING = re.compile(
    r"link([1-9][0-9]*)\.(joint_spring|support)([1-9][0-9]*)\.(stiffness|damping)"
)


def unit_of_address(address: str, arm: Any = None) -> str:
    """Return the SI unit of the value at an address, ``"1"`` for a dimensionless number.

    Parameters
    ----------
    address
        One address, or one with ``link*``.
    arm : Arm or SpatialArm, optional
        The arm determines whether the spring of a joint in space is along or about a direction, and so its unit.
        Without the arm, both units are returned.

    Examples
    --------
    >>> unit_of_address("link2.joint_stiffness"), unit_of_address("link1.body.inertia.xx")
    ('N m/rad', 'kg m^2')
    >>> from jaxmodal import examples
    >>> unit_of_address("link4.joint_spring1.stiffness", examples.six_axis_industrial())
    'N m/rad'
    """
    unit = _about(address)[0]
    found = None if arm is None else _OF_SPRING.fullmatch(full_address(address, arm))
    if found is None or not arm.has(found[0]):
        return unit
    springs = getattr(arm.links[int(found[1]) - 1], f"{found[2]}s")
    kind = springs[int(found[3]) - 1].kind
    return (SPRINGS if found[4] == "stiffness" else DAMPERS)[kind]


def describe_address(address: str) -> str:
    """Describe in words the value at an address.

    Examples
    --------
    >>> describe_address("link2.length"), describe_address("link*.tip_mass")
    ('length of the link (link 2)', 'mass of the body at the tip (every link)')
    >>> describe_address("link2.joint_axis.z")
    "component along z of the joint's axis (link 2)"
    """
    return in_words(address, _about(address)[1])
