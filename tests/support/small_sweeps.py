"""A small sweep for tests of stores, and processes that run it."""

import errno
import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import sweeps
import sweeps.store.dataset
import sweeps.store.grid
import sweeps.store.zarr_store
from tests.support.interrupted_store import CountingStore

ROOT = Path(__file__).parent.parent.parent


def small_sweep(num=5, **changes):
    options = {"num_modes": 2, "theories": ["timoshenko", "rayleigh"], "outputs": ["multiplicity"]}
    axes = [
        sweeps.linspace("theta_2", 0, 180, num, unit="degree"),
        sweeps.axis("payload.mass", [0.0, 1.0, 2.0]),
    ]
    return sweeps.Sweep("example:two_link_flexible", axes, **options | changes)


CHUNK_CELLS = 4  # chunks of 1 x 3 cells


def contents(path):
    """Every stored key with its bytes, except what a kill left half written under another name."""
    files = [p for p in Path(path).rglob("*") if p.is_file() and p.suffix != ".partial"]
    return {str(p.relative_to(path)): p.read_bytes() for p in files}


def pinned_commit(root):
    """In place of the commit of the checkout, which may change between the processes of one test."""
    return "0123456789abcdef"


def interrupt():
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def keys_written(sweep, tmp_path):
    """Every write of an uninterrupted run, in order."""
    store = CountingStore(tmp_path / "counted.zarr", interrupt)
    sweeps.run(sweep, store, chunk_cells=CHUNK_CELLS)
    return store.keys


FORKED = multiprocessing.get_context("forkserver")
"""Processes that begin as copies of one, which has imported what takes two seconds and has done nothing."""
FORKED.set_forkserver_preload(["sweeps", "xarray", "zarr", "scipy.sparse"])


CHILD = """
import sys
import jax
jax.config.update("jax_enable_x64", True)
sys.path.insert(0, {root!r})
import sweeps, sweeps.store.dataset, sweeps.store.grid, os
from tests.support import interrupted_store, small_sweeps as setup, synthetic_cells
sweeps.store.dataset._commit = setup.pinned_commit
"""


def child(code, tmp_path, variables=None, **options):
    head = CHILD.format(root=str(ROOT))
    environment = os.environ | {"JAX_COMPILATION_CACHE_DIR": str(tmp_path / "compiled")}
    environment |= variables or {}
    return subprocess.Popen(
        [sys.executable, "-c", head + code], text=True, env=environment, **options
    )
