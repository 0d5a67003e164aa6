"""Damage at any piece of a store: noticed on every opening, named with its remedy, repaired to the same bytes."""

import errno
import json
import os
import shutil
import time
from pathlib import Path

import jax
import numpy as np
import pytest
import xarray as xr
import zarr

import sweeps
import sweeps.store.dataset
import sweeps.store.grid
import sweeps.store.zarr_store as zarr_store
from tests.support import synthetic_cells
from tests.support.commands import sweep_command
from tests.support.small_sweeps import FORKED

CHUNK_CELLS = 4


def sweep_of_all_kinds(**changes):
    """Coordinates of every kind: numbers, points that change together, text, labels of links."""
    load = sweeps.zipped(
        sweeps.axis("payload.mass", [0.0, 1.0, 2.0]),
        sweeps.axis("payload.inertia", [0.1, 0.2, 0.3]),
        name="load",
    )
    angles = sweeps.linspace("theta_2", 10, 170, 4, unit="degree")
    options = {"num_modes": 2, "theories": ["timoshenko", "rayleigh"], "outputs": ["multiplicity"]}
    return sweeps.Sweep("example:two_link_flexible", [angles, load], **options | changes)


@pytest.fixture(autouse=True)
def one_commit(synthetic, monkeypatch):
    """Whatever is committed beside the tests: it is among the labels."""
    monkeypatch.setattr(sweeps.store.dataset, "_commit", lambda root: "0123456789abcdef")


@pytest.fixture
def store(synthetic, tmp_path):
    path = tmp_path / "a.zarr"
    sweeps.run(sweep_of_all_kinds(), path, chunk_cells=CHUNK_CELLS)
    synthetic.clear()
    return path


def contents(path):
    return {str(p.relative_to(path)): p.read_bytes() for p in Path(path).rglob("*") if p.is_file()}


def deleted(path):
    path.unlink()


def cut(path):
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


def emptied(path):
    path.write_bytes(b"")


def flipped(path):
    data = bytearray(path.read_bytes())
    data[2 * len(data) // 3] ^= 1
    path.write_bytes(data)


WAYS = (deleted, cut, emptied, flipped)


EVERY = pytest.param(len(WAYS), marks=pytest.mark.slow, id="every way")


@pytest.mark.parametrize("ways", [pytest.param(1, id="one way each"), EVERY])
def test_a_damaged_label_is_refused_by_name_and_repaired_to_the_same_bytes(
    ways, store, synthetic, tmp_path
):
    """Every metadata document and every coordinate of a store, in one of the ways in turn or in all of them."""
    whole = contents(store)
    labels = sorted(
        k for k in whole if k.endswith("zarr.json") or k.split("/")[0] in xr_coordinates()
    )
    assert len(labels) == 17
    copy = tmp_path / "b.zarr"
    for number, key in enumerate(labels * ways):
        way = WAYS[(number + number // len(labels)) % len(WAYS)]
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(store, copy)
        way(copy / key)
        with pytest.raises(sweeps.StoreError, match=f"b.zarr/{key} is .*\nrun the same sweep"):
            sweeps.open_result(copy)
        sweeps.run(sweep_of_all_kinds(), copy)
        assert contents(copy) == whole, key
    assert synthetic == []  # labels cost no cell


@pytest.mark.parametrize("key", ["theta_2/c/0", "frequency/zarr.json", "zarr.json"])
def test_every_command_that_opens_a_store_checks_its_labels(key, store, tmp_path):
    cut(store / key)
    for command in (("status",), ("export", "--out", tmp_path / "b.csv"), ("plot",), ("verify",)):
        answer = sweep_command(command[0], store, *command[1:])
        assert answer.exit_code == 2, (command, answer.output)
        assert f"a.zarr/{key} is cut or changed" in answer.stderr
        assert "run the same sweep into this store again" in answer.stderr


def xr_coordinates():
    return ("theta_2", "payload_mass", "payload_inertia", "mode", "theory")


@pytest.mark.parametrize("way", WAYS)
def test_damaged_data_are_refused_by_name_and_computed_again(way, store, synthetic, tmp_path):
    whole = contents(store)
    copy = tmp_path / "b.zarr"
    commands = (("export", copy, "--out", tmp_path / "b.csv"), ("plot", copy), ("verify", copy))
    keys = ("status/c.0.1.0.0", "frequency/c.0.0.0.0", "progress/shard_record/c.2.0")
    for number, key in enumerate(keys):
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(store, copy)
        way(copy / key)
        unmarked = way is deleted and key.startswith("progress")  # a chunk not yet computed
        answer = sweep_command("status", copy, "--check")
        assert answer.exit_code == 1, answer.output
        assert "1 to compute" in answer.stdout
        if not unmarked:
            assert f"b.zarr/{key} is " in answer.stdout
            # each command meets each way and each key, not every pair of them
            refused = sweep_command(*commands[(number + WAYS.index(way)) % 3])
            assert refused.exit_code == 2, refused.output
            assert f"b.zarr/{key} is " in refused.stderr
            assert "run the same sweep" in refused.stderr
        synthetic.clear()
        sweeps.run(sweep_of_all_kinds(), copy)
        assert synthetic == [3, 3]  # one chunk in two theories
        assert contents(copy) == whole, key


def test_a_lost_coordinate_is_no_number_in_any_reader(store):
    """Plain xarray, which knows no digests, finds NaN and -1 where a coordinate's piece is gone."""
    (store / "theta_2/c/0").unlink()
    (store / "mode/c/0").unlink()
    ds = xr.open_zarr(store, chunks=None)
    assert np.all(np.isnan(ds.theta_2))
    assert np.all(ds["mode"] == -1)


def test_another_sweep_repairs_nothing(store):
    (store / "theta_2/c/0").unlink()
    before = contents(store)
    with pytest.raises(sweeps.StoreError, match="belongs to another sweep"):
        sweeps.run(sweep_of_all_kinds(num_modes=3), store)
    assert contents(store) == before


def test_with_both_documents_of_the_root_lost_the_store_is_refused(store):
    for key in ("zarr.json", "progress/zarr.json"):
        cut(store / key)
    before = contents(store)
    for action in (
        lambda: sweeps.run(sweep_of_all_kinds(), store),
        lambda: sweeps.open_result(store),
    ):
        with pytest.raises(sweeps.StoreError, match=r"zarr\.json and .*not known what computed"):
            action()
    assert contents(store) == before


def test_labels_of_another_store_are_not_taken(store, tmp_path):
    other = tmp_path / "other.zarr"
    sweeps.run(sweep_of_all_kinds(num_modes=1), other, chunk_cells=CHUNK_CELLS)
    shutil.copy(other / "progress/zarr.json", store / "progress/zarr.json")
    with pytest.raises(sweeps.StoreError, match="belongs to another store"):
        sweeps.open_result(store)


def test_a_label_that_this_zarr_would_write_otherwise_is_not_replaced(store):
    """The digest of a lost piece tells that the bytes at hand are not those that were there."""
    labels = json.loads((store / "progress/zarr.json").read_text())
    labels["attributes"]["sha256"]["theta_2/c/0"] = "0" * 64
    from sweeps.store.labels import _sealed

    (store / "progress/zarr.json").write_bytes(_sealed(labels))
    with pytest.raises(sweeps.StoreError, match="another version of zarr"):
        sweeps.run(sweep_of_all_kinds(), store)


def test_a_lost_piece_that_the_sweep_does_not_have_is_named(store):
    labels = json.loads((store / "progress/zarr.json").read_text())
    labels["attributes"]["sha256"]["theta_9/c/0"] = "0" * 64
    from sweeps.store.labels import _sealed

    (store / "progress/zarr.json").write_bytes(_sealed(labels))
    with pytest.raises(
        sweeps.StoreError, match="theta_9/c/0 is missing, and this sweep has no such"
    ):
        sweeps.run(sweep_of_all_kinds(), store)


# ---- several processes ----


def test_a_store_is_begun_where_there_are_no_hard_links(store, tmp_path, monkeypatch):
    def no_links(*arguments):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(zarr.storage._local, "_safe_move", no_links)
    path = tmp_path / "b.zarr"
    sweeps.run(sweep_of_all_kinds(), path, chunk_cells=CHUNK_CELLS)
    assert contents(path) == contents(store)
    with pytest.raises(sweeps.StoreError, match="belongs to another sweep"):
        sweeps.run(sweep_of_all_kinds(num_modes=1), path, chunk_cells=CHUNK_CELLS)


def test_a_process_that_begins_late_leaves_what_another_has_written(
    synthetic, tmp_path, monkeypatch
):
    """Between a process's look at the empty place and its first write another one runs the whole sweep."""
    path, begin = tmp_path / "a.zarr", zarr_store.begin

    def late(*arguments):
        monkeypatch.setattr(zarr_store, "begin", begin)
        sweeps.run(sweep_of_all_kinds(), path, chunk_cells=CHUNK_CELLS)
        synthetic.clear()
        begin(*arguments)

    monkeypatch.setattr(zarr_store, "begin", late)
    sweeps.run(sweep_of_all_kinds(), path, chunk_cells=CHUNK_CELLS)
    assert synthetic == []
    monkeypatch.setattr(zarr_store, "begin", late)
    other = tmp_path / "b.zarr"
    path, path_before = other, path
    with pytest.raises(sweeps.StoreError, match="belongs to another sweep"):
        sweeps.run(sweep_of_all_kinds(num_modes=1), other, chunk_cells=CHUNK_CELLS)
    assert contents(other) == contents(path_before)


def test_half_written_files_of_a_process_at_work_stay(store):
    fresh, old = store / "frequency/x.0.partial", store / "frequency/y.0.partial"
    for file in (fresh, old):
        file.write_bytes(b"half")
    os.utime(old, (time.time() - 7200.0,) * 2)
    sweeps.run(sweep_of_all_kinds(), store)
    assert fresh.exists()
    assert not old.exists()


def run_in_a_process(path, ready, started):
    jax.config.update("jax_enable_x64", True)
    sweeps.store.grid.solve_cells = synthetic_cells.solve_cells
    ready.release()
    started.wait()
    sweeps.run(sweep_of_all_kinds(), path, chunk_cells=1)


@pytest.mark.slow
def test_processes_that_begin_one_store_at_the_same_moment_make_one_store(tmp_path):
    for trial in range(3):
        path = tmp_path / f"{trial}.zarr"
        ready, started = FORKED.Semaphore(0), FORKED.Event()
        several = [
            FORKED.Process(target=run_in_a_process, args=(path, ready, started)) for _ in range(3)
        ]
        for process in several:
            process.start()
        for _ in several:
            ready.acquire()
        started.set()
        for process in several:
            process.join()
        assert [process.exitcode for process in several] == [0, 0, 0]
        alone = tmp_path / f"{trial}_alone.zarr"
        run_in_a_process(alone, FORKED.Semaphore(0), started)
        found, expected = contents(path), contents(alone)
        keys = [key for key in expected if not key.endswith("zarr.json")]
        assert all(found[key] == expected[key] for key in keys)
