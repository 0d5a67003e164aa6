"""The receptance recursion with loads: an arm condensed from its tip to an inboard interface, by member after member.

The same condensation as that of `dynamic_stiffness.condensation`, in float64 or complex, which carries with it a load
vector of each port and the responses between ports. With P the stiffness that the part beyond an interface shows there,
q the load vector of a port and G the responses while the interface is held, the part has the potential
``d^T P d/2 - q^T d - G/2``; each step eliminates the motions beyond the next interface from it. At the
ground G is the response: there is no way back out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from jaxmodal.arithmetic.operations import nonzero
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
    Last,
    _over,
    growth_in_member,
    growth_in_springs,
    margin_of,
)
from jaxmodal.response.receptance.pieces import Piece, Vector, alike
from jaxmodal.runtime.namespace import Array, xp
from jaxmodal.statics.beam_arrays import BeamArrays
from jaxmodal.statics.laws import spring_law


class Condensed(NamedTuple):
    """The part of an arm beyond an interface.

    Attributes
    ----------
    stiffness
        P, what the interface feels.
    loads
        q of the ports beyond, by number.
    responses
        G of the pairs that were asked for, while the interface is held.
    factors
        Denominators met, tip first: their product is the characteristic determinant up to factors that are never zero.
    last
        What the last of them are made of, for `margin_of`.
    growth
        How much larger than their results the numbers are from which they come, about; None where it is not asked for.
    """

    stiffness: Stiffness
    loads: dict[int, Vector]
    responses: dict[tuple[int, int], Any]
    factors: tuple[Any, ...]
    last: Any
    growth: Any = None


def inward(
    pieces: Sequence[Piece],
    omega: Array,
    pairs: Sequence[tuple[int, int]] = (),
    loads_at_ground: bool = True,
    watched: bool = False,
) -> Condensed:
    """Condense pieces, tip first, onto the interface before the first of them.

    Parameters
    ----------
    pieces
        Those of an arm or of its outer part, base first; their arrays broadcast with ``omega``, stiffnesses may be
        complex.
    omega
        Angular frequencies, not 0, rad/s; real or complex.
    pairs
        Pairs of ports (the smaller number first) whose responses are wanted.
    loads_at_ground
        Whether stiffness and loads at the ground are wanted, too; else they are not all computed.
    watched
        Whether ``growth`` is wanted: large where the part beyond a joint is near a resonance while the joint is held.
    """
    omega2 = omega * omega
    growth = xp.zeros(omega.shape) if watched else None
    found = Condensed(Stiffness(*(0.0 * omega2,) * 6), {}, {}, (), None, growth)
    for piece in reversed(pieces[1:]):
        found = _through_piece(found, piece, omega2, pairs)
    first, terms = pieces[0], pieces[0].terms
    plain = first.inner and terms.base_offset_x is None and terms.axial_compliance is None
    plain = plain and first.beam.base_xx is None
    if pairs and plain and not loads_at_ground:
        return _onto_ground(found, first, omega2, pairs)
    return _through_base(_through_piece(found, first, omega2, pairs), first.beam, pairs)


def inward_traced(
    pieces: Sequence[Piece],
    members: FreeEndMember,
    omega: Array,
    pairs: Sequence[tuple[int, int]],
) -> tuple[Condensed, Array]:
    """`inward` of a whole arm without its factors, and its margin: one loop, a program of one size for any arm.

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
        margin = jnp.broadcast_to(margin_of(found.last), shape)
        bare = found._replace(factors=(), last=None)
        return (jax.tree_util.tree_map(full, bare), margin), None

    zero = full(0.0)
    start = Condensed(
        Stiffness(*(zero,) * 6),
        dict.fromkeys(numbers, (zero, zero, zero)),
        dict.fromkeys(pairs, zero),
        (),
        None,
    )
    arrays = stacked._replace(outer=None, inner=None)
    (found, margin), _ = lax.scan(through, (start, zero.real), arrays, reverse=True)
    if stacked.beam.base_xx is None:
        return found, margin
    base = jax.tree_util.tree_map(lambda x: x[0], stacked.beam)
    found = _through_base(found, base, pairs)
    margin = xp.minimum(margin, jnp.broadcast_to(margin_of(found.last), shape))
    return found._replace(factors=(), last=None), margin


def _through_piece(
    found: Condensed, piece: Piece, omega2: Array, pairs: Sequence[tuple[int, int]]
) -> Condensed:
    """The part beyond the outer end of a piece and the piece, as the part before it sees them."""
    terms = piece.terms
    w, loads, responses, factors, _, growth = _with_outer_end(found, piece, omega2)
    outboard = w
    w, q, adjugated, det, by_det = condensed(piece.member, w)
    if growth is not None:
        growth = growth_in_member(growth, piece.member, q, det)
    loads, responses = through_member(piece.member, adjugated, by_det, loads, responses, pairs)
    last = Last(piece.member, outboard, det, ())
    factors = (*factors, det, piece.member.delta)
    if not piece.inner:
        return Condensed(w, loads, responses, factors, last, growth)
    if terms.base_offset_x is not None:
        w = shifted(w, terms.base_offset_x, terms.base_offset_y)
        loads = shifted_loads(loads, terms.base_offset_x, terms.base_offset_y)
    if terms.base_turning_stiffness is not None:
        w = w._replace(pp=w.pp + terms.base_turning_stiffness)
    if terms.hub_mass is not None:
        w = _loaded(w, omega2, terms.hub_mass, terms.hub_inertia)
    loads = with_rows(loads, piece.at_joint)
    found = Condensed(w, loads, responses, factors, last, growth)
    found = _through_joint(found, piece, omega2, pairs)
    if piece.turn is None:
        return found
    sine, cosine = piece.turn
    turned = {
        number: (cosine * u - sine * v, sine * u + cosine * v, p)
        for number, (u, v, p) in found.loads.items()
    }
    return found._replace(stiffness=rotated(found.stiffness, sine, cosine), loads=turned)


def _with_outer_end(found: Condensed, piece: Piece, omega2: Array) -> Condensed:
    """With what is at the outer end of a piece: body, support, offset, and the loads there."""
    w, loads = found.stiffness, found.loads
    beam, terms = piece.beam, piece.terms
    if piece.outer:
        w = _loaded(w, omega2, beam.tip_mass, beam.tip_inertia)
        if terms.tip_moment_x is not None:
            w = with_body(w, omega2, 0.0, 0.0, terms.tip_moment_x, terms.tip_moment_y)
        w = _supported(w, beam)
        if terms.end_turning_stiffness is not None:
            w = w._replace(pp=w.pp + terms.end_turning_stiffness)
        if terms.end_offset_x is not None:
            w = shifted(w, terms.end_offset_x, terms.end_offset_y)
            loads = shifted_loads(loads, terms.end_offset_x, terms.end_offset_y)
    return found._replace(stiffness=w, loads=with_rows(loads, piece.at_end))


def _onto_ground(
    found: Condensed, piece: Piece, omega2: Array, pairs: Sequence[tuple[int, int]]
) -> Condensed:
    """`_through_piece` of the first piece where only responses are wanted: of P only what turns the joint's spring."""
    w, loads, responses, factors, _, growth = _with_outer_end(found, piece, omega2)
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
    unit, compliance = spring_law(piece.beam.joint_stiffness)
    if terms.base_turning_stiffness is not None:
        pp = pp + terms.base_turning_stiffness
    if terms.hub_inertia is not None:
        pp = pp - omega2 * terms.hub_inertia
    if terms.relative_inertia is not None:
        pp = pp - omega2 * terms.driven_inertia
        unit = unit - omega2 * terms.relative_inertia * compliance
    pivot = nonzero(compliance * pp + unit)
    give = compliance / pivot
    shares = {number: load[2] for number, load in loads.items()}
    shares |= {number: shares.get(number, 0.0) + x for number, x in piece.torques.items()}
    more = with_gives(responses, pairs, give, shares)
    last = Last(m, w, det, ((unit, pivot),))
    return Condensed(w, {}, {**responses, **more}, (*factors, det, m.delta, pivot), last, growth)


def _loaded(w: Stiffness, omega2: Array, mass: Any, inertia: Any) -> Stiffness:
    """With a body whose centre is the point itself."""
    force = omega2 * mass
    return w._replace(uu=w.uu - force, vv=w.vv - force, pp=w.pp - omega2 * inertia)


def _through_base(
    found: Condensed, beam: BeamArrays, pairs: Sequence[tuple[int, int]]
) -> Condensed:
    """The elastic base before the first joint, where the arm stands on one."""
    if beam.base_xx is None:
        return found
    before = found.stiffness
    passed = through_base(before, found.loads, beam)
    responses = _with_responses(found.responses, pairs, passed.motions, found.loads)
    growth = found.growth
    if growth is not None:
        growth = growth_in_springs(growth, before, passed.stiffness)
        growth = xp.maximum(growth, _over(passed.terms, passed.det))
    last = Last(None, None, None, ()) if found.last is None else found.last
    last = last._replace(base=(passed.det, passed.terms))
    factors = (*found.factors, passed.det)
    return Condensed(passed.stiffness, passed.loads, responses, factors, last, growth)


def _through_joint(
    found: Condensed, piece: Piece, omega2: Array, pairs: Sequence[tuple[int, int]]
) -> Condensed:
    """The springs of one joint, torsional first, with the torques that act in it."""
    terms, w = piece.terms, found.stiffness
    unit, compliance = spring_law(piece.beam.joint_stiffness)
    if terms.relative_inertia is not None:
        w = w._replace(pp=w.pp - omega2 * terms.driven_inertia)
        unit = unit - omega2 * terms.relative_inertia * compliance
    loads, responses, factors, last = found.loads, found.responses, found.factors, found.last

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
        last = last._replace(springs=(*last.springs, (unit, pivot)))

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
    return Condensed(w, loads, responses, factors, last, growth)


def _supported(w: Stiffness, beam: BeamArrays) -> Stiffness:
    """With the springs between a tip and the ground, which act in the ground's axes."""
    if beam.support_x_stiffness is None or beam.ground_angle is None:
        return w
    s, c = xp.sin(beam.ground_angle), xp.cos(beam.ground_angle)
    x, y = beam.support_x_stiffness, beam.support_y_stiffness
    return w._replace(
        uu=w.uu + c * c * x + s * s * y,
        uv=w.uv + c * s * (y - x),
        vv=w.vv + s * s * x + c * c * y,
        pp=w.pp + beam.support_torsional_stiffness,
    )
