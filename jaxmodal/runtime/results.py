"""What every function that computes returns: values with a status, as tables and as a dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jaxmodal.runtime.statuses import Status, all_usable, explained
from jaxmodal.runtime.tables import ShowsTables

if TYPE_CHECKING:
    import pandas
    import xarray


class Result(ShowsTables):
    """A result: ``status`` says what it may be trusted for, ``ok`` whether all of it may be used, ``explain()`` why."""

    if TYPE_CHECKING:

        @property
        def status(self) -> Any:
            """Codes of `Status`: one, or an array of one for each value."""

    @property
    def ok(self) -> bool:
        """Whether every status is usable."""
        return all_usable(self.status)

    def explain(self) -> str:
        """Return in words what the statuses mean: how many, why, and what to do about those that are not usable."""
        return explained(self.status)

    def to_xarray(self) -> xarray.Dataset:
        """Return the result as a labelled dataset; frequencies in Hz, angles in degrees."""
        raise NotImplementedError

    def to_dataframe(self) -> pandas.DataFrame:
        """Return the result as a data frame, a row for each combination of labels; frequencies in Hz."""
        return self.to_xarray().to_dataframe()


class ResolvedResult(Result):
    """A result of which nothing is left open: what could not be computed was refused."""

    @property
    def status(self) -> Status:
        """``Status.resolved``."""
        return Status.resolved


class ListedResult(Result):
    """A result whose data are rows under headings, which name units: one row for each thing found."""

    def rows(self) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """Return headings and rows with all digits; None where there is no value."""
        raise NotImplementedError

    def to_xarray(self) -> xarray.Dataset:
        """Return the rows as a dataset with the dim row, a variable for each heading; NaN where there is no value."""
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
    """Codes of `Status`: certified where counts prove it, else uncertified."""
    return np.where(np.asarray(proven), int(Status.certified), int(Status.uncertified))
