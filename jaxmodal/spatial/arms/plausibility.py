"""Plausibility of an arm in space: allowed values that look like a wrong unit or a slip; same bounds as planar arms."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from jaxmodal.arm import plausibility as planar
from jaxmodal.arm.joint_limits import beyond_limits
from jaxmodal.arm.kinds import ByKind
from jaxmodal.arm.paths import value_at
from jaxmodal.arm.plausibility import (
    LARGEST_SECTION,
    LENGTH_RANGE,
    Implausibility,
    material_findings,
    shear_findings,
    size_findings,
)
from jaxmodal.arm.plausible_damping import loss_factor_findings
from jaxmodal.arm.plausible_joints import (
    Finding,
    angle_findings,
    inertia_findings,
    mass_findings,
    rotor_findings,
    spring_findings,
)
from jaxmodal.arm.quantities import Record
from jaxmodal.spatial.arms.arm import AnyArm, SpatialArm
from jaxmodal.spatial.arms.plausible_loads import load_findings
from jaxmodal.spatial.parts.bodies import RigidBody, fault_of
from jaxmodal.spatial.parts.geometry import Position
from jaxmodal.spatial.parts.links import SpatialLink
from jaxmodal.spatial.parts.sections import SpatialSection

#: range of angles between joint axes, rad, for which a distant common normal is probably not intended
_NEARLY = (1e-9, 0.02)


@dataclass(frozen=True)
class WhyStill:
    """Why an arm has no frequencies, and what to give it, in words; the address and the value of what causes it."""

    reason: str
    remedy: str
    address: str
    value: float


_RIGID = WhyStill(
    "nothing gives way, all links and joints are rigid",
    "give joint_stiffness, or links a section and a material",
    "link*.joint_stiffness",
    math.inf,
)
_MASSLESS = WhyStill(
    "nothing has mass",
    "give links bodies (hub, body), or a section and a material, or the arm a payload",
    "link*.body.mass",
    0.0,
)


def implausible_values(arm: AnyArm, *, vibrates: bool = True) -> list[Implausibility]:
    """Find values of a planar or spatial arm that look like a wrong unit or a slip.

    See `arm.plausibility.implausible_values`; ``vibrates`` as for `warn_of_implausible_values`.

    Examples
    --------
    >>> from jaxmodal import examples
    >>> implausible_values(examples.six_axis_industrial())
    []
    """
    found = _FINDERS.of(arm)(arm)
    still = why_still(arm)
    if still is not None and (vibrates or still is not _RIGID):
        message = f"{still.reason}, so there are no frequencies; {still.remedy}"
        found.append(Implausibility(still.address, still.value, message))
    return found


def most_modes(arm: AnyArm) -> float:
    """Return the largest number of modes of an arm: that of its springs if all links are rigid, otherwise inf."""
    if not all(link.rigid for link in arm.links):
        return math.inf
    given = [s.stiffness for link in arm.links for s in link.springs_of_joint]
    if arm.base_stiffness is not None:
        given += [row[k] for k, row in enumerate(arm.base_stiffness.rows())]
    return sum(stiffness is not None and math.isfinite(float(stiffness)) for stiffness in given)


def why_still(arm: AnyArm) -> WhyStill | None:
    """Return why an arm cannot vibrate: nothing in it gives way, or nothing has mass; None if it can."""
    if most_modes(arm) == 0:
        return _RIGID
    first = arm.links[0]
    still: tuple[str, ...] = ()
    if arm.base_stiffness is None:  # what moves with the ground
        still = ("stator", "rotor") if first.motor == "held" else ("stator",)
    masses = (float(link.mass) for link in arm.links)
    bodies = itertools.chain(
        _inertias(first, still), *map(_inertias, (*arm.links[1:], arm.payload))
    )
    return None if any(masses) or any(bodies) else _MASSLESS


def _inertias(part: Record, still: tuple[str, ...] = ()) -> Iterator[float]:
    """Yield all masses and moments of inertia given to a link or a body, but for those of parts that do not move."""
    for item in dataclasses.fields(part):  # type: ignore[arg-type]
        value = getattr(part, item.name)
        if item.name.startswith(still):
            continue
        if isinstance(value, Record):
            yield from _inertias(value)
        elif value is not None and item.metadata.get("unit") in ("kg", "kg m^2"):
            yield float(value)


def warn_of_implausible_values(arm: AnyArm, source: str = "", *, vibrates: bool = True) -> None:
    """Give one `ImplausibleWarning` that lists all implausible values; none if there are no such values.

    Parameters
    ----------
    source
        Name of the arm's file, placed before every value.
    vibrates
        False for an arm that may be rigid, since it moves and no frequencies are asked for.
    """
    planar.warn(implausible_values(arm, vibrates=vibrates), source)


@np.errstate(all="ignore")
def _in_space(arm: SpatialArm) -> list[Implausibility]:
    return planar.beyond_measure(arm) or list(_found(arm))


_FINDERS: ByKind[Callable[..., list[Implausibility]]] = ByKind(planar.implausible_values, _in_space)


def _found(arm: SpatialArm) -> Iterator[Implausibility]:
    links_mass = sum(float(link.mass) + _own_bodies(link) for link in arm.links) or math.inf
    reach = sum(map(_way, arm.links)) or math.inf
    for number, link in enumerate(arm.links, start=1):
        findings = [*material_findings(link), *_geometry(link), *_joint(arm, number)]
        findings += loss_factor_findings(float(link.loss_factor or 0.0))
        for name in SpatialLink.bodies:
            length = float(link.length) if name == "body" and link.section is not None else reach
            findings += _body(f"{name}.", getattr(link, name), links_mass, length, reach)
        for name in ("base_offset", "end_offset"):
            allowed = LENGTH_RANGE[1] if link.prismatic else reach
            far = list(_offset(f"{name}.", getattr(link, name), allowed))
            cause = _nearly_parallel(arm, number, reach) if far else ""
            findings += [(field, value, cause or message) for field, value, message in far]
        for field, value, message in findings:
            yield Implausibility(f"link{number}.{field}", value, message)
    last = arm.links[-1]
    length = float(last.length) if last.section is not None else reach
    carried = _body("payload.", arm.payload, links_mass, length, reach)
    for field, value, message in (*carried, *load_findings(arm)):
        yield Implausibility(field, value, message)


def _way(link: SpatialLink) -> float:
    """Return the length of a link along its parts from base to tip, m; for a prismatic joint the offsets count."""
    ends = (link.base_offset, link.end_offset) if link.prismatic else ()
    return float(link.length) + sum(math.hypot(*map(float, end)) for end in ends if end is not None)


def _own_bodies(link: SpatialLink) -> float:
    """Sum of the masses of hub and body of a link without a section, kg."""
    bodies = () if link.section is not None else (link.hub, link.body)
    return sum(float(body.mass) for body in bodies if body is not None)


def _geometry(link: SpatialLink) -> Iterator[Finding]:
    length, values = float(link.length), link.section_values
    if (
        link.section is None and length <= LENGTH_RANGE[1]
    ):  # a short distance between joints is usual
        return
    yield from size_findings(length, link.section)
    if link.section is None:
        return
    raw = isinstance(link.section, SpatialSection)
    given = ("second_moment_z", "second_moment_y") if raw else ("depth", "width")
    area = float(values.area)
    for name, moment in zip(given, (values.second_moment_z, values.second_moment_y), strict=True):
        deep = float(getattr(link.section, name, math.sqrt(12.0 * float(moment) / area)))
        extent = math.sqrt(12.0 * float(moment) / area) if raw else deep
        if not raw and not hasattr(link.section, name):  # a round section, named by its diameter
            if name == "width":
                continue
            name = "diameter" if hasattr(link.section, "diameter") else "outer_diameter"
            extent = float(getattr(link.section, name))
        if extent > length and not link.rigid:
            message = (
                f"the section is {extent:.6g} m deep, the link only {length:.6g} m long: no beam theory holds; check "
                "the units of both"
            )
            yield f"section.{name}", deep if raw else extent, message
        elif raw and extent > LARGEST_SECTION:
            message = f"a rectangle with this area and second moment is {extent:.6g} m deep; m^2 and m^4 expected"
            yield f"section.{name}", deep, message
    for kappa, axis in ((values.shear_coefficient_y, "_y"), (values.shear_coefficient_z, "_z")):
        yield from shear_findings(f"section.shear_coefficient{axis if raw else ''}", kappa)
        if not raw:
            return


def _joint(arm: SpatialArm, number: int) -> Iterator[Finding]:
    link = arm.links[number - 1]
    yield from angle_findings(float(link.joint_angle))
    position = float(value_at(link, link.position))
    for text in beyond_limits(arm.links, {number: position}):
        yield link.position, position, text.partition(": ")[2]
    beyond, values = _inertia_beyond(arm, number), link.section_values
    if 0.0 < beyond < math.inf:
        softer = min(float(values.second_moment_y), float(values.second_moment_z))
        if not link.rigid and link.youngs_modulus is not None:
            rigidity = float(link.youngs_modulus) * softer / float(link.length)
            yield from spring_findings(float(link.joint_stiffness), rigidity, beyond)
        yield from rotor_findings(link, beyond)


def _inertia_beyond(arm: SpatialArm, number: int) -> float:
    """Return the moment of inertia of all links beyond a joint, kg m^2, as if at right angles to its axis."""
    start = found = 0.0
    for link in arm.links[number - 1 :]:
        length, mass = float(link.length), float(link.mass)
        middle = start + length / 2.0
        found += mass * (length * length / 12.0 + middle * middle) + _inertia_at(link.hub, start)
        start += length
        found += _inertia_at(link.body, start)
    return found + _inertia_at(arm.payload, start)


def _inertia_at(body: RigidBody | None, distance: float) -> float:
    if body is None:
        return 0.0
    return float(body.mass) * distance * distance + _largest_moment(body)[1]


def _largest_moment(body: RigidBody) -> tuple[str, float]:
    """Return the name and value of the largest moment of inertia of a body."""
    if body.inertia is None:
        return "xx", 0.0
    moments = {name: float(getattr(body.inertia, name)) for name in ("xx", "yy", "zz")}
    largest = max(moments, key=lambda name: moments[name])
    return largest, moments[largest]


def _body(
    place: str, body: RigidBody | None, links_mass: float, length: float, reach: float
) -> Iterator[Finding]:
    if body is None:
        return
    mass = float(body.mass)
    yield from mass_findings(f"{place}mass", mass, links_mass)
    name, moment = _largest_moment(body)
    yield from inertia_findings(f"{place}inertia.{name}", moment, mass, length)
    yield from _offset(f"{place}centre.", body.centre, reach)
    if body.inertia is not None and (fault := fault_of(body.inertia)):
        yield f"{place}inertia.{name}", moment, fault


def _nearly_parallel(arm: SpatialArm, number: int, reach: float) -> str:
    """Return a remark on a large offset due to nearly parallel joint axes, as in calibrated parameters; else empty."""
    if number not in arm.joints:
        return ""
    axes, here = arm.jacobian()[3:].T, arm.joints.index(number)
    for first in (here - 1, here):
        pair = axes[max(first, 0) : first + 2]
        angle = math.inf if len(pair) < 2 else float(np.linalg.norm(np.cross(*pair)))
        if _NEARLY[0] < angle < _NEARLY[1] and np.all(np.linalg.norm(pair, axis=1) > 0.5):
            joints = " and ".join(str(arm.joints[k]) for k in (first, first + 1))
            return (
                f"m expected; it is farther than the arm is long ({reach:.6g} m): the axes of joints {joints} are"
                f" parallel but for {angle:.3g} rad, and their common normal, to which rows of Denavit and Hartenberg"
                " lead, is that far away; give these joints by joint_origin in place of denavit_hartenberg"
            )
    return ""


def _offset(place: str, offset: Position | None, reach: float) -> Iterator[Finding]:
    for axis, value in zip("xyz", () if offset is None else tuple(offset), strict=False):
        if abs(float(value)) > reach:
            message = (
                f"m expected; it is farther than the arm is long ({reach:.6g} m); if this is in mm, "
                f"write {float(value) / 1e3:.6g}"
            )
            yield f"{place}{axis}", float(value), message
