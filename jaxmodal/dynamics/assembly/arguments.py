"""Checks of arguments of `flexible_arm` for planar arms and arms in space."""

from __future__ import annotations

from typing import Any

from jaxmodal.arm.arguments import scalar
from jaxmodal.arm.plain_arrays import plain
from jaxmodal.arm.quantities import NON_NEGATIVE
from jaxmodal.runtime import limits
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import xp


def check_size(number: int) -> None:
    """Refuse more generalised coordinates than a model may have."""
    if number > limits.COORDINATES:
        raise ArmError(
            f"modes: the arm then has {number:,} generalised coordinates; at most {limits.COORDINATES}: take fewer "
            "modes, or fewer links."
        )


def per_link(name: str, value: Any, n: int, unit: str) -> Any:
    """Return a value for each link or joint, shape (n,), from one number for all or one for each."""
    value = plain(name, value)
    several = isinstance(value, (list, tuple)) or getattr(value, "ndim", 0) > 0
    entries = list(value) if several else [value] * n
    if len(entries) != n:
        raise ArmError(f"{name}: {len(entries)} values; must be one, or {n}, one for each.")
    made = []
    for number, entry in enumerate(entries, start=1):
        place = f"{name}[{number}]" if several else name
        made.append(xp.asarray(scalar(place, entry, NON_NEGATIVE, unit, traced=True)))
    return xp.stack(made)
