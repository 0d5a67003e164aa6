"""Pieces of an arm in the receptance recursion: members with the attachments and ports at their ends."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from jaxmodal.dynamic_stiffness.joints import Attachments, attachments
from jaxmodal.dynamic_stiffness.member import FreeEndMember
from jaxmodal.response.driven.members import Cut
from jaxmodal.response.driven.ports import RELATIVE, Port, PortRow
from jaxmodal.runtime.namespace import Array, xp
from jaxmodal.statics.beam_arrays import INNER, OUTER, WITHOUT_EFFECT, BeamArrays
from jaxmodal.statics.laws import spring_law
from jaxmodal.statics.link_parts import Offset

#: a load or a motion over (u, v, psi), in the axes of a link
Vector = tuple[Any, Any, Any]


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
    law
        The law of the spring about the joint, from `spring_law`.
    turn, ground
        Sine and cosine of the joint's angle, None if the axes do not turn; and of the link's angle to the ground, None
        without supports.
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
    law: tuple[Any, Any]
    turn: tuple[Any, Any] | None
    ground: tuple[Any, Any] | None
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
        law = spring_law(beam.joint_stiffness)
        turn = _direction(beam.joint_angle) if inner and link else None
        ground = None if beam.supports is None else _direction(beam.ground_angle)
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
                    at_end[number] = _moved_row(row.row, terms.end_offset)
            elif row.place == "joint" or row.station == 0.0:
                if inner:
                    from_start = row.place == "link"
                    offset = terms.base_offset if from_start else None
                    at_joint[number] = _moved_row(row.row, offset)
            elif row.station == cut.ends[place]:
                at_end[number] = tuple(row.row)
        made.append(
            Piece(
                beam=beam,
                terms=terms,
                member=members[place],
                law=law,
                turn=turn,
                ground=ground,
                outer=outer,
                inner=inner,
                at_end=at_end,
                at_joint=at_joint,
                torques=torques,
            )
        )
    return made


def _direction(angle: Any) -> tuple[Any, Any] | None:
    return None if angle is None else (xp.sin(angle), xp.cos(angle))


def _moved_row(row: Array, offset: Offset | None) -> Vector:
    """Return a row for a point at this offset as a row for the place itself."""
    u, v, p = row
    return (u, v, p) if offset is None else (u, v, p - offset[1] * u + offset[0] * v)


def alike(pieces: Sequence[Piece]) -> Piece:
    """Return all pieces stacked along a first axis; missing features have values without effect."""
    numbers = [
        {k for piece in pieces for k in getattr(piece, name)}
        for name in ("at_end", "at_joint", "torques")
    ]
    made = []
    for piece in pieces:
        beam = piece.beam
        ends = (*(() if piece.outer else OUTER), *(() if piece.inner else INNER))
        none: dict[str, Any] = {
            name: jnp.full_like(getattr(beam, name), WITHOUT_EFFECT[name])
            for name in ends
            if getattr(beam, name) is not None
        }
        beam = dataclasses.replace(beam, **none)
        angle = jnp.zeros_like(beam.joint_angle)
        made.append(
            piece._replace(
                beam=beam,
                terms=attachments(beam),
                law=spring_law(beam.joint_stiffness),
                turn=(angle, angle + 1.0) if piece.turn is None else piece.turn,
                outer=None,
                inner=None,
                at_end={k: piece.at_end.get(k, (angle,) * 3) for k in numbers[0]},
                at_joint={k: piece.at_joint.get(k, (angle,) * 3) for k in numbers[1]},
                torques={k: piece.torques.get(k, angle) for k in numbers[2]},
            )
        )
    return jax.tree_util.tree_map(lambda *x: jnp.stack(jnp.broadcast_arrays(*x)), *made)
