"""Do the examples in the docstrings run, and print what they say?"""

import doctest
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import design_opt
import jaxmodal
import sweeps

SLOW = {"jaxmodal.dynamics.simulate"}
"""Examples that compile much."""
ROOTS = (jaxmodal, sweeps, design_opt)
ALONE = ("jaxmodal", "jaxmodal.dynamics", "jaxmodal.moves", "sweeps", "design_opt")
"""Packages with many examples or dear ones; those of all others run one after the other."""


def with_examples():
    """The modules in which some stand, by their text; that of a public name is in the package that offers it."""
    packages, modules = [root.__name__ for root in ROOTS], []
    for root in ROOTS:
        for found in pkgutil.walk_packages(root.__path__, f"{root.__name__}."):
            if found.ispkg:
                packages.append(found.name)
            elif ">>> " in Path(found.module_finder.find_spec(found.name).origin).read_text(
                "utf-8"
            ):
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
    folders = [Path(root.__file__).parent for root in ROOTS]
    written = [path.read_text("utf-8") for folder in folders for path in folder.rglob("*.py")]
    assert sum(found.values()) == sum(len(re.findall("^ *>>> ", x, re.MULTILINE)) for x in written)


def run_examples(name, slow):
    runner = doctest.DocTestRunner()
    for test in examples_of(name):
        if (test.name in SLOW) == slow:
            runner.run(test)
    assert runner.failures == 0
    return runner.tries


@pytest.mark.parametrize("name", [*ALONE, "the others"])
def test_docstring_examples(name):
    names = [name] if name in ALONE else [x for x in with_examples() if x not in ALONE]
    assert sum(run_examples(each, slow=False) for each in names) > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SLOW))
def test_dear_docstring_examples(name):
    assert run_examples(name.rpartition(".")[0], slow=True) > 0
