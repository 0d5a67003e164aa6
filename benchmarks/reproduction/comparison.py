"""Comparison of computed natural frequencies with the printed tables, cell by cell.

Columns of differences are recomputed from the *printed* frequencies, from which their last digits were formed.
Finite-element columns are compared with the exact values of the theory that the elements discretise. A misprint is
accepted only if it is listed with this printed and this computed value, and its reason holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import TypeAlias

from benchmarks.reproduction import published
from benchmarks.reproduction.published import Cell, CellKey, Misprint
from jaxmodal.references.printed import agrees_with_print

#: Two computed frequencies closer than this (relative) are one mode. Solver errors are near 1e-15;
#: different modes of one printed row of the straight two-link arm differ by 1e-3 or more.
SAME_MODE = 1e-9


@dataclass(frozen=True)
class ModeValue:
    """One computed natural frequency [Hz] and whether the count certifies it."""

    frequency_hz: float
    certified: bool


#: Table, posture in degrees as printed, and theory
SpectrumKey: TypeAlias = tuple[str, tuple[str, ...], str]
#: Computed modes, ascending.
Spectra: TypeAlias = Mapping[SpectrumKey, Sequence[ModeValue]]


class Outcome(Enum):
    """Result of comparing one cell with its recomputed value."""

    AGREES = "agrees"
    KNOWN_MISPRINT = "known misprint"
    EXPLAINED_MARK = "explained mark"
    UNEXPECTED = "unexpected"


@dataclass(frozen=True)
class Verdict:
    """One printed cell and its recomputed value.

    ``computed`` is in the unit of the column (Hz or percent) and None for a word or dash; ``certified`` is None if no
    frequency was computed for the cell.
    """

    cell: Cell
    computed: float | None
    certified: bool | None
    outcome: Outcome
    note: str = ""


@dataclass(frozen=True)
class Agreement:
    """Number of printed values in a group that agree to every printed digit."""

    group: str
    agree: int
    total: int
    marks: int = 0
    """Words standing in place of numbers, not counted in ``total``."""


@dataclass(frozen=True)
class ReproductionSummary:
    """Result of a reproduction: counts by group, and all cells that need attention.

    ``ok`` is True if every cell agrees, is a known misprint whose reason holds or is an explained mark, and every
    frequency is certified.
    """

    verdicts: tuple[Verdict, ...]
    tallies: tuple[Agreement, ...]

    def _with(self, outcome: Outcome) -> tuple[Verdict, ...]:
        return tuple(verdict for verdict in self.verdicts if verdict.outcome is outcome)

    @property
    def misprints(self) -> tuple[Verdict, ...]:
        """Cells that differ exactly as listed in the known misprints."""
        return self._with(Outcome.KNOWN_MISPRINT)

    @property
    def marks(self) -> tuple[Verdict, ...]:
        """Words and dashes whose reason was confirmed by the spectra."""
        return self._with(Outcome.EXPLAINED_MARK)

    @property
    def unexpected(self) -> tuple[Verdict, ...]:
        """Cells that differ from the printed value for no known reason."""
        return self._with(Outcome.UNEXPECTED)

    @property
    def uncertified(self) -> tuple[Verdict, ...]:
        """Cells whose recomputed frequency is not certified."""
        return tuple(verdict for verdict in self.verdicts if verdict.certified is False)

    @property
    def ok(self) -> bool:
        """Whether there are neither unexpected nor uncertified cells."""
        return not self.unexpected and not self.uncertified


def judge(
    cells: Sequence[Cell], misprints: Iterable[Misprint], spectra: Spectra
) -> tuple[Verdict, ...]:
    """Compare every printed cell with the computed spectra.

    Parameters
    ----------
    misprints : iterable of Misprint
        Cells known to be wrong. If the printed string of a misprint differs from the cell's, the cell is unexpected.
    spectra : mapping
        Computed modes, see `compute_spectra`.

    Raises
    ------
    ValueError
        If a misprint names a cell that is not among the cells.

    Notes
    -----
    The bending-only column skips the rows marked "axial" or "none": its i-th number is the i-th bending-only frequency,
    regardless of the mode number of its row.
    """
    grid = published.by_key(cells)
    known = {misprint.cell.key: misprint for misprint in misprints}
    if not known.keys() <= grid.keys():
        raise ValueError(f"misprints of cells not printed: {sorted(known.keys() - grid.keys())}")
    verdicts = []
    for cell in cells:
        if not cell.is_number:
            verdicts.append(_judge_mark(cell, grid, spectra))
        elif cell.column in published.DELTA_COLUMNS:
            verdicts.append(_judge_delta(cell, grid, known.get(cell.key)))
        else:
            verdicts.append(_judge_frequency(cell, grid, known.get(cell.key), spectra))
    return tuple(verdicts)


def _spectrum(cell: Cell, column: str, spectra: Spectra) -> Sequence[ModeValue]:
    return spectra[cell.table, cell.posture_deg, published.FREQUENCY_COLUMNS[column]]


def _judge_frequency(
    cell: Cell, grid: Mapping[CellKey, Cell], misprint: Misprint | None, spectra: Spectra
) -> Verdict:
    marks_above = sum(
        not grid[cell.table, cell.posture_deg, mode, cell.column].is_number
        for mode in range(1, cell.mode)
    )
    value = _spectrum(cell, cell.column, spectra)[cell.mode - 1 - marks_above]
    outcome, note = _outcome(value.frequency_hz, cell, misprint, grid)
    return Verdict(cell, value.frequency_hz, value.certified, outcome, note)


def _judge_delta(cell: Cell, grid: Mapping[CellKey, Cell], misprint: Misprint | None) -> Verdict:
    frequency = grid[cell.beside(published.DELTA_COLUMNS[cell.column])].printed
    value = published.percent_difference(frequency, grid[cell.beside("T")].printed)
    outcome, note = _outcome(value, cell, misprint, grid)
    return Verdict(cell, float(value), None, outcome, note)


def _outcome(
    value: float | Fraction, cell: Cell, misprint: Misprint | None, grid: Mapping[CellKey, Cell]
) -> tuple[Outcome, str]:
    """Outcome of a printed number, and a note on it."""
    agrees = agrees_with_print(value, cell.printed)
    if misprint is None:
        if agrees:
            return Outcome.AGREES, ""
        return Outcome.UNEXPECTED, "differs from print and is not a known misprint"
    if agrees or misprint.cell.printed != cell.printed:
        return Outcome.UNEXPECTED, "listed as a misprint, but print is not what the list says"
    if not agrees_with_print(value, misprint.correct):
        note = f"a known misprint, but the list has {misprint.correct} as the correct value"
        return Outcome.UNEXPECTED, note
    if not _reason_holds(cell, misprint, grid):
        return Outcome.UNEXPECTED, f"the known reason does not hold: {misprint.reason}"
    return Outcome.KNOWN_MISPRINT, misprint.reason


def _reason_holds(cell: Cell, misprint: Misprint, grid: Mapping[CellKey, Cell]) -> bool:
    if misprint.kind == "copied":
        return cell.printed == grid[cell.beside("EB_dagger")].printed
    if misprint.kind == "last digit":
        off = Fraction(cell.printed) - Fraction(misprint.correct)
        return abs(off) == Fraction(1, 10**cell.decimals)
    frequency, reference, divisor = (
        grid[cell.beside(column)].printed
        for column in (published.DELTA_COLUMNS[cell.column], "T", "EB_ddagger")
    )
    by_other = published.percent_difference(frequency, reference, divisor)
    return agrees_with_print(by_other, cell.printed)


def _judge_mark(cell: Cell, grid: Mapping[CellKey, Cell], spectra: Spectra) -> Verdict:
    """Check that a word stands where the Euler-Bernoulli mode of the row is an axial one."""
    if cell.column in published.DELTA_COLUMNS:
        missing = grid[cell.beside(published.DELTA_COLUMNS[cell.column])]
        if missing.is_number:
            return Verdict(cell, None, None, Outcome.UNEXPECTED, "a dash beside a number")
        note = f"no difference: {missing.column} is marked {missing.printed!r}"
        return Verdict(cell, None, None, Outcome.EXPLAINED_MARK, note)
    axial = _spectrum(cell, "EB_dagger", spectra)[cell.mode - 1].frequency_hz
    shear = _spectrum(cell, "T", spectra)[cell.mode - 1].frequency_hz
    bending = [value.frequency_hz for value in _spectrum(cell, "EB_ddagger", spectra)]
    absent = bending[-1] > axial and all(not _same(axial, other) for other in bending)
    word = cell.printed.lower()
    if not absent or word not in ("axial", "none") or (word == "axial") != _same(axial, shear):
        note = f"the spectra do not explain the mark {cell.printed!r}"
        return Verdict(cell, None, None, Outcome.UNEXPECTED, note)
    other = "the same axial mode" if word == "axial" else "a bending mode"
    note = (
        f"mode {cell.mode} by EB_dagger ({axial:#.7g} Hz) is purely axial, so EB_ddagger has no "
        f"such mode; mode {cell.mode} by T is {other}"
    )
    return Verdict(cell, None, None, Outcome.EXPLAINED_MARK, note)


def _same(first: float, second: float) -> bool:
    return abs(first - second) <= SAME_MODE * abs(first)


def summarise(verdicts: Sequence[Verdict]) -> ReproductionSummary:
    """Count the outcomes in the groups of the paper: model columns, differences, finite elements.

    Returns
    -------
    ReproductionSummary
        Summary with one Agreement for each column of Tables 2-6 and of Tables 9-11 with Figure 5, and one for all
        difference columns together.
    """
    two_link = {
        table.name for table in published.load_tables() if table.example == "two_link_flexible"
    }
    groups: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        column = verdict.cell.column
        where = "Tables 2-6" if verdict.cell.table in two_link else "Tables 9-11, Figure 5"
        label = "differences" if column in published.DELTA_COLUMNS else f"{where}: {column}"
        groups.setdefault(label, []).append(verdict)
    tallies = []
    for label in sorted(groups, key=lambda name: (name == "differences", "FEM" in name)):
        numbers = [verdict for verdict in groups[label] if verdict.cell.is_number]
        agree = sum(verdict.outcome is Outcome.AGREES for verdict in numbers)
        tallies.append(Agreement(label, agree, len(numbers), len(groups[label]) - len(numbers)))
    return ReproductionSummary(tuple(verdicts), tuple(tallies))
