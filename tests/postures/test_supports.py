"""Postures and maps of planar arms that lean on the ground: the degree that this costs, and all angles."""

import itertools
import math

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.arm.bases import BaseStiffness
from tests.support.turned_determinants import count_below, parts

BEAM = jm.Link(0.5, 7e10, 2700.0, jm.rectangle(0.03, 0.02, "cowper"), poisson_ratio=0.33)
X, Y = {"support_x_stiffness": 1e6}, {"support_y_stiffness": 1e6}
TURN, HELD = {"support_torsional_stiffness": 1e4}, {"support_x_stiffness": math.inf}
BAND = (2 * np.pi * 25.0, 2 * np.pi * 45.0)


def leaning(tip, base=None, **supports):
    """Three links, on supports at the tip of one of them."""
    links = [BEAM.replace(joint_angle=angle) for angle in (0.4, 0.7, -0.9)]
    links[tip - 1] = links[tip - 1].replace(**supports)
    return jm.Arm(tuple(links), jm.Payload(1.0), base_stiffness=base)


@pytest.mark.parametrize(
    ("supports", "more"),
    [(X, 2), (X | TURN, 2), (TURN, 0), (X | Y, 0), (HELD, 2), (HELD | Y, 2)],
    ids=["x", "x and turn", "turn", "equal", "rigid", "rigid and y"],
)
def test_what_a_support_adds_to_the_degree(supports, more):
    """With one degree less something would be missing, with one more nothing is there."""
    places = [(2, 2, 2 + more), (3, 2, 2 + more), (3, 3, 2 + more), (2, 3, 2)]
    if more:  # else the first joint turns no frequency
        places.append((2, 1, more))
    for tip, joint, expected in places:
        degree, found = parts(leaning(tip, **supports), joint)
        assert degree == expected
        if joint > 1:
            assert found[degree] > 1e-8
        assert found[degree + 1 :].max() < 1e-14


def test_the_first_joint_turns_nothing_against_springs_that_are_alike():
    with pytest.raises(ValueError, match="a link from 2 to 3"):
        jm.postures_at(leaning(3, **X, **Y), 250.0, 1)


def crossings(arm, omega, joint):
    """How often the count of modes changes between neighbours of a scan of a joint, and all angles that are found."""
    scan = np.linspace(-np.pi, np.pi, 121)
    counts = [
        count_below(jm.set_parameters(arm, {f"link{joint}.joint_angle": float(x)}), omega)
        for x in scan
    ]
    found = jm.postures_at(arm, omega, joint)
    assert np.array_equal(found.found, found.certified)
    angles = np.asarray(found.angle)[np.asarray(found.found)]
    crossed = [np.sum((angles > a) & (angles < b)) for a, b in itertools.pairwise(scan)]
    return crossed, np.abs(np.diff(counts))


@pytest.mark.parametrize(
    "joint", [1, pytest.param(2, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.slow)]
)
def test_all_angles_are_found(joint):
    arm = leaning(3, **X, **TURN)
    omega = 1.001 * float(jm.natural_frequencies(arm, 2).omega[1])
    crossed, changes = crossings(arm, omega, joint)
    np.testing.assert_array_equal(crossed, changes)
    assert sum(crossed) > 0


@pytest.mark.parametrize(
    ("base", "angle", "offset", "omega", "count"),
    [
        (BaseStiffness(3e5, 1.7e4, 1250.0), -1.89, None, 79.75, 2),
        (None, 0.0, 0.1, 420.15437175457856, 4),
    ],
    ids=["base", "offset"],
)
def test_two_links_that_are_not_their_own_mirror_image(base, angle, offset, omega, count):
    """A base softer along y than along x, or an elbow beside the axis: the opposite angle is another arm."""
    arm = leaning(3, base)
    arm = arm.replace(links=(BEAM.replace(joint_angle=angle, end_offset_y=offset), BEAM))
    crossed, changes = crossings(arm, omega, 2)
    np.testing.assert_array_equal(crossed, changes)
    assert sum(crossed) == count


def test_postures_are_those_of_the_arm_in_space():
    """Frequencies in the plane that the arm in space has as well."""
    arm = leaning(2, **X, **TURN)
    omega = float(jm.natural_frequencies(arm, 1).omega[0])
    ours, theirs = (jm.postures_at(each, omega, 2) for each in (arm, jm.to_spatial(arm)))
    for angle in np.asarray(ours.angle)[np.asarray(ours.found)]:
        assert np.nanmin(np.abs(np.asarray(theirs.angle) - angle)) < 1e-9
    assert np.nanmin(np.abs(np.asarray(ours.angle) - 0.7)) < 1e-9


@pytest.mark.parametrize(
    ("arm", "address"),
    [
        (leaning(3, **X), "link3.support_x_stiffness"),
        (leaning(2, support_y_stiffness=0.0), "link2.support_y_stiffness"),
    ],
    ids=["there", "from none"],
)
def test_a_map_over_the_stiffness_of_a_support(arm, address):
    """Its borders are frequencies of the arm, and modes between them are those that are counted."""
    found = jm.resonance_free(arm, *BAND, joint=2, across=address, values=(1e4, 1e6), points=2)
    assert found.certified
    border, mode = np.asarray(found.border), np.asarray(found.border_mode)
    for row, stiffness in enumerate((1e4, 1e6)):
        here = jm.set_parameters(arm, {address: stiffness})
        for k in np.flatnonzero(np.isfinite(border[row])):
            there = jm.set_parameters(here, {"link2.joint_angle": float(border[row, k])})
            omega = jm.natural_frequencies(there, int(mode[row, k])).omega[-1]
            np.testing.assert_allclose(omega, BAND[int(found.end[row, k])], rtol=1e-10, atol=0.0)
        for column, angle in enumerate((-1.0, 2.0)):
            there = jm.set_parameters(here, {"link2.joint_angle": angle})
            low, high = (count_below(there, w) for w in BAND)
            assert np.asarray(found.on_grid(np.array([-1.0, 2.0])))[row, column] == high - low
    assert np.isfinite(border).sum() > 2
