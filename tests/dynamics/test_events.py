"""Does a simulation end where an event happens, at the right time, with status, state and derivatives?

What compiles: the falling rod by a method that chooses its steps, under the limits of a file, and by one that does not,
under a function, and as a batch.
"""

import jax
import numpy as np
import pytest
import scipy.integrate

import jaxmodal as jm
from jaxmodal.dynamics import (
    Hold,
    JointLimits,
    SlopeLimit,
    flexible_arm,
    simulate,
    trajectory,
)
from jaxmodal.dynamics.files import simulation_from_dict

GRAVITY, LIMIT = 9.81, np.pi / 3


def falling_rod(gravity=-GRAVITY):
    """A rigid uniform rod of 1 m, hinged at its base: theta'' = -(3/2) g cos(theta), from the horizontal."""
    link = jm.Link(1.0, 7e10, 2700.0, jm.rectangle(depth=0.01, width=0.05), rigid=True)
    return flexible_arm(jm.Arm((link,)), 0, gravity=(0.0, gravity))


#: theta'^2 = 3 g sin(-theta), so that t is an integral; theta = -s^2 takes away its singular start
TIME = scipy.integrate.quad(
    lambda s: 2.0 * s / np.sqrt(3.0 * GRAVITY * np.sin(s * s)), 0.0, np.sqrt(LIMIT), epsabs=1e-14
)[0]
TIMES = np.linspace(0.0, 1.0, 21)
METHODS = [pytest.param("rk4", marks=pytest.mark.slow), "dopri8"]
#: what is beyond the tolerances of the integration is not the event's doing; rk4 at 1 ms is off by 1e-12
CLOSE = {"rk4": 1e-11, "dopri8": 1e-9}


@pytest.mark.parametrize("method", METHODS)
def test_a_joint_limit_stops_the_arm_in_time(method):
    # as a file gives them, whose simulation then is the same program
    events = [JointLimits(np.array([-LIMIT]), np.array([LIMIT])), SlopeLimit(0.2)]
    found = simulate(falling_rod(), TIMES, events=events, method=method)
    assert found.attrs["status"] == "event"
    assert found.attrs["event"] == "JointLimits"
    assert found.attrs["message"].startswith("JointLimits ended it at 0.384")
    assert abs(found.attrs["time_reached"] - TIME) < CLOSE[method]
    state = found.attrs["state_reached"]
    np.testing.assert_allclose(state[0], -LIMIT, rtol=1e-12)
    np.testing.assert_allclose(state[1], -np.sqrt(3.0 * GRAVITY * np.sin(LIMIT)), rtol=1e-9)
    known = np.isfinite(found["tip_position"][:, 0].values)
    np.testing.assert_array_equal(known, TIME >= TIMES)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["rk4", "dopri8"])
def test_the_time_of_an_event_moves_with_gravity(method):
    """t is proportional to 1/sqrt(g): dt/dg = -t/(2 g)."""

    def reached(gravity):
        limits = JointLimits(-LIMIT, LIMIT)
        found = trajectory(
            falling_rod(gravity), np.zeros(1), np.zeros(1), TIMES, events=limits, method=method,
            substeps=50,
        )  # fmt: skip
        return found.reached

    slope = jax.jit(jax.grad(reached))(-GRAVITY)
    np.testing.assert_allclose(slope, TIME / (2.0 * GRAVITY), rtol=1e-8)


def test_a_batch_ends_at_its_own_times():
    """By steps of one length; cases that no event ends go on to the last time."""

    def fall(limit):
        found = trajectory(
            falling_rod(), np.zeros(1), np.zeros(1), TIMES, events=JointLimits(-limit, 9.0),
            method="rk4", substeps=50,
        )  # fmt: skip
        return found.status, found.reached, found.event, found.last

    status, reached, event, last = map(np.asarray, jax.jit(jax.vmap(fall))(np.array([LIMIT, 8.0])))
    np.testing.assert_array_equal(status, [jm.Status.event, jm.Status.finished])
    np.testing.assert_array_equal(event, [0, -1])
    np.testing.assert_allclose(reached, [TIME, 1.0], rtol=0.0, atol=CLOSE["rk4"])
    np.testing.assert_allclose(last[0, 0], -LIMIT, rtol=1e-12)
    np.testing.assert_allclose(last[0, 1], -np.sqrt(3.0 * GRAVITY * np.sin(LIMIT)), rtol=1e-9)


LATER, LATEST = 5.0, 10.0


def of_time_and_angle(time, q, rate, model):
    """0.5 s less the time; where the motion begins later, NaN beyond -LIMIT without a value at or below 0 before.

    Where it begins still later, the height of the tip above -0.5 m; by the angle, for the rod is straight. One function
    for three tests, so that one program serves.
    """
    root = jax.numpy.sqrt(LIMIT + q[0]) + 0.01
    height = 0.5 + jax.numpy.sin(q[0])
    return jax.numpy.where(time < LATER, 0.5 - time, jax.numpy.where(time < LATEST, root, height))


def test_an_event_at_a_wanted_time_is_found():
    """0.5 s is one of the times at which steps end; rounding may put the event on either side of that end."""
    found = simulate(falling_rod(), TIMES, events=of_time_and_angle, method="rk4")
    assert found.attrs["status"] == "event"
    assert abs(found.attrs["time_reached"] - 0.5) < 1e-12


def test_a_margin_that_becomes_nan_ends_the_simulation():
    found = simulate(falling_rod(), LATER + TIMES, events=of_time_and_angle, method="rk4")
    assert (found.attrs["status"], found.attrs["event"]) == ("event", "of_time_and_angle")
    assert abs(found.attrs["time_reached"] - LATER - TIME) < CLOSE["rk4"]


def test_a_function_is_an_event():
    """And the simulation may go piece by piece: an event ends all of them.

    Nearly upright it stays through the first piece, of 20 intervals, and falls in the second.
    """
    told = []
    found = simulate(
        falling_rod(), LATEST + 0.05 * np.arange(401), [0.5 * np.pi - 0.01], events=of_time_and_angle, method="rk4",
        progress=lambda *a: told.append(a),
    )  # fmt: skip
    assert (found.attrs["status"], found.attrs["event"]) == ("event", "of_time_and_angle")
    np.testing.assert_allclose(found.attrs["state_reached"][0], -np.pi / 6, rtol=1e-12)
    assert told == [(20, 400), (40, 400)]


@pytest.mark.parametrize(
    ("events", "words"),
    [
        (
            JointLimits(0.1, 1.0),
            "JointLimits is -0.1 at the start, t = 0 s; must be greater than 0",
        ),
        (JointLimits(np.zeros(3), np.ones(3)), "do not fit an arm of 1 links"),
        (lambda t, q, rate, model: q, r"gives shape \(1,\); must be \(\), one number"),
        ([3.0], "3.0 is none; must be events such as JointLimits"),
        (SlopeLimit, "SlopeLimit.*is none; must be events such as JointLimits"),
        (lambda t, q: 1.0, "must take four arguments"),
        (lambda t, q, rate, model: None, "gives None; must be one real number"),
        (lambda t, q, rate, model: "x", "gives 'x'; must be one real number"),
        (lambda t, q, rate, model: jax.lax.complex(q[0], q[0]), "must be one real number"),
        (JointLimits(-1.0, 1.0 + 1.0j), "holds what is no real number"),
        (lambda t, q, rate, model: jax.numpy.sqrt(q[0] - 1.0), "is nan at the start"),
    ],
)
def test_events_that_are_none(events, words):
    with pytest.raises(jm.ArmError, match=words):
        simulate(falling_rod(), TIMES, events=events, method="rk4")


def test_a_motion_counts_at_the_start():
    """What the motors hold, not the angles that it overrides."""
    with pytest.raises(jm.ArmError, match="JointLimits is -1 at the start"):
        simulate(falling_rod(), TIMES, motion=Hold([2.0]), events=JointLimits(-1, 1), method="rk4")


def rod_document(**more):
    section = {"shape": "rectangle", "depth": 0.01, "width": 0.05}
    link = {"length": 1.0, "youngs_modulus": 7e10, "density": 2700.0, "section": section}
    table = {"modes": 0, "gravity": [0.0, -GRAVITY], "until": 1.0, "every": 0.05, "method": "rk4"}
    return {"links": [{**link, "rigid": True}], "dynamics": {**table, "start_deg": [0.0], **more}}


def test_a_file_may_have_limits():
    limits = {"joint_limits_deg": [[-60.0, 60.0]], "slope_limit": 0.2}
    found = simulation_from_dict(rod_document(**limits, method="dopri8")).run()
    assert found.attrs["event"] == "JointLimits"
    assert abs(found.attrs["time_reached"] - TIME) < CLOSE["dopri8"]


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ([-60.0, 60.0], "must be a list of 1 pairs"),
        ([[60.0, -60.0]], "the lowest below the highest"),
        ([[-60.0, "a"]], "joint_limits_deg = 'a'"),
    ],
)
def test_limits_of_files_that_are_none(limits, words):
    with pytest.raises(jm.ArmError, match=words):
        simulation_from_dict(rod_document(joint_limits_deg=limits))
