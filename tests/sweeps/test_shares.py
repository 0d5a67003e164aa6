"""Several processes on one sweep: parts, claims and their leases, kills, joined stores; compared byte by byte."""

import os
import random
import signal
import threading
import time

import jax
import pytest

import sweeps
import sweeps.store.dataset
import sweeps.store.grid as grids
from sweeps.store import labels, shares, zarr_store
from sweeps.store.claim_files import CLAIMS
from sweeps.store.folder_claims import FolderClaims
from tests.support import synthetic_cells
from tests.support.small_sweeps import CHUNK_CELLS, FORKED, contents, pinned_commit, small_sweep

pytestmark = pytest.mark.usefixtures("one_commit")


def open_small(path):
    return zarr_store.open_store(path, small_sweep(), CHUNK_CELLS)


# ---- parts ----


@pytest.mark.parametrize("of", [1, 2, 5, 7])
def test_parts_on_one_store_are_a_whole_run(of, synthetic, uninterrupted, tmp_path):
    path = tmp_path / "parts.zarr"
    for number in range(of, 0, -1):
        seen = []
        sweeps.run(
            small_sweep(),
            path,
            chunk_cells=CHUNK_CELLS,
            share=sweeps.Part(number, of),
            progress=lambda *at: seen.append(at),  # noqa: B023
        )
        own = len(range(number - 1, 5, of))
        assert seen == [(3 * k, 3 * own) for k in range(own + 1)]
        assert synthetic == [3, 3] * own  # each shard in two theories, and none twice
        synthetic.clear()
    assert contents(path) == uninterrupted


def test_a_part_mends_its_own_shards_alone(synthetic, uninterrupted, tmp_path):
    path = tmp_path / "uninterrupted.zarr"
    for shard in (1, 2):
        (path / f"frequency/c.0.{shard}.0.0").unlink()
    sweeps.run(small_sweep(), path, share=sweeps.Part(2, 2))
    assert synthetic == [3, 3]
    sweeps.run(small_sweep(), path, share=sweeps.Part(1, 2))
    assert contents(path) == uninterrupted


@pytest.mark.parametrize("wrong", [(0, 2), (3, 2), (1, 0), (1.5, 2), (True, 2), ("1", 2)])
def test_a_part_that_is_none_is_refused(wrong):
    with pytest.raises(sweeps.SweepError, match="must be a whole number K of N, from 1/N to N/N"):
        sweeps.Part(*wrong)


@pytest.mark.parametrize("wrong", [0.0, -1.0, float("nan"), float("inf"), "120"])
def test_a_lease_that_is_none_is_refused(wrong):
    with pytest.raises(sweeps.SweepError, match="must be a number of seconds above 0"):
        sweeps.Claims(wrong)


def test_shares_that_cannot_be_are_refused(synthetic, tmp_path):
    for share, options, words in (
        (sweeps.Part(1, 2), {"store": None}, "processes share a store; give one"),
        ("1/2", {"store": tmp_path / "a.zarr"}, "share = '1/2': must be a Part or Claims"),
        (
            sweeps.Claims(),
            {"store": tmp_path / "a.zarr", "executor": "dask"},
            "the scheduler of dask gives out the shards",
        ),
    ):
        with pytest.raises(sweeps.SweepError, match=words):
            sweeps.run(small_sweep(), share=share, **options)
    with pytest.raises(sweeps.StoreError, match="need a folder of a file system"):
        sweeps.run(small_sweep(), "memory://a.zarr", share=sweeps.Claims())
    assert list(tmp_path.iterdir()) == []


# ---- claims ----


def test_one_process_with_claims_leaves_what_a_plain_run_does(synthetic, uninterrupted, tmp_path):
    path = tmp_path / "claimed.zarr"
    sweeps.run(small_sweep(), path, chunk_cells=CHUNK_CELLS, share=sweeps.Claims())
    assert synthetic == [3, 3] * 5
    assert contents(path) == uninterrupted
    assert not (path / CLAIMS).exists()
    synthetic.clear()
    sweeps.run(small_sweep(), path, share=sweeps.Claims())
    assert synthetic == []


def claimed(path, lease=60.0):
    return open_small(path).claimed(lease)


def test_a_shard_is_held_by_one(synthetic, tmp_path):
    with claimed(tmp_path / "a.zarr") as one, claimed(tmp_path / "a.zarr") as other:
        assert one.take(3)
        assert not other.take(3)
        assert other.take(4)
        one.release(3)
        assert other.take(3)
    assert list((tmp_path / "a.zarr" / CLAIMS).iterdir()) == []  # released at the end


def test_a_shard_that_was_computed_meanwhile_is_not_claimed(synthetic, tmp_path):
    """Another process finishes it, and removes its claim, between two looks of this one."""
    store = open_small(tmp_path / "a.zarr")
    looks = iter([False, True])
    with shares.Claimed(
        FolderClaims(tmp_path / "a.zarr"), 60.0, lambda shard: next(looks, True)
    ) as claims:
        assert list(claims.free([2])) == []
    assert not store.marked(2)
    assert list(claims.files.folder.iterdir()) == []


def test_claims_are_renewed_while_they_are_held_and_taken_over_when_not(synthetic, tmp_path):
    path, lease = tmp_path / "a.zarr", 0.6
    with claimed(path, lease) as other:
        with claimed(path, lease) as one:
            assert one.take(3)
            until = time.monotonic() + 3.0 * lease
            while time.monotonic() < until:
                assert not other.take(3)
                time.sleep(0.05)
            one._over.set()  # it gives no sign of life any more
            start = time.monotonic()
            while not other.take(3):
                assert time.monotonic() - start < 20.0
                time.sleep(0.02)
            assert time.monotonic() - start > 0.8 * lease
            assert sorted(p.name for p in one.files.folder.iterdir()) == ["3.0", "3.1"]
        # the late one has released its own, and only that
        assert [p.name for p in other.files.folder.iterdir()] == ["3.1"]
        assert not claimed(path, lease).take(3)
    assert list(other.files.folder.iterdir()) == []


def test_of_many_only_one_takes_a_stale_claim_over(synthetic, tmp_path):
    """All have seen it stale; the claims are counted, so that none takes the new one for the old one."""
    path = tmp_path / "a.zarr"
    folder = path / CLAIMS
    for _ in range(20):
        several = [claimed(path, 0.05) for _ in range(8)]
        folder.mkdir(exist_ok=True)
        (folder / "3.0").write_text("a process that was killed")
        assert not any(one.take(3) for one in several)
        time.sleep(0.06)
        barrier, took = threading.Barrier(8), []

        def race(one, barrier=barrier, took=took):
            barrier.wait()
            took.append(one.take(3))

        threads = [threading.Thread(target=race, args=(one,)) for one in several]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(took) == [False] * 7 + [True]
        for one in several:
            if one._held:
                one.release(3)
        assert list(folder.iterdir()) == []


def test_a_shard_that_fails_is_free_for_others(synthetic, tmp_path, monkeypatch):
    def solve_cells(sweep, theory, values):
        if values["link2.joint_angle"][0] == 0.0:
            raise MemoryError("no room on this machine")
        return synthetic_cells.solve_cells(sweep, theory, values)

    path = tmp_path / "a.zarr"
    monkeypatch.setattr(grids, "solve_cells", solve_cells)
    with pytest.raises(sweeps.StoreError, match="1 of 5 shards could not be computed"):
        sweeps.run(small_sweep(), path, chunk_cells=CHUNK_CELLS, share=sweeps.Claims())
    assert list((path / CLAIMS).iterdir()) == []
    monkeypatch.setattr(grids, "solve_cells", synthetic_cells.solve_cells)
    ds = sweeps.run(small_sweep(), path, share=sweeps.Claims())
    assert "not finished" not in ds.attrs["certificate_summary"]


def test_torn_data_of_a_claimed_store_are_named(synthetic, uninterrupted, tmp_path):
    path = tmp_path / "uninterrupted.zarr"
    torn = path / "status/c.0.2.0.0"
    torn.write_bytes(torn.read_bytes()[:-3])
    named = r"status/c\.0\.2\.0\.0 is missing, cut or changed(.|\n)*without claims \(--claim\)"
    with pytest.raises(sweeps.StoreError, match=named):
        sweeps.run(small_sweep(), path, share=sweeps.Claims())
    sweeps.run(small_sweep(), path)
    assert contents(path) == uninterrupted


def test_processes_that_finish_one_store_at_the_same_moment_do_not_disturb_each_other(
    synthetic, uninterrupted, tmp_path
):
    """Each removes what is left of claims, and looks for half-written files everywhere."""
    path = tmp_path / "uninterrupted.zarr"
    for _ in range(10):
        (path / CLAIMS).mkdir()
        for shard in range(200):
            (path / CLAIMS / f"{shard}.0").touch()
        barrier, wrong = threading.Barrier(8), []

        def end(barrier=barrier, wrong=wrong):
            store = zarr_store.stored(path)
            barrier.wait()
            try:
                store.finish(store.state())
            except sweeps.StoreError as error:
                wrong.append(error)

        threads = [threading.Thread(target=end) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []
        assert contents(path) == uninterrupted


def test_a_store_that_another_process_begins_while_it_is_looked_for_is_shared(
    synthetic, uninterrupted, tmp_path, monkeypatch
):
    """The first look finds neither of the two pieces; then all of a new store is there."""
    path, read, looks = tmp_path / "new.zarr", labels.read_piece, []

    def begun_after_two_looks(location, key):
        looks.append(key)
        if len(looks) == 2:
            monkeypatch.setattr(labels, "read_piece", read)
            open_small(path)
        return None

    monkeypatch.setattr(labels, "read_piece", begun_after_two_looks)
    sweeps.run(small_sweep(), path, chunk_cells=CHUNK_CELLS)
    assert looks == [labels.METADATA, labels.LABELS]
    assert contents(path) == uninterrupted


MANY = 120
LEASE = 1.0


def many_shards():
    return small_sweep(num=MANY, theories=["timoshenko"], outputs=[])


def work_with_claims(path, log):
    """Each shard takes a few milliseconds; the log says which were computed."""
    jax.config.update("jax_enable_x64", True)
    sweeps.store.dataset._commit = pinned_commit

    def solve_cells(sweep, theory, values):
        with open(log, "a") as file:
            file.write(f"{values['link2.joint_angle'][0]:.9f}\n")
        time.sleep(0.02)
        return synthetic_cells.solve_cells(sweep, theory, values)

    grids.solve_cells = solve_cells
    sweeps.run(many_shards(), path, chunk_cells=3, share=sweeps.Claims(LEASE))


@pytest.mark.slow
def test_processes_with_claims_compute_no_shard_twice(tmp_path):
    path, log = tmp_path / "a.zarr", tmp_path / "log"
    workers = [FORKED.Process(target=work_with_claims, args=(path, log)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(timeout=300)
    assert [worker.exitcode for worker in workers] == [0] * 4
    computed = log.read_text().split()
    assert len(computed) == len(set(computed)) == MANY
    grids_alone(tmp_path)
    assert contents(path) == contents(tmp_path / "alone.zarr")


def grids_alone(tmp_path):
    """The same sweep in one undisturbed process, without claims."""
    process = FORKED.Process(target=work_alone, args=(tmp_path / "alone.zarr",))
    process.start()
    process.join(timeout=300)
    assert process.exitcode == 0


def work_alone(path):
    jax.config.update("jax_enable_x64", True)
    sweeps.store.dataset._commit = pinned_commit
    grids.solve_cells = synthetic_cells.solve_cells
    sweeps.run(many_shards(), path, chunk_cells=3)


KILLS = 20


@pytest.mark.slow
def test_random_kills_of_workers_with_claims_leave_the_bytes_of_an_undisturbed_run(tmp_path):
    """A killed worker costs its shard in work, which others take over after the lease; a new one joins in its place."""
    path, log, moments = tmp_path / "a.zarr", tmp_path / "log", random.Random(44)

    def started():
        worker = FORKED.Process(target=work_with_claims, args=(path, log))
        worker.start()
        return worker

    workers, kills = [started() for _ in range(3)], 0
    while any(worker.is_alive() for worker in workers):
        time.sleep(moments.uniform(0.0, 0.3))
        alive = [worker for worker in workers if worker.is_alive()]
        if alive and kills < KILLS and log.exists():
            victim = moments.choice(alive)
            os.kill(victim.pid, signal.SIGKILL)
            victim.join()
            kills += victim.exitcode == -signal.SIGKILL
            workers.remove(victim)
            workers.append(started())
    assert kills >= KILLS // 2, kills
    assert [worker.exitcode for worker in workers] == [0] * 3
    computed = log.read_text().split()
    assert len(set(computed)) == MANY
    assert len(computed) <= MANY + kills  # each kill costs at most the shard in work
    grids_alone(tmp_path)
    assert contents(path) == contents(tmp_path / "alone.zarr")
