"""Arm in space as a chain of pieces: its links, and massless pieces for springs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jaxmodal.arm.quantities import shown
from jaxmodal.arm.refusals import refuse_loads
from jaxmodal.dynamics.layout_in_space import FIXED, SLIDES, TURNS
from jaxmodal.runtime.errors import ArmError, within
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.parts.links import SpatialLink
from jaxmodal.spatial.parts.springs import Spring, Support


class Piece(NamedTuple):
    """One piece of an arm.

    Attributes
    ----------
    link
        Link at position 0 of its joint, with the joint springs of finite stiffness.
    kind
        Connection to the previous piece: it turns, slides or is fixed.
    number
        Number, from 1, of the link to which the piece belongs; 0 for an elastic or driven base.
    """

    link: SpatialLink
    kind: str
    number: int

    @property
    def is_link(self) -> bool:
        """True if the piece is a link, and not a massless piece for springs."""
        return self.number > 0 and not self.stands_between

    @property
    def stands_between(self) -> bool:
        """True if the piece only carries springs."""
        return self.kind == FIXED and bool(self.link.joint_springs)


def pieces_of(arm: SpatialArm, driven: bool = False) -> tuple[Piece, ...]:
    """Return the pieces of an arm, from its base; a ``driven`` base has the six directions of an elastic one.

    The springs at a sliding joint come before its guide: they belong to a separate piece.

    Raises
    ------
    ArmError
        If a link has features that the dynamics in space do not support.
    """
    refuse_loads(arm, "jaxmodal.dynamics (whose gravity is an argument)")
    pieces = []
    if driven or arm.base_stiffness is not None:
        pieces.append(Piece(_between(joint_springs=_of_base(0.0 if driven else 1.0)), FIXED, 0))
    for number, link in enumerate(arm.links, start=1):
        with within(f"link{number}."):
            _check(link)
        link.refuse_pressed(number, "jaxmodal.dynamics")
        springs = tuple(s for s in link.joint_springs if np.isfinite(float(s.stiffness)))
        straight = link.replace(joint_angle=0.0, joint_limits=None, joint_springs=springs)
        if not link.prismatic:
            pieces.append(Piece(straight, FIXED if link.segment else TURNS, number))
            continue
        _, y, z = straight.base_offset or (0.0, 0.0, 0.0)
        straight = straight.replace(base_offset=(0.0, y, z))
        if springs:
            before = {
                name: getattr(straight, name)
                for name in ("joint_frame", "joint_springs", "stator", "section_roll")
            }
            pieces.append(Piece(_between(**before), FIXED, number))
            straight = straight.replace(joint_frame=(), joint_springs=(), stator=None)
        pieces.append(Piece(straight, SLIDES, number))
    return tuple(pieces)


def supports_of(arm: SpatialArm) -> list[tuple[int, Support]]:
    """Of each spring between a tip and the ground the number of the link, from 1, and the spring; without those of 0.

    Raises
    ------
    ArmError
        Where one is rigid.
    """
    found = []
    for number, link in enumerate(arm.links, start=1):
        for place, support in enumerate(link.supports, start=1):
            stiffness = float(support.stiffness)
            if np.isinf(stiffness):
                raise ArmError(
                    f"link{number}.support{place}.stiffness = inf: in motion the tip of an arm stands on springs; "
                    "must be finite (N/m or N m/rad), such as a thousand times the stiffness of the arm there."
                )
            if stiffness > 0.0:
                found.append((number, support))
    return found


def _between(**values: object) -> SpatialLink:
    """Return a piece without length or mass."""
    return SpatialLink(0.0, rigid=True, **values)  # type: ignore[arg-type]


def _of_base(stiffness: float) -> tuple[Spring, ...]:
    """Return the six directions of motion of a base; the stiffness matrix of an elastic base is added elsewhere."""
    return tuple(
        Spring(kind, tuple(axis), stiffness)  # type: ignore[arg-type]
        for kind in ("translation", "rotation")
        for axis in np.eye(3).tolist()
    )


def _check(link: SpatialLink) -> None:
    """Refuse values of a link that the dynamics in space do not support."""
    if link.loss_factor is not None and float(link.loss_factor) != 0.0:
        raise ArmError(
            f"loss_factor = {shown(link.loss_factor)}: has no meaning in time; give kelvin_voigt_time, s."
        )
    if float(link.joint_stiffness) == 0.0:
        raise ArmError(
            "joint_stiffness = 0.0: every joint turns in the dynamics, and this spring lies between the motor and the "
            "link; leave it out for a joint that the motor moves directly."
        )
