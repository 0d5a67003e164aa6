"""Determinant and count of many arms in space, entry by entry: what a compiler makes one loop of.

The same condensation as `condensation.evaluate`, over links that are all of one kind (`uniform_links`). A stiffness is
kept as its three blocks of displacements and turns.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxmodal.arithmetic.operations import keep, log, nonzero
from jaxmodal.dynamic_stiffness.beams import Theory, waves_at
from jaxmodal.dynamic_stiffness.evaluation import Evaluation
from jaxmodal.dynamic_stiffness.member import (
    FreeEndMember,
    clamped_count,
    free_end_member,
    member_functions,
)
from jaxmodal.runtime.namespace import Array, repeat, take_first, tree_on_host, xp
from jaxmodal.spatial.stiffness.transformations import PAIRS
from jaxmodal.spatial.stiffness.uniform_links import Body, Layout, UniformLink, unpacked

#: the 21 entries of a symmetric matrix of 6 x 6, by rows
_PLACES = [(i, j) for i in range(6) for j in range(i, 6)]
_AT = {place: k for k, place in enumerate(_PLACES)}
_X, _Y, _Z = range(3)


class Tally(NamedTuple):
    """Running sign and logarithm of the determinant, and the count."""

    sign: Array
    log_abs: Array
    count: Array


class Symmetric:
    """A symmetric matrix of 6 x 6 by its entries."""

    def __init__(self, entries: Sequence[Any]) -> None:
        self.entries = list(entries)

    def __getitem__(self, place: tuple[int, int]) -> Any:
        i, j = place
        return self.entries[_AT[(i, j) if i <= j else (j, i)]]

    def __setitem__(self, place: tuple[int, int], value: Any) -> None:
        i, j = place
        self.entries[_AT[(i, j) if i <= j else (j, i)]] = value

    def kept(self) -> Symmetric:
        """Entries that are computed once."""
        return Symmetric([keep(x) for x in self.entries])


def evaluate_lanes(
    packed: Array,
    layout: Layout,
    theory: Theory,
    omega: Array,
    turned_round: Array,
) -> Evaluation:
    """Sign, log-modulus of D and the count J at frequencies > 0 in rad/s.

    Parameters
    ----------
    packed : Array, shape (fields, links, ...)
        From `uniform_links.packed_links`; what follows broadcasts with ``omega``.
    layout : Layout
        What the fields are.
    omega : Array
        Any shape.
    turned_round : Array
        Whether the directions of elastic ends are released in the order (2, 1, 0) of `PAIRS`, not (0, 1, 2); it may be
        traced, and both are one program: the first and the last pair change places.
    """
    links = packed.shape[1]
    by_link = xp.swapaxes(packed, 0, 1)
    zero, one = xp.zeros_like(omega), xp.ones_like(omega)

    def step(i: Any, state: tuple[list[Array], Tally]) -> tuple[list[Array], Tally]:
        link = unpacked(take_first(by_link, links - 1 - i), layout)
        w, tally = _with_link(link, theory, omega, Symmetric(state[0]), state[1], turned_round)
        return w.entries, tally

    start = ([zero] * 21, Tally(one, zero, zero))
    _, tally = repeat(0, links, step, start, tree_on_host(omega, theory, packed))
    return Evaluation(tally.sign, tally.log_abs, tally.count.astype(np.int64), one)


def _with_link(
    link: UniformLink,
    theory: Theory,
    omega: Array,
    w: Symmetric,
    tally: Tally,
    turned_round: Array,
) -> tuple[Symmetric, Tally]:
    """One link added; what the link before feels at the outer end of its elastic part."""
    squared = omega * omega
    w = _less_body(w, link.outer, squared)
    planes = [_plane(link, k, theory, omega) for k in range(2)]
    members = [plane.member for plane in planes]
    count = planes[0].count + planes[1].count
    growth = planes[0].growth + planes[1].growth
    factor = members[0].delta * members[1].delta
    if link.flexible is not None:
        flexible = link.flexible > 0.0
        members = [_rigid_unless(flexible, m) for m in members]
        count, growth = xp.where(flexible, count, 0.0), xp.where(flexible, growth, 0.0)
        factor = xp.where(flexible, factor, 1.0)
    ends = [_receptance(place, members) for place in range(3)]
    first, last = (
        [xp.where(turned_round, x, y) for x, y in zip(*pair, strict=True)]
        for pair in ((ends[2], ends[0]), (ends[0], ends[2]))
    )
    w = _exchanged(w, turned_round)
    for pair, receptance in zip(PAIRS, (first, ends[1], last), strict=True):
        w, by, passed = _released(w, pair, receptance)
        factor, count = factor * by, count + passed
    w = _at_inner_end(_exchanged(w, turned_round).kept(), members)
    w = _less_body(w, link.inner, squared)
    for number, spring in enumerate(link.springs, start=1):
        unit = spring.unit
        rotor = link.rotor if number == len(link.springs) else []
        if rotor:
            relative, driven, carried = rotor[3:]
            w = _less_turning(w, rotor[:3], driven * squared)
            unit = unit - squared * (relative * spring.compliance)
        w, pivot = _through_spring(w, spring.direction, unit, spring.compliance)
        if rotor:
            w = _less_turning(w, rotor[:3], carried * squared)
        factor, count = factor * pivot, count + (pivot < 0.0).astype(count.dtype)
    w = _shifted(_turned(w, link.rotation), link.offset).kept()
    return w, Tally(
        tally.sign * xp.sign(factor),
        tally.log_abs + (log(xp.abs(factor)) + growth),
        tally.count + count,
    )


class _Plane(NamedTuple):
    member: FreeEndMember
    count: Array
    growth: Array


def _plane(link: UniformLink, number: int, theory: Theory, omega: Array) -> _Plane:
    """The member of one plane; in the second torsion takes the place of stretching."""
    w = waves_at(link.planes[number], omega)
    functions, turns = member_functions(w)
    axial = theory.axial if number == 0 else xp.ones_like(theory.axial)
    member, tests = free_end_member(w, functions, link.length, axial)
    growth = xp.where(w.z1 > 0.0, w.alpha, 0.0)
    return _Plane(member, clamped_count(tests, turns, axial), growth)


def _rigid_unless(flexible: Array, m: FreeEndMember) -> FreeEndMember:
    one = {"h_uu", "h_vv", "h_pp", "delta"}
    return FreeEndMember(
        **{
            name: xp.where(flexible, x, 1.0 if name in one else 0.0)
            for name, x in m._asdict().items()
        }
    )


def _receptance(place: int, members: Sequence[FreeEndMember]) -> list[Any]:
    """R of a pair of directions, (11, 12, 22), and its determinant."""
    if place == 0:
        first, second = members[0].r_uu, members[1].r_uu
        return [first, 0.0 * first, second, first * second]
    m = members[place - 1]
    return [m.r_vv, m.r_vp if place == 1 else -m.r_vp, m.r_pp, m.det_r_flex]


def _exchanged(w: Symmetric, chosen: Array) -> Symmetric:
    """With the directions of the first and the last pair in each other's place, where ``chosen``."""
    to = dict(zip((*PAIRS[0], *PAIRS[2]), (*PAIRS[2], *PAIRS[0]), strict=True))
    moved = [w[to.get(i, i), to.get(j, j)] for i, j in _PLACES]
    return Symmetric([xp.where(chosen, x, y) for x, y in zip(moved, w.entries, strict=True)])


def _released(
    w: Symmetric, pair: tuple[int, int], receptance: Sequence[Any]
) -> tuple[Symmetric, Array, Array]:
    """As `transformations.released`: the stiffness, the factor and the count."""
    p, q = pair
    r11, r12, r22, determinant = receptance
    a, b, c = w[p, p], w[p, q], w[q, q]
    q11, q12 = keep(r11 * a + r12 * b + 1.0), keep(r11 * b + r12 * c)
    q21, q22 = keep(r12 * a + r22 * b), keep(r12 * b + r22 * c + 1.0)
    factor = keep(nonzero(q11 * q22 - q12 * q21))
    first, second = q11 * r11 + q12 * r12 < 0.0, q21 * r12 + q22 * r22 < 0.0
    both = factor * determinant < 0.0
    passed = xp.where(both, 1.0, first.astype(factor.dtype) + second.astype(factor.dtype))
    inverse = 1.0 / factor
    z11, z12, z21, z22 = q22 * inverse, -q12 * inverse, -q21 * inverse, q11 * inverse
    y11, y12 = keep(z11 * r11 + z12 * r12), keep(z11 * r12 + z12 * r22)
    y22 = keep(z21 * r12 + z22 * r22)
    found = Symmetric(w.entries)
    found[p, p], found[p, q], found[q, q] = a * z11 + b * z21, a * z12 + b * z22, b * z12 + c * z22
    others = [i for i in range(6) if i not in (p, q)]
    for number, i in enumerate(others):
        x, y = w[i, p], w[i, q]
        found[i, p], found[i, q] = x * z11 + y * z21, x * z12 + y * z22
        along, across = x * y11 + y * y12, x * y12 + y * y22
        for j in others[number:]:
            found[i, j] = w[i, j] - (along * w[j, p] + across * w[j, q])
    return found.kept(), factor, passed


def _at_inner_end(w: Symmetric, members: Sequence[FreeEndMember]) -> Symmetric:
    """``F + H^T W H``, as `members.at_inner_end`."""
    first, second = members
    own = [first.h_uu, first.h_vv, second.h_vv, second.h_uu, second.h_pp, first.h_pp]
    # to each direction of the inner end the part of its partner at the outer end
    partner = {1: (5, first.h_pv), 5: (1, first.h_vp), 2: (4, -second.h_pv), 4: (2, -second.h_vp)}

    def half(row: list[Any]) -> list[Any]:
        return [
            own[i] * row[i] + (partner[i][1] * row[partner[i][0]] if i in partner else 0.0)
            for i in range(6)
        ]

    right = [half([w[i, j] for j in range(6)]) for i in range(6)]  # W H
    columns = [half([right[i][j] for i in range(6)]) for j in range(6)]
    found = Symmetric([columns[j][i] for i, j in _PLACES])
    for place, value in (
        ((0, 0), first.f_uu),
        ((1, 1), first.f_vv),
        ((1, 5), first.f_vp),
        ((5, 5), first.f_pp),
        ((3, 3), second.f_uu),
        ((2, 2), second.f_vv),
        ((2, 4), -second.f_vp),
        ((4, 4), second.f_pp),
    ):
        found[place] = found[place] + value
    return found


def _less_body(w: Symmetric, body: Body, squared: Array) -> Symmetric:
    found = Symmetric(w.entries)
    mass = squared * body.mass
    for i in range(3):
        found[i, i] = w[i, i] - mass
    x, y, z = (squared * s for s in body.moment)
    for place, value in (
        ((0, 4), -z),
        ((0, 5), y),
        ((1, 3), z),
        ((1, 5), -x),
        ((2, 3), -y),
        ((2, 4), x),
    ):
        found[place] = w[place] + value
    for (i, j), value in zip(_TRIANGLE, body.inertia, strict=True):
        found[3 + i, 3 + j] = w[3 + i, 3 + j] - squared * value
    return found


_TRIANGLE = [(i, j) for i in range(3) for j in range(i, 3)]


def _less_turning(w: Symmetric, axis: Sequence[Any], inertia: Any) -> Symmetric:
    found = Symmetric(w.entries)
    for i, j in _TRIANGLE:
        found[3 + i, 3 + j] = w[3 + i, 3 + j] - axis[i] * axis[j] * inertia
    return found


def _through_spring(
    w: Symmetric, direction: Sequence[Any], unit: Any, compliance: Any
) -> tuple[Symmetric, Array]:
    """As `transformations.through_spring`: the stiffness and the pivot."""
    column = [keep(_sum(w[i, j] * direction[j] for j in range(6))) for i in range(6)]
    pivot = keep(nonzero(unit + compliance * _sum(map(_product, direction, column))))
    by = compliance / pivot
    scaled = [by * x for x in column]
    return Symmetric(
        [x - scaled[i] * column[j] for x, (i, j) in zip(w.entries, _PLACES, strict=True)]
    ).kept(), pivot


def _product(a: Any, b: Any) -> Any:
    return a * b


def _sum(terms: Any) -> Any:
    return functools.reduce(lambda a, b: a + b, terms)


def _turned(w: Symmetric, rotation: Sequence[Any]) -> Symmetric:
    """As `transformations.turned`, block by block."""
    r = [rotation[3 * i : 3 * i + 3] for i in range(3)]

    def block(row: int, column: int, symmetric: bool) -> dict[tuple[int, int], Any]:
        half = [
            [_sum(r[i][k] * w[row + k, column + j] for k in range(3)) for j in range(3)]
            for i in range(3)
        ]
        return {
            (row + i, column + j): _sum(half[i][k] * r[j][k] for k in range(3))
            for i in range(3)
            for j in range(i if symmetric else 0, 3)
        }

    found = block(0, 0, True) | block(0, 3, False) | block(3, 3, True)
    return Symmetric([found[place] for place in _PLACES]).kept()


def _shifted(w: Symmetric, offset: Sequence[Any]) -> Symmetric:
    """As `transformations.shifted`."""
    o = list(offset)
    found = Symmetric(w.entries)

    def crossed(v: Sequence[Any]) -> list[Any]:
        return [
            o[_Y] * v[_Z] - o[_Z] * v[_Y],
            o[_Z] * v[_X] - o[_X] * v[_Z],
            o[_X] * v[_Y] - o[_Y] * v[_X],
        ]

    mixed = []
    for i in range(3):
        row = crossed([w[i, k] for k in range(3)])
        mixed.append([w[i, 3 + j] + row[j] for j in range(3)])
        for j in range(3):
            found[i, 3 + j] = mixed[i][j]
    # [o] B' + B^T [o]^T
    left = [crossed([mixed[k][j] for k in range(3)]) for j in range(3)]
    right = [crossed([w[k, 3 + i] for k in range(3)]) for i in range(3)]
    for i, j in _TRIANGLE:
        found[3 + i, 3 + j] = w[3 + i, 3 + j] + left[j][i] + right[i][j]
    return found
