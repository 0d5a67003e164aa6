"""Drivers of dask and its scheduler are killed in the middle of a sweep; the store is that of an undisturbed run."""

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import jax
import pytest

import sweeps
import sweeps.store.dataset
from tests.support.small_sweeps import FORKED, contents, pinned_commit, small_sweep

pytest.importorskip("distributed", reason="dask is not installed")

pytestmark = [pytest.mark.usefixtures("one_commit", "synthetic"), pytest.mark.slow]

ROOT = Path(__file__).parent.parent.parent
MANY = 60
#: what a worker loads: shards that take a while, and are written down
PRELOAD = """
import os, sys, time
sys.path.insert(0, {root!r})
from tests.support import synthetic_cells
import sweeps.store.grid

def solve_cells(sweep, theory, values):
    with open({log!r}, "a") as file:
        file.write(f"{{values['link2.joint_angle'][0]:.9f}}\\n")
    time.sleep(0.05)
    return synthetic_cells.solve_cells(sweep, theory, values)

sweeps.store.grid.solve_cells = solve_cells
"""


def many_shards():
    return small_sweep(num=MANY, theories=["timoshenko"], outputs=[])


def marks_in(path):
    return len(list(path.glob("progress/shard_record/c.*")))


class Cluster:
    """A scheduler and two workers, each a process of its own."""

    def __init__(self, folder):
        self.folder, self.log, self.starts = folder, folder / "log", 0
        self.error = folder / "error"
        self.preload = folder / "slow_solver.py"
        self.preload.write_text(PRELOAD.format(root=str(ROOT), log=str(self.log)))
        self.workers = []

    def start(self):
        self.starts += 1
        file = self.folder / f"scheduler{self.starts}.json"
        common = ["--scheduler-file", str(file), "--no-dashboard"]
        at = ["--host", "127.0.0.1", "--port", "0"]
        self.scheduler = self.begun("scheduler", [*common, *at])
        more = ["--nthreads", "1", "--no-nanny", "--preload", str(self.preload)]
        self.workers = [self.begun("worker", [*common, *more]) for _ in range(2)]
        while not file.exists():
            time.sleep(0.05)
        self.address = json.loads(file.read_text())["address"]

    def begun(self, what, options):
        command = [sys.executable, "-m", "distributed.cli.dask_" + what, *options]
        with (self.folder / "said").open("a") as said:
            return subprocess.Popen(command, stdout=said, stderr=said, cwd=self.folder)

    def stop(self):
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path):
    found = Cluster(tmp_path)
    try:
        found.start()
        yield found
    finally:
        found.stop()


def drive(path, address, said):
    jax.config.update("jax_enable_x64", True)
    sweeps.store.dataset._commit = pinned_commit
    try:
        sweeps.run(many_shards(), path, chunk_cells=3, executor=sweeps.Dask(address))
    except sweeps.SweepError as error:
        said.write_text(str(error))
        raise SystemExit(2) from None


def driver(path, cluster):
    process = FORKED.Process(target=drive, args=(path, cluster.address, cluster.error))
    process.start()
    return process


def wait_for(path, shards, process):
    while marks_in(path) < shards:
        assert process.is_alive(), "it has ended before it was killed"
        time.sleep(0.02)


def undisturbed(tmp_path):
    sweeps.run(many_shards(), tmp_path / "alone.zarr", chunk_cells=3)
    return contents(tmp_path / "alone.zarr")


def test_three_kills_of_the_driver(cluster, tmp_path):
    path, moments, kills = tmp_path / "a.zarr", random.Random(44), 0
    for shards in (5, 18, 33):
        process = driver(path, cluster)
        wait_for(path, shards, process)
        time.sleep(moments.uniform(0.0, 0.1))
        process.kill()
        process.join()
        kills += process.exitcode == -signal.SIGKILL
    process = driver(path, cluster)
    process.join(timeout=120)
    assert (kills, process.exitcode) == (3, 0)
    assert contents(path) == undisturbed(tmp_path)
    computed = cluster.log.read_text().split()
    assert len(set(computed)) == MANY
    in_flight = 2 * 2  # shards that a worker has or is about to have
    assert len(computed) <= MANY + kills * in_flight


def test_a_kill_of_the_scheduler(cluster, tmp_path):
    path = tmp_path / "a.zarr"
    process = driver(path, cluster)
    wait_for(path, 10, process)
    cluster.scheduler.kill()
    process.join(timeout=100)
    assert process.exitcode == 2
    assert "the dask scheduler was lost; shards that are complete" in cluster.error.read_text()
    cluster.stop()
    kept = marks_in(path)
    assert 10 <= kept < MANY
    cluster.start()
    process = driver(path, cluster)
    process.join(timeout=120)
    assert process.exitcode == 0
    assert contents(path) == undisturbed(tmp_path)
