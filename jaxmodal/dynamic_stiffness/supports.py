"""Springs and rigid supports between the tips of links and the ground, in the condensation.

A support acts in parallel to the part outboard of the tip: it adds its stiffness there, in ground axes. If it were
added to that stiffness, it would be lost in it, or the rest in a stiff support, and a rigid support has no stiffness to
add. So it is applied after the link: with A = R^-1 + W, the stiffness at the tip with the inner end clamped, a spring k
in the direction g changes the inner stiffness by a multiple of one vector, and 1 + k g^T A^-1 g determines the change
of the count.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from jaxmodal.arithmetic.operations import Number, keep, nonzero
from jaxmodal.dynamic_stiffness.member import FreeEndMember
from jaxmodal.dynamic_stiffness.stiffness import Stiffness, adjugate, identity_plus_product, rotated
from jaxmodal.runtime.namespace import Array, xp
from jaxmodal.statics.beam_arrays import SUPPORTS, BeamArrays

_Vector = tuple[Number, Number, Number]


def support_laws(link: BeamArrays) -> list[tuple[Array, Array]]:
    """Return the laws ``unit * force = stiffness * displacement`` of the three supports of each link.

    A spring: (1, k). Rigid: (0, s), s about the stiffness of the link, so that both sides are of the size of forces. An
    empty list if the link has no supports.
    """
    given = [getattr(link, name) for name in SUPPORTS]
    if any(k is None for k in given):
        return []
    laws = []
    for k, own in zip(given, link_stiffness(link), strict=True):
        rigid = xp.isinf(k)
        laws.append((xp.where(rigid, 0.0, 1.0), xp.where(rigid, own, k)))
    return laws


def without_supports(beams: BeamArrays) -> BeamArrays:
    """Return the same links without supports."""
    nothing: dict[str, Any] = dict.fromkeys((*SUPPORTS, "ground_angle"))
    return dataclasses.replace(beams, **nothing)


def link_stiffness(link: BeamArrays) -> tuple[Array, Array, Array]:
    """Return the approximate stiffness of a link at its tip in each of the three directions: E I/L^3 twice, E I/L."""
    turning = link.youngs_modulus * link.second_moment / link.length
    across = turning / (link.length * link.length)
    return across, across, turning


def directions(
    sine: Number, cosine: Number, offset_x: Number | None, offset_y: Number | None
) -> list[_Vector]:
    """Return ground's x, ground's y and rotation at the tip, as vectors over (u, v, psi) at the end of the link."""
    zero = cosine * 0.0
    x, y = (zero if offset is None else offset for offset in (offset_x, offset_y))
    return [
        (cosine, -sine, -(cosine * y) - sine * x),
        (sine, cosine, cosine * x - sine * y),
        (zero, zero, zero + 1.0),
    ]


def where_not_held(
    tip: Stiffness, sine: Number, cosine: Number, units: Sequence[Number]
) -> Stiffness:
    """Return the stiffness at the tip without the directions that a rigid support holds.

    Those have no effect, but would hide the rest where they are large, near resonances of the outboard part.
    """
    x, y, p = units
    ground = rotated(tip, sine, cosine)
    left = Stiffness(
        uu=ground.uu * x,
        uv=ground.uv * x * y,
        up=ground.up * x * p,
        vv=ground.vv * y,
        vp=ground.vp * y * p,
        pp=ground.pp * p,
    )
    return rotated(left, -sine, cosine)


def with_supports(
    inner: Stiffness,
    member: FreeEndMember,
    tip: Stiffness,
    along: Sequence[_Vector],
    laws: Sequence[tuple[Number, Number]],
) -> tuple[Stiffness, list[Number]]:
    """Return the ``inner`` stiffness with supports at the outer end, and a pivot for each support.

    ``tip`` is the stiffness there without supports. The pivots are factors of the determinant; each negative one
    reduces the count by one (E. V. Haynsworth's additivity of inertia, Linear Algebra Appl. 1, 1968, 73-81, applied to
    A bordered by the support).
    """
    q = identity_plus_product(member, tip)
    a = adjugate(q)
    det = nonzero(q.uu * a.uu + q.uv * a.vu + q.up * a.pu)
    by_det = 1.0 / det
    held: list[tuple[_Vector, _Vector, Number]] = []
    pivots = []
    for (u, v, p), (unit, stiffness) in zip(along, laws, strict=True):
        z = (
            (a.uu * u + a.vu * v + a.pu * p) * by_det,
            (a.uv * u + a.vv * v + a.pv * p) * by_det,
            (a.up * u + a.vp * v + a.pp * p) * by_det,
        )
        for other, moved, share in held:
            coupled = share * (moved[0] * u + moved[1] * v + moved[2] * p)
            z = tuple(x - coupled * y for x, y in zip(z, other, strict=True))
        z = tuple(keep(x) for x in z)
        moved = (
            member.r_uu * z[0],
            member.r_vv * z[1] + member.r_vp * z[2],
            member.r_vp * z[1] + member.r_pp * z[2],
        )
        pivot = nonzero(unit + stiffness * (moved[0] * u + moved[1] * v + moved[2] * p))
        share = keep(stiffness / pivot)
        held.append((z, moved, share))
        pivots.append(pivot)
        at_inner = (
            member.h_uu * z[0],
            member.h_vv * z[1] + member.h_pv * z[2],
            member.h_vp * z[1] + member.h_pp * z[2],
        )
        inner = _plus(inner, share, at_inner)
    return inner, pivots


def with_springs(
    tip: Stiffness, along: Sequence[_Vector], laws: Sequence[tuple[Number, Number]]
) -> Stiffness:
    """Return the stiffness at the end of a rigid link with its supports, which must not be rigid."""
    for g, (_, stiffness) in zip(along, laws, strict=True):
        tip = _plus(tip, stiffness, g)
    return tip


def _plus(w: Stiffness, k: Number, g: _Vector) -> Stiffness:
    """Return ``W + k g g^T``."""
    u, v, p = (k * x for x in g)
    return Stiffness(
        uu=w.uu + u * g[0],
        uv=w.uv + u * g[1],
        up=w.up + u * g[2],
        vv=w.vv + v * g[1],
        vp=w.vp + v * g[2],
        pp=w.pp + p * g[2],
    )


def in_ground_axes(links: Array, angle: Array, sizes: bool = False) -> Array:
    """Return vectors (n, 3, ...) over (u, v, psi), or forces, in ground axes; ``angle`` (n,)."""
    expand = (slice(None),) + (None,) * (links.ndim - 2)
    sine, cosine = xp.sin(angle)[expand], xp.cos(angle)[expand]
    against = -sine
    if sizes:
        sine, cosine = xp.abs(sine), xp.abs(cosine)
        against = sine
    x = cosine * links[:, 0] + against * links[:, 1]
    y = sine * links[:, 0] + cosine * links[:, 1]
    return xp.stack([x, y, links[:, 2]], axis=1)


def law_arrays(beams: BeamArrays) -> tuple[Array, Array]:
    """Return the units and the stiffnesses of `support_laws`, shape (n, 3) each."""
    units, stiffnesses = zip(*support_laws(beams), strict=True)
    return xp.stack(units, axis=1), xp.stack(stiffnesses, axis=1)


def support_forces(beams: BeamArrays, tip: Array, sizes: bool = False) -> Array:
    """Return ``stiffness * displacement`` of the laws in ground axes, for displacements (n, 3, ...) of the tips."""
    _, stiffness = law_arrays(beams)
    turned = in_ground_axes(tip, beams.ground_angle, sizes)
    return stiffness.reshape(stiffness.shape + (1,) * (tip.ndim - 2)) * turned


def unsupported(beams: BeamArrays, forces: Array, sizes: bool, before: bool = False) -> Array:
    """Return ``unit * force`` of the laws in ground axes, for forces (n, 3, ...) at the tips; 0 at rigid supports.

    With ``before``, the forces of each link are at the previous tip, in its axes.
    """
    (unit, _), angle = law_arrays(beams), beams.ground_angle
    if before:
        unit, angle = xp.roll(unit, 1, axis=0), xp.roll(angle, 1, axis=0)
    turned = in_ground_axes(forces, angle, sizes)
    return unit.reshape(unit.shape + (1,) * (forces.ndim - 2)) * turned
