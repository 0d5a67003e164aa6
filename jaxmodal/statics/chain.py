"""Section forces along a chain by statics alone, and the displacements they cause.

Deflections are small: loads act at the undeformed posture. Section forces are those exerted by the part towards the
tip. All arrays begin with the axis of the links, (n, ...); further axes are those of the links' values.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from jaxmodal.runtime.namespace import Array, xp
from jaxmodal.statics.beam_arrays import BeamArrays
from jaxmodal.statics.foundation import base_gives
from jaxmodal.statics.laws import flexibility, line_mass, shear_ratio, spring_law
from jaxmodal.statics.link_parts import Offset


class DeadLoads(NamedTuple):
    """Loads of fixed direction, in base axes; arrays of shape (...).

    Gravity in m/s^2 (minus a steady acceleration of the base) on all masses, and a force in N at the tip of the last
    link.
    """

    gravity_x: Array
    gravity_y: Array
    tip_force_x: Array
    tip_force_y: Array

    def plus(self, other: DeadLoads) -> DeadLoads:
        """Return the sum of two sets of loads."""
        return DeadLoads(*(a + b for a, b in zip(self, other, strict=True)))

    @property
    def any(self) -> bool:
        """True if a component is not zero."""
        return any(float(x) for x in self)


class Geometry(NamedTuple):
    """Geometry of each link in base axes: its direction, and the vectors joint to start, start to end, end to tip."""

    cosine: Array
    sine: Array
    base: tuple[Array, Array]
    along: tuple[Array, Array]
    end: tuple[Array, Array]


class SectionForces(NamedTuple):
    """Forces along the chain, (n, ...): along and across each link, and moments.

    ``start`` and ``outer`` are at the two ends of the link, ``joint`` in its springs, each (N, V, M). ``load`` is the
    weight per length along and across; in between N and V are linear and M is quadratic.
    """

    joint: tuple[Array, Array, Array]
    start: tuple[Array, Array, Array]
    outer: tuple[Array, Array, Array]
    load: tuple[Array, Array]


class Displacements(NamedTuple):
    """Displacements (x, y, rotation) in base axes, (n, ...), of each link's start, its end and its tip."""

    start: tuple[Array, Array, Array]
    outer: tuple[Array, Array, Array]
    tip: tuple[Array, Array, Array]


def geometry(beams: BeamArrays) -> Geometry:
    """Return directions and lengths in the posture."""
    angle = xp.cumsum(beams.joint_angle, axis=0)
    c, s = xp.cos(angle), xp.sin(angle)

    def turned(offset: Offset) -> tuple[Array, Array]:
        x, y = offset
        return c * x - s * y, s * x + c * y

    link = beams.length, xp.zeros_like(beams.length)
    return Geometry(c, s, *(turned(x) for x in (beams.start, link, beams.end)))


def places(shape: Geometry) -> tuple[Array, Array, Array]:
    """Return joints, starts of links and tips in the posture, in base axes, (2, n, ...) each."""
    base, along, end = (xp.stack(x, axis=0) for x in (shape.base, shape.along, shape.end))
    tips = xp.cumsum(base + along + end, axis=1)
    starts = tips - along - end
    return starts - base, starts, tips


def weights(beams: BeamArrays, shape: Geometry, loads: DeadLoads) -> tuple[Any, Any, Any, Any]:
    """Return weight per length, and forces and moment at tips and at hubs, in base axes."""
    x, y = loads.gravity_x, loads.gravity_y
    line = line_mass(beams)
    tip, hub = beams.tip, beams.hub_or_none
    tip_x, tip_y = tip.mass * x, tip.mass * y
    last = np.arange(tip_x.shape[0]) == tip_x.shape[0] - 1
    last = last.reshape(-1, *(1,) * (tip_x.ndim - 1))
    tip_x = xp.where(last, tip_x + loads.tip_force_x, tip_x)
    tip_y = xp.where(last, tip_y + loads.tip_force_y, tip_y)
    moment = xp.zeros_like(tip_x)
    if tip.moment_x is not None:
        along = shape.cosine * tip.moment_x - shape.sine * tip.moment_y
        across = shape.sine * tip.moment_x + shape.cosine * tip.moment_y
        moment = along * y - across * x
    return (line * x, line * y), (tip_x, tip_y), moment, (hub.mass * x, hub.mass * y)


def _cross(d: tuple[Array, Array], f: tuple[Array, Array]) -> Array:
    return d[0] * f[1] - d[1] * f[0]


def _from_tip(x: Array) -> Array:
    """Return cumulative sums from the tip inwards along the first axis."""
    return xp.flip(xp.cumsum(xp.flip(x, axis=0), axis=0), axis=0)


def section_forces(
    beams: BeamArrays, shape: Geometry, line: Any, tip: Any, moment: Any, hub: Any
) -> SectionForces:
    """Return section forces of loads in link axes by statics alone, as sums from the tip inwards."""
    length = beams.length
    weight = tuple(w * length for w in line)
    own = [t + w + h for t, w, h in zip(tip, weight, hub, strict=True)]
    joint = tuple(_from_tip(x) for x in own)
    start = tuple(x - h for x, h in zip(joint, hub, strict=True))
    outer = tuple(x - w for x, w in zip(start, weight, strict=True))
    middle = tuple(o + 0.5 * w for o, w in zip(outer, weight, strict=True))
    at_end = moment + _cross(shape.end, outer)
    over_link, over_base = _cross(shape.along, middle), _cross(shape.base, start)
    at_joint = _from_tip(at_end + over_link + over_base)
    beyond = xp.concatenate([at_joint[1:], xp.zeros_like(at_joint[:1])], axis=0)
    at_outer = beyond + at_end  # without the rounding errors of terms that cancel
    at_start = at_outer + over_link

    def in_link(f: Any) -> tuple[Array, Array]:
        c, s = shape.cosine, shape.sine
        return c * f[0] + s * f[1], c * f[1] - s * f[0]

    return SectionForces(
        (*in_link(joint), at_joint),
        (*in_link(start), at_start),
        (*in_link(outer), at_outer),
        in_link(line),
    )


def forces_of_reactions(beams: BeamArrays, shape: Geometry, reactions: Array) -> SectionForces:
    """Return section forces of forces and moments at tips, (n, 3, ...), given in base axes."""
    zero = xp.zeros_like(reactions[:, 0])
    x, y, moment = reactions[:, 0], reactions[:, 1], reactions[:, 2]
    return section_forces(beams, shape, (zero, zero), (x, y), moment, (zero, zero))


def added_forces(a: SectionForces, b: SectionForces) -> SectionForces:
    """Return the sum of the section forces of two sets of loads."""
    return SectionForces(
        *(tuple(x + y for x, y in zip(p, q, strict=True)) for p, q in zip(a, b, strict=True))
    )


def joint_laws(beams: BeamArrays) -> tuple[Array, Array]:
    """Return units and compliances of the joint springs, shape (n, 3, ...)."""
    rigid = xp.full_like(beams.length, np.inf)
    given = [rigid if k is None else k for k in beams.springs]
    # a free joint stays free if its stiffness is 0 with an imaginary part, from a derivative
    laws = [spring_law(xp.where(xp.real(k) == 0.0, 0.0, k)) for k in given]
    return xp.stack([x[0] for x in laws], axis=1), xp.stack([x[1] for x in laws], axis=1)


def joint_gives(beams: BeamArrays, forces: SectionForces) -> Array:
    """Return deflections of joint springs and of the base under their forces; 0 where a joint is free."""
    unit, y = joint_laws(beams)
    gives = unit * y * xp.stack(forces.joint, axis=1)
    base = base_gives(beams, [x[0] for x in forces.joint])
    if base is None:
        return gives
    return xp.concatenate([gives[:1] + xp.stack(base, axis=0)[None], gives[1:]], axis=0)


def bent(
    beams: BeamArrays, shear: Any, axial: Any, forces: SectionForces, x: Array
) -> tuple[Array, Array, Array]:
    """Return stretch, deflection and rotation of each link between its start and x."""
    elastic = flexibility(beams)
    rigidity, give = shear_ratio(beams, shear)
    stretch, bend = axial * elastic / (beams.youngs_modulus * beams.area), elastic / rigidity
    n, v, m = forces.start
    p, q = forces.load
    # N = n - p x, V = v - q x, M = m - v x + q x^2/2
    across = bend * x**2 * (m / 2 - x * (v / 6 - q * x / 24))
    across = across + elastic * give * x * (v - q * x / 2)
    turn = bend * x * (m - x * (v / 2 - q * x / 6))
    return stretch * x * (n - p * x / 2), across, turn


def displacements(
    beams: BeamArrays, shape: Geometry, shear: Any, axial: Any, forces: SectionForces, gives: Array
) -> Displacements:
    """Return displacements from section forces and joint deflections, from the base outwards."""
    du, dv, turn = bent(beams, shear, axial, forces, beams.length)
    before = xp.cumsum(gives[:, 2] + turn, axis=0) - turn
    after = before + turn

    def stepped(rotation: Array, d: tuple[Array, Array]) -> tuple[Array, Array]:
        return -rotation * d[1], rotation * d[0]

    def out(x: Array, y: Array) -> tuple[Array, Array]:
        return shape.cosine * x - shape.sine * y, shape.sine * x + shape.cosine * y

    joint = out(gives[:, 0], gives[:, 1])
    base = stepped(before, shape.base)
    link = [a + b for a, b in zip(stepped(before, shape.along), out(du, dv), strict=True)]
    end = stepped(after, shape.end)
    tip = [xp.cumsum(sum(x), axis=0) for x in zip(joint, base, link, end, strict=True)]
    outer = [t - e for t, e in zip(tip, end, strict=True)]
    start = [o - d for o, d in zip(outer, link, strict=True)]
    return Displacements((*start, before), (*outer, after), (*tip, after))
