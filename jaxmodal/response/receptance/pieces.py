"""Pieces of an arm in the receptance recursion: members with the attachments and ports at their ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxmodal.dynamic_stiffness.joints import Attachments, attachments
from jaxmodal.dynamic_stiffness.member import FreeEndMember
from jaxmodal.response.driven.members import Cut
from jaxmodal.response.driven.ports import RELATIVE, Port, PortRow
from jaxmodal.runtime.namespace import Array, xp
from jaxmodal.statics.beam_arrays import SUPPORTS, BeamArrays

#: a load or a motion over (u, v, psi), in the axes of a link
Vector = tuple[Any, Any, Any]
#: what of a link's features stands at its tip, and what at its joint
_OF_TIPS = (
    *("tip_moment_x", "tip_moment_y", "end_offset_x", "end_offset_y"),
    "end_turning_stiffness",
)
_OF_JOINTS = (
    *("axial_unit", "axial_compliance", "shear_unit", "shear_compliance"),
    *("hub_mass", "hub_inertia", "relative_inertia", "driven_inertia", "carried_inertia"),
    *("base_offset_x", "base_offset_y", "base_turning_stiffness"),
)


class Terminal(NamedTuple):
    """A port and its row, of shape (3, ...), which broadcasts with the frequencies."""

    port: Port
    row: PortRow


class Piece(NamedTuple):
    """A member with the attachments at its ends; a link that is not cut is one piece.

    Attributes
    ----------
    beam, terms
        Values of its link, and the link's features.
    member
        F, H, R.
    turn
        Sine and cosine of the joint's angle; None if the axes do not turn.
    outer, inner
        True if the outer end is the tip of the link, and the inner end its joint; None for stacked pieces.
    at_end, at_joint
        Rows of ports at the outer end of the member, and at the axis of the joint, by number.
    torques
        Torques of ports that act in the joint, by number.
    """

    beam: BeamArrays
    terms: Attachments
    member: Any
    turn: tuple[Any, Any] | None
    outer: bool | None
    inner: bool | None
    at_end: dict[int, Vector]
    at_joint: dict[int, Vector]
    torques: dict[int, Any]


def pieces_of(
    links: Sequence[BeamArrays],
    members: Sequence[FreeEndMember | None],
    cut: Cut,
    terminals: Mapping[int, Terminal],
) -> list[Piece]:
    """Return the pieces of all links, base first, with the ports by their numbers."""
    made: list[Piece] = []
    features = [attachments(beam) for beam in links]
    for place, link in enumerate(cut.links):
        outer = place + 1 == len(cut.links) or cut.links[place + 1] != link
        inner = place == 0 or cut.links[place - 1] != link
        beam, terms = links[link], features[link]
        turn = (xp.sin(beam.joint_angle), xp.cos(beam.joint_angle)) if inner and link else None
        at_end, at_joint, torques = {}, {}, {}
        for number, terminal in terminals.items():
            row = terminal.row
            if row.link != link:
                continue
            if terminal.port.direction == RELATIVE:
                if inner:
                    torques[number] = row.row[2]
            elif row.place == "tip":
                if outer:
                    at_end[number] = _moved_row(row.row, terms.end_offset_x, terms.end_offset_y)
            elif row.place == "joint" or row.station == 0.0:
                if inner:
                    from_start = row.place == "link"
                    x, y = (
                        (terms.base_offset_x, terms.base_offset_y) if from_start else (None, None)
                    )
                    at_joint[number] = _moved_row(row.row, x, y)
            elif row.station == cut.ends[place]:
                at_end[number] = tuple(row.row)
        made.append(
            Piece(beam, terms, members[place], turn, outer, inner, at_end, at_joint, torques)
        )
    return made


def _moved_row(row: Array, x: Any, y: Any) -> Vector:
    """Return a row for a point at (x, y) as a row for the place itself."""
    u, v, p = row
    return (u, v, p) if x is None else (u, v, p - y * u + x * v)


def alike(pieces: Sequence[Piece]) -> Piece:
    """Return all pieces stacked along a first axis; missing features have values without effect."""
    numbers = [
        {k for piece in pieces for k in getattr(piece, name)}
        for name in ("at_end", "at_joint", "torques")
    ]
    made = []
    for piece in pieces:
        beam, terms = piece.beam, piece.terms
        none = jax.tree_util.tree_map(lambda x: 0.0 * x, terms)
        values = dict(vars(beam))
        if not piece.outer:
            for name in ("tip_mass", "tip_inertia", *SUPPORTS):
                values[name] = None if values[name] is None else 0.0 * values[name]
            terms = terms._replace(**{n: getattr(none, n) for n in _OF_TIPS})
        if not piece.inner:
            stiffness = values["joint_stiffness"]
            values["joint_stiffness"] = jnp.full_like(stiffness, jnp.inf)
            rigid = {n: getattr(none, n) for n in _OF_JOINTS}
            for name in ("axial_unit", "shear_unit"):
                rigid[name] = None if rigid[name] is None else rigid[name] + 1.0
            terms = terms._replace(**rigid)
        angle = 0.0 * beam.joint_angle
        made.append(
            piece._replace(
                beam=type(beam)(**values),
                terms=terms,
                turn=(angle, angle + 1.0) if piece.turn is None else piece.turn,
                outer=None,
                inner=None,
                at_end={k: piece.at_end.get(k, (angle,) * 3) for k in numbers[0]},
                at_joint={k: piece.at_joint.get(k, (angle,) * 3) for k in numbers[1]},
                torques={k: piece.torques.get(k, angle) for k in numbers[2]},
            )
        )
    return jax.tree_util.tree_map(lambda *x: jnp.stack(jnp.broadcast_arrays(*x)), *made)
