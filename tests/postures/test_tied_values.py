"""Tensors that grow as a whole, with their masses, and springs that are alike, beside postures in space."""

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.postures import places
from tests.spatial.cases import bent_arm
from tests.support.series_cells import (
    ALIKE,
    CELLS,
    MODES,
    SIX,
    angles,
    check,
    check_degree,
    drawn,
    solved,
)

TENSOR = {"xx": 0.05, "yy": 0.06, "zz": 0.04, "xy": 0.004, "yz": -0.003, "xz": 0.002}
GROWS = np.array([1.0, 1.7, 8.0])


def grown(factor, *components, body="payload", mass=None, start=0.0):
    """Columns of some components of the tensor of a body, and of its mass, that are lines in a factor."""
    cells = {f"{body}.inertia.{c}": start * TENSOR[c] + factor * TENSOR[c] for c in components}
    return cells if mass is None else {f"{body}.mass": factor * mass} | cells


def soft(*joints):
    """The bent arm with springs about some of its joints."""
    return jm.set_parameters(bent_arm(), {f"link{j}.joint_stiffness": 1e4 for j in joints})


#: columns that are one value, of a bent arm, and the degree of D
TIES = {
    "tensor": (grown(GROWS, *TENSOR), 3),
    "moments": (grown(GROWS, "xx", "yy", "zz", start=1.0), 3),
    "two moments": (grown(GROWS, "xx", "zz"), 2),
    "about one axis with another": (grown(GROWS, "xx", "xy"), 2),
    "tensor and mass": (grown(GROWS, *TENSOR, mass=3.0), 6),
    "tensor and mass of a body": (grown(GROWS, *TENSOR, mass=0.5, body="link1.body"), 6),
    "mass and a moment": (grown(GROWS, "yy", mass=3.0, start=2.0), 4),
    "springs": ({"link*.joint_stiffness": np.array([1e3, 1e4, 1e7])}, 3),
}


@pytest.mark.parametrize("name", TIES)
def test_the_degree_is_right_and_no_lower_one_is(name):
    """With one power less something would be missing, with one more nothing is there."""
    cells, degree = TIES[name]
    addresses, values = ["link2.joint_angle", *cells], np.stack([GROWS, *cells.values()])
    asked = places.varied(soft(1, 2, 3), addresses, values)
    assert [q.degree for q in asked.quantities] == [degree]
    expansion = places.expansion_of(soft(1, 2, 3), asked, values[list(asked.rows)], "timoshenko")
    check_degree(expansion, degree)


@pytest.mark.slow
@pytest.mark.parametrize("decades", [(-0.5, 0.5), (-4.0, 3.0)], ids=["usual", "wide"])
def test_bodies_of_all_sizes(decades):
    """Mass and tensor in proportion, which are 7 terms in place of 864."""
    sizes = drawn(7, size=decades)["size"]
    cells = angles(3) | grown(sizes, *TENSOR, mass=3.0)
    left = []
    found = solved(SIX, cells, left)
    assert len(left) < CELLS // 20
    assert np.mean(np.asarray(found.by_sign_changes)) > 0.9
    check(SIX, cells, found, (0, 1, 5, 60))


@pytest.mark.slow
def test_springs_that_are_alike():
    stiffness = drawn(8, spring=(4.0, 9.0))["spring"]
    stiffness[0] = np.inf
    cells = angles(2) | {"link*.joint_stiffness": stiffness}
    found = solved(SIX, cells)
    assert np.mean(np.asarray(found.by_sign_changes)) > 0.9
    for i in (0, 1, 60):
        own = jm.set_parameters(SIX, {a: float(x[i]) for a, x in cells.items()})
        truth = jm.natural_frequencies(own, MODES).omega
        np.testing.assert_allclose(found.omega[i], truth, rtol=ALIKE, atol=0.0)


def test_cells_that_leave_the_line_go_the_general_way():
    rng = np.random.default_rng(9)
    cells = angles(2) | grown(rng.uniform(0.5, 2.0, CELLS), "xx", "yy", "zz")
    addresses, values = tuple(cells), np.stack(list(cells.values()))
    asked = places.varied(SIX, addresses, values)
    assert [q.degree for q in asked.quantities] == [3]
    values[2, 4] *= 1.0 + 1e-12
    at, _ = places.placed(asked, SIX, addresses, values)
    assert np.flatnonzero(~places.as_in_the_table(asked, SIX, values, at)).tolist() == [4]


def test_what_is_no_line_stays_what_it_is():
    rng = np.random.default_rng(10)
    factor, mass = rng.uniform(0.5, 2.0, (2, 50))
    cells = {"payload.mass": mass} | grown(factor, "xx", "yy", "xy")
    asked = places.varied(SIX, tuple(cells), np.stack(list(cells.values())))
    assert [(q.address, q.degree) for q in asked.quantities] == [
        ("payload.mass", 3),
        ("payload.inertia.xx", 2),
    ]
    assert [q.address for q in places.varied(SIX, tuple(cells)).quantities] == list(cells)
    for own in (mass[:1], np.full(50, np.nan), np.full(50, 2.0)):
        one = {"payload.mass": own, "payload.inertia.xx": own}
        assert len(places.varied(SIX, tuple(one), np.stack(list(one.values()))).quantities) == 2


def test_which_batches_pay():
    factor = np.linspace(0.5, 2.0, 40)
    cells = {"link2.joint_angle": factor} | grown(factor**2, *TENSOR, mass=5.0)
    addresses, values = tuple(cells), np.stack(list(cells.values()))
    assert places.pays(SIX, addresses, 3_000, values)
    assert "do not pay for a table" in places.why_not(SIX, addresses, 3_000)
    assert places.pays(SIX, ["link*.joint_stiffness"], 3_000)
    assert not places.pays(SIX, ["link*.gear_ratio"], 10**6)
