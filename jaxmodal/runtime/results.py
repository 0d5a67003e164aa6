"""Base classes of results: values with a status, shown as tables and converted to a dataset."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxmodal.runtime.statuses import Status, all_usable, explained
from jaxmodal.runtime.tables import ShowsTables, require_values

if TYPE_CHECKING:
    import pandas
    import xarray


class Result(ShowsTables):
    """Base class of results.

    ``status`` tells how far the values can be trusted, ``ok`` whether all of them are usable, and ``explain()`` gives
    the reasons.
    """

    if TYPE_CHECKING:

        @property
        def status(self) -> Any:
            """`Status` codes: one, or an array with one for each value."""

    @property
    def ok(self) -> bool:
        """True if every status is usable."""
        return all_usable(self.status)

    def explain(self) -> str:
        """Return an explanation of the statuses: how many, causes, and remedies for those that are not usable."""
        return explained(self.status)

    def to_xarray(self) -> xarray.Dataset:
        """Return the result as a labelled dataset; frequencies in Hz, angles in degrees."""
        raise NotImplementedError

    def __init_subclass__(cls, **given: Any) -> None:
        super().__init_subclass__(**given)
        if "to_xarray" in vars(cls):
            made: Any = cls
            made.to_xarray = _of_values(cls.to_xarray)

    def to_dataframe(self) -> pandas.DataFrame:
        """Return the result as a data frame with one row per combination of labels; frequencies in Hz."""
        return self.to_xarray().to_dataframe()


def _of_values(
    to_xarray: Callable[[Any], xarray.Dataset],
) -> Callable[[Any], xarray.Dataset]:
    """Return `to_xarray` with a check that refuses traced values first."""

    @functools.wraps(to_xarray)
    def checked(self: Any) -> xarray.Dataset:
        require_values(self, "to_xarray()")
        return to_xarray(self)

    return checked


class ResolvedResult(Result):
    """A result that is always complete: anything that could not be computed raised an error."""

    @property
    def status(self) -> Status:
        """``Status.resolved``."""
        return Status.resolved


class ListedResult(Result):
    """A result that is a list: one row for each item, under headings that include units."""

    def rows(self) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """Return headings and rows with all digits; None where there is no value."""
        raise NotImplementedError

    def to_xarray(self) -> xarray.Dataset:
        """Return the rows as a dataset with the dim row and one variable per heading; NaN where there is no value."""
        import xarray

        headings, rows = self.rows()
        columns = zip(*rows, strict=True) if rows else ((),) * len(headings)
        return xarray.Dataset(
            {
                name: ("row", np.array([np.nan if x is None else x for x in column]))
                for name, column in zip(headings, columns, strict=True)
            }
        )


def certified_where(proven: Any) -> Any:
    """Return `Status` codes: certified where ``proven``, otherwise uncertified."""
    return np.where(np.asarray(proven), int(Status.certified), int(Status.uncertified))
