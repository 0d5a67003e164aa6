"""Modes of frequency zero, due to free joints and bases: their number, and errors for parts that use them."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping

import numpy as np

from design_opt.problem.design_space import DesignSpace
from design_opt.problem.designs import OWN, degrees, own_angles, posture_columns
from design_opt.problem.errors import ProblemError
from jaxmodal.arm.addresses import list_addresses
from jaxmodal.arm.link_rules import JOINT_SPRINGS
from jaxmodal.arm.parameters import get_parameter
from jaxmodal.batches.kinds import PLANS
from jaxmodal.spatial.arms.arm import AnyArm

#: field names of springs of joints and bases, for planar arms and arms in space
_SPRINGS = {*JOINT_SPRINGS, "stiffness", "k11", "k22", "k33"}
#: addresses of supports in space; a support of stiffness 0 does not free a motion
_OF_SUPPORT = re.compile(r"\.support\d+\.")
#: most free springs named in a message
_NAMED = 3


@dataclasses.dataclass(frozen=True)
class ZeroModes:
    """The zero-frequency modes of an arm at the postures of a set: motions without strain, first in the list of modes.

    Attributes
    ----------
    most : int
        Largest number over the postures; modes from ``most + 1`` on vibrate in all postures.
    place : str
        The posture with this number, in words.
    free : tuple of str
        Addresses of springs of joints and base with stiffness 0.
    """

    most: int
    place: str
    free: tuple[str, ...]

    @property
    def words(self) -> str:
        """Number, place and cause, for messages."""
        springs = ", ".join(self.free[:_NAMED]) + ", ..." * (len(self.free) > _NAMED)
        plural = "s" if self.most > 1 else ""
        why = f" ({springs} = 0)" if springs else ""
        return f"the arm has {self.most} mode{plural} of frequency 0 {self.place}{why}"

    def require_vibrating(self, what: str, mode: int, remedy: str) -> None:
        """Raise an error if a mode has frequency 0."""
        if mode <= self.most:
            raise ProblemError(
                f"{what}: mode {mode} is a motion without strain: {self.words}, and these come first. Modes from "
                f"{self.most + 1} on vibrate; {remedy}."
            )

    def require_none(self, what: str) -> None:
        """Raise an error if nothing holds the arm at rest."""
        if self.most:
            raise ProblemError(
                f"{what}: nothing holds the arm at rest: {self.words}. Give what is free a stiffness, or support a tip "
                "beyond it; frequencies and responses may be limited without."
            )
        bases = [spring for spring in self.free if spring.startswith("base_stiffness.")]
        if bases:
            raise ProblemError(
                f"{what}: {bases[0]} = 0: nothing holds the base at rest in this direction; give it a stiffness."
            )


def zero_modes(
    arm: AnyArm, sets: Mapping[str, np.ndarray], used: tuple[str, ...]
) -> dict[str, ZeroModes]:
    """Return the zero-frequency modes of an arm for each of the ``used`` posture sets; `OWN` is its own posture."""
    free = _free_springs(arm)
    found = {}
    for name in used:
        angles = own_angles(arm) if name == OWN else sets[name]
        numbers = _numbers(arm, angles, len(free))
        worst = int(numbers.argmax())
        place = (
            "in its own posture"
            if name == OWN
            else f"at {degrees(arm, angles[worst], angles)} of {name}"
        )
        found[name] = ZeroModes(int(numbers[worst]), place, free)
    return found


def _free_springs(arm: AnyArm) -> tuple[str, ...]:
    return tuple(
        address
        for address in list_addresses(arm)
        if address.rpartition(".")[2] in _SPRINGS
        and not _OF_SUPPORT.search(address)
        and float(get_parameter(arm, address)) == 0.0
    )


def _numbers(arm: AnyArm, angles: np.ndarray, free: int) -> np.ndarray:
    """Return the number of zero-frequency modes at each posture, shape (P,), by the rule of natural frequencies."""
    if not free:
        return np.zeros(len(angles), np.int64)
    found: np.ndarray = PLANS.of(arm).zero_modes(arm, posture_columns(arm, angles))
    return found


def check_spring_bounds(
    space: DesignSpace, sets: Mapping[str, np.ndarray], used: tuple[str, ...]
) -> None:
    """Raise an error if the number of zero-frequency modes at bounds of variables differs from that between them.

    Bounds are checked one by one, then together, because a motion may be free only if several springs are 0.
    """
    middle = np.full(space.size, 0.5)
    middle_modes: dict[str, ZeroModes] = {}
    vanishing: list[tuple[int, str, float]] = []
    for i, variable in enumerate(space.variables):
        for position, key in ((0.0, "lower"), (1.0, "upper")):
            end = middle.copy()
            end[i] = position
            between = space.values(middle)
            if any(
                value == 0.0 != between[address] and not address.endswith("joint_angle")
                for address, value in space.values(end).items()
            ):
                vanishing.append(
                    (i, f"variable {variable.name!r}: {key} = {getattr(variable, key)!r}", position)
                )
    together = [vanishing] if len({i for i, _, _ in vanishing}) > 1 else []
    for bounds in [*([one] for one in vanishing), *together]:
        middle_modes = middle_modes or zero_modes(space.possible_at(middle), sets, used)
        end = middle.copy()
        for i, _, position in bounds:
            end[i] = position
        own = zero_modes(space.possible_at(end), sets, used)
        for name in used:
            if own[name].most != middle_modes[name].most:
                where = "; ".join(words for _, words, _ in bounds)
                one = len(bounds) == 1
                raise ProblemError(
                    f"{where}{'' if one else ', together'}: {own[name].words}; between the bounds it has "
                    f"{middle_modes[name].most}, so that modes would change their numbers there. Keep "
                    f"{'the bound' if one else 'bounds'} off 0, or leave the variable out and set "
                    "the value 0 in the arm."
                )
