"""Stores whose shards have several chunks: sized once, written whole, damaged, torn at every write, resumed."""

import json
import shutil

import numpy as np
import pytest
import xarray as xr
import zarr

import sweeps
import sweeps.store.grid as grids
import sweeps.store.zarr_store as zarr_store
from sweeps.store import first_chunk
from tests.support import synthetic_cells
from tests.support.commands import run_command
from tests.support.interrupted_store import CountingStore
from tests.support.small_sweeps import contents, interrupt, small_sweep

pytestmark = pytest.mark.usefixtures("one_commit")

#: of 7 x 3 cells: chunks of 1 x 2, shards of 2 x 4, both of which stand out at the edges
CUT = {"chunk_cells": 2, "shard_cells": 8}


def sharded_sweep(**changes):
    return small_sweep(num=7, **changes)


@pytest.fixture
def whole(synthetic, tmp_path):
    """What an uninterrupted run stores in ``whole.zarr``."""
    path = tmp_path / "whole.zarr"
    sweeps.run(sharded_sweep(), path, **CUT)
    synthetic.clear()
    return contents(path)


def test_a_shard_is_one_file_of_several_chunks(whole, tmp_path):
    data = sorted(key for key in whole if key.startswith("frequency/c"))
    assert data == [f"frequency/c.0.{k}.0.0" for k in range(4)]
    array = zarr.open_array(tmp_path / "whole.zarr" / "frequency")
    assert (array.chunks, array.shards) == ((2, 1, 2, 2), (2, 2, 4, 2))
    attributes = json.loads(whole["zarr.json"])["attributes"]
    assert (attributes["chunk_shape"], attributes["shard_shape"]) == ([1, 2], [2, 4])


def test_chunks_are_solved_one_by_one_and_shards_hold_the_same_numbers(synthetic, tmp_path):
    stored = sweeps.run(sharded_sweep(), tmp_path / "a.zarr", **CUT).load()
    assert synthetic == [2, 2, 1, 1] * 7  # of each row two chunks, in two theories
    xr.testing.assert_equal(stored, sweeps.run(sharded_sweep(), chunk_cells=2))
    plain = xr.open_zarr(tmp_path / "a.zarr", chunks=None)
    xr.testing.assert_equal(plain.load(), stored)


def flipped(data):
    return data[: len(data) // 3] + bytes([data[len(data) // 3] ^ 1]) + data[len(data) // 3 + 1 :]


WAYS = {
    "deleted": lambda data: None,
    "cut": lambda data: data[: len(data) // 2],
    "emptied": lambda data: b"",
    "flipped": flipped,
    "index cut": lambda data: data[:-5],
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "key", ["frequency/c.0.0.0.0", "status/c.0.3.0.0", "progress/shard_record/c.3.0"]
)
def test_a_damaged_shard_is_computed_again_to_the_same_bytes(way, key, whole, synthetic, tmp_path):
    """At the edge of the array, too: Zarr would read the damaged shard there before it wrote into it."""
    path = tmp_path / "whole.zarr"
    data = WAYS[way](whole[key])
    (path / key).unlink()
    if data is not None:
        (path / key).write_bytes(data)
    state = zarr_store.state_of(path)
    assert (state.missing, state.shards) == (1, 4)
    unmarked = way == "deleted" and key.startswith("progress")
    assert list(state.torn) == ([] if unmarked else [key])
    sweeps.run(sharded_sweep(), path)
    assert sum(synthetic) == 2 * (6 if key.startswith("frequency") else 3)
    assert contents(path) == whole


def test_a_shard_of_another_place_does_not_pass(whole, synthetic, tmp_path):
    path = tmp_path / "whole.zarr"
    (path / "frequency/c.0.1.0.0").write_bytes(whole["frequency/c.0.2.0.0"])
    sweeps.run(sharded_sweep(), path)
    assert sum(synthetic) == 2 * 6
    assert contents(path) == whole


def test_data_of_a_shard_without_a_digest_are_hidden(whole, tmp_path):
    path = tmp_path / "whole.zarr"
    (path / "progress/shard_record/c.1.0").unlink()
    ds = sweeps.open_result(path)
    assert np.all(ds.status.isel(theta_2=[2, 3]) == 127)
    assert np.all(np.isnan(ds.frequency.isel(theta_2=[2, 3])))
    assert not np.any(ds.status.drop_isel(theta_2=[2, 3]) == 127)


@pytest.mark.parametrize("way", ["before", "torn", "after"])
def test_an_interruption_at_any_write_costs_only_the_shard_in_flight(way, synthetic, tmp_path):
    sweep = small_sweep(num=3, theories=["timoshenko"], outputs=[])  # two shards
    cut = {"chunk_cells": 3, "shard_cells": 6}
    counted = CountingStore(tmp_path / "counted.zarr", interrupt)
    sweeps.run(sweep, counted, **cut)
    keys, uninterrupted = counted.keys, contents(tmp_path / "counted.zarr")
    assert sum(key.startswith("frequency/c.") for key in keys) == 2
    for step, key in enumerate(keys):
        if "/c." not in key or key.split("/")[0] not in (*sweep.outputs, "progress"):
            continue
        path = tmp_path / f"{step}.zarr"
        synthetic.clear()
        with pytest.raises(sweeps.StoreError, match="free space"):
            sweeps.run(sweep, CountingStore(path, interrupt, step, way), **cut)
        sweeps.run(sweep, path)
        assert contents(path) == uninterrupted, (step, key)
        assert sum(synthetic) <= 9 + 6, (step, key)  # at most one shard twice


def test_values_that_are_not_one_whole_piece_are_refused(synthetic, tmp_path):
    """Zarr would write into parts of two shards, and lose one of two writers' data in silence."""
    path = tmp_path / "a.zarr"
    store = zarr_store.open_store(path, sharded_sweep(), **CUT)
    before = contents(path)
    block = grids.compute_shard(sharded_sweep(), store.grid, 3)  # of one row in place of two
    with pytest.raises(ValueError, match="not one whole piece"):
        store.write(0, block)
    assert contents(path) == before


def test_a_store_keeps_its_shards(whole, synthetic, tmp_path):
    path = tmp_path / "whole.zarr"
    sweeps.run(sharded_sweep(), path, shard_cells=8)
    sweeps.run(sharded_sweep(), path, chunk_cells=2)
    with pytest.raises(sweeps.StoreError, match=r"shard_shape\[1\]: 2 in the store, 1 now"):
        sweeps.run(sharded_sweep(), path, shard_cells=4)
    with pytest.raises(sweeps.StoreError, match=r"chunk_shape\[2\]: 2 in the store, 1 now"):
        sweeps.run(sharded_sweep(), path, chunk_cells=1)
    assert synthetic == []
    assert contents(path) == whole


# ---- how a sweep is cut ----


@pytest.mark.parametrize("cut", [(2, 8), (3, 3), (1, 21), (5, 1000), (3, 10)])
def test_shards_and_their_chunks_cover_every_cell_once(cut):
    sweep = sharded_sweep()
    grid = grids.make_grid(sweep, *cut)
    seen = np.zeros(sweep.shape, int)
    for shard in range(grid.num_shards):
        inside = np.zeros(sweep.shape, int)
        inside[grid.region(shard)] = 1
        for chunk in grid.chunks(shard):
            assert np.all(inside[chunk] == 1)
            assert seen[chunk].size <= cut[0]
            seen[chunk] += 1
    assert np.all(seen == 1)


def test_wrong_numbers_of_cells_are_refused():
    with pytest.raises(sweeps.SweepError, match=r"shard_cells = 0: must be a whole number of 1"):
        sweeps.run(sharded_sweep(), shard_cells=0)
    with pytest.raises(
        sweeps.SweepError, match=r"shard_cells = 3: must be at least chunk_cells, 4"
    ):
        sweeps.run(sharded_sweep(), chunk_cells=4, shard_cells=3)


def large_sweep(*sizes, **changes):
    names = ("payload.mass", "payload.inertia", "link1.tip_mass")
    axes = [sweeps.linspace(name, 0.0, 1.0, size) for name, size in zip(names, sizes, strict=False)]
    return sweeps.Sweep("example:three_link_industrial", axes, **changes)


@pytest.mark.parametrize(
    ("sizes", "outputs"),
    [
        ((1000, 1000, 1000), []),
        pytest.param((10_000_000, 100), ["multiplicity"], marks=pytest.mark.slow),
        pytest.param((100, 10_000_000), [], marks=pytest.mark.slow),
        ((1000, 1_000_000), []),
        ((1000, 1000, 1000), ["effective_mass", "strain_energy_fraction"]),
    ],
)
def test_a_thousand_million_cells_make_at_most_10_000_files(sizes, outputs):
    sweep = large_sweep(*sizes, outputs=outputs)  # axes of ten million values take a second
    for rate in (1.0, 300.0, 20_000.0, 1e9):
        grid = grids.grid_for_rate(sweep, rate)
        assert grids.num_files(sweep, grid) <= 10_000, rate
        assert grid.num_shards >= 100, rate  # enough for many workers
        assert all(s % c == 0 for s, c in zip(grid.shard_shape, grid.chunk_shape, strict=True))


def test_shards_are_about_thirty_seconds_of_work_where_files_allow_it():
    sweep = large_sweep(1000, 100_000)
    for rate in (10_000.0, 50_000.0):
        cells = grids.grid_for_rate(sweep, rate).most_cells
        assert 15.0 * rate <= cells <= 45.0 * rate or cells == 65_536
    few = large_sweep(64, 1000)  # as before: every chunk is a shard
    assert grids.grid_for_rate(few, 1e6).shard_shape == grids.make_grid(few).chunk_shape


def test_a_new_store_of_many_chunks_is_sized_by_a_measured_chunk(synthetic, tmp_path, monkeypatch):
    """Once: whatever is measured later, the store keeps its shards."""
    monkeypatch.setattr(grids, "CHUNK_CELLS", 3)
    for module in (grids, first_chunk):
        monkeypatch.setattr(module, "FEW_CHUNKS", 4)
    rates = iter([7 / 30.0, 100.0])
    cut = grids.grid_for_rate
    monkeypatch.setattr(first_chunk, "grid_for_rate", lambda sweep, rate: cut(sweep, next(rates)))
    path = tmp_path / "a.zarr"
    sweeps.run(sharded_sweep(), path)
    store = zarr_store.stored(path)
    assert store.grid.shard_shape == (2, 3)
    # a cell to compile, and to measure one and then the first chunk; in two theories
    assert synthetic[:6] == [1, 1] * 2 + [3, 3]
    shutil.rmtree(path / "status")
    sweeps.run(sharded_sweep(), path)
    assert zarr_store.stored(path).grid == store.grid


def test_plan_tells_shards_files_and_what_several_workers_take(synthetic, tmp_path):
    file = tmp_path / "s.toml"
    file.write_text(
        'arm = "example:two_link_flexible"\nnum_modes = 2\n[[axes]]\nparameter = "theta_2"\n'
        "linspace = { start = 0, stop = 1, num = 7 }\n[[axes]]\n"
        'parameter = "payload.mass"\nvalues = [0, 1, 2]\n'
    )
    options = ["--chunk-cells", "2", "--shard-cells", "8", "--workers", "3"]
    answer = run_command("sweep", "plan", file, *options)
    assert answer.exit_code == 0, answer.output
    assert "chunks: 14 of 1 x 2 cells; shards: 4 of 2 x 4 cells, 16 files" in answer.stdout
    assert "workers: 3 of " in answer.stdout
    assert " core-hours in all" in answer.stdout
    wrong = run_command("sweep", "plan", file, *options[:2], "--shard-cells", "1")
    assert wrong.exit_code == 2
    assert "--shard-cells 1: must be at least chunk_cells, 2" in wrong.stderr


# ---- a shard that fails ----


@pytest.fixture
def poisoned(monkeypatch):
    """A solver that fails for the cells at 90 degrees, shard 1 of 4."""

    def solve_cells(sweep, theory, values):
        if np.any(np.isclose(values["link2.joint_angle"], np.pi / 2)):
            raise MemoryError("no room for this one")
        return synthetic_cells.solve_cells(sweep, theory, values)

    monkeypatch.setattr(grids, "solve_cells", solve_cells)


def test_a_shard_that_fails_is_reported_and_the_rest_goes_on(
    whole, poisoned, tmp_path, monkeypatch
):
    path, seen = tmp_path / "a.zarr", []
    with pytest.raises(sweeps.StoreError) as refused:
        sweeps.run(sharded_sweep(), path, **CUT, progress=lambda *at: seen.append(at))
    assert str(refused.value) == (
        f"store {path}: 1 of 4 shards could not be computed:\n"
        "  shard 1, cells 2 to 3 x 0 to 2: MemoryError: no room for this one\n"
        "All others that were computed are kept; the same command tries these again."
    )
    assert seen[-1] == (15, 21)
    state = zarr_store.state_of(path)
    assert (state.missing, state.torn) == (1, {})
    monkeypatch.setattr(grids, "solve_cells", synthetic_cells.solve_cells)
    sweeps.run(sharded_sweep(), path)
    assert contents(path) == whole


def test_where_every_shard_fails_few_are_tried(synthetic, tmp_path, monkeypatch):
    tried = []

    def solve_cells(sweep, theory, values):
        tried.append(theory)
        raise MemoryError("no room for any")

    monkeypatch.setattr(grids, "solve_cells", solve_cells)
    with pytest.raises(sweeps.StoreError, match=r"(?s)10 of 21 shards could not .*\n  and 5 more"):
        sweeps.run(sharded_sweep(), tmp_path / "a.zarr", chunk_cells=1)
    assert len(tried) == 10
    with pytest.raises(MemoryError, match="no room for any"):
        sweeps.run(sharded_sweep())  # in memory nothing is kept
