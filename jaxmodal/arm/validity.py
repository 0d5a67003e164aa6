"""Validity of values that were not checked when they were put into an arm."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

from jaxmodal.arm.quantities import Record, quantities


def rules_of(record: Record) -> Iterator[Any]:
    """Yield, for each value and constraint of a record and its nested records, whether it is valid."""
    for item in quantities(record):
        value = getattr(record, item.name)
        if value is not None:
            yield item.metadata["rule"].holds(value)
    for constraint in record.constraints():
        yield constraint.holds
    for field in dataclasses.fields(record):  # type: ignore[arg-type]
        inner = getattr(record, field.name)
        for part in inner if isinstance(inner, tuple) else (inner,):
            if isinstance(part, Record):
                yield from rules_of(part)


def valid_cells(record: Record, cells: int) -> np.ndarray:
    """Return True for cells in which all of `rules_of` hold."""
    valid = np.ones(cells, bool)
    for holds in rules_of(record):
        valid &= holds
    return valid
