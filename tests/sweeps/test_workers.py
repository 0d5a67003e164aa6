"""What a worker of dask sets up for itself before its first shard."""

import functools
import pickle
import re

import pytest

import sweeps
from sweeps.store import on_workers

#: what dask has its workers do
VARIABLE = "MALLOC_TRIM_THRESHOLD_"


@pytest.mark.parametrize("of_dask", [False, True])
def test_only_a_worker_that_dask_has_started_replaces_thresholds_of_memory(monkeypatch, of_dask):
    kept = []
    monkeypatch.delenv(VARIABLE, raising=False)
    if of_dask:
        monkeypatch.setenv(VARIABLE, "65536")
    monkeypatch.setattr(on_workers, "add_cpu_flags", lambda: None)
    monkeypatch.setattr(on_workers, "end_quickly", lambda: None)
    monkeypatch.setattr(on_workers, "keep_freed_memory", lambda always: kept.append(always))
    on_workers._begin.__wrapped__(cached=False)
    assert kept == [of_dask]


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
        monkeypatch.setattr(on_workers, name, lambda name=name, **_: begun.append(name))
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
