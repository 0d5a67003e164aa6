"""Moves of arms that lean on springs: closed forms, and simulations of the same arm by assumed modes."""

import math

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal import dynamics
from jaxmodal.moves import Order, move_vibration, speeds_to_avoid, time_optimal
from jaxmodal.moves.modes_along import modes_in
from jaxmodal.runtime.errors import ArmError

FLAT = jm.rectangle(depth=0.005, width=0.04, shear_coefficient="cowper")
LENGTH, STIFFNESS = 0.5, 400.0
FEW = {"theory": "euler_bernoulli", "num_postures": 5}
BENDING = 7e10 * 0.04 * 0.005**3 / 12.0


def leaning(*supports):
    """A flat beam that turns about z, 0.3 kg at its tip, unstrained along x."""
    link = jm.SpatialLink(LENGTH, 7e10, 2700.0, FLAT, poisson_ratio=0.33, supports=supports)
    return jm.SpatialArm((link,), jm.RigidBody(0.3))


def planar(**supports):
    """The same in the plane."""
    link = jm.Link(LENGTH, 7e10, 2700.0, FLAT, poisson_ratio=0.33, **supports)
    return jm.Arm((link,), jm.Payload(0.3))


ACROSS = jm.Support("translation", (0.0, 3.0, 0.0), STIFFNESS)
BOTH = pytest.mark.parametrize(
    "arm", [leaning(ACROSS), planar(support_y_stiffness=STIFFNESS)], ids=["space", "plane"]
)


@BOTH
def test_a_slow_move_bends_the_beam_against_its_spring(arm):
    """The tip lags by k L sin(angle)/(k + 3 E I/L^3), and nothing vibrates."""
    found = move_vibration(arm, dynamics.RestToRest([0.0], [0.02], 2.0), 6, **FEW)
    assert found.forces == ("rates", "supports")
    lag = float(found.coordinates[-1] @ found.tips[-1, :, 1])
    beam = 3.0 * BENDING / LENGTH**3
    expected = -STIFFNESS * LENGTH * math.sin(0.02) / (STIFFNESS + beam)
    np.testing.assert_allclose(lag, expected, rtol=1e-3, atol=0.0)
    assert found.amplitudes_mm.max() < 1e-3 * 1e3 * abs(expected)


@pytest.mark.parametrize(
    "arm",
    [
        leaning(jm.Support("rotation", (0.0, 0.0, 1.0), 50.0)),
        planar(support_torsional_stiffness=50.0),
    ],
    ids=["space", "plane"],
)
def test_a_spring_about_the_joint_is_one_that_the_tip_turns_against(arm):
    """A moment at the tip bends it as it turns, from where the arm itself stands; six modes hold 99 % of that."""
    found = move_vibration(arm, dynamics.RestToRest([0.1], [0.12], 2.0), 6, **FEW)
    beam = BENDING / LENGTH
    moment = -50.0 * 0.12 / (1.0 + 50.0 / beam)
    lag = float(found.coordinates[-1] @ found.tips[-1, :, 1])
    np.testing.assert_allclose(lag, moment * LENGTH**2 / (2.0 * BENDING), rtol=1e-2, atol=0.0)


@pytest.mark.slow
@BOTH
def test_what_is_left_is_what_a_simulation_has(arm):
    """A quick move against the spring, 3 shapes; the tip swings about where the spring holds it."""
    move = dynamics.RestToRest([0.0], [0.06], 0.15)
    found = move_vibration(arm, move, 2, theory="euler_bernoulli")
    in_space = isinstance(arm, jm.SpatialArm)
    model = dynamics.flexible_arm(arm, {"bending_xy": 3} if in_space else 3)
    period = 2.0 * np.pi / found.omega[-1, 0]
    after = found.stop + np.linspace(0.0, 2.0 * period, 81)
    motion = dynamics.simulate(model, np.concatenate([[0.0], after]), motion=move)
    tip = motion["tip_position"].values[1:, 1]
    basis = np.stack([np.ones(81), *(f(found.omega[-1, 0] * after) for f in (np.cos, np.sin))])
    fitted = np.linalg.lstsq(basis.T, tip, rcond=None)[0]
    swing = 1e3 * math.hypot(*fitted[1:])
    np.testing.assert_allclose(swing, found.amplitudes_mm[0], rtol=0.01, atol=0.0)
    free = move_vibration(leaning(), move, 2, theory="euler_bernoulli").amplitudes_mm[0]
    assert abs(free / found.amplitudes_mm[0] - 1.0) > 0.2


@pytest.mark.slow
@BOTH
def test_torques_and_speeds_know_the_spring(arm):
    """A path that the motor holds against the spring; a speed at the frequency that the spring raises."""
    move = dynamics.RestToRest([0.0], [0.1], 3.0)
    needed = STIFFNESS * LENGTH**2 * math.sin(0.1) * math.cos(0.1)
    with pytest.raises(ArmError, match=f"needs {needed:.4g} N m for gravity and supports"):
        time_optimal(arm, move, torque=0.9 * needed)
    assert time_optimal(arm, move, torque=2.0 * needed).duration < 3.0
    found = speeds_to_avoid(arm, [Order(1, 100.0, "teeth")], 1, margin=0.0)
    omega = float(jm.natural_frequencies(arm, 1).omega[0])
    np.testing.assert_allclose(found.omega[0, 0], omega, rtol=1e-12, atol=0.0)


def test_rigid_supports_and_those_of_planar_arms():
    hard = jm.Support("translation", (0.0, 0.0, 1.0), math.inf)
    move = dynamics.RestToRest([0.0], [0.1], 1.0)
    with pytest.raises(ArmError, match=r"link1.support2.stiffness = inf: .* must be finite"):
        move_vibration(leaning(ACROSS, hard), move)
    pinned = jm.Arm((*planar().links, *planar(support_x_stiffness=math.inf).links))
    with pytest.raises(ArmError, match=r"link2.support_x_stiffness = inf: .* must be finite"):
        move_vibration(pinned, dynamics.RestToRest([0.0, 0.0], [0.1, 0.1], 1.0))


def test_planar_forces_are_those_of_the_arm_in_space():
    """Two links with offsets, three springs, far from where they are unstrained; modes in the plane, in any sign."""
    link = planar(end_offset_x=0.02, end_offset_y=-0.03, support_y_stiffness=500.0).links[0]
    last = link.replace(support_x_stiffness=300.0, support_torsional_stiffness=20.0)
    arm = jm.Arm((link, last), jm.Payload(0.3)).with_posture([0.7])
    found, expected = [
        modes_in(rest.with_posture([0.2, 1.5]), count, "euler_bernoulli", rest)
        for rest, count in ((arm, 3), (jm.to_spatial(arm), 8))
    ]
    own = [int(np.argmin(np.abs(expected.omega - omega))) for omega in found.omega]
    np.testing.assert_allclose(found.omega, expected.omega[own], rtol=1e-12, atol=0.0)
    forces, others = np.abs(found.supports), np.abs(expected.supports[own])
    np.testing.assert_allclose(forces, others, rtol=1e-9, atol=1e-9 * others.max())
    assert forces.min() > 0.1
