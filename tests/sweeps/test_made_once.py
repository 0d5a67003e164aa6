"""What shards share is made once: tables of posture series go to workers, and workers of this machine are copies."""

import json
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import sweeps
from sweeps.store import solve
from tests.support.small_sweeps import contents

TESTS = Path(__file__).parent.parent


def with_a_series():
    """So many masses that a table of three terms pays."""
    axes = [sweeps.linspace("payload.mass", 0.0, 2.0, 1500)]
    return sweeps.Sweep("example:two_link_flexible", axes, num_modes=2)


@pytest.fixture
def nothing_taken():
    solve._TAKEN.clear()
    solve._plan.cache_clear()
    yield
    solve._TAKEN.clear()
    solve._plan.cache_clear()


def test_a_series_is_made_once_and_gives_the_same_bits_elsewhere(nothing_taken, monkeypatch):
    sweep, values = with_a_series(), {"payload.mass": np.linspace(0.0, 2.0, 40)}
    sent = pickle.dumps(solve.plans_to_send(sweep))
    own = solve.solve_cells(sweep, "timoshenko", values).found
    solve._plan.cache_clear()
    monkeypatch.setattr(solve, "plan_of", lambda *_: pytest.fail("it was made again"))
    solve.take_plans(with_a_series(), pickle.loads(sent))
    found = solve.solve_cells(with_a_series(), "timoshenko", values).found
    np.testing.assert_array_equal(found.omega, own.omega)
    np.testing.assert_array_equal(found.status, own.status)


def test_plans_of_another_sweep_are_not_taken(nothing_taken, monkeypatch):
    solve.take_plans(with_a_series(), {"timoshenko": "those of another"})
    other = with_a_series()
    other = sweeps.Sweep(other.arm, [sweeps.linspace("payload.mass", 0.0, 3.0, 1500)], num_modes=2)
    values = {"payload.mass": np.array([1.0])}
    assert solve.solve_cells(other, "timoshenko", values).found.omega.shape == (1, 2)


def test_what_comes_with_programs_is_left_to_each_process(nothing_taken, monkeypatch):
    monkeypatch.setattr(solve, "plan_of", lambda *_: pytest.fail("it was made"))
    axes = [sweeps.linspace("link1.length", 0.4, 1.0, 1500)]
    assert solve.plans_to_send(sweeps.Sweep("example:two_link_flexible", axes)) == {}


NO_PLANS = """
import sweeps.store.solve

def plan_of(*_):
    raise RuntimeError("a worker made it again")

sweeps.store.solve.plan_of = plan_of
"""


@pytest.mark.slow
def test_workers_of_dask_make_no_series(nothing_taken, tmp_path):
    distributed = pytest.importorskip("distributed", reason="dask is not installed")
    preload = tmp_path / "no_plans.py"
    preload.write_text(NO_PLANS)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, preload=[str(preload)]
    ) as cluster:
        executor = sweeps.Dask(cluster.scheduler_address)
        sweeps.run(with_a_series(), tmp_path / "a.zarr", chunk_cells=300, executor=executor)
    sweeps.run(with_a_series(), tmp_path / "alone.zarr", chunk_cells=300)
    assert contents(tmp_path / "a.zarr") == contents(tmp_path / "alone.zarr")


COPIES = """
import jax
jax.config.update("jax_enable_x64", True)
import json, os, sys
import distributed
import sweeps
from sweeps.store.local_workers import local_cluster

def asked():
    import dask

    imported = [name for name in ("sweeps.store.on_workers", "xarray") if name in sys.modules]
    return os.getppid(), imported, dask.config.get("distributed.worker.profile.enabled")

if __name__ == "__main__":
    with local_cluster(distributed, 2) as cluster, distributed.Client(cluster) as client:
        answers = list(client.run(asked).values())
        failures = cluster.scheduler.allowed_failures
    print(json.dumps({"own": os.getpid(), "answers": answers, "failures": failures}))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="workers begin by themselves elsewhere")
def test_workers_of_this_machine_are_copies_that_have_imported_the_solver(tmp_path):
    pytest.importorskip("distributed", reason="dask is not installed")
    script = tmp_path / "copies.py"
    script.write_text(COPIES)
    ended = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=True, timeout=300
    )
    found = json.loads(ended.stdout)
    parents = {parent for parent, _, _ in found["answers"]}
    assert len(found["answers"]) == 2
    assert len(parents) == 1
    assert found["own"] not in parents
    assert all(imported == ["sweeps.store.on_workers"] for _, imported, _ in found["answers"])
    assert not any(watched for _, _, watched in found["answers"])
    assert found["failures"] == 3  # four workers may end, as many processes as with claims
