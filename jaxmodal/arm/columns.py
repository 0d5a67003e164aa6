"""Many variants of an arm as columns: what the equations need of each cell, and nothing of how it came about.

Computed once, in NumPy, before any compiled program; so no program depends on an arm, its name, or which values vary.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jaxmodal.arm.arm import Arm
from jaxmodal.arm.arrays import OPTIONAL, PLAIN, BeamArrays, require_one_arm, with_bodies
from jaxmodal.arm.parameters import set_parameters
from jaxmodal.arm.quantities import Record, quantities

#: the fields of `BeamArrays` in the order of packed columns, without and with features
_FEATURES = tuple(
    f.name for f in dataclasses.fields(BeamArrays) if f.name not in (*PLAIN, "has_shear")
)
#: what stands for a feature that an arm does not have
_ABSENT = {
    "joint_axial_stiffness": np.inf,
    "joint_shear_stiffness": np.inf,
    "gear_ratio": 1.0,
    "flexible": 1.0,
}


@dataclasses.dataclass(frozen=True)
class Columns:
    """What the equations need of many cells.

    Attributes
    ----------
    packed : np.ndarray, shape (fields, links, cells)
        The fields of `BeamArrays`: the plain ones alone where no link of any cell has a feature, else all, a feature
        that a link has not with a value that changes nothing. 1 throughout where the cell is invalid.
    invalid : np.ndarray, shape (cells,)
        Cells with a value that an arm may not have.
    """

    packed: np.ndarray
    invalid: np.ndarray


def columns_of(arm: Arm, addresses: Sequence[str], values: np.ndarray) -> Columns:
    """The cells of an arm with other ``values``, shape (addresses, cells), at some addresses."""
    cells = values.shape[1]
    require_one_arm(arm)
    with np.errstate(all="ignore"):
        varied = set_parameters(arm, dict(zip(addresses, values, strict=True)))
        fields = _fields(varied, cells)
        invalid = ~_valid(varied, cells)
    return Columns(np.where(invalid, 1.0, _packed(fields, (arm.num_links, cells))), invalid)


def unpacked(packed: Any) -> BeamArrays:
    """Beams from packed columns, of JAX or NumPy: each field is one of ``packed`` along its first axis."""
    names = PLAIN if packed.shape[0] == len(PLAIN) else PLAIN + _FEATURES
    return BeamArrays(**dict(zip(names, packed, strict=True)), has_shear=True)


def _packed(fields: Mapping[str, Any], shape: tuple[int, ...]) -> np.ndarray:
    featured = any(fields.get(name) is not None for name in _FEATURES)
    packed = np.empty((len(PLAIN) + featured * len(_FEATURES), *shape))
    for place, name in enumerate(PLAIN + featured * _FEATURES):
        value = fields.get(name)
        packed[place] = _ABSENT.get(name, 0.0) if value is None else value
    return packed


def _fields(arm: Arm, cells: int) -> dict[str, Any]:
    """Fields of `BeamArrays` of an arm whose values are numbers or columns (cells,), each of shape (links, cells)."""

    def rows(name: str, absent: float) -> np.ndarray:
        found = np.empty((arm.num_links, cells))
        for row, link in zip(found, arm.links, strict=True):
            value = getattr(link, name)
            row[:] = absent if value is None else value
        return found

    fields = {name: rows(name, np.nan) for name in PLAIN}
    for group in OPTIONAL:
        if any(getattr(link, name) is not None for link in arm.links for name in group):
            fields |= {name: rows(name, absent) for name, absent in group.items()}
    if any(link.rigid for link in arm.links):
        flexible = [0.0 if link.rigid else 1.0 for link in arm.links]
        fields["flexible"] = np.repeat(np.array(flexible)[:, None], cells, axis=1)
    return with_bodies(fields, arm.payload)


def _valid(arm: Arm, cells: int) -> np.ndarray:
    """Cells in which every value obeys its rule, and those that belong together theirs."""
    records: list[Record] = [arm.payload]
    for link in arm.links:
        records += [link, link.section]
    valid = np.ones(cells, bool)
    for record in records:
        for item in quantities(record):
            value = getattr(record, item.name)
            if value is not None:
                valid &= item.metadata["rule"].holds(value)
        for constraint in record.constraints():
            valid &= constraint.holds
    return valid
