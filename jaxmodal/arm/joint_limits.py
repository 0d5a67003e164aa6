"""Joint limits: range of positions and largest speed of a joint. They do not change frequencies."""

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


def as_limits(value: Any, prismatic: bool = False) -> tuple[float, float] | None:
    """Return the least and the largest angle, rad, or position, m, of a joint; None for a joint without limits."""
    if value is None:
        return None
    listed = value.tolist() if isinstance(value, np.ndarray) else value
    if (
        not isinstance(listed, tuple | list)
        or len(listed) != 2
        or not all(map(is_finite, listed))
        or not listed[0] < listed[1]
    ):
        what, moves = (
            ("position (m), such as (0.1, 0.8)", "slides")
            if prismatic
            else ("angle (rad), such as (-1.5, 1.5)", "turns")
        )
        raise ArmError(
            f"joint_limits = {shown(value)}: must be the least and the largest {what}; leave it out for a joint that "
            f"{moves} without end."
        )
    return float(listed[0]), float(listed[1])


def as_velocity_limit(value: Any, prismatic: bool = False) -> float | None:
    """Return the largest speed of a joint, rad/s or m/s; None if unknown."""
    if value is not None and not (is_finite(value) and value > 0.0):
        unit = "m/s" if prismatic else "rad/s"
        raise ArmError(
            f"joint_velocity_limit = {shown(value)}: must be greater than 0 ({unit}); leave it out if it is not known."
        )
    return None if value is None else float(value)


def beyond_limits(links: Any, positions: Mapping[int, Any]) -> list[str]:
    """Return a message for each joint whose position, rad or m, by link number, exceeds its limits.

    Positions may be arrays, of many postures.
    """
    found = []
    for number, values in positions.items():
        link = links[number - 1]
        limits = getattr(link, "joint_limits", None)
        if limits is None:
            continue
        least, most = float(np.min(values)), float(np.max(values))
        if least < limits[0] - _ROUNDING or most > limits[1] + _ROUNDING:
            joint = f" of joint {link.name!r}" if link.name else ""
            least_text, most_text, low, high = (
                position_text(x, link.prismatic) for x in (least, most, *limits)
            )
            reached = least_text if least == most else f"{least_text} to {most_text}"
            found.append(
                f"link{number}.{link.position} = {reached}: is beyond the limits{joint}, {low} to {high}, and computed "
                "all the same"
            )
    return found


def warn_beyond_limits(
    links: Any, positions: Mapping[int, Any], where: str = "", level: int = 3
) -> None:
    """Give one `ImplausibleWarning` with all findings of `beyond_limits`, each prefixed with ``where``."""
    remarks = [where + text for text in beyond_limits(links, positions)]
    if remarks:
        warnings.warn("\n".join(remarks), ImplausibleWarning, stacklevel=level)


def position_text(value: float, prismatic: bool) -> str:
    """Return a joint position as text: ``45°``, or ``0.3 m`` for a sliding joint."""
    return f"{value:.6g} m" if prismatic else f"{math.degrees(value):.6g}°"
