"""Common parts of sweep commands: arguments, and errors as messages."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from jaxmodal.arm.built_in import EXAMPLE_PREFIX
from jaxmodal.cli import arguments

if TYPE_CHECKING:
    import xarray as xr

    from sweeps.definition.sweep import Sweep

#: largest result, in bytes, that is read into memory for a summary and pictures
LARGE = 1_000_000_000


def refusing(argument: str = "") -> contextlib.AbstractContextManager[None]:
    """Return a context that converts errors of the library to messages that begin with the argument."""
    from sweeps.definition.errors import StoreError

    return arguments.refusing(argument, StoreError)


def read(source: str, points: int | None) -> Sweep:
    """Return the definition named by a command-line argument."""
    from sweeps.definition.files import read_sweep

    with refusing():
        return read_sweep(source, points=points)


def store_of(source: str, out: str | None) -> str:
    """Return the store of a sweep: as given by --out, or in the current folder with the name of the sweep."""
    return out or f"{Path(source.removeprefix(EXAMPLE_PREFIX)).stem}.zarr"


def opened(store: str) -> xr.Dataset:
    """Open the dataset in a store after a check of all its pieces."""
    from sweeps.store.run import open_result
    from sweeps.store.zarr_store import require_whole

    with refusing():
        require_whole(store)
        return open_result(store)
