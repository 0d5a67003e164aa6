"""Do the examples in the docstrings run, and print what they say?"""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import jaxmodal

SLOW = {"jaxmodal.dynamics.simulate"}
"""Examples that compile much."""


def with_examples():
    """The modules in which some stand, by their text; that of a public name is in the package that offers it."""
    packages, modules = ["jaxmodal"], []
    for found in pkgutil.walk_packages(jaxmodal.__path__, "jaxmodal."):
        if found.ispkg:
            packages.append(found.name)
        elif ">>> " in Path(found.module_finder.find_spec(found.name).origin).read_text("utf-8"):
            modules.append(found.name)
    return packages + modules


def run_examples(name, slow):
    runner = doctest.DocTestRunner()
    for test in doctest.DocTestFinder().find(importlib.import_module(name)):
        if (test.name in SLOW) == slow:
            runner.run(test)
    assert runner.failures == 0
    return runner.tries


@pytest.mark.parametrize("name", with_examples())
def test_docstring_examples(name):
    run_examples(name, slow=False)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SLOW))
def test_dear_docstring_examples(name):
    assert run_examples(name.rpartition(".")[0], slow=True) > 0
