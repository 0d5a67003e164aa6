"""Angles of joints, and values at addresses, as people read them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from jaxmodal.arm.quantities import shown
from jaxmodal.arm.serial_arms import MOST_RADIANS
from jaxmodal.runtime.errors import ImplausibleWarning
from jaxmodal.spatial.parts.parameters import describe_address, unit_of_address

#: digits behind the point of an angle in degrees
_ANGLE = "{:.6f}"


def as_read(what: int | str, values: Any) -> np.ndarray:
    """Angles of a joint, or values at an address, as people read them: angles in degrees."""
    turns = not isinstance(what, str) or unit_of_address(what) == "rad"
    return np.asarray(np.degrees(values) if turns else values)


def described(what: int | str) -> tuple[str, str, str]:
    """The name, the meaning and the unit that angles of a joint, or values at an address, have in a dataset."""
    if isinstance(what, str):
        return "value", describe_address(what), unit_of_address(what)
    return "angle", f"angle of joint {what}", "degree"


def heading(what: int | str) -> str:
    """The heading of a column of `as_read`, with the unit."""
    if not isinstance(what, str):
        return f"joint {what} [°]"
    unit = unit_of_address(what)
    return what if unit == "1" else f"{what} [{'°' if unit == 'rad' else unit}]"


def in_unit(address: str) -> str:
    """The end of a sentence about values at an address: in which unit they are; nothing for numbers."""
    unit = unit_of_address(address)
    return "" if unit == "1" else f", in {unit}"


def cell_text(what: int | str, value: float) -> str:
    """One of `as_read` in a table."""
    return f"{value:.9g}" if isinstance(what, str) else _ANGLE.format(value)


def warn_of_degrees(name: str, given: Any, angles: np.ndarray) -> None:
    """Warn the caller's caller of angles in rad of more than two turns, which are probably degrees."""
    if np.abs(angles).max(initial=0.0) > MOST_RADIANS:
        warnings.warn(
            f"{name} = {shown(given)}: rad expected, more than two turns; if in degrees, give np.radians of them",
            ImplausibleWarning,
            stacklevel=3,
        )
