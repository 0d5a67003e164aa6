"""Changes of the numbers of links in space: sums of products of values, sines and versed sines.

The numbers of a link are linear in sine and versed sine of its joint angle and of the angle between joint and link, in
each offset, in masses and inertias. They are quadratic in a body's place and cubic in the length of a rigid link. So
the links of some samples, which the library reduces in double-double, determine the links for all values.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from jaxmodal.arithmetic.operations import Arithmetic, Number, number, sin_cos
from jaxmodal.arm.parameters import set_parameters
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.parts.bodies import RigidBody
from jaxmodal.spatial.parts.geometry import Position
from jaxmodal.spatial.parts.links import SpatialLink
from sweeps.explorer.solver.spatial_bodies import CENTRES, MOMENTS, NONE, by_centre, less

#: rounding error in double-double, relative to the largest number of the link; smaller changes are zero
_NOTHING = 1e-27
#: angles at which links are reduced, and the functions of the angle in which numbers are linear
_ANGLES = 0.0, 0.5 * np.pi, np.pi
_TURNED = "", "sine", "versed"
#: indices, among the numbers of a link, of its offset from the link before
_OFFSET = range(9, 12)
#: field of the single rotation between a joint and its link
FRAME = "joint_frame1.angle"
_BASE, _END = ([f"{name}.{axis}" for axis in "xyz"] for name in ("base_offset", "end_offset"))
_KINDS = (*SpatialLink.bodies, "payload")

#: numbers of a link as exact fractions
Numbers = Sequence[Fraction]
#: a product of values, and the numbers that it changes: index and coefficient (as a double-double pair) of each
Term = list[Any]


def _posture(joint: int, frame: int, offset: int) -> str:
    return f"posture {joint} {frame} {offset}"


#: values of the samples, by name; the difference of two samples is the effect of their values
SAMPLES: dict[str, dict[str, float]] = {
    **{
        _posture(joint, frame, offset): {
            **({"joint_angle": _ANGLES[joint]} if joint else {}),
            **({FRAME: _ANGLES[frame]} if frame else {}),
            **({_BASE[offset - 1]: 1.0} if offset else {}),
        }
        for joint, frame, offset in itertools.product(range(3), range(3), range(4))
    },
    **{name: {name: 1.0} for name in _END},
    **{f"length {k}": {"length": float(k)} for k in (1, 2, 3)},
    **{
        f"{kind}.{field}": {f"{kind}.{field}": 1.0}
        for kind in _KINDS
        for field in ("mass", *(f"inertia.{moment}" for moment in MOMENTS))
    },
    **{
        f"{kind}.mass at {place}": {f"{kind}.mass": 1.0}
        | {f"{kind}.centre.{axis}": x for axis, x in zip("xyz", place, strict=True) if x}
        for kind in _KINDS
        for place in CENTRES
    },
}
FIRST = _posture(0, 0, 0)


def offsets_of(arm: SpatialArm) -> list[str]:
    """Return the addresses of offsets, except those that are positions of prismatic joints."""
    slides = {f"link{k}.{arm.position_of(k)}" for k in arm.joints}
    there = set(arm.addresses())
    names = (f"link{k}.{field}" for k in range(1, len(arm.links) + 1) for field in (*_BASE, *_END))
    return [name for name in names if name in there and name not in slides]


def frames_of(arm: SpatialArm) -> list[str]:
    """Return the addresses of rotations between joints and links, for links with exactly one."""
    return [
        f"link{k}.{FRAME}"
        for k, link in enumerate(arm.links, start=1)
        if len(link.joint_frame) == 1
    ]


def bars_of(arm: SpatialArm) -> list[str]:
    """Return the addresses of the lengths of rigid links."""
    return [f"link{k}.length" for k, link in enumerate(arm.links, start=1) if link.rigid]


def bare(arm: SpatialArm) -> SpatialArm:
    """Return the arm without supports, and with explicit centres of all bodies, so that these can be set."""

    def centred(body: RigidBody | None) -> RigidBody | None:
        return body and body.replace(centre=body.centre or Position())

    links = [
        link.replace(supports=(), **{kind: centred(getattr(link, kind)) for kind in link.bodies})
        for link in arm.links
    ]
    found: SpatialArm = arm.replace(links=tuple(links), payload=centred(arm.payload))
    return found


def field_of(name: str) -> str:
    """Return the part of an address after its link."""
    return name.partition(".")[2] if name.startswith("link") else name


def keys_of(names: Collection[str]) -> dict[str, dict[str, float]]:
    """Return the entries of `SAMPLES` whose values this arm has."""
    fields = {field_of(name) for name in names}
    return {key: given for key, given in SAMPLES.items() if given.keys() <= fields}


def sampled(
    arm: SpatialArm, names: Sequence[str], samples: Collection[Mapping[str, float]]
) -> SpatialArm:
    """Return the arm with a column of values, one per sample; a value that a sample does not give is 0.

    Stiffnesses that a sample does not give are 1, so that all possible springs exist.
    """
    values = {}
    for name in names:
        field = field_of(name)
        usual = 1.0 if field.endswith("stiffness") else 0.0
        column = np.array([given.get(field, usual) for given in samples])
        values[name] = usual if np.all(column == usual) else column
    return set_parameters(arm, values)


class Terms:
    """Changes of the numbers of one link, from ``samples`` by key and the indices of values by address."""

    def __init__(self, samples: Mapping[str, Numbers], places: Mapping[str, int]) -> None:
        self.samples, self.places, self.first = samples, places, samples[FIRST]
        self.found: list[Term] = []
        self._largest = _size(self.first)

    def _add(self, factors: list[Any], by: Numbers, size: float) -> None:
        """Add changes above the rounding error of the largest number, here or of a size beside, as double-doubles."""
        least = _NOTHING * max(1.0, self._largest, size)
        changes = [
            [k, *_pair(x)] for k, x in enumerate(by) if x is not NONE and abs(float(x)) > least
        ]
        if changes:
            self.found.append([factors, changes])

    def posture(self, link: str) -> None:
        """Add changes by the joint angle, the rotation between joint and link, and the offset from the joint."""
        joint, frame = (self.places.get(f"{link}.{x}") for x in ("joint_angle", FRAME))
        offsets = [self.places.get(f"{link}.{x}") for x in _BASE]
        turns = [range(3) if place is not None else range(1) for place in (joint, frame)]
        shifts = [0, *(k for k, place in enumerate(offsets, start=1) if place is not None)]
        found: dict[tuple[int, ...], Numbers] = {
            place: self.samples[_posture(*place)] for place in itertools.product(*turns, shifts)
        }
        for axis, angles in enumerate(turns):
            if len(angles) > 1:
                found = _by_sines(found, axis)
        for (a, b, shift), row in found.items():
            by = row if shift == 0 else _less(row, found[a, b, 0])
            factors: list[Any] = []
            for turn, place in ((a, joint), (b, frame)):
                if turn:
                    factors.append({_TURNED[turn]: place})
            if shift:
                factors.append(offsets[shift - 1])
            if factors:
                self._add(factors, by, _size(row))

    def link_before(self, link: str) -> None:
        """Add changes by the tip offset of the link before, and by its length if it is rigid."""
        for field, key in [*zip(_END, _END, strict=True), ("length", "length 1")]:
            place = self.places.get(f"{link}.{field}")
            if place is not None and key in self.samples:
                row = self.samples[key]
                by = [x if k in _OFFSET else NONE for k, x in enumerate(_less(row, self.first))]
                self._add([place], by, _size(row))

    def bar(self, link: str) -> None:
        """Add changes of the mass properties of a rigid link by its length, its square and its cube."""
        place = self.places[f"{link}.length"]
        one, two, three = (_less(self.samples[f"length {k}"], self.first) for k in (1, 2, 3))
        cube = [(c - 3 * b + 3 * a) / 6 for a, b, c in zip(one, two, three, strict=True)]
        square = [(b - 2 * a - 6 * p) / 2 for a, b, p in zip(one, two, cube, strict=True)]
        linear = [a - q - p for a, q, p in zip(one, square, cube, strict=True)]
        size = max(map(_size, (one, two, three)))
        for power, row in enumerate((linear, square, cube), start=1):
            by = [NONE if k in _OFFSET else x for k, x in enumerate(row)]
            self._add([place] * power, by, size)

    def bodies(self, owner: int, rigid: bool) -> None:
        """Add changes by masses, centres and inertias of the link's bodies, the next link's stator and the payload."""
        for kind in _KINDS:
            body = kind if kind == "payload" else f"link{owner + (kind == 'stator')}.{kind}"
            for moment in MOMENTS:
                place = self.places.get(f"{body}.inertia.{moment}")
                if place is not None:
                    row = self.samples[f"{kind}.inertia.{moment}"]
                    self._add([place], _less(row, self.first), _size(row))
            mass = self.places.get(f"{body}.mass")
            if mass is None:
                continue
            at_rest = self.samples[f"{kind}.mass"]
            size = _size(at_rest)
            self._add([mass], _less(at_rest, self.first), size)
            away = self._away(body, f"link{owner}", kind == "hub", rigid)
            others = {place: self.samples[f"{kind}.mass at {place}"] for place in CENTRES}
            for axes, by in by_centre(at_rest, others):
                if all(away[axis] for axis in axes):
                    self._add([mass, *(_sum(away[axis]) for axis in axes)], by, size)

    def _away(self, body: str, link: str, at_joint: bool, rigid: bool) -> dict[str, list[Any]]:
        """Return, per axis, the values and signs whose sum is the place of a body relative to the end of its link."""
        found = {}
        for axis, base, end in zip("xyz", _BASE, _END, strict=True):
            given = [(f"{body}.centre.{axis}", 1)]
            given.append((f"{link}.{base}", -1) if at_joint else (f"{link}.{end}", 1))
            if rigid and axis == "x" and not at_joint:
                given.append((f"{link}.length", 1))
            found[axis] = [[self.places[name], sign] for name, sign in given if name in self.places]
        return found


def _sum(parts: list[Any]) -> Any:
    return parts[0][0] if len(parts) == 1 and parts[0][1] == 1 else {"sum": parts}


def exact_cells(x: Number, cells: int) -> list[Fraction]:
    """Return the double-double numbers of all cells as exact fractions; equal ones are one object."""
    parts = (np.broadcast_to(np.ravel(part), cells).tolist() for part in (x.hi, x.lo))
    both = list(zip(*parts, strict=True))
    known = {pair: _exact(*pair) for pair in set(both)}
    return [known[pair] for pair in both]


def _exact(high: float, low: float) -> Fraction:
    """Return a double-double number as an exact fraction."""
    return Fraction(high) + Fraction(low) if low else Fraction(high)


def _pair(x: Fraction) -> tuple[float, float]:
    high = float(x)
    return high, float(x - Fraction(high))


def pairs(values: Numbers) -> list[list[float]]:
    """Return the leading parts of all numbers, and the trailing parts."""
    return [list(x) for x in zip(*map(_pair, values), strict=True)]


def _size(row: Numbers) -> float:
    """Return the largest absolute value of numbers, to double precision."""
    return max(map(abs, map(float, row)))


def _less(row: Numbers, other: Numbers) -> Numbers:
    return list(map(less, row, other))


def _by_sines(rows: Mapping[tuple[int, ...], Numbers], axis: int) -> dict[tuple[int, ...], Numbers]:
    """Return the rows at angle 0 of one turn, and their changes per unit of its sine and of its versed sine."""
    (s1, v1), (s2, v2) = (_sines(angle) for angle in _ANGLES[1:])
    determinant = s1 * v2 - s2 * v1
    found = {place: row for place, row in rows.items() if place[axis] == 0}
    for place, row in list(found.items()):
        x, y = (_less(rows[*place[:axis], k, *place[axis + 1 :]], row) for k in (1, 2))
        still = [a is NONE and b is NONE for a, b in zip(x, y, strict=True)]
        columns = list(zip(still, x, y, strict=True))
        for k, (p, q) in ((1, (v2, -v1)), (2, (-s2, s1))):
            by = [NONE if rest else (a * p + b * q) / determinant for rest, a, b in columns]
            found[*place[:axis], k, *place[axis + 1 :]] = by
    return found


@functools.cache
def _sines(angle: float) -> tuple[Fraction, Fraction]:
    """Return sine and versed sine of an angle from the half angle, as the library computes them."""
    ((sine, cosine, _),) = sin_cos(number(np.array([0.5 * angle]), Arithmetic.double_double))
    one, versed = (exact_cells(x, 1)[0] for x in (sine * cosine * 2.0, sine * sine * 2.0))
    return one, versed
