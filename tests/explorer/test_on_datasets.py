"""`sweeps` imports no xarray before a dataset is made, and adds to its datasets as soon as anyone imports it."""

import subprocess
import sys

import pytest

from sweeps.explorer import on_datasets


@pytest.fixture
def library(monkeypatch, tmp_path):
    """A library in place of xarray, which nobody has imported."""
    (tmp_path / "not_xarray.py").write_text("made = []\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(on_datasets, "_LIBRARY", "not_xarray")
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    yield "not_xarray"
    sys.modules.pop("not_xarray", None)


def add():
    import not_xarray

    not_xarray.made.append("explore")


def test_what_is_added_waits_for_the_import_and_comes_once(library):
    on_datasets.when_imported(add)
    assert library not in sys.modules
    __import__(library)
    __import__(library)
    assert sys.modules[library].made == ["explore"]
    watched = [it.library for it in sys.meta_path if isinstance(it, on_datasets._Watch)]
    assert library not in watched


def test_it_is_added_at_once_where_the_import_was_before(library):
    __import__(library)
    on_datasets.when_imported(add)
    assert sys.modules[library].made == ["explore"]


def test_a_missing_library_stays_missing(monkeypatch, library):
    monkeypatch.setattr(on_datasets, "_LIBRARY", "no_such_library_at_all")
    on_datasets.when_imported(add)
    with pytest.raises(ModuleNotFoundError):
        __import__("no_such_library_at_all")


ORDERS = """
import sys
import sweeps
assert "xarray" not in sys.modules and "pandas" not in sys.modules
import xarray
print(xarray.Dataset({"x": 1}).explore.__class__.__name__)
"""


@pytest.mark.slow
def test_sweeps_before_xarray_in_a_new_process():
    answer = subprocess.run([sys.executable, "-c", ORDERS], capture_output=True, text=True)
    assert answer.stdout == "_Explored\n", answer.stderr
