"""The receptance recursion: an arm condensed from its tip to an inboard interface, member by member, with loads.

It is the condensation of `dynamic_stiffness.condensation` in float64 or complex arithmetic, which also carries a load
vector of each port and the responses between ports. With P the stiffness at the interface of the part beyond it,
q the load vector of a port and G the responses with the interface held, the part has the potential
``d^T P d/2 - q^T d - G/2``; each step eliminates the motions beyond the next interface from it. At the ground G is the
response, and no outward pass is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from jaxmodal.arithmetic.operations import maximum, nonzero, over_size
from jaxmodal.dynamic_stiffness.joints import (
    shifted,
    through_axial_spring,
    through_shear_spring,
    with_body,
)
from jaxmodal.dynamic_stiffness.member import FreeEndMember
from jaxmodal.dynamic_stiffness.stiffness import (
    Stiffness,
    adjugate,
    condensed,
    identity_plus_product,
    rotated,
    through_joint,
)
from jaxmodal.response.receptance.carried_loads import (
    _with_responses,
    shifted_loads,
    through_member,
    with_gives,
    with_rows,
)
from jaxmodal.response.receptance.elastic_base import through_base
from jaxmodal.response.receptance.lost_digits import (
    LARGE_GROWTH,
    growth_in_member,
    growth_in_springs,
)
from jaxmodal.response.receptance.margins import NOTHING, Beyond, Last, margin_of
from jaxmodal.response.receptance.parts import Condensed, with_outer_end
from jaxmodal.response.receptance.pieces import Piece, Vector, alike
from jaxmodal.runtime.namespace import Array, xp
from jaxmodal.statics.beam_arrays import BeamArrays
from jaxmodal.statics.link_parts import Body


def inward(
    pieces: Sequence[Piece],
    omega: Array,
    pairs: Sequence[tuple[int, int]] = (),
    loads_at_ground: bool = True,
    watched: bool = False,
) -> Condensed:
    """Condense pieces, tip first, onto the interface before the first piece.

    Parameters
    ----------
    pieces
        Pieces of an arm or of its outer part, base first; their arrays broadcast with ``omega``, stiffnesses may be
        complex.
    omega
        Angular frequencies, not 0, rad/s; real or complex.
    pairs
        Pairs of ports (the smaller number first) whose responses are computed.
    loads_at_ground
        If True, compute all of stiffness and loads at the ground as well.
    watched
        If True, compute ``growth``, which is large where the part beyond a joint is near a resonance with that joint
        held.
    """
    omega2 = omega * omega
    growth: Any = 0.0 if watched else None
    beyond = NOTHING if watched else None
    found = Condensed(Stiffness(*(0.0 * omega2,) * 6), {}, {}, (), None, beyond, growth)
    for piece in reversed(pieces[1:]):
        found = _through_piece(found, piece, omega2, pairs)
    first, terms = pieces[0], pieces[0].terms
    plain = first.inner and terms.base_offset is None and terms.axial_compliance is None
    plain = plain and first.beam.base_xx is None
    if pairs and plain and not loads_at_ground:
        return _onto_ground(found, first, omega2, pairs)
    return _through_base(_through_piece(found, first, omega2, pairs), first.beam, omega2, pairs)


def inward_traced(
    pieces: Sequence[Piece],
    members: FreeEndMember,
    omega: Array,
    pairs: Sequence[tuple[int, int]],
) -> tuple[Condensed, Array]:
    """Return `inward` of a whole arm without its factors, and its margin, in one loop of a size independent of the arm.

    ``members`` are those of all pieces, along a first axis.
    """
    omega2 = omega * omega
    stacked = alike(pieces)._replace(member=members)
    leaves = jax.tree_util.tree_leaves(stacked)
    shape = jnp.broadcast_shapes(omega.shape, *(x.shape[1:] for x in leaves))
    kind = jnp.result_type(omega2, *leaves)
    numbers = sorted({*stacked.at_end, *stacked.at_joint, *stacked.torques})

    def full(x: Any) -> Any:
        return jnp.broadcast_to(jnp.asarray(x, kind), shape)

    def through(
        state: tuple[Condensed, Array], piece: Piece
    ) -> tuple[tuple[Condensed, Array], None]:
        piece = piece._replace(outer=True, inner=True)
        found = _through_piece(state[0], piece, omega2, pairs)
        margin = jnp.broadcast_to(margin_of(found.last, omega2), shape)
        bare = jax.tree_util.tree_map(full, found._replace(factors=(), last=None, beyond=None))
        beyond = jax.tree_util.tree_map(lambda x: jnp.broadcast_to(x, shape), found.beyond)
        return (bare._replace(beyond=beyond), margin), None

    zero = full(0.0)
    start = Condensed(
        Stiffness(*(zero,) * 6),
        dict.fromkeys(numbers, (zero, zero, zero)),
        dict.fromkeys(pairs, zero),
        (),
        None,
        Beyond(zero.real, zero.real),
    )
    arrays = stacked._replace(outer=None, inner=None)
    (found, margin), _ = lax.scan(through, (start, zero.real), arrays, reverse=True)
    if stacked.beam.base_xx is None:
        return found, margin
    base = jax.tree_util.tree_map(lambda x: x[0], stacked.beam)
    found = _through_base(found, base, omega2, pairs)
    margin = xp.minimum(margin, margin_of(found.last, omega2))
    return found._replace(factors=(), last=None), margin


def _through_piece(
    found: Condensed, piece: Piece, omega2: Array, pairs: Sequence[tuple[int, int]]
) -> Condensed:
    """Pass a piece and its outer end: return the part as seen before the piece."""
    terms = piece.terms
    w, loads, responses, factors, _, beyond, growth = with_outer_end(found, piece, omega2)
    outboard, m = w, piece.member
    w, q, adjugated, det, by_det = condensed(m, w)
    last = Last(m, outboard, beyond, det)
    if growth is not None:
        growth = growth_in_member(growth, m, q, det)
    if beyond is not None:
        beyond = beyond.with_link(piece.beam)
    loads, responses = through_member(m, adjugated, by_det, loads, responses, pairs)
    factors = (*factors, det, m.delta)
    if not piece.inner:
        return Condensed(w, loads, responses, factors, last, beyond, growth)
    if terms.base_offset is not None:
        w = shifted(w, *terms.base_offset)
        loads = shifted_loads(loads, *terms.base_offset)
        if beyond is not None:
            beyond = beyond.from_distance(*terms.base_offset)
    if terms.base_turning_stiffness is not None:
        w = w._replace(pp=w.pp + terms.base_turning_stiffness)
    if terms.hub is not None:
        w = with_body(w, omega2, terms.hub)
        if beyond is not None:
            beyond = beyond.with_body(terms.hub)
    loads = with_rows(loads, piece.at_joint)
    found = Condensed(w, loads, responses, factors, last, beyond, growth)
    found = _through_joint(found, piece, omega2, pairs)
    if piece.turn is None:
        return found
    sine, cosine = piece.turn
    loads = {
        number: (cosine * u - sine * v, sine * u + cosine * v, p)
        for number, (u, v, p) in found.loads.items()
    }
    return found._replace(stiffness=rotated(found.stiffness, sine, cosine), loads=loads)


def _onto_ground(
    found: Condensed, piece: Piece, omega2: Array, pairs: Sequence[tuple[int, int]]
) -> Condensed:
    """Pass the first piece if only responses are needed; of P only the part that turns the joint spring is computed."""
    w, loads, responses, factors, _, beyond, growth = with_outer_end(found, piece, omega2)
    m, terms = piece.member, piece.terms
    q = identity_plus_product(m, w)
    a = adjugate(q)
    det = nonzero(q.uu * a.uu + q.uv * a.vu + q.up * a.pu)
    if growth is not None:
        growth = growth_in_member(growth, m, q, det)
    by_det = 1.0 / det
    x_vv = w.uv * a.uv + w.vv * a.vv + w.vp * a.pv
    x_vp = w.uv * a.up + w.vv * a.vp + w.vp * a.pp
    x_pp = w.up * a.up + w.vp * a.vp + w.pp * a.pp
    turned = m.h_vp * (x_vv * m.h_vp + x_vp * m.h_pp) + m.h_pp * (x_vp * m.h_vp + x_pp * m.h_pp)
    pp = m.f_pp + turned * by_det
    loads, responses = through_member(m, a, by_det, loads, responses, pairs)
    loads = with_rows(loads, piece.at_joint)
    unit, compliance = piece.law
    if terms.base_turning_stiffness is not None:
        pp = pp + terms.base_turning_stiffness
    if terms.hub is not None:
        pp = pp - omega2 * terms.hub.inertia
    if terms.relative_inertia is not None:
        pp = pp - omega2 * terms.driven_inertia
        unit = unit - omega2 * terms.relative_inertia * compliance
    pivot = nonzero(compliance * pp + unit)
    give = compliance / pivot
    shares = {number: load[2] for number, load in loads.items()}
    shares |= {number: shares.get(number, 0.0) + x for number, x in piece.torques.items()}
    more = with_gives(responses, pairs, give, shares)
    last = Last(m, w, beyond, det)
    if beyond is not None:
        beyond = beyond.with_link(piece.beam)
        if terms.hub is not None:
            beyond = beyond.with_body(terms.hub)
        last = last.with_spring(pivot, unit, compliance, 2, beyond)
    factors = (*factors, det, m.delta, pivot)
    return Condensed(w, {}, {**responses, **more}, factors, last, None, growth)


def _through_base(
    found: Condensed, beam: BeamArrays, omega2: Array, pairs: Sequence[tuple[int, int]]
) -> Condensed:
    """Pass the elastic base before the first joint, if there is one."""
    if beam.base_xx is None:
        return found
    before = found.stiffness
    changes = None if found.beyond is None else found.beyond.changes(omega2)
    passed = through_base(before, found.loads, changes, beam)
    responses = _with_responses(found.responses, pairs, passed.motions, found.loads)
    growth = found.growth
    if growth is not None:
        growth = growth_in_springs(growth, before, passed.stiffness)
        growth = maximum(growth, over_size(passed.terms, passed.det, LARGE_GROWTH))
    last = Last(None, None, None, None) if found.last is None else found.last
    last = last._replace(base=(passed.det, passed.terms))
    factors = (*found.factors, passed.det)
    return Condensed(passed.stiffness, passed.loads, responses, factors, last, None, growth)


def _through_joint(
    found: Condensed, piece: Piece, omega2: Array, pairs: Sequence[tuple[int, int]]
) -> Condensed:
    """Pass the springs of one joint, torsional first, with the torques that act in it."""
    terms, w = piece.terms, found.stiffness
    unit, compliance = piece.law
    if terms.relative_inertia is not None:
        w = w._replace(pp=w.pp - omega2 * terms.driven_inertia)
        unit = unit - omega2 * terms.relative_inertia * compliance
    loads, responses, factors, last = found.loads, found.responses, found.factors, found.last
    beyond = found.beyond
    if terms.relative_inertia is not None and beyond is not None:
        beyond = beyond.with_body(Body(0.0, terms.driven_inertia))

    def passed(axis: int, row: Vector, unit: Any, compliance: Any, pivot: Any) -> None:
        nonlocal loads, responses, factors, last
        # a load moves the far side by its share while the near side is held; a torque acts on both sides of the joint
        by_pivot = 1.0 / pivot
        give, kept = compliance * by_pivot, unit * by_pivot
        torques = piece.torques if axis == 2 else {}
        every = {**loads, **{number: (0.0, 0.0, 0.0) for number in torques if number not in loads}}
        shares = {
            number: q[axis] + torques[number] if number in torques else q[axis]
            for number, q in every.items()
        }
        passed_on = {}
        for number, q in every.items():
            share = give * shares[number]
            new = [x - r * share for x, r in zip(q, row, strict=True)]
            torque = torques.get(number)
            new[axis] = kept * q[axis] - (0.0 if torque is None else row[axis] * give * torque)
            passed_on[number] = (new[0], new[1], new[2])
        more = with_gives(responses, pairs, give, shares)
        loads, responses = passed_on, {**responses, **more}
        factors = (*factors, pivot)
        last = last.with_spring(pivot, unit, compliance, axis, beyond)

    row = (w.up, w.vp, w.pp)
    before, growth = w, found.growth
    w, pivot = through_joint(w, unit, compliance)
    if growth is not None:
        growth = growth_in_springs(growth, before, w)
    passed(2, row, unit, compliance, pivot)
    if terms.axial_compliance is not None:
        row = (w.uu, w.uv, w.up)
        before = w
        w, pivot = through_axial_spring(w, terms.axial_unit, terms.axial_compliance)
        passed(0, row, terms.axial_unit, terms.axial_compliance, pivot)
        row = (w.uv, w.vv, w.vp)
        w, pivot = through_shear_spring(w, terms.shear_unit, terms.shear_compliance)
        passed(1, row, terms.shear_unit, terms.shear_compliance, pivot)
        if growth is not None:
            growth = growth_in_springs(growth, before, w)
    if terms.carried_inertia is not None:
        w = w._replace(pp=w.pp - omega2 * terms.carried_inertia)
        if beyond is not None:
            beyond = beyond.with_body(Body(0.0, terms.carried_inertia))
    return Condensed(w, loads, responses, factors, last, beyond, growth)
