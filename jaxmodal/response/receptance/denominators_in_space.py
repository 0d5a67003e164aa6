"""What the denominators of the recursion in space tell: lost digits, and where there are resonances.

Digits are lost where a denominator is small beside its terms. That tells of most resonances of an arm, but not of all:
on soft springs a stiffness may be small beside terms that cancelled in it. What tells of all is the number of natural
frequencies below a frequency, of an arm without damping (as for natural frequencies, `stiffness.condensation`). Where
it is the same at a frequency below and at one above, there is no resonance between them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from jaxmodal.arithmetic.operations import Arithmetic, size_of
from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.dynamic_stiffness.member import FreeEndMember
from jaxmodal.response.driven.spatial_systems import DrivenLink, is_free
from jaxmodal.response.receptance.lost_digits import LARGE_GROWTH
from jaxmodal.runtime.array_types import Bools, Floats, Numbers
from jaxmodal.spatial.stiffness.constants import Spring
from jaxmodal.spatial.stiffness.entries import Added, Release
from jaxmodal.spatial.stiffness.members import Sections, beams_of, members

#: counts are made at one of so many frequencies
_COUNTED = 8


class Passed(NamedTuple):
    """A link after it was passed: its planes, its joint springs with dampers, and the stiffness before it."""

    link: DrivenLink
    planes: list[FreeEndMember]
    springs: list[Spring]
    added: Added

    def told(self, squared: Numbers, counted: bool) -> Told:
        """Return what the denominators of the link tell, with its count if ``counted``."""
        return Told(self._growth(squared), self._below(squared.shape) if counted else None)

    def _growth(self, squared: Numbers) -> Floats:
        """Return the approximate ratio of numbers to results, (F,); ``squared`` are the squares of the frequencies."""
        added, largest = self.added, np.zeros(squared.shape)
        for plane in self.planes:
            largest = np.maximum(largest, 1.0 / size_of(plane.delta))
        for release in added.releases:
            largest = np.maximum(largest, release.terms / size_of(release.factor))
        for pivot, spring in zip(added.pivots, self.springs, strict=True):
            terms = abs(spring.unit) + size_of(pivot - spring.unit)
            largest = np.maximum(largest, terms / size_of(pivot))
        if any(map(is_free, self.springs)):
            # its denominator has no other term; rotation and shift do not change the sum
            w, inner = added.stiffness, self.link.entries.inner.mass
            before = sum(map(size_of, added.inner[:3])) + size_of(squared * inner)
            largest = np.maximum(largest, size_of(w[0, 0] + w[1, 1] + w[2, 2]) / before)
        return largest

    def _below(self, shape: tuple[int, ...]) -> Floats:
        """Return by how much the link raises `Told.below` beyond its own frequencies with both ends clamped."""

        def some(x: Any) -> Floats:
            return np.broadcast_to(x, shape)[::_COUNTED]

        found = np.full(shape, np.nan)
        found[::_COUNTED] = 0.0
        for release in self.added.releases:
            found[::_COUNTED] += Release(*map(some, release[:4])).passed()
        for pivot in self.added.pivots:
            found[::_COUNTED] += some(pivot) < 0.0
        return found


class Told(NamedTuple):
    """What the denominators tell at frequencies (F,).

    Attributes
    ----------
    growth
        Approximate ratio of numbers in the recursion to its results.
    below
        Number of natural frequencies below every `_COUNTED`-th of the frequencies, NaN for others; None if it is not
        asked for.
    """

    growth: Floats
    below: Floats | None = None

    def beside(self, other: Told) -> Told:
        """Return what is told with more links; both have counts, or neither."""
        if self.below is None or other.below is None:
            return Told(np.maximum(self.growth, other.growth))
        return Told(np.maximum(self.growth, other.growth), self.below + other.below)


def clamped_below(sections: Sections | None, theory: Theory, omega: Floats) -> Floats:
    """Return `Told.below` of the flexible links alone, with both ends of each clamped."""
    found = np.full(omega.shape, np.nan)
    found[::_COUNTED] = 0.0
    if sections is not None:
        beams = beams_of(Sections(*(x[:, None] for x in sections)), theory, Arithmetic.float64)
        some = omega[None, ::_COUNTED]
        found[::_COUNTED] = members(beams, theory, some).passed.sum(axis=0)[0]
    return found


def may_resonate(omega: Floats, told: Told, apart: float) -> Bools:
    """Return a mask of frequencies (F,) that may be within a relative distance ``apart`` of a resonance.

    All others lie between two with the same count, both farther away than that and with their digits.
    """
    assert told.below is not None
    known = np.flatnonzero((told.growth < LARGE_GROWTH) & ~np.isnan(told.below))
    order = known[np.argsort(omega[known])]
    ordered, count = omega[order], told.below[order]
    below = np.searchsorted(ordered, omega * (1.0 - apart), side="right") - 1
    above = np.searchsorted(ordered, omega * (1.0 + apart))
    between = (below >= 0) & (above < order.size)
    between[between] = count[below[between]] == count[above[between]]
    return ~between
