"""Effect of joints, hubs, bodies and rigid offsets on a dynamic stiffness: arithmetic on symmetric 3 x 3 matrices.

A stiffness is a named tuple of the six entries uu, uv, up, vv, vp, pp over (u, v, psi). There are four operations: a
body is added, an offset is a congruence, a spring is a series compliance with a pivot that the count needs, and a rigid
link replaces the member. The features of an arm are part of its structure, so that absent ones cost nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from jaxmodal.arithmetic.operations import Number, nonzero, select
from jaxmodal.dynamic_stiffness.foundation import base_features
from jaxmodal.dynamic_stiffness.supports import support_laws
from jaxmodal.runtime.namespace import Array
from jaxmodal.statics.beam_arrays import BeamArrays
from jaxmodal.statics.laws import spring_law

#: a named tuple of the entries uu, uv, up, vv, vp, pp
Symmetric = Any


class Attachments(NamedTuple):
    """Values of the features of one link, None for features that the arm does not have; arrays or numbers.

    ``axial_unit, axial_compliance`` and those of shear are laws from `spring_law`, compliances in m/N;
    ``relative_inertia = N (N - 1) J``, ``driven_inertia = N J`` and ``carried_inertia = (1 - N) J`` for a rotor of
    inertia J and gear ratio N, in kg m^2. The laws of supports at the tip are from `supports.support_laws`, those of
    the base from `foundation.base_features`.
    """

    axial_unit: Any = None
    axial_compliance: Any = None
    shear_unit: Any = None
    shear_compliance: Any = None
    hub_mass: Any = None
    hub_inertia: Any = None
    relative_inertia: Any = None
    driven_inertia: Any = None
    carried_inertia: Any = None
    base_offset_x: Any = None
    base_offset_y: Any = None
    end_offset_x: Any = None
    end_offset_y: Any = None
    tip_moment_x: Any = None
    tip_moment_y: Any = None
    flexible: Any = None
    support_x_unit: Any = None
    support_x_spring: Any = None
    support_y_unit: Any = None
    support_y_spring: Any = None
    support_turn_unit: Any = None
    support_turn_spring: Any = None
    base_turning_stiffness: Any = None
    end_turning_stiffness: Any = None
    foundation_xx: Any = None
    foundation_xy: Any = None
    foundation_xr: Any = None
    foundation_yy: Any = None
    foundation_yr: Any = None
    foundation_rr: Any = None
    foundation_x_scale: Any = None
    foundation_x_rigid: Any = None
    foundation_y_scale: Any = None
    foundation_y_rigid: Any = None
    foundation_turn_scale: Any = None
    foundation_turn_rigid: Any = None


def attachments(link: BeamArrays) -> Attachments:
    """Return the features of one link as arrays."""
    rotor: dict[str, Array] = {}
    if link.rotor_inertia is not None and link.gear_ratio is not None:
        inertia, ratio = link.rotor_inertia, link.gear_ratio
        rotor = {
            "relative_inertia": ratio * (ratio - 1.0) * inertia,
            "driven_inertia": ratio * inertia,
            "carried_inertia": (1.0 - ratio) * inertia,
        }
    springs: dict[str, Array] = {}
    if link.joint_axial_stiffness is not None and link.joint_shear_stiffness is not None:
        names = ("axial_unit", "axial_compliance", "shear_unit", "shear_compliance")
        laws = (*spring_law(link.joint_axial_stiffness), *spring_law(link.joint_shear_stiffness))
        springs = dict(zip(names, laws, strict=True))
    supports = {
        f"support_{name}_{part}": x
        for name, law in zip(("x", "y", "turn"), support_laws(link), strict=False)
        for part, x in zip(("unit", "spring"), law, strict=True)
    }
    plain = {
        name: getattr(link, name)
        for name in Attachments._fields
        if hasattr(link, name) and getattr(link, name) is not None
    }
    return Attachments(**plain, **rotor, **springs, **supports, **base_features(link))


def with_body(
    w: Symmetric,
    omega2: Number,
    mass: Number,
    inertia: Number,
    moment_x: Number | None = None,
    moment_y: Number | None = None,
) -> Symmetric:
    """Return ``W - omega^2 M`` for a body with given mass, optional first moments, and inertia about the point."""
    inertial = omega2 * mass
    w = w._replace(uu=w.uu - inertial, vv=w.vv - inertial, pp=w.pp - omega2 * inertia)
    if moment_x is None or moment_y is None:
        return w
    return w._replace(up=w.up + omega2 * moment_y, vp=w.vp - omega2 * moment_x)


def shifted(w: Symmetric, x: Number, y: Number) -> Symmetric:
    """Return ``G^T W G`` for a point from which that of W is at (x, y): u - y psi, v + x psi."""
    up = w.up - y * w.uu + x * w.uv
    vp = w.vp - y * w.uv + x * w.vv
    pp = w.pp + x * (w.vp + vp) - y * (w.up + up)
    return w._replace(up=up, vp=vp, pp=pp)


def through_axial_spring(p: Symmetric, unit: Number, y: Number) -> tuple[Symmetric, Number]:
    """Add a spring along u in series, with the law of `spring_law`, and return its pivot ``unit + y P_uu`` as well."""
    pivot = nonzero(y * p.uu + unit)
    inverse = 1.0 / pivot
    a, by_pivot = y * inverse, unit * inverse
    return (
        p._replace(
            uu=p.uu * by_pivot,
            uv=p.uv * by_pivot,
            up=p.up * by_pivot,
            vv=p.vv - a * p.uv * p.uv,
            vp=p.vp - a * p.uv * p.up,
            pp=p.pp - a * p.up * p.up,
        ),
        pivot,
    )


def through_shear_spring(p: Symmetric, unit: Number, y: Number) -> tuple[Symmetric, Number]:
    """Add a spring along v in series, and return its pivot ``unit + y P_vv`` as well."""
    turned, pivot = through_axial_spring(p._replace(uu=p.vv, up=p.vp, vv=p.uu, vp=p.up), unit, y)
    return turned._replace(uu=turned.vv, up=turned.vp, vv=turned.uu, vp=turned.up), pivot


def rigid_or(
    flexible: Number,
    elastic: Symmetric,
    tip: Symmetric,
    length: Number,
    mass_term: Number,
    rotary_term: Number,
) -> Symmetric:
    """Return ``elastic`` for a flexible link, otherwise the stiffness of a rigid link with that of its tip.

    ``mass_term`` and ``rotary_term`` are omega^2 times its mass and the rotary inertia of its sections.
    """
    one = length * 0.0 + 1.0
    half, third = length * mass_term * 0.5, length * length * mass_term / 3.0
    rigid = with_body(
        shifted(tip, length, length * 0.0), one, mass_term, third + rotary_term, half, one * 0.0
    )
    return type(elastic)(*(select(flexible, a, b) for a, b in zip(elastic, rigid, strict=True)))
