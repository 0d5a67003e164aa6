"""Memory of temporary arrays is kept for the next ones, and settings of the process are respected."""

import ctypes
import os
import platform
import subprocess
import sys

import jax
import numpy as np
import pytest

from jaxmodal.runtime import freed_memory
from jaxmodal.runtime.freed_memory import keep_freed_memory, room
from jaxmodal.runtime.namespace import unfilled

#: the module alone, by its file: importing the package takes a second in each process
LOADED = f"""
import importlib.util, sys
found = importlib.util.spec_from_file_location("freed_memory", {freed_memory.__file__!r})
module = sys.modules["freed_memory"] = importlib.util.module_from_spec(found)
found.loader.exec_module(module)
"""
FAULTS = f"""{LOADED}
import resource, numpy as np
from freed_memory import keep_freed_memory

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for megabytes in range(1, 25):
        np.zeros(megabytes << 17).fill(1.0)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

if sys.argv[1] != "never":
    keep_freed_memory(always=sys.argv[1] == "always")
print(faults())
"""
#: pages of the largest of these arrays, and of all
LARGEST, ALL = 24 << 8, 300 << 8


def faults_of(way, **settings):
    kept = {name: x for name, x in os.environ.items() if not name.startswith("MALLOC_")}
    ended = subprocess.run(
        [sys.executable, "-c", FAULTS, way],
        env=kept | {"NUMPY_MADVISE_HUGEPAGE": "0"} | settings,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return int(ended.stdout)


of_glibc = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc keeps memory")
DASK = {"MALLOC_TRIM_THRESHOLD_": "65536"}


@of_glibc
@pytest.mark.parametrize(("way", "settings"), [("learn", {}), ("always", {}), ("always", DASK)])
def test_pages_of_larger_and_larger_arrays_are_fetched_once(way, settings):
    assert faults_of(way, **settings) < 1.5 * LARGEST


@of_glibc
@pytest.mark.parametrize(("way", "settings"), [("never", {}), ("learn", DASK)])
def test_else_and_where_thresholds_are_set_each_array_has_its_pages_fetched(way, settings):
    assert faults_of(way, **settings) > 0.9 * ALL


@pytest.mark.parametrize("error", [OSError, TypeError, AttributeError])
def test_a_system_without_glibc_is_no_error(monkeypatch, error):
    def missing(_):
        raise error

    monkeypatch.setattr(ctypes, "CDLL", missing)
    keep_freed_memory.__wrapped__(always=True)


LARGE = 6 << 20
of_linux = pytest.mark.skipif(not freed_memory._LENDS, reason="only Linux lends memory")


@pytest.fixture
def nothing_left(monkeypatch):
    """A process in which no array has left memory."""
    monkeypatch.setattr(freed_memory, "_left", freed_memory._Left())


def address(array):
    return array.__array_interface__["data"][0]


@of_linux
def test_what_a_large_array_leaves_goes_to_the_next_of_its_size(nothing_left):
    first = room(LARGE)
    first[...] = 1
    where, part = address(first), first[10:20]
    del first
    other = room(LARGE)  # a part of the first is still in use
    assert address(other) != where
    np.testing.assert_array_equal(part, np.ones(10, np.uint8))
    del part
    assert address(room(2 * LARGE)) != where
    assert address(room(LARGE)) == where


@of_linux
def test_what_a_result_of_jax_leaves_goes_to_the_next(nothing_left):
    first = unfilled((LARGE,), np.uint8)
    first[...] = 1
    taken = jax.device_put(first, jax.devices("cpu")[0])
    where = address(first)
    del first
    other = unfilled((LARGE,), np.uint8)
    assert address(other) != where
    np.testing.assert_array_equal(taken, np.ones(LARGE, np.uint8))
    del taken
    jax.device_put(np.zeros(1))  # JAX lets go of arrays when it is called next
    assert address(unfilled((LARGE,), np.uint8)) == where


@of_linux
def test_no_more_is_kept_than_so_many_bytes(nothing_left, monkeypatch):
    monkeypatch.setattr(freed_memory, "_KEPT", 2 * LARGE)
    every = [room(LARGE) for _ in range(3)]
    while every:
        del every[0]
    assert len(freed_memory._left._every) == 2


def test_small_arrays_and_other_systems_have_memory_of_their_own(nothing_left, monkeypatch):
    assert room(100).size == 100
    monkeypatch.setattr(freed_memory, "_LENDS", False)
    found = room(LARGE + 1)
    assert (found.size, found.flags.writeable) == (LARGE + 1, True)
    del found
    assert not freed_memory._left._every


@of_linux
def test_too_large_an_array_is_refused_by_numpy_and_what_is_kept_given_back(nothing_left):
    room(LARGE)
    assert freed_memory._left._every
    with pytest.raises(MemoryError):
        room(1 << 60)
    assert not freed_memory._left._every


@of_linux
def test_arrays_that_outlive_the_module_end_in_silence():
    """Python clears the names of modules in the reverse order of their import: json's, which keeps one, after ours."""
    code = f"import json\n{LOADED}\njson.kept, sys.kept = module.room(8 << 20), (module, json)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""
