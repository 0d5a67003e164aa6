"""A shard that workers of dask cannot compute."""

import math
import multiprocessing
import subprocess
import sys
from pathlib import Path

import pytest

import sweeps
import sweeps.store.zarr_store as zarr_store
from sweeps.store import executors
from tests.support.small_sweeps import small_sweep

distributed = pytest.importorskip("distributed", reason="dask is not installed")

pytestmark = [pytest.mark.usefixtures("one_commit"), pytest.mark.slow]

ROOT = Path(__file__).parent.parent.parent
#: shards of three payloads at one angle each
ANGLES, FAILS = 12, 3
PRELOAD = """
import sys
sys.path.insert(0, {root!r})
from tests.support import synthetic_cells
import sweeps.store.grid

def solve_cells(sweep, theory, values):
    shard = round(values["link2.joint_angle"][0] / {step})
    with open({log!r}, "a") as file:
        file.write(f"{{shard}}\\n")
    if shard == {fails}:
        raise RuntimeError("no such arm")
    return synthetic_cells.solve_cells(sweep, theory, values)

sweeps.store.grid.solve_cells = solve_cells
"""


def test_a_shard_that_fails_is_tried_again_and_reported_and_the_rest_goes_on(tmp_path):
    log, preload, path = tmp_path / "log", tmp_path / "failing.py", tmp_path / "a.zarr"
    names = {"root": str(ROOT), "log": str(log), "step": math.pi / (ANGLES - 1)}
    preload.write_text(PRELOAD.format(**names, fails=FAILS))
    sweep = small_sweep(num=ANGLES, theories=["timoshenko"], outputs=[])
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, preload=[str(preload)]
        ) as cluster,
        pytest.raises(sweeps.StoreError) as told,
    ):
        sweeps.run(sweep, path, chunk_cells=3, executor=sweeps.Dask(cluster.scheduler_address))
    text = str(told.value)
    assert f"shard {FAILS}, cells {FAILS} x 0 to 2: RuntimeError: no such arm" in text
    tried = [int(line) for line in log.read_text().split()]
    assert tried.count(FAILS) == 1 + executors._RETRIES
    store = zarr_store.stored(path)
    assert store.missing() == [FAILS]


UNGUARDED = """
import jax
jax.config.update("jax_enable_x64", True)
import sweeps
sweep = sweeps.Sweep("example:two_link_flexible", [sweeps.axis("theta_2", [0.0, 1.0])], num_modes=1)
sweeps.run(sweep, {store!r}, executor="dask")
"""


def test_a_file_that_its_own_workers_would_run_again_is_told(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(UNGUARDED.format(store=str(tmp_path / "a.zarr")))
    ended = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, timeout=300)
    assert ended.returncode == 1
    last = ended.stderr.strip().splitlines()
    assert any(line.startswith("sweeps.SweepError: executor: the workers of dask") for line in last)
    assert 'put what it computes under `if __name__ == "__main__":`' in ended.stderr


def test_a_worker_that_would_start_workers_is_refused(monkeypatch):
    monkeypatch.setattr(multiprocessing.current_process(), "_inheriting", True, raising=False)
    with pytest.raises(sweeps.SweepError, match="run the main file of Python again"):
        next(sweeps.Dask().run(abs, range(3)))
