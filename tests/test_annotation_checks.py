"""Do the annotations of inner functions count each time, though their checks are written once?"""

import dataclasses
from collections.abc import Iterator
from typing import Literal, NamedTuple

import jax
import numpy as np
import pytest
from jaxtyping import Array, Float, TypeCheckError

from tests.support.annotation_checks import checked, jaxtyped


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


@jaxtyped(typechecker=checked)
def first(values: list[np.ndarray] | dict[str, int], result: object = None) -> int:
    return result if result is not None else len(values)


def test_kinds_that_have_passed_let_no_others_pass():
    """Neither other items of a list, nor other results of the same arguments, nor other values of a dict."""
    for _ in range(2):
        assert first([np.zeros(2)]) == 1
        assert first({"a": 1}) == 1
        with pytest.raises(TypeCheckError):
            first(["a"])
        with pytest.raises(TypeCheckError):
            first({"a": "b"})

    class Box:
        """One kind of argument, of which the result is of another one each time."""

        def __init__(self, held):
            self.held = held

    @jaxtyped(typechecker=checked)
    def opened(box: Box) -> int:
        calls.append(box)
        return box.held

    calls = []
    for good, bad in ((1, "one"), (2, 1.0)):
        assert opened(Box(good)) == good
        with pytest.raises(TypeCheckError):
            opened(Box(bad))
    assert len(calls) == 4  # a result that is refused is not computed again


@jaxtyped(typechecker=checked)
@dataclasses.dataclass(frozen=True)
class Sized:
    number: int
    values: Float[np.ndarray, " n"] | None = None


def test_fields_of_dataclasses_are_checked():
    for _ in range(2):
        assert Sized(1, np.zeros(2)).number == 1
        for wrong in ((1.0,), (1, np.zeros((2, 2)))):
            with pytest.raises(TypeCheckError):
                Sized(*wrong)


def test_shapes_that_belong_together_are_those_of_one_call():
    @jaxtyped(typechecker=checked)
    def product(a: Float[np.ndarray, "m n"], b: Float[np.ndarray, " n"]) -> Float[np.ndarray, " m"]:
        return a @ b if b.size == a.shape[1] else np.zeros(a.shape[0])

    for size in (2, 3):
        assert product(np.ones((4, size)), np.ones(size)).shape == (4,)
    for sizes in ((2, 3), (3, 2)):
        with pytest.raises(TypeCheckError):
            product(np.ones((4, sizes[0])), np.ones(sizes[1]))


def test_traced_values_are_told_by_their_shapes_and_iterators_by_their_type():
    @jaxtyped(typechecker=checked)
    def passed_on(values: Float[Array, " n"]) -> Float[Array, " n"]:
        return values

    @jaxtyped(typechecker=checked)
    def next_of(values: Iterator[int]) -> int:
        return next(values)

    for _ in range(2):
        assert jax.eval_shape(passed_on, np.ones(2)).shape == (2,)
        for wrong in (np.ones((2, 2)), np.ones(2, int)):
            with pytest.raises(TypeCheckError):
                jax.eval_shape(passed_on, wrong)
        assert next_of(iter([1, 2])) == 1
        for wrong in ([1, 2], iter(["one"])):
            with pytest.raises(TypeCheckError):
                next_of(wrong)


class Pair(NamedTuple):
    first: np.ndarray
    second: np.ndarray


@jaxtyped(typechecker=checked)
def choice(of: Literal[0, 1]) -> int:
    return of


@jaxtyped(typechecker=checked)
def pair(of: tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]]) -> float:
    return float(of[0].sum())


def test_a_good_call_does_not_let_a_bad_one_pass():
    assert (choice(0), pair(Pair(np.ones(2), np.ones(2)))) == (0, 2.0)
    with pytest.raises(TypeCheckError):
        choice(7)
    with pytest.raises(TypeCheckError):
        pair(Pair(np.ones(2), np.ones(3)))
