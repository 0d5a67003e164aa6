"""Workers of dask on this machine: copies of one process that has imported what they need, where that is possible."""

from __future__ import annotations

import contextlib
import multiprocessing
import sys
from collections.abc import Iterator
from typing import Any

from sweeps.store import attempts

#: what the process imports that workers are copies of, if this one has; nothing of it starts a thread
_IMPORTED = (
    "distributed",
    "sweeps",
    "sweeps.store.zarr_store",
    "jaxmodal.cli.commands",
)


@contextlib.contextmanager
def local_cluster(distributed: Any, workers: int) -> Iterator[Any]:
    """A cluster with so many workers of one thread each.

    A worker that begins by itself imports for two seconds. On Linux all are copies of one that has, also those that
    take the place of others; elsewhere a system's own libraries may not stand to be copied.
    """
    import dask

    chosen: dict[str, Any] = {"distributed.scheduler.allowed-failures": attempts.MOST - 1}
    if sys.platform == "linux":
        chosen["distributed.worker.multiprocessing-method"] = "forkserver"
    with dask.config.set(chosen):
        if sys.platform == "linux":
            distributed.utils.get_mp_context()  # which would have it import other things
            imported = [name for name in _IMPORTED if name in sys.modules]
            multiprocessing.get_context("forkserver").set_forkserver_preload(imported)
        with distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=None
        ) as cluster:
            yield cluster
