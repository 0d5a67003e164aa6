"""Deflections and forces of supports at tips in a mode."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jaxmodal.dynamic_stiffness.attachments import at_tip
from jaxmodal.dynamic_stiffness.supports import in_ground_axes, link_stiffness, without_supports
from jaxmodal.eigenspaces.null_spaces import end_conditions
from jaxmodal.runtime.namespace import Array, added, xp
from jaxmodal.statics.beam_arrays import SUPPORTS, BeamArrays


class SupportGives(NamedTuple):
    """Deflection of each support, and its force on the tip, (n, 3) each, in ground axes."""

    moved: Array
    pushed: Array


def support_gives(beams: BeamArrays, omega: Array, inner: Array, outer: Array) -> SupportGives:
    """Return deflections and forces of the supports in a mode from its fields at the ends of the links.

    The force of a stiff support is the remainder of the other forces at the tip, and its deflection follows from that.
    As the end value of a field, it would be known only to the rounding of the motion of the link.
    """
    own, _, following = end_conditions(without_supports(beams), omega, inner, outer)
    left = in_ground_axes(added(own, np.s_[:-1], following[1:])[:, 3:], beams.ground_angle)
    given = xp.stack([getattr(beams, name) for name in SUPPORTS], axis=1)
    moved = in_ground_axes(at_tip(beams, outer)[:, :3], beams.ground_angle)
    stiff = given > xp.stack(link_stiffness(beams), axis=1)
    finite = xp.where(xp.isinf(given), 1.0, given)
    by_force = xp.where(xp.isinf(given), 0.0, -left / xp.where(stiff, finite, 1.0))
    return SupportGives(
        xp.where(stiff, by_force, moved),
        xp.where(stiff, left, -xp.where(stiff, 0.0, finite) * moved),
    )
