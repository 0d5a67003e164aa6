"""Effect of joints, hubs, bodies and rigid offsets on a dynamic stiffness: arithmetic on symmetric 3 x 3 matrices.

A stiffness is a named tuple of the six entries uu, uv, up, vv, vp, pp over (u, v, psi). There are four operations: a
body is added, an offset is a congruence, a spring is a series compliance with a pivot that the count needs, and a rigid
link replaces the member. The features of an arm are part of its structure, so that absent ones cost nothing.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import jax

from jaxmodal.arithmetic.operations import Number, nonzero, select
from jaxmodal.dynamic_stiffness.foundation import BASE_FEATURES, base_features
from jaxmodal.dynamic_stiffness.supports import support_laws
from jaxmodal.statics.beam_arrays import TURNING, BeamArrays
from jaxmodal.statics.laws import spring_law
from jaxmodal.statics.link_parts import (
    BASE_OFFSET,
    END_OFFSET,
    HUB,
    REFLECTED,
    TIP,
    Body,
    WithParts,
)

#: a named tuple of the entries uu, uv, up, vv, vp, pp
Symmetric = Any


#: features that are fields of `BeamArrays`, and laws that take the place of others
_AS_GIVEN = (*HUB, *BASE_OFFSET, *END_OFFSET, *TIP[2:], "flexible", *TURNING)
_SPRING_LAWS = ("axial_unit", "axial_compliance", "shear_unit", "shear_compliance")
_SUPPORT_LAWS = tuple(
    f"support_{name}_{part}" for name in ("x", "y", "turn") for part in ("unit", "spring")
)
_NAMES = frozenset((*_AS_GIVEN, *REFLECTED, *_SPRING_LAWS, *_SUPPORT_LAWS, *BASE_FEATURES))


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Attachments(WithParts):
    """Values of the features of one link by name, arrays or numbers; one that the arm lacks reads as None.

    ``axial_unit, axial_compliance`` and those of shear are laws from `spring_law`, compliances in m/N; the `REFLECTED`
    are those of a rotor, kg m^2. The laws of supports at the tip are from `supports.support_laws`, those of the base
    from `foundation.base_features`.
    """

    features: dict[str, Any]

    def __getattr__(self, name: str) -> Any:
        if name in _NAMES:
            return self.features.get(name)
        raise AttributeError(name)


def attachments(link: BeamArrays) -> Attachments:
    """Return the features of one link as arrays; of the body at its tip only the first moments."""
    given = {name: getattr(link, name) for name in _AS_GIVEN}
    found = {name: x for name, x in given.items() if x is not None}
    if link.rotor is not None:
        found |= dict(zip(REFLECTED, link.rotor.reflected(), strict=True))
    along, across, _ = link.springs
    if along is not None and across is not None:
        laws = (*spring_law(along), *spring_law(across))
        found |= dict(zip(_SPRING_LAWS, laws, strict=True))
    supports = [x for law in support_laws(link) for x in law]
    found |= dict(zip(_SUPPORT_LAWS, supports, strict=False))
    return Attachments(found | base_features(link))


def with_body(w: Symmetric, omega2: Number, body: Body) -> Symmetric:
    """Return ``W - omega^2 M`` of a body."""
    inertial = omega2 * body.mass
    w = w._replace(uu=w.uu - inertial, vv=w.vv - inertial, pp=w.pp - omega2 * body.inertia)
    if body.moment_x is None:
        return w
    return w._replace(up=w.up + omega2 * body.moment_y, vp=w.vp - omega2 * body.moment_x)


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
    own = Body(mass_term, third + rotary_term, half, one * 0.0)
    rigid = with_body(shifted(tip, length, length * 0.0), one, own)
    return type(elastic)(*(select(flexible, a, b) for a, b in zip(elastic, rigid, strict=True)))
