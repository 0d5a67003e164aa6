"""Planar arms on springs between tips and the ground: closed forms, arms in space, exact frequencies."""

import math

import jax
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal import dynamics, symbolic
from jaxmodal.dynamics.mechanics import supports
from jaxmodal.dynamics.parameters import parameter_names, parameters, regressor
from jaxmodal.runtime.errors import ArmError
from tests.support.spatial_dynamics_cases import ROUNDING

LENGTH, REST = 0.8, 0.4
STEEL = jm.rectangle(depth=0.004, width=0.04, shear_coefficient="cowper")
BEAM = jm.Link(0.5, 7e10, 2700.0, STEEL, poisson_ratio=0.33, tip_mass=0.3, tip_inertia=2e-4)
FIRST = BEAM.replace(joint_angle=0.3, support_y_stiffness=700.0)
LAST = BEAM.replace(joint_angle=0.9, support_x_stiffness=400.0, support_torsional_stiffness=25.0)
BENT = jm.Arm((FIRST, LAST), jm.Payload(0.2, 1e-4))
POSTURE = [0.3, 0.9]


def rod(**supports):
    """A rigid rod of 0.8 m, 2 kg at its tip, unstrained at 0.4 rad."""
    return jm.Arm(
        (
            jm.Link(
                *(LENGTH, 7e10, 1e-9, jm.rectangle(0.01, 0.01)),
                rigid=True,
                joint_angle=REST,
                tip_mass=2.0,
                tip_inertia=0.03,
                **supports,
            ),
        )
    )


SPRUNG = {
    "support_x_stiffness": 200.0,
    "support_y_stiffness": 300.0,
    "support_torsional_stiffness": 40.0,
}


def test_a_rod_on_springs_in_closed_form():
    """Springs along x and y and one that takes the turn, also beyond half a turn from where they are unstrained."""
    model = dynamics.flexible_arm(rod(**SPRUNG))
    assert "supports at the tip of link 1" in str(model)
    q = np.array([[REST], [1.3], [-1.7], [4.5]])
    aside, rise = LENGTH * (np.cos(q) - math.cos(REST)), LENGTH * (np.sin(q) - math.sin(REST))
    energy = 100.0 * aside**2 + 150.0 * rise**2 + 20.0 * (q - REST) ** 2
    force = LENGTH * (300.0 * rise * np.cos(q) - 200.0 * aside * np.sin(q)) + 40.0 * (q - REST)
    zero = np.zeros_like(q)
    found = dynamics.energies(model, q, zero)
    np.testing.assert_allclose(found.elastic, energy[:, 0], rtol=ROUNDING, atol=1e-13)
    needed = dynamics.inverse_dynamics(model, q, zero, zero)
    np.testing.assert_allclose(needed, force, rtol=1e-13, atol=1e-12)
    moved = dynamics.forward_dynamics(model, q, zero, zero)
    np.testing.assert_allclose(moved, -force / (2.0 * LENGTH**2 + 0.03), rtol=1e-9, atol=1e-8)
    table = regressor(model, q, zero, zero)
    assert parameter_names(model)[-5:-2] == (
        "link1.support_stiffness(translation 1)",
        "link1.support_stiffness(translation 2)",
        "link1.support_stiffness(rotation 3)",
    )
    np.testing.assert_allclose(table @ parameters(model), force, rtol=1e-13, atol=1e-12)
    held = dynamics.FeedForward(dynamics.Hold([1.3]), gravity_alone=True)
    torque = jax.jit(lambda at, rate: held(0.0, at, rate, model))(q[1], zero[1])
    np.testing.assert_allclose(torque, force[1], rtol=1e-13, atol=1e-12)


@pytest.mark.slow
def test_forces_are_those_of_the_arm_in_space():
    """Bent, in gravity and in motion: the same energies and forces, and the same state of rest.

    Within half a turn from where the springs are unstrained: beyond it the plane counts on, as no rotation vector does.
    """
    choice = {"shapes": "polynomial"}
    model = dynamics.flexible_arm(BENT, 2, gravity=(0.5, -9.81), **choice)
    space = dynamics.flexible_arm(
        jm.to_spatial(BENT), {"bending_xy": 2}, gravity=(0.5, -9.81, 0.0), **choice
    )
    rng = np.random.default_rng(5)
    q, rate, faster = rng.uniform(-1.0, 1.0, (3, 6)) * np.array([1.0, 1.0, *[0.02] * 4])
    for found, expected in zip(
        dynamics.energies(model, q, rate), dynamics.energies(space, q, rate), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    ours, theirs = (dynamics.inverse_dynamics(m, q, rate, faster) for m in (model, space))
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12 * float(np.abs(theirs).max()))
    ours, theirs = (dynamics.static_state(m, [0.1, 1.2]) for m in (model, space))
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


def locked_ratios(arm, count, exact):
    """Frequencies on locked joints in the arm's posture over those of the engine, whose links stretch as little."""
    model = dynamics.flexible_arm(arm, count, shapes="polynomial")
    q = np.zeros(model.num_coordinates)
    q[: model.num_links] = [arm.links[k - 1].joint_angle for k in arm.joints]
    found = dynamics.linearise(model, q, joints="locked").natural_frequencies()[:exact]
    return found / jm.natural_frequencies(arm, exact, theory="bending_only").omega


def test_small_motions_have_the_exact_frequencies():
    np.testing.assert_allclose(locked_ratios(BENT, 6, 3), 1.0, rtol=1e-6, atol=0.0)


@pytest.mark.slow
def test_a_support_where_two_segments_meet():
    """Smooth shapes take the step that it makes in the shear force slowly: 12 of them, two frequencies."""
    near = BEAM.replace(support_y_stiffness=700.0, length=0.2, tip_inertia=0.0)
    found = locked_ratios(jm.Arm((near, BEAM.replace(segment=True, length=0.3))), 12, 2)
    np.testing.assert_allclose(found[0], 1.0, rtol=1e-6, atol=0.0)
    np.testing.assert_allclose(found[1], 1.0, rtol=1e-3, atol=0.0)


def test_springs_at_segments_are_unstrained_in_the_own_posture():
    """A straight arm of two segments, 0.2 and 0.3 m, on a spring at the end of each."""
    near = BEAM.replace(length=0.2, joint_angle=REST, support_x_stiffness=900.0)
    far = BEAM.replace(length=0.3, segment=True, support_y_stiffness=700.0)
    model = dynamics.flexible_arm(jm.Arm((near, far)), 1, shapes="polynomial")
    q = np.zeros((2, model.num_coordinates))
    q[:, 0] = REST, 1.3
    found = dynamics.energies(model, q, np.zeros_like(q)).elastic
    aside, rise = (of(1.3) - of(REST) for of in (math.cos, math.sin))
    expected = 450.0 * (0.2 * aside) ** 2 + 350.0 * (0.5 * rise) ** 2
    np.testing.assert_allclose(found, [0.0, expected], rtol=1e-12, atol=1e-12)


def test_implicit_steps_take_the_stiffness_of_the_springs():
    """Unstrained springs have no other stiffness; half of it would do for steps that are short."""
    model = dynamics.flexible_arm(rod(**SPRUNG), shapes="polynomial")
    home = np.array([REST])
    found = jax.jit(lambda q: supports.tangent(model, q))(home)
    expected = jax.jit(jax.jacfwd(lambda q: supports.forces(model, q)))(home)
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=0.0)


@pytest.mark.slow
def test_energy_is_kept_and_stiff_springs_are_followed():
    """A swing against the springs; a spring that explicit steps could not follow stays put."""
    model = dynamics.flexible_arm(rod(**SPRUNG), gravity=(0.0, -9.81))
    times = np.linspace(0.0, 0.5, 26)
    swung = dynamics.simulate(model, times, q=[-0.5], method="rk4", step=1e-3)
    assert swung.attrs["energy_balance_error"] < 1e-8
    stuck = dynamics.flexible_arm(rod(support_y_stiffness=1e11), gravity=(0.0, -9.81))
    held = dynamics.simulate(stuck, times, q=[REST], method="linearly_implicit", step=5e-3)
    # 19.62 N on 1e11 N/m
    assert float(np.abs(held["joint_angle"].values - REST).max()) < 1e-8


def test_derivatives_by_a_stiffness():
    """The energy is linear in it: its derivative is half the square of what the spring gives."""

    def energy(stiffness):
        model = dynamics.flexible_arm(rod(support_y_stiffness=stiffness), shapes="polynomial")
        return dynamics.energies(model, np.array([1.3]), np.zeros(1)).elastic

    rise = LENGTH * (math.sin(1.3) - math.sin(REST))
    np.testing.assert_allclose(jax.grad(energy)(300.0), 0.5 * rise**2, rtol=1e-13, atol=0.0)


def test_what_does_not_go_with_supports():
    for name, unit in (("support_y_stiffness", "N/m"), ("support_torsional_stiffness", "N m/rad")):
        arm = jm.Arm((BEAM, LAST.replace(**{name: math.inf})))
        with pytest.raises(ArmError, match=rf"link2\.{name} = inf: .* must be finite \({unit}\)"):
            dynamics.flexible_arm(arm)
    model = dynamics.flexible_arm(rod(**SPRUNG))
    with pytest.raises(
        ArmError,
        match=r"an arm that turns steadily.*leave out supports of its links .*support_torsional_stiffness",
    ):
        dynamics.turning_frequencies(model, [1.0])
    with pytest.raises(ArmError, match="tip of link 1, and a model that is written"):
        symbolic.written_equations(model, ["B"])
    with pytest.raises(ArmError, match=r"frames = 'linear': .*support_torsional_stiffness"):
        model.posed(frames="linear")
    with pytest.raises(ArmError, match="link 1 between joints stands on a support"):
        symbolic.closed_form_values(BENT, 1)
