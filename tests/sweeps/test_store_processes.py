"""Stores of sweeps in processes that are killed or fill the disk, and of several devices; compared byte by byte."""

import os
import random
import signal
import sys
import time

import jax
import pytest
import xarray as xr

import sweeps
import sweeps.store.dataset
import sweeps.store.grid
import sweeps.store.zarr_store
from sweeps.store.claim_files import CLAIMS
from tests.support import synthetic_cells
from tests.support.interrupted_store import CountingStore, ReportingStore
from tests.support.small_sweeps import (
    CHUNK_CELLS,
    FORKED,
    child,
    contents,
    keys_written,
    pinned_commit,
    small_sweep,
)

pytestmark = pytest.mark.usefixtures("one_commit")


@pytest.fixture
def files_of_at_most(monkeypatch):
    """A limit on the size of files, which makes the operating system refuse a write."""
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # Python would keep half a file of it
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size=before[0]: resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("begun", [False, True])
def test_a_full_disk_is_a_clear_error_and_leaves_a_store_that_resumes(
    begun, synthetic, uninterrupted, tmp_path, files_of_at_most
):
    """Full before the store is begun, or at its first chunk."""
    path = tmp_path / "full.zarr"
    if begun:
        sweeps.store.zarr_store.open_store(path, small_sweep(), CHUNK_CELLS)
    files_of_at_most(len(uninterrupted["frequency/c.0.0.0.0"]) - 1 if begun else 5000)
    with pytest.raises(sweeps.StoreError, match="free space and run the same command again"):
        sweeps.run(small_sweep(), path, chunk_cells=CHUNK_CELLS)
    files_of_at_most()
    assert any(path.iterdir()) == begun
    sweeps.run(small_sweep(), path, chunk_cells=CHUNK_CELLS)
    assert contents(path) == uninterrupted


def test_a_claim_that_does_not_fit_on_the_disk_counts_for_no_process(
    synthetic, uninterrupted, tmp_path, files_of_at_most
):
    path = tmp_path / "full.zarr"
    sweeps.store.zarr_store.open_store(path, small_sweep(), CHUNK_CELLS)
    files_of_at_most(1)
    words = r"store .*full\.zarr: cannot be written .* free space and run the same command again"
    with pytest.raises(sweeps.StoreError, match=words):
        sweeps.run(small_sweep(), path, share=sweeps.Claims())
    files_of_at_most()
    assert list((path / CLAIMS).iterdir()) == []
    sweeps.run(small_sweep(), path, share=sweeps.Claims())  # waits for no lease
    assert contents(path) == uninterrupted


TWO_DEVICES = {
    "XLA_FLAGS": os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=2"
}
"""Beside the flags of all tests, by which programs compile fast."""


def exit_in_a_process(path, step, way):
    jax.config.update("jax_enable_x64", True)
    sweeps.store.dataset._commit = pinned_commit
    sweeps.store.grid.solve_cells = synthetic_cells.solve_cells
    store = CountingStore(path, lambda: os._exit(9), step, way)
    sweeps.run(small_sweep(), store, chunk_cells=CHUNK_CELLS)


@pytest.mark.slow
@pytest.mark.parametrize("way", ["before", "after"])
def test_an_exit_at_each_step_of_writing_a_chunk(way, synthetic, uninterrupted, tmp_path):
    keys = keys_written(small_sweep(), tmp_path)
    first = keys.index("frequency/c.0.1.0.0")  # the second chunk
    steps = range(first, first + len(small_sweep().outputs) + 1)
    assert keys[steps[-1]].startswith("progress/shard_record/c.")
    for step in steps:
        path = tmp_path / f"{step}.zarr"
        process = FORKED.Process(target=exit_in_a_process, args=(path, step, way))
        process.start()
        process.join(timeout=120)
        assert process.exitcode == 9
        synthetic.clear()
        sweeps.run(small_sweep(), path, chunk_cells=CHUNK_CELLS)
        marked = way == "after" and step == steps[-1]
        assert len(synthetic) == 2 * (3 if marked else 4)  # of 5 chunks, in two theories
        assert contents(path) == uninterrupted, keys[step]


KILLS = 20


def many_chunks():
    return small_sweep(num=41, theories=["timoshenko"])


def report_in_a_process(path, pipe):
    """With the real solver; what `ReportingStore` says goes into the pipe, a file of the operating system."""
    jax.config.update("jax_enable_x64", True)
    sweeps.store.dataset._commit = pinned_commit
    os.dup2(os.open(pipe, os.O_WRONLY), 1)
    sweeps.run(many_chunks(), ReportingStore(path), chunk_cells=1)


@pytest.mark.slow
def test_kills_at_random_moments_lose_only_chunks_in_flight(tmp_path):
    """With the real solver: kills after a first finished chunk, at seeded moments and inside seeded writes."""
    path, pipe = tmp_path / "killed.zarr", tmp_path / "said"
    os.mkfifo(pipe)
    moments = random.Random(20110804)
    fell, written = [], []
    while True:
        process = FORKED.Process(target=report_in_a_process, args=(path, pipe))
        process.start()
        said, lines = pipe.open(), []
        for line in said:
            lines.append(line.split())
            if lines[-1][0] == "wrote" and "shard_record/c" in lines[-1][1]:
                break
        if len(fell) < KILLS:
            if len(fell) % 2:  # when one of the next writes has begun
                writes = moments.randrange(1, 7)
                while writes:
                    lines.append(said.readline().split())
                    writes -= lines[-1][0] == "writing"
                time.sleep(moments.uniform(0.0, 0.5 * ReportingStore.PAUSE))
            else:
                time.sleep(moments.uniform(0.0, 0.12))
            process.kill()
        lines += [line.split() for line in said]
        said.close()
        process.join(timeout=300)
        marks = [key for word, key in lines if word == "wrote" and "shard_record/c" in key]
        written += marks
        if process.exitcode == 0:
            break
        assert process.exitcode == -signal.SIGKILL
        word, key = lines[-1]
        fell.append(f"{'while writing' if word == 'writing' else 'after'} {key.split('/')[0]}")
    print("kills fell", {place: fell.count(place) for place in sorted(set(fell))})
    assert len(fell) >= KILLS
    inside = sum(place.startswith("while writing") for place in fell)
    assert 3 <= inside <= len(fell) - 3, fell  # every second kill follows the beginning of a write
    # no chunk was computed and marked twice, so each kill cost at most the chunk in flight;
    # a kill between a write and its report is the one place where a mark can be unheard of
    assert len(written) == len(set(written))
    assert len(written) >= many_chunks().num_cells - KILLS
    whole = tmp_path / "uninterrupted.zarr"
    sweeps.run(many_chunks(), whole, chunk_cells=1)
    assert contents(path) == contents(whole)


@pytest.mark.slow
def test_dask_with_a_killed_worker_gives_the_same_arrays(tmp_path):
    distributed = pytest.importorskip("distributed")
    sweep = small_sweep(num=21, theories=["timoshenko"])
    sweeps.run(sweep, tmp_path / "here.zarr", chunk_cells=3)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None
    ) as cluster:
        killed = []

        def kill_one(done, total):
            if total // 3 < done and not killed:
                killed.append(next(iter(cluster.workers.values())).pid)
                os.kill(killed[0], signal.SIGKILL)

        executor = sweeps.Dask(cluster.scheduler_address)
        there = tmp_path / "dask.zarr"
        sweeps.run(sweep, there, chunk_cells=3, executor=executor, progress=kill_one)
        assert killed
        in_memory = sweeps.run(sweep, chunk_cells=3, executor=executor)
    assert contents(there) == contents(tmp_path / "here.zarr")
    xr.testing.assert_identical(in_memory, sweeps.run(sweep, chunk_cells=3))


@pytest.mark.slow
def test_the_batch_solver_repeats_its_bits_in_another_process(tmp_path):
    """Chunks above the size that is solved one by one: resumed elsewhere, the same bytes."""
    whole, resumed = tmp_path / "whole.zarr", tmp_path / "resumed.zarr"
    for path in (whole, resumed):
        code = f"sweeps.run(setup.small_sweep(num=200), {str(path)!r}, chunk_cells=300)"
        assert child(code, tmp_path).wait(timeout=300) == 0
    assert contents(whole) == contents(resumed)
    (resumed / "frequency/c.0.1.0.0").unlink()
    sweeps.run(small_sweep(num=200), resumed)
    assert contents(whole) == contents(resumed)


@pytest.mark.slow
def test_processes_of_one_and_of_two_devices_share_a_store(tmp_path):
    """One computes a part on a device of its own, the other claims the rest for two; the bytes are those of one."""
    code = """
import jax
assert len(jax.local_devices()) == {devices}
cells = []
sweeps.run(setup.small_sweep(), {path!r}, chunk_cells=3, share={share}, progress=lambda *at: cells.append(at[0]))
assert cells[-1] - cells[0] == {cells}
"""
    for devices, share, cells in ((1, "sweeps.Part(2, 2)", 6), (2, "sweeps.Claims()", 9)):
        own = code.format(
            devices=devices, share=share, cells=cells, path=str(tmp_path / "two.zarr")
        )
        variables = TWO_DEVICES if devices == 2 else None
        assert child(own, tmp_path, variables).wait(timeout=300) == 0
    sweeps.run(small_sweep(), tmp_path / "one.zarr", chunk_cells=3)
    assert contents(tmp_path / "two.zarr") == contents(tmp_path / "one.zarr")


@pytest.mark.slow
def test_the_device_of_a_thread_reaches_the_threads_of_the_batch_solver(tmp_path):
    """While a batch is solved for the second device, no array appears on the first."""
    code = """
import threading, time, numpy as np
import jaxmodal as jm
arm = jm.examples.two_link_flexible()
cells = {"link2.joint_angle": np.linspace(0.0, 3.0, 1000)}
before = {id(array) for array in jax.live_arrays()}
seen, done = set(), threading.Event()
def watch():
    while not done.is_set():
        seen.update(d.id for a in jax.live_arrays() if id(a) not in before for d in a.devices())
        time.sleep(0.002)
watcher = threading.Thread(target=watch)
watcher.start()
with jax.default_device(jax.devices()[1]):
    assert jm.natural_frequencies_batch(arm, cells, 2, kernel="portable").certified.all()
done.set()
watcher.join()
assert seen == {1}, seen
"""
    assert child(code, tmp_path, TWO_DEVICES).wait(timeout=500) == 0
