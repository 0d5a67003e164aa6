"""A shard that workers of dask cannot compute."""

import math
from pathlib import Path

import pytest
from small_sweeps import small_sweep

import sweeps
import sweeps.store.zarr_store as zarr_store
from sweeps.store import executors

distributed = pytest.importorskip("distributed", reason="dask is not installed")

pytestmark = [pytest.mark.usefixtures("one_commit"), pytest.mark.slow]

TESTS = Path(__file__).parent.parent
#: shards of three payloads at one angle each
ANGLES, FAILS = 12, 3
PRELOAD = """
import sys
sys.path.insert(0, {tests!r})
import synthetic_cells
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
    names = {"tests": str(TESTS), "log": str(log), "step": math.pi / (ANGLES - 1)}
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
