"""Frequencies and their certificates as texts, for tables."""

from __future__ import annotations

import numpy as np

from jaxmodal.runtime.statuses import Status

#: digits of a frequency in a table
DIGITS = 5


def hertz_text(hertz: float, digits: int = DIGITS) -> str:
    """Return a frequency with the given number of significant digits, trailing zeros kept."""
    return f"{hertz:#.{digits}g}".rstrip(".")


def certificate_text(status: int | np.integer, multiplicity: int = 1) -> str:
    """Return the status of a frequency as text: ``certified, 2-fold``."""
    repeated = f", {multiplicity}-fold" if multiplicity > 1 else ""
    code = Status(int(status))
    return f"certified{repeated}" if code is Status.certified else f"NOT certified: {code.name}"
