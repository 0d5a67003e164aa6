"""Shards with the workers of dask: as many as they have threads for, and the late ones are told."""

import types

import pytest

import sweeps
from sweeps.store import executors


class Cluster:
    """Stands for dask: a clock on which every shard takes a second, but one; futures end when they are asked for."""

    def __init__(self, slow, takes=1000.0):
        self.now, self.slow, self.takes, self.most = 0.0, slow, takes, 0
        self.threads, self.ends, self.loop = {"worker": 3}, {}, None
        self.client = types.SimpleNamespace(ClosedClientError=type("Closed", (Exception,), {}))
        self.closed = False

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds

    def nthreads(self):
        if self.closed:
            raise OSError("the scheduler has closed the connection")
        return self.threads

    def submit(self, call, *arguments, **_):
        if self.closed:
            raise self.client.ClosedClientError
        shard = arguments[0]
        if call is executors.on_worker:
            self.ends[shard] = self.now + (self.takes if shard == self.slow else 1.0)
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
        del self.ends[shard]
        return types.SimpleNamespace(key=shard, result=lambda: None)


@pytest.fixture
def late(monkeypatch):
    def computed(cluster, shards):
        told = []
        monkeypatch.setattr(executors.time, "monotonic", cluster.monotonic)
        monkeypatch.setattr(executors.time, "sleep", cluster.sleep)
        stragglers = executors._Stragglers(told.append)
        results = executors._bounded(cluster, cluster, b"", iter(range(shards)), stragglers)
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


def test_shards_that_all_take_long_are_not_late(late):
    results, told = late(Cluster(4, takes=3.5), 40)
    assert len(list(results)) == 40
    assert told == []


def test_few_shards_are_with_the_scheduler_at_a_time(late):
    cluster = Cluster(None)
    results, _ = late(cluster, 500)
    assert len(list(results)) == 500
    assert cluster.most == executors._IN_FLIGHT * 3


def test_a_client_that_has_lost_its_scheduler_is_told(late):
    cluster = Cluster(None)
    results, _ = late(cluster, 500)
    next(results)
    cluster.closed = True
    with pytest.raises(sweeps.SweepError, match="the dask scheduler was lost"):
        list(results)
