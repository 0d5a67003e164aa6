"""The tolerance of a comparison is the one that it states: NumPy adds a relative 1e-7 to an absolute one alone."""

import ast
from pathlib import Path

TESTS = Path(__file__).parent


def unstated(code):
    """Lines that call ``assert_allclose`` with an absolute tolerance and leave the relative one to NumPy."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).endswith("assert_allclose")
        and len(node.args) < 3
        and {"atol"} == {keyword.arg for keyword in node.keywords} & {"atol", "rtol"}
    ]


def test_tolerances_are_stated():
    files = sorted(TESTS.rglob("*.py"))
    found = {str(file.relative_to(TESTS)): unstated(file.read_text("utf-8")) for file in files}
    assert {file: lines for file, lines in found.items() if lines} == {}


def test_a_tolerance_that_is_not_stated_is_noticed():
    code = "np.testing.assert_allclose(a, b, atol=1)\nassert_allclose(a, b, 0.0, atol=1)\n"
    assert unstated(code + "assert_allclose(a, b, rtol=0.0, atol=1)\nassert_allclose(a, b)") == [1]
