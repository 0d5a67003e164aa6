"""Export of datasets: netCDF, and tables with one row for each mode of each cell."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jaxmodal.runtime.whole_files import write_text, write_whole
from sweeps.definition.errors import SweepError

if TYPE_CHECKING:
    import xarray as xr

SUFFIXES = (".nc", ".csv")


def as_table(ds: xr.Dataset) -> Any:
    """Return a dataset as a pandas table with one row for each mode of each cell.

    Quantities with further dimensions get a column for each label: ``sensitivity[link1.length]``,
    ``strain_energy_fraction[2,shear]``.
    """
    import xarray as xr

    columns = {}
    for name, variable in ds.data_vars.items():
        further = [dim for dim in variable.dims if dim not in ds.frequency.dims]
        for labels in itertools.product(*(ds[dim].values for dim in further)):
            chosen = variable.sel(dict(zip(further, labels, strict=True)), drop=True)
            heading = f"{name}[{','.join(map(str, labels))}]" if further else str(name)
            columns[heading] = chosen.drop_vars(
                [c for c in chosen.coords if c not in ds.frequency.coords]
            )
    table = xr.Dataset(columns).to_dataframe(dim_order=list(ds.frequency.dims))
    return table[[*columns, *(name for name in table.columns if name not in columns)]]


def export(ds: xr.Dataset, path: str | Path) -> None:
    """Write a dataset as netCDF (.nc) or CSV (.csv), by the suffix of the path.

    Raises
    ------
    SweepError
        If the suffix is another, or the file cannot be written.
    """
    path = Path(path)
    kind = path.suffix.lower()
    if kind not in SUFFIXES:
        raise SweepError(f"{path}: give a file that ends in .nc or .csv.")
    loaded = ds.load()
    write_or_refuse(path, loaded.to_netcdf if kind == ".nc" else _with_names(loaded).to_csv)


def _with_names(ds: xr.Dataset) -> Any:
    """Return the table of a dataset with statuses by name: a CSV file has no place for what codes mean."""
    table = as_table(ds)
    for column in table.columns:
        about = ds[column].attrs if column in ds else {}
        if "flag_meanings" in about:
            names = about["flag_meanings"].split()
            table[column] = table[column].map(dict(zip(about["flag_values"], names, strict=True)))
    return table


def write_or_refuse(path: Path, write: Callable[[Path], Any]) -> None:
    """Write a file atomically; raise a `SweepError` with the reason if it cannot be written."""
    with _refusing(path):
        write_whole(path, write)


def write_text_or_refuse(path: Path, text: str) -> None:
    """Write a text as `write_or_refuse` does."""
    with _refusing(path):
        write_text(path, text)


@contextlib.contextmanager
def _refusing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SweepError(
            f"{path}: cannot be written ({error.strerror or error}); give another place."
        ) from error
