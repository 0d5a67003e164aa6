"""A part of an arm as the receptance recursion carries it, and what stands at the outer end of a member."""

from __future__ import annotations

from typing import Any, NamedTuple

from jaxmodal.dynamic_stiffness.joints import shifted, with_body
from jaxmodal.dynamic_stiffness.stiffness import Stiffness
from jaxmodal.response.receptance.carried_loads import shifted_loads, with_rows
from jaxmodal.response.receptance.margins import Beyond
from jaxmodal.response.receptance.pieces import Piece, Vector
from jaxmodal.runtime.namespace import Array, xp
from jaxmodal.statics.beam_arrays import BeamArrays


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
    beyond
        The part's mass, which tells denominators near zero; None where it is not asked for.
    growth
        How much larger than their results the numbers are from which they come, about; None where it is not asked for.
    """

    stiffness: Stiffness
    loads: dict[int, Vector]
    responses: dict[tuple[int, int], Any]
    factors: tuple[Any, ...]
    last: Any
    beyond: Beyond | None = None
    growth: Any = None


def with_outer_end(found: Condensed, piece: Piece, omega2: Array) -> Condensed:
    """With what is at the outer end of a piece: body, support, offset, and the loads there."""
    w, loads, beyond = found.stiffness, found.loads, found.beyond
    beam, terms = piece.beam, piece.terms
    if piece.outer:
        w = with_point_mass(w, omega2, beam.tip_mass, beam.tip_inertia)
        if beyond is not None:
            beyond = beyond.with_body(beam.tip_mass, beam.tip_inertia)
        if terms.tip_moment_x is not None:
            w = with_body(w, omega2, 0.0, 0.0, terms.tip_moment_x, terms.tip_moment_y)
        w = _supported(w, beam)
        if terms.end_turning_stiffness is not None:
            w = w._replace(pp=w.pp + terms.end_turning_stiffness)
        if terms.end_offset_x is not None:
            w = shifted(w, terms.end_offset_x, terms.end_offset_y)
            loads = shifted_loads(loads, terms.end_offset_x, terms.end_offset_y)
            if beyond is not None:
                beyond = beyond.from_distance(terms.end_offset_x, terms.end_offset_y)
    return found._replace(stiffness=w, loads=with_rows(loads, piece.at_end), beyond=beyond)


def with_point_mass(w: Stiffness, omega2: Array, mass: Any, inertia: Any) -> Stiffness:
    """With a body whose centre is the point itself."""
    force = omega2 * mass
    return w._replace(uu=w.uu - force, vv=w.vv - force, pp=w.pp - omega2 * inertia)


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
