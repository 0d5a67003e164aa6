"""Do the annotations of inner functions count each time, though their checks are written once?"""

import numpy as np
import pytest
from jaxtyping import Float, TypeCheckError, jaxtyped

from tests.support.annotation_checks import checked


def outer(number, shape, hint=Float[np.ndarray, "rows columns"]):
    """As the import hook decorates what a function of the library defines within."""

    @jaxtyped(typechecker=checked)
    def inner(values: hint, factor: float = 2.0) -> Float[np.ndarray, "columns rows"]:
        return number * factor * np.ones(shape)

    return inner


def test_every_inner_function_computes_its_own():
    found = [float(outer(number, (3, 2))(np.zeros((2, 3)))[0, 0]) for number in (1.0, 5.0)]
    assert found == [2.0, 10.0]


@pytest.mark.parametrize("time", range(2))
def test_what_an_annotation_excludes_is_refused_each_time(time):
    with pytest.raises(TypeCheckError):
        outer(1.0, (3, 2))(np.zeros(2))  # not a matrix
    with pytest.raises(TypeCheckError):
        outer(1.0, (2, 3))(np.zeros((2, 3)))  # the result is not the transpose
    with pytest.raises(TypeCheckError):
        outer(1.0, (3, 2))(np.zeros((2, 3)), "two")


def test_another_annotation_of_the_same_name_is_another_check():
    assert outer(1.0, (3, 2))(np.zeros((2, 3))).shape == (3, 2)
    with pytest.raises(TypeCheckError):
        outer(1.0, (3, 2), Float[np.ndarray, "rows columns planes"])(np.zeros((2, 3)))
