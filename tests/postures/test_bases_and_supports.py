"""Planar arms on elastic bases and supports in the posture series: degrees, mirror images, values, and refusals."""

import dataclasses
import math

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.arm.parameters import set_parameters
from jaxmodal.dynamic_stiffness.beams import theory_flags
from jaxmodal.postures import kinds, places, series_search
from jaxmodal.postures.expansions import PlanarExpansion
from jaxmodal.postures.polynomial_values import varying
from jaxmodal.postures.series import confirmed, tabulate
from jaxmodal.postures.terms import Terms

#: the series and the search for one arm, each good to about 1e-13
ALIKE = 1e-12
THREE = jm.examples.three_link_industrial()
TWO = dataclasses.replace(THREE, links=THREE.links[:2])
MODES = 6
ANGLES = ("link1.joint_angle", "link2.joint_angle")


def on_springs(arm):
    """Directions coupled with no other, and none alike."""
    return arm.replace(base_stiffness=[3e6, 2e6, 5e4])


def leaning(arm, tip, **supports):
    links = list(arm.links)
    links[tip - 1] = links[tip - 1].replace(
        **{f"support_{name}_stiffness": k for name, k in supports.items()}
    )
    return arm.replace(links=tuple(links))


@pytest.fixture
def small_batches(monkeypatch):
    """Batches take the series however few their cells."""
    monkeypatch.setattr(kinds, "_CELLS_PER_TERM", 1)


BENT = THREE.with_posture([0.7, -0.9])
#: arms and the degree of D in the angles of joints 1 to 3
DEGREES = {
    "a base": (on_springs(BENT), (2, 2, 2)),
    "x at the last tip": (leaning(BENT, 3, x=1e6), (2, 4, 4)),
    "y at the last tip": (leaning(BENT, 3, y=1e6), (2, 4, 4)),
    "x and y": (leaning(BENT, 3, x=1e6, y=3e6), (2, 4, 4)),
    "a rigid one": (leaning(BENT, 3, x=1e6, y=math.inf), (2, 4, 4)),
    "x and a turn": (leaning(BENT, 3, x=1e6, torsional=1e5), (2, 4, 4)),
    "at the elbow": (leaning(BENT, 2, x=1e6), (2, 4, 2)),
    "at the first tip": (leaning(BENT, 1, y=1e6), (2, 2, 2)),
    "at two tips": (leaning(leaning(BENT, 1, x=1e6), 3, y=1e6), (4, 4, 4)),
    "at three tips": (leaning(leaning(leaning(BENT, 1, x=1e6), 2, y=1e6), 3, x=1e6), (6, 6, 4)),
    "and a base": (on_springs(leaning(BENT, 2, x=1e6)), (4, 4, 2)),
    "none": (leaning(BENT, 3, x=0.0, y=0.0), (0, 2, 2)),
    "a turn alone": (leaning(BENT, 3, torsional=1e5), (0, 2, 2)),
}


@pytest.mark.parametrize("name", DEGREES)
def test_what_bases_and_supports_add_to_the_degree(name):
    """With one degree less something would be missing, with one more nothing is there."""
    arm, degrees = DEGREES[name]
    points, omega = 33, np.full(33, 2 * np.pi * 40.0)
    for joint, expected in enumerate(degrees):
        beams = varying(arm, (joint,), (), "timoshenko")
        assert beams.terms.degree == expected
        expansion = PlanarExpansion(beams, theory_flags("timoshenko"))
        d = expansion.determinant(omega, 2 * np.pi * np.arange(points)[None] / points)
        values = d.factor * np.exp((d.growth - d.growth[0]) + (d.rest - d.rest[0]))
        found = np.abs(np.fft.rfft(values)) / points
        assert found[expected] > 1e-8 * found.max()
        assert found[expected + 1 :].max() < 1e-14 * found.max()


#: values and where they lie
VALUES = {
    "base_stiffness.k11": (on_springs(TWO), (1e4, math.inf)),
    "base_stiffness.k22": (on_springs(TWO), (1e4, 1e8)),
    "base_stiffness.k33": (on_springs(TWO), (1e3, 1e7)),
    "link2.support_x_stiffness": (leaning(TWO, 2, x=1e5), (0.0, 1e6)),
    "link1.support_y_stiffness": (leaning(TWO, 1, y=1e5), (1e3, 1e9)),
    "link2.support_torsional_stiffness": (leaning(TWO, 2, torsional=1e5), (0.0, 1e6)),
}


def expansion_of(arm, addresses, values):
    return places.expansion_of(arm, places.varied(arm, addresses), values, "timoshenko")


@pytest.mark.parametrize("address", VALUES)
def test_the_degree_in_a_value_is_one(address):
    arm, ends = VALUES[address]
    expansion = expansion_of(arm, ["link2.joint_angle", address], np.array([ends]))
    assert expansion.terms.powers == (1,)
    assert confirmed(tabulate(expansion, 6.0, 12.0, "timoshenko", 2), expansion) is not None
    terms = dataclasses.replace(expansion.terms, powers=(0,))
    lower = dataclasses.replace(expansion, arm=dataclasses.replace(expansion.arm, terms=terms))
    assert confirmed(tabulate(lower, 6.0, 12.0, "timoshenko", 2), lower) is None


@pytest.mark.parametrize(
    ("arm", "joints", "mirrored", "number"),
    [
        (on_springs(TWO), (0, 1), True, 13),
        (on_springs(TWO), (1,), True, 3),
        (on_springs(TWO.with_posture([0.4, 0.0])), (1,), False, 5),
        (TWO.replace(base_stiffness=[[3e6, 0, 4e5], [0, 2e6, 0], [4e5, 0, 5e5]]), (1,), False, 5),
        (TWO.replace(base_stiffness=[[3e6, 0, 0], [0, 2e6, 4e5], [0, 4e5, 5e5]]), (1,), True, 3),
        (leaning(TWO, 2, y=1e5), (1,), True, 5),
        (leaning(TWO, 2, y=1e5), (0, 1), True, 41),
        (leaning(TWO.with_posture([0.4, 0.0]), 2, y=1e5), (1,), False, 9),
    ],
)
def test_mirror_images_halve_the_terms_where_all_that_leans_is_its_own(
    arm, joints, mirrored, number
):
    beams = varying(arm, joints, (), "timoshenko")
    assert beams.terms.mirrored == mirrored
    assert beams.terms.number(len(joints)) == number
    expansion = PlanarExpansion(beams, theory_flags("timoshenko"))
    assert confirmed(tabulate(expansion, 6.0, 12.0, "timoshenko"), expansion) is not None
    if not mirrored:  # all of them are needed
        terms = dataclasses.replace(beams.terms, mirrored=True)
        lower = PlanarExpansion(dataclasses.replace(beams, terms=terms), expansion.flags)
        assert confirmed(tabulate(lower, 6.0, 12.0, "timoshenko"), lower) is None


def over_decades(rng, ends, number):
    """Both ends first."""
    return np.concatenate([ends[:2], 10.0 ** rng.uniform(*ends[2:], number - 2)])


#: an arm, and its values with two first ones and the decades of the others
BATCHES = {
    "a base": (on_springs(TWO), {"base_stiffness.k33": (1e12, math.inf, 1.0, 11.0)}),
    "a base and a mass": (
        on_springs(TWO.with_posture([0.4, 0.0])),
        {"base_stiffness.k11": (1e3, 1e12, 3.0, 12.0), "payload.mass": (0.0, 1.0, -3.0, 4.0)},
    ),
    "a support": (leaning(TWO, 2, y=1e5), {"link2.support_y_stiffness": (0.0, 1e12, 0.0, 12.0)}),
    "a rigid one": (
        leaning(TWO, 2, y=1e5, x=math.inf),
        {"link2.support_y_stiffness": (0.0, 1e9, 0.0, 9.0)},
    ),
    "all of them": (
        on_springs(leaning(leaning(TWO, 1, x=1e5), 2, torsional=1e3)),
        {
            "link2.support_torsional_stiffness": (0.0, 1e9, 0.0, 9.0),
            "base_stiffness.k22": (1e3, 1e12, 3.0, 12.0),
            "link1.joint_stiffness": (1e3, math.inf, 3.0, 9.0),
        },
    ),
}


@pytest.mark.parametrize(
    "name",
    [
        "a base",
        pytest.param("a base and a mass", marks=pytest.mark.slow),
        "a support",
        pytest.param("a rigid one", marks=pytest.mark.slow),
        pytest.param("all of them", marks=pytest.mark.slow),
    ],
)
def test_batches_have_the_frequencies_of_single_arms(name, small_batches):
    """In postures of both joints, over decades: those beside them in double-double, and within their brackets."""
    arm, values = BATCHES[name]
    rng, number = np.random.default_rng(6), 800
    cells = {address: rng.uniform(-np.pi, np.pi, number) for address in ANGLES}
    if name != "a support":
        del cells[ANGLES[0]]
    cells |= {address: over_decades(rng, ends, number) for address, ends in values.items()}
    assert places.why_not(arm, list(cells), number) == ""
    found = jm.natural_frequencies_batch(arm, cells, MODES)
    assert bool(found.certified.all())
    proven = np.asarray(found.by_sign_changes)
    assert proven.mean() > 0.95
    hard = np.flatnonzero(~proven.all(axis=1))[:3]
    for i in (0, 1, *hard, 2, 3, number // 2):
        one = set_parameters(arm, {address: float(x[i]) for address, x in cells.items()})
        omega = jm.natural_frequencies(one, MODES).omega
        np.testing.assert_allclose(found.omega[i], omega, rtol=ALIKE, atol=0.0)
        assert np.all((found.bracket[i, :, 0] < omega) & (omega < found.bracket[i, :, 1]))


@pytest.mark.slow
def test_the_first_pass_on_a_device_turns_arms_against_bases_and_supports():
    addresses = [*ANGLES, "link1.support_x_stiffness"]
    arm, rng = on_springs(leaning(TWO, 1, x=1e5)), np.random.default_rng(6)
    values = np.concatenate([rng.uniform(-np.pi, np.pi, (2, 256)), rng.uniform(0, 1e7, (1, 256))])
    tables = series_search.prepare(arm, addresses, values, MODES, "timoshenko", 256)
    found, left = series_search.block_on_device(tables, arm, addresses)(values)
    solved = np.flatnonzero(~np.asarray(left))
    assert solved.size > 200
    for i in solved[:2]:
        one = set_parameters(arm, dict(zip(addresses, map(float, values[:, i]), strict=True)))
        omega = jm.natural_frequencies(one, MODES).omega
        np.testing.assert_allclose(found["omega"][i], omega, rtol=ALIKE, atol=0.0)


def test_a_series_of_an_arm_that_leans_has_the_angle_of_joint_1():
    turned = leaning(TWO, 2, y=1e5).with_posture([0.3, -1.1])
    omega = jm.natural_frequencies(turned, 3).omega
    series = jm.posture_series(turned, float(1.1 * omega[2]), omega_min=float(0.9 * omega[1]))
    assert series.joints == (1, 2)
    assert series.taylor.shape[2] == 41
    for each in omega[1:]:
        ends = each * np.array([1 - 1e-11, 1 + 1e-11])
        values = series.evaluate(ends, [[0.3, -1.1]])
        assert values.value[0, 0] * values.value[1, 0] < 0.0
    with pytest.raises(ValueError, match="1 is none that turns"):
        jm.posture_series(TWO, 100.0, joints=[1])


@pytest.mark.parametrize(
    ("kind", "stiffness"), [("torsional", 1e5), ("x", 0.0)], ids=["a turn alone", "none"]
)
def test_joint_1_has_no_terms_where_it_turns_no_frequency(kind, stiffness, small_batches):
    """Against a spring about the tip, or one of no stiffness: a payload beside it varies all the same."""
    arm, rng = leaning(TWO, 2, **{kind: stiffness}), np.random.default_rng(7)
    cells = {ANGLES[0]: rng.uniform(-np.pi, np.pi, 64), "payload.mass": rng.uniform(0.0, 20.0, 64)}
    found = jm.natural_frequencies_batch(arm, cells, MODES)
    assert bool(found.certified.all())
    assert float(np.mean(np.asarray(found.by_sign_changes))) > 0.9
    for i in (0, 1):
        one = set_parameters(arm, {address: float(x[i]) for address, x in cells.items()})
        omega = jm.natural_frequencies(one, MODES).omega
        np.testing.assert_allclose(found.omega[i], omega, rtol=ALIKE, atol=0.0)
    omega = float(jm.natural_frequencies(arm, 1).omega[0])
    series = jm.posture_series(arm, 1.1 * omega, omega_min=0.9 * omega, joints=[1])
    values = series.evaluate([omega * (1 - 1e-11), omega * (1 + 1e-11)], [[0.4]]).value
    assert values[0, 0] * values[1, 0] < 0.0
    assert Terms(0, mirrored=True, powers=(2, 2, 2, 2)).largest(81) == 1.0


def test_what_has_no_series():
    many, coupled = 10**9, [[3e6, 0, 0], [0, 2e6, 9e4], [0, 9e4, 5e4]]
    free = TWO.replace(base_stiffness=[0.0, 2e6, 5e4])
    assert "free in a direction" in places.why_not(free, ["theta_2"], many)
    with pytest.raises(jm.ArmError, match="free in a direction"):
        jm.posture_series(free, 100.0)
    arm = TWO.replace(base_stiffness=coupled)
    assert places.why_not(arm, ["theta_2", "base_stiffness.k11"], many) == ""
    for one in ("base_stiffness.k22", "base_stiffness.k33"):  # each with the other
        why = places.why_not(arm, ["theta_2", one], many)
        assert why == f"the determinant is no polynomial of few terms in {one}"
    # where the direction that is free varies
    assert places.why_not(free, ["theta_2", "base_stiffness.k11"], many) == ""
