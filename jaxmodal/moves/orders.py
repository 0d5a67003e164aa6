"""Orders: excitation by gears and motors at multiples of a joint's speed."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxmodal.arm.arguments import is_finite, is_whole
from jaxmodal.arm.quantities import shown
from jaxmodal.runtime.errors import ArmError
from jaxmodal.spatial.arms.arm import AnyArm


@dataclasses.dataclass(frozen=True)
class Order:
    """Periodic excitation with a fixed number of pulses per turn of a joint.

    Parameters
    ----------
    joint : int or str
        The joint: the number of its link, from 1, or its name.
    per_turn : float
        Pulses per turn of the joint (gear output). Examples: a wave generator with 2 pulses per turn and a gear ratio
        of 100 gives 200; a wheel on the joint with 81 teeth gives 81; a motor with 4 pole pairs, 6 pulses per pole pair
        and a gear ratio of 50 gives 1,200.
    name : str
        Name of the source, for tables.
    """

    joint: int | str
    per_turn: float
    name: str = ""


def joint_labels(arm: AnyArm) -> dict[int, str]:
    """Return labels of the joints by link number: the joint's name, or else the number."""
    named = {number: name for name, numbers in arm.joint_names.items() for number in numbers}
    return {number: named.get(number, f"joint {number}") for number in arm.joints}


def orders_of(arm: AnyArm, orders: Any) -> tuple[Order, ...]:
    """Check the orders of an arm and replace joint names by numbers; raise an error if an order is invalid."""
    given = [orders] if isinstance(orders, Order) else orders
    if not isinstance(given, Sequence) or isinstance(given, str) or not len(given):
        raise ArmError(
            f"orders = {shown(orders)}: must be a list of Order(joint, per_turn), one or more."
        )
    return tuple(_order(arm, number, each) for number, each in enumerate(given))


def _order(arm: AnyArm, place: int, given: Any) -> Order:
    if not isinstance(given, Order):
        raise ArmError(
            f"orders[{place}] = {shown(given)}: must be an Order, such as Order(2, 2 * 100, 'wave generator')."
        )
    if not is_finite(given.per_turn) or not given.per_turn > 0.0:
        raise ArmError(
            f"orders[{place}].per_turn = {shown(given.per_turn)}: must be a number greater than 0, pushes for one turn "
            "of the joint."
        )
    labels = joint_labels(arm)
    if isinstance(given.joint, str):
        numbers = [number for number, label in labels.items() if label == given.joint]
    else:
        numbers = [given.joint] if is_whole(given.joint, 1) and given.joint in labels else []
    if len(numbers) != 1:
        known = ", ".join(
            f"{number}" if label == f"joint {number}" else f"{number} ({label})"
            for number, label in labels.items()
        )
        raise ArmError(
            f"orders[{place}].joint = {shown(given.joint)}: must be one joint of the arm, by number or name: {known}."
        )
    return Order(
        int(numbers[0]), float(given.per_turn), given.name or f"{given.per_turn:g} per turn"
    )


def columns_of(arm: AnyArm, orders: Sequence[Order]) -> np.ndarray:
    """Return the index of the posture angle that belongs to each order."""
    return np.array([list(arm.joints).index(int(order.joint)) for order in orders])
