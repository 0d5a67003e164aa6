"""Memory of temporary arrays is kept for the next ones, and settings of the process are respected."""

import ctypes
import os
import platform
import subprocess
import sys

import pytest

from jaxmodal.runtime.freed_memory import keep_freed_memory

FAULTS = """
import resource, sys, numpy as np
from jaxmodal.runtime.freed_memory import keep_freed_memory

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
