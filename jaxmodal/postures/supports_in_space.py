"""Supports of arms in space in tables over joint angles: they stand on the ground while joints turn the arm.

The load of a support on its link has a direction of the ground, and so depends on the angles of all joints before
it. In its place unit forces along the axes of the link ride along, and unit moments where a support takes a turn.
These depend on no angle, so that what lies beyond a joint is condensed once, as without supports. At the base each
support is the sum of these by its direction. In its stiffness the determinant D is of degree 1.

The springs along directions of the ground at one tip are a further factor of D, a product of three out of its three
motions and three forces, in which a spring has its force in the place of its motion. One force is a vector, and so are
the two motions that are left, by what is normal to both; the same holds of two forces and one motion. A rotation turns
two vectors with weights up to 2. So these springs add 2 to the degree of each joint between them and the ground,
however many they are, and those about directions at this tip 2 more. Joints beyond the tip keep 4.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from jaxmodal.arithmetic.operations import Number
from jaxmodal.postures.terms import IN_SPACE
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.spatial.parts.links import SpatialLink
from jaxmodal.spatial.stiffness.condensation import Condensed
from jaxmodal.spatial.stiffness.constants import ReducedLink
from jaxmodal.spatial.stiffness.matrices import cross, stacked
from jaxmodal.spatial.stiffness.supports import ReducedSupport
from jaxmodal.spatial.stiffness.symmetric import places

_TURN = "rotation"
#: directions of a kind at a tip, and what their springs add to the degree of D in the angle of each joint up to it
_THREE, MORE = 3, 2


def without_supports(arm: SpatialArm) -> SpatialArm:
    """Return the arm free of the ground."""
    return arm.replace(links=tuple(link.replace(supports=()) for link in arm.links))


def degree_of(arm: SpatialArm, joint: int) -> int:
    """The degree of D in the angle of the joint of a link, from 0; of an arm with supports no more than this.

    Stiffnesses may be of many cells: a support counts if it is one in any of them.
    """
    moved = arm.links[joint:]  # by the joint, with their tips
    return IN_SPACE.degree + MORE * sum(len(_kinds(link)) for link in moved)


def _kinds(link: SpatialLink) -> list[str]:
    """The kinds of the supports at the tip of a link, each once."""
    return list(dict.fromkeys(s.kind for s in link.supports if np.any(s.stiffness)))


def unit_loads(links: Sequence[ReducedLink], arm: SpatialArm) -> list[ReducedLink]:
    """Return the links with supports along and about their own axes in place of those of the arm."""
    found = []
    for link, own in _pairs(links, arm):
        loads = []
        for kind in _kinds(own):
            tip: Number = link.tip
            for axis in np.eye(_THREE)[..., None, None]:
                along = tip * 0.0 + axis
                none = along * 0.0
                parts = (none, along) if kind == _TURN else (along, cross(tip, along))
                load = stacked([part[i] for part in parts for i in range(_THREE)])
                loads.append(ReducedSupport(load, none[0] + 1.0, none[0]))
        found.append(link._replace(supports=tuple(loads)))
    of_base = len(links) - len(found)
    return [*links[:of_base], *found]


def on_supports(found: Condensed, links: Sequence[ReducedLink], arm: SpatialArm) -> Condensed:
    """Return the whole arm, condensed with `unit_loads`, on its own supports, ``links``; without its stiffness."""
    each, start = list[tuple[int, Number, ReducedSupport]](), 0
    for link, own in _pairs(links, arm):
        for kind in _kinds(own):
            for given, support in zip(own.supports, link.supports, strict=True):
                if given.kind == kind:
                    part = support.load[3:] if kind == _TURN else support.load[:3]
                    each.append((start, part, support))
            start += _THREE
    at = {place: k for k, place in enumerate(places(6 + start))}

    def motion(a: int, b: int) -> Number:
        """Of the support a by a unit force of the support b."""
        (i, first, _), (j, second, _) = each[a], each[b]
        every = [(p, q, 6 + i + p, 6 + j + q) for p in range(_THREE) for q in range(_THREE)]
        terms = [
            first[p] * second[q] * found.stiffness[at[min(own, other), max(own, other)]]
            for p, q, own, other in every
        ]
        return sum(terms[1:], terms[0])

    none = found.factor * 0.0
    entries = [motion(i - 6, j - 6) if min(i, j) >= 6 else none for i, j in places(6 + len(each))]
    on_ground = found._replace(stiffness=stacked(entries)).on([x[2] for x in each])
    return on_ground._replace(stiffness=on_ground.stiffness[:0])


def _pairs(
    links: Sequence[ReducedLink], arm: SpatialArm
) -> Iterator[tuple[ReducedLink, SpatialLink]]:
    """The constants of each link and the link; the springs of a base come before them."""
    return zip(links[len(links) - arm.num_links :], arm.links, strict=True)
