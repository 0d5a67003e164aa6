"""Displacements of heavy bodies, hubs and rotors at the joints, from the forces on them.

A body that hardly moves has the displacement caused by the forces on it, which is known to 1e-16 of itself. As the end
value of a field, it is known only to 1e-16 of the motion of the link.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jaxmodal.dynamic_stiffness.attachments import (
    along_directions,
    at_joint,
    joint_law,
    rotors,
    without_bodies,
)
from jaxmodal.dynamic_stiffness.supports import in_ground_axes, law_arrays
from jaxmodal.runtime.namespace import Array, placed, xp
from jaxmodal.statics.beam_arrays import BeamArrays


class _Sides(NamedTuple):
    """Values before and beyond a joint, in the axes of the link beyond: u, v and psi, shapes (n + 1, 3).

    Entry k is of joint k; the last one is the tip of the arm, which has nothing beyond.
    """

    before: Array
    beyond: Array


def with_heavy_bodies(
    beams: BeamArrays, omega: Array, inner: Array, outer: Array, largest: Array
) -> tuple[Array, Array]:
    """Return the fields at both ends of the links, with displacements of very heavy bodies from their forces.

    Parameters
    ----------
    inner, outer : Array, shape (n, 6)
        The fields at both ends.
    largest : Array, shape (n, 6)
        The largest value of each field on the link.

    Returns
    -------
    inner, outer : Array, shape (n, 6)
        The given fields, corrected within rounding. Fields at bodies beside the axis, at tips with supports and on an
        elastic base are not changed.
    """
    if beams.tip.moment_x is not None or beams.end_offset is not None:
        return inner, outer
    n = beams.length.shape[0]
    angle = _and_tip(beams.joint_angle)
    beyond = at_joint(without_bodies(beams), omega, inner)
    forces = _Sides(in_ground_axes(_and_base(outer[:, 3:]), -angle), -_and_tip(beyond[:, 3:]))
    moved, loaded = _of_both(largest[:, :3]), _of_both(largest[:, 3:])
    found, heavy = _from_forces(
        beams,
        omega,
        forces,
        _Sides(_and_base(moved), _and_tip(moved)),
        _Sides(_and_base(loaded), _and_tip(loaded)),
    )
    free = np.ones((n + 1, 1), dtype=bool)
    if beams.supports is not None:
        unit, stiffness = law_arrays(beams)
        clear = xp.all((unit > 0.5) & (stiffness == 0.0), axis=1, keepdims=True)
        free = xp.concatenate([free[:1] & (beams.base_xx is None), clear])
    change = in_ground_axes(_and_base(outer[:, :3]), -angle)
    change = xp.where(heavy.before & free, found.before - change, 0.0)
    outer = placed(outer, np.s_[:, :3], outer[:, :3] + in_ground_axes(change, angle)[1:])
    if beams.base_offset is not None:
        return inner, outer
    displaced = xp.where((heavy.beyond & free)[:n], found.beyond[:n], inner[:, :3])
    return placed(inner, np.s_[:, :3], displaced), outer


def _from_forces(
    beams: BeamArrays, omega: Array, forces: _Sides, moved: _Sides, loaded: _Sides
) -> tuple[_Sides, _Sides]:
    """Return displacements of the bodies at the joints, and True where they are more accurate than those of links.

    With masses m before and h beyond the spring of law ``unit * give = compliance * force``, a rotor of inertia J and
    gear ratio r, which turns by ``(1 - r) a + r b``, and moments A and B of the links on both sides::

        (omega^2 (m + (1 - r)^2 J) - k) a + (omega^2 r (1 - r) J + k) b = A
        (omega^2 r (1 - r) J + k) a + (omega^2 (h + r^2 J) - k) b = B

    The solution has no difference of similar terms except at a resonance of the two bodies on the spring. All parts at
    the joint are treated together, because a rotor with a high gear ratio moves the link before it by its reaction.
    """
    m, h, rotor, ratio, unit, compliance = _bodies(beams, omega)
    give = omega * omega * compliance
    other = ratio - 1.0
    coupled = m * h + ratio * ratio * m * rotor + other * other * h * rotor
    determinant = unit * (m + h + rotor) - give * coupled
    before = unit - give * (h + ratio * ratio * rotor)
    across = unit - give * ratio * other * rotor
    beyond = unit - give * (m + other * other * rotor)
    determinant = omega * omega * determinant
    # the ground before joint 1 does not move, whatever the forces
    held = np.arange(unit.shape[0])[:, None] == 0
    before, across = xp.where(held, 0.0, before), xp.where(held, 0.0, across)
    beyond = xp.where(held, -compliance, beyond)
    determinant = xp.where(held, unit - give * (h + ratio * ratio * rotor), determinant)
    rows = _Sides(*((x, y) for x, y in ((before, across), (across, beyond))))
    clear = xp.where(determinant == 0.0, 1.0, determinant)
    found = _Sides(*((x * forces.before + y * forces.beyond) / clear for x, y in rows))
    noise = (xp.abs(x) * loaded.before + xp.abs(y) * loaded.beyond for x, y in rows)
    size = xp.abs(determinant)
    heavy = _Sides(*(size * x > y for x, y in zip(moved, noise, strict=True)))
    return found, heavy


def _bodies(beams: BeamArrays, omega: Array) -> tuple[Array, ...]:
    """Return masses before and beyond the springs, rotors, their ratios, and the springs' laws; shapes (n + 1, 3)."""
    law = joint_law(beams, np.float64(0.0))
    rotor, ratio = rotors(beams)
    return (
        _and_base(along_directions(beams.tip, beams.end_turning_stiffness, omega)),
        _and_tip(along_directions(beams.hub_or_none, beams.base_turning_stiffness, omega)),
        _and_tip(rotor),
        _and_tip(ratio),
        xp.concatenate([law.unit, np.ones((1, 3))]),
        _and_tip(law.compliance),
    )


def _and_base(x: Array) -> Array:
    """Return values of the tips, preceded by zeros for the base."""
    return xp.concatenate([xp.zeros_like(x[:1]), x])


def _and_tip(x: Array) -> Array:
    """Return values of the joints, followed by zeros for the tip of the arm."""
    return xp.concatenate([x, xp.zeros_like(x[:1])])


def _of_both(largest: Array) -> Array:
    """Return the larger of the first two values in place of both, because joints rotate them into each other."""
    both = xp.max(largest[:, :2], axis=1, keepdims=True)
    return xp.concatenate([both, both, largest[:, 2:]], axis=1)
