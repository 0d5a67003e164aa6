"""Values beside the joint angles in which the determinant of an arm in the plane is a polynomial of low degree.

A body of mass m adds ``-omega^2 m`` to the dynamic stiffness of its point in two directions, an inertia in one, a
rotor or a spring in one: the determinant is of degree 2 in a mass, and of degree 1 in an inertia and in the compliance
of a spring, whatever else varies. A value x of any size is taken as ``s = x/(x + middle)``, 0 <= s <= 1. Over
``(1 + x/middle)^degree`` of a mass or an inertia, and over ``1 + middle/x`` of a stiffness, D is a polynomial in s of
the same degree: neither a heavy body nor a rigid joint makes it large.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxmodal.arm.addresses import Addressed, resolve_address
from jaxmodal.arm.arm import Arm
from jaxmodal.arm.parameters import set_parameters
from jaxmodal.dynamic_stiffness.beams import TheoryName, prepared_values
from jaxmodal.postures.terms import IN_THE_PLANE, Terms
from jaxmodal.runtime.errors import ArmError
from jaxmodal.runtime.namespace import Array, to_host, xp
from jaxmodal.statics.beam_arrays import SPRINGS, BeamArrays
from jaxmodal.statics.laws import line_mass

#: the degree of D in a value, by the end of its address
_MASSES = {"mass": 2, "tip_mass": 2, "hub_mass": 2, "stator_mass": 2}
_INERTIAS = {
    "inertia": 1,
    "tip_inertia": 1,
    "hub_inertia": 1,
    "stator_inertia": 1,
    "rotor_inertia": 1,
}
_DEGREES = _MASSES | _INERTIAS | dict.fromkeys(SPRINGS, 1)
_ADDRESS = re.compile(r"(?:payload|link\d+)\.(\w+)", re.ASCII)
#: what such values may change of an arm that is its own mirror image
_MOVED = {
    "tip_mass",
    "tip_inertia",
    "tip_moment_x",
    "tip_moment_y",
    "hub_mass",
    "hub_inertia",
    "rotor_inertia",
    *SPRINGS,
}
#: a range is at least so wide on both sides of its values
_WIDER = 1e-3
#: how far beyond the heaviest body or below the softest spring the middle of a range may lie
_BEYOND = 3.0


class Quantity(NamedTuple):
    """A value at an address, the degree of D in it, and whether it is a stiffness."""

    address: str
    degree: int
    spring: bool


def quantity_of(arm: Arm | Addressed, address: str) -> Quantity | None:
    """What is at an address of one value of which D is a polynomial, or None."""
    singles = resolve_address(arm, address)
    named = _ADDRESS.fullmatch(singles[0])
    if len(singles) > 1 or named is None or named[1] not in _DEGREES:
        return None
    return Quantity(singles[0], _DEGREES[named[1]], named[1] in SPRINGS)


class Varied(NamedTuple):
    """What a batch varies: which joints turn, and which values, with the places of their addresses; each once."""

    joints: tuple[int, ...]
    quantities: tuple[Quantity, ...]
    rows: tuple[int, ...]


class Ranges(NamedTuple):
    """Where values lie, each of shape (values,): the middle of each, and the least and the largest ``s`` of it."""

    middle: Array
    low: Array
    high: Array

    @classmethod
    def of(
        cls, values: np.ndarray, quantities: Sequence[Quantity], usual: Sequence[float]
    ) -> Ranges:
        """Of some values (values, samples) of quantities, positive or 0, or inf.

        The middle is what is ``usual`` for the arm, moved into the range or a little beyond where the value matters
        least: so D is about as large over all of it.
        """
        rows = []
        for row, quantity, middle in zip(values, quantities, usual, strict=True):
            some = row[(row > 0.0) & np.isfinite(row)]
            if some.size:
                least, largest = some.min(), some.max()
                ends = (least / _BEYOND, largest) if quantity.spring else (least, _BEYOND * largest)
                middle = np.clip(middle, *ends)
            low, high = share(row.min(), middle), share(row.max(), middle)
            # a stiffness of 0 has another number of modes, and no range begins there
            rows.append([middle, max(low - _WIDER, 0.5 * low), min(high + _WIDER, 1.0)])
        return cls(*np.array(rows).T)

    def scaled(self, values: Array) -> Array:
        """Values (values, ...) as -1 to 1 over their ranges."""
        middle, low, high = (x.reshape(-1, *(1,) * (values.ndim - 1)) for x in self)
        return (2.0 * share(values, middle) - (low + high)) / (high - low)

    def values(self, scaled: np.ndarray) -> np.ndarray:
        """What `scaled` was made from, (values, cells)."""
        middle, low, high = (np.asarray(x)[:, None] for x in self)
        s = np.clip(0.5 * (low + high) + 0.5 * (high - low) * scaled, 0.0, 1.0)
        with np.errstate(divide="ignore"):
            return np.asarray(middle * (s / (1.0 - s)))

    def factor(self, quantities: Sequence[Quantity], values: np.ndarray) -> np.ndarray:
        """What the determinant with values (values, cells) is multiplied by to be a polynomial in ``s``; (cells,)."""
        found = np.ones(values.shape[1])
        for quantity, middle, value in zip(quantities, self.middle, values, strict=True):
            s = share(value, middle)
            found = found * (s if quantity.spring else middle / (value + middle)) ** quantity.degree
        return found


def share(value: Array, middle: Array) -> Array:
    """``s = x/(x + middle)``, 1 for inf."""
    infinite = xp.isinf(value)
    return xp.where(infinite, 1.0, xp.where(infinite, 1.0, value) / (value + middle))


def scaled(ranges: Ranges | None, places: Array) -> Array:
    """Places of cells, angles first, with values as -1 to 1 over their ranges."""
    if ranges is None:
        return places
    angles = places.shape[0] - ranges.middle.shape[0]
    return xp.concatenate([places[:angles], ranges.scaled(places[angles:])])


def unscaled(ranges: Ranges | None, places: np.ndarray) -> np.ndarray:
    """What `scaled` was made from."""
    if ranges is None:
        return places
    angles = places.shape[0] - ranges.middle.shape[0]
    return np.concatenate([places[:angles], ranges.values(places[angles:])])


def within(ranges: Ranges | None, places: Array) -> Array:
    """Which cells have all values in their ranges; those of angles alone have."""
    if ranges is None:
        return xp.ones(places.shape[1:], bool)
    values = places[places.shape[0] - ranges.middle.shape[0] :]
    # negative values are no such s
    return xp.all((values >= 0.0) & (xp.abs(ranges.scaled(values)) <= 1.0), axis=0)


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
    shares : Array, shape (entries,)
        An entry of a field is its own number and this share of a value, for each value that is in it.
    entries : tuple of (str, int, int)
        Field, link, and number of the value.
    """

    beams: BeamArrays
    joints: tuple[int, ...] = dataclasses.field(metadata={"static": True})
    terms: Terms = dataclasses.field(metadata={"static": True})
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
        changed: dict[str, Any] = {name: xp.stack(rows) for name, rows in fields.items()}
        return dataclasses.replace(self.beams, **changed), angles


def varying(
    arm: Arm, joints: Sequence[int], quantities: Sequence[Quantity], theory: TheoryName
) -> VaryingBeams | None:
    """An arm some of whose joints turn and some of whose values vary.

    None where these change what no polynomial is known for, or where the arm may not be without them.
    """
    nothing = dict.fromkeys((q.address for q in quantities), 0.0)

    def fields(values: Mapping[str, float]) -> BeamArrays:
        found: BeamArrays = to_host(prepared_values(set_parameters(arm, values), theory)[0])
        return found

    try:
        beams = fields(nothing)
        with_one = [fields(nothing | {q.address: 1.0}) for q in quantities]
    except ArmError:
        return None
    shares, entries = list[float](), list[tuple[str, int, int]]()
    for number, other in enumerate(with_one):
        for field in dataclasses.fields(BeamArrays):
            before, after = (getattr(x, field.name) for x in (beams, other))
            if field.name == "has_shear" or before is None:
                continue
            links = np.flatnonzero(after != before)
            if links.size and field.name not in _MOVED:
                return None
            shares += (after[links] - before[links]).tolist()
            entries += [(field.name, int(link), number) for link in links]
    turning = tuple(joints)
    # the mirror image has all angles of the other sign
    mirrored = len(turning) == arm.num_links - 1 and all(map(is_mirrored, [beams, *with_one]))
    terms = Terms(IN_THE_PLANE.degree, mirrored, tuple(q.degree for q in quantities))
    return VaryingBeams(beams, turning, terms, np.array(shares), tuple(entries))


def usual(beams: BeamArrays, quantities: Sequence[Quantity]) -> list[float]:
    """A value of each quantity with which a body weighs as much as a link, or a spring is as stiff."""
    mass = line_mass(beams) * beams.length
    inertia = mass * beams.length**2 / 3.0
    turning = beams.youngs_modulus * beams.second_moment / beams.length
    across = turning / beams.length**2
    sizes = {2: mass, 1: inertia}
    found = []
    for address, degree, spring in quantities:
        size = (turning if address.endswith(SPRINGS[2]) else across) if spring else sizes[degree]
        found.append(float(np.mean(size)))
    return found


def is_mirrored(beams: BeamArrays) -> bool:
    """Whether the mirror image of an arm in the opposite posture is the arm itself: nothing is beside an axis."""
    aside = (beams.base_offset_y, beams.end_offset_y, beams.tip_moment_y)
    return all(x is None or not np.any(np.asarray(x)) for x in aside)
