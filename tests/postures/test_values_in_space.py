"""Masses, inertias and springs beside postures in space: is the determinant the polynomial that the series says?"""

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.postures import places, series_search, value_nodes
from jaxmodal.postures.fewer_terms import measured
from jaxmodal.postures.series import tabulate
from jaxmodal.postures.value_ranges import Ranges, within
from jaxmodal.runtime.statuses import Status
from tests.spatial.cases import bent_arm, standing_arm
from tests.support.series_cells import ALIKE, CELLS, SIX, angles, check, drawn, solved

#: a base whose directions are coupled with no other
ON_SPRINGS = bent_arm().replace(base_stiffness=[3e6, 2e6, 5e6, 4e4, 6e4, 3e4])

#: arm, address, range, and the degree of D
VALUES = {
    "payload's mass": (bent_arm(), "payload.mass", (0.5, 10.0), 3),
    "hub's mass": (bent_arm(), "link2.hub.mass", (0.1, 20.0), 3),
    "stator's mass": (bent_arm(), "link2.stator.mass", (0.1, 20.0), 3),
    "body's mass": (bent_arm(), "link1.body.mass", (0.1, 20.0), 3),
    "moment": (bent_arm(), "payload.inertia.yy", (0.01, 0.5), 1),
    "moment of a hub": (bent_arm(), "link2.hub.inertia.xx", (0.01, 0.5), 1),
    "product": (bent_arm(), "payload.inertia.xy", (-0.3, 0.3), 2),
    "rotor": (bent_arm(), "link2.rotor_inertia", (1e-4, 1e-2), 1),
    "gear": (bent_arm(), "link2.gear_ratio", (-60.0, 40.0), 2),
    "about the joint": (bent_arm(), "link2.joint_stiffness", (1e3, np.inf), 1),
    "across the joint": (bent_arm(), "link2.joint_spring1.stiffness", (1e5, 1e8), 1),
    "about an axis across": (bent_arm(), "link2.joint_spring2.stiffness", (1e3, 1e7), 1),
    "a joint that was rigid": (bent_arm(), "link3.joint_stiffness", (1e3, 1e7), 1),
    "a base that shifts": (ON_SPRINGS, "base_stiffness.k22", (1e4, 1e8), 1),
    "a base that turns": (ON_SPRINGS, "base_stiffness.k55", (1e3, 1e9), 1),
    "on an elastic base": (standing_arm(), "link1.joint_stiffness", (1e3, 1e7), 1),
}


def expansion_of(arm, addresses, values, degree=None):
    asked = places.varied(arm, addresses)
    if degree is not None:
        asked = asked._replace(quantities=(asked.quantities[0]._replace(degree=degree),))
    return places.expansion_of(arm, asked, values, "timoshenko")


@pytest.mark.parametrize("name", VALUES)
def test_the_degree_is_right_and_no_lower_one_is(name):
    arm, address, ends, degree = VALUES[name]
    addresses, values = ["link2.joint_angle", address], np.array([ends])
    expansion = expansion_of(arm, addresses, values)
    assert expansion.terms.powers == (degree,)
    x = np.sqrt(expansion.scale)
    series = tabulate(expansion, 0.9 * x, 1.1 * x, "timoshenko", 1)
    assert measured(series, None, expansion) is not None
    # of degree 2 the places of a mass are those of other values, which are fewer by one all the same. What is left
    # over has resonances in omega where D has none; between two close frequencies one panel holds it
    lower = expansion_of(arm, addresses, values, degree - 1)
    assert measured(tabulate(lower, x, 1.001 * x, "timoshenko", 1), None, lower) is None


@pytest.mark.slow
def test_payloads_and_joint_springs_of_all_sizes():
    """1e-6 to 1e6 times the payload's mass, 1e-6 to 1e12 times the joint's stiffness, rigid and free joints."""
    sizes = drawn(1, mass=(-5.0, 7.0), spring=(0.0, 18.0))
    cells = angles(3) | {"payload.mass": sizes["mass"], "link2.joint_stiffness": sizes["spring"]}
    cells["link2.joint_stiffness"][:3] = [np.inf, 0.0, -1.0]
    left = []
    found = solved(SIX, cells, left)
    assert {1, 2} <= set(left)
    assert len(left) < 8
    assert found.omega[1, 0] == 0.0
    status = np.asarray(found.status[:, 0])
    assert np.flatnonzero(status == int(Status.invalid_input)).tolist() == [2]
    assert np.mean(np.asarray(found.by_sign_changes)) > 0.9
    check(SIX, cells, found, (0, 1, 5, 60))


def test_tensors_that_no_body_has_are_left_to_the_general_path():
    rng = np.random.default_rng(2)
    cells = angles(2) | {
        "payload.inertia.xx": rng.uniform(0.12, 0.3, CELLS),
        "payload.inertia.yz": rng.uniform(-0.05, 0.05, CELLS),
    }
    # more than the sum of the two others, 0.16 each, and less than their difference
    cells["payload.inertia.xx"][:2] = [0.33, -0.01]
    left = []
    found = solved(SIX, cells, left)
    assert {0, 1} <= set(left)
    assert len(left) < 6
    status = np.asarray(found.status[:, 0])
    assert np.flatnonzero(status == int(Status.invalid_input)).tolist() == [0, 1]
    check(SIX, cells, found, (2, 60))


@pytest.mark.slow
@pytest.mark.parametrize("beyond", [(2, 3), (), (5,)])
def test_values_of_any_link_beside_any_joints(beyond):
    """Of links before, at and beyond the last joint that turns, and of no joint at all."""
    sizes = drawn(3, body=(-1.0, 1.5), spring=(4.0, 7.0), rotor=(-4.0, -2.0), payload=(0.0, 1.5))
    cells = angles(*beyond) | {
        "link4.body.mass": sizes["body"],
        "link3.joint_stiffness": sizes["spring"],
        "link4.joint_spring1.stiffness": sizes["spring"][::-1].copy(),
        "link2.rotor_inertia": sizes["rotor"],
    }
    found = solved(SIX, cells)
    assert np.mean(np.asarray(found.by_sign_changes)) > 0.9
    check(SIX, cells, found, (0, 60))


@pytest.mark.slow
def test_gears_of_either_sign_beside_the_inertias_of_their_rotors():
    rng, sizes = np.random.default_rng(6), drawn(6, rotor=(-5.0, -3.0), gear=(0.0, 2.5))
    cells = angles(3) | {
        "link2.gear_ratio": rng.uniform(-120.0, 120.0, CELLS),
        "link2.rotor_inertia": sizes["rotor"],
        "link4.gear_ratio": sizes["gear"],
    }
    found = solved(SIX, cells)
    assert np.mean(np.asarray(found.by_sign_changes)) > 0.9
    check(SIX, cells, found, (0, 60))


def test_the_gear_of_a_held_motor_changes_nothing():
    links = list(SIX.links)
    links[1] = links[1].replace(motor="held")
    (quantity,) = places.varied(SIX.replace(links=tuple(links)), ["link2.gear_ratio"]).quantities
    assert quantity.degree == 0


@pytest.mark.slow
def test_the_springs_of_a_base_beside_the_first_angle():
    sizes = drawn(5, along=(4.0, 9.0), turning=(3.0, 7.0), joint=(3.0, 6.0))
    cells = angles(1) | {
        "base_stiffness.k11": sizes["along"],
        "base_stiffness.k55": sizes["turning"],
        "link1.joint_stiffness": sizes["joint"],
    }
    cells["base_stiffness.k11"][0] = np.inf  # which no base in space is
    left = []
    found = solved(ON_SPRINGS, cells, left)
    assert 0 in left
    assert len(left) < 6
    assert int(found.status[0, 0]) == int(Status.invalid_input)
    check(ON_SPRINGS, cells, found, (1, 60))


@pytest.mark.slow
def test_programs_find_what_numpy_finds(monkeypatch):
    sizes = drawn(4, mass=(0.0, 1.5), spring=(4.0, 7.0))
    cells = angles(2, 3) | {"payload.mass": sizes["mass"], "link5.joint_stiffness": sizes["spring"]}
    by_numpy = solved(SIX, cells)
    monkeypatch.setattr(series_search, "HOST_POSTURES", 0)
    by_programs = solved(SIX, cells)
    np.testing.assert_array_equal(by_programs.count_above, by_numpy.count_above)
    np.testing.assert_allclose(by_programs.omega, by_numpy.omega, rtol=ALIKE, atol=0.0)
    check(SIX, cells, by_programs, (0, 60))


def test_which_batches_take_the_series():
    def pays(*addresses, arm=SIX, cells=10**6):
        return places.pays(arm, addresses, cells)

    angle = "link2.joint_angle"
    assert pays(angle, "payload.mass", "link2.joint_stiffness")
    assert not pays(angle, "payload.mass", "link2.joint_stiffness", cells=2000)
    assert pays("payload.mass", "link2.joint_stiffness"), "no angle at all"
    free = jm.set_parameters(SIX, {"link3.joint_stiffness": 0.0})
    assert pays(angle, "link3.joint_stiffness", arm=free), "in the cells it is not free"
    assert not pays(angle, "payload.mass", arm=free)
    for other in ("payload.centre.x", "link1.length", "link3.joint_axis.x"):
        assert not pays(angle, other)
    assert pays(angle, "base_stiffness.k44", arm=ON_SPRINGS)
    assert not pays(angle, "base_stiffness.k44", arm=standing_arm()), "coupled with others"


POSSIBLE = {
    "payload.mass": [(1.0, True), (0.0, False), (-1.0, False), (np.inf, False), (np.nan, False)],
    "link2.joint_stiffness": [(1e4, True), (np.inf, True), (0.0, False), (-1.0, False)],
    "base_stiffness.k22": [(1e6, True), (np.inf, False), (0.0, False)],
    "payload.inertia.xy": [(0.01, True), (-0.01, True), (0.0, True), (1e3, False), (np.inf, False)],
}


@pytest.mark.parametrize("address", POSSIBLE)
def test_ranges_span_what_an_arm_in_space_may_have(address):
    """No body without mass, no base that is rigid in a direction, no tensor that no body has."""
    arm = ON_SPRINGS.replace(payload=jm.RigidBody(5.0, inertia=(0.2, 0.2, 0.2)))
    values, possible = np.array(POSSIBLE[address]).T
    addresses = ["link2.joint_angle", address]
    given = np.stack([np.zeros(values.size), values])
    asked = places.varied(arm, addresses)
    found = places.possible_places(asked, arm, addresses, given)
    assert found[1].tolist() == values[possible == 1.0].tolist()


def test_shares_of_wide_ranges_keep_the_digits_of_every_decade():
    """A polynomial whose terms, each the largest in some decades, differ by 24 powers of ten over the range."""
    low, high = 1e-6, 1e6
    coefficients = np.array([[1.0, -2.0], [3.0, 1.0], [-1e2, 2e2], [1.0, 5.0]])
    shares = value_nodes.wide_shares(low, high, 1.0)
    x = low + (high - low) * shares
    found = value_nodes.fitted(np.vander(x, 4, increasing=True) @ coefficients, shares, 3)
    at = 10.0 ** np.linspace(-6.0, 6.0, 97)
    t = ((at - low) / (high - low))[:, None]
    values = sum(
        number * t**k * (1.0 - t) ** (3 - k) * found[k] for k, number in enumerate((1, 3, 3, 1))
    )
    powers = np.vander(at, 4, increasing=True)
    size = powers @ np.abs(coefficients)
    np.testing.assert_allclose(values / size, powers @ coefficients / size, rtol=0.0, atol=1e-13)


def test_ranges_may_lie_on_both_sides_of_zero():
    (quantity,) = places.varied(SIX, ["payload.inertia.xy"]).quantities
    ranges = Ranges.of(np.array([[-0.2, 0.1]]), [quantity], [1.0])
    assert (ranges.near[0], ranges.signed) == (0.0, (True,))
    assert ranges.far[0] < -0.2
    assert ranges.least[0] * ranges.far[0] > 0.1
    inside = within(ranges, np.array([[-0.2, 0.0, 0.1, -0.3, 0.2, np.nan]]))
    assert inside.tolist() == [True, True, True, False, False, False]
    assert np.isfinite(ranges.drawn(np.random.default_rng(0), 8)).all()
    below = Ranges.of(np.array([[-0.2, -0.1]]), [quantity], [1.0])
    assert within(below, np.array([[-0.2, -0.1, 0.0]])).tolist() == [True, True, False]
