"""The box of all designs: positions between the bounds of the variables, and the corresponding arms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from design_opt.problem.errors import ProblemError, about
from design_opt.problem.variables import FixedReach, Variable
from jaxmodal.arm.addresses import resolve_address
from jaxmodal.arm.joint_limits import warn_beyond_limits
from jaxmodal.arm.parameters import get_parameter, set_parameters
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.arms.arm import AnyArm


class DesignSpace:
    """The box of all designs: positions y in [0, 1]^n, and the corresponding arms.

    Parameters
    ----------
    arm
        The given arm (today's design).
    variables
        Design variables, one or more.
    lengths
        Lengths with a fixed reach, if they are variables.

    Raises
    ------
    ProblemError
        If there is no variable, an address is unknown or set twice, or a corner of the box is not a valid arm.
    """

    def __init__(
        self,
        arm: AnyArm,
        variables: Sequence[Variable],
        lengths: FixedReach | None = None,
    ) -> None:
        self.arm = arm
        self.lengths = lengths
        given = (*variables, *(lengths.variables(arm) if lengths else ()))
        self.variables = tuple(variable.of_arm(arm) for variable in given)
        if not self.variables:
            raise ProblemError(
                "variables: there is none; give one variable or more, such as Variable('link*.section.wall_thickness',"
                " 0.002, 0.02)."
            )
        self._reach = lengths.total(arm) if lengths else 0.0
        self._check_addresses()
        self.names = tuple(variable.name for variable in self.variables)
        if len(set(self.names)) < len(self.names):
            raise ProblemError(
                f"variables: the names {', '.join(self.names)} are not all different."
            )
        self.today = [self._today(variable) for variable in self.variables]
        self._check_follow()
        self.start = np.array([self._start(i) for i in range(len(self.variables))])
        self._check_corners()

    @property
    def size(self) -> int:
        """Number of variables."""
        return len(self.variables)

    @property
    def starts_today(self) -> bool:
        """True if the search starts from the given arm, within rounding."""
        return all(
            np.isclose(value, float(get_parameter(self.arm, address)), rtol=1e-9, atol=0.0)
            for address, value in self._numbers(self.start).items()
        )

    def physical(self, y: Any) -> Array:
        """Return the values of the variables in SI units, shape (n,), for positions of shape (n,)."""
        return jnp.stack([v.physical(y[i]) for i, v in enumerate(self.variables)])

    def values(self, y: Any) -> dict[str, Any]:
        """Return the values, in SI units, of all addresses that the variables set."""
        found: dict[str, Any] = {}
        for i, variable in enumerate(self.variables):
            x = variable.physical(y[i])
            for address in variable.addresses:
                found.update(dict.fromkeys(resolve_address(self.arm, address), x))
            for address, power in variable.follow.items():
                for single in resolve_address(self.arm, address):
                    now = float(get_parameter(self.arm, single))
                    found[single] = now * (x / self.today[i]) ** power
            for address, function in variable.maps.items():
                found.update(dict.fromkeys(resolve_address(self.arm, address), function(x)))
        if self.lengths:
            n = self.arm.num_links
            found[f"link{n}.length"] = self._reach - sum(
                found[f"link{i}.length"] for i in range(1, n)
            )
        return found

    def arm_at(self, y: Any) -> AnyArm:
        """Return the arm of a design; ``y`` may be traced."""
        return set_parameters(self.arm, self.values(y))

    def design_at(self, y: Any) -> AnyArm:
        """Return the arm at the positions y, with Python floats."""
        return set_parameters(self.arm, self._numbers(y))

    def _numbers(self, y: Any) -> dict[str, float]:
        return {address: float(value) for address, value in self.values(y).items()}

    def possible_at(self, y: Any) -> AnyArm:
        """Return `design_at`, with the last length of a fixed reach moved into its bounds."""
        values = self._numbers(y)
        if self.lengths:
            last = f"link{self.arm.num_links}.length"
            values[last] = min(max(values[last], self.lengths.lower), self.lengths.upper)
        return set_parameters(self.arm, values)

    def _today(self, variable: Variable) -> float:
        return float(get_parameter(self.arm, resolve_address(self.arm, variable.addresses[0])[0]))

    def _start(self, i: int) -> float:
        variable = self.variables[i]
        value = self.today[i] if variable.start is None else variable.start
        inside = min(max(value, variable.lower), variable.upper)
        return min(max(variable.position(inside), 0.0), 1.0)

    def _check_addresses(self) -> None:
        owners: dict[str, str] = {}
        if self.lengths:
            owners[f"link{self.arm.num_links}.length"] = "lengths, whose sum is held,"
        for variable in self.variables:
            for address in (*variable.addresses, *variable.follow, *variable.maps):
                with about(f"variable {variable.name!r}"):
                    singles = resolve_address(self.arm, address)
                for single in singles:
                    if single in owners:
                        raise ProblemError(
                            f"variable {variable.name!r}: {single!r} is set by {owners[single]} already;"
                            " vary it once."
                        )
                    owners[single] = f"variable {variable.name!r}"
                    link, _, field = single.partition(".")
                    number = int(link[4:]) if link[4:].isdigit() else 0
                    of_joint = number and field == self.arm.position_of(number)
                    if of_joint and address in variable.addresses:
                        bounds = {number: [variable.lower, variable.upper]}
                        where = f"variable {variable.name!r}: "
                        warn_beyond_limits(self.arm.links, bounds, where, level=5)

    def _check_follow(self) -> None:
        for variable, today in zip(self.variables, self.today, strict=True):
            if variable.follow and today == 0.0:
                raise ProblemError(
                    f"variable {variable.name!r}: {variable.addresses[0]} = 0.0 today, and addresses in follow depend"
                    " on its ratio to today; give the arm another value, or leave follow out."
                )

    def _check_corners(self) -> None:
        """Raise an error if a corner of the bounds is not a valid arm."""
        corners = [np.zeros(self.size), np.ones(self.size)]
        walls = np.array(["wall_thickness" in " ".join(v.addresses) for v in self.variables])
        corners += [np.where(walls, 1.0, 0.0), np.where(walls, 0.0, 1.0), self.start]
        for corner in corners:
            try:
                self.possible_at(corner)
            except ArmError as error:
                raise ProblemError(
                    f"bounds: they include a design that is not a valid arm: {error} Narrow the bounds."
                ) from error
