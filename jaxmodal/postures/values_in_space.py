"""Values of an arm in space, beside its angles, in which its determinant is a polynomial of low degree.

A mass adds to the dynamic stiffness of its point in three directions, whatever is seen from its centre, a moment of
inertia or a rotor in one, a component of an inertia tensor beside the diagonal in two; a spring gives way in one, and
so does a direction of a base that is coupled with no other. So D is of degree 3 in a mass, 2 in such a component, and 1
in a moment, a rotor and the compliance of a spring. The turn of a rotor is linear in its gear ratio, and its energy the
square of that: degree 2. Values that are set together add up their degrees, those of one body to less (`tied_values`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from jaxmodal.arm.validity import valid_cells
from jaxmodal.dynamic_stiffness.beams import theory_flags
from jaxmodal.postures.polynomial_values import Quantity, gives_alone, together, usual_gear
from jaxmodal.postures.tied_values import OF_MASS, is_mass
from jaxmodal.postures.value_nodes import shares_of_range
from jaxmodal.postures.value_ranges import Ranges
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.statics.link_parts import ROTOR

#: the degree of D in a value, by its address
_BODY = r"(?:payload|link\d+\.(?:body|hub|stator))\."
_SPRING = re.compile(r"link\d+\.(?:joint_stiffness|joint_spring\d+\.stiffness)", re.ASCII)
_BASE = re.compile(r"base_stiffness\.k([1-6])\1", re.ASCII)
_SUPPORT = re.compile(r"link(\d+)\.support(\d+)\.stiffness", re.ASCII)
_GEAR = re.compile(rf"link(\d+)\.{ROTOR[1]}", re.ASCII)
_DEGREES = {
    re.compile(_BODY + "mass", re.ASCII): OF_MASS,
    re.compile(_BODY + "inertia\\.(?:xy|yz|xz)", re.ASCII): 2,
    re.compile(_BODY + "inertia\\.(?:xx|yy|zz)", re.ASCII): 1,
    re.compile(rf"link\d+\.{ROTOR[0]}", re.ASCII): 1,
    _GEAR: 2,
    _SUPPORT: 1,
    _SPRING: 1,
    _BASE: 1,
}


def quantity_in_space(arm: SpatialArm, address: str, singles: Sequence[str]) -> Quantity | None:
    """Return the quantity at an address, of one value or several, if D is a polynomial in it, else None."""
    each = [_single(arm, single) for single in singles]
    alike = {(x.spring, bool(_GEAR.fullmatch(x.address))) for x in each if x is not None}
    if None in each or len(alike) > 1:
        return None
    if len(each) == 1:
        return each[0]
    _, geared = alike.pop()
    return None if geared else together(address, each)


def _single(arm: SpatialArm, single: str) -> Quantity | None:
    for pattern, degree in _DEGREES.items():
        named = pattern.fullmatch(single)
        if named is None:
            continue
        if pattern is _BASE and not gives_alone(arm, int(named[1]) - 1):
            return None
        # the rotor of a held motor turns with the link that carries it, whatever its gear
        held = pattern is _GEAR and arm.links[int(named[1]) - 1].motor == "held"
        return Quantity(single, 0 if held else degree, pattern in (_SPRING, _BASE))
    return None


def is_of_a_tensor(quantity: Quantity) -> bool:
    """Whether a value belongs to an inertia tensor, which not every set of numbers is."""
    return ".inertia." in quantity.address


def is_of_a_support(quantity: Quantity) -> bool:
    """Whether a value is the stiffness of a support, in which D is a polynomial itself; it may be 0 and not inf."""
    return bool(_SUPPORT.fullmatch(quantity.addresses[0]))


def may_be_rigid(quantity: Quantity) -> bool:
    """Whether inf is a value of a quantity: that of a joint's spring, not of a base in space."""
    return quantity.spring and not quantity.address.startswith("base_stiffness.")


def usual_in_space(arm: SpatialArm, quantities: Sequence[Quantity]) -> list[float]:
    """A value of each quantity with which a body weighs as much as a link, or a spring is as stiff."""
    s = arm.model_of_cells(theory_flags("euler_bernoulli")).sections
    assert s is not None, "an arm of rigid links alone has no series"
    mass, length = _usual_mass(arm, quantities), float(np.mean(s.length))
    stiffness = float(np.mean(s.youngs_modulus * s.second_moment_z / s.length))

    def of(quantity: Quantity) -> float:
        if _GEAR.fullmatch(quantity.address):
            link = arm.links[int(quantity.address.removeprefix("link").partition(".")[0]) - 1]
            inertia = np.array(mass * length**2)
            return float(usual_gear(inertia, np.asarray(link.rotor_inertia or 0.0)))
        if named := _SUPPORT.fullmatch(quantity.addresses[0]):
            kind = arm.links[int(named[1]) - 1].supports[int(named[2]) - 1].kind
            return stiffness if kind == "rotation" else stiffness / length**2
        if quantity.spring:
            return stiffness
        return mass if is_mass(quantity.addresses[0]) else mass * length**2

    return [of(quantity) for quantity in quantities]


def _usual_mass(arm: SpatialArm, quantities: Sequence[Quantity]) -> float:
    """Of a link with what it bears, without the masses that vary."""
    links = float(sum(link.mass for link in arm.links))
    varying = [address for q in quantities for address in q.addresses if is_mass(address)]
    bodies = sum(float(arm.value_at(address)) for address in varying)
    return max(links, float(arm.total_mass) - bodies) / arm.num_links


def shares_of(arm: SpatialArm, quantities: Sequence[Quantity], ranges: Ranges) -> list[np.ndarray]:
    """Of each quantity shares of its range that determine a polynomial."""
    found = []
    usual = usual_in_space(arm, quantities)
    for number, (quantity, one) in enumerate(zip(quantities, usual, strict=True)):
        size = 1.0 / one if quantity.spring else one
        # moments bound the components beside the diagonal
        given = ranges.ends(number), size, quantity.degree, is_of_a_tensor(quantity)
        found.append(shares_of_range(*given))
    return found


def impossible_tensors(
    arm: SpatialArm, quantities: Sequence[Quantity], values: np.ndarray
) -> np.ndarray:
    """Cells of ``values`` (quantities, cells) with a tensor that no body has, (cells,)."""
    columns: dict[str, np.ndarray] = {}
    for quantity, x in zip(quantities, values, strict=True):
        if any(".inertia." in address for address in quantity.addresses):
            columns |= quantity.columns(x)
    if not columns:
        return np.zeros(values.shape[1], bool)
    with np.errstate(all="ignore"):
        return ~valid_cells(arm.with_values(columns), values.shape[1])
