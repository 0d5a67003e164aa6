"""Planar arms under proportional loads: counts of negative eigenvalues, and estimates of load factors."""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar

import numpy as np

from jaxmodal.arm.columns import STEP
from jaxmodal.dynamic_stiffness.beams import Theory
from jaxmodal.runtime.array_types import Floats
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

#: largest size of a matrix whose eigenvalues are computed for estimates
_MOST_ESTIMATED = 400
#: inverse factors below this share of the largest may be rounding and give no estimate
_NEGLIGIBLE = 1e-12


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
