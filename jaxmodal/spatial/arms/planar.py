"""Conversion of planar arms to arms in space."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jaxmodal.arm.arm import Arm
from jaxmodal.arm.kinds import ByKind
from jaxmodal.arm.links import Link
from jaxmodal.arm.loads import Loads
from jaxmodal.arm.quantities import shown
from jaxmodal.arm.shapes import RawSection, Section
from jaxmodal.runtime.errors import ArmError, within
from jaxmodal.spatial.arms.arm import AnyArm, SpatialArm
from jaxmodal.spatial.parts.bodies import RigidBody
from jaxmodal.spatial.parts.links import SpatialLink
from jaxmodal.spatial.parts.loads import SpatialLoads
from jaxmodal.spatial.parts.sections import SpatialSection, spatial_section
from jaxmodal.spatial.parts.springs import Spring, Support
from jaxmodal.statics.beam_arrays import SUPPORTS, TURNING
from jaxmodal.statics.link_parts import ROTOR

#: fields with the same meaning in both kinds of arm
_SAME = (
    *("length", "youngs_modulus", "density", "poisson_ratio", "shear_modulus", "joint_angle"),
    *("joint_stiffness", *ROTOR, "motor", "nonstructural_mass"),
    *("segment", "rigid"),
    "axial_force",
    *("loss_factor", "kelvin_voigt_time", "joint_damping"),
)
#: Poisson ratio of a planar link without one where it has no effect
_POISSON = 0.3
#: kinds and directions in space of the supports of a planar link
_SUPPORTS = (
    ("translation", (1.0, 0.0, 0.0)),
    ("translation", (0.0, 1.0, 0.0)),
    ("rotation", (0.0, 0.0, 1.0)),
)


def to_spatial(
    arm: AnyArm, sections: Mapping[int, Section | SpatialSection] | None = None
) -> SpatialArm:
    """Convert a planar arm to an arm in space, with all joints about z, which can also move out of its plane.

    Parameters
    ----------
    arm
        The planar arm. An arm in space is returned unchanged.
    sections
        Sections in space (`spatial_section`, or a shape) by link number; needed for raw sections, which lack
        out-of-plane bending and torsion.

    Returns
    -------
    SpatialArm
        The arm with the same name, links and posture.

    Raises
    ------
    ArmError
        If a link has a raw section and none is given for it, or has neither a Poisson ratio nor a shear modulus; if
        sections are given for an arm in space, which has its own; or if the arm has features that arms in space lack:
        rotational stiffnesses of forces at rest, an elastic base of three directions.

    Notes
    -----
    A planar arm has one moment of inertia for each body, and it is used about every axis. The in-plane frequencies are
    unchanged; for out-of-plane frequencies set the other moments, such as ``link1.body.inertia.xx``.

    Examples
    --------
    >>> import jaxmodal as jm
    >>> link = jm.Link(0.5, 70e9, 2700.0, jm.circle(0.01), poisson_ratio=0.3)
    >>> jm.to_spatial(jm.Arm((link, link))).num_links
    2
    """
    return _SPATIAL.of(arm)(arm, dict(sections or {}), whole=True)


def kept_in_its_plane(arm: AnyArm) -> SpatialArm:
    """Return `to_spatial` for motions in the plane of a planar arm alone, whatever its links lack for others."""
    return _SPATIAL.of(arm)(arm, {}, whole=False)


def _already(arm: SpatialArm, sections: Mapping[int, object], whole: bool) -> SpatialArm:
    if sections:
        raise ArmError(
            f"sections = {shown(sections)}: the links of an arm in space already have sections in space; "
            "set others by their addresses, or with link.replace(section=...)."
        )
    return arm


def _made(arm: Arm, given: Mapping[int, Section | SpatialSection], whole: bool) -> SpatialArm:
    for number in given:
        if number not in range(1, arm.num_links + 1):
            raise ArmError(
                f"sections = {{{shown(number)}: ...}}: keys are numbers of links, 1 to {arm.num_links}."
            )
    if arm.base_stiffness is not None:
        raise ArmError(
            "base_stiffness: covers three of the six directions of an arm in space; remove it with "
            "arm.replace(base_stiffness=None), and give the arm in space its own 6 x 6 one."
        )
    links = []
    for number, link in enumerate(arm.links, start=1):
        with within(f"link{number}."):
            links.append(_link(link if whole else _twisting(link), given.get(number), whole))
    carried = arm.payload
    payload = _body(carried.mass, carried.inertia, carried.centre_x, carried.centre_y)
    return SpatialArm(tuple(links), payload or RigidBody(), arm.name, loads=_loads(arm.loads))


_SPATIAL: ByKind[Callable[..., SpatialArm]] = ByKind(_made, _already)


def _loads(loads: Loads | None) -> SpatialLoads | None:
    """Return the loads in the same axes; the segments that stand for links in the plane are not needed."""
    if loads is None:
        return None
    parts = {
        f"{name}_{axis}": value
        for name in loads.vectors
        for axis, value in zip("xy", loads.components(name), strict=True)
    }
    return SpatialLoads(**parts)


def _link(link: Link, section: Section | SpatialSection | None, whole: bool) -> SpatialLink:
    for name in TURNING:
        if getattr(link, name) is not None:
            raise ArmError(
                f"{name} = {shown(getattr(link, name))}: an arm in space has no such stiffness of static "
                "forces, only axial_force; leave it out."
            )
    values: dict[str, Any] = {name: getattr(link, name) for name in _SAME}
    dampers = link.joint_axial_damping, link.joint_shear_damping
    directions: Any = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
    return SpatialLink(
        **values,
        section=_full_section(link, whole) if section is None else section,
        joint_springs=tuple(
            Spring("translation", e, k, c)
            for k, e, c in zip(link.slides, directions, dampers, strict=True)
            if k is not None
        ),
        supports=tuple(
            Support(kind, direction, stiffness)  # type: ignore[arg-type]
            for name, (kind, direction) in zip(SUPPORTS, _SUPPORTS, strict=True)
            if (stiffness := getattr(link, name)) is not None
        ),
        hub=None if link.hub is None else _body(link.hub.mass, link.hub.inertia),
        stator=None if link.stator is None else _body(link.stator.mass, link.stator.inertia),
        base_offset=None if link.base_offset is None else (*link.base_offset, 0.0),  # type: ignore[arg-type]
        end_offset=None if link.end_offset is None else (*link.end_offset, 0.0),  # type: ignore[arg-type]
        body=_body(*link.body[:2], link.tip_centre_x, link.tip_centre_y),
    )


def _twisting(link: Link) -> Link:
    """Return the link with a Poisson ratio if it has none; in the plane nothing twists."""
    known = link.poisson_ratio is not None or link.shear_modulus is not None
    return link if known else link.replace(poisson_ratio=_POISSON)


def _full_section(link: Link, whole: bool) -> Section | SpatialSection:
    """Return the section; of a raw one refuse what is ``whole``, else take the same second moment about every axis."""
    if isinstance(link.section, RawSection):
        if not whole:
            second = float(link.second_moment)
            return spatial_section(float(link.area), second, second, 2.0 * second)
        raise ArmError(
            "section: area and second moment do not describe motion out of the plane; give "
            "to_spatial(arm, sections={number: spatial_section(...)}) for this link."
        )
    return link.scaled_section


def _body(mass: Any, inertia: Any, x: Any = None, y: Any = None) -> RigidBody | None:
    """Return a body with the same inertia about every axis."""
    centre = None
    if x is not None or y is not None:
        centre = (0.0 if x is None else x, 0.0 if y is None else y, 0.0)
    if mass == 0.0 and inertia == 0.0 and centre is None:
        return None
    return RigidBody(mass, centre, (inertia, inertia, inertia))  # type: ignore[arg-type]
