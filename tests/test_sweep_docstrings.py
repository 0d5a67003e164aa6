"""Do the examples in the docstrings of the sweeps run, and do imports there point one way?"""

import ast
import doctest
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import sweeps

PACKAGE = Path(sweeps.__file__).parent
MODULES = sorted(module.name for module in pkgutil.walk_packages(sweeps.__path__, "sweeps."))
ORDER = [
    "errors", "axes", "random_designs", "solution", "quantities", "descriptions", "definition",
    "files", "grid", "dataset", "store_layout", "store", "executors", "run", "cells", "export",
    "verify", "tracking", "double_roots", "plot_points", "plot_style", "maps", "sensitivity_plots",
    "sample_plots", "plots", "report", "gallery", "joint_study", "real_arm_pictures", "command_base",
    "plot_commands", "commands",
    "joint_study_command", "__init__", "__main__",
]  # fmt: skip


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


@pytest.mark.parametrize("path", sorted(PACKAGE.glob("*.py")), ids=lambda path: path.stem)
def test_imports_point_one_way(path):
    place = ORDER.index(path.stem)
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "sweeps":
            module = node.module.removeprefix("sweeps").strip(".")
            for name in [module] if module else [alias.name for alias in node.names]:
                assert ORDER.index(name) < place, f"{path.stem} imports {name}"


def test_importing_sweeps_loads_no_extra():
    extras = ("zarr", "matplotlib", "distributed", "scipy.stats")
    code = f"import sys, sweeps; print([m for m in {extras} if m in sys.modules])"
    command = [sys.executable, "-c", code]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=PACKAGE.parent)
    assert answer.stdout.strip() == "[]", answer.stderr
