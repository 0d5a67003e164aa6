"""Values of an arm in space, beside its angles, in which its determinant is a polynomial of low degree.

A mass adds to the dynamic stiffness of its point in three directions, whatever is seen from its centre, a moment of
inertia or a rotor in one, a component of an inertia tensor beside the diagonal in two; a spring gives way in one, and
so does a direction of a base that is coupled with no other. So D is of degree 3 in a mass, 2 in such a component, and 1
in a moment, a rotor and the compliance of a spring. The turn of a rotor is linear in its gear ratio, and its energy the
square of that: degree 2.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from jaxmodal.arm.validity import valid_cells
from jaxmodal.dynamic_stiffness.beams import theory_flags
from jaxmodal.postures.polynomial_values import Quantity, Ranges, gives_alone
from jaxmodal.postures.value_nodes import even_shares, wide_shares
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.statics.link_parts import ROTOR

#: the degree of D in a value, by its address
_BODY = r"(?:payload|link\d+\.(?:body|hub|stator))\."
_SPRING = re.compile(r"link\d+\.(?:joint_stiffness|joint_spring\d+\.stiffness)", re.ASCII)
_BASE = re.compile(r"base_stiffness\.k([1-6])\1", re.ASCII)
_GEAR = re.compile(rf"link(\d+)\.{ROTOR[1]}", re.ASCII)
_DEGREES = {
    re.compile(_BODY + "mass", re.ASCII): 3,
    re.compile(_BODY + "inertia\\.(?:xy|yz|xz)", re.ASCII): 2,
    re.compile(_BODY + "inertia\\.(?:xx|yy|zz)", re.ASCII): 1,
    re.compile(rf"link\d+\.{ROTOR[0]}", re.ASCII): 1,
    _GEAR: 2,
    _SPRING: 1,
    _BASE: 1,
}
#: masses up to so many times the usual one take four values, beyond that one of every decade and some more
_FAR = 8.0


def quantity_in_space(arm: SpatialArm, singles: Sequence[str]) -> Quantity | None:
    """Return the quantity at an address if D is a polynomial in it, else None."""
    for pattern, degree in _DEGREES.items():
        named = pattern.fullmatch(singles[0]) if len(singles) == 1 else None
        if named is None:
            continue
        if pattern is _BASE and not gives_alone(arm, int(named[1]) - 1):
            return None
        # the rotor of a held motor turns with the link that carries it, whatever its gear
        held = pattern is _GEAR and arm.links[int(named[1]) - 1].motor == "held"
        return Quantity(singles[0], 0 if held else degree, pattern in (_SPRING, _BASE))
    return None


def is_of_a_tensor(quantity: Quantity) -> bool:
    """Whether a value belongs to an inertia tensor, which not every set of numbers is."""
    return ".inertia." in quantity.address


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
            return 1.0
        if quantity.spring:
            return stiffness
        return mass if quantity.degree == 3 else mass * length**2

    return [of(quantity) for quantity in quantities]


def _usual_mass(arm: SpatialArm, quantities: Sequence[Quantity]) -> float:
    """Of a link with what it bears, without the masses that vary."""
    links = float(sum(link.mass for link in arm.links))
    varying = sum(float(arm.value_at(q.address)) for q in quantities if q.degree == 3)
    return max(links, float(arm.total_mass) - varying) / arm.num_links


def shares_of(arm: SpatialArm, quantities: Sequence[Quantity], ranges: Ranges) -> list[np.ndarray]:
    """Of each quantity shares of its range that determine a polynomial."""
    found, usual = [], _usual_mass(arm, quantities)
    for quantity, low, high in zip(quantities, ranges.low, ranges.high, strict=True):
        geared = bool(_GEAR.fullmatch(quantity.address)) and low >= 0.0
        if quantity.degree < 3 and not geared:
            found.append(np.linspace(0.0, 1.0, quantity.degree + 1))
        elif geared:
            found.append(even_shares(float(low), float(high), 1.0, quantity.degree))
        elif high < _FAR * usual:
            found.append(even_shares(float(low), float(high), usual, 3))
        else:
            found.append(wide_shares(float(low), float(high), usual))
    return found


def impossible_tensors(
    arm: SpatialArm, quantities: Sequence[Quantity], values: np.ndarray
) -> np.ndarray:
    """Cells of ``values`` (quantities, cells) with a tensor that no body has, (cells,)."""
    columns: Mapping[str, np.ndarray] = {
        q.address: x for q, x in zip(quantities, values, strict=True) if is_of_a_tensor(q)
    }
    if not columns:
        return np.zeros(values.shape[1], bool)
    with np.errstate(all="ignore"):
        return ~valid_cells(arm.with_values(columns), values.shape[1])
