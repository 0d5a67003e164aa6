"""Loads of ports and the responses between them, passed inward through the parts of an arm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxmodal.dynamic_stiffness.member import FreeEndMember
from jaxmodal.dynamic_stiffness.stiffness import (
    Matrix,
)
from jaxmodal.response.receptance.pieces import Vector


def with_gives(
    responses: dict[tuple[int, int], Any],
    pairs: Sequence[tuple[int, int]],
    give: Any,
    shares: dict[int, Any],
) -> dict[tuple[int, int], Any]:
    """Return responses with the compliance of a spring added, for the shares of loads that act on it."""
    more = {}
    for i, j in pairs:
        if i in shares and j in shares:
            work = give * shares[i] * shares[j]
            more[i, j] = responses[i, j] + work if (i, j) in responses else work
    return more


def with_rows(loads: dict[int, Vector], rows: dict[int, Vector]) -> dict[int, Vector]:
    """Return the loads with those that begin here added."""
    if not rows:
        return loads
    begun = {
        number: tuple(a + b for a, b in zip(loads[number], row, strict=True))
        if number in loads
        else row
        for number, row in rows.items()
    }
    return {**loads, **begun}


def through_member(
    m: FreeEndMember,
    a: Matrix,
    by_det: Any,
    loads: dict[int, Vector],
    responses: dict[tuple[int, int], Any],
    pairs: Sequence[tuple[int, int]],
) -> tuple[dict[int, Vector], dict[tuple[int, int], Any]]:
    """Pass loads through a member: ``q`` becomes ``H^T Q^-T q``, and ``q^T R Q^-T q`` is added to G."""
    if not loads:
        return loads, responses
    passed: dict[int, Vector] = {}
    given: dict[int, Vector] = {}
    first = {i for i, j in pairs if i in loads and j in loads}
    for number, (u, v, p) in loads.items():
        s_u = (a.uu * u + a.vu * v + a.pu * p) * by_det
        s_v = (a.uv * u + a.vv * v + a.pv * p) * by_det
        s_p = (a.up * u + a.vp * v + a.pp * p) * by_det
        passed[number] = (m.h_uu * s_u, m.h_vv * s_v + m.h_pv * s_p, m.h_vp * s_v + m.h_pp * s_p)
        if number in first:
            given[number] = (
                m.r_uu * s_u,
                m.r_vv * s_v + m.r_vp * s_p,
                m.r_vp * s_v + m.r_pp * s_p,
            )
    return passed, _with_responses(responses, pairs, given, loads)


def _with_responses(
    responses: dict[tuple[int, int], Any],
    pairs: Sequence[tuple[int, int]],
    motions: dict[int, Vector],
    loads: dict[int, Vector],
) -> dict[tuple[int, int], Any]:
    """Return responses with the work of the loads of one port on the motions of the other added."""
    more = {}
    for i, j in pairs:
        if i in motions and j in loads:
            work = work_of(motions[i], loads[j])
            more[i, j] = responses[i, j] + work if (i, j) in responses else work
    return {**responses, **more}


def work_of(one: Vector, other: Vector) -> Any:
    """Return the work of a load on a motion."""
    return one[0] * other[0] + one[1] * other[1] + one[2] * other[2]


def shifted_loads(loads: dict[int, Vector], x: Any, y: Any) -> dict[int, Vector]:
    """Return the loads with the moments of forces that act at (x, y) of a rigid part."""
    return {number: (u, v, p - y * u + x * v) for number, (u, v, p) in loads.items()}
