"""A process is warned before its compiled programs exceed the memory maps that Linux allows it."""

import logging
import subprocess
import sys

import pytest

from jaxmodal.runtime import memory_maps
from jaxmodal.runtime.memory_maps import EVERY, Watch

COMPILED = "/jax/core/compile/backend_compile_duration"


@pytest.fixture
def maps(monkeypatch):
    """The numbers of maps that the process is said to have, one a look; the limit is 1,000."""
    numbers = []
    monkeypatch.setattr(memory_maps, "memory_maps", lambda: numbers.pop(0))
    monkeypatch.setattr(memory_maps, "most_memory_maps", lambda: 1000)
    return numbers


def compiled(watch, looks):
    for _ in range(EVERY * looks):
        watch.ended("/jax/core/compile/jaxpr_trace_duration", 1.0)
        watch.ended(COMPILED, 1.0)


def said(caplog):
    return [record.getMessage() for record in caplog.records if record.name == "jaxmodal"]


def test_each_passage_of_the_share_is_said_once(maps, caplog):
    maps += [600, 601, 700, 300, 999]
    watch, lines = Watch(), []
    for _ in range(5):
        compiled(watch, 1)
        lines.append(len(said(caplog)))
    assert lines == [0, 1, 1, 1, 2]
    assert said(caplog)[0].startswith("the compiled programs of this process hold 601 of the 1000 ")
    assert "jax.clear_caches()" in said(caplog)[0]
    assert caplog.records[-1].levelno == logging.WARNING


def test_nothing_is_said_where_the_system_does_not_tell(monkeypatch, tmp_path, caplog):
    for name in ("_MAPS", "_LIMIT"):
        monkeypatch.setattr(memory_maps, name, tmp_path / "none")
    assert memory_maps.memory_maps() == memory_maps.most_memory_maps() == 0
    compiled(Watch(), 2)
    assert said(caplog) == []


@pytest.mark.skipif(not memory_maps.memory_maps(), reason="this system has no /proc/self/maps")
def test_the_maps_of_programs_are_counted_and_dropping_them_frees_them():
    code = """
import gc, jax, jax.numpy as jnp, jaxmodal
from jaxmodal.runtime import memory_maps
memory_maps.most_memory_maps = lambda: memory_maps.memory_maps()
before = memory_maps.memory_maps()
for n in range(2, 2 + memory_maps.EVERY):
    jax.jit(jnp.sin)(jnp.ones(n))
held = memory_maps.memory_maps()
jax.clear_caches()
gc.collect()
print(before < held, memory_maps.memory_maps() < held)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True"]
    assert done.stderr.count("memory maps that Linux allows") == 1
