"""The fitted parameters: their values, bounds, and scaled variables x."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jaxmodal.arm.addresses import asked_for, full_address, set_together
from jaxmodal.arm.documents import table
from jaxmodal.arm.parameters import set_parameters
from jaxmodal.arm.paths import value_at
from jaxmodal.arm.quantities import (
    BASE,
    NON_NEGATIVE,
    POSITIVE,
    SPRING,
    STIFFNESS,
    SUPPORT,
    as_scalar,
    quantities,
    shown,
)
from jaxmodal.runtime.array_types import Bools, Floats
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.parts.parameters import unit_of_address

#: kinds of positive quantities, fitted by their logarithms
_SIZES = (POSITIVE, NON_NEGATIVE, STIFFNESS, SPRING, BASE, SUPPORT)

#: least scale of positions as a share of the arm's length: a start of 1e-9 m is a start at 0
_LEAST_SHARE_OF_LENGTH = 1e-3


@dataclasses.dataclass(frozen=True)
class Unknowns:
    """P parameters with scaled variables x: log(value/start) for positive quantities, otherwise (value - start)/scale.

    Attributes
    ----------
    arm
        The arm with the parameters at their initial values.
    addresses, members
        Addresses of the parameters, and the single addresses of each.
    start, scale : array, shape (P,)
        Values at x = 0, and the change for one unit of x of parameters that are not positive quantities; SI units.
    sizes : array of bool, shape (P,)
        Whether each parameter is a positive quantity, fitted by its logarithm.
    low, high : array, shape (P,)
        Bounds of the values; infinite if there are none.
    """

    arm: Any
    addresses: tuple[str, ...]
    members: tuple[tuple[str, ...], ...]
    start: Floats
    scale: Floats
    sizes: Bools
    low: Floats
    high: Floats

    @property
    def singles(self) -> tuple[str, ...]:
        """All single addresses."""
        return tuple(single for each in self.members for single in each)

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """Bounds of x."""
        return self.numbers(self.low), self.numbers(self.high)

    def numbers(self, values: Floats) -> Floats:
        """Return the values of x for given parameter values."""
        with np.errstate(divide="ignore", invalid="ignore"):
            logarithms = np.log(np.where(self.sizes, values / self.start, 1.0))
        return np.where(self.sizes, logarithms, (values - self.start) / self.scale)

    def values(self, x: Floats) -> Floats:
        """Return the parameter values at x."""
        return np.where(
            self.sizes, self.start * np.exp(x * self.sizes), self.start + x * self.scale
        )

    def reaching(self, values: Floats) -> Unknowns:
        """Return unknowns whose scales are at least the changes to these values; itself if they already are.

        A start near 0 says nothing about the size of a value that may be negative, such as an eccentricity.
        """
        moved = np.abs(values - self.start)
        short = ~self.sizes & (moved > self.scale)
        if not short.any():
            return self
        return dataclasses.replace(self, scale=np.where(short, moved, self.scale))

    def rates(self, values: Floats) -> Floats:
        """Return the derivatives of the values with respect to x."""
        return np.where(self.sizes, values, self.scale)

    def arm_with(self, values: Floats, settings: Mapping[str, float]) -> Any:
        """Return the arm with these values and the settings of a measurement."""
        given = dict(zip(self.addresses, values.tolist(), strict=True))
        return set_parameters(self.arm, {**given, **settings})

    def one_per_cent(self, number: int) -> str:
        """Return a text that describes a change of x by 0.01."""
        if self.sizes[number]:
            return "1 %"
        return (
            f"{0.01 * self.scale[number]:.4g} {unit_of_address(self.addresses[number], self.arm)}"
        )


def unknowns(
    arm: Any, parameters: Sequence[str], start: Mapping[str, Any], bounds: Mapping[str, Any]
) -> Unknowns:
    """Check the parameters of a fit, their initial values and bounds."""
    names, members = asked_for(arm, parameters)
    if not names:
        raise ArmError("parameters is empty; must be addresses such as ['link1.joint_stiffness'].")
    set_together(arm, names)
    given = _by_parameter("start", arm, start, names, members)
    ends = _by_parameter("bounds", arm, bounds, names, members)
    kept: list[tuple[float, float, bool, float, float]] = []
    for name, singles in zip(names, members, strict=True):
        size = all(_is_size(arm, single) for single in singles)
        value = float(np.mean([float(value_at(arm, single)) for single in singles]))
        if name in given:
            value = float(as_scalar(f"start[{name!r}]", given[name], "one finite number"))
        if not np.isfinite(value) or (size and value <= 0.0):
            raise ArmError(
                f"{name} = {value:g}: a fit begins at a finite value"
                + " greater than 0" * size
                + "; give one with "
                f"start={{{name!r}: ...}}, near the expected value."
            )
        least, most = _ends(name, ends.get(name), size)
        if not least <= value <= most:
            raise ArmError(
                f"bounds[{name!r}] = ({least:g}, {most:g}): leave out where the fit begins, {value:g}; give wider "
                f"bounds, or start={{{name!r}: ...}}."
            )
        if unit_of_address(name, arm) == "rad":
            scale = 1.0
        elif value != 0.0:
            scale = max(abs(value), _least_scale(name, arm))
        elif np.isfinite(most - least):
            scale = 0.5 * (most - least)
        else:
            raise ArmError(
                f"{name} = 0: gives no scale for changes of this value; give "
                f"bounds={{{name!r}: (..., ...)}}."
            )
        kept.append((value, scale, size, least, most))
    begun = set_parameters(arm, {name: own[0] for name, own in zip(names, kept, strict=True)})
    arrays = [np.array(column) for column in zip(*kept, strict=True)]
    return Unknowns(begun, names, tuple(map(tuple, members)), *arrays)


def _least_scale(name: str, arm: Any) -> float:
    """Return the least scale of a parameter: a share of the arm's length for positions, 0 for other quantities."""
    if unit_of_address(name, arm) != "m":
        return 0.0
    return _LEAST_SHARE_OF_LENGTH * float(sum(abs(float(link.length)) for link in arm.links))


def _by_parameter(
    what: str, arm: Any, given: Any, names: Sequence[str], members: Sequence[Sequence[str]]
) -> dict[str, Any]:
    """Rename values given by address to the names of the parameters; each may have one."""
    found: dict[str, Any] = {}
    given_by: dict[str, str] = {}
    for address, value in table(what, given, ArmError).items():
        _, (singles,) = asked_for(arm, [address])
        name = next(
            (x for x, own in zip(names, members, strict=True) if list(own) == singles), None
        )
        if name is None:
            raise ArmError(
                f"{what}[{address!r}]: is not fitted; must be one of {', '.join(names)}."
            )
        if name in found:
            raise ArmError(
                f"{what}[{address!r}]: {name!r} is given twice, by {given_by[name]!r} and by {address!r}; give one."
            )
        found[name], given_by[name] = value, address
    return found


def _ends(name: str, given: Any, size: bool) -> tuple[float, float]:
    least = 0.0 if size else -np.inf
    if given is None:
        return least, np.inf
    try:
        low, high = (float(each) for each in given)
    except (TypeError, ValueError):
        low = high = np.nan
    if not low < high or low < least:
        rule = ", the lower 0 or more" * size
        raise ArmError(
            f"bounds[{name!r}] = {shown(given)}: must be two numbers, the lower first{rule}, in SI units and rad."
        )
    return low, high


def _is_size(arm: Any, single: str) -> bool:
    """Return whether a value is nonnegative by nature, as stiffnesses and masses are, unlike angles and positions."""
    path, _, field = full_address(single, arm).rpartition(".")
    record = value_at(arm, path)
    rule = next(item.metadata["rule"] for item in quantities(record) if item.name == field)
    return any(rule is each for each in _SIZES)
