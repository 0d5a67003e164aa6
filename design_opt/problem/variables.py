"""Design variables: parameters of an arm by address, with bounds."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jax import Array

from design_opt.problem.errors import ProblemError, about
from jaxmodal.arm.addresses import full_address, may_name_joint, set_together
from jaxmodal.arm.arguments import is_finite
from jaxmodal.arm.quantities import shown
from jaxmodal.spatial.arms.arm import AnyArm
from jaxmodal.spatial.parts.parameters import unit_of_address

SCALES = ("linear", "log")


@dataclasses.dataclass(frozen=True)
class Variable:
    """A number that the optimiser may change, and the parameters that depend on it.

    Parameters
    ----------
    parameter
        An address (``link*`` for all links), or several; all get the same value, as with ``tied = true`` in a file.
        `per_link` makes one variable per value.
    lower, upper
        Bounds in SI units, finite, lower < upper.
    follow
        Further addresses, each with a power: its value is its value in the given arm times ``(x / x_today) ** power``.
        For a section with I proportional to A^p: ``{"link1.section.second_moment": p}``.
    maps
        Further addresses, each with a JAX function that returns its value for x.
    scale
        Scale of positions between the bounds: ``"linear"`` or ``"log"``, for bounds that are decades apart.
    start
        Start value in SI units; by default the value in the given arm, moved into the bounds.
    name
        Name for tables; by default the address.

    Raises
    ------
    ProblemError
        If the bounds are inconsistent or not finite, the scale is unknown, or another value is invalid.

    Examples
    --------
    >>> wall = Variable("link*.section.wall_thickness", 0.002, 0.02)
    >>> wall.name, round(float(wall.physical(0.5)), 6)
    ('link*.section.wall_thickness', 0.011)
    """

    parameter: str | tuple[str, ...]
    lower: float
    upper: float
    follow: Mapping[str, float] = dataclasses.field(default_factory=dict)
    maps: Mapping[str, Callable[[Array], Array]] = dataclasses.field(default_factory=dict)
    scale: str = "linear"
    start: float | None = None
    name: str = ""

    def __post_init__(self) -> None:
        addresses = _addresses(self.parameter)
        if not isinstance(self.name, str):
            raise ProblemError(f"name = {shown(self.name)}: must be text.")
        object.__setattr__(self, "parameter", addresses)
        object.__setattr__(self, "name", self.name or " ".join(addresses))
        where = f"variable {self.name!r}"
        for key in ("lower", "upper"):
            value = getattr(self, key)
            if not is_finite(value):
                raise ProblemError(
                    f"{where}: {key} = {shown(value)}: must be a finite number (SI); give a bound."
                )
            object.__setattr__(self, key, float(value))
        if not self.lower < self.upper:
            raise ProblemError(
                f"{where}: lower = {self.lower!r} is not below upper = {self.upper!r}; exchange them, or leave the "
                "variable out to hold the parameter."
            )
        if self.scale not in SCALES:
            raise ProblemError(f"{where}: scale = {shown(self.scale)}; choose 'linear' or 'log'.")
        if self.scale == "log" and self.lower <= 0.0:
            raise ProblemError(
                f"{where}: lower = {self.lower!r}: a logarithmic scale needs a lower bound greater than 0."
            )
        if not isinstance(self.follow, Mapping) or not all(map(is_finite, self.follow.values())):
            raise ProblemError(
                f"{where}: follow = {shown(self.follow)}: must be a table of addresses with their powers."
            )
        if not isinstance(self.maps, Mapping) or not all(map(callable, self.maps.values())):
            raise ProblemError(
                f"{where}: maps = {shown(self.maps)}: must be a table of addresses with functions of the value."
            )
        start = self.start
        if start is not None and not (is_finite(start) and self.lower <= start <= self.upper):
            raise ProblemError(
                f"{where}: start = {shown(start)} lies outside the bounds {self.lower!r} to {self.upper!r}."
            )

    @property
    def addresses(self) -> tuple[str, ...]:
        """Addresses that are set to the value itself."""
        return tuple(self.parameter)

    @property
    def unit(self) -> str:
        """SI unit of the value."""
        return unit_of_address(self.addresses[0])

    def of_arm(self, arm: AnyArm) -> Variable:
        """Return the variable with joint names replaced by addresses of an arm."""

        def numbered(address: str) -> str:
            return full_address(address, arm) if may_name_joint(address) else address

        with about(f"variable {self.name!r}"):
            return dataclasses.replace(
                self,
                parameter=tuple(map(numbered, self.parameter)),
                follow={numbered(key): power for key, power in self.follow.items()},
                maps={numbered(key): function for key, function in self.maps.items()},
            )

    def physical(self, y: Any) -> Any:
        """Return the value in SI units at a position y, from 0 at the lower to 1 at the upper bound."""
        if self.scale == "log":
            return self.lower * (self.upper / self.lower) ** y
        return self.lower + (self.upper - self.lower) * y

    def position(self, value: float) -> float:
        """Return the position, from 0 to 1 between the bounds, of a value in SI units."""
        if self.scale == "log":
            return math.log(value / self.lower) / math.log(self.upper / self.lower)
        return (value - self.lower) / (self.upper - self.lower)


def per_link(
    arm: AnyArm,
    parameter: str | Sequence[str],
    lower: float,
    upper: float,
    **options: Any,
) -> list[Variable]:
    """Return one variable for each value of an address with ``link*``, or of a list of addresses.

    It corresponds to ``tied = false`` in a file; `Variable` ties the values. ``link*`` in ``follow`` stands for the
    same link.

    Parameters
    ----------
    arm
        The given arm.
    parameter
        Address, or several.
    lower, upper
        Bounds of each variable, SI units and rad.
    options
        Further arguments of `Variable`.

    Raises
    ------
    ProblemError
        See `Variable`; or if an address is unknown, a value is given twice, or ``name`` is given for several variables.

    Examples
    --------
    >>> import jaxmodal as jm
    >>> arm = jm.examples.three_link_industrial()
    >>> [v.name for v in per_link(arm, "link*.section.depth", 0.05, 0.3)][:2]
    ['link1.section.depth', 'link2.section.depth']
    >>> len(per_link(arm, ["link2.tip_mass", "payload.mass"], 1.0, 3.0))
    2
    """
    addresses = _addresses(parameter)
    with about("variables"):
        singles = list(set_together(arm, addresses))
    if options.get("name") and len(singles) > 1:
        raise ProblemError(
            f"name = {shown(options['name'])}: is that of one variable, and there is one for each of {len(singles)} "
            "values; leave it out, or tie them."
        )
    follow = options.pop("follow", {})
    if not isinstance(follow, Mapping):
        raise ProblemError(
            f"follow = {shown(follow)}: must be a table of addresses with their powers."
        )
    found = []
    for single in singles:
        link = single.split(".", 1)[0]
        own = {key.replace("link*", link, 1): power for key, power in follow.items()}
        found.append(Variable(single, lower, upper, follow=own, **options))
    return found


def _addresses(given: Any) -> tuple[str, ...]:
    """Return an address or several as a tuple."""
    several = given if isinstance(given, (list, tuple)) else ()
    addresses = (given,) if isinstance(given, str) else tuple(several)
    if not addresses or not all(isinstance(entry, str) for entry in addresses):
        raise ProblemError(
            f"parameter = {shown(given)}: must be an address or a list of addresses."
        )
    return addresses


@dataclasses.dataclass(frozen=True)
class FixedReach:
    """Link lengths as variables with a constant sum; the last length follows from the others, within the same bounds.

    Parameters
    ----------
    lower, upper
        Bounds of every length in m.
    reach
        Sum of the lengths in m; by default that of the given arm.
    """

    lower: float
    upper: float
    reach: float | None = None

    def __post_init__(self) -> None:
        for key in ("lower", "upper", "reach"):
            value = getattr(self, key)
            if not is_finite(value) and not (key == "reach" and value is None):
                raise ProblemError(f"lengths: {key} = {shown(value)}: must be a finite number (m).")

    def variables(self, arm: AnyArm) -> list[Variable]:
        """Return the variables of the n - 1 independent lengths."""
        n = arm.num_links
        reach = self.total(arm)
        if n < 2:
            raise ProblemError("lengths: an arm of one link has no lengths to share out.")
        if not n * self.lower <= reach <= n * self.upper:
            raise ProblemError(
                f"lengths: {n} links between {self.lower!r} m and {self.upper!r} m cannot reach {reach!r} m; widen the "
                "bounds, or change the reach."
            )
        return [Variable(f"link{i}.length", self.lower, self.upper) for i in range(1, n)]

    def total(self, arm: AnyArm) -> float:
        """Return the sum of the lengths in m."""
        today = float(sum(float(link.length) for link in arm.links))
        return today if self.reach is None else float(self.reach)
