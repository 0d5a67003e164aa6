"""Are the cells about double roots where they are said to be, and is a wrong mode of theirs found?"""

import dataclasses

import numpy as np
import pytest

import jaxmodal as jm
from benchmarks import extended_counts, near_double_roots
from benchmarks.campaign import check_result

if extended_counts.missing() is not None:
    pytest.skip(extended_counts.missing(), allow_module_level=True)

#: of modes 2 and 3, from the design notes of the reference solution
DOUBLE_ROOT = np.radians([-155.009952919027194, -64.1983428536445678])
ROOT = np.array([DOUBLE_ROOT]), np.array([2])


@pytest.fixture
def one_root(monkeypatch):
    monkeypatch.setattr(near_double_roots, "double_roots", lambda payload: ROOT)


def test_roots_are_found_from_beside_them():
    arm = jm.examples.three_link_industrial()
    beside = DOUBLE_ROOT + np.array([[4e-4, -3e-4]])
    found = near_double_roots.towards_roots(arm, beside, np.array([2]))
    assert np.abs(found - DOUBLE_ROOT).max() < 1e-13
    assert near_double_roots.gaps(arm, found[:, None], np.array([2]))[0, 0] < 1e-13


@pytest.mark.parametrize("part", near_double_roots.PARTS)
def test_cells_lie_as_near_as_is_said_and_in_their_ranges(one_root, part):
    own = near_double_roots.PARTS[part]
    cloud = near_double_roots.drawn(part, 400, 10, np.random.default_rng(0))
    cells = cloud.case.parameters
    assert all(x.size == 1200 for x in cells.values())
    angles = np.stack([cells["link2.joint_angle"], cells["link3.joint_angle"]])[:, :400]
    away = np.abs(angles.T - DOUBLE_ROOT).max(axis=1)
    assert np.all(away <= cloud.distance + 1e-15)
    assert cloud.distance[cloud.distance > 0.0].min() < 1e-11
    assert cloud.distance.max() > 1e-2
    for address in own.values:
        assert np.all(cells[address] >= 0.0)
    if own.payload == own.largest:
        assert cells["payload.mass"].max() == cells["payload.mass"][0:400].max()
    if "link2.joint_stiffness" in own.values:
        assert np.isinf(cells["link2.joint_stiffness"][:400]).any()


@pytest.mark.slow
def test_a_wrong_mode_is_found_if_it_is_asked_for(one_root):
    cloud = near_double_roots.drawn("least payload", 150, 3, np.random.default_rng(1))
    result, left = near_double_roots.solved(cloud.case)
    certified = np.asarray(result.certified)
    assert certified[~left].all()
    assert not certified[left].all()
    found = near_double_roots.checked(cloud, "least payload")
    assert found["certified_and_wrong"] == found["beyond_bound"] == 0
    assert found["by_the_series"] == np.sum(~left)
    cell = int(np.flatnonzero(~left)[0])
    moved = np.array(result.omega)
    moved[cell, 2] *= 1.0 + 1e-9
    bracket = np.array(result.bracket)
    bracket[cell, 2] *= 1.0 + 1e-9
    wrong = dataclasses.replace(result, omega=moved, bracket=bracket)
    which = np.zeros(moved.shape, bool)
    which[cell, :2] = True
    assert check_result(cloud.case, wrong, "", which).certified_and_wrong == 0
    which[cell, 2] = True
    assert check_result(cloud.case, wrong, "", which).certified_and_wrong == 1
