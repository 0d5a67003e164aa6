"""Do the examples in the docstrings of the sweeps run, and does importing them load no extra?"""

import doctest
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import sweeps

PACKAGE = Path(sweeps.__file__).parent
MODULES = [
    "sweeps",
    *sorted(module.name for module in pkgutil.walk_packages(sweeps.__path__, "sweeps.")),
]


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


def test_importing_sweeps_loads_no_extra_and_nothing_that_takes_long():
    extras = ("zarr", "matplotlib", "distributed", "scipy")
    code = f"import sys, sweeps; print([m for m in {extras} if m in sys.modules])"
    command = [sys.executable, "-c", code]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=PACKAGE.parent)
    assert answer.stdout.strip() == "[]", answer.stderr
