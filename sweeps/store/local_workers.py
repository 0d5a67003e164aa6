"""Dask workers on this machine; where possible, copies of one process that has done all imports."""

from __future__ import annotations

import contextlib
import multiprocessing
import multiprocessing.forkserver
import sys
from collections.abc import Iterator
from typing import Any

from sweeps.definition.errors import SweepError
from sweeps.store import attempts

#: modules that the copied process imports; none of them starts a thread
_IMPORTED = ("distributed", "sweeps", "sweeps.store.zarr_store")
#: and those that it imports if this process has
_ALSO = ("jaxmodal.cli.commands",)
#: what dask watches for a dashboard, which there is none of, seldom or never: by default it looks at the stacks of a
#: worker every 10 ms and at its event loop every 20 ms, with the lock that the solver needs, a tenth of the time
_WATCHED_LESS = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "500ms",
    "distributed.admin.system-monitor.interval": "5s",
}


def begin_workers() -> None:
    """Start the process that workers become copies of, so that it does its imports while this one does others.

    Raises
    ------
    SweepError
        If this process is itself such a copy, which runs the main file of the user again, and with it this sweep.
    """
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise SweepError(_UNGUARDED)
    if sys.platform == "linux":
        found = [*_IMPORTED, *(name for name in _ALSO if name in sys.modules)]
        multiprocessing.get_context("forkserver").set_forkserver_preload(found)
        multiprocessing.forkserver.ensure_running()


_UNGUARDED = (
    "executor: the workers of dask did not start. They run the main file of Python again: put what it computes under "
    '`if __name__ == "__main__":`, or run the sweep by `jaxmodal sweep run`.'
)


@contextlib.contextmanager
def local_cluster(distributed: Any, workers: int) -> Iterator[Any]:
    """Provide a cluster with ``workers`` workers of one thread each.

    A worker started alone needs two seconds for imports. On Linux all workers, including replacements, are copies of a
    process that has done the imports; on other systems libraries may not survive a copy.

    Raises
    ------
    SweepError
        If the workers do not start.
    """
    import dask

    chosen: dict[str, Any] = {"distributed.scheduler.allowed-failures": attempts.MOST - 1}
    chosen |= _WATCHED_LESS
    if sys.platform == "linux":
        chosen["distributed.worker.multiprocessing-method"] = "forkserver"
    with contextlib.ExitStack() as stack:
        stack.enter_context(dask.config.set(chosen))
        if sys.platform == "linux":
            distributed.utils.get_mp_context()  # it would otherwise set other imports later
        begin_workers()
        try:
            cluster = distributed.LocalCluster(
                n_workers=workers, threads_per_worker=1, dashboard_address=None
            )
        except RuntimeError as error:
            raise SweepError(_UNGUARDED) from error
        yield stack.enter_context(cluster)
