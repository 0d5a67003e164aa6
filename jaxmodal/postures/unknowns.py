"""What is solved for at a given frequency: the angle of a joint, or a value in which the determinant is a polynomial.

Either way the determinant D is known from its values at a few places (`trigonometric_zeros`, `value_zeros`).
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

import numpy as np

from jaxmodal.arm.addresses import full_address, resolve_address
from jaxmodal.arm.arguments import real_array
from jaxmodal.arm.parameters import set_parameters
from jaxmodal.arm.quantities import shown
from jaxmodal.postures import trigonometric_zeros as turns
from jaxmodal.postures import value_zeros
from jaxmodal.postures.places import joint_at, quantity_at, usual_of
from jaxmodal.postures.polynomial_values import MOST, Quantity, may_be_negative
from jaxmodal.postures.readings import in_unit
from jaxmodal.postures.turned_arms import TurnedArms, Values, require_joint
from jaxmodal.postures.values_in_space import is_of_a_tensor
from jaxmodal.runtime.errors import ArmError, within
from jaxmodal.spatial.arms.arm import AnyArm

#: corrections with an exact value, of an angle and of a value: far from the usual one that has few digits at first, and
#: of a degree above this very few, so that the later ones are by the line through the last two
_OF_ANGLE, _OF_VALUE, _OF_SEVERAL, _LOW = 1, 2, 6, 3
#: such values are solved for in so many parts to both sides of the usual one, each about values so many times the last
#: one, as far as half the way to the next, and a little over
_PARTS, _RATIO, _OVER = 3, 100.0, 0.02


class Unknown(Protocol):
    """What is solved for in many arms at once. Its coordinate is the angle, the value, or 1/k of a spring."""

    @property
    def corrections(self) -> int:
        """How often a zero is corrected with an exact value."""
        ...

    @property
    def parts(self) -> Sequence[Unknown]:
        """What is solved for in turn: the unknown itself, or the unknown about different values."""
        ...

    @property
    def by_lines(self) -> bool:
        """Whether all corrections but the first are steps to the zero of the line through the last two exact values."""
        ...

    @property
    def nodes(self) -> np.ndarray:
        """Coordinates at which values of D determine it."""
        ...

    @property
    def somewhere(self) -> float:
        """The coordinate that is told where every one would do."""
        ...

    @property
    def most(self) -> int:
        """How many zeros there are at the most."""
        ...

    def posed(self, angles: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, Values]:
        """Postures ``angles`` (joints, N), and values beside them, with the unknown at coordinates ``at`` (N,)."""
        ...

    def value(self, at: np.ndarray) -> np.ndarray:
        """What is told of coordinates: angles in (-pi, pi], values in SI units."""
        ...

    def place(self, value: np.ndarray) -> np.ndarray:
        """The coordinates of values."""
        ...

    def through(self, values: np.ndarray) -> np.ndarray:
        """The polynomial of values (N, nodes)."""
        ...

    def zeros(self, polynomial: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Zeros (N, most), NaN beyond the last, and which of them cross zero; others may touch it."""
        ...

    def slope_at(self, polynomial: np.ndarray, at: np.ndarray) -> np.ndarray:
        """Slopes there, in shares of the polynomial's size."""
        ...

    def corrected(self, polynomial: np.ndarray, at: np.ndarray, exact: np.ndarray) -> np.ndarray:
        """Zeros corrected with exact values there."""
        ...

    def stationary(self, polynomial: np.ndarray, at: np.ndarray) -> np.ndarray:
        """Where the slope vanishes, next to ``at``."""
        ...

    def repeated(self, at: np.ndarray, proven: np.ndarray) -> np.ndarray:
        """Zeros that stand in another column as well, which is taken instead."""
        ...


@dataclasses.dataclass(frozen=True)
class AngleOf:
    """The angle of a joint, in a row of the angles of `TurnedArms`; see `Unknown`."""

    row: int
    degree: int
    even: bool
    corrections: ClassVar[int] = _OF_ANGLE
    by_lines: ClassVar[bool] = False

    @property
    def parts(self) -> Sequence[AngleOf]:
        return [self]

    @property
    def nodes(self) -> np.ndarray:
        return turns.evenly(2 * self.degree + 1)

    @property
    def somewhere(self) -> float:
        return 0.0

    @property
    def most(self) -> int:
        return 2 * self.degree

    def posed(self, angles: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, Values]:
        posture = angles.copy()
        posture[self.row] = at
        return posture, {}

    def value(self, at: np.ndarray) -> np.ndarray:
        return turns.wrapped(at)

    def place(self, value: np.ndarray) -> np.ndarray:
        return value

    def through(self, values: np.ndarray) -> np.ndarray:
        return turns.through(values)

    def zeros(self, polynomial: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return turns.zeros(polynomial, self.even)

    def slope_at(self, polynomial: np.ndarray, at: np.ndarray) -> np.ndarray:
        return turns.slope_at(polynomial, at)

    def corrected(self, polynomial: np.ndarray, at: np.ndarray, exact: np.ndarray) -> np.ndarray:
        return turns.corrected(polynomial, at, exact)

    def stationary(self, polynomial: np.ndarray, at: np.ndarray) -> np.ndarray:
        return turns.stationary(polynomial, at)

    def repeated(self, at: np.ndarray, proven: np.ndarray) -> np.ndarray:
        return turns.repeated(at, proven)


@dataclasses.dataclass(frozen=True)
class ValueOf:
    """A mass, an inertia, a spring: see `Unknown`. Zeros are those with coordinates ``within`` two.

    The coordinates of a part below 0, as of gears, are sizes, of this ``sign``. What is ``usual`` may be beyond the
    limits; that of the span is not.
    """

    quantity: Quantity
    span: value_zeros.Span
    usual: float
    within: tuple[float, float] = (-math.inf, math.inf)
    sign: float = 1.0

    @property
    def parts(self) -> Sequence[ValueOf]:
        return [part for side in self._sides for part in side._about_several]

    @property
    def _sides(self) -> Sequence[ValueOf]:
        """Of a value of either sign, which may have any size, the unknown above 0 and below it."""
        low, high, usual = self.span.low, self.span.high, self.span.usual
        if low >= 0.0 or not may_be_negative(self.quantity):
            return [self]
        below = dataclasses.replace(self, span=_span(max(-high, 0.0), -low, usual), sign=-1.0)
        if high <= 0.0:
            return [below]
        return [below, dataclasses.replace(self, span=_span(0.0, high, usual))]

    @property
    def _about_several(self) -> Sequence[ValueOf]:
        if not self.by_lines:
            return [self]
        places = self.span.usual * _RATIO ** np.arange(-_PARTS, _PARTS + 1.0)
        ends = [0.0, *np.sqrt(places[1:] * places[:-1]).tolist(), math.inf]
        return [
            dataclasses.replace(self, span=dataclasses.replace(self.span, usual=usual), within=pair)
            for usual, pair in zip(places.tolist(), itertools.pairwise(ends), strict=True)
        ]

    @property
    def by_lines(self) -> bool:
        return self.quantity.degree > _LOW

    @property
    def corrections(self) -> int:
        return _OF_SEVERAL if self.by_lines else _OF_VALUE

    @property
    def nodes(self) -> np.ndarray:
        return self.span.coordinate(value_zeros.places(self.quantity.degree))

    @property
    def somewhere(self) -> float:
        return self.span.low

    @property
    def most(self) -> int:
        return self.quantity.degree

    def posed(self, angles: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, Values]:
        return angles, self.quantity.columns(self.value(at))

    def value(self, at: np.ndarray) -> np.ndarray:
        if not self.quantity.spring:
            return self.sign * at + 0.0  # which makes a 0 of -0
        with np.errstate(divide="ignore"):
            return 1.0 / at

    def place(self, value: np.ndarray) -> np.ndarray:
        return self.value(value)  # 1/k as k is 1/(1/k), and the same of signs

    def through(self, values: np.ndarray) -> np.ndarray:
        return value_zeros.through(values)

    def zeros(self, polynomial: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found, crossing = value_zeros.zeros(polynomial, self.span)
        low, high = self.within
        with np.errstate(invalid="ignore"):
            own = (found >= low * (1.0 - _OVER)) & (found <= high * (1.0 + _OVER))
        return np.where(own, found, np.nan), crossing & own

    def slope_at(self, polynomial: np.ndarray, at: np.ndarray) -> np.ndarray:
        return value_zeros.slope_at(polynomial, at, self.span)

    def corrected(self, polynomial: np.ndarray, at: np.ndarray, exact: np.ndarray) -> np.ndarray:
        return value_zeros.corrected(polynomial, at, exact, self.span)

    def stationary(self, polynomial: np.ndarray, at: np.ndarray) -> np.ndarray:
        return value_zeros.stationary(polynomial, at, self.span)

    def repeated(self, at: np.ndarray, proven: np.ndarray) -> np.ndarray:
        return value_zeros.repeated(at, proven, self.usual)


def unknown_of(arm: AnyArm, arms: TurnedArms, joint: int | str, limits: Any = None) -> Unknown:
    """The unknown of this number of a joint, or address, which is checked; a value lies within its ``limits``."""
    if not isinstance(joint, str):
        require_joint(arm, arms.joints, joint)
        if limits is not None:
            raise ValueError(
                f"limits = {shown(limits)}: they are those of a value, and angles are found all round; leave them out"
            )
        return AngleOf(arms.joints.index(joint), arms.degree(joint), arms.even)
    quantity = quantity_given(arm, joint)
    if arms.may_buckle:
        raise ArmError(
            f"joint = {shown(joint)}: the arm bears axial forces, with which angles are solved for, and no values; give"
            " the number of a joint, or take the forces away."
        )
    low, high = _limits(arm, quantity, limits)
    usual = usual_of(arm, quantity)
    if quantity.spring:
        with np.errstate(divide="ignore"):
            low, high, usual = (float(1.0 / np.float64(x)) for x in (high, low, usual))
    return ValueOf(quantity, _span(low, high, usual), usual)


def _span(low: float, high: float, usual: float) -> value_zeros.Span:
    return value_zeros.Span(low, high, min(max(usual, low), high - low))


def quantity_given(arm: AnyArm, address: str) -> Quantity:
    """The value at an address that is given in place of a joint, in which D is a polynomial; others are refused."""
    if address.isascii() and address.isdecimal():
        raise ValueError(
            f"joint = {shown(address)}: is text; give the number of a joint as {address}"
        )
    with within(f"joint = {shown(address)}: "):
        singles = resolve_address(arm, address)
    if len(singles) == 1 and (number := joint_at(singles[0])):
        raise ValueError(
            f"joint = {shown(address)}: is the angle of a joint; give the number of the joint, {number}"
        )
    found = quantity_at(arm, full_address(address, arm))
    if found is None:
        raise ValueError(
            f"joint = {shown(address)}: expected the number of a joint, whose angle is solved for, or the address of a "
            "mass, an inertia, a rotor, a gear, a spring or a support, such as 'payload.mass', or of several links' "
            "springs or bodies, such as 'link*.joint_stiffness', whose degrees add up to "
            f"{MOST} at the most (three springs have 3, three masses 6 in the plane and 9 in space)"
        )
    if not found.degree:
        raise ValueError(f"joint = {shown(address)}: no frequency depends on it; expected another")
    return found


def needs_limits(quantity: Quantity) -> bool:
    """Whether the least and the largest of a value have to be given: of one that may be negative, or of a tensor."""
    return is_of_a_tensor(quantity) or may_be_negative(quantity)


def _limits(arm: AnyArm, quantity: Quantity, limits: Any) -> tuple[float, float]:
    """The least and the largest of a value, checked; of a tensor's component both make one that a body has.

    Then all between them do: with E the unit matrix, such tensors T are those without a negative ``tr(T)/2 E - T``.
    """
    signed = needs_limits(quantity)
    if limits is None and not signed:
        return 0.0, math.inf
    least = -math.inf if signed else 0.0
    pair = np.full(2, math.nan) if limits is None else real_array(limits, "limits")
    fits = pair.shape == (2,) and bool(least <= pair[0] < pair[1])
    if not fits or (signed and not np.isfinite(pair).all()):
        expected = "of either sign, finite" if signed else "from 0 on"
        raise ValueError(
            f"limits = {shown(limits)}; expected the least and the largest {quantity.address}, ascending, {expected}"
            f"{in_unit(quantity.address)}"
        )
    if is_of_a_tensor(quantity):
        with within(f"limits = {shown(limits)}: "):
            for end in pair:
                set_parameters(arm, {quantity.address: float(end)})
    return float(pair[0]), float(pair[1])
