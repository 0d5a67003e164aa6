"""Tables over angles of arms in space that lean on the ground, and over the stiffness of what they lean on."""

import math

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.postures import places
from jaxmodal.postures.expansion_in_space import ExpansionInSpace
from jaxmodal.postures.fewer_terms import measured
from jaxmodal.postures.series import tabulate
from jaxmodal.postures.terms import Terms
from tests.spatial.cases import bent_arm, standing_arm
from tests.support.series_cells import CELLS, SIX, angles, check, check_degree, drawn, solved

ALONG = jm.Support("translation", (1, 2, 3), 1e6)
BESIDE = jm.Support("translation", (2, -1, 1), math.inf)
ABOUT = jm.Support("rotation", (1, 2, 0), 1e4)


def leaning(arm, supports):
    """The arm with supports at some tips, by the number of the link."""
    links = [
        link.replace(supports=supports.get(number, ()))
        for number, link in enumerate(arm.links, start=1)
    ]
    return arm.replace(links=tuple(links))


class OneDegreeLess(ExpansionInSpace):
    @property
    def terms(self):
        own = super().terms
        return Terms(own.degree - 1, mirrored=False, powers=own.powers)


LEANING = {
    "one": (bent_arm(), {3: (ALONG,)}, 6),
    "rigid": (bent_arm(), {3: (ALONG, BESIDE)}, 6),
    "both kinds": (bent_arm(), {3: (ALONG, ABOUT)}, 8),
    "at two tips": (bent_arm(), {2: (ABOUT,), 3: (ALONG, ABOUT)}, 10),
    "on an elastic base": (standing_arm(), {3: (ALONG,)}, 6),
}


@pytest.mark.parametrize("name", LEANING)
def test_the_degree_is_right_and_no_lower_one_is(name):
    """Held-back values in double-double are those of the table, and of one with a degree less are not."""
    arm, supports, degree = LEANING[name]
    arm = leaning(arm, supports)
    for kind, holds in ((ExpansionInSpace, True), (OneDegreeLess, False)):
        expansion = kind(arm, (1,), "timoshenko")
        assert expansion.terms.degree == degree - (not holds)
        x = np.sqrt(expansion.scale)
        series = tabulate(expansion, 0.9 * x, 1.1 * x, "timoshenko", 1)
        assert (measured(series, None, expansion) is not None) is holds


def test_joints_beyond_the_tip_keep_their_degree():
    arm = leaning(SIX, {3: (ALONG,)})
    for joint, terms in ((3, 13), (4, 9), (1, 13)):
        asked = places.varied(arm, [f"link{joint}.joint_angle"])
        assert places.terms_of(arm, asked) == terms


@pytest.mark.parametrize("own", [0.0, 1e6])
def test_the_stiffness_of_a_support_has_degree_one(own):
    """Whatever the arm itself has there, also beside another support and another of the same tip."""
    arm = leaning(bent_arm(), {2: (ABOUT,), 3: (ALONG.replace(stiffness=own), BESIDE)})
    address = "link3.support1.stiffness"
    asked = places.varied(arm, ["link2.joint_angle", address])
    expansion = places.expansion_of(arm, asked, np.array([[0.0, 1e7]]), "timoshenko")
    assert expansion.terms.degree == 8
    check_degree(expansion, 1)


@pytest.mark.parametrize(
    ("supports", "joints"),
    [
        ({6: (ALONG,)}, (1, 3)),
        pytest.param({6: (ALONG, BESIDE, ABOUT)}, (2,), marks=pytest.mark.slow),
        pytest.param({3: (ABOUT,), 6: (ALONG,)}, (5,), marks=pytest.mark.slow),
    ],
    ids=["first joint", "rigid and about", "two tips"],
)
def test_postures_have_the_frequencies_of_single_arms(supports, joints):
    arm, cells, left = leaning(SIX, supports), angles(*joints), []
    found = solved(arm, cells, left)
    assert len(left) < CELLS // 20
    assert np.mean(np.asarray(found.by_sign_changes)) > 0.95
    assert np.asarray(found.certified).all()
    check(arm, cells, found, (0, 60))


@pytest.mark.slow
def test_supports_of_all_sizes_beside_a_payload_and_a_spring():
    arm = leaning(SIX, {6: (ALONG.replace(stiffness=0.0), ABOUT)})
    sizes = drawn(11, support=(0.0, 10.0), mass=(0.0, 2.0), spring=(4.0, 8.0))
    cells = angles(3) | {
        "link6.support1.stiffness": sizes["support"],
        "payload.mass": sizes["mass"],
        "link2.joint_stiffness": sizes["spring"],
    }
    cells["link6.support1.stiffness"][:3] = [0.0, np.inf, -1.0]
    left = []
    found = solved(arm, cells, left)
    assert {1, 2} <= set(left)
    assert len(left) < CELLS // 10
    assert np.mean(np.asarray(found.by_sign_changes)) > 0.9
    assert np.flatnonzero(~np.asarray(found.certified).all(axis=1)).tolist() == [2]
    check(arm, cells, found, (0, 1, 5, 60))


def test_a_series_of_an_arm_on_supports_changes_sign_where_the_count_does():
    arm = leaning(bent_arm(), {3: (ALONG, ABOUT)})
    omega = 2 * np.pi * np.array([20.0, 60.0, 90.0])
    series = jm.posture_series(arm, 2 * np.pi * 100.0, omega_min=2 * np.pi * 10.0, joints=[1, 3])
    turns = np.random.default_rng(12).uniform(-np.pi, np.pi, (2, 6))
    values = series.evaluate(omega, turns.T)
    assert series.taylor.shape[2] == 17**2
    for k, posture in enumerate(turns.T):
        there = arm.with_values({"link1.joint_angle": posture[0], "link3.joint_angle": posture[1]})
        counts = np.asarray(jm.count_below(there, omega))
        np.testing.assert_array_equal(np.asarray(values.value)[:, k] > 0.0, counts % 2 == 0)


COUNTED = {name: leaning(arm, supports) for name, (arm, supports, _) in LEANING.items()} | {
    "soft": leaning(bent_arm(), {3: (ALONG.replace(stiffness=1e-3),)}),
    "hard": leaning(bent_arm(), {2: (ABOUT.replace(stiffness=1e12),), 3: (BESIDE,)}),
}


@pytest.mark.parametrize("name", COUNTED)
def test_counts_in_float64_are_those_of_double_double_or_are_not_believed(name):
    """Anywhere all are believed; as near to a mode as rounding, double-double counts, or nothing does."""
    arm, rng = COUNTED[name], np.random.default_rng(5)
    expansion, turns = ExpansionInSpace(arm, (1,), "timoshenko"), rng.uniform(-3.0, 3.0, (1, 40))
    there = arm.with_values({"link2.joint_angle": turns[0, 0]})
    modes = np.asarray(jm.natural_frequencies(there, 6).omega)
    anywhere = rng.uniform(0.3 * modes[0], modes[-1], 5)
    count, clear = expansion.counter(anywhere).count(turns)
    truth = expansion.determinant(np.repeat(anywhere, 40), np.tile(turns, 5)).passed
    np.testing.assert_array_equal(count, truth.reshape(5, 40))
    assert (clear > 1.0).all()
    apart = np.array([0.0, 1e-15, -1e-15, 1e-14, 1e-12, -1e-12, 1e-10, 1e-6])
    near = (modes[:, None] * (1.0 + apart)).ravel()
    count, clear = expansion.counter(near).count(turns[:, :1])
    truth = expansion.determinant(near, np.repeat(turns[:, :1], near.size, axis=1)).passed
    believed = clear[:, 0] > 1.0
    np.testing.assert_array_equal(count[believed, 0], truth[believed])
    assert believed[np.tile(np.abs(apart) > 1e-13, modes.size)].all()
    float64 = expansion.counter(near).evaluated(near, turns[:, :1])
    sure = np.abs(float64.log_abs[0] - float64.log_abs[1])[:, 0] < 1e-4
    assert not sure[np.tile(np.abs(apart) < 1e-14, modes.size)].any()


def test_which_batches_pay():
    one = leaning(SIX, {6: (ALONG,)})

    def why(*addresses, cells, arm=one):
        return places.why_not(arm, [f"link{j}.joint_angle" for j in addresses], cells)

    assert why(2, cells=200) == ""
    assert "do not pay for a table of 169 terms, 500 do" in why(1, 2, cells=400)
    assert why(2, 3, 4, cells=1200) == ""
    held = leaning(SIX, {5: (ABOUT,), 6: (ALONG, ABOUT)})
    assert "9261 terms, more than a table has" in why(2, 3, 4, cells=10**7, arm=held)
    stiffness = ["link2.joint_angle", "link6.support1.stiffness"]
    assert places.pays(one, stiffness, 400)
