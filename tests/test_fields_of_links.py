"""A field of a joint or of a body is named in few files: docs/developers says in which."""

import ast
import functools
import re
from pathlib import Path

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.statics.link_parts import Body, Rotor
from tests.support.real_arms import VALUES, steel, two

ROOT = Path(__file__).parents[1]
#: in how many files of the packages a field may stand; a number may fall, and then this one with it
MOST = {
    "hub_mass": 3,
    "hub_inertia": 3,
    "stator_mass": 2,
    "stator_inertia": 2,
    "rotor_inertia": 8,
    "gear_ratio": 8,
    "base_offset_x": 3,
    "base_offset_y": 3,
    "end_offset_x": 3,
    "end_offset_y": 3,
    "joint_axial_stiffness": 3,
    "joint_shear_stiffness": 3,
    "support_x_stiffness": 2,
}


#: the same of the code alone, without docstrings and comments, for fields that every link has
MOST_OF_CODE = {"tip_mass": 8, "tip_inertia": 7}


def code_of(text):
    """The text of a module without docstrings and comments."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        if documented and ast.get_docstring(node) is not None:
            node.body[0] = ast.Pass()
    return ast.unparse(tree)


@functools.cache
def texts():
    """Of every module of the packages, by its place."""
    files = (
        x
        for package in ("jaxmodal", "sweeps", "design_opt")
        for x in (ROOT / package).rglob("*.py")
    )
    return {x.relative_to(ROOT).as_posix(): x.read_text("utf-8") for x in files}


def files_with(name):
    word = re.compile(rf"\b{name}\b")
    return [place for place, text in texts().items() if word.search(text)]


@pytest.mark.parametrize("name", MOST)
def test_a_field_stands_in_few_files(name):
    found = files_with(name)
    assert len(found) == MOST[name], found


@pytest.mark.parametrize("name", MOST_OF_CODE)
def test_the_body_at_the_tip_is_named_in_few_files(name):
    word = re.compile(rf"\b{name}\b")
    found = [place for place in files_with(name) if word.search(code_of(texts()[place]))]
    assert len(found) == MOST_OF_CODE[name], found


def test_a_body_is_its_mass_matrix():
    """Momentum, form and derivatives of a body beside its point are those of the matrix written out."""
    rng = np.random.default_rng(1)
    mass, inertia, x, y = rng.uniform(0.1, 1.0, (4, 3))
    body, (a, b) = Body(mass, inertia, x, y), rng.normal(size=(2, 3, 6))
    none = np.zeros(3)
    matrix = np.moveaxis(np.array([[mass, none, -y], [none, mass, x], [-y, x, inertia]]), 2, 0)
    momentum = np.einsum("nij,nj->ni", matrix, a[:, :3])
    close = {"rtol": 1e-13, "atol": 1e-14}
    np.testing.assert_allclose(body.momentum(a), momentum, **close)
    form = np.sum(momentum * b[:, :3], axis=1)
    np.testing.assert_allclose(body.form(a, b), form, **close)
    (moved, masses), (other, _) = body.at_centre(a), body.at_centre(b)
    np.testing.assert_allclose(np.sum(moved * masses * other, axis=1), form, **close)
    rates = sum(v * d for v, d in zip(body, body.products(a, b), strict=True))
    np.testing.assert_allclose(rates, form, **close)  # the form is linear in the values


def test_links_show_what_sits_on_them():
    plain, full = jm.examples.three_link_industrial().links[0], two(steel(**VALUES)).links[0]
    assert plain.hub is plain.stator is plain.rotor is plain.base_offset is plain.end_offset is None
    assert plain.body == Body(plain.tip_mass, plain.tip_inertia)
    assert (full.hub, full.stator) == (Body(0.7, 0.02), Body(1.3, 0.01))
    assert full.rotor == full.moving_rotor == Rotor(2e-5, 60.0)
    assert full.replace(motor="held").rotor == Rotor(2e-5, 0.0)
    assert (full.base_offset, full.end_offset) == ((0.04, 0.06), (0.05, -0.07))
    assert steel(hub_inertia=0.1).hub == Body(0.0, 0.1)
