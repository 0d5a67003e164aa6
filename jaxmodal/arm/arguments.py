"""Checks of public arguments: real numbers, whole numbers and arrays; errors name the argument."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np
from jax import Array

from jaxmodal.arm.plain_arrays import aligned, plain
from jaxmodal.arm.quantities import POSITIVE, Rule, as_scalar, shown
from jaxmodal.runtime import limits
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import is_traced


def real_array(value: Any, name: str) -> Floats:
    """Return a concrete value as a float64 array.

    Text, booleans, complex numbers and ragged rows are refused: NumPy would drop imaginary parts with a warning. Masks
    and labels, which NumPy would drop without one, are handled by `plain`.
    """
    values = plain(name, value)
    try:
        array = np.asarray(values)
        mixed = isinstance(value, list | tuple) and any(
            isinstance(x, bool | np.bool_) for x in value
        )
        if (array.dtype.kind in "iuf" and not mixed) or array.size == 0:
            return array.astype(np.float64)
    except (TypeError, ValueError) as error:  # lists of unequal lengths, traced values
        if is_traced(value):
            raise ValueError(_traced(value, name)) from error
    raise ValueError(
        f"{name} = {shown(value)}: holds something other than real numbers; give floats."
    )


def _traced(value: Any, name: str) -> str:
    return (
        f"{name} = {shown(value)}: is traced by jax.jit, jax.vmap or jax.grad, and its value decides what is computed; "
        "give a concrete one, from outside the transformation"
    )


def real_number(value: Any, name: str, expected: str) -> float:
    """Return a concrete number, or an array of shape (), as a float."""
    array = real_array(value, name)
    if array.ndim or isinstance(value, bool):
        raise ValueError(f"{name} = {shown(value)}: expected one number, {expected}")
    return float(array)


def band(omega_min: Any, omega_max: Any, from_zero: bool = False) -> tuple[float, float]:
    """Return the ends of a band of angular frequencies, rad/s, as floats.

    The lower end must be greater than 0, or at least 0 with ``from_zero``.

    Raises
    ------
    ValueError
        If the ends are not finite, or not in ascending order.
    """
    low = real_number(omega_min, "omega_min", "in rad/s")
    high = real_number(omega_max, "omega_max", "in rad/s")
    if not 0.0 <= low < high < math.inf or (low == 0.0 and not from_zero):
        least = "0 <=" if from_zero else "0 <"
        raise ValueError(
            f"omega_min = {low!r}, omega_max = {high!r}: a band needs {least} omega_min < omega_max, finite, in rad/s"
        )
    return low, high


def station_shares(stations: Any) -> Floats:
    """Return shares x/L of the length of a link, shape (S,): the given shares, or S equally spaced ones from 0 to 1."""
    if is_whole(stations, 2, limits.SAMPLES):
        return np.linspace(0.0, 1.0, int(stations))
    if np.ndim(stations):
        shares = real_array(stations, "stations")
        if shares.ndim == 1 and shares.size and np.all((shares >= 0.0) & (shares <= 1.0)):
            return shares
    raise ArmError(
        f"stations = {shown(stations)}: must be shares of the length from 0 to 1, or how many of them, 2 to "
        f"{limits.SAMPLES:,}."
    )


def is_whole(value: object, least: int, most: int | None = None) -> bool:
    """Return True for a whole number in a range; 2.0 and True do not count as whole numbers."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        return False
    return int(value) >= least and (most is None or int(value) <= most)


def positive_integer(value: object, name: str, most: int | None = None) -> int:
    """Return ``value`` as an int; it must be at least 1, and at most ``most`` if that is given."""
    if not is_whole(value, 1):
        if is_traced(value):
            raise ValueError(_traced(value, name))
        owner = "JAX" if isinstance(value, Array) else "NumPy"
        kind = f", an array of {owner}" if isinstance(value, Array | np.ndarray) else ""
        remedy = "; take int(...) of it" if kind else ""
        raise ValueError(
            f"{name} = {shown(value)}{kind}; expected a whole number of at least 1{remedy}"
        )
    if not is_whole(value, 1, most):
        raise ValueError(f"{name} = {shown(value)}; expected at most {most:,}")
    return int(value)  # type: ignore[call-overload]


def is_finite(value: object) -> bool:
    """Return True for a finite real number; booleans do not count."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond float64
        return False


def cell_columns(parameters: Mapping[str, Any]) -> dict[str, Floats]:
    """Return the values of many cells, by address, as float64 arrays; masked values are NaN, labels must agree."""
    columns = aligned(parameters)
    return {key: real_array(column, f"parameters[{key!r}]") for key, column in columns.items()}


def reals(name: str, value: Any, expected: str) -> Floats:
    """Return concrete real numbers as an array; text, complex or traced values and ragged rows are refused."""
    value = plain(name, value)
    try:
        return real_array(value, name)
    except ValueError as error:
        if is_traced(value):
            raise ArmError(f"{_traced(value, name)}.") from error
        raise ArmError(f"{name} = {shown(value)}: must be {expected}.") from error


def finite(name: str, value: Any, shape: tuple[int, ...], expected: str) -> Floats:
    """Return concrete, finite real numbers as an array of the given shape."""
    array = reals(name, value, expected)
    if array.shape != shape or not np.all(np.isfinite(array)):
        raise ArmError(f"{name} = {shown(value)}: must be {expected}.")
    return array


def listed(name: str, value: Any, expected: str) -> tuple[Any, ...]:
    """Return the members of a list; text and anything that has no members is refused."""
    if isinstance(value, str | bytes | Mapping) or not np.iterable(value):
        raise ArmError(f"{name} = {shown(value)}: must be a list of {expected}.")
    return tuple(value)


def require_truth(name: str, value: object) -> None:
    """Refuse anything but True and False; arrays, text and numbers are not converted."""
    if not isinstance(value, bool | np.bool_):
        raise ArmError(f"{name} = {shown(value)}: must be True or False.")


def scalar(name: str, value: Any, rule: Rule, unit: str = "", *, traced: bool = False) -> Any:
    """Return one number that obeys a rule; with ``traced``, a JAX array of shape () is allowed as well."""
    about = rule.allowed + (f" ({unit})" if unit else "")
    number = as_scalar(name, value, about)
    if isinstance(number, np.float64):
        if not rule.holds(number):
            raise ArmError(f"{name} = {shown(number)}: must be {about}.")
    elif not traced or np.ndim(number):
        raise ArmError(f"{name} = {shown(value)}: must be one number, {about}.")
    return number


def positive(name: str, value: Any, unit: str = "") -> float:
    """Return one concrete number, finite and greater than 0."""
    return float(scalar(name, value, POSITIVE, unit))


def whole(name: str, value: Any, least: int, most: int) -> int:
    """Return a whole number in a range; 2.0 and True are refused."""
    if not is_whole(value, least, most):
        raise ArmError(
            f"{name} = {shown(value)}: must be a whole number from {least:,} to {most:,}."
        )
    return int(value)
