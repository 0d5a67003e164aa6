"""Values beside the joint angles in which the determinant of an arm in the plane is a polynomial of low degree.

A body of mass m adds ``-omega^2 m`` to the dynamic stiffness of its point in two directions, an inertia in one, a
rotor or a spring in one: the determinant is of degree 2 in a mass, and of degree 1 in an inertia and in the compliance
of a spring, whatever else varies; a direction of an elastic base that is coupled with no other is such a spring. The
turn of a rotor is linear in its gear ratio, and its energy the square of that: degree 2. A support at a tip adds its
stiffness in one direction: degree 1 in that, which may be 0.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxmodal.arm.addresses import resolve_address
from jaxmodal.arm.arm import Arm
from jaxmodal.arm.descriptions import first_angle_matters
from jaxmodal.arm.parameters import set_parameters
from jaxmodal.arm.serial_arms import SerialArm
from jaxmodal.dynamic_stiffness.beams import TheoryName, prepared_values
from jaxmodal.postures.terms import IN_THE_PLANE, Terms
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import Array, to_host, xp
from jaxmodal.statics.beam_arrays import BASE, SPRINGS, SUPPORTS, BeamArrays
from jaxmodal.statics.laws import line_mass
from jaxmodal.statics.link_parts import ASIDE, HUB, ROTOR, STATOR, TIP

#: the highest degree of values that are set together, as of the springs of eight joints
MOST = 8
#: the degree of D in a value, by the end of its address
_BODIES = (HUB, STATOR, TIP[:2], ("mass", "inertia"))
_GEAR = ROTOR[1]
_DEGREES = {
    **dict.fromkeys((mass for mass, _ in _BODIES), 2),
    **dict.fromkeys((inertia for _, inertia in _BODIES), 1),
    ROTOR[0]: 1,
    _GEAR: 2,
    **dict.fromkeys((*SPRINGS, *SUPPORTS), 1),
}
_ADDRESS = re.compile(r"(?:payload|link(\d+))\.(\w+)", re.ASCII)
_BASE = re.compile(r"base_stiffness\.k([123])\1", re.ASCII)
#: stiffnesses against a turn, by the end of an address
_TURNING = (SPRINGS[2], SUPPORTS[2], "k33")
#: what such values may change of an arm that is its own mirror image
_MOVED = {*TIP, *HUB, *ROTOR, *SPRINGS, *BASE, *SUPPORTS}


class Part(NamedTuple):
    """What a value x sets at one of several addresses: ``start + slope x``."""

    address: str
    start: float
    slope: float


class Quantity(NamedTuple):
    """A value at an address, the degree of D in it, and whether it is a spring: then that is one in its compliance.

    ``parts`` are the addresses that it sets, by default its own alone.
    """

    address: str
    degree: int
    spring: bool
    parts: tuple[Part, ...] = ()

    @property
    def sets(self) -> tuple[Part, ...]:
        """What the value sets, of each single address."""
        return self.parts or (Part(self.address, 0.0, 1.0),)

    @property
    def addresses(self) -> tuple[str, ...]:
        """Single addresses that the value sets."""
        return tuple(part.address for part in self.sets)

    def columns(self, values: np.ndarray) -> dict[str, np.ndarray]:
        """Return what values (cells,) set, by single address."""
        as_it_is = 0.0, 1.0
        return {
            address: values if (start, slope) == as_it_is else start + slope * values
            for address, start, slope in self.sets
        }


class Tie(NamedTuple):
    """One value in place of several, and the rows of those among values; the first row is that of the value itself."""

    quantity: Quantity
    rows: tuple[int, ...]


def quantity_of(arm: SerialArm, address: str) -> Quantity | None:
    """Return the quantity at an address if D is a polynomial in it, else None."""
    singles = resolve_address(arm, address)
    base = _BASE.fullmatch(singles[0])
    if base is not None:
        return Quantity(singles[0], 1, True) if gives_alone(arm, int(base[1]) - 1) else None
    each = [_single(arm, single) for single in singles]
    return each[0] if len(each) == 1 else together(address, each)


def together(address: str, each: Sequence[Quantity | None]) -> Quantity | None:
    """One value that several quantities have, all springs or none: the degrees of D in them add up, to `MOST`."""
    known = [quantity for quantity in each if quantity is not None]
    degree = sum(quantity.degree for quantity in known)
    if len(known) < len(each) or len({q.spring for q in known}) > 1 or degree > MOST:
        return None
    parts = tuple(Part(quantity.address, 0.0, 1.0) for quantity in known)
    return Quantity(address, degree, known[0].spring, parts)


def _single(arm: SerialArm, address: str) -> Quantity | None:
    named = _ADDRESS.fullmatch(address)
    if named is None or named[2] not in _DEGREES:
        return None
    degree = _DEGREES[named[2]]
    # the rotor of a held motor turns with the link that carries it, whatever its gear
    if named[2] == _GEAR and arm.links[int(named[1]) - 1].motor == "held":
        degree = 0
    return Quantity(address, degree, named[2] in SPRINGS)


def gives_alone(arm: SerialArm, direction: int) -> bool:
    """Whether a direction of the base is coupled with no other: then D is a polynomial in its compliance."""
    row = arm.base_stiffness.rows()[direction]
    return not any(float(x) for k, x in enumerate(row) if k != direction)


def may_be_negative(quantity: Quantity) -> bool:
    """Whether a value of an arm in the plane may be less than 0: a gear that turns its rotor backwards."""
    return quantity.address.endswith("." + _GEAR)


class Varied(NamedTuple):
    """Joints and values that a batch varies, each once, with the places of their addresses.

    ``ties`` are values that are several rows.
    """

    joints: tuple[int, ...]
    quantities: tuple[Quantity, ...]
    rows: tuple[int, ...]
    ties: tuple[Tie, ...] = ()


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class VaryingBeams:
    """An arm in the plane, some of whose joints but the first turn, and some of whose values vary.

    Attributes
    ----------
    beams : BeamArrays
        The arm with each of these values as 0, fields (n,).
    joints : tuple of int
        The joints that turn, by their places.
    terms : Terms
        What D is made of at one frequency.
    leans : bool
        Whether it has supports, which stay where they are when it turns.
    shares : Array, shape (entries,)
        An entry of a field is its own number and this share of a value, for each value that is in it.
    entries : tuple of (str, int, int)
        Field, link, and number of the value.
    """

    beams: BeamArrays
    joints: tuple[int, ...] = dataclasses.field(metadata={"static": True})
    terms: Terms = dataclasses.field(metadata={"static": True})
    leans: bool = dataclasses.field(default=False, metadata={"static": True})
    shares: Any = ()
    entries: tuple[tuple[str, int, int], ...] = dataclasses.field(
        default=(), metadata={"static": True}
    )

    def at(self, places: Array) -> tuple[BeamArrays, Array]:
        """The arm with the values of cells, fields that they change (n, cells), and their angles (n - 1, cells)."""
        turned, values = places[: len(self.joints)], places[len(self.joints) :]
        own = xp.zeros(places.shape[1:])
        rows = [self.beams.joint_angle[i] + own for i in range(self.beams.length.shape[0])]
        for joint, row in zip(self.joints, turned, strict=True):
            rows[joint] = row
        angles = xp.stack(rows[1:]) if rows[1:] else places[:0]
        fields: dict[str, list[Array]] = {}
        for number, (name, link, value) in enumerate(self.entries):
            if name not in fields:
                fields[name] = [x + xp.zeros_like(values[0]) for x in getattr(self.beams, name)]
            fields[name][link] = fields[name][link] + self.shares[number] * values[value]
        changed: dict[str, Any] = {name: xp.stack(column) for name, column in fields.items()}
        if 0 in self.joints:
            changed["joint_angle"] = xp.stack(rows)
        if self.leans:
            changed["ground_angle"] = xp.cumsum(xp.stack(rows), axis=0)
        return dataclasses.replace(self.beams, **changed), angles


def varying(
    arm: Arm, joints: Sequence[int], quantities: Sequence[Quantity], theory: TheoryName
) -> VaryingBeams | None:
    """An arm some of whose joints turn and some of whose values vary.

    None where these change what no polynomial is known for, or where the arm may not be without them.
    """
    # springs as of stiffness 1: without some of them an arm may be loose
    nothing = {q.address: 1.0 if q.spring else 0.0 for q in quantities}

    def fields(values: Mapping[str, float]) -> BeamArrays:
        found: BeamArrays = to_host(prepared_values(set_parameters(arm, values), theory)[0])
        return found

    try:
        beams = fields(nothing)
        with_more = [fields(nothing | {q.address: nothing[q.address] + 1.0}) for q in quantities]
    except ArmError:
        return None
    shares, entries = list[float](), list[tuple[str, int, int]]()
    for number, other in enumerate(with_more):
        for field in dataclasses.fields(BeamArrays):
            before, after = (getattr(x, field.name) for x in (beams, other))
            if field.name == "has_shear" or before is None:
                continue
            links = np.flatnonzero(after != before)
            if links.size and field.name not in _MOVED:
                return None
            shares += (after[links] - before[links]).tolist()
            entries += [(field.name, int(link), number) for link in links]
    for (name, link, number), share in zip(entries, shares, strict=True):
        own = np.array(getattr(beams, name))
        own[link] -= share * nothing[quantities[number].address]
        without: dict[str, Any] = {name: own}
        beams = dataclasses.replace(beams, **without)
    terms = terms_of_beams([beams, *with_more], joints, quantities, first_angle_matters(arm))
    leans = bool(_tips([beams, *with_more], SUPPORTS).any())
    return VaryingBeams(beams, tuple(joints), terms, leans, np.array(shares), tuple(entries))


def terms_of_beams(
    every: Sequence[BeamArrays], joints: Sequence[int], quantities: Sequence[Quantity], first: bool
) -> Terms:
    """What D is made of, of an arm with some values or others; ``first`` where the angle of joint 1 changes it.

    A support stays where it is, so that a joint between it and the ground turns the arm against it. The springs along
    x and y at one tip are a further factor: of its motions along them one is replaced by the force there, which makes
    a product of two vectors, of weights up to 2. Both replaced, or none, are an area, which no rotation changes; nor
    does one change a motion or a moment about the tip. So such a tip adds 2 to the degree of each joint up to it.
    """
    held = _tips(every, SUPPORTS[:2])
    for quantity in quantities:
        for address in quantity.addresses:
            named = _ADDRESS.fullmatch(address)
            if named is not None and named[2] in SUPPORTS[:2]:
                held[int(named[1]) - 1] = True
    on_base = IN_THE_PLANE.degree if every[0].base_xx is not None else 0
    degrees = [
        (IN_THE_PLANE.degree if joint else on_base) + 2 * int(np.sum(held[joint:]))
        for joint in joints
    ]
    others = set(range(1, len(held))) <= set(joints)
    # the mirror image has all angles of the other sign
    ahead = not first or 0 in joints or not np.any(np.asarray(every[0].joint_angle)[0])
    mirrored = others and ahead and all(map(is_mirrored, every))
    degree = max(degrees, default=IN_THE_PLANE.degree)
    return Terms(degree, mirrored, tuple(q.degree for q in quantities))


def _tips(every: Sequence[BeamArrays], names: Sequence[str]) -> np.ndarray:
    """Of each tip whether some of these arms have a support of one of some kinds there."""
    found = np.zeros(len(every[0].length), bool)
    for beams in every:
        for x in (getattr(beams, name) for name in names):
            found |= False if x is None else np.asarray(x) != 0.0
    return found


def usual(beams: BeamArrays, quantities: Sequence[Quantity]) -> list[float]:
    """A value of each quantity with which a body weighs as much as a link, or a spring is as stiff."""
    mass = line_mass(beams) * beams.length
    inertia = mass * beams.length**2 / 3.0
    turning = beams.youngs_modulus * beams.second_moment / beams.length
    across = turning / beams.length**2
    found = []
    for quantity in quantities:
        name = quantity.address.rpartition(".")[2]
        if name == _GEAR:
            own = [int(x[1]) - 1 for x in map(_ADDRESS.fullmatch, quantity.addresses) if x]
            rotor = beams.rotor_inertia
            rotors = np.zeros(len(own)) if rotor is None else np.asarray(rotor)[own]
            size = usual_gear(np.asarray(np.mean(inertia)), rotors)
        elif quantity.spring or name in SUPPORTS:
            size = turning if name in _TURNING else across
        else:
            size = mass if _DEGREES[name] == 2 else inertia
        found.append(float(np.mean(size)))
    return found


def usual_gear(inertia: np.ndarray, rotor: np.ndarray) -> np.ndarray:
    """With which gears rotors weigh as much as links do; 1 where one has no inertia, as a rotor that varies."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((rotor > 0.0) & (inertia > 0.0), np.sqrt(inertia / rotor), 1.0)


def is_mirrored(beams: BeamArrays) -> bool:
    """Whether the mirror image of an arm in the opposite posture is the arm itself: nothing is beside an axis."""
    found = (getattr(beams, name) for name in (*ASIDE, "base_xy", "base_xr"))
    return all(x is None or not np.any(np.asarray(x)) for x in found)
