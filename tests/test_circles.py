"""Do modules and rooms know each other in one direction only, lazy imports and names of modules included?"""

import importlib
import inspect
import re

import pytest

from jaxmodal.pictures import PICTURES
from jaxmodal.runtime.pictures import Drawn, enter_pictures
from tests.support.import_graph import (
    AT_ONCE,
    BY_NAME,
    FOR_TYPES,
    LATER,
    all_circles,
    edges,
    sources,
)

DRAWN = re.compile(r"^class (\w+)\([^)]*\b(?:Drawn|AtRest|ExactShapes)\b", re.MULTILINE)


def test_no_module_and_no_room_stands_in_a_circle():
    assert all_circles(edges(sources())) == []


@pytest.mark.parametrize(
    ("back", "kind"),
    [
        ("import jaxmodal.a.one", AT_ONCE),
        ("def f():\n    from jaxmodal.a import one", LATER),
        (
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ..a.one import x",
            FOR_TYPES,
        ),
        ("x = {'X.plot': 'jaxmodal.a.one:x'}", BY_NAME),
        ("def f():\n    importlib.import_module('jaxmodal.a.one').x", BY_NAME),
    ],
)
def test_a_circle_is_found_however_it_closes(back, kind):
    texts = {
        "jaxmodal": "",
        "jaxmodal.a": "",
        "jaxmodal.a.one": "from jaxmodal.b.two import y",
        "jaxmodal.b": "",
        "jaxmodal.b.two": back,
    }
    modules, between_rooms = all_circles(edges(texts))
    assert f"jaxmodal.b.two -> jaxmodal.a.one ({kind})" in modules
    assert between_rooms.startswith("a circle of jaxmodal.a, jaxmodal.b")


def test_rooms_that_know_each_other_in_different_modules_are_a_circle():
    texts = {
        "jaxmodal.a.one": "from jaxmodal.b import two",
        "jaxmodal.a.other": "",
        "jaxmodal.b.two": "",
        "jaxmodal.b.three": "from jaxmodal.a import other",
    }
    (found,) = all_circles(edges(texts))
    assert found.startswith("a circle of jaxmodal.a, jaxmodal.b")


@pytest.mark.parametrize(("shown", "entry"), sorted(PICTURES.items()))
def test_an_entry_names_what_draws_that_class(shown, entry):
    module, _, name = entry.partition(":")
    function = getattr(importlib.import_module(module), name)
    first = next(iter(inspect.signature(function).parameters.values()))
    accepted = eval(str(first.annotation), function.__globals__)
    kinds = getattr(accepted, "__args__", (accepted,))
    kind, _, method = shown.partition(".")
    assert any(kind in [base.__name__ for base in each.__mro__] for each in kinds)
    assert all(issubclass(each, Drawn) and hasattr(each, method) for each in kinds)


def test_every_class_with_a_plot_has_an_entry():
    """But those of which others are made."""
    made = {
        name for text in sources(packages=["jaxmodal"]).values() for name in DRAWN.findall(text)
    }
    assert {f"{name}.plot" for name in made - {"AtRest", "ExactShapes"}} == {
        entry for entry in PICTURES if entry.endswith(".plot")
    }


def test_a_class_without_an_entry_says_what_to_do():
    class Own(Drawn):
        pass

    with pytest.raises(NotImplementedError, match=r"^Own\.plot.*enter_pictures.*'Own\.plot'"):
        Own().plot()


@pytest.mark.parametrize(
    ("entries", "told"),
    [
        ({"Arm.plot": "own.plots:draw"}, "class of this name is drawn by 'jaxmodal.plots.arms:"),
        ({"Own.plot": "own.plots.draw"}, "must be 'Class.method': 'package.module:function'"),
        ({"Own": "own.plots:draw"}, "must be 'Class.method': 'package.module:function'"),
    ],
)
def test_entries_that_would_draw_something_else_are_refused(entries, told):
    with pytest.raises(ValueError, match=told):
        enter_pictures(entries)
    enter_pictures(PICTURES)  # again changes nothing
