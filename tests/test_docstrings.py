"""Do the examples in the docstrings run, and print what they say?"""

import doctest
import importlib
import inspect
import pkgutil
import re
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


def examples_of(name):
    """Of what a module offers; methods of a public class say that they are of another, and are asked one by one."""
    module, finder = importlib.import_module(name), doctest.DocTestFinder()
    found = finder.find(module)
    for kind in vars(module).values():
        if isinstance(kind, type) and kind.__module__ == name:
            methods = {key: getattr(kind, key) for key in vars(kind)}
            for key, method in methods.items():
                if inspect.isroutine(method) and getattr(method, "__module__", name) != name:
                    found += finder.find(method, f"{name}.{kind.__name__}.{key}", module=module)
    return found


def test_no_example_is_left_out():
    found = {
        test.name: len(test.examples) for name in with_examples() for test in examples_of(name)
    }
    written = [path.read_text("utf-8") for path in Path(jaxmodal.__file__).parent.rglob("*.py")]
    assert sum(found.values()) == sum(len(re.findall("^ *>>> ", x, re.MULTILINE)) for x in written)


def run_examples(name, slow):
    runner = doctest.DocTestRunner()
    for test in examples_of(name):
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
