"""Data of the page of an arm in space: the arm for the solver, sliders and picture."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxmodal.arm.joint_limits import position_text
from jaxmodal.arm.parameters import get_parameter
from jaxmodal.arm.shapes import HollowRectangle, Rectangle
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.spatial.arms.arm import AnyArm, SpatialArm
from jaxmodal.spatial.modes.motions import Frame
from jaxmodal.spatial.parts.bodies import RigidBody
from jaxmodal.spatial.parts.geometry import Position
from jaxmodal.spatial.parts.links import SpatialLink
from jaxmodal.spatial.parts.parameters import unit_of_address
from jaxmodal.spatial.parts.springs import Support
from sweeps.explorer.solver import arm_json
from sweeps.explorer.solver.spatial_changes import FRAME
from sweeps.explorer.solver.spatial_supports import loads_of

#: sliders of stiffnesses go from the value divided by this to the value times this: two decades on each side
STIFFNESSES = 100.0
#: sliders of sizes go from half of the value to twice the value
SIZES = 2.0
#: middle of the slider of a rigid joint on a rigid link, N m/rad: the order of a gear of a light arm
_USUAL = 1e4
#: sliders of offsets and centres extend by this share of the arm's length on both sides
ASIDE = 0.1
#: groups of sliders; those of arms in space are closed at first
REST_GROUP, SIZE_GROUP, BODY_GROUP, TURN_GROUP, PLACE_GROUP, MOUNT_GROUP, BASE_GROUP = (
    "Forces at rest",
    "Lengths and sections",
    "Masses of bodies",
    "Inertias of bodies",
    "Offsets and centres",
    "Angles between joints and links",
    "Elastic base",
)
#: usual end of sliders of gravity and steady accelerations, m/s^2: about two times that of the earth
ACCELERATION = 20.0
#: density in kg/m^3 of the sphere that stands for a body without inertia: aluminium
_DENSITY = 2700.0


def space_page_data(arm: SpatialArm, theory: TheoryName) -> dict[str, Any]:
    """Return solver, sliders and picture for the page of an arm in space, as plain values.

    Raises
    ------
    ArmError
        As `natural_frequencies`.
    """
    solved = json.loads(arm_json(arm, theory))
    return {
        "solved": solved,
        "sliders": space_sliders(arm, solved["addresses"]),
        "folded": [SIZE_GROUP, BODY_GROUP, TURN_GROUP, PLACE_GROUP, MOUNT_GROUP, BASE_GROUP],
        "picture": space_picture(arm),
    }


def space_picture(arm: SpatialArm) -> dict[str, Any]:
    """Return the data of the picture of an arm in space, its links in the axes of their sections."""
    frames = arm.frames()
    before = [np.eye(3), *(frame.section.T @ frame.axes for frame in frames)]
    return {
        "links": [_link(arm, k, frame, before[k]) for k, frame in enumerate(frames)],
        "elastic": arm.base_stiffness is not None,
        "density": _DENSITY,
        "reach": _reach(frames) or 1.0,
    }


def space_sliders(arm: SpatialArm, addresses: Sequence[str]) -> list[dict[str, Any]]:
    """Return the sliders of all values that have one; see `plane_sliders`."""
    return [slider for address in addresses for slider in _slider(arm, address)]


def _reach(frames: list[Frame]) -> float:
    """Return the length of the path from the base to the tip through all joints."""
    ways = (
        np.linalg.norm(b - a)
        for f in frames
        for a, b in ((f.joint, f.start), (f.start, f.end), (f.end, f.tip))
    )
    return float(sum(ways))


def _slider(arm: SpatialArm, address: str) -> list[dict[str, Any]]:
    """Return a list with the slider of a value, from ``low`` to ``high`` in ``unit``, or an empty list.

    With ``rigid``, its upper end is rigid. The slider of a joint ends at the joint limits.
    """
    value = float(get_parameter(arm, address))
    found: dict[str, Any] = {"address": address, "logarithmic": False, "rigid": False}
    if address == "payload.mass":
        heavy = 2.0 * value or float(arm.total_mass) or 1.0
        own = {"label": address, "unit": "kg", "low": 0.0, "high": heavy, "group": "Payload"}
        return [found | own]
    owner, _, field = address.partition(".")
    if owner == "base_stiffness":
        entry = base_slider(arm, field, value)
        return [found | {"label": address} | entry] if entry else []
    if ".centre." in address:
        return [found | {"label": address} | _aside(arm, value)]
    if ".inertia." in address:
        turning = {"label": address, "unit": unit_of_address(address, arm), "group": TURN_GROUP}
        wanted = value > 0.0 and address[-1] == address[-2]  # about an axis
        return [found | turning | {"low": value / SIZES, "high": value * SIZES}] if wanted else []
    if owner == "loads":
        most = 2.0 * abs(value) or usual_load(arm, field)
        own = {"label": address, "unit": unit_of_address(address, arm), "group": REST_GROUP}
        return [found | own | {"low": -most, "high": most}]
    link = arm.links[int(owner.removeprefix("link")) - 1]
    found["label"] = f"{link.name} ({address})" if link.name else address
    found["unit"] = unit_of_address(address, arm)
    if field == link.position:
        return [found | _position(arm, link, value)]
    if "_offset." in field:
        return [found | _aside(arm, value)]
    if field == FRAME:
        return [found | {"group": MOUNT_GROUP, **_about(math.degrees(value))}]
    if field.endswith("stiffness"):
        return [found | _stiffness(arm, link, field, value)]
    if field == "axial_force":
        most = 2.0 * abs(value) or _bending(link) / float(link.length)
        return [found | {"low": -most, "high": most, "group": REST_GROUP}]
    if value > 0.0 and field.endswith(".mass"):
        return [found | {"low": 0.0, "high": 2.0 * value, "group": BODY_GROUP}]
    if value > 0.0 and (
        field == "length" or (field.startswith("section.") and found["unit"] != "1")
    ):
        return [found | {"low": value / SIZES, "high": value * SIZES, "group": SIZE_GROUP}]
    return []


def _aside(arm: SpatialArm, value: float) -> dict[str, Any]:
    """Return the range of an offset or of a coordinate of a centre, on both sides of zero."""
    aside = abs(value) + ASIDE * float(sum(abs(float(link.length)) for link in arm.links))
    return {"group": PLACE_GROUP, "unit": "m", "low": -aside, "high": aside}


def usual_load(arm: AnyArm, field: str) -> float:
    """Return the usual end of the slider of a load: of an acceleration, of a force, in space of a moment at the tip."""
    if not field.startswith("tip_"):
        return ACCELERATION
    weight = float(arm.total_mass) * ACCELERATION or ACCELERATION
    reach = sum(abs(float(link.length)) for link in arm.links) or 1.0
    return weight * (float(reach) if "moment" in field else 1.0)


def _about(shown: float) -> dict[str, Any]:
    """Return the range of an angle: a whole turn, in degrees."""
    return {"unit": "degree", "low": min(-180.0, shown), "high": max(180.0, shown)}


def base_slider(arm: AnyArm, field: str, value: float) -> dict[str, Any] | None:
    """Return the range of an entry of the base stiffness; None if it is free or rigid there.

    Diagonal entries range over decades, off-diagonal entries over all values with a positive 2 by 2 minor.
    """
    base = arm.base_stiffness
    i, j = (int(x) for x in field[1:])
    own = [float(getattr(base, f"k{k}{k}")) for k in (i, j)]
    if not all(math.isfinite(x) and x > 0.0 for x in own):  # free or rigid there
        return None
    found: dict[str, Any] = {
        "group": BASE_GROUP,
        "unit": unit_of_address(f"base_stiffness.{field}", arm),
    }
    if i == j:
        ends = {"low": value / STIFFNESSES, "high": value * STIFFNESSES}
        return found | ends | {"logarithmic": True}
    most = math.sqrt(own[0] * own[1])
    return found | {"low": -most, "high": most}


def _stiffness(arm: SpatialArm, link: SpatialLink, field: str, value: float) -> dict[str, Any]:
    """Return the range around the stiffness of a joint or support, or around that of its link where it is rigid."""
    middle, support = value, _support(link, field)
    if math.isinf(value):
        middle = _bending(link)
        if support is not None and support.kind == "translation" and float(link.length) > 0.0:
            middle /= float(link.length) ** 2
    middle = middle or _USUAL
    rigid = field == "joint_stiffness"
    if support is not None:
        rigid = arm.loads is not None or len(loads_of(arm)) > 1
    return {
        "group": "Springs",
        "logarithmic": True,
        "rigid": rigid,
        "low": middle / STIFFNESSES,
        "high": middle * STIFFNESSES,
    }


def _support(link: SpatialLink, field: str) -> Support | None:
    """Return the support that a field belongs to; None for a joint."""
    owner = field.partition(".")[0]
    return link.supports[int(owner[7:]) - 1] if owner.startswith("support") else None


def _bending(link: SpatialLink) -> float:
    """Return E I/L in the more flexible plane of a link; the default stiffness for a rigid link."""
    if link.youngs_modulus is None or link.rigid:
        return _USUAL
    v = link.section_values
    softer = min(float(v.second_moment_y), float(v.second_moment_z))
    return float(link.youngs_modulus) * softer / float(link.length)


def _position(arm: SpatialArm, link: SpatialLink, value: float) -> dict[str, Any]:
    """Return the range of a joint position: its limits, or a whole turn; always including its present value."""
    slides = link.prismatic
    shown = value if slides else math.degrees(value)
    if link.joint_limits is not None:
        low, high = (x if slides else math.degrees(x) for x in link.joint_limits)
        texts = [position_text(x, slides) for x in link.joint_limits]
        limits = f"limits {texts[0]} to {texts[1]}"
    elif slides:
        way = float(sum(abs(float(x.length)) for x in arm.links)) or 1.0
        low, high, limits = shown - way, shown + way, ""
    else:
        low, high, limits = -180.0, 180.0, ""
    return {
        "group": "Posture",
        "unit": "m" if slides else "degree",
        "low": min(low, shown),
        "high": max(high, shown),
        "limits": limits,
    }


def _link(arm: SpatialArm, k: int, frame: Frame, before: np.ndarray) -> dict[str, Any]:
    """Return one link: places (from the ends of its elastic part) and directions in the axes of its section.

    The axis of a revolute joint is in the section axes of the link before; the columns of ``before`` are the axes of
    that link in them. Offsets have address and value.
    """
    link, address = arm.links[k], f"link{k + 1}"
    turned = frame.section.T
    own = turned @ frame.axes
    axis = before @ np.array([float(x) for x in link.joint_axis])
    if link.prismatic:
        axis = np.array([1.0, 0.0, 0.0])
    bodies = [
        _body(f"{address}.hub", link.hub, turned @ (frame.joint - frame.start), own, "inner"),
        _body(f"{address}.body", link.body, turned @ (frame.tip - frame.end), own, "outer"),
    ]
    last = k + 1 == arm.num_links
    name, more = (
        ("payload", arm.payload) if last else (f"link{k + 2}.stator", arm.links[k + 1].stator)
    )
    bodies.append(_body(name, more, turned @ (frame.tip - frame.end), own, "outer"))
    return {
        "name": link.name,
        "rigid": link.rigid,
        "segment": link.segment,
        "length": float(link.length),
        **_outline(link, address),
        "joint": (turned @ (frame.joint - frame.start)).tolist(),
        "tip": (turned @ (frame.tip - frame.end)).tolist(),
        "axis": (axis / np.linalg.norm(axis)).tolist(),
        "own": own.ravel().tolist(),
        "offsets": {
            name: _offsets(getattr(link, name), f"{address}.{name}")
            for name in ("base_offset", "end_offset")
        },
        "way": f"{address}.base_offset.x" if link.prismatic else "",
        "springs": [
            f"{address}.joint_stiffness",
            *(
                f"{address}.joint_spring{m}.stiffness"
                for m in range(1, len(link.joint_springs) + 1)
            ),
        ],
        "supports": [
            {
                "by": f"{address}.support{m}.stiffness",
                "turns": x.kind == "rotation",
                "along": _unit(x),
            }
            for m, x in enumerate(link.supports, start=1)
        ],
        "bodies": [body for body in bodies if body],
    }


def _unit(support: Support) -> list[float]:
    """Return the unit vector of the direction of a support, in the axes of the ground."""
    given = np.array([float(x) for x in support.direction])
    found: list[float] = (given / np.linalg.norm(given)).tolist()
    return found


def _offsets(offset: Position | None, address: str) -> list[list[Any]]:
    """Return address and value of each coordinate of an offset; empty without the offset."""
    if offset is None:
        return []
    return [[f"{address}.{axis}", float(x)] for axis, x in zip("xyz", offset, strict=True)]


def _outline(link: SpatialLink, address: str) -> dict[str, Any]:
    """Return half the depth along y and the width along z, the addresses that set them, and True for round sections."""
    section = link.section
    for name in ("outer_diameter", "diameter"):
        if hasattr(section, name):
            half = 0.5 * float(getattr(section, name))
            return {"half": [half] * 2, "by": [f"{address}.section.{name}"] * 2, "round": True}
    if section is None:
        return {"half": [0.0, 0.0], "by": [], "round": True}
    if isinstance(section, Rectangle | HollowRectangle):
        half_sides = [0.5 * float(section.depth), 0.5 * float(section.width)]
        by = [f"{address}.section.{name}" for name in ("depth", "width")]
        return {"half": half_sides, "by": by, "round": False}
    v = link.section_values  # a rectangle of the same second moments
    sides = [
        math.sqrt(3.0 * float(x) / float(v.area)) for x in (v.second_moment_z, v.second_moment_y)
    ]
    return {"half": sides, "by": [], "round": False}


def _body(
    name: str, body: RigidBody | None, place: np.ndarray, own: np.ndarray, end: str
) -> dict[str, Any] | None:
    """Return a body as an ellipsoid: mass, centre, axes as columns, squared half axes times mass; None without mass."""
    if body is None or (name != "payload" and float(body.mass) <= 0.0):
        return None
    seen = np.zeros(3) if body.centre is None else np.array([float(x) for x in body.centre])
    axes, moments = np.eye(3), np.zeros(3)
    if body.inertia is not None:
        moments, axes = np.linalg.eigh(np.array(body.inertia.rows(), float))
    squares = [2.5 * (float(np.sum(moments)) - 2.0 * float(x)) for x in moments]
    return {
        "kind": name.rpartition(".")[2],
        "by": f"{name}.mass",
        "mass": float(body.mass),
        "at": end,
        "centre": (place + own @ seen).tolist(),
        "seen": [] if body.centre is None else seen.tolist(),
        "own": own.ravel().tolist(),
        "axes": (own @ axes).tolist(),
        "squares": [max(x, 0.0) for x in squares],
    }
