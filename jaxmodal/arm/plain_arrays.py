"""Masked arrays, and arrays with the labels of pandas or xarray, as plain arrays.

pandas and xarray are recognised only if the program has already imported them; this module imports neither.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from jaxmodal.runtime.errors import ArmError

_NUMBERS = frozenset((float, int, np.float64))


def plain(name: str, value: Any) -> Any:
    """Return a value, or each entry of a list, without its mask: masked numbers become NaN.

    Values with neither mask nor labels are returned unchanged.

    Raises
    ------
    ArmError
        If the value has labels.
    """
    if isinstance(value, list | tuple):
        if all(type(entry) in _NUMBERS for entry in value):
            return value
        return [plain(name, entry) for entry in value]
    refuse_labels(name, value)
    return unmasked(value)


def unmasked(value: Any) -> Any:
    """Return a NumPy array with NaN in place of masked numbers."""
    if not isinstance(value, np.ma.MaskedArray):
        return value
    if value.dtype.kind in "iu":
        value = value.astype(np.float64)
    masked = np.ma.getmaskarray(value)
    return value.filled(np.nan) if value.dtype.kind in "fc" and masked.any() else np.asarray(value)


def refuse_labels(name: str, value: Any) -> None:
    """Refuse an array of pandas or xarray, because its labels would be ignored."""
    kind = labelled(value)
    if kind:
        raise ArmError(
            f"{name}: is a {kind}, whose labels would be ignored; put it in order and give its values, with "
            ".to_numpy()."
        )


def labelled(value: Any) -> str:
    """Return the name of the type of an array with labels, such as "Series of pandas".

    Empty for anything else, and for a single number.
    """
    for module, kinds in (("pandas", ("Series", "DataFrame")), ("xarray", ("DataArray",))):
        loaded = sys.modules.get(module)
        for kind in kinds:
            if issubclass(type(value), getattr(loaded, kind, ())):
                return f"{kind} of {module}" if np.ndim(value) else ""
    return ""


class _Labels(NamedTuple):
    """Labels of a column: the name of its dimension, if any, and its index; None for positions from 0."""

    dimension: Any
    index: Any

    def agree(self, other: _Labels, size: int) -> bool:
        """Return True if two columns of the same ``size`` have the same labels in the same order."""
        if None not in (self.dimension, other.dimension) and self.dimension != other.dimension:
            return False
        positions = sys.modules["pandas"].RangeIndex(size)
        first, second = (positions if x.index is None else x.index for x in (self, other))
        return bool(first.equals(second))


def _labels(value: Any) -> _Labels:
    if labelled(value).endswith("xarray"):
        dimension = value.dims[0]
        return _Labels(dimension, value.indexes.get(dimension))
    return _Labels(None, value.index if labelled(value) else None)


def aligned(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return columns that belong together row by row as plain arrays: masked values become NaN, labels are dropped.

    Labels are those of a pandas Series or of a one-dimensional xarray DataArray. A column without labels has the
    positions from 0.

    Raises
    ------
    ArmError
        If labels differ, or are in another order. The message gives the keys of two columns.
    """
    marked = [key for key, column in parameters.items() if labelled(column) and column.ndim == 1]
    found = {}
    for key, column in parameters.items():
        if marked and np.ndim(column) == 1:
            first = parameters[marked[0]]
            same = len(first) == len(column)  # else refused for its length
            if same and not _labels(column).agree(_labels(first), len(first)):
                own = labelled(column) or "a plain array: positions from 0"
                raise ArmError(
                    f"parameters[{key!r}]: its labels ({own}) differ, in values or order, from those of "
                    f"parameters[{marked[0]!r}] ({labelled(first)}); align both, or give the values of each with "
                    ".to_numpy() if they are in the same order."
                )
        found[key] = _values(column) if key in marked else plain(f"parameters[{key!r}]", column)
    return found


def _values(column: Any) -> Any:
    """Return the values of a column with labels; missing values of pandas become NaN."""
    if labelled(column).endswith("pandas") and column.dtype.kind in "iuf":
        return column.to_numpy(np.float64, na_value=np.nan)
    return column.to_numpy()
