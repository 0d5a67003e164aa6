"""Does the page of constants tell what stands in the code, and does the benchmark vary what it names?"""

import importlib
import re
from pathlib import Path

import pytest

from benchmarks.constants import CONSTANTS, _text, replaced

PAGE = Path(__file__).parent.parent.parent / "docs" / "developers" / "constants.md"
EVERY = [constant for constants in CONSTANTS.values() for constant in constants]


def test_the_page_has_every_constant_with_the_value_that_it_has():
    rows = re.findall(r"^\| `([\w.]+)` \| ([^|]+) \| ([^|]+) \|", PAGE.read_text(), re.MULTILINE)
    said = {name: (unit, value) for name, unit, value in rows}
    for constant in EVERY:
        with replaced(constant.where, constant.tried[0]) as usual:
            assert said.pop(constant.where.replace(":", ".")) == (constant.unit, _text(usual))
    assert not said


@pytest.mark.parametrize("constant", EVERY, ids=lambda constant: constant.where)
def test_another_value_stands_there_for_as_long_as_it_is_tried(constant):
    name, attribute = constant.where.split(":")
    module = importlib.import_module(f"jaxmodal.{name}")
    before = getattr(module, attribute)
    for value in constant.tried:
        with replaced(constant.where, value) as usual:
            assert usual == before != value == getattr(module, attribute)
        assert getattr(module, attribute) == before


def test_the_value_comes_back_after_an_error():
    constant = EVERY[0]
    with replaced(constant.where, constant.tried[0]) as usual:
        pass
    with pytest.raises(ZeroDivisionError), replaced(constant.where, constant.tried[0]):
        raise ZeroDivisionError
    with replaced(constant.where, constant.tried[0]) as after:
        assert after == usual


def constants_of(text):
    """Name and value of each constant that a page names by its module; those after a comma are of the same one."""
    for found in re.finditer(
        r"`((?:[a-z_0-9]+\.)+)(_?[A-Z][A-Z_0-9]*)`((?:, `_?[A-Z][A-Z_0-9]*`)*)", text
    ):
        package, more = found[1].rstrip("."), re.findall(r"`(\w+)`", found[3])
        outside = package.split(".")[0] in ("sweeps", "design_opt", "benchmarks")
        module = importlib.import_module(package if outside else f"jaxmodal.{package}")
        for name in (found[2], *more):
            yield f"{package}.{name}", getattr(module, name)


def test_distances_between_frequencies_are_those_of_the_developers_page():
    text = PAGE.with_name("README.md").read_text().partition("## How close is close")[2]
    rows = re.findall(
        r"^\| (1e-\d+) \| [^|]+ \| ([^|]+) \|", text.partition("\n## ")[0], re.MULTILINE
    )
    assert len(rows) >= 10
    for value, named in rows:
        first = next(constants_of(named))
        assert first[1] == float(value), first[0]


def test_every_constant_that_the_page_names_is_there():
    names = [name for name, _ in constants_of(PAGE.read_text())]
    assert len(names) > 80
