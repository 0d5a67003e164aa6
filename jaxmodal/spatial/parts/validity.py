"""Whether values that were not checked when they were put into an arm are such as an arm may have."""

from __future__ import annotations

import dataclasses

import numpy as np

from jaxmodal.arm.quantities import Record, quantities


def valid_cells(record: Record, cells: int) -> np.ndarray:
    """Cells in which every value of a record, and of those in it, obeys its rule, and those that belong together."""
    valid = np.ones(cells, bool)
    for item in quantities(record):
        value = getattr(record, item.name)
        if value is not None:
            valid &= item.metadata["rule"].holds(value)
    for constraint in record.constraints():
        valid &= constraint.holds
    for field in dataclasses.fields(record):  # type: ignore[arg-type]
        inner = getattr(record, field.name)
        for part in inner if isinstance(inner, tuple) else (inner,):
            if isinstance(part, Record):
                valid &= valid_cells(part, cells)
    return valid
