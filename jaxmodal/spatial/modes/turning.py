"""Stiffness that forces at rest give the rigid parts of an arm in space against rotation.

A force F that acts on a rigid part, at r from the place where its motion is known, has for a rotation phi the
second-order energy ``(F.r) phi^2/2 - (F.phi)(r.phi)/2``. A moment m in a joint has ``-m . (phi_before x
phi_beyond)/2``. Deflections g of joint springs move with the part before, with the energy ``-F . (phi_before x g)``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jaxmodal.runtime.array_types import Floats
from jaxmodal.spatial.stiffness.matrices import skew


class Turning(NamedTuple):
    """Stiffnesses (3, 3) of the rigid parts of one link, and the coupling of its joint.

    ``start`` belongs to its hub and its offset at the base, ``end`` to its offset and the bodies at the tip, both in
    the axes of the link; ``along`` to a rigid link, in those of its section. ``joint`` (6, 6) couples the motion before
    the joint to the deflections of its springs.
    """

    start: Floats
    along: Floats
    end: Floats
    joint: Floats


class TurningParts(NamedTuple):
    """The stiffnesses of all links, and that (3, 3) of the stator on an elastic base, in the axes of the ground."""

    links: list[Turning]
    base: Floats


def turned_by(force: Floats, place: Floats) -> Floats:
    """Return the stiffness against rotation that a force gives, which acts on a rigid part at a place."""
    outer = np.outer(force, place)
    found: Floats = force @ place * np.eye(3) - 0.5 * (outer + outer.T)
    return found


def joint_coupling(load: Floats) -> Floats:
    """Return the coupling (6, 6) of the motion before a joint, which carries a load, to its deflections."""
    found = np.zeros((6, 6), load.dtype)
    found[3:, :3], found[3:, 3:] = skew(load[:3]), 0.5 * skew(load[3:])
    return found
