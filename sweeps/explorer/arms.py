"""What the page of an arm knows: the arm as the solver in the page reads it, its values with sliders, its picture."""

from __future__ import annotations

import json
import math
from typing import Any

import jax
import numpy as np

import jaxmodal
from jaxmodal.arm.addresses import list_addresses
from jaxmodal.arm.arm import Arm
from jaxmodal.arm.facts import IN_PLANE
from jaxmodal.arm.files import units_of
from jaxmodal.arm.loaded import segments
from jaxmodal.arm.parameters import get_parameter
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.spatial.arms.arm import SpatialArm
from sweeps.explorer.arm_texts import text_with_places
from sweeps.explorer.data import picture
from sweeps.explorer.solver import arm_json
from sweeps.explorer.space import SIZES, STIFFNESSES, space_page_data

#: modes in the table
MODES = 10
#: points of each link at which the mode is drawn; of a link in segments fewer of each
POINTS = 15
#: sliders of gravity and steady accelerations go up to this, m/s^2
_ACCELERATION = 20.0


def arm_page_data(arm: Arm | SpatialArm, theory: TheoryName = "timoshenko") -> dict[str, Any]:
    """What the page of an arm shows, as plain values.

    Parameters
    ----------
    arm : Arm
        The arm.
    theory : str
        As for `jaxmodal.natural_frequencies`.

    Raises
    ------
    ArmError
        As `sweeps.explorer.solver.arm_json`: forces at rest that the page has not.
    """
    pieces = 1 if isinstance(arm, SpatialArm) else max(segments(arm.loads, [False]))
    shown = space_page_data(arm, theory) if isinstance(arm, SpatialArm) else _plane(arm, theory)
    return {
        "title": f"{arm.name or 'arm'}, {theory}",
        "space": isinstance(arm, SpatialArm),
        "modes": MODES,
        "points": max(4, POINTS // pieces),
        **shown,
        "toml": text_with_places(arm, [slider["address"] for slider in shown["sliders"]]),
        "versions": {
            "jaxmodal_version": jaxmodal.__version__,
            "jax_version": jax.__version__,
            "numpy_version": np.__version__,
        },
    }


def _plane(arm: Arm, theory: TheoryName) -> dict[str, Any]:
    return {
        "solved": json.loads(arm_json(arm, theory)),
        "sliders": [slider for address in list_addresses(arm) for slider in _slider(arm, address)],
        "picture": picture(arm),
        "depths": [_depth(arm, k) for k in range(arm.num_links)],
    }


def _slider(arm: Arm, address: str) -> list[dict[str, Any]]:
    """The slider of a value, one or none: from ``low`` to ``high`` in ``unit``, and at its end ``rigid`` or not."""
    value = float(get_parameter(arm, address))
    owner, _, field = address.partition(".")
    found: dict[str, Any] = {"address": address, "unit": "m", "logarithmic": False, "rigid": False}
    if field == "joint_angle":
        return [found | {"unit": "degree", "low": -180.0, "high": 180.0}]
    if address == "payload.mass":
        heavy = 2.0 * value or float(arm.total_mass)
        return [found | {"unit": "kg", "low": 0.0, "high": heavy}]
    if owner == "loads" or field == "axial_force":
        return [found | _at_rest(arm, owner, field, value)]
    if field == "joint_stiffness":
        middle = value
        if math.isinf(value):
            link = arm.links[int(owner.removeprefix("link")) - 1]
            if link.rigid:
                return []
            middle = float(link.youngs_modulus * link.second_moment / link.length)
        if middle == 0.0:  # a free joint
            return []
        found |= {"unit": "N m/rad", "logarithmic": True, "rigid": math.isinf(value)}
        return [found | {"low": middle / STIFFNESSES, "high": middle * STIFFNESSES}]
    if value > 0.0 and (field == "length" or _is_size(arm, owner, field)):
        return [found | {"low": value / SIZES, "high": value * SIZES}]
    return []


def _at_rest(arm: Arm, owner: str, field: str, value: float) -> dict[str, Any]:
    """Over loads of both signs, up to twice the given one, or as large as the arm is heavy or a link stiff."""
    if field == "gravity":
        return {"unit": "m/s²", "low": 0.0, "high": max(2.0 * value, _ACCELERATION)}
    if field == "gravity_direction":
        return {"unit": "degree", "low": -180.0, "high": 180.0}
    if field.startswith("base_acceleration"):
        most, unit = _ACCELERATION, "m/s²"
    elif field == "axial_force":
        link = arm.links[int(owner.removeprefix("link")) - 1]
        most, unit = float(link.youngs_modulus * link.second_moment / link.length**2), "N"
    else:
        most, unit = float(arm.total_mass) * _ACCELERATION, "N"
    most = 2.0 * abs(value) or most
    return {"unit": unit, "low": -most, "high": most}


def _is_size(arm: Arm, owner: str, field: str) -> bool:
    kind, _, name = field.partition(".")
    if kind != "section" or not name:
        return False
    section = arm.links[int(owner.removeprefix("link")) - 1].section
    return units_of(type(section)).get(name) == "m"


def _depth(arm: Arm, k: int) -> str | None:
    """The address of what the picture draws as the depth of a link."""
    section = arm.links[k].section
    return next(
        (f"link{k + 1}.section.{name}" for name in IN_PLANE if hasattr(section, name)), None
    )
