"""Shards with the workers of dask: as many as they have threads for, and the late ones are told."""

import types
from concurrent.futures import CancelledError

import pytest

import sweeps
from sweeps.store import executors


class Killed(Exception):
    """As dask says that the workers ended that had a shard."""

    last_worker, allowed_failures = types.SimpleNamespace(address="tcp://worker:1"), 3


class Cluster:
    """Stands for dask: a clock on which shards take as long, but one; futures end when they are asked for."""

    def __init__(self, slow, takes=1000.0, usual=1.0):
        self.now, self.slow, self.takes, self.most = 0.0, slow, takes, 0
        self.usual, self.looks = usual, 0
        self.threads, self.ends, self.loop = {"worker": 3}, {}, None
        self.client = types.SimpleNamespace(ClosedClientError=type("Closed", (Exception,), {}))
        self.KilledWorker, self.kills, self.lost = Killed, (), set()
        self.closed = False

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds

    def nthreads(self):
        if self.closed:
            raise OSError("the scheduler has closed the connection")
        self.looks += 1
        return self.threads

    def submit(self, call, *arguments, **_):
        if self.closed:
            raise self.client.ClosedClientError
        shard = arguments[0]
        if call is executors.on_worker:
            self.ends[shard] = self.now + (self.takes if shard == self.slow else self.usual)
            self.most = max(self.most, len(self.ends))
        return types.SimpleNamespace(key=shard, result=lambda: None)

    def as_completed(self, loop):
        return self

    def add(self, future):
        pass

    def has_ready(self):
        return min(self.ends.values()) <= self.now

    def __next__(self):
        shard = min(self.ends, key=self.ends.get)
        status = "pending" if shard in self.lost else "finished"
        if shard in self.lost:
            self.lost.remove(shard)
            self.ends[shard] += 1.0
        else:
            del self.ends[shard]
        return types.SimpleNamespace(key=shard, status=status, result=lambda: self.result(shard))

    def result(self, shard):
        """Of shards that lie with one that ends its workers, all are said to do so, once."""
        if shard in self.kills:
            if shard != self.kills[0]:
                self.kills = tuple(k for k in self.kills if k != shard)
            raise Killed


@pytest.fixture
def late(monkeypatch):
    def computed(cluster, shards):
        told = []
        monkeypatch.setattr(executors.time, "monotonic", cluster.monotonic)
        monkeypatch.setattr(executors.time, "sleep", cluster.sleep)
        stragglers = executors._Stragglers(told.append)
        threads = executors._Threads(cluster, told.append, 60.0)
        results = executors._bounded(
            cluster, cluster, b"", iter(range(shards)), threads, stragglers
        )
        return results, told

    return computed


def test_a_shard_that_takes_much_longer_than_the_others_is_told_once(late):
    """Also when it is the last one, and nothing ends beside it."""
    for slow in (4, 39):
        results, told = late(Cluster(slow), 40)
        assert sorted(shard for shard, _ in results) == list(range(40))
        (said,) = told
        assert said.startswith(
            f"shard {slow} has been with the workers for 30 s, others took about 1 s"
        )


@pytest.mark.parametrize(("usual", "takes"), [(1.0, 3.5), (20.0, 70.0)])
def test_shards_that_all_take_long_are_not_late(late, usual, takes):
    results, told = late(Cluster(4, takes, usual), 40)
    assert len(list(results)) == 40
    assert told == []


def test_few_shards_are_with_the_scheduler_at_a_time(late):
    cluster = Cluster(None)
    results, _ = late(cluster, 500)
    assert len(list(results)) == 500
    assert cluster.most == executors._IN_FLIGHT * 3
    assert cluster.looks <= 1 + cluster.now / executors._LOOK


def test_what_is_computed_while_no_worker_is_counted_does_not_end_a_sweep(late):
    cluster = Cluster(None)
    results, _ = late(cluster, 40)
    found = [next(results)]
    cluster.threads = {}
    found += results
    assert sorted(shard for shard, _ in found) == list(range(40))


def test_a_client_that_has_lost_its_scheduler_is_told(late):
    cluster = Cluster(None)
    results, _ = late(cluster, 500)
    next(results)
    cluster.closed = True
    with pytest.raises(sweeps.SweepError, match="the dask scheduler was lost"):
        list(results)


def test_results_that_are_cancelled_are_of_a_scheduler_that_was_lost(late):
    def cancelled(shard):
        raise CancelledError

    cluster = Cluster(None)
    cluster.result = cancelled
    results, _ = late(cluster, 40)
    with pytest.raises(sweeps.SweepError, match="the dask scheduler was lost"):
        next(results)


def test_a_scheduler_that_does_not_answer_for_a_while_is_waited_for(late):
    def away():
        raise OSError("timed out")

    cluster = Cluster(None)
    results, _ = late(cluster, 500)
    found = [next(results)]
    cluster.nthreads = away
    found += results
    assert len(found) == 500


def test_shards_beside_one_that_ends_its_workers_are_tried_again(late):
    cluster = Cluster(None)
    cluster.kills = (5, 6, 9)
    results, _ = late(cluster, 40)
    found = list(results)
    assert sorted(shard for shard, _ in found) == list(range(40))
    ((shard, failed),) = [(k, it) for k, it in found if it is not None]
    assert shard == 5
    assert str(failed.error).startswith("4 processes ended one after the other while they had it")


def test_a_result_whose_worker_is_lost_before_it_is_told_is_waited_for(late):
    cluster = Cluster(None)
    cluster.lost = {7}
    results, _ = late(cluster, 40)
    assert sorted(shard for shard, _ in results) == list(range(40))


def test_workers_that_do_not_come_back_are_told_and_are_an_error_at_last(late):
    cluster = Cluster(None)
    results, told = late(cluster, 500)
    next(results)
    cluster.threads, cluster.ends = {}, dict.fromkeys(cluster.ends, cluster.now + 1000000.0)
    with pytest.raises(sweeps.SweepError, match="all workers of dask have ended, as where memory"):
        list(results)
    assert told.count("the scheduler of dask has no workers; shards wait until one comes") == 1
    assert cluster.now < 100.0
