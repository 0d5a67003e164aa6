"""What agreeing with a printed number means."""

from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_UP, Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxmodal.references.printed import agrees_with_print


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
