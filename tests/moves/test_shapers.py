"""Do band shapers leave what Chebyshev's polynomials say; do S-curves and quintic splines keep their word?"""

import itertools

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal import dynamics
from jaxmodal.dynamics.drives.motions import checked_angles
from jaxmodal.dynamics.drives.piecewise import PiecewisePolynomial
from jaxmodal.moves.paths import knots_of, moved


def left_at(delays, weights, omega, ratio):
    """Amplitude after the last impulse, from the sum of impulse responses of a damped oscillator."""
    root = omega * np.sqrt(1.0 - ratio**2)
    since = delays.max() - delays
    swing = weights * np.exp(-ratio * omega * since)
    return np.hypot(np.sum(swing * np.cos(root * since)), np.sum(swing * np.sin(root * since)))


@pytest.mark.parametrize("impulses", [2, 3, 4, 5, 8])
def test_a_band_shaper_leaves_what_chebyshev_says(impulses):
    """1/cosh(n arccosh(1/d)) at both ends and at n - 1 frequencies between; never more."""
    low, high = 7.0, 11.0
    delays, weights = dynamics.band_shaper([(low, high)], impulses=impulses)
    edge = np.cos(0.5 * np.pi * low / 9.0)
    bound = 1.0 / np.cosh((impulses - 1) * np.arccosh(1.0 / edge))
    left = np.array([left_at(delays, weights, x, 0.0) for x in np.linspace(low, high, 2001)])
    np.testing.assert_allclose(left[[0, -1]], bound, rtol=1e-9, atol=0)
    assert left.max() <= bound * (1.0 + 1e-9)
    peaks = (left[1:-1] >= left[:-2]) & (left[1:-1] >= left[2:])
    assert np.sum(left[1:-1][peaks] > bound * (1.0 - 1e-3)) == impulses - 2
    assert weights.min() > 0.0
    np.testing.assert_allclose(weights.sum(), 1.0, rtol=1e-12, atol=0)


def test_other_weights_leave_more_somewhere_in_the_band():
    rng = np.random.default_rng(3)
    delays, weights = dynamics.band_shaper([(8.0, 12.0)], impulses=4)
    omega = np.linspace(8.0, 12.0, 201)
    best = dynamics.share_left(delays, weights, omega).max()
    for _ in range(50):
        other = weights + 0.02 * rng.standard_normal(4)
        assert dynamics.share_left(delays, other / other.sum(), omega).max() > best


def test_three_impulses_for_its_band_are_the_extra_insensitive_shaper():
    end = np.arccos(-0.85 / 1.05) / np.pi
    known = dynamics.shaper([2.0], kind="ei")
    made = dynamics.band_shaper([(2.0 * end, 2.0 * (2.0 - end))], left=0.05 * (1.0 + 1e-9))
    for one, two in zip(known, made, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (([], [], 1.0), "must be two rows of finite numbers"),
        (([0.0, np.nan], [0.5, 0.5], 1.0), "must be two rows of finite numbers"),
        (([0.0], [0.5, 0.5], 1.0), "must be two rows of finite numbers"),
        ((["a"], [1.0], 1.0), "delays = .*: must be times, s"),
        (([0.0], [1.0], [-1.0]), r"omega = \[-1.0\]: must be angular frequencies of 0 or more"),
        (([0.0], [1.0], 1.0, 1.0), "damping_ratio = 1.0: must be one number from 0 to below 1"),
        (([0.0], [1.0], 1.0, [0.1]), "must be one number from 0 to below 1"),
    ],
)
def test_shares_of_what_is_no_shaper_are_refused(values, words):
    with pytest.raises(jm.ArmError, match=words):
        dynamics.share_left(*values)


def test_values_that_no_shaper_has_are_refused():
    with pytest.raises(jm.ArmError, match=r"left = .*: must be a share"):
        dynamics.band_shaper([(8.0, 12.0)], left=[0.05])
    with pytest.raises(jm.ArmError, match="periods are too short"):
        dynamics.modal_s_curve([0.0], [1.0], [1e300], 1.0, 1.0)


@pytest.mark.parametrize("ratio", [0.02, 0.1])
def test_a_band_shaper_knows_damping(ratio):
    delays, weights = dynamics.band_shaper([(8.0, 12.0), (40.0, 45.0)], [ratio, 0.0], left=0.02)
    left = [left_at(delays, weights, omega, ratio) for omega in np.linspace(8.0, 12.0, 101)]
    assert max(left) <= 0.02 * (1.0 + 1e-3)
    shares = dynamics.share_left(delays, weights, np.linspace(8.0, 12.0, 101), ratio)
    np.testing.assert_allclose(shares, left, rtol=1e-10, atol=1e-15)


@pytest.mark.parametrize(
    ("bands", "options", "words"),
    [
        ([1.0, 2.0], {}, r"must be \(K, 2\)"),
        ([(2.0, 1.0)], {}, "the lower one first"),
        ([(1.0, 2.0)], {"left": 0.0}, "share above 0 and below 1"),
        ([(1.0, 2.0)], {"impulses": 1}, "from 2 to 24"),
        ([(1.0, 2.0)], {"impulses": [3, 3]}, "one for each band"),
        ([(1.0, 2.0)], {"damping_ratio": 1.0}, "below 1"),
        ([(0.01, 10.0)], {"left": 1e-6}, "narrower band"),
        ([(5.0, 15.0)] * 5, {"left": 0.01}, "4,096 impulses"),
    ],
)
def test_bands_that_are_none_are_refused(bands, options, words):
    with pytest.raises(jm.ArmError, match=words):
        dynamics.band_shaper(bands, **options)


def spectrum(move, omega):
    """The integral of the acceleration of joint 1 times exp(i omega t), piece by piece."""
    total = 0.0
    nodes, weights = np.polynomial.legendre.leggauss(40)
    knots = knots_of(move)
    for low, high in itertools.pairwise(knots):
        times = 0.5 * (low + high) + 0.5 * (high - low) * nodes
        total += (
            0.5
            * (high - low)
            * np.sum(weights * moved(move, times)[2][:, 0] * np.exp(1j * omega * times))
        )
    return abs(total)


@pytest.mark.parametrize(
    ("speed", "acceleration", "jerk"),
    [(1.0, 4.0, None), (0.2, 4.0, None), (9.0, 0.3, None), (50.0, 90.0, 10.0), (50.0, 90.0, None)],
)
def test_an_s_curve_on_modes_leaves_them_at_rest(speed, acceleration, jerk):
    """By moves held back by speed, acceleration, jerk, and by nothing, whose accelerations jump."""
    omega = np.array([9.0, 31.0])
    move = dynamics.modal_s_curve([0.2, 0.0], [1.2, -0.4], omega, speed, acceleration, jerk)
    for mode in (*omega, 2.0 * omega[0]):
        assert spectrum(move, mode) < 1e-10
    assert spectrum(move, 0.7 * omega[0]) > 1e-3
    times = np.linspace(0.0, move.breaks[-1], 4001)
    angles, rates, changes = moved(move, times)
    assert np.abs(rates).max() <= speed * (1.0 + 1e-9)
    assert np.abs(changes).max() <= acceleration * (1.0 + 1e-9)
    np.testing.assert_allclose(angles[-1], [1.2, -0.4], rtol=0, atol=1e-12)
    np.testing.assert_allclose(rates[[0, -1]], 0.0, rtol=0, atol=1e-12)
    top = np.abs(6.0 * np.asarray(move.coefficients)[:, 3]).max()
    assert top <= (np.inf if jerk is None else jerk * (1.0 + 1e-9))
    if speed == 50.0 and jerk is None:
        np.testing.assert_allclose(move.breaks[-1], np.sum(2.0 * np.pi / omega), rtol=1e-12, atol=0)
    else:  # within a step the acceleration changes by no more than its jerk allows
        assert np.abs(np.diff(changes, axis=0)).max() <= top * times[1] * (1.0 + 1e-9)
    with pytest.raises(jm.ArmError, match="one or two"):
        dynamics.modal_s_curve([0.0], [1.0], [1.0, 2.0, 3.0], 1.0, 1.0)


def test_quintic_splines_go_through_their_points_smoothly():
    """Two points make the polynomial of `RestToRest`; more, a spline without jumps up to the fourth derivative."""
    times = np.linspace(0.0, 1.5, 7)
    two = dynamics.quintic_spline([0.0, 1.5], [[0.2, 1.0], [1.2, 0.0]])
    known = dynamics.RestToRest(np.array([0.2, 1.0]), np.array([1.2, 0.0]), 1.5)
    for one, other in zip(moved(two, times), moved(known, times), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)
    points = np.array([[0.0], [0.7], [0.3], [1.0]])
    at = np.array([0.0, 0.4, 0.7, 1.5])
    move = dynamics.quintic_spline(at, points)
    np.testing.assert_allclose(moved(move, at)[0], points, rtol=0, atol=1e-12)
    for ends in moved(move, at[[0, -1]])[1:]:
        np.testing.assert_allclose(ends, 0.0, rtol=0, atol=1e-9)
    pieces = np.asarray(move.coefficients)[:, :, 0]
    for k, length in enumerate(np.diff(at)[:-1]):
        for order in range(5):
            before = np.polynomial.polynomial.polyval(
                length, np.polynomial.polynomial.polyder(pieces[k], order)
            )
            after = np.polynomial.polynomial.polyder(pieces[k + 1], order)[0]
            np.testing.assert_allclose(before, after, rtol=1e-9, atol=1e-8)
    np.testing.assert_allclose(move(0.5)[0], moved(move, np.array([0.5]))[0][0], rtol=1e-13, atol=0)
    with pytest.raises(jm.ArmError, match="a row for each time"):
        dynamics.quintic_spline([0.0, 1.0], [[0.0]])


def test_accelerations_at_both_ends_are_those_of_the_pieces():
    """2 rad/s^2 up and down again; a slope of `clip` there, 1/2, once made 0.5 and -0.5 of them, in torques too."""
    move = dynamics.trapezoid([0.0], [1.0], speed=1.0, acceleration=2.0)
    for time, change in ((-0.1, 0.0), (0.0, 2.0), (0.5, 0.0), (1.0, -2.0), (1.5, -2.0), (1.6, 0.0)):
        assert float(move(time)[2][0]) == pytest.approx(change, rel=1e-12, abs=1e-12)
    steady = PiecewisePolynomial([0.0, 1.0], [[[0.0], [3.0]]])
    assert [float(steady(time)[1][0]) for time in (-0.1, 0.0, 1.0, 1.1)] == [0.0, 3.0, 3.0, 0.0]
    shaped = dynamics.Shaped(move, [0.0, 0.25], [0.25, 0.75])
    knots = knots_of(shaped)
    at_knots = np.stack([np.asarray(shaped(time)) for time in knots], axis=1)
    np.testing.assert_allclose(at_knots, moved(shaped, knots), rtol=1e-12, atol=1e-12)
    assert at_knots[2, :2, 0].tolist() == [0.5, 2.0]


def test_motions_of_motions_are_the_same_in_numpy_and_in_jax():
    inner = dynamics.trapezoid([0.0, 0.3], [0.4, 0.1], 0.8, 3.0)
    move = dynamics.Shaped(dynamics.Stretched(inner, 1.7), [0.0, 0.13], [0.4, 0.6])
    knots = knots_of(move)
    np.testing.assert_allclose(
        knots, np.sort(np.add.outer(1.7 * inner.breaks, [0.0, 0.13]).ravel()), rtol=1e-12, atol=0
    )
    times = knots[:-1] + 0.4 * np.diff(knots)
    for k, time in enumerate(times):
        for one, other in zip(moved(move, times), move(time), strict=True):
            np.testing.assert_allclose(one[k], other, rtol=1e-10, atol=1e-12)
    with pytest.raises(jm.ArmError, match="stretch"):
        checked_angles(dynamics.Shaped(dynamics.Stretched(inner, -1.0), [0.0], [1.0]), 2, 0.0)
