"""Stores of sweeps: resuming, refusing, surviving every interruption; arrays compared byte by byte."""

import csv
import hashlib
import itertools
import json
import os
import shutil

import numpy as np
import pytest
import xarray as xr
import zarr

import sweeps
import sweeps.store.dataset
import sweeps.store.grid
import sweeps.store.zarr_store
from sweeps.store import pieces, zarr_store
from tests.support.commands import run_command
from tests.support.interrupted_store import CountingStore
from tests.support.small_sweeps import CHUNK_CELLS, contents, interrupt, keys_written, small_sweep

pytestmark = pytest.mark.usefixtures("one_commit")


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
    (path / "frequency/c.0.1.0.0").unlink()  # chunk 1: data lost
    torn = path / "status/c.0.2.0.0"  # chunk 2: torn
    torn.write_bytes(torn.read_bytes()[:-3])
    mark = path / "progress/shard_record/c.3.0"  # chunk 3: mark torn
    mark.write_bytes(mark.read_bytes()[:10])
    with pytest.raises((ValueError, RuntimeError)):
        xr.open_zarr(path, chunks=None).status.load()  # torn data raise, they are never values
    sweeps.run(small_sweep(), path)
    assert synthetic == [3, 3] * 3  # three chunks in two theories
    assert contents(path) == uninterrupted


def test_data_of_another_chunk_do_not_pass_for_a_chunk(synthetic, uninterrupted, tmp_path):
    path = tmp_path / "uninterrupted.zarr"
    (path / "frequency/c.0.1.0.0").write_bytes((path / "frequency/c.0.2.0.0").read_bytes())
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


@pytest.mark.parametrize("lost", ["missing", "cleared", "torn"])
def test_data_without_a_digest_are_not_computed_for_any_reader(
    lost, synthetic, uninterrupted, tmp_path
):
    """As a run leaves them that is killed between the data of a chunk and its mark."""
    path = tmp_path / "uninterrupted.zarr"
    mark = path / "progress/shard_record/c.1.0"
    if lost == "missing":
        mark.unlink()
    elif lost == "torn":
        mark.write_bytes(mark.read_bytes()[:10])
    else:
        zarr.open_group(path, mode="r+", use_consolidated=False)["progress/shard_record"][1] = 0
    ds = sweeps.open_result(path)
    assert "not finished" in ds.attrs["certificate_summary"]
    with_digest, without = ds.drop_isel(theta_2=1), ds.isel(theta_2=1)
    whole = sweeps.run(small_sweep())
    for name in ds:
        xr.testing.assert_equal(with_digest[name], whole[name].drop_isel(theta_2=1))
    assert np.all(without.status == 127)
    assert not np.any(without.certified)
    assert np.all(np.isnan(without.frequency))
    result = run_command("sweep", "export", path, "--out", tmp_path / "a.csv")
    if lost == "torn":
        assert result.exit_code == 2
        assert "progress/shard_record/c.1.0 is cut or changed" in result.output
        return
    assert result.exit_code == 0, result.output
    assert "not_computed" in result.stderr
    rows = list(csv.DictReader((tmp_path / "a.csv").open()))
    unsure = [row for row in rows if row["theta_2"] == "45.0"]
    assert len(unsure) == 3 * 2 * 2
    assert {(row["status"], row["certified"], row["frequency"]) for row in unsure} == {
        ("not_computed", "False", "")
    }
    sweeps.run(small_sweep(), path)
    assert contents(path) == uninterrupted


@pytest.mark.parametrize("way", ["before", "torn", "after"])
def test_an_interruption_at_any_write_costs_only_the_chunk_in_flight(way, synthetic, tmp_path):
    sweep = small_sweep(num=2, theories=["timoshenko"], outputs=[])  # two chunks
    keys = keys_written(sweep, tmp_path)
    uninterrupted = contents(tmp_path / "counted.zarr")
    assert sum(key.startswith("frequency/c.") for key in keys) == 2
    # after a write is before the next one; what follows the last of a kind is asked of that store, too
    last = {(key.split("/")[0], key.endswith("zarr.json")): step for step, key in enumerate(keys)}
    for step, key in enumerate(keys):
        if way == "torn" and key.endswith("zarr.json"):
            continue  # metadata are replaced as a whole
        if way == "after" and step not in last.values():
            continue
        path = tmp_path / f"{step}.zarr"
        store = CountingStore(path, interrupt, step, way)
        synthetic.clear()
        with pytest.raises(sweeps.StoreError) as refused:
            sweeps.run(sweep, store, chunk_cells=CHUNK_CELLS)
        assert "free space" in str(refused.value)
        sweeps.run(sweep, path, chunk_cells=CHUNK_CELLS)
        assert contents(path) == uninterrupted, (step, key)
        assert len(synthetic) <= 2 + 1, (step, key)  # one of two chunks twice


@pytest.mark.parametrize("way", ["before", "torn", "after"])
def test_an_interruption_at_any_file_of_a_folder_costs_only_the_chunk_in_flight(
    way, synthetic, tmp_path, monkeypatch
):
    """A folder is written without Zarr's own store; torn is what lies beside a place, never in it."""
    sweep, write, keys = small_sweep(num=2, theories=["timoshenko"], outputs=[]), os.write, []
    sweeps.run(sweep, tmp_path / "whole.zarr", chunk_cells=CHUNK_CELLS)
    uninterrupted = contents(tmp_path / "whole.zarr")

    def interrupted(at):
        counted = itertools.count()

        def writing(file, data):
            if next(counted) != at:
                return write(file, data)
            if way != "before":
                write(file, data[: len(data) // 2] if way == "torn" else data)
            keys.append(at)
            return interrupt()

        return writing

    for step in range(2 * (len(sweep.outputs) + 1)):
        path = tmp_path / f"{step}.zarr"
        zarr_store.open_store(path, sweep, CHUNK_CELLS)
        with monkeypatch.context() as other:
            other.setattr(pieces.os, "write", interrupted(step))
            with pytest.raises(sweeps.StoreError, match="free space"):
                sweeps.run(sweep, path)
        assert not list(path.rglob("*.partial"))
        synthetic.clear()
        sweeps.run(sweep, path)
        assert len(synthetic) == 2 - step // (len(sweep.outputs) + 1)
        assert contents(path) == uninterrupted, step
    assert keys == list(range(8))


def test_status_tells_pieces_that_are_cut_by_their_sizes_and_changed_ones_by_their_bytes(
    synthetic, uninterrupted, tmp_path
):
    path = tmp_path / "uninterrupted.zarr"
    key = "frequency/c.0.1.0.0"
    data = uninterrupted[key]
    for damaged, told in ((data[:-1], [key]), (b"", [key]), (data[:-1] + b"x", [])):
        (path / key).write_bytes(damaged)
        assert list(zarr_store.state_of(path, every_byte=False).torn) == told
        assert list(zarr_store.state_of(path).torn) == [key]
    said = run_command("sweep", "status", path)
    assert "shards: 5 of 5 computed, complete" in said.stdout
    said = run_command("sweep", "status", path, "--check")
    assert said.exit_code == 1
    assert f"{key} is missing, cut or changed" in said.stdout


def test_a_shard_that_is_finished_while_the_store_is_looked_at_is_not_damaged(
    synthetic, uninterrupted, tmp_path, monkeypatch
):
    """The sizes are listed before another process writes a shard, the records after."""
    path, listed = tmp_path / "uninterrupted.zarr", zarr_store.sizes_in

    def before(location, folders):
        size_of = listed(location, folders)
        return lambda key: None if "c.0.3" in key else size_of(key)

    monkeypatch.setattr(zarr_store, "sizes_in", before)
    state = zarr_store.state_of(path, every_byte=False)
    assert (state.missing, state.torn) == (0, {})


def test_a_store_with_the_records_of_an_earlier_version_is_told(synthetic, uninterrupted, tmp_path):
    """As far as its labels are sound: what is missing is the array of records."""
    path = tmp_path / "uninterrupted.zarr"
    (path / "progress/shard_record").rename(path / "progress/chunk_digest")
    with pytest.raises(sweeps.StoreError, match="an earlier version of jaxmodal wrote it"):
        zarr_store.SweepStore(path, ["frequency"], zarr_store.make_grid(small_sweep()))


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


def test_axes_in_another_order_are_refused(synthetic, uninterrupted, tmp_path):
    """Their cells would be written in each other's places."""
    path, same = tmp_path / "uninterrupted.zarr", small_sweep()
    options = {"theories": same.theories, "num_modes": 2, "outputs": same.outputs}
    with pytest.raises(sweeps.StoreError, match=r'order of axes\[1\]: "theta_2" in the store'):
        sweeps.run(sweeps.Sweep(same.arm, same.axes[::-1], **options), path)
    assert contents(path) == uninterrupted


def test_other_versions_and_chunks_are_refused(synthetic, uninterrupted, tmp_path, monkeypatch):
    path = tmp_path / "uninterrupted.zarr"
    with pytest.raises(sweeps.StoreError, match=r"chunk_shape\[1\]: 1 in the store, 2 now"):
        sweeps.run(small_sweep(), path, chunk_cells=6)
    for module, name, value, words in (
        (sweeps.store.dataset.jaxmodal, "__version__", "9.9", r'jaxmodal_version: .* "9\.9" now'),
        (
            sweeps.store.dataset.np,
            "__version__",
            "9.9",
            r'numpy_version: "2\..* in the store, "9\.9" now',
        ),
        (sweeps.store.dataset, "SOLVER_NUMBERS", 99, r"solver_numbers: \d+ in the store, 99 now"),
    ):
        with monkeypatch.context() as other:
            other.setattr(module, name, value)
            with pytest.raises(sweeps.StoreError, match=words):
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
