"""Do the examples in the docstrings of the sweeps run?"""

import doctest
import importlib
import pkgutil

import pytest

import sweeps

MODULES = [
    "sweeps",
    *sorted(module.name for module in pkgutil.walk_packages(sweeps.__path__, "sweeps.")),
]


#: of the extra s3
BUCKETS = ("sweeps.store.bucket_claims", "sweeps.store.object_store")


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name):
    if name in BUCKETS:
        pytest.importorskip("obstore", reason="obstore, of the extra s3, is not installed")
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0
