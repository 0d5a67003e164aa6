"""Lowest and highest frequencies over ranges, and shares of ranges below a frequency, as they are shown."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jaxmodal.arm.arm import Arm
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.frequencies.results import NaturalFrequencies
from jaxmodal.frequencies.tables import DIGITS
from jaxmodal.runtime.namespace import Array
from jaxmodal.runtime.results import ListedResult, Result
from jaxmodal.runtime.statuses import Status
from jaxmodal.runtime.tables import Table
from jaxmodal.spatial.arms.arm import SpatialArm
from jaxmodal.workspace.tables import extremes_dataset, extremes_table, share_table

if TYPE_CHECKING:
    import xarray


@dataclasses.dataclass(frozen=True, repr=False)
class Extreme(Result):
    """The cell with the lowest or highest frequency of a mode that was found.

    Attributes
    ----------
    arm : Arm or SpatialArm
        The arm with the values of the cell.
    values : array, shape (P,)
        The values of the parameters, SI units and rad.
    frequencies : NaturalFrequencies
        Of this arm up to the mode, by `natural_frequencies`, each with its certificate.
    reached : array, shape (R,)
        What each improved start reached, rad/s, the best first.
    """

    arm: Arm | SpatialArm
    values: np.ndarray
    frequencies: NaturalFrequencies
    reached: np.ndarray

    @property
    def omega(self) -> float:
        """The frequency of the mode, rad/s."""
        return float(np.asarray(self.frequencies.omega)[-1])

    @property
    def frequency_hz(self) -> float:
        """The frequency of the mode, Hz."""
        return self.omega / (2.0 * math.pi)

    @property
    def status(self) -> Array:
        """The `Status` code of the mode."""
        return self.frequencies.status[-1]

    @property
    def certified(self) -> bool:
        """Whether it is certified that the arm with these values has this frequency as that mode."""
        return bool(np.asarray(self.frequencies.certified)[-1])

    def tables(self) -> list[Table]:
        """Return its frequencies."""
        return self.frequencies.tables()

    def to_xarray(self) -> xarray.Dataset:
        """Return its frequencies as a dataset."""
        return self.frequencies.to_xarray()


@dataclasses.dataclass(frozen=True, repr=False)
class Extremes(Result):
    """The lowest and the highest frequency of a mode that were found over ranges of P parameters.

    Certified is that the arm has these frequencies at these values. Not claimed is that it has no lower or higher one
    elsewhere in the ranges: N starts spread evenly over them and R climbs from the best found none.

    Attributes
    ----------
    lowest, highest : Extreme
        The two cells.
    addresses : tuple of str
        The parameters.
    ranges : array, shape (P, 2)
        Their least and largest values, SI units and rad.
    starts : array, shape (N,)
        Frequencies of the starts, rad/s; NaN where they are not certified.
    mode : int
        Number of the mode.
    theory : str
        Name of the theory.
    """

    lowest: Extreme
    highest: Extreme
    addresses: tuple[str, ...]
    ranges: np.ndarray
    starts: np.ndarray
    mode: int
    theory: TheoryName

    @property
    def status(self) -> NDArray[np.int64]:
        """`Status` codes of the lowest and of the highest frequency, shape (2,)."""
        return np.array([self.lowest.status, self.highest.status])

    @property
    def certified(self) -> bool:
        """Whether both frequencies are certified."""
        return self.lowest.certified and self.highest.certified

    def tables(self, title: str = "", digits: int = DIGITS) -> list[Table]:
        """Return both cells, and in the notes the starts, what the climbs reached and what is not claimed."""
        return [extremes_table(self, title, digits)]

    def to_xarray(self) -> xarray.Dataset:
        """Return both cells, what the climbs reached and the starts as a dataset; Hz and degrees."""
        return extremes_dataset(self)


@dataclasses.dataclass(frozen=True, repr=False)
class ShareBelow(ListedResult):
    """Share of ranges of parameters in which a frequency lies below a limit, from independent random cells.

    Attributes
    ----------
    omega : float
        The limit, rad/s.
    below, certified, samples : int
        How many cells lie below, of how many that are certified, of how many drawn. The others count on neither side.
    mode : int
        Number of the mode.
    theory : str
        Name of the theory.
    """

    omega: float
    below: int
    certified: int
    samples: int
    mode: int
    theory: TheoryName

    @property
    def status(self) -> Status:
        """Certified where the frequencies of all cells that were drawn are."""
        return Status.certified if self.certified == self.samples else Status.uncertified

    @property
    def share(self) -> float:
        """The estimate, from 0 to 1."""
        return self.below / self.certified

    @property
    def error(self) -> float:
        """Standard error of the estimate, sqrt(p (1 - p) / n); 0 where all cells lie on one side, see `interval`."""
        return math.sqrt(self.share * (1.0 - self.share) / self.certified)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval by Wilson, which has a width also where all cells lie on one side."""
        n, p, z = self.certified, self.share, 1.959963984540054
        centre, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + (z / (2 * n)) ** 2)
        low, high = (end / (1.0 + z * z / n) for end in (centre - half, centre + half))
        return 0.0 if self.below == 0 else low, 1.0 if self.below == n else high

    def rows(self) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """Return the limit, the share with its error and interval, and the numbers of cells."""
        headings = ("limit_hz", "share", "error", "low", "high", "below", "certified", "samples")
        hertz, counts = self.omega / (2.0 * math.pi), (self.below, self.certified, self.samples)
        return headings, [(hertz, self.share, self.error, *self.interval, *counts)]

    def tables(self) -> list[Table]:
        """Return the share with its error."""
        return [share_table(self)]
