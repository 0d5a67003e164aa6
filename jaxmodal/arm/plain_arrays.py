"""Arrays that carry more than numbers: masks, under which no number stands, and the labels of pandas and xarray.

Both are told by their types where a program has loaded them; nothing is imported for it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from jaxmodal.runtime.errors import ArmError

_NUMBERS = frozenset((float, int, np.float64))


def plain(name: str, value: Any) -> Any:
    """Return a value, and each entry of lists, without a mask: NaN where it is masked.

    Raises
    ------
    ArmError
        If it has labels. What has neither mask nor labels is as it was, whatever it is.
    """
    if isinstance(value, list | tuple):
        if all(type(entry) in _NUMBERS for entry in value):
            return value
        return [plain(name, entry) for entry in value]
    refuse_labels(name, value)
    return unmasked(value)


def unmasked(value: Any) -> Any:
    """An array of NumPy with NaN in place of masked numbers."""
    if not isinstance(value, np.ma.MaskedArray):
        return value
    if value.dtype.kind in "iu":
        value = value.astype(np.float64)
    masked = np.ma.getmaskarray(value)
    return value.filled(np.nan) if value.dtype.kind in "fc" and masked.any() else np.asarray(value)


def refuse_labels(name: str, value: Any) -> None:
    """Refuse an array of pandas or xarray, whose labels would be passed over."""
    kind = labelled(value)
    if kind:
        raise ArmError(
            f"{name}: is a {kind}, whose labels would be passed over; put it in order and give its values, with "
            ".to_numpy()."
        )


def labelled(value: Any) -> str:
    """What an array with labels is called; empty for one without, as an index of pandas and a single number are."""
    for module, kinds in (("pandas", ("Series", "DataFrame")), ("xarray", ("DataArray",))):
        loaded = sys.modules.get(module)
        for kind in kinds:
            if issubclass(type(value), getattr(loaded, kind, ())):
                return f"{kind} of {module}" if np.ndim(value) else ""
    return ""


class _Labels(NamedTuple):
    """Of a column: its dimension, if that has a name, and the index along it, None for positions from 0."""

    dimension: Any
    index: Any

    def agree(self, other: _Labels, size: int) -> bool:
        """Whether two columns of one ``size`` have the same labels in the same order."""
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


def aligned(columns: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return columns that belong together row by row as plain ones: masked values are NaN, labels go.

    Labels are those of a Series of pandas or of a DataArray of xarray with one axis; a column without has the positions
    from 0.

    Raises
    ------
    ArmError
        If labels differ, or stand in another order; the message names two columns by ``name`` and their keys.
    """
    marked = [key for key, column in columns.items() if labelled(column) and column.ndim == 1]
    found = {}
    for key, column in columns.items():
        if marked and np.ndim(column) == 1:
            first = columns[marked[0]]
            same = len(first) == len(column)  # else refused for its length
            if same and not _labels(column).agree(_labels(first), len(first)):
                own = labelled(column) or "a plain array: positions from 0"
                raise ArmError(
                    f"{name}[{key!r}]: its labels ({own}) are not, in this order, those of {name}[{marked[0]!r}] "
                    f"({labelled(first)}); align both, or give the values of each with .to_numpy() where they are in "
                    "one order."
                )
        found[key] = _values(column) if key in marked else plain(f"{name}[{key!r}]", column)
    return found


def _values(column: Any) -> Any:
    """The values of a column with labels; what pandas has as missing is NaN."""
    if labelled(column).endswith("pandas") and column.dtype.kind in "iuf":
        return column.to_numpy(np.float64, na_value=np.nan)
    return column.to_numpy()
