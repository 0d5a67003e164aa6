"""Arguments of the public calls: real numbers, whole numbers and arrays of them, or an `ArmError` that names them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaxmodal.arm.arguments import is_whole, real_array
from jaxmodal.arm.quantities import POSITIVE, Rule, as_scalar, shown
from jaxmodal.runtime.errors import ArmError


def reals(name: str, value: Any, expected: str) -> NDArray[np.float64]:
    """Return known real numbers as an array; text, complex and traced values and uneven rows are refused."""
    try:
        return real_array(value, name)
    except ValueError as error:
        raise ArmError(f"{name} = {shown(value)}: must be {expected}.") from error


def scalar(name: str, value: Any, rule: Rule, unit: str = "", *, traced: bool = False) -> Any:
    """Return one number that obeys a rule; where ``traced`` is allowed, also an array of JAX without axes."""
    about = rule.allowed + (f" ({unit})" if unit else "")
    number = as_scalar(name, value, about)
    if isinstance(number, np.float64):
        if not rule.holds(number):
            raise ArmError(f"{name} = {shown(number)}: must be {about}.")
    elif not traced or np.ndim(number):
        raise ArmError(f"{name} = {shown(value)}: must be one number, {about}.")
    return number


def positive(name: str, value: Any, unit: str = "") -> float:
    """Return one known number, finite and greater than 0."""
    return float(scalar(name, value, POSITIVE, unit))


def whole(name: str, value: Any, least: int, most: int) -> int:
    """Return a whole number in a range; 2.0 and True are none."""
    if not is_whole(value, least, most):
        raise ArmError(
            f"{name} = {shown(value)}: must be a whole number from {least:,} to {most:,}."
        )
    return int(value)
