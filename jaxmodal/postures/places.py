"""Varied values of a batch as places of its cells, in which the determinant of an arm is a polynomial."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from jaxmodal.arm.addresses import resolve_address
from jaxmodal.arm.parameters import set_parameters
from jaxmodal.arm.quantities import ANGLE
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.postures.expansion_in_space import turning
from jaxmodal.postures.expansions import Expansion
from jaxmodal.postures.kinds import kind_of
from jaxmodal.postures.polynomial_values import Quantity, Varied, may_be_negative
from jaxmodal.postures.tied_values import is_tied
from jaxmodal.postures.values_in_space import is_of_a_tensor
from jaxmodal.spatial.arms.arm import AnyArm

_NO_SERIES = (
    "arms with a free joint, an axial force, in the plane a base that is free in a direction, or rigid links alone "
    "have no series"
)
_ANGLE = re.compile(r"link([1-9][0-9]*)\.joint_angle", re.ASCII)


def varied(
    arm: AnyArm, addresses: Sequence[str], values: np.ndarray | None = None
) -> Varied | None:
    """None where a batch varies what the determinant is no polynomial in, or anything twice.

    Of some of its ``values`` (addresses, cells) those that vary together in an arm in space are one.
    """
    kind = kind_of(arm)
    joints, quantities, seen = list[int](), dict[int, Quantity](), set[str]()
    for row, address in enumerate(addresses):
        singles = resolve_address(arm, address)
        if seen.intersection(singles):
            return None
        seen.update(singles)
        if joint_at(singles[0]):
            joints += _numbers(singles)
            continue
        quantity = kind.quantity(address)
        if quantity is None:
            return None
        quantities[row] = quantity
    alone = {row: q.address for row, q in quantities.items() if not q.parts}
    ties = [] if values is None else kind.ties(alone, values)
    for tie in ties:
        first, *others = tie.rows
        quantities[first] = tie.quantity
        for row in others:
            del quantities[row]
    return Varied(turning(arm, joints), tuple(quantities.values()), tuple(quantities), tuple(ties))


def pays(
    arm: AnyArm, addresses: Sequence[str], cells: int, values: np.ndarray | None = None
) -> bool:
    """Whether D is a polynomial in all that a batch varies, and the batch has enough cells to pay for the table.

    Arguments as of `varied`.
    """
    return not why_not(arm, addresses, cells, values)


def why_not(
    arm: AnyArm, addresses: Sequence[str], cells: int, values: np.ndarray | None = None
) -> str:
    """Why a batch does not take the series, in words; empty where it does."""
    asked = varied(arm, addresses, values)
    if asked is None:
        others = [a for a in addresses if not _is_known(arm, a)]
        what = ", ".join(others) or "a value that is set twice"
        return f"the determinant is no polynomial of few terms in {what}"
    springs = {q.address: 1.0 for q in asked.quantities if q.spring}  # what they are is not known
    own = set_parameters(arm, springs)
    kind, number = kind_of(own), terms_of(own, asked)
    if why := kind.why_too_many(asked, number):
        return why
    if number == 1:
        return "no frequency depends on what varies"
    if not kind.has_series():
        return _NO_SERIES
    enough = kind.cells_that_pay(asked, number)
    if cells < enough:
        return f"{cells} cells do not pay for a table of {number} terms, {math.ceil(enough)} do"
    return ""


def terms_of(arm: AnyArm, asked: Varied) -> int:
    """How many terms D has in what varies."""
    return kind_of(arm).terms(asked)


def quantity_at(arm: AnyArm, address: str) -> Quantity | None:
    """Return the quantity at an address if D is a polynomial in it, else None."""
    return kind_of(arm).quantity(address)


def usual_of(arm: AnyArm, quantity: Quantity) -> float:
    """A value of a quantity with which a body weighs as much as a link, or a spring is as stiff; of rigid links 1."""
    found = kind_of(arm).usual(quantity)
    return found if 0.0 < found < math.inf else 1.0


def joint_at(address: str) -> int:
    """The number of the joint whose angle is at a full address, from 1; 0 of another."""
    angle = _ANGLE.fullmatch(address)
    return int(angle[1]) if angle else 0


def _is_known(arm: AnyArm, address: str) -> bool:
    """Whether D is a polynomial in what is at an address."""
    return varied(arm, [address]) is not None


def _numbers(singles: Sequence[str]) -> list[int]:
    """The numbers of links, from 0, in addresses."""
    return [int(single.removeprefix("link").partition(".")[0]) - 1 for single in singles]


def expansion_of(
    arm: AnyArm, asked: Varied, values: np.ndarray, theory: TheoryName
) -> Expansion | None:
    """The determinant of an arm of either kind in what varies; None where it is no polynomial.

    ``values`` (values, samples) are some of those that vary beside angles.
    """
    return kind_of(arm).expansion(asked, values, theory)


def postures(arm: AnyArm, addresses: Sequence[str], values: np.ndarray) -> np.ndarray:
    """Joint angles of all links, shape (n, cells), from values of shape (addresses, cells)."""
    angles = np.repeat(own_angles(arm)[:, None], values.shape[1], axis=1)
    for joint, row in enumerate(rows_of_angles(arm, addresses)):
        if row >= 0:
            angles[joint] = values[row]
    return angles


def own_angles(arm: AnyArm) -> np.ndarray:
    """Joint angles of the arm itself, shape (n,)."""
    return np.array([float(link.joint_angle) for link in arm.links])


def rows_of_angles(arm: AnyArm, addresses: Sequence[str]) -> np.ndarray:
    """For every joint the place of the address that gives its angle, -1 for none."""
    rows = np.full(arm.num_links, -1)
    for row, address in enumerate(addresses):
        singles = resolve_address(arm, address)
        if joint_at(singles[0]):
            rows[_numbers(singles)] = row
    return rows


def possible_places(
    asked: Varied, arm: AnyArm, addresses: Sequence[str], values: np.ndarray
) -> np.ndarray:
    """Places of the cells whose values are possible."""
    places, valid = placed(asked, arm, addresses, values)
    given = places[len(asked.joints) :]
    signed = [is_of_a_tensor(q) or may_be_negative(q) for q in asked.quantities]
    kind = kind_of(arm)
    rigid = np.array([kind.may_be_rigid(q) for q in asked.quantities], bool)[:, None]
    # a stiffness of 0 has another number of modes
    least = np.array([q.spring or not kind.may_be_zero(q) for q in asked.quantities], bool)
    holds = np.where(least[:, None], given > 0.0, given >= 0.0) & (rigid | np.isfinite(given))
    holds |= np.array(signed, bool)[:, None] & np.isfinite(given)
    return places[:, valid & holds.all(axis=0) & possible_tensors(asked, arm, given)]


def possible_tensors(asked: Varied, arm: AnyArm, given: np.ndarray) -> np.ndarray:
    """Whether the values (values, cells) beside angles make inertia tensors that bodies have, of each cell."""
    return kind_of(arm).possible_tensors(asked, given)


def as_in_the_table(
    asked: Varied, arm: AnyArm, values: np.ndarray, places: np.ndarray
) -> np.ndarray:
    """Whether the values (addresses, cells) beside angles, with these places, are some that a table may have."""
    found = possible_tensors(asked, arm, places[len(asked.joints) :])
    for tie in asked.ties:
        found &= is_tied(tie, values)
    return found


def placed(
    asked: Varied, arm: AnyArm, addresses: Sequence[str], values: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Places of cells, and those whose angles are possible."""
    angles = postures(arm, addresses, values)
    places = np.concatenate([angles[list(asked.joints)], values[list(asked.rows)]])
    return places, ANGLE.holds(angles).all(axis=0)
