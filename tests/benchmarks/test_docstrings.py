"""Do the examples in the docstrings of the benchmarks run?"""

import doctest

from benchmarks.reproduction import published


def test_docstring_examples():
    assert doctest.testmod(published) == (0, 4)
