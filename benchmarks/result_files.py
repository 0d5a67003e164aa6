"""Folders and datasets of results that are committed, the same in every run."""

from __future__ import annotations

from pathlib import Path

import xarray as xr

from sweeps.definition.errors import SweepError

#: what depends on the machine and the moment, and so does not belong into committed files
_VOLATILE = ("git_commit", "device", "jax_version", "numpy_version")


def repeatable(ds: xr.Dataset) -> xr.Dataset:
    """The dataset without what another run would have otherwise, for files that are committed."""
    kept = ds.copy()
    kept.attrs = {key: value for key, value in ds.attrs.items() if key not in _VOLATILE}
    return kept


def made_folder(folder: str | Path) -> Path:
    """A folder, made if missing; a `SweepError` says why that cannot be."""
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SweepError(f"{folder}: cannot be made ({error.strerror or error}).") from error
    return folder
