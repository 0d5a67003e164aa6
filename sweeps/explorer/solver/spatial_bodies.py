"""Bodies and elastic bases of arms in space for the page: how their values change the numbers of links.

The numbers of a link are quadratic polynomials in the centre of a body, times its mass. So the values at some centres
determine those at all centres.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from jaxmodal.arithmetic.operations import Number
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.stiffness.constants import base_factors

#: entries of the inertia of a body about its centre
MOMENTS = ("xx", "yy", "zz", "xy", "yz", "xz")
#: centres that, with (0, 0, 0), determine a quadratic polynomial of three coordinates
CENTRES = (
    *((1, 0, 0), (0, 1, 0), (0, 0, 1), (-1, 0, 0), (0, -1, 0), (0, 0, -1)),
    *((1, 1, 0), (1, 0, 1), (0, 1, 1)),
)

Place = tuple[int, int, int]

#: a change of nothing: this one object, since most numbers are moved by few values, and fractions are slow to subtract
NONE = Fraction(0)


def _bodies(arm: SpatialArm) -> list[str]:
    """Return the addresses of all bodies, the payload last."""
    found = [
        f"link{k}.{kind}"
        for k, link in enumerate(arm.links, start=1)
        for kind in link.bodies
        if getattr(link, kind) is not None
    ]
    return [*found, "payload"]


def moments_of(arm: SpatialArm) -> list[str]:
    """Return the addresses of the inertias of all bodies, the payload last."""
    there = set(arm.addresses())
    names = (f"{body}.inertia.{moment}" for body in _bodies(arm) for moment in MOMENTS)
    return [name for name in names if name in there]


def centres_of(arm: SpatialArm) -> list[str]:
    """Return the addresses of the centres of all bodies."""
    there = set(arm.addresses())
    names = (f"{body}.centre.{axis}" for body in _bodies(arm) for axis in "xyz")
    return [name for name in names if name in there]


def base_of(arm: SpatialArm) -> list[str]:
    """Return the addresses of the stiffness of the base: its upper triangle by rows; empty without an elastic base."""
    if arm.base_stiffness is None:
        return []
    return [f"base_stiffness.k{i}{j}" for i in range(1, 7) for j in range(i, 7)]


def base_formula(*entries: Number) -> list[Number]:
    """Return the springs of a base (direction, unit, compliance of each) from the upper triangle of its stiffness."""
    left = iter(entries)
    k: list[list[Number]] = [[entries[0]] * 6 for _ in range(6)]
    for i in range(6):
        for j in range(i, 6):
            k[i][j] = k[j][i] = next(left)
    rows, pivots = base_factors(k)
    one = pivots[0] * 0.0 + 1.0
    return [x for row, pivot in zip(rows, pivots, strict=True) for x in (*row, one, one / pivot)]


def by_centre(
    rest: Sequence[Fraction], at: Mapping[Place, Sequence[Fraction]]
) -> Iterator[tuple[str, list[Fraction]]]:
    """Yield the products of the centre's coordinates by name, with their coefficients, from numbers at `CENTRES`.

    Equal numbers at several centres are best one object, of which the coefficients are `NONE` at once.
    """
    unit = {axis: tuple(int(axis == x) for x in "xyz") for axis in "xyz"}
    half = Fraction(1, 2)
    linear, square = {}, {}
    for axis, (x, y, z) in unit.items():
        ahead, behind = at[x, y, z], at[-x, -y, -z]
        linear[axis] = [
            NONE if a is b else half * (a - b) for a, b in zip(ahead, behind, strict=True)
        ]
        square[axis] = [
            NONE if a is b is r else half * (a + b) - r
            for a, b, r in zip(ahead, behind, rest, strict=True)
        ]
        yield axis, linear[axis]
        yield 2 * axis, square[axis]
    for p, q in itertools.combinations("xyz", 2):
        x, y, z = (a + b for a, b in zip(unit[p], unit[q], strict=True))
        parts = zip(linear[p], linear[q], square[p], square[q], strict=True)
        yield (
            p + q,
            [
                less(less(both, r), sum((a for a in others if a is not NONE), NONE))
                for both, r, others in zip(at[x, y, z], rest, parts, strict=True)
            ],
        )


def less(number: Fraction, other: Fraction) -> Fraction:
    """Return the difference, `NONE` where both are one object or nothing is taken away."""
    if other is NONE:
        return number
    return NONE if number is other else number - other
