"""Frequencies with an error estimate and bounds on both sides."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.runtime.array_types import Floats
from jaxmodal.runtime.datasets import in_hertz, variable
from jaxmodal.runtime.results import ResolvedResult
from jaxmodal.runtime.tables import Table

if TYPE_CHECKING:
    import xarray


@dataclasses.dataclass(frozen=True, repr=False)
class BoundedFrequencies(ResolvedResult):
    """Natural frequencies with bounds, of an arm with tapered links or under loads that vary along links.

    Attributes
    ----------
    omega : array, shape (K,)
        Angular frequencies in rad/s. For planar arms they are extrapolated from three refinements.
    error : array, shape (K,)
        Estimated relative error. Planar arms: the change of the extrapolation in the last refinement. Arms in space:
        half the distance of the bounds.
    lower, upper : array, shape (K,)
        Bounds of the frequencies in rad/s. Planar arms: from arms that are softer and heavier, and stiffer and lighter;
        lower bounds are 0 where loads buckle the softer arm. Arms in space: from counts at the bounds.
    pieces : int
        Segments per varying link in the finest refinement; of arms in space, of the link that needs most.
    theory : str
        Name of the beam theory.
    what : str
        Description of what varies along links.
    """

    omega: Floats
    error: Floats
    lower: Floats
    upper: Floats
    pieces: int
    theory: TheoryName
    what: str = "of tapered links"

    def tables(self) -> list[Table]:
        """Return the frequencies in Hz with their error and bounds."""
        values = np.stack([self.omega, self.lower, self.upper], axis=1) / (2.0 * np.pi)
        rows = [
            [str(k + 1), f"{own:.8g}", f"{error:.0e}", f"{low:.8g} to {high:.8g}"]
            for k, (error, (own, low, high)) in enumerate(zip(self.error, values, strict=True))
        ]
        title = f"{len(rows)} natural frequencies {self.what}, {self.pieces} pieces ({self.theory})"
        headings = ("mode", "frequency [Hz]", "relative error", "bounds [Hz]")
        return [Table(title, headings, rows)]

    def to_xarray(self) -> xarray.Dataset:
        """Return frequencies and bounds in Hz and relative errors as a dataset with the dim mode."""
        import xarray

        error = "estimated relative error of the frequency"
        return xarray.Dataset(
            {
                "frequency": in_hertz("mode", self.omega, "natural frequency, extrapolated"),
                "lower": in_hertz("mode", self.lower, "lower bound of the frequency"),
                "upper": in_hertz("mode", self.upper, "upper bound of the frequency"),
                "relative_error": variable("mode", self.error, error, "1"),
            },
            {"mode": np.arange(1, self.omega.size + 1)},
            {"theory": self.theory, "pieces": self.pieces, "what": self.what},
        )
