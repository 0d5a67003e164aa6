"""Moves of arms that lean on springs: closed forms, and simulations of the same arm by assumed modes."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import jaxmodal as jm
from jaxmodal import dynamics
from jaxmodal.moves import Order, move_vibration, speeds_to_avoid, time_optimal
from jaxmodal.moves.evaluation import question_of, vibration_of
from jaxmodal.moves.modes_along import _ordered, modes_in
from jaxmodal.moves.pushing_supports import refuse_half_turns, spatial_support_forces
from jaxmodal.runtime.errors import ArmError

FLAT = jm.rectangle(depth=0.005, width=0.04, shear_coefficient="cowper")
LENGTH, STIFFNESS = 0.5, 400.0
FEW = {"theory": "euler_bernoulli", "num_postures": 5}
BENDING = 7e10 * 0.04 * 0.005**3 / 12.0


def leaning(*supports):
    """A flat beam that turns about z, 0.3 kg at its tip, unstrained along x."""
    link = jm.SpatialLink(LENGTH, 7e10, 2700.0, FLAT, poisson_ratio=0.33, supports=supports)
    return jm.SpatialArm((link,), jm.RigidBody(0.3))


SPRING = "support1.stiffness"
#: of no joint
ALONG, ABOUT = (0.3, -1.0, 2.0), (1.0, 2.0, -0.5)


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


@pytest.mark.parametrize("angles", [(0.4, 0.9), (0.4, 0.9 + 1e-5), (1.3, -1.2), (0.4, 3.9)])
def test_supports_push_with_the_gradient_of_their_energy(angles):
    """By differences, of springs along and about directions that are not those about which the joints turn."""
    supports = (
        jm.Support("translation", ALONG, 300.0),
        jm.Support("rotation", ABOUT, 40.0),
    )
    link = jm.SpatialLink(0.5, 7e10, 2700.0, FLAT, poisson_ratio=0.33, end_offset=(0.1, 0.2, -0.1))
    first = link.replace(joint_axis=(0.2, 0.1, 1.0), joint_angle=0.4)
    second = link.replace(joint_axis=(1.0, 0.3, 0.4), joint_angle=0.9, supports=supports)
    home = jm.SpatialArm((first, second))
    here = home.with_posture(angles)
    moved, turned = np.random.default_rng(5).standard_normal((2, 3, 2, 1, 3))
    shapes = SimpleNamespace(displacement=moved, rotation=turned)
    start, frame = home.frames()[-1], here.frames()[-1]

    def energy(mode, amount):
        twist = Rotation.from_rotvec(amount * turned[mode, 1, 0])
        tip = frame.end + amount * moved[mode, 1, 0] + twist.apply(frame.tip - frame.end)
        turn = (twist * Rotation.from_matrix(frame.axes @ start.axes.T)).as_rotvec()
        ways = (tip - start.tip, turn)
        units = [np.array(e) / np.linalg.norm(e) for e in (ALONG, ABOUT)]
        return sum(
            0.5 * s.stiffness * (unit @ way) ** 2
            for s, unit, way in zip(supports, units, ways, strict=True)
        )

    step = 1e-4
    expected = [(energy(k, -step) - energy(k, step)) / (2.0 * step) for k in range(3)]
    found = spatial_support_forces(here, shapes, home)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-4)


def test_half_a_turn_against_a_support():
    """Where the rotation vector leaps, nothing is computed; a spring along a direction knows no turns."""
    about = leaning(jm.Support("rotation", (0.0, 0.0, 1.0), 50.0))
    way = np.linspace(0.0, 3.5, 8)[:, None]
    refuse_half_turns(about, way[:-1])
    with pytest.raises(ArmError, match=r"link1.support1: .* half a turn .* near \[200.5\] degrees"):
        refuse_half_turns(about, way)
    refuse_half_turns(leaning(ACROSS), way)
    refuse_half_turns(leaning(jm.Support("rotation", (0.0, 0.0, 1.0), 0.0)), way)
    move = dynamics.RestToRest([0.0], [3.5], 2.0)
    with pytest.raises(ArmError, match="half a turn"):
        move_vibration(about, move, 1, **FEW)
    with pytest.raises(ArmError, match="half a turn"):
        time_optimal(about, move, torque=1e4)


def test_all_stiffnesses_by_one_factor():
    """As an arm of another modulus on another spring has it."""
    move, factor = dynamics.RestToRest([0.0], [0.06], 0.15), 1.3
    stiff = leaning(ACROSS).with_values(
        {f"link1.{name}": factor * x for name, x in (("youngs_modulus", 7e10), (SPRING, STIFFNESS))}
    )
    question = question_of(leaning(ACROSS), 2, "euler_bernoulli", 0.01, None, 5)
    found = vibration_of(leaning(ACROSS), move, question, stiffness=factor)
    expected = vibration_of(stiff, move, question)
    np.testing.assert_allclose(found.omega, expected.omega, rtol=1e-10, atol=0.0)
    by_force = expected.amplitudes_by_force_mm
    np.testing.assert_allclose(found.amplitudes_by_force_mm, by_force, rtol=1e-8, atol=1e-12)


def test_a_mode_that_turns_about_turns_all_of_its_numbers():
    """What is linear in the shape changes its sign with it, and follows the order of the modes."""
    here = modes_in(leaning(ACROSS).with_posture([0.3]), 3, "euler_bernoulli", leaning(ACROSS))
    order, signs = np.array([2, 0, 1]), np.array([-1.0, 1.0, -1.0])
    found = _ordered(here, order, signs)
    assert np.all(here.supports != 0.0)
    for name in ("motions", "tips", "joints", "turning", "base", "supports"):
        own = getattr(here, name)[order]
        expected = own * signs.reshape(-1, *(1,) * (own.ndim - 1))
        np.testing.assert_array_equal(getattr(found, name), expected)
    np.testing.assert_array_equal(found.omega, here.omega[order])


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
