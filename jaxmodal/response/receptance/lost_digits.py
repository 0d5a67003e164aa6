"""How many digits the recursion loses on its way: growth of numbers, and margins of the last denominators."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from jaxmodal.dynamic_stiffness.member import FreeEndMember
from jaxmodal.dynamic_stiffness.stiffness import (
    Matrix,
    Stiffness,
    identity_plus_product,
)
from jaxmodal.runtime.namespace import is_complex, xp

#: growth of numbers in the recursion beyond which 1e-12 of an entry may be lost
LARGE_GROWTH = 4e3


def growth_in_member(growth: Any, m: FreeEndMember, q: Matrix, det: Any) -> Any:
    """With what grows in a member whose own determinant or that with its outer end is near zero."""
    # terms of the determinant beside what is left of them; 1 is among those of each row
    terms = xp.abs(q.uu.real) + 1.0
    terms = terms * (xp.abs(q.vv.real) + 1.0)
    terms = terms * (xp.abs(q.pp.real) + 1.0)
    return xp.maximum(xp.maximum(growth, _over(1.0, m.delta)), _over(terms, det))


def growth_in_springs(growth: Any, before: Stiffness, after: Stiffness) -> Any:
    """With what grows in springs: they take stiffness away, but near a resonance of what lies beyond."""
    was = size_of(before.uu) + size_of(before.vv)
    return xp.maximum(growth, (size_of(after.uu) + size_of(after.vv)) / was)


def _over(terms: Any, result: Any) -> Any:
    """Terms over the size of their sum: by its real part, and only where this is small by all of it, for speed."""
    ratio = terms / xp.abs(result.real)
    if is_complex(result):
        large = ~(ratio <= LARGE_GROWTH)
        if large.any():
            whole, above = np.broadcast_to(result, ratio.shape), np.broadcast_to(terms, ratio.shape)
            ratio[large] = above[large] / size_of(whole[large])
    return ratio


class Last(NamedTuple):
    """The last member, what is beyond it, its denominator, and units and pivots of the springs before it.

    Of an elastic base its determinant and the terms of that, added.
    """

    member: FreeEndMember | None
    outboard: Stiffness | None
    det: Any
    springs: tuple[tuple[Any, Any], ...]
    base: tuple[Any, Any] | None = None


def margin_of(last: Last) -> Any:
    """The last denominators relative to the sizes of their terms, the smallest.

    It is 1e-16 where the arm is in resonance and all digits are lost.
    """
    if last.member is None or last.outboard is None:
        assert last.base is not None
        return size_of(last.base[0]) / last.base[1]
    sizes = FreeEndMember(
        *(
            size_of(x) if name.startswith("r_") else x
            for name, x in zip(FreeEndMember._fields, last.member, strict=True)
        )
    )
    product = identity_plus_product(sizes, Stiffness(*map(size_of, last.outboard)))
    margin = size_of(last.det) / permanent(product)
    for unit, pivot in last.springs:
        margin = xp.minimum(margin, size_of(pivot) / (size_of(unit) + size_of(pivot - unit)))
    if last.base is not None:
        margin = xp.minimum(margin, size_of(last.base[0]) / last.base[1])
    return margin


def size_of(x: Any) -> Any:
    """A size of numbers, complex ones by the sum of their parts."""
    return xp.abs(x.real) + xp.abs(x.imag) if is_complex(x) else xp.abs(x)


def permanent(q: Matrix) -> Any:
    """The terms of a determinant, all added."""
    return (
        q.uu * (q.vv * q.pp + q.vp * q.pv)
        + q.uv * (q.vp * q.pu + q.vu * q.pp)
        + q.up * (q.vu * q.pv + q.vv * q.pu)
    )
