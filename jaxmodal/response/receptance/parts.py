"""Part of an arm in the receptance recursion, and the attachments at the outer end of a member."""

from __future__ import annotations

from typing import Any, NamedTuple

from jaxmodal.dynamic_stiffness.joints import shifted, with_body
from jaxmodal.dynamic_stiffness.stiffness import Stiffness
from jaxmodal.response.receptance.carried_loads import shifted_loads, with_rows
from jaxmodal.response.receptance.margins import Beyond
from jaxmodal.response.receptance.pieces import Piece, Vector
from jaxmodal.runtime.namespace import Array


class Condensed(NamedTuple):
    """The part of an arm beyond an interface.

    Attributes
    ----------
    stiffness
        P, the stiffness at the interface.
    loads
        q of the ports beyond, by number.
    responses
        G of the requested pairs, with the interface held.
    factors
        Denominators, tip first; their product is the characteristic determinant up to factors that are never zero.
    last
        Terms of the last denominators, for `margin_of`.
    beyond
        Mass of the part, to judge denominators near zero; None if not requested.
    growth
        Approximate ratio of intermediate numbers to results; None if not requested.
    """

    stiffness: Stiffness
    loads: dict[int, Vector]
    responses: dict[tuple[int, int], Any]
    factors: tuple[Any, ...]
    last: Any
    beyond: Beyond | None = None
    growth: Any = None


def with_outer_end(found: Condensed, piece: Piece, omega2: Array) -> Condensed:
    """Return the part with the attachments at the outer end of a piece: body, support, offset, and loads."""
    w, loads, beyond = found.stiffness, found.loads, found.beyond
    beam, terms = piece.beam, piece.terms
    if piece.outer:
        w = with_body(w, omega2, beam.tip)
        if beyond is not None:
            beyond = beyond.with_body(beam.tip)
        w = _supported(w, piece)
        if terms.end_turning_stiffness is not None:
            w = w._replace(pp=w.pp + terms.end_turning_stiffness)
        if terms.end_offset is not None:
            w = shifted(w, *terms.end_offset)
            loads = shifted_loads(loads, *terms.end_offset)
            if beyond is not None:
                beyond = beyond.from_distance(*terms.end_offset)
    return found._replace(stiffness=w, loads=with_rows(loads, piece.at_end), beyond=beyond)


def _supported(w: Stiffness, piece: Piece) -> Stiffness:
    """Return the stiffness with the springs between a tip and the ground added, which act in ground axes."""
    if piece.beam.supports is None or piece.ground is None:
        return w
    s, c = piece.ground
    x, y, turning = piece.beam.supports
    return w._replace(
        uu=w.uu + c * c * x + s * s * y,
        uv=w.uv + c * s * (y - x),
        vv=w.vv + s * s * x + c * c * y,
        pp=w.pp + turning,
    )
