"""The elastic base in the receptance recursion: ground springs before joint 1."""

from __future__ import annotations

from typing import Any, NamedTuple

from jaxmodal.arithmetic.operations import nonzero, size_of
from jaxmodal.dynamic_stiffness.stiffness import Matrix, Stiffness, adjugate, rotated
from jaxmodal.response.receptance.lost_digits import permanent
from jaxmodal.response.receptance.margins import with_changes
from jaxmodal.response.receptance.pieces import Vector
from jaxmodal.runtime.namespace import xp
from jaxmodal.statics.beam_arrays import BeamArrays
from jaxmodal.statics.foundation import PLACES, Six, base_law, times


class ThroughBase(NamedTuple):
    """An arm on an elastic base as seen from the ground, in the axes of link 1.

    ``motions`` are those of the base under each load with the ground held; ``det`` is the determinant of K + P over
    that of K, and ``terms`` the sum of the absolute values of its terms and of their changes with the frequency.
    """

    stiffness: Stiffness
    loads: dict[int, Vector]
    motions: dict[int, Vector]
    det: Any
    terms: Any


def through_base(
    p: Stiffness,
    loads: dict[int, Vector],
    changes: tuple[Any, Any, Any] | None,
    beam: BeamArrays,
) -> ThroughBase:
    """Pass the stiffness P of an arm at joint 1, its loads and its changes with the frequency through the base K.

    The motions are Z q with Z = (K + P)^-1, 0 in rigid directions. The loads at the ground are (I - P Z) q, or equally
    K Z q in directions that are not rigid. Of the two the one with the smaller terms is used: K Z q cancels where K
    couples directions and, say, a moment is transmitted but no force; (I - P Z) q cancels where nearly nothing is
    transmitted.
    """
    law = base_law(beam)
    assert law is not None
    assert beam.ground_angle is not None
    s, c = xp.sin(beam.ground_angle), xp.cos(beam.ground_angle)
    p = rotated(p, s, c)
    a, b, d = law.scale
    k = law.stiffness
    m = Stiffness(
        uu=a * a * (p.uu + k[0]) + law.rigid[0],
        uv=a * b * (p.uv + k[1]),
        up=a * d * (p.up + k[2]),
        vv=b * b * (p.vv + k[3]) + law.rigid[1],
        vp=b * d * (p.vp + k[4]),
        pp=d * d * (p.pp + k[5]) + law.rigid[2],
    )
    square = Matrix(m.uu, m.uv, m.up, m.uv, m.vv, m.vp, m.up, m.vp, m.pp)
    z = adjugate(square)
    det = nonzero(m.uu * z.uu + m.uv * z.vu + m.up * z.pu)
    by_det = 1.0 / det
    inverse: Six = (
        a * a * z.uu * by_det,
        a * b * z.uv * by_det,
        a * d * z.up * by_det,
        b * b * z.vv * by_det,
        b * d * z.vp * by_det,
        d * d * z.pp * by_det,
    )
    full = (p.uu, p.uv, p.up, p.vv, p.vp, p.pp)
    full_size, k_size = (tuple(size_of(x) for x in six) for six in (full, k))

    def left(q: Vector) -> Vector:
        """Return (I - P Z) q, or K Z q in the directions in which it has the smaller terms."""
        moved = times(inverse, q)
        size = tuple(size_of(x) for x in moved)
        x, y, turn = (
            xp.where(
                (rigid > 0.0) | (of_springs - of_rest - size_of(force) >= 0.0), force - rest, spring
            )
            for rigid, force, rest, spring, of_rest, of_springs in zip(
                *(law.rigid, q, times(full, moved), times(k, moved)),
                *(times(full_size, size), times(k_size, size)),
                strict=True,
            )
        )
        return x, y, turn

    def inwards(q: Vector) -> Vector:
        return c * q[0] + s * q[1], c * q[1] - s * q[0], q[2]

    motions, passed = {}, {}
    for number, (u, v, moment) in loads.items():
        q = (c * u - s * v, s * u + c * v, moment)
        motions[number], passed[number] = inwards(times(inverse, q)), inwards(left(q))
    columns = [left((full[i], full[j], full[n])) for i, j, n in PLACES]
    seen = Stiffness(
        columns[0][0], columns[1][0], columns[2][0], columns[1][1], columns[2][1], columns[2][2]
    )
    if changes is not None:
        changes = (a * a * changes[0], b * b * changes[1], d * d * changes[2])
    sizes = with_changes(m, changes)
    every = (
        sizes.uu,
        sizes.uv,
        sizes.up,
        sizes.uv,
        sizes.vv,
        sizes.vp,
        sizes.up,
        sizes.vp,
        sizes.pp,
    )
    terms = permanent(Matrix(*every))
    return ThroughBase(rotated(seen, -s, c), passed, motions, det, terms)
