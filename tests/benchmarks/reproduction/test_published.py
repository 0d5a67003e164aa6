"""The printed tables: what stands there."""

import csv
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

from benchmarks.reproduction import published
from benchmarks.reproduction.published import percent_difference

TABLES = Path(__file__).parent.parent.parent / "data" / "tables"


def test_every_table_has_all_its_cells():
    counts = Counter(cell.table for cell in published.load_cells())
    two_link = {f"table{number}": 150 for number in range(2, 7)}
    three_link = dict.fromkeys(("table9", "table10", "table11", "figure5"), 50)
    assert counts == two_link | three_link


def test_numbers_and_marks_of_each_column():
    numbers = Counter(cell.column for cell in published.load_cells() if cell.is_number)
    marks = Counter(cell.column for cell in published.load_cells() if not cell.is_number)
    assert numbers == {
        "EB_dagger": 190,
        "EB_ddagger": 144,
        "T": 190,
        "FEM_B23": 40,
        "FEM_B22": 40,
        "delta_dagger_pct": 190,
        "delta_ddagger_pct": 144,
    }
    assert marks == {"EB_ddagger": 6, "delta_ddagger_pct": 6}


@pytest.mark.parametrize("table", [table.name for table in published.load_tables()])
def test_the_wide_transcription_of_each_table_says_the_same(table):
    with (TABLES / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        wide = list(csv.DictReader(file))
    compared = 0
    for cell in published.load_cells():
        if cell.table == table:
            prefix = f"theta2_{cell.posture_deg[0]}_" if len(cell.posture_deg) == 1 else ""
            assert wide[cell.mode - 1][prefix + cell.column].strip() == cell.printed
            compared += 1
    assert compared in (50, 150)


def test_known_misprints_stand_in_print_and_are_wrong_there():
    cells = published.by_key(published.load_cells())
    misprints = published.load_misprints()
    assert len(misprints) == 26
    for misprint in misprints:
        assert cells[misprint.cell.key].printed == misprint.cell.printed != misprint.correct
    kinds = Counter(misprint.kind for misprint in misprints)
    assert kinds == {"copied": 1, "last digit": 7, "divisor": 18}


def test_two_cells_at_one_address_are_refused():
    cell = published.load_cells()[0]
    with pytest.raises(ValueError, match="two printed cells"):
        published.by_key([cell, cell])


def test_percent_difference_is_exact():
    assert percent_difference("14.500", "14.499") == Fraction(100, 14499)
    assert percent_difference("1223.5", "1154.6", "1356.8") == Fraction(6890, 1) / Fraction(
        "1356.8"
    )


def test_decimals_count_trailing_zeros():
    decimals = {cell.printed: cell.decimals for cell in published.load_cells() if cell.is_number}
    assert decimals["14.500"] == 3
    assert decimals["10799"] == 0
    assert decimals["21.6"] == 1
