"""Postures of arms in space with a given frequency, their maps and series: all found, and held beside counts."""

import itertools
import json

import numpy as np
import pytest
from click.testing import CliRunner

import jaxmodal as jm
from jaxmodal.cli.commands import main
from jaxmodal.plots.resonance_maps import plot_resonance_map
from jaxmodal.postures import trigonometric_zeros
from jaxmodal.postures.resonance_lines import refined
from tests.spatial.cases import bar, bent_arm, standing_arm, tube
from tests.spatial.random_arms import random_arm

SIX = jm.examples.six_axis_industrial()
BAND = (2 * np.pi * 14.0, 2 * np.pi * 20.0)


def turned(arm, joint, angle):
    return arm.with_values({f"link{joint}.joint_angle": float(angle)})


def check(arm, omega, joint, theory="timoshenko"):
    """Each angle that is found has the frequency as the mode that is said; how many there are."""
    found = jm.postures_at(arm, omega, joint, theory=theory)
    assert np.array_equal(found.found, found.certified)
    for asked, angles, modes in zip(omega, found.angle, found.mode, strict=True):
        for angle, mode in zip(np.asarray(angles), np.asarray(modes), strict=True):
            if np.isfinite(angle):
                beside = asked * np.array([1.0 - 1e-11, 1.0 + 1e-11])
                below, above = np.asarray(
                    jm.count_below(turned(arm, joint, angle), beside, theory=theory)
                )
                assert below + 1 == mode <= above
    return found


def own_angle_is_found(arm, found, joint):
    own = float(arm.links[joint - 1].joint_angle)
    away = np.abs((np.asarray(found.angle) - own + np.pi) % (2.0 * np.pi) - np.pi)
    return np.all(np.nanmin(away, axis=1) < 1e-6)


@pytest.mark.parametrize(
    ("arm", "joint"),
    [(SIX, 3), (bent_arm(), 2), (bent_arm(), 3), (standing_arm(), 1), (standing_arm(), 2)],
)
def test_the_posture_that_a_frequency_comes_from_is_found(arm, joint):
    omega = np.asarray(jm.natural_frequencies(arm, 3).omega)
    assert own_angle_is_found(arm, check(arm, omega, joint), joint)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_random_arms_and_all_theories(seed):
    """Free joints, sliding ones, springs, rotors, offsets, rigid links; a joint that changes nothing has no angle."""
    document, theory = random_arm(seed, 4)
    arm = jm.arm_from_dict(document)
    omega = np.asarray(jm.natural_frequencies(arm, 5, theory=theory).omega)
    omega = omega[omega > 0.0][:3]
    for joint in arm.joints[1:]:
        if not arm.slides(joint):
            assert own_angle_is_found(arm, check(arm, omega, joint, theory), joint)


def test_all_angles_are_found():
    """As many as the count of modes changes along a fine scan of the joint."""
    omega, scan = 2 * np.pi * 17.0, np.linspace(-np.pi, np.pi, 361)
    swept = jm.natural_frequencies_batch(SIX, {"link3.joint_angle": scan}, 8)
    counts = np.sum(np.asarray(swept.omega) < omega, axis=1)
    assert counts.max() < 8
    found = jm.postures_at(SIX, omega, 3)
    angles = np.asarray(found.angle)[np.asarray(found.found)]
    crossed = np.array([np.sum((angles > a) & (angles < b)) for a, b in itertools.pairwise(scan)])
    np.testing.assert_array_equal(crossed, np.abs(np.diff(counts)))
    assert angles.size == 2


def test_angles_of_a_planar_arm_are_among_those_in_space():
    link = jm.Link(0.5, 7e10, 2700.0, jm.rectangle(0.03, 0.02, "cowper"), poisson_ratio=0.33)
    planar = jm.Arm((link, link.replace(tip_mass=0.7), link)).with_posture([1.0, -0.7])
    omega = float(jm.natural_frequencies(planar, 2).omega[1])
    flat = jm.postures_at(planar, omega, 2)
    space = check(jm.to_spatial(planar), [omega], 2)
    assert np.asarray(flat.found).sum() == 4
    for angle in np.asarray(flat.angle)[np.asarray(flat.found)]:
        assert np.nanmin(np.abs(np.asarray(space.angle) - angle)) < 1e-9


def test_a_posture_of_positions_and_angles_is_taken_as_by_with_posture():
    slide = tube(
        prismatic=True, rigid=True, length=0.2, section=None, youngs_modulus=None,
        density=None, poisson_ratio=None, body=jm.RigidBody(1.0, None, (0.01, 0.01, 0.01)),
    )  # fmt: skip
    arm = jm.SpatialArm((tube(), slide, bar(joint_axis=(0, 1, 0)), bar(joint_axis=(1, 1, 0))))
    posture = [0.1, 0.4, -0.8]
    omega = jm.natural_frequencies(arm.with_posture(posture), 2).omega
    one, many = (jm.postures_at(arm, float(omega[1]), 4, p) for p in (posture, [posture] * 2))
    assert np.nanmin(abs(np.asarray(one.angle) + 0.8)) < 1e-6
    assert many.angle.shape == (2, 8)
    with pytest.raises(
        ValueError, match=r"joint = 2; expected the number of a link out of \[3, 4\]"
    ):
        jm.postures_at(arm, float(omega[1]), 2)
    chart = jm.resonance_free(
        arm, 0.9 * float(omega[1]), float(omega[1]), 3, across=2, values=(0, 0.1), points=2
    )
    assert chart.across == "link2.base_offset.x"
    assert chart.certified


def test_modes_in_a_band_are_those_that_are_counted():
    found = jm.resonance_free(SIX, *BAND, joint=2, across=3, points=3)
    assert found.certified
    assert found.border.shape == (3, 16)
    angles = np.linspace(-3.0, 3.0, 5)
    inside = found.on_grid(angles)
    for row, other in enumerate(np.asarray(found.across_angle)):
        for column, angle in enumerate(angles):
            arm = turned(turned(SIX, 3, other), 2, angle)
            low, high = np.asarray(jm.count_below(arm, np.array(BAND)))
            assert inside[row, column] == high - low
    axes = plot_resonance_map(found).axes[0]
    assert axes.get_xlabel() == "angle of joint 2 [°]"


@pytest.mark.slow
def test_further_rows_of_a_map_are_solved_as_the_others():
    """A border turns back between the two: an ellipse ends near 76 degrees of joint 3."""
    band = 2 * np.pi * 15.0, 2 * np.pi * 16.0
    found = jm.resonance_free(SIX, *band, points=2, values=(1.2, 1.4), limits=(0.0, 1.5))
    more = refined(SIX, found)
    assert more.certified
    assert more.border.shape[0] > 2


def test_a_map_of_a_joint_and_a_payload():
    found = jm.resonance_free(
        SIX, *BAND, joint=3, across="payload.mass", values=(0.0, 20.0), points=2
    )
    border, mode = np.asarray(found.border), np.asarray(found.border_mode)
    assert found.certified
    for row, mass in enumerate((0.0, 20.0)):
        arm = jm.set_parameters(SIX, {"payload.mass": mass})
        for k in np.flatnonzero(np.isfinite(border[row])):
            omega = BAND[int(found.end[row, k])]
            there = jm.natural_frequencies(turned(arm, 3, border[row, k]), int(mode[row, k])).omega
            assert abs(float(there[-1]) / omega - 1.0) < 1e-11
    assert np.isfinite(border).sum() > 3
    with pytest.raises(ValueError, match=r"payload\.mass = -1"):
        jm.resonance_free(SIX, *BAND, across="payload.mass", values=(-1.0, 1.0))


def test_a_series_in_space_vanishes_where_the_determinant_does():
    """And has its sign, that of the count, elsewhere."""
    arm = bent_arm()
    omega = np.asarray(jm.natural_frequencies(arm, 4).omega)
    series = jm.posture_series(arm, 1.02 * omega[-1], omega_min=0.9 * omega[0])
    assert series.joints == (2, 3)
    own = [[float(link.joint_angle) for link in arm.links[1:]]]
    values = series.evaluate(omega, own)
    size = np.asarray(series.size).max()
    assert np.all(np.abs(values.value) < 1e-13 * size + 10.0 * values.error[:, None])
    rng = np.random.default_rng(0)
    postures = rng.uniform(-np.pi, np.pi, (12, 2))
    between = rng.uniform(omega[0], omega[-1], 5)
    found = series.evaluate(between, postures)
    for column, posture in enumerate(postures):
        counts = np.asarray(jm.count_below(arm.with_posture(posture.tolist()), between))
        value = np.asarray(found.value)[:, column]
        sure = np.abs(value) > np.asarray(found.error)
        assert sure.sum() > 3
        np.testing.assert_array_equal(value[sure] > 0.0, counts[sure] % 2 == 0)
    assert "2, any values" in str(series)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {},
            "the series of 5 joints that vary has 59049 terms; expected at most 5000",
        ),
        ({"joints": [1]}, "joints = \\[1\\]: 1 is none that turns"),
        ({"joints": [2, 2]}, "different ones"),
        ({"joints": [2], "omega_min": 200.0}, "0 < omega_min < omega_max"),
    ],
)
def test_bad_series_are_refused(changes, words):
    with pytest.raises(ValueError, match=words):
        jm.posture_series(SIX, 100.0, **changes)


def test_what_has_no_series_and_no_joint_says_so():
    with pytest.raises(jm.ArmError, match="free joint"):
        jm.posture_series(jm.SpatialArm((tube(), tube(joint_stiffness=0.0))), 100.0)
    with pytest.raises(
        ValueError, match="3 is none that turns and changes a frequency; expected some of 2"
    ):
        jm.posture_series(jm.examples.two_link_flexible(), 10.0, joints=[3])
    with pytest.raises(ValueError, match="joint = 1; expected the number of a link from 2 to 6"):
        jm.postures_at(SIX, 100.0, 1)
    with pytest.raises(ValueError, match="an arm of one link has no joint"):
        jm.postures_at(jm.SpatialArm((tube(),)), 100.0)
    with pytest.raises(ValueError, match=r"postures has shape \(2,\); expected \(5,\) or \(N, 5\)"):
        jm.postures_at(SIX, 100.0, 2, [0.0, 0.0])


def test_zeros_of_random_polynomials_of_degree_four():
    rng = np.random.default_rng(6)
    polynomials = rng.normal(size=(60, 9)) * 10.0 ** rng.uniform(-3.0, 0.0, (60, 9))
    polynomials[:20, 7:] = 0.0
    samples = np.linspace(-np.pi, np.pi, 100_001)
    terms = [np.ones_like(samples)]
    terms += [f(k * samples) for k in range(1, 5) for f in (np.cos, np.sin)]
    negative = polynomials @ np.stack(terms) < 0.0
    found, crossing = trigonometric_zeros.zeros(polynomials, even=False)
    for own, angles, which in zip(negative, found, crossing, strict=True):
        expected = samples[:-1][own[:-1] != own[1:]]
        angles = np.sort(trigonometric_zeros.wrapped(angles[which]))
        assert angles.size == expected.size
        assert np.all((angles >= expected - 1e-9) & (angles <= expected + 1e-4))


def test_the_commands():
    run, six = CliRunner().invoke, "example:six_axis_industrial"
    done = run(main, ["postures", six, "--frequency", "20", "--joint", "3", "--format", "json"])
    assert done.exit_code == 0, done.output
    rows = json.loads(done.stdout)
    expected = jm.postures_at(SIX, 2 * np.pi * 20.0, 3)
    angles = np.degrees(np.asarray(expected.angle)[np.asarray(expected.found)])
    np.testing.assert_allclose([row["angle_deg"] for row in rows], angles, rtol=1e-14, atol=0.0)
    done = run(main, ["resonance-map", six, "--band-hz", "14,20", "--points", "3"])
    assert done.exit_code == 0, done.output
    assert "all certified" in done.stdout
