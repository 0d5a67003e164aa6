"""Limits of joints: how far a robot's joint turns, and how fast. They change no frequency."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from jaxmodal.arm.arguments import is_finite
from jaxmodal.arm.quantities import shown
from jaxmodal.runtime.errors import ArmError, ImplausibleWarning

#: the limits that a link of an arm in space may have, with their units
LIMITS = {"joint_limits": "rad", "joint_velocity_limit": "rad/s"}
#: what rounding of degrees may add to an angle at its limit, rad
_ROUNDING = 1e-9


def as_limits(value: Any) -> tuple[float, float] | None:
    """The least and the largest angle of a joint, rad; None for a joint without limits."""
    if value is None:
        return None
    listed = value.tolist() if isinstance(value, np.ndarray) else value
    if (
        not isinstance(listed, tuple | list)
        or len(listed) != 2
        or not all(map(is_finite, listed))
        or not listed[0] < listed[1]
    ):
        raise ArmError(
            f"joint_limits = {shown(value)}: must be the least and the largest angle (rad), such as (-1.5, 1.5); leave "
            "it out for a joint that turns without end."
        )
    return float(listed[0]), float(listed[1])


def as_velocity_limit(value: Any) -> float | None:
    """The largest speed of a joint, rad/s; None where it is not known."""
    if value is not None and not (is_finite(value) and value > 0.0):
        raise ArmError(
            f"joint_velocity_limit = {shown(value)}: must be greater than 0 (rad/s); leave it out if it is not known."
        )
    return None if value is None else float(value)


def beyond_limits(links: Any, angles: Mapping[int, Any]) -> list[str]:
    """Which of some ``angles``, rad, by the number of the link, lie beyond the limits of their joints, in words.

    Angles may be arrays, of many postures.
    """
    found = []
    for number, values in angles.items():
        link = links[number - 1]
        limits = getattr(link, "joint_limits", None)
        if limits is None:
            continue
        least, most = float(np.min(values)), float(np.max(values))
        if least < limits[0] - _ROUNDING or most > limits[1] + _ROUNDING:
            joint = f" of joint {link.name!r}" if link.name else ""
            reached = _degrees(least) if least == most else f"{_degrees(least)} to {_degrees(most)}"
            found.append(
                f"link{number}.joint_angle = {reached}: is beyond the limits{joint}, {_degrees(limits[0])} to "
                f"{_degrees(limits[1])}, and computed all the same"
            )
    return found


def warn_beyond_limits(
    links: Any, angles: Mapping[int, Any], where: str = "", level: int = 3
) -> None:
    """Give one `ImplausibleWarning` of the angles that `beyond_limits` finds; ``where`` stands before each."""
    remarks = [where + text for text in beyond_limits(links, angles)]
    if remarks:
        warnings.warn("\n".join(remarks), ImplausibleWarning, stacklevel=level)


def _degrees(angle: float) -> str:
    return f"{math.degrees(angle):.6g}°"
