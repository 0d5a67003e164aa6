"""Checks of arguments of `flexible_arm` for planar arms and arms in space."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from jaxmodal.arm.arguments import scalar
from jaxmodal.arm.plain_arrays import plain
from jaxmodal.arm.quantities import NON_NEGATIVE, POSITIVE
from jaxmodal.dynamics.model import FlexibleModel
from jaxmodal.runtime import limits
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import is_traced, xp


def check_size(number: int) -> None:
    """Refuse more generalised coordinates than a model may have."""
    if number > limits.COORDINATES:
        raise ArmError(
            f"modes: the arm then has {number:,} generalised coordinates; at most {limits.COORDINATES}: take fewer "
            "modes, or fewer links."
        )


def friction_of(damping: Mapping[str, Any], n: int) -> dict[str, Any]:
    """Return the Coulomb friction of n joints, by names of the model, from the arguments of `flexible_arm`."""
    width = scalar("coulomb_width", damping["coulomb_width"], POSITIVE, "rad/s", traced=True)
    return {
        "coulomb": per_link("coulomb_friction", damping["coulomb_friction"], n, "N m"),
        "coulomb_width": xp.asarray(width),
    }


def require_finite(model: FlexibleModel, *names: str) -> None:
    """Refuse overflow: the values of the arm are finite, but products of them may not be."""
    for name in names:
        values = getattr(model, name)
        if not is_traced(values) and not np.all(np.isfinite(values)):
            raise ArmError(
                f"arm: its {name} is not finite in float64; must be: look for lengths, masses, moduli or damping that "
                "are extremely large or small."
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
