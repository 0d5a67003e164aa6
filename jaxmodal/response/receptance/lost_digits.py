"""Loss of digits in the recursion, measured by the growth of numbers."""

from __future__ import annotations

from typing import Any

from jaxmodal.arithmetic.operations import absolute, maximum, over_size, size_of
from jaxmodal.dynamic_stiffness.member import FreeEndMember
from jaxmodal.dynamic_stiffness.stiffness import Matrix, Stiffness

#: growth of numbers in the recursion beyond which 1e-12 of an entry may be lost
LARGE_GROWTH = 4e3


def growth_in_member(growth: Any, m: FreeEndMember, q: Matrix, det: Any) -> Any:
    """Return the growth, updated with that in a member whose determinant, alone or with its outer end, is near zero."""
    # terms of the determinant over their sum; 1 is among the terms of each row
    terms = absolute(q.uu.real) + 1.0
    terms = terms * (absolute(q.vv.real) + 1.0)
    terms = terms * (absolute(q.pp.real) + 1.0)
    growth = maximum(growth, over_size(1.0, m.delta, LARGE_GROWTH))
    return maximum(growth, over_size(terms, det, LARGE_GROWTH))


def growth_in_springs(growth: Any, before: Stiffness, after: Stiffness) -> Any:
    """Return the growth, updated with that in springs: they reduce stiffness, except near a resonance beyond them."""
    was = size_of(before.uu) + size_of(before.vv)
    return maximum(growth, (size_of(after.uu) + size_of(after.vv)) / was)


def permanent(q: Matrix) -> Any:
    """Return the sum of the terms of a determinant, all with positive sign."""
    return (
        q.uu * (q.vv * q.pp + q.vp * q.pv)
        + q.uv * (q.vp * q.pu + q.vu * q.pp)
        + q.up * (q.vu * q.pv + q.vv * q.pu)
    )
