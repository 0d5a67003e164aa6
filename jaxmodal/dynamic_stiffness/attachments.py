"""Fields at the axis of a joint and at the tip of a link, beyond hubs and rigid offsets, with springs and bodies.

These functions apply to the six fields (`fields.FIELDS`) of motions, arrays of shape (n, 6, ...) with one entry per
link, what `joints` applies to a dynamic stiffness.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from jaxmodal.dynamic_stiffness.foundation import base_moves, in_first_link
from jaxmodal.dynamic_stiffness.joints import attachments
from jaxmodal.runtime.namespace import Array, added, placed, xp
from jaxmodal.statics.beam_arrays import SPRINGS, TURNING, BeamArrays
from jaxmodal.statics.laws import spring_law
from jaxmodal.statics.link_parts import HUB, ROTOR, TIP, Body, named

#: above this the law of a joint tells the motion beyond it
_CLEAR = 0.1


def _like(x: Array, fields: Array) -> Array:
    return x.reshape(x.shape + (1,) * (fields.ndim - 2))


def at_joint(beams: BeamArrays, omega: Array, inner: Array, sizes: bool = False) -> Array:
    """Return fields beyond the joint's springs, on its axis, from those at the inner ends: shape (n, 6, ...).

    The forces are those transmitted by the springs, including the inertia forces of the hub. With ``sizes``, absolute
    values of all terms are added.
    """
    if beams.base_offset is not None:
        along, across = (_like(x, inner) for x in beams.base_offset)
        inner = _moved(inner, -along, -across, sizes)
    if beams.base_turning_stiffness is not None:
        resisted = _resisted(beams.base_turning_stiffness, inner, sizes)
        inner = added(inner, np.s_[:, 5], resisted if sizes else -resisted)
    if not beams.carries_at_joints:
        return inner
    body = beams.hub_or_none
    if beams.rotor is not None:
        _, driven, _ = beams.rotor.reflected()
        body = body._replace(inertia=body.inertia + (xp.abs(driven) if sizes else driven))
    forces = inner[:, 3:] + body.along(inner).times(omega * omega).momentum(inner)
    return xp.concatenate([inner[:, :3], forces], axis=1)


def along_directions(body: Body, turning: Array | None, omega: Array) -> Array:
    """Return what resists an acceleration along u, v and psi, (n, 3): masses and inertias.

    ``turning`` is what forces at rest resist a turn with, a negative inertia.
    """
    inertia = body.inertia if turning is None else body.inertia - turning / (omega * omega)
    return xp.stack([body.mass, body.mass, inertia], axis=1)


def rotors(beams: BeamArrays) -> list[Array]:
    """Return inertias and ratios of the rotors along u, v and psi, (n, 3) each."""
    nothing = xp.zeros_like(beams.length)
    return [xp.stack([nothing, nothing, x], axis=1) for x in beams.rotor_or_none]


def _resisted(stiffness: Array, fields: Array, sizes: bool) -> Array:
    """Return the moment of static forces against the rotation of a rigid part."""
    return _like(xp.abs(stiffness) if sizes else stiffness, fields) * fields[:, 2]


def at_tip(beams: BeamArrays, outer: Array, sizes: bool = False) -> Array:
    """Return fields at the tip of each link (its body, the next joint) from those at the outer ends: (n, 6, ...)."""
    if beams.end_offset is None:
        return outer
    x, y = (_like(value, outer) for value in beams.end_offset)
    return _moved(outer, x, y, sizes)


def _moved(fields: Array, x: Array, y: Array, sizes: bool) -> Array:
    """Return displacements and section forces of a rigid body at a point (x, y) relative to the given one."""
    if sizes:
        x, y = xp.abs(x), xp.abs(y)
        turned = xp.stack([y, x, 0.0 * x], axis=1) * fields[:, 2:3]
        moment = fields[:, 5] + y * fields[:, 3] + x * fields[:, 4]
        return xp.concatenate([fields[:, :3] + turned, fields[:, 3:5], moment[:, None]], axis=1)
    u, v, psi, normal, shear, moment = (fields[:, k] for k in range(6))
    return xp.stack(
        [u - y * psi, v + x * psi, psi, normal, shear, moment + y * normal - x * shear], axis=1
    )


def inertia_forces(beams: BeamArrays, omega: Array, tip: Array) -> Array:
    """Return ``omega^2 M d`` of the bodies at the tips, about the tips, for the fields there: shape (n, 3, ...).

    The moments of static forces against the rotation of the rigid parts are subtracted.
    """
    total = omega * omega * beams.tip.along(tip).momentum(tip)
    if beams.end_turning_stiffness is None:
        return total
    return added(total, np.s_[:, 2], -_resisted(beams.end_turning_stiffness, tip, False))


class JointLaw(NamedTuple):
    """Law of a joint: ``unit * d - compliance * f`` is equal on both sides.

    f are the forces beyond the springs; shapes (n, 3). ``carried`` is the inertia of the rotor, shape (n,), that adds
    to the moment on the previous link.
    """

    unit: Array
    compliance: Array
    carried: Array


def joint_law(beams: BeamArrays, omega: Array) -> JointLaw:
    """Return the springs of every joint along u, v and psi; ``unit`` also multiplies the motion before the joint."""
    x = attachments(beams)
    unit, torsional = spring_law(beams.joint_stiffness)
    zero, one = xp.zeros_like(unit), xp.ones_like(unit)
    if x.relative_inertia is not None:
        unit = unit - omega * omega * x.relative_inertia * torsional
    axial = zero if x.axial_compliance is None else x.axial_compliance
    shear = zero if x.shear_compliance is None else x.shear_compliance
    along = one if x.axial_unit is None else x.axial_unit
    across = one if x.shear_unit is None else x.shear_unit
    return JointLaw(
        xp.stack([along, across, unit], axis=1),
        xp.stack([axial, shear, torsional], axis=1),
        zero if x.carried_inertia is None else x.carried_inertia,
    )


def without_bodies(beams: BeamArrays) -> BeamArrays:
    """Return the links without hubs, rotors and geometric stiffness beyond the springs of their joints."""
    nothing: dict[str, Any] = dict.fromkeys((*HUB, *ROTOR, TURNING[0]))
    return dataclasses.replace(beams, **nothing)


class Driven(NamedTuple):
    """Hubs and rotors beyond the springs of the joints, as felt by the part before them; along u, v and psi, (n, 3).

    ``share`` is the transmitted part of the force of the link beyond, and ``inertia`` the equivalent inertia that moves
    with the part before, where ``known``.
    """

    share: Array
    inertia: Array
    known: Array


def driven_inertia(beams: BeamArrays, omega: Array) -> Driven:
    """Return hubs and rotors beyond the joints, with their own motion b eliminated by the law of the joint.

    The balance of forces before a joint has terms ``omega^2 H b``, H the hub. If it is heavy, they turn rounding errors
    of b, which are relative to the motion of its link, into forces on a part that may hardly move. A rotor of inertia J
    and gear ratio N turns by ``(1 - N) a + N b``, a and b the rotations on both sides. If it is heavy, it couples them,
    and rounding errors of the law of the joint enter the moments with a factor N^2. With b from the law::

        (s - omega^2 c (H + N^2 J)) b = (s - omega^2 c N (N - 1) J) a + c F

    the balance contains the force F of the link beyond in place of both. ``s * give = c * force`` is the law of the
    spring. Where the factor of b is near 0, at a resonance of hub and rotor on the spring, the balance is not changed.
    """
    law = joint_law(beams, np.float64(0.0))
    hub = along_directions(beams.hub_or_none, beams.base_turning_stiffness, omega)
    rotor, ratio = rotors(beams)
    unit, give, other = law.unit, omega * omega * law.compliance, ratio - 1.0
    pivot = unit - give * (hub + ratio * ratio * rotor)
    known = xp.abs(pivot) > _CLEAR
    pivot = xp.where(known, pivot, 1.0)
    across = unit - give * ratio * other * rotor
    felt = unit * (hub + rotor) - give * other * other * hub * rotor
    return Driven(across / pivot, felt / pivot, known)


def before_joint(beams: BeamArrays, tip: Array, joint: Array | None = None) -> Array:
    """Return displacements before each joint in the axes of the link beyond it; shape (n, 3, ...).

    They are zero at the base; or, if the fields at the joints are given, those of an elastic base.
    """
    sine, cosine = _like(xp.sin(beams.joint_angle), tip), _like(xp.cos(beams.joint_angle), tip)
    u, v, psi = (placed(xp.roll(tip[:, k], 1, axis=0), 0, 0.0) for k in range(3))
    before = xp.stack([cosine * u + sine * v, cosine * v - sine * u, psi], axis=1)
    if beams.base_xx is None or joint is None:
        return before
    moved, _ = base_moves(beams, joint_law(beams, 0.0), joint)
    return placed(before, 0, in_first_link(beams, moved))


def spring_gives(
    beams: BeamArrays, omega: Array, inner: Array, outer: Array, before: Array
) -> Array:
    """Return relative displacements over the springs along u, v and psi: shape (n, 3, ...).

    They are computed from the fields at both ends of the links and the displacements before the joints: for stiff
    joints from the forces in the springs, for soft ones from the displacements on both sides, whichever is more
    accurate. ``omega`` is one number, or one for each entry of the last axis.
    """
    at_rest, inertia = joint_law(beams, 0.0), attachments(beams).relative_inertia
    joint = at_joint(beams, omega, inner)
    # rounding is that of the largest values on the link, which are about those at its ends
    sizes = at_joint(beams, omega, xp.maximum(xp.abs(inner), xp.abs(outer)), sizes=True)
    unit, give = (_like(x, joint) for x in (at_rest.unit, at_rest.compliance))
    if inertia is not None:
        taken = omega * omega * _like(inertia, joint[:, 2:3]) * give[:, 2]
        unit = added(unit + xp.zeros_like(joint[:, :3]), np.s_[:, 2], -taken)
    firm = give * sizes[:, 3:] < xp.abs(unit) * (sizes[:, :3] + xp.abs(before))
    clear = firm & (xp.abs(unit) > 0.5)
    by_forces = give * joint[:, 3:] / xp.where(clear, unit, 1.0)
    return xp.where(clear, by_forces, joint[:, :3] - before)


def opposed(beams: BeamArrays) -> BeamArrays:
    """Return the links with bodies and springs of opposite sign.

    The terms of an entry of the matrix then add by absolute value.
    """
    more: dict[str, Any] = named(TIP, beams.tip.opposed())
    more |= named(SPRINGS, (None if k is None else -k for k in beams.springs))
    if beams.end_turning_stiffness is not None:
        more["end_turning_stiffness"] = xp.abs(beams.end_turning_stiffness)
    return dataclasses.replace(beams, **more)
