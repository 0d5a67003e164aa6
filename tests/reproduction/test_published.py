"""The printed tables: what stands there, and what agreeing with print means."""

import csv
from collections import Counter
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_UP, Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxmodal.reproduction import published
from jaxmodal.reproduction.published import agrees_with_print, percent_difference

TABLES = Path(__file__).parent.parent / "data" / "tables"


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


@pytest.mark.parametrize(
    ("value", "printed", "agrees"),
    [
        (0.200162962951, "0.2002", True),
        (837.953977964, "837.96", False),
        (837.953977964, "837.95", True),
        (543.0049597, "543.01", False),
        (21.60, "21.6", True),
        (21.649, "21.6", True),
        (21.651, "21.6", False),
        (10799.4999, "10799", True),
        (10799.5001, "10799", False),
        (130.004, "130.00", True),
        (129.994, "130.00", False),
        (0.125, "0.12", True),  # half-way: either way
        (0.125, "0.13", True),
        (float("nan"), "1.0", False),
        (float("inf"), "1.0", False),
    ],
)
def test_agreement_is_rounding_to_the_printed_digits(value, printed, agrees):
    assert agrees_with_print(value, printed) is agrees


@given(
    units=st.integers(1, 10**6),
    decimals=st.integers(0, 4),
    fraction=st.fractions(Fraction(-49, 100), Fraction(49, 100)),
)
def test_a_value_agrees_with_its_own_rounding_and_no_neighbour(units, decimals, fraction):
    value = (units + fraction) / Fraction(10**decimals)
    printed = Decimal(units).scaleb(-decimals)
    assert agrees_with_print(value, str(printed))
    for step in (-1, 1):
        assert not agrees_with_print(value, str(printed + Decimal(step).scaleb(-decimals)))


@given(value=st.floats(0.1, 1e4), decimals=st.integers(0, 4))
def test_agreement_is_that_of_the_decimal_module(value, decimals):
    unit = Decimal(1).scaleb(-decimals)
    rounded = Decimal(value).quantize(unit, ROUND_HALF_EVEN)
    assert agrees_with_print(value, str(rounded))
    away = Decimal(value).quantize(unit, ROUND_UP if rounded < Decimal(value) else ROUND_DOWN)
    distance_to_tie = abs(abs(Decimal(value) - rounded) - unit / 2)
    if away != rounded and distance_to_tie > Decimal(value) * Decimal("1e-11"):
        assert not agrees_with_print(value, str(away))


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
