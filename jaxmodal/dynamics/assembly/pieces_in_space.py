"""An arm in space as pieces, one after the other: its links, and what its springs stand between."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jaxmodal.arm.quantities import shown
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
        At position 0 of its joint, with those springs of its joint that give way.
    kind
        How it is joined to the piece before: it turns, slides or is fixed.
    number
        The link of the arm, counted from 1, that it is of; 0 is a base that is elastic or driven.
    """

    link: SpatialLink
    kind: str
    number: int

    @property
    def is_link(self) -> bool:
        """Whether it is a link, and not the springs before one."""
        return self.number > 0 and not self.stands_between

    @property
    def stands_between(self) -> bool:
        """Whether it is nothing but what springs stand between."""
        return self.kind == FIXED and bool(self.link.joint_springs)


def pieces_of(arm: SpatialArm, driven: bool = False) -> tuple[Piece, ...]:
    """The pieces of an arm, from its base; one that is ``driven`` gives way as the six springs of an elastic one do.

    Springs at a joint that slides are before the guide along which it does: these stand between pieces of their own.

    Raises
    ------
    ArmError
        Where a link has what motions in space do not know.
    """
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
    """A piece without length or mass."""
    return SpatialLink(0.0, rigid=True, **values)  # type: ignore[arg-type]


def _of_base(stiffness: float) -> tuple[Spring, ...]:
    """The six directions in which a base moves; the stiffness of an elastic one, which mixes them, stands elsewhere."""
    return tuple(
        Spring(kind, tuple(axis), stiffness)  # type: ignore[arg-type]
        for kind in ("translation", "rotation")
        for axis in np.eye(3).tolist()
    )


def _check(link: SpatialLink) -> None:
    """Refuse what motions in space do not know."""
    if link.loss_factor is not None and float(link.loss_factor) != 0.0:
        raise ArmError(
            f"loss_factor = {shown(link.loss_factor)}: has no meaning in time; give kelvin_voigt_time, s."
        )
    if float(link.joint_stiffness) == 0.0:
        raise ArmError(
            "joint_stiffness = 0.0: every joint turns in the dynamics, and this spring lies between the motor and the "
            "link; leave it out for a joint that the motor moves directly."
        )
