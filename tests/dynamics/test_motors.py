"""Locked joints of arms in motion: are their frequencies those of `natural_frequencies`, whatever a motor does?"""

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal import dynamics
from jaxmodal.dynamics import flexible_arm, linearise, static_state

BEAM = jm.Link(0.5, 7e10, 2700.0, jm.rectangle(0.003, 0.04), hub_inertia=0.01, hub_mass=0.3)
SPRING = {"joint_stiffness": 200.0}
ROTOR = {"rotor_inertia": 1e-4, "gear_ratio": 50.0}
HELD, BEYOND = ({**ROTOR, "motor": motor} for motor in ("held", "beyond_spring"))
ARMS = {
    "neither": ({}, {}),
    "rotors on rigid joints": (HELD, BEYOND),
    "held at joint 1": (SPRING | HELD, {}),
    "held at joint 2": (BEYOND, SPRING | HELD),
    "both held": (SPRING | HELD, SPRING | HELD),
    "beyond at joint 1": (SPRING | BEYOND, {}),
    "beyond at joint 2": (HELD, SPRING | BEYOND),
    "both beyond": (SPRING | BEYOND, SPRING | BEYOND),
    "one of each": (SPRING | HELD, SPRING | BEYOND),
}


def arm_of(name):
    first, second = ARMS[name]
    links = BEAM.replace(**first), BEAM.replace(joint_angle=0.7, **second)
    return jm.Arm(links, jm.Payload(0.2))


def locked_hz(arm, modes=7, shapes="polynomial"):
    """Of the model with enough shapes for eight digits of the first three."""
    model = flexible_arm(arm, modes, shapes=shapes)
    state = np.zeros(model.num_coordinates)  # without loads nothing is bent
    state[1] = state[model.layout.driven[1]] = 0.7
    omega = linearise(model, state, joints="locked").natural_frequencies()[:3]
    return omega / (2.0 * np.pi)


def exact_hz(arm):
    return np.asarray(jm.natural_frequencies(arm, 3, theory="bending_only").frequencies_hz)


@pytest.mark.parametrize(
    "name",
    [
        # each choice alone and at either joint; "both held" and "one of each" are asked below, by other shapes
        name
        if name in ("rotors on rigid joints", "held at joint 2", "beyond at joint 1")
        else pytest.param(name, marks=pytest.mark.slow)
        for name in ARMS
    ],
)
def test_locked_frequencies_are_those_of_the_engine(name):
    arm = arm_of(name)
    np.testing.assert_allclose(locked_hz(arm), exact_hz(arm), rtol=1e-6)


def test_the_choice_matters():
    held, beyond = (exact_hz(arm_of(name)) for name in ("both held", "both beyond"))
    assert np.abs(held / beyond - 1.0).min() > 1e-3


@pytest.mark.parametrize("name", ["both held", "one of each"])
def test_the_shapes_of_the_locked_arm_are_exact_on_elastic_joints(name):
    arm = arm_of(name)
    np.testing.assert_allclose(locked_hz(arm, 3, "locked_arm"), exact_hz(arm), rtol=1e-8)


def test_free_motors_of_rigid_links_are_two_inertias_on_a_spring():
    """One zero frequency a joint, and k (1/(N^2 J) + 1/I)."""
    inertia = 0.01 + 0.3 * 0.5**2
    link = jm.Link(
        0.5, 7e10, 1e-9, BEAM.section, hub_inertia=0.01, tip_mass=0.3, rigid=True, **SPRING, **HELD
    )
    model = flexible_arm(jm.Arm((link,)), 0)
    found = linearise(model, np.zeros(2)).natural_frequencies()
    assert found[0] < 1e-6
    assert found[1] == pytest.approx(np.sqrt(200.0 * (1.0 / (1e-4 * 50.0**2) + 1.0 / inertia)))


@pytest.mark.parametrize("servo", [0.0, 5e3])
def test_motors_that_move_are_joints_of_their_own(servo):
    """A free motor, or one on a servo, in motion: for the engine two joints in a row, in the plane and in space."""
    section = jm.raw_section(area=1e-4, second_moment=1e-8)
    flat = {"length": 0.1, "youngs_modulus": 1e11, "density": 1e-9, "section": section}
    motor = {**BEYOND, "joint_stiffness": servo, "rigid": True}
    link = BEAM.replace(joint_angle=0.7, poisson_ratio=0.3, **SPRING)
    first = BEAM.replace(poisson_ratio=0.3)
    joints = first, jm.Link(**flat, **motor, end_offset_x=-0.1), link
    found = exact_hz(jm.Arm(joints, jm.Payload(0.2)))
    bare = jm.SpatialLink(0.0, **motor)
    space = [jm.to_spatial(jm.Arm((each,), jm.Payload(0.2))) for each in (first, link)]
    chain = (space[0].links[0], bare, space[1].links[0])
    every = jm.natural_frequencies(jm.SpatialArm(chain, space[0].payload), 8, theory="bending_only")
    near = np.abs(np.asarray(every.frequencies_hz)[:, None] - found).min(axis=0)
    assert near.max() < 1e-8

    model = flexible_arm(
        jm.Arm((first, link.replace(**HELD)), jm.Payload(0.2)), 7, shapes="polynomial"
    )
    state = static_state(model, [0.0, 0.7])
    free = linearise(model, state)
    kept = [
        k for k, name in enumerate(free.names) if name != "theta1"
    ]  # joint 1 is rigid to the ground
    mass, stiffness = (np.array(x)[np.ix_(kept, kept)] for x in (free.mass, free.stiffness))
    assert free.names[kept[-1]] == "motor2"
    stiffness[-1, -1] += servo
    squares = np.sort(np.linalg.eigvals(np.linalg.solve(mass, stiffness)).real)
    # the eigenvalue 0 is known to a rounding of the largest
    rounding = 1e-14 * squares[-1]
    expected = (2.0 * np.pi * np.asarray(found)) ** 2
    np.testing.assert_allclose(squares[:3], expected, rtol=2e-6, atol=rounding)
    assert (found[0] == 0.0) == (servo == 0.0)


def test_a_motor_without_inertia_can_be_locked_or_moved_and_not_driven():
    model = flexible_arm(arm_of("one of each"), 1)
    state = np.zeros(model.num_coordinates)
    told = "motor 2 must have inertia to move freely.*joints = 'locked'.*motor = 'held'"
    calls = [
        lambda: linearise(model, state),
        lambda: dynamics.forward_dynamics(model, state, state, [0.0, 0.0]),
        lambda: dynamics.simulate(model, [0.0, 1e-3], q=state, method="rk4", step=1e-4),
    ]
    for call in calls:
        with pytest.raises(jm.ArmError, match=told):
            call()
    motion = dynamics.Hold([0.1, -0.2])
    moved = dynamics.simulate(model, [0.0, 1e-3], q=state, motion=motion, method="rk4", step=1e-5)
    assert moved.attrs["status"] == "finished"
    assert moved.attrs["energy_balance_error"] < 1e-8


def test_held_and_moved_motors_vibrate_at_the_locked_frequencies():
    """Rigid link, rotor beyond the spring: the free decay of a turn of 1e-3 rad has the period of the engine."""
    link = jm.Link(0.5, 7e10, 1e-9, BEAM.section, tip_mass=0.3, rigid=True, **SPRING, **BEYOND)
    arm = jm.Arm((link,))
    model = flexible_arm(arm, 0)
    period = 1.0 / float(jm.natural_frequencies(arm, 1, theory="bending_only").frequencies_hz[0])
    times = np.linspace(0.0, period, 5)
    moved = dynamics.simulate(
        model, times, q=[1e-3, 0.0], motion=dynamics.Hold([0.0]), method="dopri8"
    )
    angle = moved["joint_angle"].values[:, 0]
    np.testing.assert_allclose(
        angle, 1e-3 * np.cos(2.0 * np.pi * times / period), rtol=0.0, atol=1e-9
    )
