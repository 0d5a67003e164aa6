"""Do fits find the values that measurements were made with, tell how well, and what cannot be told?"""

import dataclasses

import numpy as np
import pytest
from scipy.stats import binom

import jaxmodal as jm
from jaxmodal.identification import MeasuredModes, fit_arm, next_posture
from jaxmodal.identification.uncertainty import far_out
from tests.identification.cases import STIFFNESSES, THEORY, exact_hertz, seen, two_links, wrist

START = dict(zip(STIFFNESSES, (3.2e3, 1.0e3), strict=True))
TRUE = np.array([2.5e3, 1.3e3])


def test_frequencies_in_two_postures_give_the_values_they_were_made_with():
    measured = [seen(two_links, 2, 1e-3, theta_2=angle) for angle in (0.3, 1.6)]
    found = fit_arm(two_links(), measured, STIFFNESSES, theory=THEORY, start=START)
    assert found.status.usable
    assert found.certified
    np.testing.assert_allclose(found.values, TRUE, rtol=1e-6)
    fitted = [float(jm.get_parameter(found.arm, name)) for name in STIFFNESSES]
    np.testing.assert_array_equal(fitted, found.values)
    assert [pair.how for pair in found.pairs] == ["order"] * 4
    assert not found.undetermined
    assert found.to_xarray()["value"].sel(parameter=STIFFNESSES[1]) == found.values[1]
    labels = [each.get_text() for each in found.plot()[0].get_xticklabels()]
    assert labels == [f"mode {pair.number}, {pair.where}" for pair in found.pairs]
    assert len(set(labels)) == 4


def test_standard_errors_are_those_of_independent_differences():
    """The covariance is the inverse of the information, with derivatives by differences of frequencies."""
    measured = [seen(two_links, 2, 1e-3, theta_2=angle) for angle in (0.3, 1.6)]
    found = fit_arm(two_links(), measured, STIFFNESSES, theory=THEORY, start=START)
    step, rows = 1e-4, []
    for each in measured:
        posed = jm.set_parameters(two_links(), each.settings)
        columns = []
        for name, value in zip(STIFFNESSES, TRUE, strict=True):
            ends = [
                np.asarray(
                    jm.natural_frequencies(
                        jm.set_parameters(posed, {name: value * np.exp(sign * step)}),
                        2,
                        theory=THEORY,
                    ).frequencies_hz
                )
                for sign in (1.0, -1.0)
            ]
            columns.append((ends[0] - ends[1]) / (2.0 * step) / each.standard_deviations_hz)
        rows.append(np.stack(columns, axis=1))
    information = np.concatenate(rows)
    covariance = np.linalg.inv(information.T @ information)
    np.testing.assert_allclose(found.covariance, covariance, rtol=1e-5)
    np.testing.assert_allclose(
        found.standard_errors, TRUE * np.sqrt(np.diag(covariance)), rtol=1e-5
    )
    width = 1.959964 * np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(found.high, TRUE * np.exp(width), rtol=1e-6)
    np.testing.assert_allclose(found.low, TRUE * np.exp(-width), rtol=1e-6)


def test_a_first_frequency_alone_leaves_a_combination_open_and_the_next_posture_closes_it():
    one = seen(two_links, 1, 1e-3, theta_2=0.3)
    found = fit_arm(two_links(), one, STIFFNESSES, theory=THEORY, start=START)
    assert np.all(np.isinf(found.standard_errors))
    (words,) = found.undetermined
    assert "cannot tell apart" in words
    assert all(name in words for name in STIFFNESSES)
    proposed = next_posture(found, {"theta_2": (-2.8, 2.8)}, count=8)
    assert (proposed.open_before, proposed.left_open[0]) == (1, 0)
    angle = proposed.best["theta_2"]
    again = seen(two_links, 1, 1e-3, theta_2=angle)
    better = fit_arm(two_links(), [one, again], STIFFNESSES, theory=THEORY, start=START)
    assert not better.undetermined
    assert np.all(np.abs(better.values - TRUE) < 0.01 * better.standard_errors)
    assert np.all(better.standard_errors < 0.5 * TRUE)
    assert "left open" in str(proposed)


@pytest.mark.slow
def test_a_straight_wrist_hides_one_of_two_springs_about_one_axis():
    """In series springs of one axis are one; the straight posture knows their sum, a bent one tells them apart."""
    names = ["roll.joint_stiffness", "flange.joint_stiffness"]
    start = dict(zip(names, (2.6e3, 2.5e3), strict=True))
    straight = seen(wrist, 3, 1e-3, theory="timoshenko", pitch=0.0)
    found = fit_arm(wrist(), straight, names, start=start)
    assert found.status.usable
    (words,) = found.undetermined
    assert words.startswith("the data cannot tell apart roll.joint_stiffness and flange.joint_sti")
    compliance = 1.0 / found.values
    # between the two lies a body of 1e-3 of the inertia beyond
    np.testing.assert_allclose(compliance.sum(), 1.0 / 2.4e3 + 1.0 / 2.6e3, rtol=5e-3)
    worst = found.directions[0] / found.directions[0][0]
    np.testing.assert_allclose(worst[1], -compliance[0] / compliance[1], rtol=5e-3)
    best = next_posture(found, {"pitch": (-2.0, 2.0)}, count=4)
    assert best.left_open[0] == 0
    angle = best.best["link3.joint_angle"]
    assert abs(angle) > 0.4
    both = [straight, seen(wrist, 3, 1e-3, theory="timoshenko", pitch=angle)]
    better = fit_arm(wrist(), both, names, start=start)
    assert not better.undetermined
    np.testing.assert_allclose(better.values, [2.4e3, 2.6e3], rtol=1e-4)


def test_missed_modes_are_named_by_numbers_and_without_them_the_pairs_are_told_to_be_wrong():
    hertz = exact_hertz(two_links, 3, THEORY, theta_2=0.3)
    lost = MeasuredModes(hertz[[0, 2]], 1e-3 * hertz[[0, 2]], settings={"theta_2": 0.3})
    options = {"theory": THEORY, "start": START, "bounds": {STIFFNESSES[1]: (500.0, 5e3)}}
    wrong = fit_arm(two_links(), lost, STIFFNESSES, **options)
    assert [pair.number for pair in wrong.pairs] == [1, 2]
    assert "mode 3 is nearer" in wrong.pairs[1].doubt
    assert any("may be wrong" in remark for remark in wrong.remarks)
    numbered = dataclasses.replace(lost, numbers=[1, 3])
    right = fit_arm(two_links(), numbered, STIFFNESSES[:1], theory=THEORY, start={})
    assert [(pair.number, pair.how) for pair in right.pairs] == [(1, "number"), (3, "number")]
    assert not any(pair.doubt for pair in right.pairs)


@pytest.mark.parametrize("arm", ["plane", "space"])
def test_shapes_pair_modes_whatever_their_order(arm):
    """Measured shapes, of any size and sign, in an order that is not that of the frequencies."""
    planar = jm.set_parameters(two_links(), {"theta_2": 0.9})
    links = tuple(link.replace(poisson_ratio=0.3) for link in planar.links)
    stood = planar if arm == "plane" else jm.to_spatial(planar.replace(links=links))
    places = {
        "plane": ["tip_1.across", "tip.across", "tip.along", "link_2@0.5.across"],
        "space": ["tip_1.link_y", "tip.link_y", "tip.z", "tip.link_x", "link_1@0.5.z"],
    }[arm]
    exact = jm.modal_superposition(stood, "tip_1.x", places, 4, theory=THEORY)
    order, sizes = [2, 0, 3], np.array([[-3.0], [0.2], [40.0]])
    shapes = np.asarray(exact.read)[order] * sizes
    hertz = np.asarray(exact.omega)[order] / (2.0 * np.pi)
    measured = MeasuredModes(hertz, 1e-3 * hertz, shapes=shapes, places=places)
    found = fit_arm(stood, measured, ["payload.mass"], theory=THEORY, start={"payload.mass": 0.8})
    assert [pair.number for pair in found.pairs] == [3, 1, 4]
    assert [pair.how for pair in found.pairs] == ["shape"] * 3
    np.testing.assert_allclose([pair.assurance for pair in found.pairs], 1.0, rtol=1e-8)
    np.testing.assert_allclose(found.values, [0.6], rtol=1e-6)
    assert "MAC" in str(found)


def test_an_outlier_is_told_and_a_robust_loss_spares_it():
    measured = seen(two_links, 5, 1e-3, theta_2=1.6)
    bad = measured.frequencies_hz * np.array([1.0, 1.03, 1.0, 1.0, 1.0])
    measured = dataclasses.replace(measured, frequencies_hz=bad)
    options = {"theory": THEORY, "start": {STIFFNESSES[0]: 3e3}}
    plain = fit_arm(two_links(), measured, STIFFNESSES[:1], **options)
    robust = fit_arm(two_links(), measured, STIFFNESSES[:1], loss="cauchy", **options)
    assert [k for k, pair in enumerate(robust.pairs) if pair.far_out] == [1]
    assert plain.pairs[1].far_out
    assert any("times the standard deviations given" in remark for remark in plain.remarks)
    assert plain.values[0] > 1.005 * TRUE[0]
    np.testing.assert_allclose(robust.values, TRUE[:1], rtol=5e-4)


def test_what_rounding_leaves_of_exact_values_is_no_outlier():
    """Eleven residuals of 1e-14 and one of 1e-12 or 1e-6, beside values of about 1."""
    rng = np.random.default_rng(0)
    jacobian = rng.standard_normal((12, 2))
    for largest, told in ((1e-12, False), (1e-6, True)):
        residuals = 1e-14 * rng.standard_normal(12)
        residuals[4] = largest
        out = far_out(residuals, jacobian, known=False)
        assert out[4] == told
        assert not np.delete(out, 4).any()


def test_settings_in_degrees_are_warned_of():
    measured = MeasuredModes([5.0], 0.01, settings={"theta_2": 45.0})
    with pytest.warns(jm.ImplausibleWarning, match=r"settings\['theta_2'\] = 45.0: rad expected"):
        fit_arm(two_links(), measured, STIFFNESSES[:1], theory=THEORY)


def test_values_that_are_no_sizes_are_fitted_as_they_are():
    """A joint that stands 0.05 rad from where it is said to stand, found beside a stiffness."""
    offset = {"theta_2": 0.55}
    measured = seen(two_links, 3, 1e-3, **offset)
    named = MeasuredModes(measured.frequencies_hz, measured.standard_deviations_hz)
    stood = jm.set_parameters(two_links(), {"theta_2": 0.5})
    found = fit_arm(stood, named, ["theta_2", STIFFNESSES[1]], theory=THEORY)
    assert found.units == ("rad", "N m/rad")
    np.testing.assert_allclose(found.values, [0.55, 1.3e3], rtol=1e-6)


@pytest.mark.parametrize("start", [1e-3, 1e-9])
def test_a_start_near_zero_does_not_hold_a_place_there(start):
    """A load 5 cm aside, known to half a millimetre wherever the fit begins; its mirror image has the same modes."""
    name = "payload.centre.y"
    measured = seen(wrist, 4, 1e-3, theory="timoshenko")
    found = fit_arm(wrist(), measured, [name, "pitch.joint_stiffness"], start={name: start})
    assert found.status.usable
    assert not found.undetermined
    assert np.all(found.standard_errors < [1e-2, 200.0])
    away = np.abs(found.values - [0.05, 5e3])
    assert np.all(away < 0.02 * found.standard_errors)


def test_as_many_values_as_numbers_without_deviations_are_found_but_not_how_well():
    measured = seen(two_links, 2, 1e-3, known=False, theta_2=0.9)
    found = fit_arm(two_links(), measured, STIFFNESSES, theory=THEORY, start=START)
    np.testing.assert_allclose(found.values, TRUE, rtol=1e-4)
    assert np.all(np.isinf(found.standard_errors))
    assert not found.undetermined
    assert "residuals say nothing of the scatter" in str(found)


def test_one_value_of_all_links_and_bounds():
    measured = seen(two_links, 2, 1e-3, theta_2=0.3)
    found = fit_arm(
        two_links(),
        measured,
        ["link*.youngs_modulus"],
        theory=THEORY,
        start={"link*.youngs_modulus": 5e10},
        bounds={"link*.youngs_modulus": (4e10, 6.5e10)},
    )
    np.testing.assert_allclose(found.values, [6.5e10], rtol=1e-6)
    assert any("at its bound" in remark for remark in found.remarks)


def share_held(experiments, known, seed):
    """How many of the intervals of fits to noise hold the true values, and how many there are."""
    rng = np.random.default_rng(seed)
    inside = []
    for _ in range(experiments):
        measured = seen(two_links, 3, 2e-3, theta_2=0.3, rng=rng, known=known)
        found = fit_arm(two_links(), measured, STIFFNESSES, theory=THEORY, start=START)
        inside += [(found.low <= TRUE) & (found.high >= TRUE)]
    return np.sum(inside, axis=0)


@pytest.mark.slow
@pytest.mark.parametrize("known", [True, False], ids=["given", "found"])
def test_intervals_hold_as_often_as_they_say(known):
    """Of 14 experiments; 2,000 are in benchmarks/identification.py."""
    count = 14
    held = share_held(count, known, 5)
    low, high = binom.interval(0.999, count, 0.95)
    assert np.all((held >= low) & (held <= high)), held


def test_what_floats_is_paired_above_its_frequencies_of_zero():
    """A beam on soft suspension has no mode at 0 Hz to be measured: the first measured one bends."""
    beam = jm.Link(0.8, 7e10, 2700.0, jm.rectangle(depth=0.02, width=0.04))
    free = jm.Arm((beam,), base_stiffness=[0.0, 0.0, 0.0])
    hertz = np.asarray(jm.natural_frequencies(free, 6, theory=THEORY).frequencies_hz)
    assert np.sum(hertz == 0.0) == 3
    seen = MeasuredModes(hertz[3:] * 1.05, 0.01)
    found = fit_arm(free, seen, ["link1.youngs_modulus"], theory=THEORY)
    assert [pair.number for pair in found.pairs] == [4, 5, 6]
    np.testing.assert_allclose(found.values, [7e10 * 1.05**2], rtol=1e-6, atol=0.0)
