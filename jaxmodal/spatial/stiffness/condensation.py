"""Condensation of an arm in space from the tip to the base: determinant and Wittrick-Williams count.

As in the plane (`dynamic_stiffness.condensation`) each link is added to what is outboard of it by its free-end
description. Its outer end is released two directions at a time; by the additivity of inertia of E. V. Haynsworth
(Linear Algebra Appl. 1, 1968, 73-81) the negative eigenvalues of the steps add up to those of the whole.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jaxmodal.arithmetic.operations import Arithmetic, Number, leading, number
from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.dynamic_stiffness.evaluation import Evaluation
from jaxmodal.spatial.stiffness.constants import JointSpring, LinkConstants
from jaxmodal.spatial.stiffness.matrices import transposed
from jaxmodal.spatial.stiffness.members import Member, Sections, at_inner_end, members
from jaxmodal.spatial.stiffness.transformations import (
    PAIRS,
    released,
    shifted,
    through_spring,
    turned,
)


class Tally:
    """Running sign and logarithm of the determinant, and the count."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.sign, self.log_abs, self.count = np.ones(shape), np.zeros(shape), np.zeros(shape)

    def times(self, factor: Number, count: np.ndarray) -> None:
        """A factor of the determinant, and the modes that belong to it."""
        value = leading(factor)
        self.sign = self.sign * np.sign(value)
        self.log_abs = self.log_abs + np.log(np.abs(value))
        self.count = self.count + count


def evaluate(
    links: Sequence[LinkConstants],
    base: Sequence[JointSpring],
    sections: Sections | None,
    theory: Theory,
    omega: np.ndarray,
    arithmetic: Arithmetic,
    pairs: Sequence[int] = (0, 1, 2),
) -> Evaluation:
    """Sign, log-modulus of D and the count J at frequencies > 0 in rad/s, shape (trials, cells).

    ``base`` holds the springs of an elastic base, ``sections`` are those of the flexible links, None where there is
    none. ``(-1)**count == sign`` at every frequency. ``pairs`` is the order in which the directions of elastic ends are
    released; what depends on it is rounding.
    """
    flexible = [] if sections is None else members(sections, theory, omega, arithmetic)
    tally = Tally(omega.shape)
    at = number(omega, arithmetic)
    squared = at * at
    w = number(np.zeros((6, 6, *omega.shape)), arithmetic)
    for link in reversed(links):
        member = None if link.bar is not None else flexible[link.place]
        w = _with_link(link, member, squared, w, tally, pairs)
    for spring in base:
        end = through_spring(w, spring.direction, spring.unit, spring.compliance)
        w = end.stiffness
        tally.times(end.factor, end.passed)
    return Evaluation(
        tally.sign, tally.log_abs, tally.count.astype(np.int64), np.ones_like(tally.sign)
    )


def _with_link(
    link: LinkConstants,
    member: Member | None,
    squared: Number,
    w: Number,
    tally: Tally,
    pairs: Sequence[int],
) -> Number:
    """One link added to the stiffness ``w`` at its tip; what the link before feels at its own, in its axes."""
    if link.tip is not None:
        w = w - link.tip * squared
    if link.end_offset is not None:
        w = shifted(w, link.end_offset)
    if link.roll is not None:
        w = turned(w, transposed(link.roll))
    w = _through_beam(link, member, squared, w, tally, pairs)
    if link.roll is not None:
        w = turned(w, link.roll)
    if link.base_offset is not None:
        w = shifted(w, link.base_offset)
    if link.hub is not None:
        w = w - link.hub * squared
    w = _through_joint(link, squared, w, tally)
    if link.rotation is not None:
        w = turned(w, link.rotation)
    if link.stator is not None:
        w = w - link.stator * squared
    return w


def _through_beam(
    link: LinkConstants,
    member: Member | None,
    squared: Number,
    w: Number,
    tally: Tally,
    pairs: Sequence[int],
) -> Number:
    if member is None:
        return shifted(w, link.axis) - link.bar * squared
    for place in pairs:
        end = released(w, PAIRS[place], member.receptances[place], member.determinants[place])
        w = end.stiffness
        tally.times(end.factor, end.passed)
    tally.times(member.factor, member.passed)
    tally.log_abs = tally.log_abs + member.growth
    return at_inner_end(member, w)


def _through_joint(link: LinkConstants, squared: Number, w: Number, tally: Tally) -> Number:
    """The springs in series, the one about the axis last, with the rotor that it turns."""
    for place, spring in enumerate(link.springs):
        unit, rotor = spring.unit, link.rotor
        about_axis = rotor is not None and place == len(link.springs) - 1
        if rotor is not None and about_axis:
            w = w - rotor.about_axis * (rotor.driven * squared)
            unit = unit - squared * (rotor.relative * spring.compliance)
        end = through_spring(w, spring.direction, unit, spring.compliance)
        w = end.stiffness
        tally.times(end.factor, end.passed)
        if rotor is not None and about_axis:
            w = w - rotor.about_axis * (rotor.carried * squared)
    return w
