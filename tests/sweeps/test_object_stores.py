"""Stores in a bucket, on a server in this process: whole, shared, killed, throttled and cut off; byte by byte."""

import collections
import datetime
import itertools
import os
import pickle
import random
import signal
import sys
import threading
import time

import jax
import numpy as np
import pytest
import xarray as xr

import sweeps
import sweeps.store.dataset
import sweeps.store.grid as grids
from sweeps.store import zarr_store
from tests.support import synthetic_cells
from tests.support.commands import run_command
from tests.support.small_sweeps import CHUNK_CELLS, FORKED, contents, pinned_commit, small_sweep

pytest.importorskip("obstore", reason="obstore, of the extra s3, is not installed")
pytest.importorskip("moto", reason="moto, whose server stands in for S3, is not installed")

import obstore
from obstore.exceptions import BaseError

from sweeps.store import claim_places, object_store
from sweeps.store.claim_files import CLAIMS
from tests.support.s3_server import BUCKET, S3Server

pytestmark = pytest.mark.usefixtures("one_commit")

NAME = "map.zarr"
AT = f"s3://{BUCKET}/{NAME}"


@pytest.fixture(scope="module")
def one_server():
    server = S3Server()
    yield server
    server.close()


@pytest.fixture
def server(one_server, monkeypatch):
    """The server with an empty bucket, known to this process and its children."""
    import boto3

    for key, value in one_server.settings.items():
        monkeypatch.setenv(key, value)
    api = boto3.client("s3", endpoint_url=one_server.address, region_name="us-east-1")
    api.create_bucket(Bucket=BUCKET)
    client = one_server.client()
    obstore.delete(client, [entry["path"] for page in obstore.list(client) for entry in page])
    one_server.fault, one_server.faults = (lambda method, key: None), []
    one_server.written.clear()
    yield one_server
    one_server.fault = lambda method, key: None


@pytest.fixture
def impatient(monkeypatch):
    """A client that tries again for a moment only."""
    object_store._store_at.cache_clear()
    moment = {"max_retries": 2, "retry_timeout": datetime.timedelta(seconds=2)}
    monkeypatch.setattr(object_store, "RETRIES", moment)
    yield
    object_store._store_at.cache_clear()


def race(write, writers=8):
    """How many of several that begin to write at the same moment succeed."""
    barrier, won = threading.Barrier(writers), []

    def one(number):
        barrier.wait()
        try:
            write(number)
        except BaseError:
            return
        won.append(number)

    threads = [threading.Thread(target=one, args=(number,)) for number in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(won)


def test_the_server_honours_conditions_under_concurrent_writes(server):
    """What the other tests stand on; threads take turns so often that a server without turns fails here."""
    client, interval = server.client(), sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for k in range(30):
            put = lambda number, mode, k=k: obstore.put(client, f"{k}", b"%d" % number, mode=mode)  # noqa: E731
            assert race(lambda number, put=put: put(number, "create")) == 1
            tag = {"e_tag": obstore.head(client, f"{k}")["e_tag"]}
            assert race(lambda number, put=put, tag=tag: put(number + 8, tag)) == 1
    finally:
        sys.setswitchinterval(interval)


@pytest.mark.parametrize("share", [None, sweeps.Claims()])
def test_a_store_in_a_bucket_is_that_in_a_folder(share, synthetic, uninterrupted, server):
    ds = sweeps.run(small_sweep(), AT, chunk_cells=CHUNK_CELLS, share=share)
    assert server.contents(NAME) == uninterrupted
    xr.testing.assert_identical(ds.load(), sweeps.open_result(AT).load())
    assert synthetic == [3, 3] * 5
    synthetic.clear()
    sweeps.run(small_sweep(), AT, share=share)
    assert synthetic == []
    state = zarr_store.state_of(AT)
    assert (state.missing, state.torn) == (0, {})


def test_a_store_that_goes_to_another_process_writes_there(synthetic, uninterrupted, server):
    """As it goes to workers of dask."""
    sweep = small_sweep()
    store = pickle.loads(pickle.dumps(zarr_store.open_store(AT, sweep, CHUNK_CELLS)))
    for shard in range(5):
        store.write(shard, grids.compute_shard(sweep, store.grid, shard))
    store.finish(store.state())
    assert server.contents(NAME) == uninterrupted


def test_a_torn_and_a_lost_piece_are_computed_again(synthetic, uninterrupted, server):
    sweeps.run(small_sweep(), AT, chunk_cells=CHUNK_CELLS)
    client = server.client(NAME)
    obstore.put(client, "status/c.0.2.0.0", uninterrupted["status/c.0.2.0.0"][:-3])
    obstore.delete(client, "frequency/c.0.3.0.0")
    torn = zarr_store.state_of(AT).torn
    assert sorted(torn) == ["frequency/c.0.3.0.0", "status/c.0.2.0.0"]
    synthetic.clear()
    sweeps.run(small_sweep(), AT)
    assert synthetic == [3, 3] * 2
    assert server.contents(NAME) == uninterrupted


def test_the_commands_take_an_address(server, tmp_path):
    """With the real solver: run, status, verify and export."""
    definition = tmp_path / "s.toml"
    definition.write_text(
        'arm = "example:two_link_flexible"\nnum_modes = 2\n[[axes]]\nparameter = "theta_2"\n'
        'unit = "degree"\nvalues = [0, 90]\n'
    )
    said = []
    for arguments in (
        ["run", str(definition), "--out", AT, "--claim"],
        ["status", AT],
        ["verify", AT, "--cells", "2"],
        ["export", AT, "--out", str(tmp_path / "a.csv")],
    ):
        result = run_command("sweep", *arguments)
        assert result.exit_code == 0, result.output
        said.append(result.output)
    assert "4 of 4 modes certified" in said[0]
    assert "2 cells, 4 frequencies counted again: all confirmed" in said[2]
    rows = (tmp_path / "a.csv").read_text().splitlines()
    frequencies = [float(row.split(",")[rows[0].split(",").index("frequency")]) for row in rows[1:]]
    expected = sweeps.run(sweeps.read_sweep(definition)).frequency.values
    np.testing.assert_array_equal(frequencies, expected.ravel())


# ---- claims ----


def claimed(lease=60.0):
    return zarr_store.open_store(AT, small_sweep(), CHUNK_CELLS).claimed(lease)


def claims_left(server):
    return sorted(key.rsplit("/", 1)[1] for key in server.contents(NAME) if key.startswith(CLAIMS))


def test_of_two_claimants_one_holds_a_shard(synthetic, server):
    with claimed() as one, claimed() as other:
        for _ in range(10):
            held = []
            race(lambda number, held=held: held.append((one, other)[number].take(3)), 2)
            assert sorted(held) == [False, True]
            (one if 3 in one._held else other).release(3)
    assert claims_left(server) == []


def test_a_claim_is_renewed_while_it_is_held_and_taken_over_when_not(synthetic, server):
    lease = 0.6
    with claimed(lease) as other:
        with claimed(lease) as one:
            assert one.take(3)
            until = time.monotonic() + 2.5 * lease
            while time.monotonic() < until:
                assert not other.take(3)
                time.sleep(0.05)
            one._over.set()  # it gives no sign of life any more
            start = time.monotonic()
            while not other.take(3):
                assert time.monotonic() - start < 20.0
                time.sleep(0.02)
            assert claims_left(server) == ["3.0", "3.1"]
        assert claims_left(server) == ["3.1"]
    assert claims_left(server) == []


def test_a_renewal_does_not_bring_a_claim_back(synthetic, server):
    with claimed() as one:
        assert one.take(3)
        obstore.delete(server.client(NAME), f"{CLAIMS}/3.0")
        one.files.renew("3.0")
        assert claims_left(server) == []


def test_a_claim_whose_answer_is_lost_is_held(synthetic, server, impatient):
    faults = iter(["lost"])
    with claimed() as one, claimed() as other:
        server.fault = lambda method, key: (
            next(faults, None) if method == "PUT" and CLAIMS in key else None
        )
        assert one.take(3)
        assert server.faults == ["lost"]
        faults = iter(["lost"])
        one.files.renew("3.0")
        server.fault = lambda method, key: None
        before = other.files.sign("3.0")
        one.files.renew("3.0")
        one.files.renew("3.0")
        assert other.files.sign("3.0") != before
        assert not other.take(3)


def test_a_server_that_passes_conditions_over_is_refused(synthetic, server):
    server.fault = lambda method, key: "blind" if CLAIMS in key else None
    with pytest.raises(sweeps.StoreError, match="does not honour If-None-Match"):
        sweeps.run(small_sweep(), AT, chunk_cells=CHUNK_CELLS, share=sweeps.Claims())
    assert server.contents(NAME) == {}


def test_a_process_that_finishes_meanwhile_does_not_make_the_server_look_so(synthetic, server):
    """It removes all claims between the two writes of the first look."""
    looked = []

    def fault(method, key):
        looked.append(method)
        return "blind" if "probe-" in key and looked.count("PUT") == 2 else None

    server.fault = fault
    store = zarr_store.open_store(AT, small_sweep(), CHUNK_CELLS)
    looked.clear()
    claim_places.require_claims(store.location)
    assert looked.count("PUT") == 4
    assert claims_left(server) == []


# ---- faults ----


@pytest.mark.parametrize("share", [None, sweeps.Claims()])
def test_throttling_lost_connections_and_partial_writes_change_no_byte(
    share, synthetic, uninterrupted, server
):
    """One request in ten goes wrong, at seeded moments; those that write in every way."""
    moments, kinds = random.Random(44), ["throttled", "cut", "lost", "half"]
    of_writing, of_reading = itertools.cycle(kinds), itertools.cycle(kinds[:2])

    def fault(method, key):
        wrong = moments.random() < 0.1
        return next(of_writing if method == "PUT" else of_reading) if wrong else None

    server.fault = fault
    sweeps.run(small_sweep(), AT, chunk_cells=CHUNK_CELLS, share=share)
    server.fault = lambda method, key: None
    print("faults", collections.Counter(server.faults))
    assert set(server.faults) == set(kinds)
    assert server.contents(NAME) == uninterrupted


@pytest.mark.parametrize(
    "kind",
    ["throttled", "half", *(pytest.param(x, marks=pytest.mark.slow) for x in ("cut", "lost"))],
)
def test_a_server_that_stays_away_is_an_error_and_the_same_command_goes_on(
    kind, synthetic, uninterrupted, server, impatient
):
    def fault(method, key):
        return kind if method == "PUT" and key.endswith("status/c.0.2.0.0") else None

    server.fault = fault
    with pytest.raises(sweeps.StoreError, match=rf"store {AT}: .*the same command goes on"):
        sweeps.run(small_sweep(), AT, chunk_cells=CHUNK_CELLS)
    assert set(server.faults) == {kind}
    server.fault = lambda method, key: None
    synthetic.clear()
    sweeps.run(small_sweep(), AT)
    assert synthetic == [3, 3] * 3
    assert server.contents(NAME) == uninterrupted


def test_what_is_missing_to_reach_a_bucket_is_told(synthetic, server, impatient, monkeypatch):
    for address in ("s3://", "s3://bucket", "s3:///map.zarr"):
        with pytest.raises(sweeps.StoreError, match=r"must be s3://BUCKET/NAME\.zarr"):
            sweeps.run(small_sweep(), address)
    with pytest.raises(sweeps.StoreError, match="there is no such bucket; make it, or look at AWS"):
        sweeps.run(small_sweep(), "s3://another/map.zarr")
    with pytest.raises(sweeps.StoreError, match="there is no store of a sweep; run the sweep"):
        sweeps.open_result(AT)
    server.fault = lambda method, key: "refused"
    with pytest.raises(sweeps.StoreError, match=r"refused it \(.*look at AWS_ACCESS_KEY_ID"):
        sweeps.run(small_sweep(), AT)
    server.fault = lambda method, key: None
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    # the service of a machine that has none to give
    monkeypatch.setenv("AWS_METADATA_ENDPOINT", f"{server.address}/169.254.169.254")
    with pytest.raises(sweeps.StoreError, match="there are no credentials; set AWS_ACCESS_KEY_ID"):
        sweeps.run(small_sweep(), AT)


# ---- processes ----

MANY, LEASE = 60, 1.0


def many_shards():
    return small_sweep(num=MANY, theories=["timoshenko"], outputs=[])


def work(log, address=AT, share=None):
    jax.config.update("jax_enable_x64", True)
    sweeps.store.dataset._commit = pinned_commit

    def solve_cells(sweep, theory, values):
        with open(log, "a") as file:
            file.write(f"{values['link2.joint_angle'][0]:.9f}\n")
        return synthetic_cells.solve_cells(sweep, theory, values)

    grids.solve_cells = solve_cells
    sweeps.run(many_shards(), address, chunk_cells=3, share=share)


def work_there(log, settings):
    os.environ.update(settings)
    work(log, share=sweeps.Claims(LEASE))


KILLS = 10


@pytest.mark.slow
def test_random_kills_of_workers_leave_the_bytes_of_an_undisturbed_run(synthetic, server, tmp_path):
    log, moments = tmp_path / "log", random.Random(44)

    def started():
        worker = FORKED.Process(target=work_there, args=(log, server.settings))
        worker.start()
        return worker

    workers, kills = [started() for _ in range(2)], 0
    while any(worker.is_alive() for worker in workers):
        time.sleep(moments.uniform(0.0, 0.4))
        alive = [worker for worker in workers if worker.is_alive()]
        if alive and kills < KILLS and log.exists():
            victim = moments.choice(alive)
            victim.kill()
            victim.join()
            kills += victim.exitcode == -signal.SIGKILL
            workers.remove(victim)
            workers.append(started())
    assert kills >= KILLS // 2, kills
    assert [worker.exitcode for worker in workers] == [0] * 2
    computed = log.read_text().split()
    assert len(set(computed)) == MANY
    assert len(computed) <= MANY + kills  # each kill costs at most the shard in work
    written = {key: set(found) for key, found in server.written.items() if "/c." in key}
    assert all(len(found) == 1 for found in written.values())  # never with different bytes
    work(tmp_path / "alone", str(tmp_path / "alone.zarr"))
    assert server.contents(NAME) == contents(tmp_path / "alone.zarr")
