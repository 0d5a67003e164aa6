"""Ranges of the parameters of an arm, and cells inside them by relative coordinates (shares)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from jaxmodal.arm.addresses import full_address, may_name_joint, resolve_address, set_together
from jaxmodal.arm.arguments import real_array
from jaxmodal.arm.arm import require_arm
from jaxmodal.arm.descriptions import first_angle_matters
from jaxmodal.arm.documents import table
from jaxmodal.arm.parameters import set_parameters
from jaxmodal.arm.quantities import shown
from jaxmodal.runtime.errors import ArmError, within
from jaxmodal.runtime.namespace import is_traced
from jaxmodal.spatial.arms.arm import AnyArm

_TURN = 2.0 * math.pi
#: largest difference between a range of an angle and a full turn that counts as rounding, rad
_ROUNDED = 1e-9


@dataclasses.dataclass(frozen=True)
class Ranges:
    """An arm with ranges of P parameters; a cell is given by its shares (P,), relative coordinates from 0 to 1.

    Attributes
    ----------
    low, high : array, shape (P,)
        Ends of the ranges, SI units and rad.
    turns : array of bool, shape (P,)
        Whether the range is a full turn of a joint, which is periodic.
    """

    arm: AnyArm
    addresses: tuple[str, ...]
    low: np.ndarray
    high: np.ndarray
    turns: np.ndarray

    @classmethod
    def of(cls, arm: AnyArm, ranges: Mapping[str, Any] | None, payload: Any = None) -> Ranges:
        """Check the arguments of a call; by default all joint angles that matter, within their limits or a turn."""
        if is_traced(arm) or is_traced(payload):
            raise ValueError(
                "arm: holds traced values; extremes and share_below need known ones: call them outside jax.jit, "
                "jax.vmap and jax.grad"
            )
        require_arm(arm)
        arm = _loaded(arm, payload)
        if ranges is None:
            ranges = _angles(arm)
        ranges = table("ranges", ranges, ArmError)
        if not ranges:
            raise ValueError(
                "ranges is empty; expected a range for one address or more, such as {'link2.joint_angle': (-1.5, 1.5)}"
            )
        set_together(arm, ranges)
        ends = [_ends(arm, address, given) for address, given in ranges.items()]
        low, high = np.array(ends).T
        angle = np.array([is_angle(arm, address) for address in ranges])
        # results are labelled by number, as those of sweeps are
        labels = tuple(full_address(x, arm) if may_name_joint(x) else x for x in ranges)
        return cls(arm, labels, low, high, angle & (high - low > _TURN - _ROUNDED))

    def values(self, shares: np.ndarray) -> np.ndarray:
        """Return parameter values for shares, of the same shape (..., P)."""
        return np.asarray(self.low + shares * (self.high - self.low))

    def cells(self, shares: np.ndarray) -> dict[str, np.ndarray]:
        """Return parameter values of N cells by address, from shares (N, P)."""
        return dict(zip(self.addresses, self.values(shares).T, strict=True))

    def inside(self, shares: np.ndarray) -> np.ndarray:
        """Return shares moved into the ranges: full turns are periodic, others are clipped."""
        return np.where(self.turns, shares % 1.0, np.clip(shares, 0.0, 1.0))

    def arm_at(self, shares: np.ndarray) -> AnyArm:
        """Return the arm of one cell."""
        values = self.values(shares).tolist()
        return set_parameters(self.arm, dict(zip(self.addresses, values, strict=True)))


def _loaded(arm: Any, payload: Any) -> Any:
    """Return the arm with another payload, given as a body or as a mass in kg."""
    if payload is None:
        return arm
    if not isinstance(payload, arm.payload_kind):
        kind = arm.payload_kind.__name__
        if isinstance(payload, bool | str) or np.ndim(payload):
            raise ArmError(f"payload = {shown(payload)}: must be a {kind}, or its mass in kg.")
        payload = arm.payload_kind(mass=payload)
    return arm.replace(payload=payload)


def _angles(arm: AnyArm) -> dict[str, tuple[float, float]]:
    """Return default ranges of the joint angles that matter; joint 1 matters only if something is fixed to the ground.

    A range extends between the joint limits; without limits, or with limits wider than that, it is a full turn. A
    sliding joint needs limits.
    """
    joints = [k for k in arm.joints if k > 1 or first_angle_matters(arm)]
    if not joints:
        raise ValueError(
            "ranges: the arm has one joint, which changes no frequency; give the ranges of other parameters, such as "
            "{'payload.mass': (0.0, 5.0)}"
        )
    return {f"link{number}.{arm.position_of(number)}": _limits(arm, number) for number in joints}


def _limits(arm: AnyArm, number: int) -> tuple[float, float]:
    link = arm.links[number - 1]
    limits = getattr(link, "joint_limits", None)
    if arm.slides(number):
        if limits is None:
            name = getattr(link, "name", "") or f"link{number}.{arm.position_of(number)}"
            raise ValueError(
                f"ranges: joint {number} slides and has no limits; give it joint_limits, or ranges such as "
                f"{{{name!r}: (0.0, 0.5)}}, m"
            )
        return limits
    if limits is None or not 0.0 < limits[1] - limits[0] < _TURN:
        return -math.pi, math.pi
    return float(limits[0]), float(limits[1])


def is_angle(arm: AnyArm, address: str) -> bool:
    """Return whether an address is that of one or more joint angles."""
    return all(single.endswith(".joint_angle") for single in resolve_address(arm, address))


def _ends(arm: AnyArm, address: str, given: Any) -> tuple[float, float]:
    """Return the two ends of a range, checked to be allowed values of the arm."""
    name = f"ranges[{address!r}]"
    ends = real_array(given, name)
    if ends.shape != (2,) or not np.all(np.isfinite(ends)) or not ends[0] < ends[1]:
        raise ValueError(
            f"{name} = {shown(given)}: expected two finite numbers, the lower first, in SI units and rad"
        )
    low, high = ends.tolist()
    if is_angle(arm, address) and high - low > _TURN + _ROUNDED:
        raise ValueError(
            f"{name} = {shown(given)}: is more than a whole turn, 2 pi; angles are in rad (np.radians(...))"
        )
    for end in (low, high):
        with within(f"{name}: "):
            set_parameters(arm, {address: end})
    return low, high
