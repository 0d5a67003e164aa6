"""Do the rivals of the benchmark of written equations solve the same system?"""

import pytest

from benchmarks.symbolic_rivals import rival


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "links"), [("lagrange", 1), ("kane", 1), ("symengine", 1), ("symengine", 2)]
)
def test_rivals_have_the_same_equations(name, links):
    pytest.importorskip("symengine" if name == "symengine" else "sympy")
    found = rival(name, links)
    assert found["difference"] < 1e-12
    assert found["operations"] > 100
