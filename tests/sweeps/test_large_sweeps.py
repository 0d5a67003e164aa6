"""Sweeps of a thousand million cells: nothing that begins one, or looks at it, makes an array of its cells."""

import tracemalloc

import numpy as np
import pytest

import sweeps
import sweeps.store.grid as grids
import sweeps.store.solve as solving
import sweeps.store.zarr_store as zarr_store

pytestmark = pytest.mark.usefixtures("one_commit")

MOST_BYTES = 32e6
"""One byte for each cell would be 1e9, an array of the frequencies of one shard 1.6e8."""


@pytest.fixture
def sweep():
    axes = [
        sweeps.linspace("theta_2", -180, 180, 1000, unit="degree"),
        sweeps.linspace("payload.mass", 0, 1, 1000),
        sweeps.linspace("link1.length", 0.4, 0.6, 1000),
    ]
    return sweeps.Sweep("example:two_link_flexible", axes, num_modes=2)


def test_a_sweep_of_a_thousand_million_cells_is_begun_and_looked_at_in_little_memory(
    sweep, tmp_path, monkeypatch
):
    seen = []
    monkeypatch.setattr(solving, "plan_of", lambda *given: seen.append(given) or None)
    path = tmp_path / "a.zarr"
    tracemalloc.start()
    try:
        grid = grids.grid_for_rate(sweep, 5e4)
        assert grids.num_files(sweep, grid) <= grids.MOST_FILES
        solving._plan.__wrapped__(solving._Identity("", sweep), "timoshenko")
        store = zarr_store.open_store(path, sweep, 10**5, 10**7)
        assert len(store.missing()) == store.grid.num_shards == 100
        assert zarr_store.state_of(path).missing == 100
        found = sweeps.open_result(path)
        assert found.frequency.size == 2 * sweep.num_cells
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < MOST_BYTES
    _, addresses, _, _, values, cells = seen[0]
    assert values.shape == (len(addresses), 4096)
    assert cells == sweep.num_cells


def test_a_look_at_a_store_keeps_nothing_for_each_shard(synthetic, tmp_path):
    """500 shards: the names of their files alone would take 150 kB."""
    axes = [sweeps.linspace("theta_2", 0, 180, 500, unit="degree")]
    small = sweeps.Sweep("example:two_link_flexible", axes, num_modes=1)
    sweeps.run(small, tmp_path / "a.zarr", chunk_cells=1)
    store = zarr_store.stored(tmp_path / "a.zarr")
    store.state(every_byte=False)
    for look in (lambda: store.state(every_byte=False), store.without_mark, store.missing):
        tracemalloc.start()
        try:
            look()
            assert tracemalloc.get_traced_memory()[1] < 30e3
        finally:
            tracemalloc.stop()


@pytest.mark.parametrize(
    ("num", "outputs", "cells"),
    [
        (101, [], 256),  # solved by NumPy
        (300, [], 16_384),
        (300, ["strain_energy_fraction"], 256),
        (300, ["damping_ratio"], 64),
    ],
)
def test_chunks_in_space_are_as_large_as_the_solver_can_use(num, outputs, cells):
    axes = [sweeps.linspace(f"theta_{k}", -60, 60, num, unit="degree") for k in (2, 3)]
    sweep = sweeps.Sweep("example:six_axis_industrial", axes, num_modes=1, outputs=outputs)
    chunk = np.prod(grids.make_grid(sweep).chunk_shape)
    assert cells / 2 < chunk <= cells
