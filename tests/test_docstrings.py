"""Do the examples in the docstrings run, and print what they say?"""

import doctest
import importlib
import pkgutil

import pytest

import jaxmodal

MODULES = ["jaxmodal"] + [
    module.name
    for module in pkgutil.walk_packages(jaxmodal.__path__, "jaxmodal.")
    if not module.name.endswith("__main__")
]


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0
