"""Lowest and highest frequency of each mode among the cells of a sweep, with their coordinates."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxmodal.runtime.datasets import variable
from sweeps.analysis.cells import axes_of, definition_of

if TYPE_CHECKING:
    import xarray as xr

_SIDES = ("lowest", "highest")


def extremes(ds: xr.Dataset) -> xr.Dataset:
    """Return the lowest and the highest certified frequency of each mode in a sweep, with its coordinates.

    Parameters
    ----------
    ds
        The result of a sweep, in memory or from a store, or a selection of it.

    Returns
    -------
    xarray.Dataset
        Over ``side`` (lowest, highest), ``mode`` and, if it is a dimension, ``theory``: ``frequency`` in Hz, and the
        coordinates of that cell under their names; the numbers ``certified_cells`` and ``other_cells`` of cells that
        are, and are not, certified or computed; the latter are ignored. NaN, and empty text, if no cell is certified.

    Raises
    ------
    SweepError
        If the dataset is not the result of a sweep.

    Notes
    -----
    Only cells of the grid are considered; `jaxmodal.extremes` searches between them. Among equal frequencies the first
    cell is returned.

    Examples
    --------
    >>> from sweeps import Sweep, extremes, linspace, run
    >>> ds = run(Sweep("example:two_link_flexible", [linspace("theta_2", 0, 180, 7, unit="degree")]))
    >>> found = extremes(ds)
    >>> found["theta_2"].sel(mode=1).values.tolist(), found.other_cells.sel(mode=1).item()
    ([0.0, 180.0], 0)
    """
    import xarray as xr

    definition_of(ds)
    axes = axes_of(ds)
    kept = [name for name in ("theory", "mode") if name in ds.frequency.dims]
    places = {
        str(name): values
        for name, values in ds.coords.items()
        if values.dims and set(values.dims) <= set(axes)
    }
    sizes = tuple(ds.sizes[name] for name in kept)
    frequency, counts = np.full((2, *sizes), np.nan), np.zeros((2, *sizes), np.int64)
    at = {name: _unknown(values, (2, *sizes)) for name, values in places.items()}
    for index in itertools.product(*map(range, sizes)):
        cells = ds[["frequency", "certified"]].isel(dict(zip(kept, index, strict=True)))
        cells = cells.transpose(*axes).load()
        values = cells.frequency.values
        usable = cells.certified.values.astype(bool) & np.isfinite(values)
        counts[(0, *index)], counts[(1, *index)] = usable.sum(), (~usable).sum()
        if not usable.any():
            continue
        for side, sign in enumerate((1.0, -1.0)):
            flat = np.argmin(np.where(usable, sign * values, np.inf))
            cell = dict(zip(axes, np.unravel_index(flat, values.shape), strict=True))
            frequency[(side, *index)] = values.flat[flat]
            for name, column in places.items():
                own = {axis: int(cell[axis]) for axis in column.dims}
                at[name][(side, *index)] = column.isel(own).values
    dims = ("side", *kept)
    about = {"long_name": "lowest and highest certified frequency of the cells", "units": "Hz"}
    variables: dict[str, Any] = {
        "frequency": (dims, frequency, about),
        "certified_cells": variable(tuple(kept), counts[0], "certified cells", "1"),
        "other_cells": variable(
            tuple(kept), counts[1], "cells that are not certified or not computed", "1"
        ),
    }
    variables |= {name: (dims, at[name], dict(column.attrs)) for name, column in places.items()}
    labels = {name: ds[name].values for name in kept if name in ds.coords}
    return xr.Dataset(variables, {"side": list(_SIDES), **labels})


def _unknown(values: xr.DataArray, shape: tuple[int, ...]) -> np.ndarray:
    """Return an array for values of a coordinate, filled with NaN or empty text."""
    if values.dtype.kind in "fiub":
        return np.full(shape, np.nan)
    return np.full(shape, "", dtype=object)
