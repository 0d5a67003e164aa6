"""What counts as an assertion about numbers, and for which test."""

import pytest

from tests.support.assertions_by_tier import assertions

FILE = """
import numpy as np

TOLERANCE = 1e-12

def close(x):
    assert abs(x) <= TOLERANCE
    assert x == approx(y)

def test_own(x):
    assert x == 3
    np.testing.assert_allclose(x, x)
    assert np.all(x > 0)

def test_by_another(x):
    close(x)
    assert x.name == "text"

def test_of_texts(x):
    assert x
    assert x is None
    print(3)
"""


@pytest.mark.parametrize(
    ("name", "expected"), [("test_own", 3), ("test_by_another", 2), ("test_of_texts", 0)]
)
def test_assertions_are_counted(name, expected, tmp_path):
    file = tmp_path / "test_it.py"
    file.write_text(FILE)
    assert assertions(file, name) == expected
