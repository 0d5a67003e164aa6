"""One core for a process whose processor time is measured."""

from __future__ import annotations

import os


def on_one_core() -> None:
    """Keep this process, all of its threads, on one core, and JAX in double precision; before any array is made."""
    for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ[name] = "1"  # read where BLAS is loaded; threads of one that is share the core
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-1:])
    import jax

    from jaxmodal.runtime.compilation import add_cpu_flags

    jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]
    add_cpu_flags()
