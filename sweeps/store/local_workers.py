"""Dask workers on this machine; where possible, copies of one process that has done all imports."""

from __future__ import annotations

import contextlib
import multiprocessing
import sys
from collections.abc import Iterator
from typing import Any

from sweeps.store import attempts

#: modules that the copied process imports, if this one has; none of them starts a thread
_IMPORTED = (
    "distributed",
    "sweeps",
    "sweeps.store.zarr_store",
    "jaxmodal.cli.commands",
)


@contextlib.contextmanager
def local_cluster(distributed: Any, workers: int) -> Iterator[Any]:
    """Provide a cluster with ``workers`` workers of one thread each.

    A worker started alone needs two seconds for imports. On Linux all workers, including replacements, are copies of a
    process that has done the imports; on other systems libraries may not survive a copy.
    """
    import dask

    chosen: dict[str, Any] = {"distributed.scheduler.allowed-failures": attempts.MOST - 1}
    if sys.platform == "linux":
        chosen["distributed.worker.multiprocessing-method"] = "forkserver"
    with dask.config.set(chosen):
        if sys.platform == "linux":
            distributed.utils.get_mp_context()  # it would otherwise set other imports later
            imported = [name for name in _IMPORTED if name in sys.modules]
            multiprocessing.get_context("forkserver").set_forkserver_preload(imported)
        with distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=None
        ) as cluster:
            yield cluster
