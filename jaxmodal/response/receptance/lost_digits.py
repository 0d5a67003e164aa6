"""Loss of digits in the recursion, measured by the growth of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from jaxmodal.dynamic_stiffness.member import FreeEndMember
from jaxmodal.dynamic_stiffness.stiffness import Matrix, Stiffness
from jaxmodal.runtime.namespace import is_complex, xp

#: growth of numbers in the recursion beyond which 1e-12 of an entry may be lost
LARGE_GROWTH = 4e3


def growth_in_member(growth: Any, m: FreeEndMember, q: Matrix, det: Any) -> Any:
    """Return the growth, updated with that in a member whose determinant, alone or with its outer end, is near zero."""
    # terms of the determinant over their sum; 1 is among the terms of each row
    terms = xp.abs(q.uu.real) + 1.0
    terms = terms * (xp.abs(q.vv.real) + 1.0)
    terms = terms * (xp.abs(q.pp.real) + 1.0)
    return xp.maximum(xp.maximum(growth, _over(1.0, m.delta)), _over(terms, det))


def growth_in_springs(growth: Any, before: Stiffness, after: Stiffness) -> Any:
    """Return the growth, updated with that in springs: they reduce stiffness, except near a resonance beyond them."""
    was = size_of(before.uu) + size_of(before.vv)
    return xp.maximum(growth, (size_of(after.uu) + size_of(after.vv)) / was)


def _over(terms: Any, result: Any) -> Any:
    """Return terms over the absolute value of their sum; for speed, of its real part where that is not small."""
    ratio = terms / xp.abs(result.real)
    if is_complex(result):
        large = ~(ratio <= LARGE_GROWTH)
        if large.any():
            whole, above = np.broadcast_to(result, ratio.shape), np.broadcast_to(terms, ratio.shape)
            ratio[large] = above[large] / size_of(whole[large])
    return ratio


def size_of(x: Any) -> Any:
    """Return the absolute value; for complex numbers the sum of those of real and imaginary part."""
    return abs(x.real) + abs(x.imag) if is_complex(x) else abs(x)


def permanent(q: Matrix) -> Any:
    """Return the sum of the terms of a determinant, all with positive sign."""
    return (
        q.uu * (q.vv * q.pp + q.vp * q.pv)
        + q.uv * (q.vp * q.pu + q.vu * q.pp)
        + q.up * (q.vu * q.pv + q.vv * q.pu)
    )
