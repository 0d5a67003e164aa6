"""Links cut into segments: bodies along a link, and tapered links as many short uniform segments."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from jaxmodal.arm.arguments import is_whole, whole
from jaxmodal.arm.arm import Arm, require_planar
from jaxmodal.arm.links import Link
from jaxmodal.arm.loads import require_bound
from jaxmodal.arm.quantities import FINITE, NON_NEGATIVE, Rule, Scalar, as_scalar, quantities, shown
from jaxmodal.arm.serial_arms import ArmKind
from jaxmodal.arm.shapes import RawSection, Section
from jaxmodal.arm.straight_links import StraightLink
from jaxmodal.runtime import limits
from jaxmodal.runtime.errors import ArmError, within
from jaxmodal.runtime.namespace import is_traced
from jaxmodal.statics.link_parts import BODY

#: links and arms, planar or in space
L = TypeVar("L", bound=StraightLink)
#: what a body at the end of a planar link is
_OF_TIP = " and ".join(BODY)


def attach_body(
    arm: Arm,
    link: int,
    position: Any,
    mass: Any,
    inertia: Any = 0.0,
    centre_x: Any = None,
    centre_y: Any = None,
) -> Arm:
    """Return the arm with a rigid body attached along a link, which is cut there into a link and a segment.

    Parameters
    ----------
    arm
        The arm.
    link
        Number of the link, from 1.
    position
        Position along the link, m from its base, greater than 0 and less than its length. A body at the end of the
        link is its tip body.
    mass, inertia
        Mass in kg; inertia about the centre of gravity in kg m^2.
    centre_x, centre_y
        Centre of gravity relative to that point of the link, m, along the link and to its left.

    Raises
    ------
    ArmError
        If there is no such link, or a value is not allowed.

    Notes
    -----
    The numbers of the links beyond increase by one.

    Examples
    --------
    >>> from jaxmodal.arm.sections import circle
    >>> arm = Arm((Link(1.0, 7e10, 2700.0, circle(0.01)),))
    >>> loaded = attach_body(arm, 1, position=0.4, mass=0.2)
    >>> [float(x.length) for x in loaded.links], float(loaded.links[0].tip_mass)
    ([0.4, 0.6], 0.2)
    """
    require_planar(arm)
    body = _body(mass, inertia, centre_x, centre_y)
    return with_pieces(arm, link, lambda own: split(own, position, body, _OF_TIP))


def with_pieces(arm: ArmKind, link: int, pieces_of: Callable[[Any], tuple[Any, ...]]) -> ArmKind:
    """Return the arm, planar or in space, with one link replaced by several."""
    if not is_whole(link, 1, arm.num_links):
        raise ArmError(f"link = {shown(link)}: must be the number of a link, 1 to {arm.num_links}.")
    with within(f"link{link}."):
        pieces = pieces_of(arm.links[link - 1])
    return arm.replace(links=(*arm.links[: link - 1], *pieces, *arm.links[link:]))


def with_body_at(
    link: Link, position: Any, mass: Any, inertia: Any, centre_x: Any, centre_y: Any
) -> tuple[Link, Link]:
    """Return the two links that `attach_body` makes of one."""
    return split(link, position, _body(mass, inertia, centre_x, centre_y), _OF_TIP)


def _body(mass: Any, inertia: Any, centre_x: Any, centre_y: Any) -> dict[str, Any]:
    """Return the fields of a tip body, checked under the names of the arguments."""
    own = zip(BODY, (mass, inertia), strict=True)
    found = {name: _checked(name.removeprefix("tip_"), x, NON_NEGATIVE) for name, x in own}
    return found | {
        "tip_centre_x": None if centre_x is None else _checked("centre_x", centre_x, FINITE),
        "tip_centre_y": None if centre_y is None else _checked("centre_y", centre_y, FINITE),
    }


def split(link: L, position: Any, body: Mapping[str, Any], of_tip: str) -> tuple[L, L]:
    """Return a link cut in two at ``position``, m from its base, with a body between.

    ``of_tip`` names the fields of a body at its end, for the message.
    """
    place: Any = as_scalar("position", position, "in metres")
    inside = is_traced(place, link.length) or np.all((place > 0.0) & (place < link.length))
    if not inside:
        raise ArmError(
            f"position = {shown(place)}: must be greater than 0 and less than the length of the link, "
            f"{shown(link.length)} m; a body at its end is its {of_tip}."
        )
    inner = link.replace(**link.nothing_at_tip | {"length": place} | dict(body))
    return inner, link.continued(length=link.length - place)


def _checked(name: str, value: Any, rule: Rule) -> Scalar:
    """Return a value of a body, checked under the name of the argument."""
    scalar = as_scalar(name, value, rule.allowed)
    if isinstance(scalar, np.float64) and not rule.holds(scalar):
        raise ArmError(f"{name} = {shown(scalar)}: must be {rule.allowed}.")
    return scalar


def tapered(
    link: Link, tip_section: Section, pieces: int = 16, bound: str = "middle"
) -> tuple[Link, ...]:
    """Return a linearly tapered link as uniform segments of equal length.

    Parameters
    ----------
    link
        The link; its section is the section at the base.
    tip_section
        Section at the tip, of the same shape; dimensions vary linearly in between.
    pieces
        Number of segments, 1 or more.
    bound
        ``"middle"``: each segment has the section at its middle; the frequencies converge with the square of the
        segment length. ``"lower"``: each segment has the least stiffness and the greatest mass of its part of the
        link, ``"upper"`` the greatest stiffness and the least mass; every frequency is then a lower or an upper bound
        of that of the tapered link, by Rayleigh's principle.

    Raises
    ------
    ArmError
        If the two sections differ in shape or in how their shear coefficient is given; for a bound, if some
        dimensions grow and others shrink, or the shear coefficient changes.

    Examples
    --------
    >>> from jaxmodal.arm.sections import rectangle
    >>> links = tapered(Link(1.0, 7e10, 2700.0, rectangle(0.02, 0.05)), rectangle(0.01, 0.05), pieces=4)
    >>> [round(float(x.section.depth), 5) for x in links], [x.segment for x in links]
    ([0.01875, 0.01625, 0.01375, 0.01125], [False, True, True, True])
    """
    if not isinstance(link, Link):
        raise ArmError(
            f"link = {shown(link)}: must be a Link, which is planar; of an arm in space take SpatialArm.with_taper."
        )
    check_taper(link, tip_section, pieces, bound)
    if bound == "middle":
        return with_middle_sections(link, tip_section, pieces)
    changes: list[dict[str, Any]] = []
    for number in range(pieces):
        ends = [section_between(link.section, tip_section, (number + k) / pieces) for k in (0, 1)]
        section, density = _bounding(link, ends, bound)
        changes.append({"section": section, "density": density, "thickness_factor": 1.0})
    return cut(link, changes)


def with_middle_sections(link: L, tip_section: Section, pieces: int) -> tuple[L, ...]:
    """Return the link as equal pieces, each with the section of the taper at its middle."""
    shares = [(number + 0.5) / pieces for number in range(pieces)]
    return cut(link, [{"section": section_between(link.section, tip_section, s)} for s in shares])


def cut(link: L, changes: Sequence[Mapping[str, Any]]) -> tuple[L, ...]:
    """Return the link as pieces of equal length, each with its own changes; the last piece keeps the tip."""
    length, made = link.length / len(changes), list[L]()
    for number, own in enumerate(changes, start=1):
        values = {"length": length} | dict(own)
        if number < len(changes):
            values |= link.nothing_at_tip
        made.append(link.replace(**values) if number == 1 else link.continued(**values))
    return tuple(made)


def check_taper(link: Any, tip_section: Section, pieces: int, bound: str) -> None:
    """Refuse an invalid taper of a link, planar or in space; bounds are for planar links only."""
    whole("pieces", pieces, 1, limits.LINKS)
    require_bound("bound", bound)
    base = link.section
    if type(tip_section) is not type(base):
        raise ArmError(
            f"tip_section = {shown(tip_section)}: must be of the shape of the section at the base, "
            f"{base.shape or 'area and second moment'!r}."
        )
    given = [(x.shear_rule, x.shear_coefficient is None) for x in (base, tip_section)]
    if given[0] != given[1]:
        raise ArmError(
            f"tip_section.shear_coefficient = {shown(tip_section.shear_coefficient)}: must be given as at the base, "
            "a value, the same rule, or left out."
        )
    if bound != "middle":
        _check_bound(link, tip_section, bound)


def _check_bound(link: Link, tip_section: Section, bound: str) -> None:
    base = link.section
    kappa = [x.shear_coefficient_value(link.poisson_ratio) for x in (base, tip_section)]
    if kappa[0] is not None and kappa[1] is not None and not np.isclose(kappa[0], kappa[1], 1e-14):
        raise ArmError(
            f"bound = {bound!r}: the shear coefficient changes from {shown(kappa[0])} to {shown(kappa[1])} along the "
            "link; give both sections the same value, or take bound = 'middle'."
        )
    growth = {
        np.sign(float(getattr(tip_section, item.name)) - float(getattr(base, item.name)))
        for item in quantities(base)
        if item.name != "shear_coefficient"
    }
    if {1.0, -1.0} <= growth:
        raise ArmError(
            f"bound = {bound!r}: some dimensions of the section grow towards the tip and others shrink; bounds need "
            "one direction, or take bound = 'middle'."
        )


def section_between(base: Section, tip: Section, share: float) -> Section:
    """Return the section at a share of the length, with linearly interpolated dimensions."""
    values: dict[str, Any] = {"shear_rule": base.shear_rule}
    for item in quantities(base):
        first, last = getattr(base, item.name), getattr(tip, item.name)
        values[item.name] = None if first is None else first + (last - first) * share
    return type(base)(**values)


def _bounding(link: Link, ends: list[Section], bound: str) -> tuple[Section, float]:
    """Return section and density with the least stiffness and the greatest mass (``"lower"``), or the opposite."""
    kappa = ends[0].shear_coefficient_value(link.poisson_ratio)
    areas = [float(x.area_at(link.thickness_factor)) for x in ends]
    moments = [float(x.second_moment_at(link.thickness_factor)) for x in ends]
    stiff, heavy = (min, max) if bound == "lower" else (max, min)
    area, moment = stiff(areas), stiff(moments)
    growth = heavy(heavy(areas) / area, heavy(moments) / moment)
    section = RawSection(area=area, second_moment=moment, shear_coefficient=kappa, shear_rule=None)
    return section, float(link.density) * growth * (1.0 + math.copysign(1e-15, growth - 1.0))
