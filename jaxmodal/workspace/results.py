"""Results of `extremes` and `share_below`."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxmodal.arm.addresses import full_address, joint_named
from jaxmodal.dynamic_stiffness.beams import TheoryName
from jaxmodal.frequencies.results import NaturalFrequencies
from jaxmodal.frequencies.tables import DIGITS, certificate_text, hertz_text
from jaxmodal.runtime.array_types import Integers
from jaxmodal.runtime.datasets import in_hertz, variable
from jaxmodal.runtime.namespace import Array
from jaxmodal.runtime.results import ListedResult, Result
from jaxmodal.runtime.statuses import Status, remarks_on, status_variable
from jaxmodal.runtime.tables import Table
from jaxmodal.spatial.arms.arm import AnyArm
from jaxmodal.spatial.parts.parameters import unit_of_address

if TYPE_CHECKING:
    import xarray

#: largest relative difference of frequencies that count as the same extreme
_SAME = 1e-6


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

    arm: AnyArm
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
    def status(self) -> Integers:
        """`Status` codes of the lowest and of the highest frequency, shape (2,)."""
        return np.array([self.lowest.status, self.highest.status])

    @property
    def certified(self) -> bool:
        """Whether both frequencies are certified."""
        return self.lowest.certified and self.highest.certified

    def tables(self, title: str = "", digits: int = DIGITS) -> list[Table]:
        """Return a table of both cells; notes give the starting cells, the local searches and what is not proved."""
        return [_extremes_table(self, title, digits)]

    def to_xarray(self) -> xarray.Dataset:
        """Return both cells, the results of the local searches and the starting cells as a dataset; Hz and degrees."""
        import xarray

        sides = (self.lowest, self.highest)
        status = np.array([np.asarray(side.frequencies.status)[-1] for side in sides])
        variables: dict[str, Any] = {
            "frequency": in_hertz(
                "side", [side.omega for side in sides], f"frequency of mode {self.mode}"
            ),
            "status": status_variable(("side",), status),
            "reached": in_hertz(
                ("side", "climb"), [side.reached for side in sides], "reached by a climb"
            ),
            "start_frequency": in_hertz("start", self.starts, "of a start, NaN if not certified"),
        }
        for i, address in enumerate(self.addresses):
            unit = unit_of_address(address)
            given = [_shown_value(address, float(side.values[i])) for side in sides]
            name = joint_named(self.lowest.arm, full_address(address)) or address
            variables[address] = variable("side", given, name, "degree" if unit == "rad" else unit)
        coordinates = {"side": ["lowest", "highest"], "mode": self.mode}
        return xarray.Dataset(variables, coordinates, {"theory": self.theory})


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
        low, high = (100.0 * x for x in self.interval)
        head = (
            f"mode {self.mode} lies below {hertz_text(self.omega / (2.0 * np.pi))} Hz in {100.0 * self.share:.2f} % of "
            f"the ranges, standard error {100.0 * self.error:.2f} %, 95 % interval {low:.2f} to {high:.2f} % "
            f"({self.theory})"
        )
        left = self.samples - self.certified
        without = f"; {left:,} more are not certified, and were left out" if left else ""
        note = (
            f"of {self.certified:,} independent random postures, uniform over the ranges{without}"
        )
        return [Table(head, (), (), [note])]


def _shown_value(address: str, value: float) -> float:
    """Return a value as shown in tables: angles in degrees."""
    return float(np.degrees(value)) if unit_of_address(address) == "rad" else value


def _heading_of(address: str, arm: AnyArm) -> str:
    """Return a parameter with its unit, joints by name: ``elbow [°]``, ``theta_2 [°]``, ``payload.mass [kg]``."""
    full, unit = full_address(address), unit_of_address(address)
    link, _, field = full.partition(".")
    if name := joint_named(arm, full):
        address = name
    elif field == "joint_angle" and link[4:].isdigit():
        address = f"theta_{link[4:]}"
    return address if unit == "1" else f"{address} [{'°' if unit == 'rad' else unit}]"


def _extremes_table(found: Extremes, title: str, digits: int) -> Table:
    """Return a row for each cell, with the starting cells, the local searches and the limits of the claim as notes."""
    sides = {"lowest": found.lowest, "highest": found.highest}
    rows = []
    for name, side in sides.items():
        values = zip(found.addresses, side.values.tolist(), strict=True)
        status = int(np.asarray(side.frequencies.status)[-1])
        rows.append(
            [
                name,
                hertz_text(side.frequency_hz, digits),
                certificate_text(status),
                *(f"{_shown_value(address, value):z.4f}" for address, value in values),
            ]
        )
    number = len(found.addresses)
    head = title or (
        f"mode {found.mode} over {number} range{'s' * (number > 1)} ({found.theory}): "
        f"{hertz_text(found.lowest.frequency_hz, digits)} to "
        f"{hertz_text(found.highest.frequency_hz, digits)} Hz"
    )
    headings = (
        "",
        "frequency [Hz]",
        "certificate",
        *(_heading_of(address, found.lowest.arm) for address in found.addresses),
    )
    statuses = [np.asarray(side.frequencies.status)[-1] for side in sides.values()]
    notes = [_ranges(found), _starts(found, digits)]
    notes += [f"{name}, reached from {_climbs(side, digits)}" for name, side in sides.items()]
    notes += [
        "certified: that these postures have these frequencies; not claimed: that none has a lower or higher one"
    ]
    return Table(head, headings, rows, [*notes, *remarks_on(statuses)], ("", "certificate"))


def _ranges(found: Extremes) -> str:
    each = []
    for address, ends in zip(found.addresses, found.ranges.tolist(), strict=True):
        low, high = (f"{_shown_value(address, end):.6g}" for end in ends)
        each.append(f"{_heading_of(address, found.lowest.arm)} {low} to {high}")
    return f"ranges: {', '.join(each)}"


def _starts(found: Extremes, digits: int) -> str:
    hertz = found.starts[np.isfinite(found.starts)] / (2.0 * np.pi)
    low, middle, high = (hertz_text(x, digits) for x in np.quantile(hertz, [0.0, 0.5, 1.0]))
    left = found.starts.size - hertz.size
    without = f"; {left:,} more are not certified, and were left out" if left else ""
    return f"starts: {hertz.size:,} spread evenly, {low} to {high} Hz, median {middle} Hz{without}"


def _climbs(side: Extreme, digits: int) -> str:
    """Return a text with the frequencies reached and the numbers of searches that reached them, best first."""
    hertz = side.reached / (2.0 * np.pi)
    groups: list[tuple[float, int]] = []
    for value in hertz.tolist():
        if groups and abs(value - groups[-1][0]) <= _SAME * value:
            groups[-1] = (groups[-1][0], groups[-1][1] + 1)
        else:
            groups.append((value, 1))
    texts = [f"{hertz_text(value, digits)} ({count})" for value, count in groups]
    return f"the {hertz.size} best starts [Hz (starts)]: {', '.join(texts)}"
