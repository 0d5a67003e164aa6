"""Paths of the joints in the shortest time: closed forms, limits that hold and are reached, and what is refused."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

import jaxmodal as jm
from jaxmodal import dynamics
from jaxmodal.dynamics.mechanics.states import inverse_dynamics
from jaxmodal.moves import quickest_stretch, time_optimal, timing
from jaxmodal.moves.paths import moved

#: what the time of piecewise constant accelerations along 400 parts of a path is off by: the square of a part
FINE = 2e-4
BEAM = {"length": 0.5, "youngs_modulus": 7e10, "density": 2700.0}
SECTION = jm.rectangle(depth=0.02, width=0.04)


def two_links():
    return jm.Arm((jm.Link(**BEAM, section=SECTION),) * 2, jm.Payload(1.0))


def rigid_bar():
    """A bar whose inertia about its joint is known: m L^2/3 and the payload's m L^2."""
    return jm.Arm((jm.Link(**BEAM, section=SECTION, rigid=True),), jm.Payload(2.0))


def straight(start, end):
    return dynamics.RestToRest(start, end, 4.0)


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({"speed": 0.5, "acceleration": 2.0}, 1.2 / 0.5 + 0.5 / 2.0),
        ({"acceleration": 2.0}, 2.0 * np.sqrt(1.2 / 2.0)),
        ({"speed": 100.0, "acceleration": 2.0}, 2.0 * np.sqrt(1.2 / 2.0)),
    ],
)
def test_one_joint_takes_the_time_of_trapezoids_and_bangs(limits, expected):
    arm = two_links()
    found = time_optimal(arm, straight([0.0, 0.3], [1.2, 0.3]), **limits)
    assert found.duration == pytest.approx(expected, rel=FINE, abs=0.0)
    angles, rates, _ = moved(found.motion, np.array([0.0, found.duration]))
    np.testing.assert_allclose(angles, [[0.0, 0.3], [1.2, 0.3]], rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(rates, 0.0, rtol=0.0, atol=1e-9)
    assert sum(found.holds_back.values()) > 0.98


def test_the_torque_that_turns_a_bar_without_gravity():
    """T = 2 sqrt(angle inertia/torque)."""
    arm = rigid_bar()
    mass = 2700.0 * 0.02 * 0.04 * 0.5
    inertia = mass * 0.5**2 / 3.0 + 2.0 * 0.5**2
    found = time_optimal(arm, straight([0.0], [1.0]), torque=5.0)
    assert found.duration == pytest.approx(2.0 * np.sqrt(inertia / 5.0), rel=FINE, abs=0.0)


def test_a_bar_that_is_lifted_takes_longer_and_holds_its_torque():
    """Full torque up to a switch, full torque back from there: squares of the rate are works over the inertia."""
    arm = rigid_bar()
    mass = 2700.0 * 0.02 * 0.04 * 0.5
    inertia, moment = mass * 0.5**2 / 3.0 + 2.0 * 0.5**2, mass * 0.25 + 2.0 * 0.5
    torque, angle = 20.0, 1.2
    found = time_optimal(
        arm, straight([0.0], [angle]), torque=torque, gravity=(0.0, -9.81), points=801
    )
    at = np.linspace(0.0, angle, 200_001)
    weight = 9.81 * moment * np.sin(at)
    up = 2.0 * (torque * at - weight) / inertia
    down = (
        2.0
        * (torque * (angle - at) + weight[-1] * 0.0 + 9.81 * moment * (np.sin(angle) - np.sin(at)))
        / inertia
    )
    squares = np.minimum(up, down)
    rates = np.sqrt(squares)
    time = np.sum(2.0 * np.diff(at) / (rates[1:] + rates[:-1]))
    assert found.duration == pytest.approx(time, rel=5e-4, abs=0.0)


def test_limits_hold_on_a_curved_path_and_one_is_always_reached():
    arm = two_links()
    path = dynamics.cubic_spline(
        [0.0, 1.0, 2.0, 3.0], [[0.0, 0.0], [0.6, 0.9], [1.5, 0.4], [1.0, -0.6]]
    )
    limits = {"speed": [1.5, 2.0], "acceleration": [6.0, 9.0], "torque": [25.0, 8.0]}
    found = time_optimal(arm, path, **limits, gravity=(0.0, -9.81), points=601)
    times = np.linspace(1e-9, found.duration - 1e-9, 5000)
    angles, rates, changes = moved(found.motion, times)
    links = tuple(dataclasses.replace(link, rigid=True) for link in arm.links)
    model = dynamics.flexible_arm(dataclasses.replace(arm, links=links), 0, gravity=(0.0, -9.81))
    torques = np.asarray(inverse_dynamics(model, angles, rates, changes))
    shares = np.stack(
        [
            np.abs(values) / np.array(limits[name])
            for name, values in (("speed", rates), ("acceleration", changes), ("torque", torques))
        ]
    )
    assert shares.max() < 1.0 + 1e-3
    most = shares.max(axis=(0, 2))
    assert np.mean(most > 0.99) > 0.95, "somewhere no limit is near"
    on_path = np.linspace(0.0, 3.0, 200_001)
    way, _, _ = moved(path, on_path)
    away = [np.linalg.norm(way - angle, axis=1).min() for angle in angles[::250]]
    assert max(away) < 1e-4
    stretched = quickest_stretch(
        arm, path, 1, theory="euler_bernoulli", **limits, gravity=(0.0, -9.81)
    )
    assert found.duration < 0.95 * stretched.duration


def test_more_points_come_down_to_the_time_with_the_square_of_their_distance():
    arm, exact = two_links(), 1.2 / 0.5 + 0.5 / 2.0
    move = straight([0.0, 0.3], [1.2, 0.3])
    errors = [
        time_optimal(arm, move, speed=0.5, acceleration=2.0, points=n).duration / exact - 1.0
        for n in (51, 201)
    ]
    assert 0.0 <= errors[1] < 0.3 * errors[0]


def test_arms_in_space_and_what_is_left_then():
    """A six-axis arm by accelerations and speeds; what the move leaves is asked of it as of any other."""
    arm = jm.examples.six_axis_industrial()
    move = straight([0.0] * 6, [0.4, 0.3, -0.2, 0.0, 0.1, 0.0])
    found = time_optimal(arm, move, speed=1.0, acceleration=5.0)
    expected = 0.4 / 1.0 + 1.0 / 5.0
    assert found.duration == pytest.approx(expected, rel=FINE, abs=0.0)
    assert "limit" in str(found)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"speed": 1.0}, "acceleration, torque: neither is given"),
        ({"acceleration": 0.0}, "acceleration = 0.0: must be greater than 0"),
        ({"acceleration": 1.0, "points": 4}, "points = 4: must be 8 or more"),
        ({"acceleration": np.inf}, "no joint that moves has a finite limit"),
        ({"speed": 1.0, "torque": np.inf}, "no joint that moves has a finite limit"),
        ({"torque": 1.0, "gravity": (0.0, -9.81)}, "for gravity and supports alone on this path"),
    ],
)
def test_limits_that_are_refused(values, message):
    with pytest.raises(jm.ArmError, match=message):
        time_optimal(rigid_bar(), straight([0.0], [1.0]), **values)


def test_tiny_and_huge_arms_take_the_time_of_arms_in_metres():
    """The same arm in units of 10 um, 1e-9 kg and 10 ms, and in large ones: torque limits of 1e-11 and 1e17 N m."""
    path = dynamics.cubic_spline([0.0, 1.0, 2.0], [[0.0, 0.0], [0.6, 0.9], [1.0, -0.6]])
    times = []
    for length, mass, second in ((1.0, 1.0, 1.0), (1e-5, 1e-9, 1e-2), (1e4, 1e8, 1e-1)):
        link = jm.Link(
            0.5 * length,
            7e10,
            2700.0 * mass / length**3,
            jm.rectangle(0.02 * length, 0.04 * length),
        )
        arm = jm.Arm((link, link), jm.Payload(mass))
        torque = np.array([25.0, 8.0]) * mass * (length / second) ** 2
        gravity = (0.0, -9.81 * length / second**2)
        found = time_optimal(arm, path, torque=torque, gravity=gravity, points=101)
        times.append(found.duration / second)
    np.testing.assert_allclose(times, times[0], rtol=1e-10, atol=0.0)


@given(st.integers(0, 2**32 - 1))
def test_the_largest_x_is_that_of_a_linear_program(seed):
    draw = np.random.default_rng(seed)
    a, b = draw.normal(size=(2, 12))
    b[draw.random(12) < 0.2] = 0.0
    most, far = draw.normal(size=12) + 1.0, draw.uniform(0.1, 2.0)
    program = linprog(
        [-1.0, 0.0], A_ub=np.stack([a, b], axis=1), b_ub=most, bounds=[(0.0, 1e3), (0.0, far)]
    )
    found = timing._largest(a, b, most, far)
    if program.status == 0:
        np.testing.assert_allclose(min(found, 1e3), program.x[0], rtol=1e-6, atol=1e-6)
    else:
        assert np.isnan(found)


def test_straight_pieces_have_no_accelerations():
    motion = dynamics.PiecewisePolynomial([0.0, 2.0], [[[0.5], [0.25]]])
    angles, rates, changes = moved(motion, np.array([0.0, 1.0]))
    np.testing.assert_allclose(angles, [[0.5], [0.75]], rtol=0.0, atol=1e-15)
    np.testing.assert_allclose(rates, [[0.25], [0.25]], rtol=0.0, atol=1e-15)
    assert np.all(changes == 0.0)


def test_where_no_way_on_is_found_it_says_so(monkeypatch):
    monkeypatch.setattr(timing, "_largest", lambda *_: np.nan)
    with pytest.raises(jm.ArmError, match="no timing was found at 86 % of its path"):
        time_optimal(two_links(), straight([0.0, 0.0], [1.0, 0.0]), acceleration=1.0, points=8)


def test_paths_that_are_refused():
    arm = two_links()
    with pytest.raises(jm.ArmError, match="no joint moves"):
        time_optimal(arm, straight([0.1, 0.2], [0.1, 0.2]), acceleration=1.0)
    there = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    corner = dynamics.PiecewisePolynomial(
        [0.0, 1.0, 2.0], [[there[0], there[1] - there[0]], [there[1], there[2] - there[1]]]
    )
    with pytest.raises(jm.ArmError, match="corner at t = 1 s"):
        time_optimal(arm, corner, acceleration=1.0)
