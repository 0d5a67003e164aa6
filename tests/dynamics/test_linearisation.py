"""Are systems along a motion the derivatives of the accelerations, and do signals keep their names?

What compiles: accelerations of an arm with a motor behind a spring, and its linearisation about a state and along many.
"""

import sys

import jax
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.dynamics import (
    JointPD,
    RestToRest,
    flexible_arm,
    forward_dynamics,
    linearise,
    linearise_along,
    simulate,
    static_state,
    tip_position,
)
from jaxmodal.dynamics.integration.histories import coordinates_of, dataset
from jaxmodal.dynamics.integration.trajectories import Trajectory
from jaxmodal.dynamics.mechanics import equations
from tests.support.dynamics_cases import uniform_link


@pytest.fixture(scope="module")
def moving():
    """Two links, the second on an elastic joint, with gravity and friction; states put together, not integrated."""
    links = (
        uniform_link(0.5, 1.0, 0.2, hub_inertia=0.1),
        uniform_link(
            0.5, 1.0, 0.2, joint_stiffness=5.0, rotor_inertia=1e-4, gear_ratio=30.0, motor="held"
        ),
    )  # fmt: skip
    arm = jm.Arm(links, jm.Payload(0.1, 0.0005))
    model = flexible_arm(
        arm, 1, gravity=(0.0, -9.81), viscous_friction=0.05, kelvin_voigt_time=1e-3
    )
    times, rng = np.linspace(0.0, 0.3, 4), np.random.default_rng(6)
    q, rate = rng.uniform(-1.0, 1.0, (2, 4, 5)) * [1, 1, 0.002, 0.002, 1]
    q[:, 4] = q[:, 1] + 0.01  # of the motor: a spring far from rest throws the arm about
    torques, blank = rng.uniform(-0.1, 0.1, (4, 2)), np.zeros(4)
    pairs = np.zeros((4, 2))
    states = Trajectory(
        times, q, rate, 0.0 * q, torques, *[pairs] * 3, *[blank] * 5, 0, times[-1], np.zeros(12), 3
    )
    return model, dataset(model, states, "rk4")


@pytest.mark.slow
def test_systems_along_a_motion_are_derivatives_of_its_accelerations(moving):
    model, _ = moving
    move = RestToRest(np.zeros(2), np.array([0.8, -0.5]), 0.3)
    law = JointPD(move, 20.0, 2.0)
    motion = simulate(model, np.linspace(0.0, 0.3, 4), torque=law, method="rk4", step=1e-3)
    system = linearise_along(model, motion)
    space = system.state_space()
    q, rate = coordinates_of(model, motion)
    size = model.num_coordinates
    assert space["A"].sizes == {"time": 4, "state": 2 * size, "of": 2 * size}

    def moved(at, speed, torque):
        return equations.accelerations(model, at, speed, torque)[0]

    slopes = jax.jit(jax.vmap(jax.jacfwd(moved, argnums=(0, 1, 2))))
    by_place, by_rate, by_torque = slopes(q, rate, motion["torque"].values)
    lower = np.concatenate([by_place, by_rate], axis=-1)
    scale = np.abs(lower).max()
    np.testing.assert_allclose(space["A"].values[:, size:], lower, rtol=0, atol=1e-12 * scale)
    np.testing.assert_allclose(
        space["B"].values[:, size:], by_torque, rtol=0, atol=1e-12 * np.abs(by_torque).max()
    )


def test_outputs_are_angles_and_the_tip(moving):
    model, motion = moving
    q = coordinates_of(model, motion)[0][2]
    space = linearise(model, q).state_space()
    assert list(space["output"].values) == ["theta1", "theta2", "motor2", "tip.x", "tip.y"]
    size = model.num_coordinates
    steps = 1e-6 * np.eye(size)
    ends = np.asarray(tip_position(model, np.concatenate([q + steps, q - steps])))
    slopes = (ends[:size] - ends[size:]).T / 2e-6
    np.testing.assert_allclose(
        space["C"].sel(output=["tip.x", "tip.y"])[:, :size], slopes, rtol=0.0, atol=1e-9
    )
    moves = space["C"].sel(output="motor2").values
    assert (moves[size - 1], np.abs(moves).sum()) == (1.0, 1.0)
    assert not space["D"].any()


def test_python_control_gives_the_motion_of_small_deviations(moving):
    """Static gain of the joint angles against the stiffness matrix, by names; along a motion there is no one system."""
    pytest.importorskip("control", reason="python-control is an extra")
    model, motion = moving
    state = static_state(model, [-1.2, 0.3])
    small = linearise(model, state)
    plant = small.to_control()
    assert plant.input_labels == ["torque1", "torque2"]
    assert plant.output_labels == ["theta1", "theta2", "motor2", "tip_x", "tip_y"]
    assert plant.state_labels[-1] == "motor2_rate"
    held = np.linalg.solve(small.stiffness, small.inputs)
    expected = np.concatenate([held[[0, 1, 4]], small.tip @ held])
    np.testing.assert_allclose(plant(0.0).real, expected, rtol=1e-9)
    with pytest.raises(jm.ArmError, match="4 systems along a motion; must be one"):
        linearise_along(model, motion).to_control()


def test_python_control_is_named_where_it_is_missing(moving, monkeypatch):
    monkeypatch.setitem(sys.modules, "control", None)
    with pytest.raises(ImportError, match=r"needs control.*jaxmodal\[control\]"):
        linearise(moving[0], np.zeros(5)).to_control()


def test_along_a_motion_each_system_is_that_of_its_state(moving):
    model, motion = moving
    q, rate = (values[2] for values in coordinates_of(model, motion))
    gained = forward_dynamics(model, q, rate, motion["torque"].values[2])
    one = linearise(model, q, rate, acceleration=gained)
    along = linearise_along(model, motion, joints="locked")
    assert along.names == ("theta2", "link1.mode1", "link2.mode1")
    for name in ("mass", "damping", "stiffness"):
        expected = getattr(one, name)[1:4, 1:4]
        scale = np.abs(expected).max()
        np.testing.assert_allclose(getattr(along, name)[2], expected, rtol=0.0, atol=1e-12 * scale)
    assert along.natural_frequencies().shape == (4, 3)


def test_a_motion_of_another_arm_is_refused(moving):
    other = flexible_arm(jm.examples.two_link_flexible(), 1)
    with pytest.raises(jm.ArmError, match="must be a motion of this model, which has 2 and 2"):
        linearise_along(other, moving[1])
