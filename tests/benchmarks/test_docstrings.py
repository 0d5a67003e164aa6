"""Do the examples in the docstrings of the benchmarks run?"""

import doctest

import pytest

from benchmarks.reproduction import published
from benchmarks.studies import finer_postures


@pytest.mark.parametrize(("module", "examples"), [(published, 4), (finer_postures, 1)])
def test_docstring_examples(module, examples):
    assert doctest.testmod(module) == (0, examples)
