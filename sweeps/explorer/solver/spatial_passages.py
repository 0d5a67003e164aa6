"""Motion beyond a joint in space and at the outer end of a piece of a link, recorded for the page.

As in the plane (`passages`), the recursion gives the stiffness of the outboard part, and the page starts at the base,
at a frequency close to the mode.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from jaxmodal.arithmetic.operations import Number
from jaxmodal.dynamic_stiffness.member import FreeEndMember
from jaxmodal.spatial.stiffness.constants import Body
from jaxmodal.spatial.stiffness.entries import (
    PAIRS,
    at_inner_end,
    end_receptance,
    less_body,
    less_turning,
    released,
    through_spring,
)
from jaxmodal.spatial.stiffness.link_entries import LinkEntries, LoadEntries
from jaxmodal.spatial.stiffness.symmetric import Symmetric, places, total

_MEMBER = len(FreeEndMember._fields)


def _stiffness(numbers: Any, loads: int) -> Symmetric:
    return Symmetric(list(itertools.islice(numbers, len(places(6 + loads)))))


def _planes(numbers: Any) -> list[FreeEndMember]:
    both = list(itertools.islice(numbers, 2 * _MEMBER))
    return [FreeEndMember(*both[plane::2]) for plane in range(2)]


def _as_it_is(w: Symmetric) -> Symmetric:
    return w


def _give(w: Symmetric, planes: Sequence[FreeEndMember]) -> Symmetric:
    """Return the stiffness at the outer end of a piece, after the elastic deflections of the piece are released."""
    for place, pair in enumerate(PAIRS):
        w, _ = released(w, pair, end_receptance(place, planes), False, _as_it_is)
    return w


def less_tip(loads: int, squared: Number, *numbers: Number) -> list[Number]:
    """Return the stiffness at the outer end of the elastic part, without the body there."""
    given = iter(numbers)
    mass, *rest = itertools.islice(given, 10)
    return less_body(_stiffness(given, loads), Body(mass, rest[:3], rest[3:]), squared).entries


def before_piece(loads: int, *numbers: Number) -> list[Number]:
    """Return the stiffness at the inner end of a piece of a link from that at its outer end."""
    given = iter(numbers)
    planes = _planes(given)
    return at_inner_end(_give(_stiffness(given, loads), planes), planes).entries


def along_piece(loads: int, *numbers: Number) -> list[Number]:
    """Return the motion at the outer end of a piece from the stiffness there and the motion at its inner end.

    After the motion, the inputs hold the forces of supports that are treated as loads.
    """
    given = iter(numbers)
    planes = _planes(given)
    w = _give(_stiffness(given, loads), planes)
    u, v, y, turn, about_y, about_z, *forces = given
    first, second = planes
    free = [
        first.h_uu * u,
        first.h_vv * v + first.h_vp * about_z,
        second.h_vv * y - second.h_vp * about_y,
        second.h_uu * turn,
        second.h_pp * about_y - second.h_pv * y,
        first.h_pp * about_z + first.h_pv * v,
    ]
    acting = [*free, *forces]
    force = [total(w[i, j] * x for j, x in enumerate(acting)) for i in range(6)]
    found = list(free)
    for place, (p, q) in enumerate(PAIRS):
        r11, r12, r22, _ = end_receptance(place, planes)
        found[p] = free[p] - (r11 * force[p] + r12 * force[q])
        found[q] = free[q] - (r12 * force[p] + r22 * force[q])
    return found


def beyond_joint(
    springs: int, has_rotor: bool, loads: int, squared: Number, *numbers: Number
) -> list[Number]:
    """Return the motion at the inner end of a link (axes of its section) from that at the end of the link before.

    Inputs: the numbers of the link and of loads (which do not act inside a joint), the stiffness at its inner end
    without the body there, the motion, and the forces of supports that are treated as loads.
    """
    given = iter(numbers)
    link = LinkEntries.of(given, springs, has_rotor)
    for _ in range(loads):
        LoadEntries.of(given)
    w = less_body(_stiffness(given, loads), link.inner, squared)
    passed = []
    for place, spring in enumerate(link.springs, start=1):
        rotor = link.rotor if place == len(link.springs) else []
        unit = spring.unit
        if rotor:
            relative, driven, _ = rotor[3:]
            w = less_turning(w, rotor[:3], driven * squared)
            unit = unit - squared * (relative * spring.compliance)
        column = [total(w[i, j] * spring.direction[j] for j in range(6)) for i in range(w.size)]
        w, pivot = through_spring(w, spring.direction, unit, spring.compliance, [], _as_it_is)
        passed.append((spring, column, pivot))
        if rotor:
            w = less_turning(w, rotor[:3], rotor[5] * squared)
    motion = list(itertools.islice(given, 6))
    forces = list(given)
    o, turn = link.offset, motion[3:]
    moved = [
        motion[0] + turn[1] * o[2] - turn[2] * o[1],
        motion[1] + turn[2] * o[0] - turn[0] * o[2],
        motion[2] + turn[0] * o[1] - turn[1] * o[0],
    ]
    own = [
        total(link.rotation[3 * k + i] * part[k] for k in range(3))
        for part in (moved, turn)
        for i in range(3)
    ]
    for spring, column, pivot in reversed(passed):
        pull = total(c * x for c, x in zip(column, [*own, *forces], strict=True))
        give = spring.compliance * pull / pivot
        own = [x - d * give for x, d in zip(own, spring.direction, strict=True)]
    return own
