"""Distance from zero of the last denominators of the recursion; if they are away from zero, there is no resonance.

A denominator is a sum of stiffnesses, which may themselves remain from cancelled terms: that of a free hinge is a
single term, which is 0 at a resonance. Every stiffness P falls with the frequency by twice the kinetic energy T of the
part beyond, ``omega dP/domega = -2 T``, so that a denominator that is small compared with T is near zero. Here T is
that of the part moving as a rigid body, with its links in one line. Flexible parts move more only near a resonance of
their own with the interface held, and there other denominators are small.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from jaxmodal.arithmetic.operations import minimum, size_of
from jaxmodal.dynamic_stiffness.member import FreeEndMember
from jaxmodal.dynamic_stiffness.stiffness import Stiffness, identity_plus_product
from jaxmodal.response.receptance.lost_digits import permanent
from jaxmodal.statics.beam_arrays import BeamArrays
from jaxmodal.statics.laws import line_mass
from jaxmodal.statics.link_parts import Body

#: relative shift of the frequency by which denominators away from zero change little
_MOVE = 1e-3


class Beyond(NamedTuple):
    """Approximate mass, kg, of the part beyond an interface, and its moment of inertia about the interface, kg m^2."""

    mass: Any
    inertia: Any

    def with_body(self, body: Body) -> Beyond:
        """Return the values with a body at the interface added."""
        return Beyond(self.mass + body.mass, self.inertia + abs(body.inertia))

    def from_distance(self, x: Any, y: Any) -> Beyond:
        """Return the values about a point from which the interface is at (x, y)."""
        return Beyond(self.mass, self.inertia + (x * x + y * y) * self.mass)

    def with_link(self, beam: BeamArrays) -> Beyond:
        """Return the values at the inner end of a member, as if the member were the whole link."""
        mass = line_mass(beam) * beam.length
        square = beam.length * beam.length
        return Beyond(self.mass + mass, self.inertia + square * (self.mass + mass))

    def changes(self, omega2: Any) -> tuple[Any, Any, Any]:
        """Return the change of stiffnesses along, across and about the interface under a small change of frequency."""
        square = _MOVE * size_of(omega2)
        force = square * self.mass
        return force, force, square * self.inertia


NOTHING = Beyond(0.0, 0.0)


class Spring(NamedTuple):
    """The pivot of a joint spring, its law, the axis of its deflection, and the part beyond."""

    pivot: Any
    unit: Any
    compliance: Any
    axis: int
    beyond: Beyond


class Last(NamedTuple):
    """The last member, stiffness and mass beyond it, its denominator, and the springs before it.

    ``base`` has the determinant of an elastic base and the sum of the absolute values of its terms.
    """

    member: FreeEndMember | None
    outboard: Stiffness | None
    beyond: Beyond | None
    det: Any
    springs: tuple[Spring, ...] = ()
    base: tuple[Any, Any] | None = None

    def with_spring(self, *parts: Any) -> Last:
        """Return the record with one more spring, if masses are known."""
        if self.beyond is None:
            return self
        return self._replace(springs=(*self.springs, Spring(*parts)))


def margin_of(last: Last, omega2: Any) -> Any:
    """Return the smallest ratio of the last denominators to the sizes of their terms.

    It is 1e-16 where the arm is in resonance and all digits are lost. Terms are the summands of a denominator and its
    change under a small change of frequency; those of the member's own determinant are about 1.
    """
    margin: Any = np.inf
    if last.member is not None and last.outboard is not None and last.beyond is not None:
        sizes = FreeEndMember(
            *(
                size_of(x) if name.startswith("r_") else x
                for name, x in zip(FreeEndMember._fields, last.member, strict=True)
            )
        )
        outboard = with_changes(last.outboard, last.beyond.changes(omega2))
        margin = size_of(last.det) / permanent(identity_plus_product(sizes, outboard))
        margin = minimum(margin, size_of(last.member.delta))
    for spring in last.springs:
        terms = size_of(spring.unit) + size_of(spring.pivot - spring.unit)
        terms = terms + size_of(spring.compliance) * spring.beyond.changes(omega2)[spring.axis]
        margin = minimum(margin, size_of(spring.pivot) / terms)
    if last.base is not None:
        margin = minimum(margin, size_of(last.base[0]) / last.base[1])
    return margin


def with_changes(w: Stiffness, changes: tuple[Any, Any, Any] | None) -> Stiffness:
    """Return the absolute values of the entries of a stiffness, plus their changes with the frequency if known."""
    sizes = Stiffness(*map(size_of, w))
    if changes is None:
        return sizes
    u, v, p = changes
    return sizes._replace(uu=sizes.uu + u, vv=sizes.vv + v, pp=sizes.pp + p)
