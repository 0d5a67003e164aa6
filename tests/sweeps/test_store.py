"""Stores of sweeps: resuming, refusing, surviving every interruption; arrays compared byte by byte."""

import errno
import hashlib
import json
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import jax
import numpy as np
import pytest
import synthetic_cells
import xarray as xr
import zarr
from interrupted_store import CountingStore, ReportingStore

import sweeps
import sweeps.store.dataset
import sweeps.store.grid
import sweeps.store.zarr_store

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


@pytest.fixture(autouse=True)
def one_commit(monkeypatch):
    monkeypatch.setattr(sweeps.store.dataset, "_commit", pinned_commit)


@pytest.fixture
def uninterrupted(synthetic, tmp_path):
    path = tmp_path / "uninterrupted.zarr"
    sweeps.run(small_sweep(), path, chunk_cells=CHUNK_CELLS)
    synthetic.clear()
    return contents(path)


# ---- resuming ----


def test_store_and_memory_hold_the_same_numbers(synthetic, tmp_path):
    sweep = small_sweep()
    stored = sweeps.run(sweep, tmp_path / "a.zarr", chunk_cells=CHUNK_CELLS)
    whole = sweeps.run(sweep)
    xr.testing.assert_equal(whole, stored.load())
    assert stored.attrs["certificate_summary"] == whole.attrs["certificate_summary"]
    assert "invalid_input" in stored.attrs["certificate_summary"]


def test_a_complete_store_is_not_computed_again(synthetic, uninterrupted, tmp_path):
    path = tmp_path / "uninterrupted.zarr"
    seen = []
    sweeps.run(small_sweep(), path, progress=lambda done, total: seen.append((done, total)))
    assert synthetic == []
    assert seen == [(15, 15)]
    assert contents(path) == uninterrupted


def test_only_missing_and_torn_chunks_are_computed_again(synthetic, uninterrupted, tmp_path):
    path = tmp_path / "uninterrupted.zarr"
    (path / "frequency/c/0/1/0/0").unlink()  # chunk 1: data lost
    torn = path / "status/c/0/2/0/0"  # chunk 2: torn
    torn.write_bytes(torn.read_bytes()[:-3])
    mark = path / "progress/chunk_digest/c/3/0/0"  # chunk 3: mark torn
    mark.write_bytes(mark.read_bytes()[:10])
    with pytest.raises((ValueError, RuntimeError)):
        xr.open_zarr(path, chunks=None).status.load()  # torn data raise, they are never values
    sweeps.run(small_sweep(), path)
    assert synthetic == [3, 3] * 3  # three chunks in two theories
    assert contents(path) == uninterrupted


def test_data_of_another_chunk_do_not_pass_for_a_chunk(synthetic, uninterrupted, tmp_path):
    path = tmp_path / "uninterrupted.zarr"
    (path / "frequency/c/0/1/0/0").write_bytes((path / "frequency/c/0/2/0/0").read_bytes())
    sweeps.run(small_sweep(), path)
    assert synthetic == [3, 3]
    assert contents(path) == uninterrupted


def test_what_is_not_computed_is_no_value(synthetic, tmp_path):
    path = tmp_path / "a.zarr"
    sweeps.store.zarr_store.open_store(path, small_sweep(), CHUNK_CELLS)
    ds = xr.open_zarr(path, chunks=None)
    assert np.all(np.isnan(ds.frequency))
    assert np.all(ds.status == 127)
    assert ds.status.attrs["flag_meanings"].split()[-1] == "not_computed"
    assert not np.any(ds.certified)
    assert "not finished" in ds.attrs["certificate_summary"]


def interrupt():
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def keys_written(sweep, tmp_path):
    """Every write of an uninterrupted run, in order."""
    store = CountingStore(tmp_path / "counted.zarr", interrupt)
    sweeps.run(sweep, store, chunk_cells=CHUNK_CELLS)
    return store.keys


@pytest.mark.parametrize("way", ["before", "torn", "after"])
def test_an_interruption_at_any_write_costs_only_the_chunk_in_flight(way, synthetic, tmp_path):
    sweep = small_sweep(num=2, theories=["timoshenko"], outputs=[])  # two chunks
    keys = keys_written(sweep, tmp_path)
    uninterrupted = contents(tmp_path / "counted.zarr")
    assert sum(key.startswith("frequency/c/") for key in keys) == 2
    for step, key in enumerate(keys):
        if way == "torn" and key.endswith("zarr.json"):
            continue  # metadata are replaced as a whole
        path = tmp_path / f"{step}.zarr"
        store = CountingStore(path, interrupt, step, way)
        synthetic.clear()
        with pytest.raises(sweeps.StoreError) as refused:
            sweeps.run(sweep, store, chunk_cells=CHUNK_CELLS)
        assert "free space" in str(refused.value)
        sweeps.run(sweep, path, chunk_cells=CHUNK_CELLS)
        assert contents(path) == uninterrupted, (step, key)
        assert len(synthetic) <= 2 + 1, (step, key)  # one of two chunks twice


# ---- what is refused ----


def test_another_definition_is_refused_with_the_differences(synthetic, uninterrupted, tmp_path):
    path = tmp_path / "uninterrupted.zarr"
    with pytest.raises(sweeps.StoreError) as refused:
        sweeps.run(small_sweep(num=7, num_modes=3), path)
    text = str(refused.value)
    assert "num_modes: 2 in the store, 3 now" in text
    assert "axes.theta_2.theta_2.size: 5 in the store, 7 now" in text
    assert "payload" not in text
    assert "give a new folder" in text
    assert contents(path) == uninterrupted


def test_other_versions_and_chunks_are_refused(synthetic, uninterrupted, tmp_path, monkeypatch):
    path = tmp_path / "uninterrupted.zarr"
    with pytest.raises(sweeps.StoreError, match=r"chunk_shape\[1\]: 1 in the store, 2 now"):
        sweeps.run(small_sweep(), path, chunk_cells=6)
    monkeypatch.setattr(sweeps.store.dataset.jaxmodal, "__version__", "9.9")
    with pytest.raises(sweeps.StoreError, match=r'"9\.9" now'):
        sweeps.run(small_sweep(), path)
    assert contents(path) == uninterrupted


def test_folders_that_hold_something_else_are_left_alone(synthetic, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(sweeps.StoreError, match=r"notes\.txt"):
        sweeps.run(small_sweep(), tmp_path)
    zarr.create_group(tmp_path / "other.zarr")
    with pytest.raises(sweeps.StoreError, match="no sweep"):
        sweeps.run(small_sweep(), tmp_path / "other.zarr")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["notes.txt", "other.zarr"]
    (tmp_path / "file").write_text("mine")
    for place in (tmp_path / "file", tmp_path / "file" / "a.zarr"):
        with pytest.raises(sweeps.StoreError, match="cannot be written"):
            sweeps.run(small_sweep(), place)


def test_an_empty_folder_will_do(synthetic, tmp_path):
    leftover = tmp_path / "zarr.0123.partial"
    leftover.write_text("left by a kill")
    os.utime(leftover, (0.0, 0.0))
    assert sweeps.run(small_sweep(), tmp_path).sizes["theta_2"] == 5
    assert not list(tmp_path.rglob("*.partial"))


@pytest.mark.parametrize("replaced", [False, True])
def test_an_array_that_was_lost_is_computed_again(replaced, synthetic, uninterrupted, tmp_path):
    path = tmp_path / "uninterrupted.zarr"
    shutil.rmtree(path / "status")
    if replaced:  # something else in its place
        zarr.open_group(path, mode="r+", use_consolidated=False).create_group("status")
    sweeps.run(small_sweep(), path)
    assert contents(path) == uninterrupted


def test_opening_what_is_not_there_is_refused(tmp_path):
    with pytest.raises(sweeps.StoreError, match="run the sweep first"):
        sweeps.open_result(tmp_path / "none.zarr")


def test_an_unknown_executor_is_refused():
    with pytest.raises(sweeps.SweepError, match="Did you mean 'dask'"):
        sweeps.run(small_sweep(), executor="dask2")


def test_an_unreachable_scheduler_is_refused():
    pytest.importorskip("distributed")
    with pytest.raises(sweeps.SweepError, match="cannot be reached"):
        sweeps.run(small_sweep(), executor=sweeps.Dask("nonsense://host:1"))


def test_workers_of_dask_cannot_write_into_the_memory_of_this_process():
    memory = zarr.storage.MemoryStore()
    for store in (memory, zarr.storage.LoggingStore(memory), "memory://sweep"):
        with pytest.raises(sweeps.StoreError, match="in the memory of this process"):
            sweeps.run(small_sweep(), store, executor="dask")


def test_any_file_system_of_fsspec_will_do(synthetic):
    fsspec = pytest.importorskip("fsspec")
    stored = sweeps.run(small_sweep(), "memory://sweep.zarr", chunk_cells=CHUNK_CELLS)
    xr.testing.assert_equal(sweeps.run(small_sweep()), stored.load())
    fsspec.filesystem("memory").rm("sweep.zarr", recursive=True)


# ---- real processes ----

CHILD = """
import sys
import jax
jax.config.update("jax_enable_x64", True)
sys.path[:0] = [{root!r}, {tests!r}]
from tests.sweeps import test_store as setup
import sweeps, sweeps.store.dataset, sweeps.store.grid, synthetic_cells, interrupted_store, os
sweeps.store.dataset._commit = setup.pinned_commit
"""


def child(code, tmp_path, variables=None, **options):
    head = CHILD.format(root=str(ROOT), tests=str(ROOT / "tests"))
    environment = os.environ | {"JAX_COMPILATION_CACHE_DIR": str(tmp_path / "compiled")}
    environment |= variables or {}
    return subprocess.Popen(
        [sys.executable, "-c", head + code], text=True, env=environment, **options
    )


def test_a_full_disk_is_a_clear_error_and_leaves_a_store_that_resumes(
    synthetic, uninterrupted, tmp_path
):
    """The limit on the size of files makes the operating system refuse the write."""
    path = tmp_path / "full.zarr"
    code = f"""
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
sweeps.store.grid.solve_cells = synthetic_cells.solve_cells
sweeps.run(setup.small_sweep(), {str(path)!r}, chunk_cells={CHUNK_CELLS})
"""
    process = child(code, tmp_path, stderr=subprocess.PIPE)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "StoreError" in stderr
    assert "free space and run the same command again" in stderr
    sweeps.run(small_sweep(), path, chunk_cells=CHUNK_CELLS)
    assert contents(path) == uninterrupted


FORKED = multiprocessing.get_context("forkserver")
"""Processes that begin as copies of one, which has imported what takes two seconds and has done nothing."""
FORKED.set_forkserver_preload(["sweeps", "xarray", "zarr", "scipy.sparse"])


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
    first = keys.index("frequency/c/0/1/0/0")  # the second chunk
    steps = range(first, first + len(small_sweep().outputs) + 1)
    assert keys[steps[-1]].startswith("progress/chunk_digest/c/")
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
            if lines[-1][0] == "wrote" and "chunk_digest/c" in lines[-1][1]:
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
        marks = [key for word, key in lines if word == "wrote" and "chunk_digest/c" in key]
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


def test_the_fingerprint_beside_the_data_is_that_of_the_definition(
    synthetic, uninterrupted, tmp_path
):
    attributes = json.loads((tmp_path / "uninterrupted.zarr" / "zarr.json").read_text())[
        "attributes"
    ]
    assert attributes["fingerprint"] == small_sweep().fingerprint
    definition = json.loads(attributes["definition"])
    text = json.dumps(definition, sort_keys=True, separators=(",", ":"))
    assert hashlib.sha256(text.encode()).hexdigest() == attributes["fingerprint"]


@pytest.mark.slow
def test_the_batch_solver_repeats_its_bits_in_another_process(tmp_path):
    """Chunks above the size that is solved one by one: resumed elsewhere, the same bytes."""
    whole, resumed = tmp_path / "whole.zarr", tmp_path / "resumed.zarr"
    for path in (whole, resumed):
        code = f"sweeps.run(setup.small_sweep(num=200), {str(path)!r}, chunk_cells=300)"
        assert child(code, tmp_path).wait(timeout=300) == 0
    assert contents(whole) == contents(resumed)
    (resumed / "frequency/c/0/1/0/0").unlink()
    sweeps.run(small_sweep(num=200), resumed)
    assert contents(whole) == contents(resumed)


@pytest.mark.slow
def test_two_devices_give_the_same_arrays(tmp_path):
    code = """
import jax
assert len(jax.local_devices()) == 2
sweeps.run(setup.small_sweep(), {path!r}, chunk_cells=3)
""".format(path=str(tmp_path / "two.zarr"))
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
    assert child(code, tmp_path, flags).wait(timeout=300) == 0
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
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
    assert child(code, tmp_path, flags).wait(timeout=500) == 0
