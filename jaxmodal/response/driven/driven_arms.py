"""Driven arms link by link: values that all cells share, and selections of cells."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxmodal.dynamic_stiffness.member import FreeEndMember
from jaxmodal.response.driven.damping import SPRINGS, Damping, damped_beams
from jaxmodal.response.driven.member_tables import MemberTable, member_table
from jaxmodal.response.driven.members import members_of
from jaxmodal.response.driven.systems import System
from jaxmodal.runtime.namespace import Array
from jaxmodal.statics.beam_arrays import INNER, OUTER, BeamArrays

#: fields of beams and of damping that do not affect the members
_OF_ENDS = frozenset((*INNER, *OUTER, "ground_angle", *SPRINGS))
#: fields of beams that become complex with damping
_DAMPED = ("youngs_modulus", "shear_modulus_effective", *SPRINGS.values())


def wide(tree: Any) -> Any:
    """Return the arrays with one more axis, for the frequencies."""
    return jax.tree_util.tree_map(lambda x: x[..., None] if np.ndim(x) else x, tree)


def some_cells(tree: Any, at: Any) -> Any:
    """Return some cells, along the last axis; arrays that are the same in every cell are kept."""
    return jax.tree_util.tree_map(
        lambda x: x if np.ndim(x) == 0 or x.shape[-1] == 1 else x[..., at], tree
    )


def _collapsed(x: np.ndarray) -> np.ndarray:
    """Return an array of shape (1,) if all entries are equal."""
    return x[:1] if x.size > 1 and (x == x[0]).all() else x


class Arms(NamedTuple):
    """Arms link by link, and the rows of the ports; arrays (cells,), or (1,) if equal in all cells.

    ``apart`` (read, inputs, cells) is True for ports that rigid supports part, so that none moves under a load at the
    other; None if that is not known. ``apart_slopes`` (directions, read, inputs, cells) is True for derivatives of
    motions that are nothing at all frequencies. A motion may be nothing in one posture alone.
    """

    beams: list[BeamArrays]
    damping: list[Damping]
    rows: tuple[Array, ...]
    apart: Any = None
    apart_slopes: Any = None


def link_by_link(system: System) -> Arms:
    """Return the arms of a system link by link, with arrays of shape (1,) where all cells are equal."""
    arms = by_links(system)
    beams, damping = jax.tree_util.tree_map(_collapsed, (arms.beams, arms.damping))
    # rotations of the whole arm are contained in the rows of the ports and in the angles to the ground
    beams[0] = dataclasses.replace(beams[0], joint_angle=beams[0].joint_angle[:1])
    return Arms(beams, damping, system.rows)


def by_links(system: System) -> Arms:
    """Return the arms of a system link by link, with unchanged arrays."""
    beams, damping = (
        [
            jax.tree_util.tree_map(lambda x, link=link: x[link], tree)
            for link in range(system.beams.length.shape[0])
        ]
        for tree in (system.beams, system.damping)
    )
    return Arms(beams, damping, system.rows)


def same_everywhere(tree: Any, without: frozenset[str] = frozenset()) -> bool:
    """Return True if all cells have the same values."""
    return all(
        x.size == 1
        for name, x in vars(tree).items()
        if isinstance(x, np.ndarray) and name not in without
    )


def link_members(system: System, arms: Arms, link: int, omega: Any) -> list[FreeEndMember]:
    """Return the members of a link, base first; computed once for all cells with the same link."""
    beam, damping = arms.beams[link], arms.damping[link]
    damping = dataclasses.replace(damping, **dict.fromkeys(SPRINGS))
    shares = _shares(system, link)
    found = members_of(damped_beams(beam, damping, omega), system.theory, omega, shares)
    return [FreeEndMember(*(x[place] for x in found)) for place in range(len(shares))]


def _shares(system: System, link: int) -> list[float]:
    """Return the shares of a link's length that its parts have, base first."""
    return [
        share for of, share in zip(system.cut.links, system.cut.shares, strict=True) if of == link
    ]


class Known(NamedTuple):
    """Values of a link that all cells share at some frequencies: its members, and its damped moduli and springs.

    Where members vary, ``table`` has them for all cells, if it can.
    """

    members: list[FreeEndMember] | None
    damped: dict[str, Any] | None
    table: MemberTable | None


def known_of(system: System, broad: Arms, link: int, omega: np.ndarray) -> Known:
    """Return the values of a link that all cells share; ``broad`` are arms from `wide`."""
    beam, damping = broad.beams[link], broad.damping[link]
    of_damping = same_everywhere(damping)
    members = damped = table = None
    if same_everywhere(beam, _OF_ENDS) and same_everywhere(damping, _OF_ENDS):
        members = link_members(system, broad, link, omega)
    else:
        table = member_table(beam, damping, system.theory, omega, _shares(system, link), _OF_ENDS)
    if of_damping and all(
        np.size(getattr(beam, name)) == 1 for name in _DAMPED if getattr(beam, name) is not None
    ):
        found = damped_beams(beam, damping, omega)
        damped = {name: getattr(found, name) for name in _DAMPED}
    return Known(members, damped, table)


def members_known(
    system: System, broad: Arms, known: Sequence[Known], cells: slice, omega: np.ndarray
) -> list[FreeEndMember]:
    """Return the members of all links of some cells; ``broad`` are these cells, from `wide`."""
    made: list[FreeEndMember] = []
    for link, found in enumerate(known):
        if found.members is not None:
            made += found.members
        elif found.table is not None:
            made += found.table.members(cells)
        else:
            made += link_members(system, broad, link, omega)
    return made


def with_known(arms: Arms, known: Sequence[Known]) -> Arms:
    """Return arms with the damped moduli and springs where these are known."""
    beams, damping = list(arms.beams), list(arms.damping)
    for link, found in enumerate(known):
        if found.damped is not None:
            beams[link] = dataclasses.replace(beams[link], **found.damped)
            damping[link] = Damping()
    return arms._replace(beams=beams, damping=damping)


def damped_links(arms: Arms, omega: Array) -> list[BeamArrays]:
    """Return the links with complex moduli and springs where they are damped."""
    return [
        damped_beams(beam, damping, omega)
        for beam, damping in zip(arms.beams, arms.damping, strict=True)
    ]
