"""Postures and maps of arms in space that lean on the ground: the degree that this costs, and all angles."""

import itertools
import math

import numpy as np
import pytest

import jaxmodal as jm
from tests.support.turned_determinants import count_below, parts

BEAM = jm.SpatialLink(*(0.5, 7e10, 2700.0, jm.rectangle(0.03, 0.02, "cowper")), poisson_ratio=0.33)
ALONG = [jm.Support("translation", d, 1e6) for d in ((1, 2, 3), (2, -1, 1))]
ABOUT = [jm.Support("rotation", d, 1e4) for d in ((1, 2, 3), (2, -1, 1))]
BAND = (2 * np.pi * 25.0, 2 * np.pi * 45.0)


def leaning(tip, *supports):
    """Three links about skew axes, on supports at the tip of one of them."""
    links = [
        BEAM,
        BEAM.replace(joint_axis=(0.3, 1.0, 0.2), joint_angle=0.7),
        BEAM.replace(joint_axis=(1.0, 0.2, 0.5), joint_angle=-0.9),
    ]
    links[tip - 1] = links[tip - 1].replace(supports=supports)
    return jm.SpatialArm(tuple(links), jm.RigidBody(1.0))


@pytest.mark.parametrize(
    ("supports", "more"),
    [
        (ALONG[:1], 2),
        (ALONG, 2),
        (ABOUT, 2),
        ([*ALONG[:1], *ABOUT[1:]], 4),
        ([ALONG[0].replace(stiffness=math.inf), *ALONG[1:]], 2),
        ([ALONG[0].replace(stiffness=0.0)], 0),
    ],
    ids=["one", "two", "two about", "both kinds", "a rigid one", "none"],
)
def test_what_a_support_adds_to_the_degree(supports, more):
    """With one degree less something would be missing, with one more nothing is there."""
    for tip, joint, expected in ((2, 2, 4 + more), (3, 2, 4 + more), (3, 3, 4 + more), (2, 3, 4)):
        degree, found = parts(leaning(tip, *supports), joint)
        assert degree == expected
        assert found[degree] > 1e-8
        assert found[degree + 1 :].max() < 1e-14


@pytest.mark.parametrize(
    "joint", [pytest.param(1, marks=pytest.mark.slow), 2, pytest.param(3, marks=pytest.mark.slow)]
)
def test_all_angles_are_found(joint):
    """As often as the count of modes, of one arm after the other, changes along a scan of the joint."""
    arm, omega = leaning(3, *ALONG[:1], *ABOUT[1:]), 2 * np.pi * 40.0
    scan = np.linspace(-np.pi, np.pi, 121)
    counts = [
        count_below(arm.with_values({f"link{joint}.joint_angle": float(x)}), omega) for x in scan
    ]
    found = jm.postures_at(arm, omega, joint)
    assert found.angle.shape == (16,)
    assert np.array_equal(found.found, found.certified)
    angles = np.asarray(found.angle)[np.asarray(found.found)]
    crossed = [np.sum((angles > a) & (angles < b)) for a, b in itertools.pairwise(scan)]
    np.testing.assert_array_equal(crossed, np.abs(np.diff(counts)))
    assert angles.size > 0


def test_a_map_over_the_stiffness_of_a_support():
    """Its borders are frequencies of the arm, and modes between them are those that are counted."""
    arm = leaning(3, *ALONG)
    found = jm.resonance_free(
        arm, *BAND, joint=2, across="link3.support2.stiffness", values=(1e4, 1e6), points=2
    )
    assert found.certified
    assert found.border.shape == (2, 24)
    border, mode = np.asarray(found.border), np.asarray(found.border_mode)
    for row, stiffness in enumerate((1e4, 1e6)):
        here = arm.with_values({"link3.support2.stiffness": stiffness})
        for k in np.flatnonzero(np.isfinite(border[row])):
            there = here.with_values({"link2.joint_angle": float(border[row, k])})
            omega = jm.natural_frequencies(there, int(mode[row, k])).omega[-1]
            np.testing.assert_allclose(omega, BAND[int(found.end[row, k])], rtol=1e-10, atol=0.0)
        for column, angle in enumerate((-1.0, 2.0)):
            there = here.with_values({"link2.joint_angle": angle})
            low, high = (count_below(there, w) for w in BAND)
            assert np.asarray(found.on_grid(np.array([-1.0, 2.0])))[row, column] == high - low
    assert np.isfinite(border).sum() > 4


def test_a_map_over_a_support_that_the_arm_itself_has_none_of():
    """What is given at the start, a stiffness of 0, decides nothing of rows with others."""
    asked = {"joint": 2, "across": "link3.support1.stiffness", "values": (0.0, 1e6), "points": 2}
    maps = [
        jm.resonance_free(leaning(3, ALONG[0].replace(stiffness=own)), *BAND, **asked)
        for own in (0.0, 1e6)
    ]
    assert maps[0].certified
    np.testing.assert_allclose(maps[0].border, maps[1].border, rtol=0.0, atol=1e-12)


def test_forces_that_buckle_an_arm_without_its_support():
    """Half the way to what buckles it on the support, more than it bears without; its angle turns no frequency away."""
    rod = BEAM.replace(axial_force=-1.0)
    held = rod.replace(
        supports=[jm.Support("translation", d, math.inf) for d in ((0, 1, 0), (0, 0, 1))]
    )
    alone, pinned = (
        float(jm.buckling(jm.SpatialArm((link,)), 1).factors[0]) for link in (rod, held)
    )
    assert pinned > 4.0 * alone
    bent = BEAM.replace(joint_axis=(0.0, 1.0, 0.0), joint_angle=0.5)
    arm = jm.SpatialArm((held.replace(axial_force=-0.4 * pinned), bent))
    omega = float(jm.natural_frequencies(arm, 2).omega[1])
    found = jm.postures_at(arm, omega, 2)
    assert np.nanmin(np.abs(np.asarray(found.angle) - 0.5)) < 1e-6
    assert found.ok
    loose = arm.replace(links=(arm.links[0].replace(supports=()), bent))
    assert not jm.postures_at(loose, omega, 2).ok
