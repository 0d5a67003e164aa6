"""Sliders of a planar arm: the values that have one, with range and group."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from jaxmodal.arm.arm import Arm
from jaxmodal.arm.files import units_of
from jaxmodal.arm.links import Link
from jaxmodal.arm.parameters import get_parameter
from sweeps.explorer.space import (
    ACCELERATION,
    ASIDE,
    BASE_GROUP,
    BODY_GROUP,
    PLACE_GROUP,
    REST_GROUP,
    SIZE_GROUP,
    SIZES,
    STIFFNESSES,
    base_slider,
    usual_load,
)

_POSTURE, _SPRINGS, _PAYLOAD = "Posture", "Springs", "Payload"
#: groups in the order of the page
_GROUPS = (
    *(_POSTURE, _SPRINGS, SIZE_GROUP, _PAYLOAD, REST_GROUP),
    *(BODY_GROUP, PLACE_GROUP, BASE_GROUP),
)
#: groups that are closed at first: values that are rarely changed
CLOSED = [BODY_GROUP, PLACE_GROUP, BASE_GROUP]


def plane_sliders(arm: Arm, addresses: Sequence[str]) -> list[dict[str, Any]]:
    """Return the sliders of an arm, group by group: each from ``low`` to ``high`` in ``unit``.

    The upper end of a slider with ``rigid`` is a rigid joint.
    """
    found = []
    for address in addresses:
        value = float(get_parameter(arm, address))
        own = _slider(arm, address, value)
        if own:
            plain = {"address": address, "logarithmic": False, "rigid": False}
            found.append(plain | own)
    return sorted(found, key=lambda slider: _GROUPS.index(slider["group"]))


def _slider(arm: Arm, address: str, value: float) -> dict[str, Any] | None:
    owner, _, field = address.partition(".")
    if field == "joint_angle":
        return {"group": _POSTURE, "unit": "degree", "low": -180.0, "high": 180.0}
    if address == "payload.mass":
        heavy = 2.0 * value or float(arm.total_mass)
        return {"group": _PAYLOAD, "unit": "kg", "low": 0.0, "high": heavy}
    if owner == "loads" or field == "axial_force":
        return {"group": REST_GROUP} | _at_rest(arm, owner, field, value)
    if owner == "base_stiffness":
        return base_slider(arm, field, value)
    if field.endswith("stiffness"):
        return _stiffness(arm, owner, field, value)
    if "_offset_" in field or "centre_" in field:
        aside = abs(value) + ASIDE * float(sum(link.length for link in arm.links))
        return {"group": PLACE_GROUP, "unit": "m", "low": -aside, "high": aside}
    if units_of(Link).get(field) == "kg" and value > 0.0:
        return {"group": BODY_GROUP, "unit": "kg", "low": 0.0, "high": 2.0 * value}
    if value > 0.0 and (field == "length" or _is_size(arm, owner, field)):
        return {"group": SIZE_GROUP, "unit": "m", "low": value / SIZES, "high": value * SIZES}
    return None


def _stiffness(arm: Arm, owner: str, field: str, value: float) -> dict[str, Any] | None:
    """Return a slider around the stiffness of a spring, or around that of its link where the joint is rigid."""
    link = arm.links[int(owner.removeprefix("link")) - 1]
    turns = field in ("joint_stiffness", "support_torsional_stiffness")
    middle = value
    if math.isinf(value):
        if link.rigid:
            return None
        bending = float(link.youngs_modulus * link.second_moment / link.length)
        middle = bending if turns else bending / float(link.length) ** 2
    if middle == 0.0:  # a free joint
        return None
    return {
        "group": _SPRINGS,
        "unit": "N m/rad" if turns else "N/m",
        "logarithmic": True,
        "rigid": math.isinf(value),
        "low": middle / STIFFNESSES,
        "high": middle * STIFFNESSES,
    }


def _at_rest(arm: Arm, owner: str, field: str, value: float) -> dict[str, Any]:
    """Return the slider of a load: both signs, up to twice the given load; for 0 by the weight or the stiffness."""
    if field == "gravity":
        return {"unit": "m/s²", "low": 0.0, "high": max(2.0 * value, ACCELERATION)}
    if field == "gravity_direction":
        return {"unit": "degree", "low": -180.0, "high": 180.0}
    unit = "m/s²" if field.startswith("base_acceleration") else "N"
    if field == "axial_force":
        link = arm.links[int(owner.removeprefix("link")) - 1]
        most = float(link.youngs_modulus * link.second_moment / link.length**2)
    else:
        most = usual_load(arm, field)
    most = 2.0 * abs(value) or most
    return {"unit": unit, "low": -most, "high": most}


def _is_size(arm: Arm, owner: str, field: str) -> bool:
    kind, _, name = field.partition(".")
    if kind != "section" or not name:
        return False
    section = arm.links[int(owner.removeprefix("link")) - 1].section
    return units_of(type(section)).get(name) == "m"
