"""The elastic base in the condensation and in the conditions at the first joint.

The ground holds the base by K, in series with joint 1. With the base released from the ground the stiffness is K + P, P
the dynamic stiffness of the arm: its negative eigenvalues are counted, and its determinant is the last factor of D.
"""

from __future__ import annotations

from typing import Any

from jaxmodal.arithmetic.operations import Number, absolute, nonzero
from jaxmodal.dynamic_stiffness.stiffness import Receptance, Sizes
from jaxmodal.dynamic_stiffness.supports import in_ground_axes
from jaxmodal.runtime.namespace import Array, xp
from jaxmodal.statics.beam_arrays import BeamArrays
from jaxmodal.statics.foundation import BaseLaw, Triple, base_law, of_first, times

#: the arguments of `with_base`: the entries of K, then S, then which directions are rigid
BASE_FEATURES = tuple(
    f"foundation_{name}"
    for name in (
        *("xx", "xy", "xr", "yy", "yr", "rr"),
        *("x_scale", "y_scale", "turn_scale", "x_rigid", "y_rigid", "turn_rigid"),
    )
)


def base_features(beams: BeamArrays) -> dict[str, Array]:
    """Return the arguments of `with_base` by name; empty if no arm has an elastic base."""
    law = base_law(beams)
    if law is None:
        return {}
    return dict(zip(BASE_FEATURES, (*law.stiffness, *law.scale, *law.rigid), strict=True))


def with_base(p: Any, given: Any) -> Receptance:
    """Return ``S (K + P) S`` with scales S, in the form that decides the signs of its eigenvalues and its determinant.

    ``p`` is in ground axes, ``given`` has the fields of `base_features`. Rigid directions are replaced by a row and a
    column of the identity.
    """
    x, y, r = given.foundation_x_scale, given.foundation_y_scale, given.foundation_turn_scale
    uu = x * x * (p.uu + given.foundation_xx) + given.foundation_x_rigid
    vv = y * y * (p.vv + given.foundation_yy) + given.foundation_y_rigid
    pp = r * r * (p.pp + given.foundation_rr) + given.foundation_turn_rigid
    uv = x * y * (p.uv + given.foundation_xy)
    up = x * r * (p.up + given.foundation_xr)
    vp = y * r * (p.vp + given.foundation_yr)
    minor_vp = vv * pp - vp * vp
    det: Number = nonzero(uu * minor_vp - uv * (uv * pp - vp * up) + up * (uv * vp - vv * up))
    minors = (uu * vv - uv * uv, uu * pp - up * up, minor_vp)
    return Receptance(uu, vv, pp, *minors, det_full=det, det_flex=det)


def shaken_base(base: Receptance, given: Any, terms: Sizes) -> Number:
    """Return the relative error of the determinant of `with_base`, in roundings.

    Those of P are as large as its ``terms``.
    """
    x, y, r = given.foundation_x_scale, given.foundation_y_scale, given.foundation_turn_scale
    force = terms.u + terms.v
    by_force = x * x * absolute(base.minor_vp) + y * y * absolute(base.minor_up)
    by_moment = r * r * absolute(base.minor_uv) * terms.p
    return (by_force * force + by_moment) / absolute(base.det_full)


def base_motion(beams: BeamArrays, law: Any, motion: Array, forces: Array, sizes: bool) -> Array:
    """Return the conditions at the base in ground axes, (3, ...).

    ``motion`` (1, 3, ...) is ``unit * d - compliance * f`` of joint 1, ``forces`` are those in it, in its link's axes.
    """
    base = _first(beams)
    angle = beams.joint_angle[:1]
    moved = in_ground_axes(motion, angle, sizes)[0]
    given = times(base.compliance, in_ground_axes(forces, angle, sizes)[0], sizes)
    turns = (1.0, 1.0, law.unit[0, 2])  # of a free hinge the moment alone is a condition
    signed = 1.0 if sizes else -1.0
    rows = [
        u * m + signed * t * g for u, m, t, g in zip(base.unit, moved, turns, given, strict=True)
    ]
    return xp.stack(rows, axis=0)


def base_moves(beams: BeamArrays, law: Any, joint: Array) -> tuple[Array, Array]:
    """Return the motion of the base in ground axes, (3, ...), and the force on it, from the fields at the joints.

    In elastic directions the motion is computed from the force, which is accurate for a stiff base.
    """
    base, angle = _first(beams), beams.joint_angle[:1]
    expand = (slice(None), slice(None)) + (None,) * (joint.ndim - 2)
    motion = law.unit[:1][expand] * joint[:1, :3] - law.compliance[:1][expand] * joint[:1, 3:]
    moved, force = in_ground_axes(motion, angle)[0], in_ground_axes(joint[:1, 3:], angle)[0]
    given = times(base.compliance, force)
    found = [xp.where(u > 0.0, g, m) for u, g, m in zip(base.unit, given, moved, strict=True)]
    carried = [u * f for u, f in zip(base.unit, force, strict=True)]
    return xp.stack(found, axis=0), xp.stack(carried, axis=0)


def in_first_link(beams: BeamArrays, vector: Array) -> Array:
    """Return a vector (3, ...) in ground axes in those of link 1."""
    turned: Array = in_ground_axes(vector[None], -beams.joint_angle[:1])[0]
    return turned


def base_unit(beams: BeamArrays) -> Triple:
    """Return 0 where the base is free, otherwise 1."""
    return _first(beams).unit


def _first(beams: BeamArrays) -> BaseLaw:
    law = base_law(beams)
    assert law is not None
    return of_first(law)
