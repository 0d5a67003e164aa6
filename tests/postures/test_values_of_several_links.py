"""One value of several links of a planar arm, beside postures and for a given frequency: is D the polynomial told?"""

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.postures import places
from tests.support.series_cells import check_degree, solved

THREE = jm.examples.three_link_industrial()
SOFT = jm.set_parameters(THREE, {"link*.joint_stiffness": 1e6})
GEARED = SOFT.replace(
    links=tuple(
        x.replace(rotor_inertia=0.5, gear_ratio=3.0, motor="beyond_spring") for x in SOFT.links
    )
)
SLIDING = THREE.replace(links=tuple(x.replace(joint_axial_stiffness=1e9) for x in THREE.links))
#: the series and the search for one arm, each good to about 1e-13
ALIKE = 1e-12
#: arm, address, some values, and the degree of D
TIES = {
    "springs": (SOFT, "link*.joint_stiffness", (1e4, 1e9), 3),
    "springs along": (SLIDING, "link*.joint_axial_stiffness", (1e7, 1e10), 3),
    "masses": (SOFT, "link*.tip_mass", (0.0, 300.0), 6),
    "inertias": (SOFT, "link*.tip_inertia", (0.0, 3.0), 3),
    "rotors": (GEARED, "link*.rotor_inertia", (0.1, 2.0), 3),
    "gears": (GEARED, "link*.gear_ratio", (-30.0, 40.0), 6),
}


@pytest.mark.parametrize("name", TIES)
def test_the_degree_is_right_and_no_lower_one_is(name):
    """With one power less something would be missing, with one more nothing is there."""
    arm, address, (low, high), degree = TIES[name]
    addresses, values = ["link2.joint_angle", address], np.array([[0.0, 1.0], [low, high]])
    asked = places.varied(arm, addresses, values)
    assert [q.degree for q in asked.quantities] == [degree]
    expansion = places.expansion_of(arm, asked, values[1:], "timoshenko")
    check_degree(expansion, degree)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "low", "high"), [("springs", 1e4, 1e9), ("masses", 0.0, 30.0), ("gears", -6.0, 8.0)]
)
def test_a_table_has_the_frequencies_of_each_cell(name, low, high):
    """Of 256 cells nearly all, against the search of one arm."""
    arm, address, _, _ = TIES[name]
    rng = np.random.default_rng(8)
    cells = {f"link{k}.joint_angle": rng.uniform(-np.pi, np.pi, 256) for k in (2, 3)}
    even = rng.uniform(0.0, 1.0, 256)
    cells[address] = low * (high / low) ** even if low > 0.0 else low + (high - low) * even
    left = []
    found = solved(arm, cells, left)
    assert len(left) < 25
    for i in np.setdiff1d(np.arange(256), left)[:3]:
        own = jm.set_parameters(arm, {a: float(x[i]) for a, x in cells.items()})
        omega = np.asarray(found.omega)[i]
        truth = jm.natural_frequencies(own, omega.size).omega
        np.testing.assert_allclose(omega, truth, rtol=ALIKE, atol=0.0)


@pytest.mark.parametrize(
    ("name", "value", "limits"),
    [
        ("springs", 3e5, None),
        ("masses", 7.0, None),
        ("gears", 2.5, (-10.0, 10.0)),
        ("gears", -2.5, (-1e4, 1e4)),
        ("gears", -40.0, (-1e4, -1.0)),
    ],
)
def test_the_value_that_a_frequency_came_from_is_found(name, value, limits):
    """With each value found the mode that is told has the frequency."""
    arm, address, _, _ = TIES[name]
    there = jm.set_parameters(arm, {address: value})
    omega = float(jm.natural_frequencies(there, 3).omega[-1])
    found = jm.postures_at(arm, omega, address, limits=limits)
    known = np.asarray(found.value)[np.asarray(found.certified)]
    assert np.min(np.abs(known / value - 1.0)) < 1e-9
    for x, number in zip(known, np.asarray(found.mode)[np.asarray(found.certified)], strict=True):
        again = jm.natural_frequencies(jm.set_parameters(arm, {address: float(x)}), int(number))
        assert abs(float(again.omega[-1]) / omega - 1.0) < 1e-11


@pytest.mark.parametrize(
    ("address", "limits", "others"),
    [
        ("link*.gear_ratio", (-100.0, 100.0), (-60.0, 0.3, 45.0)),
        ("link2.gear_ratio", (-100.0, 100.0), (-60.0, 0.3, 45.0)),
        ("link*.joint_stiffness", None, (1e3, 1e5, 1e8)),
        ("payload.inertia", None, (0.01, 3.0, 100.0)),
    ],
)
def test_a_mode_that_does_not_depend_on_the_value_has_a_status_of_its_own(address, limits, others):
    """The links of a straight arm stretch alike whatever its gears, springs and inertias; arms with others say so."""
    straight = GEARED.with_posture([0.0, 0.0])
    stretching = np.asarray(jm.natural_frequencies(straight, 10).omega)
    for value in others:
        there = jm.natural_frequencies(jm.set_parameters(straight, {address: value}), 12).omega
        apart = np.abs(np.asarray(there)[:, None] / stretching - 1.0).min(axis=0)
        stretching = stretching[apart < ALIKE]
    assert stretching.size == 1
    asked = np.array([stretching[0], 250.0])
    found = jm.postures_at(straight, asked, address, limits=limits)
    assert int(found.status[0, 0]) == jm.Status.every_value
    assert not found.ok
    assert not np.asarray(found.found)[0, 1:].any()
    own = jm.set_parameters(straight, {address: float(found.value[0, 0])})
    again = jm.natural_frequencies(own, int(found.mode[0, 0])).omega[-1]
    assert abs(float(again) / asked[0] - 1.0) < ALIKE
    assert np.asarray(found.certified)[1].any() or address == "payload.inertia"
    flags = found.to_xarray().status.attrs
    assert jm.Status.every_value in flags["flag_values"]


def test_gears_of_several_links_need_limits():
    with pytest.raises(ValueError, match="expected the least and the largest"):
        jm.postures_at(GEARED, 100.0, "link*.gear_ratio")


def test_values_whose_degrees_add_up_to_too_much_go_the_general_way():
    """Of five links the masses have degree 10."""
    arm = THREE.replace(links=(*THREE.links, *THREE.links[1:]))
    assert places.quantity_at(arm, "link*.tip_mass") is None
    assert places.quantity_at(arm, "link*.tip_inertia").degree == 5
    assert places.pays(SOFT, ["theta_2", "link*.joint_stiffness"], 10**6)
    with pytest.raises(ValueError, match=r"'link\*.tip_mass'.*degrees.*add up to 8 at the most"):
        jm.postures_at(arm, 100.0, "link*.tip_mass")
