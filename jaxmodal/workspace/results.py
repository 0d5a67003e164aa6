"""Results of `extremes` and `share_below`."""

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
    """The cell found with the lowest or highest frequency of a mode.

    Attributes
    ----------
    arm : Arm or SpatialArm
        The arm with the values of the cell.
    values : array, shape (P,)
        The values of the parameters, SI units and rad.
    frequencies : NaturalFrequencies
        Frequencies of this arm up to the mode, by `natural_frequencies`, each with its certificate.
    reached : array, shape (R,)
        Frequency reached by each local search, rad/s, best first.
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
        """Whether the frequency of this mode is certified for the arm with these values."""
        return bool(np.asarray(self.frequencies.certified)[-1])

    def tables(self) -> list[Table]:
        """Return the table of its frequencies."""
        return self.frequencies.tables()

    def to_xarray(self) -> xarray.Dataset:
        """Return its frequencies as a dataset."""
        return self.frequencies.to_xarray()


@dataclasses.dataclass(frozen=True, repr=False)
class Extremes(Result):
    """The lowest and the highest frequency of a mode found over ranges of P parameters.

    The frequencies at these values are certified. It is not proved that no other values in the ranges give a lower or
    higher frequency: N evenly distributed starting cells and R local searches found none.

    Attributes
    ----------
    lowest, highest : Extreme
        The two cells.
    addresses : tuple of str
        Addresses of the parameters.
    ranges : array, shape (P, 2)
        Their least and largest values, SI units and rad.
    starts : array, shape (N,)
        Frequencies of the starting cells, rad/s; NaN if not certified.
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
        """Return a table of both cells; notes give the starting cells, the local searches and what is not proved."""
        return [extremes_table(self, title, digits)]

    def to_xarray(self) -> xarray.Dataset:
        """Return both cells, the results of the local searches and the starting cells as a dataset; Hz and degrees."""
        return extremes_dataset(self)


@dataclasses.dataclass(frozen=True, repr=False)
class ShareBelow(ListedResult):
    """Share of parameter ranges in which a frequency lies below a limit, estimated from independent random cells.

    Attributes
    ----------
    omega : float
        The limit, rad/s.
    below, certified, samples : int
        Numbers of cells below the limit, of certified cells, and of all random cells. Uncertified cells are not counted
        in the share.
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
        """Status of the frequencies: certified if those of all random cells are."""
        return Status.certified if self.certified == self.samples else Status.uncertified

    @property
    def share(self) -> float:
        """Estimated share, from 0 to 1."""
        return self.below / self.certified

    @property
    def error(self) -> float:
        """Standard error of the estimate, sqrt(p (1 - p) / n); 0 if all cells are on one side, see `interval`."""
        return math.sqrt(self.share * (1.0 - self.share) / self.certified)

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson 95 % interval, which has a positive width even if all cells are on one side."""
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
        """Return a table with the share and its error."""
        return [share_table(self)]
