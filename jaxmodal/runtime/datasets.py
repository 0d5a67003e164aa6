"""Variables of labelled datasets: dimensions, values, description and unit."""

from __future__ import annotations

from typing import Any

import numpy as np

#: dimensions, values and attributes of a variable
Variable = tuple[Any, ...]


def variable(dims: str | tuple[str, ...], values: Any, meaning: str, units: str = "") -> Variable:
    """Return a dataset variable with its description and its unit; no unit if it has none or a coordinate holds it."""
    about = {"long_name": meaning} | ({"units": units} if units else {})
    return dims, np.asarray(values), about


def in_hertz(dims: str | tuple[str, ...], omega: Any, meaning: str = "frequency") -> Variable:
    """Return angular frequencies in rad/s as a variable in Hz."""
    return variable(dims, np.asarray(omega) / (2.0 * np.pi), meaning, "Hz")
