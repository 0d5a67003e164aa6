"""What the commands of sweeps share: reading their arguments, and errors as one message."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from jaxmodal.cli import arguments

if TYPE_CHECKING:
    import xarray as xr

    from sweeps.definition.sweep import Sweep


def refusing() -> contextlib.AbstractContextManager[None]:
    """Turn the library's errors into one message."""
    from sweeps.definition.errors import StoreError

    return arguments.refusing("", StoreError)


def read(source: str, points: int | None) -> Sweep:
    """Read the definition that a command-line argument names."""
    from sweeps.definition.files import read_sweep

    with refusing():
        return read_sweep(source, points=points)


def opened(store: str) -> xr.Dataset:
    """Open the dataset in a store, every piece of which has been checked."""
    from sweeps.store.run import open_result
    from sweeps.store.zarr_store import require_whole

    with refusing():
        require_whole(store)
        return open_result(store)
