"""Common parts of the commands of sweeps: arguments, and errors as one message."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from jaxmodal.arm.built_in import EXAMPLE_PREFIX
from jaxmodal.cli import arguments

if TYPE_CHECKING:
    import xarray as xr

    from sweeps.definition.sweep import Sweep

#: bytes beyond which a result is not read into memory for a summary and pictures
LARGE = 1_000_000_000


def refusing() -> contextlib.AbstractContextManager[None]:
    """Turn the library's errors into one message."""
    from sweeps.definition.errors import StoreError

    return arguments.refusing("", StoreError)


def read(source: str, points: int | None) -> Sweep:
    """Read the definition that a command-line argument names."""
    from sweeps.definition.files import read_sweep

    with refusing():
        return read_sweep(source, points=points)


def store_of(source: str, out: str | None) -> str:
    """The store of a sweep that a command-line argument names: as given, or named like the sweep, in this folder."""
    return out or f"{Path(source.removeprefix(EXAMPLE_PREFIX)).stem}.zarr"


def opened(store: str) -> xr.Dataset:
    """Open the dataset in a store, every piece of which has been checked."""
    from sweeps.store.run import open_result
    from sweeps.store.zarr_store import require_whole

    with refusing():
        require_whole(store)
        return open_result(store)
