"""What a worker of dask sets up for itself before its first shard."""

import ctypes
import functools
import os
import pickle
import platform
import re
import subprocess
import sys

import pytest

import sweeps
from sweeps.store import on_workers

#: what dask has its workers do
VARIABLE = "MALLOC_TRIM_THRESHOLD_"

FAULTS = """
import resource, numpy as np
from sweeps.store.on_workers import keep_freed_memory

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(100):
        np.zeros(200_000) + 1.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

faults()
before = faults()
keep_freed_memory()
faults()
print(before, faults())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc is told so")
def test_workers_do_not_fetch_the_pages_of_every_array_anew():
    """As dask starts them, each of 100 arrays of 1.6 MB has its 390 pages fetched and cleared; afterwards none has."""
    ended = subprocess.run(
        [sys.executable, "-c", FAULTS],
        env=os.environ | {VARIABLE: "65536"},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    before, after = map(int, ended.stdout.split())
    assert before > 100 * 300
    assert after < 1000


def test_processes_that_dask_has_not_started_are_left_as_they_are(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(ctypes, "CDLL", lambda _: pytest.fail("it was changed"))
    on_workers.keep_freed_memory()


@pytest.mark.parametrize("error", [OSError, TypeError, AttributeError])
def test_a_system_without_glibc_is_no_error(monkeypatch, error):
    def missing(_):
        raise error

    monkeypatch.setenv(VARIABLE, "65536")
    monkeypatch.setattr(ctypes, "CDLL", missing)
    on_workers.keep_freed_memory()


def test_a_task_is_unpacked_once_and_not_before_64_bits_are_on(monkeypatch):
    unpacked = []
    monkeypatch.setattr(on_workers, "use_default_cache", lambda: None)
    monkeypatch.setattr(on_workers.jax.config, "update", lambda *setting: unpacked.append(setting))
    loads = pickle.loads
    monkeypatch.setattr(
        on_workers.pickle, "loads", lambda data: unpacked.append("task") or loads(data)
    )
    task = pickle.dumps(abs)
    on_workers._unpacked.cache_clear()
    assert [on_workers.on_worker(shard, task, cached=False) for shard in (-1, -2)] == [1, 2]
    sixty_four = ("jax_enable_x64", True)
    assert unpacked == [sixty_four, "task", sixty_four]


@pytest.mark.parametrize("cached", [False, True])
def test_a_worker_sets_up_its_process_once(monkeypatch, cached):
    begun = []
    steps = ["add_cpu_flags", "keep_freed_memory", "end_quickly", "use_default_cache"]
    for name in steps:
        monkeypatch.setattr(on_workers, name, lambda name=name: begun.append(name))
    monkeypatch.setattr(on_workers, "_begin", functools.cache(on_workers._begin.__wrapped__))
    task = pickle.dumps(abs)
    assert [on_workers.on_worker(shard, task, cached) for shard in (-1, -2)] == [1, 2]
    assert begun == steps[: 3 + cached]


@pytest.mark.parametrize("workers", [0, -1, 2.5, True, "3"])
def test_a_number_of_workers_that_is_none_is_refused_at_once(workers):
    with pytest.raises(
        sweeps.SweepError, match=re.escape(f"workers = {workers!r}: must be a whole number")
    ):
        sweeps.Dask(workers=workers)
