"""The numbers printed in the source paper.

The tables are stored in ``printed`` exactly as printed, including misprints; the known misprints are stored with their
reasons. This module computes no frequencies: it reads cells, and forms differences by exact decimal arithmetic.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from jaxmodal.dynamic_stiffness.beams import TheoryName

#: Theory behind each printed frequency column. FEM_B23 and FEM_B22 are finite-element columns
#: (Euler-Bernoulli and Timoshenko elements), held against the exact values of those theories.
FREQUENCY_COLUMNS: Mapping[str, TheoryName] = {
    "EB_dagger": "euler_bernoulli",
    "EB_ddagger": "bending_only",
    "T": "timoshenko",
    "FEM_B23": "euler_bernoulli",
    "FEM_B22": "timoshenko",
}

#: Frequency column whose excess over column T each difference column states, in percent (eq 46).
DELTA_COLUMNS: Mapping[str, str] = {
    "delta_dagger_pct": "EB_dagger",
    "delta_ddagger_pct": "EB_ddagger",
}

CellKey = tuple[str, tuple[str, ...], int, str]


@dataclass(frozen=True)
class Cell:
    """One printed cell: its position and its characters."""

    table: str
    posture_deg: tuple[str, ...]
    """Joint angles theta_2, theta_3, ... in degrees, as printed."""
    mode: int
    column: str
    printed: str

    @property
    def key(self) -> CellKey:
        """Address of the cell: table, posture, mode, column."""
        return self.table, self.posture_deg, self.mode, self.column

    @property
    def is_number(self) -> bool:
        """False for a word or a dash instead of a number."""
        return self.printed[:1].isdigit()

    @property
    def decimals(self) -> int:
        """Number of digits printed after the decimal point."""
        return -int(Decimal(self.printed).as_tuple().exponent)

    def beside(self, column: str) -> CellKey:
        """Address of another column in the same row."""
        return self.table, self.posture_deg, self.mode, column


@dataclass(frozen=True)
class Misprint:
    """A printed cell known to be wrong, the correct value, and the reason.

    ``kind`` is "copied" (a neighbouring column's value), "last digit" (one off in the last digit)
    or "divisor" (a difference formed with another denominator than eq 46 has).
    """

    cell: Cell
    correct: str
    kind: str
    reason: str


@dataclass(frozen=True)
class PublishedTable:
    """A table or figure of the paper, and the built-in arm it describes."""

    name: str
    title: str
    example: str
    thickness_factor: float


def _rows(file_name: str) -> list[dict[str, str]]:
    file = Path(__file__).parent / "printed" / file_name
    return list(csv.DictReader(file.read_text("utf-8").splitlines()))


def _cell(row: Mapping[str, str]) -> Cell:
    angles = tuple(row[name] for name in ("theta2_deg", "theta3_deg") if row[name])
    return Cell(row["table"], angles, int(row["mode"]), row["column"], row["printed"])


def load_cells() -> tuple[Cell, ...]:
    """Load every cell printed in Tables 2-6, 9-11 and Figure 5, in reading order.

    Returns
    -------
    tuple of Cell
        950 cells. Frequencies in Hz and relative differences in percent, as printed strings:
        trailing zeros count, and six cells hold "axial" or "none" instead of a number (with a
        dash for the difference).

    Examples
    --------
    >>> cells = load_cells()
    >>> len(cells), cells[0].printed, cells[0].decimals
    (950, '0.2002', 4)
    """
    return tuple(_cell(row) for row in _rows("printed_values.csv"))


def load_misprints() -> tuple[Misprint, ...]:
    """Load the printed cells known to be wrong, each with its kind and reason.

    Returns
    -------
    tuple of Misprint
        26 cells: seven model frequencies, the finite-element value copied into print with one of
        them, and 18 differences of Table 6.

    Examples
    --------
    >>> sorted({misprint.kind for misprint in load_misprints()})
    ['copied', 'divisor', 'last digit']
    """
    return tuple(
        Misprint(_cell(row), row["correct"], row["kind"], row["reason"])
        for row in _rows("known_misprints.csv")
    )


def load_tables() -> tuple[PublishedTable, ...]:
    """Load the tables and the figure in report order, with the built-in arm of each.

    Returns
    -------
    tuple of PublishedTable
        Tables 2-6 are the two-link arm with both thicknesses multiplied by ``thickness_factor``;
        Tables 9-11 and Figure 5 are the three-link arm.
    """
    return tuple(
        PublishedTable(row["table"], row["title"], row["example"], float(row["thickness_factor"]))
        for row in _rows("tables.csv")
    )


def percent_difference(frequency: str, reference: str, divisor: str | None = None) -> Fraction:
    """Relative difference of two printed frequencies in percent, exactly (eq 46).

    Parameters
    ----------
    frequency, reference : str
        Printed frequencies [Hz]: an Euler-Bernoulli one and the Timoshenko one.
    divisor : str, optional
        Divisor instead of ``reference`` (to explain a misprint).

    Returns
    -------
    Fraction
        100 (frequency - reference) / (divisor or reference), without rounding.

    Examples
    --------
    >>> float(percent_difference("14.500", "14.499"))  # doctest: +ELLIPSIS
    0.006897...
    """
    base = Fraction(Decimal(divisor if divisor is not None else reference))
    return 100 * (Fraction(Decimal(frequency)) - Fraction(Decimal(reference))) / base


def by_key(cells: Iterable[Cell]) -> dict[CellKey, Cell]:
    """Cells by their address; duplicate addresses raise an error.

    Raises
    ------
    ValueError
        If two cells share table, posture, mode and column.
    """
    found: dict[CellKey, Cell] = {}
    for cell in cells:
        if cell.key in found:
            raise ValueError(f"two printed cells stand at {cell.key}; each address is unique")
        found[cell.key] = cell
    return found
