"""When a number agrees with a printed one, by exact decimal arithmetic."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

#: Relative noise allowed to a float64 value standing on a rounding border: there it may round
#: either way. Ten thousand times eps, and far below one printed digit (1e-4 at best).
TIE_NOISE = Fraction(1, 10**12)


def agrees_with_print(value: float | Fraction, printed: str) -> bool:
    """Whether rounding a value to the printed number of decimals gives the printed string.

    Parameters
    ----------
    value : float or Fraction
        The recomputed number, in the unit of the table. A float is interpreted as an exact binary number; nothing is
        rounded in between.
    printed : str
        The printed number; its last digit, trailing zeros included, sets the precision.

    Returns
    -------
    bool
        True when the value lies within half a unit of the last printed digit. A value half-way
        between two printable numbers, to within 1e-12 of itself, counts as agreeing with both.
        NaN and infinity agree with nothing.

    Examples
    --------
    >>> agrees_with_print(543.00496, "543.01"), agrees_with_print(543.00496, "543.00")
    (False, True)
    """
    if isinstance(value, float) and value - value != 0.0:
        return False
    exact = Fraction(value)
    target = Decimal(printed)
    half_unit = Fraction(Decimal(1).scaleb(int(target.as_tuple().exponent))) / 2
    return abs(exact - Fraction(target)) <= half_unit + TIE_NOISE * abs(exact)
