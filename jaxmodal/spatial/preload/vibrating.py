"""Frequencies of arms in space under static loads: from counts of the loaded chain with vibrating pieces."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.frequencies.bounded import BoundedFrequencies
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.errors import ArmError, UncertifiedError
from jaxmodal.spatial.preload.condensation import condensed
from jaxmodal.spatial.preload.loaded import Judged, SpatialLoadedArm, crossing, judged
from jaxmodal.statics.load_factors import Factor, factors

#: share of the arm's frequency scale at which modes of zero frequency are counted
NEARLY_ZERO = 1e-5


@dataclasses.dataclass(frozen=True)
class VibratingArm:
    """An arm in space at rest under its loads; frequencies take the place of factors in `load_factors.Loaded`."""

    exact: ClassVar[str] = ""
    loaded: SpatialLoadedArm
    #: frequencies near those sought, ascending, such as those without loads
    near: Floats = dataclasses.field(default_factory=lambda: np.zeros(0))

    @functools.cached_property
    def _known(self) -> dict[float, Judged | None]:
        """Counts and determinants so far, by frequency."""
        return {}

    @property
    def evaluations(self) -> int:
        """Number of frequencies at which counts and determinants were evaluated so far."""
        return len(self._known)

    @functools.cached_property
    def zero_modes(self) -> int:
        """Number of zero frequencies: motions that neither springs nor loads resist."""
        if not self.loaded.moves_without_strain():
            return 0
        found = self.judged(NEARLY_ZERO * self.scale())
        assert found is not None
        return found.negative

    def judged(self, omega: float) -> Judged | None:
        """Return count and determinant at a frequency, from the pivots of all releases."""
        if omega not in self._known:
            self._known[omega] = self._judged(omega)
        return self._known[omega]

    def _judged(self, omega: float) -> Judged | None:
        chain, square = self.loaded.chain, omega * omega
        counts = chain.pieces_for(self.loaded.sign, square)
        return (
            None if counts is None else judged(condensed(chain, self.loaded.sign, counts, square))
        )

    def count(self, omega: float) -> tuple[float, bool]:
        """Return the number of nonzero frequencies below, and whether no eigenvalue is within rounding of zero."""
        found = self.judged(omega)
        if found is None:
            return math.inf, True
        return float(found.negative - self.zero_modes), found.clear

    def never(self) -> bool:
        return False

    def limit(self) -> float:
        return math.inf

    def scale(self) -> float:
        """Return the frequency scale of the softest link, rad/s; 1 if all links are rigid."""
        model = self.loaded.chain.model
        found = []
        for link, own in zip(model.links, model.values.links, strict=True):
            if not link.rigid and own.beam.mass > 0.0:
                softer = min(own.beam.bending_y, own.beam.bending_z)
                found.append(math.sqrt(softer / own.beam.mass) / float(own.beam.length) ** 2)
        return min(found, default=1.0)

    def estimates(self) -> Floats:
        return self.near

    def crossing(self, low: float, high: float, k: int) -> float:
        return crossing(self.judged, low, high, k + self.zero_modes)

    def unstable(self, factor: float) -> bool:
        return self.loaded.unstable(factor)

    def moves_without_strain(self) -> bool:
        return self.loaded.moves_without_strain()

    def lowest(self) -> Iterator[Factor]:
        """Yield all frequencies, ascending, those of zero first, as `load_factors.factors` does."""
        none = Factor(0.0, (0.0, 0.0), -self.zero_modes, 0, True)
        return itertools.chain(itertools.repeat(none, self.zero_modes), factors(self))


def frequencies_under_loads(
    problem: SpatialLoadedArm, num_modes: int, theory: TheoryName
) -> BoundedFrequencies:
    """Return the lowest frequencies of an arm in space at rest, each between two counts.

    Raises
    ------
    UncertifiedError
        If the loads buckle the arm or drive it from its posture, or a frequency was not found or not certified.
    """
    if problem.rigid():
        raise ArmError(
            "the arm is rigid throughout: it has no frequencies; make a link or a joint elastic."
        )
    if problem.unstable(1.0):
        raise UncertifiedError(
            "the loads buckle the arm, or push it out of this posture, where it has no frequencies; lower them, or "
            "stiffen the arm (jaxmodal.buckling finds the factor)"
        )
    found = list(itertools.islice(VibratingArm(problem).lowest(), num_modes))
    for k, each in enumerate(found, start=1):
        if math.isnan(each.value):
            raise UncertifiedError(
                f"mode {k} under loads was not found: an arm of rigid links has no more modes than its springs and "
                "masses allow; ask for fewer modes"
            )
        if not each.certified:
            raise UncertifiedError(
                f"mode {k} under loads is not certified: the counts around {each.value:.12g} rad/s disagree; ask for "
                "fewer modes"
            )
    omega = np.array([x.value for x in found])
    lower, upper = np.array([x.bracket for x in found]).T
    counts = problem.chain.pieces_for(problem.sign, float(omega[-1] * omega[-1]))
    assert counts is not None
    error = 0.5 * (upper - lower) / np.where(omega > 0.0, omega, 1.0)
    return BoundedFrequencies(omega, error, lower, upper, max(counts), theory, "under dead loads")
