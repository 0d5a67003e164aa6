"""Search for buckling load factors: bracketed by counts, found as zeros of an eigenvalue.

The energy is linear in the load factor, and positive without load if the arm is held. Therefore the number of negative
eigenvalues of its stiffness grows with the factor, by one at each buckling load (W. H. Wittrick and F. W. Williams, Q.
J. Mech. Appl. Math. 24, 1971, 263-284, at zero frequency). No piece of a link is long enough to buckle between clamped
ends, so that nothing else has to be counted.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterator
from typing import ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from jaxmodal.arm.columns import STEP
from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.statics.beam_arrays import BeamArrays
from jaxmodal.statics.chain import DeadLoads
from jaxmodal.statics.equilibrium import Equilibrium, held_equilibrium
from jaxmodal.statics.pieces import Prestress, most_load, pieces_for
from jaxmodal.statics.stability import (
    ROUNDING,
    StaticStiffness,
    eigenvalues,
    moves_without_strain,
    prestress,
    static_stiffness,
    unstable,
)

Floats = NDArray[np.float64]

#: relative distance from a factor at which counts are taken; ten times more if rounding leaves a count open, up to the
#: second
_CLOSE = 1e-12
_WIDEST = 1e-6
#: largest size of a matrix whose eigenvalues are computed for estimates
_MOST_ESTIMATED = 400
#: inverse factors below this share of the largest may be rounding and give no estimate
_NEGLIGIBLE = 1e-12
#: largest number of doublings in the search for a factor
_DOUBLINGS = 60


@dataclasses.dataclass(frozen=True)
class LoadedArm:
    """A planar arm under proportional loads."""

    beams: BeamArrays
    shear: float
    axial: float
    prestress: Prestress

    @classmethod
    def under(cls, beams: BeamArrays, theory: Theory, loads: DeadLoads) -> LoadedArm:
        """Return the arm in equilibrium under dead loads and the links' own axial forces.

        Raises
        ------
        ArmError
            If a free joint is not held against the loads.
        """
        shear, axial = float(theory.shear), float(theory.axial)
        return cls.at_rest(beams, theory, loads, held_equilibrium(beams, shear, axial, loads))

    @classmethod
    def at_rest(
        cls, beams: BeamArrays, theory: Theory, loads: DeadLoads, found: Equilibrium
    ) -> LoadedArm:
        """Return the arm under dead loads with a known equilibrium."""
        forces = prestress(beams, loads, found)
        return cls(beams, float(theory.shear), float(theory.axial), forces)

    def reversed(self) -> LoadedArm:
        """Return the arm under loads in the opposite direction."""
        return dataclasses.replace(self, prestress=Prestress(*(-x for x in self.prestress)))

    def stiffness(self, factor: complex, least: int = 1) -> StaticStiffness | None:
        """Return the stiffness; None if a link would need too many pieces."""
        pieces = pieces_for(self.beams, self.shear, self.prestress, factor.real, least)
        if pieces is None:
            return None
        return static_stiffness(self.beams, self.shear, self.axial, self.prestress, factor, pieces)

    def eigenvalues(self, factor: float) -> tuple[Floats, int]:
        """Return ascending eigenvalues, and the number of them that are due to supports.

        The latter come first; the next is the first that the loads make negative.
        """
        return eigenvalues(self.beams, self.shear, self.axial, self.prestress, factor)

    def moves_without_strain(self) -> bool:
        """Return True if the arm has a motion that no spring, link or support resists."""
        return moves_without_strain(self.beams, self.shear, self.axial, self.prestress)

    def unstable(self, factor: float) -> bool:
        """Return True if a factor of the loads buckles the arm, or is critical within rounding."""
        return unstable(self.beams, self.shear, self.axial, self.prestress, factor)

    exact: ClassVar[str] = "; static_compliance of an arm with these loads is exact"

    def count(self, factor: float) -> tuple[float, bool]:
        """Return the number of buckling factors below, and whether no eigenvalue is within rounding of zero."""
        values, held = self.eigenvalues(factor)
        if values.size and values[0] == -math.inf:
            return math.inf, True
        if not values.size:
            return 0.0, True
        clear = bool(np.min(np.abs(values)) > ROUNDING * np.max(np.abs(values)))
        return float(np.sum(values < 0.0) - held), clear

    def never(self) -> bool:
        """Return True if no part of the arm is under compression, so that no positive factor buckles it."""
        p = self.prestress
        pulled = [p.start, p.outer, p.at_start, p.at_end]
        slides = [k is not None and bool(np.any(np.isfinite(k))) for k in self.beams.springs[:2]]
        return not any(slides) and all(bool(np.all(x >= 0.0)) for x in pulled)

    def estimates(self) -> Floats:
        """Return rough positive factors, ascending, from the derivative of the stiffness at factor 0."""
        links = self.beams.length.shape[0]
        least = 6 if links <= 8 else 2 if links <= 40 else 1
        found = self.stiffness(1j * STEP, least)
        if found is None or not 0 < found.matrix.shape[0] <= _MOST_ESTIMATED:
            return np.zeros(0)
        begun = found.matrix
        try:
            inverse = np.linalg.eigvals(-np.linalg.solve(begun.real, begun.imag / STEP))
        except np.linalg.LinAlgError:
            return np.zeros(0)
        size = np.max(np.abs(inverse))
        real = inverse.real[inverse.real > _NEGLIGIBLE * size]
        return np.sort(1.0 / real)

    def limit(self) -> float:
        """Return the factor at which a link under compression loses its shear stiffness."""
        return most_load(self.beams, self.shear, self.prestress)

    def scale(self) -> float:
        """Return a factor near the first: about that at which the most loaded link would buckle by itself."""
        beams, p = self.beams, self.prestress
        rigidity = beams.youngs_modulus * beams.second_moment
        load = np.maximum(np.abs(p.start), np.abs(p.outer)) * beams.length**2 / rigidity
        turned = (np.abs(p.at_start) + np.abs(p.at_end)) * beams.length / rigidity
        largest = float(np.max(load + turned))
        return 1.0 / largest if largest > 0.0 else 1.0

    def crossing(self, low: float, high: float, k: int) -> float:
        """Return the k-th factor, which lies between these two: a zero of the k-th eigenvalue."""

        def eigenvalue(factor: float) -> float:
            values, held = self.eigenvalues(factor)
            return float(values[held + k - 1])

        from scipy.optimize import brentq  # slow to import

        return float(brentq(eigenvalue, low, high, xtol=1e-300, rtol=4.0 * 2.0**-52))


class Loaded(Protocol):
    """An arm of either kind under proportional loads, as the search for factors uses it."""

    def count(self, factor: float) -> tuple[float, bool]: ...

    def never(self) -> bool: ...

    def limit(self) -> float: ...

    def scale(self) -> float: ...

    def estimates(self) -> Floats: ...

    def crossing(self, low: float, high: float, k: int) -> float: ...

    def unstable(self, factor: float) -> bool: ...

    @property
    def exact(self) -> str:
        """Note for messages on a function that is exact near the critical load; may be empty."""
        ...

    def moves_without_strain(self) -> bool: ...


class Factor(NamedTuple):
    """A buckling factor: its value, the counts at both ends of its bracket, and whether they prove it."""

    value: float
    bracket: tuple[float, float]
    count_below: int
    count_above: int
    certified: bool


#: the entry for a factor that does not exist
NONE = Factor(math.inf, (math.inf, math.inf), 0, 0, True)


def factors(problem: Loaded) -> Iterator[Factor]:
    """Yield the positive factors, ascending, repeated by multiplicity.

    If no positive factor exists, yield `NONE` for ever; if the next was not found, yield NaN for ever.
    """
    if problem.never():
        yield from itertools.repeat(NONE)
    limit = problem.limit()
    estimates = problem.estimates()
    seen: dict[float, float] = {0.0: 0.0}

    def counted(factor: float) -> float:
        if factor not in seen:
            count, clear = problem.count(factor)
            seen[factor] = count if clear else math.nan
        return seen[factor]

    found = 0
    while True:
        value = _nth(problem, found + 1, estimates, limit, counted, seen)
        if value is None:
            reached = max(x for x, n in seen.items() if math.isfinite(n))
            yield from itertools.repeat(Factor(math.nan, (reached, math.nan), found, 0, False))
        certified = _certified(problem, float(value or math.nan), found + 1)
        yield certified
        found += 1
        # factors in the same bracket are one repeated factor
        while certified.certified and certified.count_above > found:
            yield certified
            found += 1


def _nth(
    problem: Loaded,
    k: int,
    estimates: Floats,
    limit: float,
    counted: Callable[[float], float],
    seen: dict[float, float],
) -> float | None:
    """Return the k-th factor, at which the k-th eigenvalue changes its sign."""
    low = max(x for x, n in seen.items() if n < k)
    near = estimates[k - 1] if k <= estimates.size else 0.0
    start = near * 1.001 if near > low else (2.0 * low if low > 0.0 else problem.scale())
    trial = min(start, 0.5 * (low + limit)) if start >= limit else start
    unclear = 0
    for _ in range(_DOUBLINGS):
        count = counted(trial)
        if count >= k or not math.isfinite(trial):
            break
        if math.isnan(count):
            unclear += 1
            if unclear > 3:  # eigenvalues that remain are rounding
                return None
            trial *= 1.01
            continue
        low = max(low, trial)
        trial = 2.0 * trial if 2.0 * trial < limit else 0.5 * (trial + limit)
    above = [x for x, n in seen.items() if n >= k]
    if not above:
        return None
    high = min(above)
    if low < near < high and counted(near * 0.99) < k:
        low = max(low, near * 0.99)
    while math.isinf(seen[high]):  # too many pieces beyond this
        middle = 0.5 * (low + high)
        if not low < middle < high:
            return None
        if math.isnan(counted(middle)):
            return None
        low, high = (middle, high) if counted(middle) < k else (low, middle)
    return problem.crossing(low, high, k)


def _certified(problem: Loaded, value: float, k: int) -> Factor:
    """Return the factor with counts on both sides, as near as rounding allows."""
    close = _CLOSE
    while True:
        ends = (value * (1.0 - close), value * (1.0 + close))
        (below, sure), (above, sure_too) = (problem.count(x) for x in ends)
        if (sure and sure_too) or close >= _WIDEST:
            break
        close *= 10.0
    known = sure and sure_too and below < k <= above and math.isfinite(above)
    counts = [int(x) if math.isfinite(x) else -1 for x in (below, above)]
    return Factor(value, ends, counts[0], counts[1], bool(known))
