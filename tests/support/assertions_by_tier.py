"""How many tests a checkout has in each tier, and how many assertions about numbers they make.

``python tests/support/assertions_by_tier.py [CHECKOUT]``

The tests are collected, not run. An assertion about numbers is a call of ``numpy.testing``, or an ``assert`` in which a
number, a tolerance (a name in capitals) or ``approx`` is compared, ``all`` and ``any`` of such a comparison included;
lengths and exit codes count, texts and types do not. It counts once for each test that holds it, with those of the
functions of its file that it calls: parameters multiply it, loops do not.
"""

from __future__ import annotations

import ast
import functools
import os
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest


def is_number(node: ast.expr) -> bool:
    """Whether an expression is, or is made of, a number or a tolerance."""
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and type(part.value) in (int, float):
            return True
        if isinstance(part, ast.Name) and part.id.isupper():
            return True
        if isinstance(part, (ast.Name, ast.Attribute)):
            name = part.id if isinstance(part, ast.Name) else part.attr
            if name == "approx":
                return True
    return False


def about_numbers(node: ast.AST) -> bool:
    """Whether a statement is an assertion about numbers."""
    if isinstance(node, ast.Assert):
        compared = [part for part in ast.walk(node.test) if isinstance(part, ast.Compare)]
        return any(is_number(side) for part in compared for side in (part.left, *part.comparators))
    called = (
        node.value.func if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else None
    )
    return isinstance(called, ast.Attribute) and ast.unparse(called).startswith(
        ("np.testing.", "numpy.testing.")
    )


@functools.cache
def functions_of(file: Path) -> dict[str, ast.FunctionDef]:
    """The functions of a file by name."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@functools.cache
def assertions(file: Path, name: str) -> int:
    """How many assertions about numbers a function makes, with those of its file that it calls."""
    functions, seen, todo, found = functions_of(file), set(), [name], 0
    while todo:
        own = todo.pop()
        if own in seen or own not in functions:
            continue
        seen.add(own)
        for node in ast.walk(functions[own]):
            found += about_numbers(node)
            if isinstance(node, ast.Name):
                todo.append(node.id)
    return found


class Collected:
    """Adds up what pytest collects."""

    def __init__(self) -> None:
        self.tests: Counter[str] = Counter()
        self.numbers: Counter[str] = Counter()

    def pytest_collection_finish(self, session: Any) -> None:
        """Called with all tests."""
        for item in session.items:
            tier = "slow" if item.get_closest_marker("slow") else "fast"
            self.tests[tier] += 1
            self.numbers[tier] += assertions(item.path, item.originalname)


def main(folder: Path) -> None:
    """Collect and print."""
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    found = Collected()
    code = pytest.main(["--collect-only", "-qq", "--no-summary", "-m", ""], plugins=[found])
    if code != pytest.ExitCode.OK:
        raise SystemExit(code)
    for tier in ("fast", "slow"):
        print(f"{tier}: {found.tests[tier]} tests, {found.numbers[tier]} assertions about numbers")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent.parent).resolve())
