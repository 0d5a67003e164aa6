"""Arms in space in motion with springs between tips and the ground: closed forms and the exact frequencies.

What compiles: terms of rigid arms with a few coordinates, short simulations of one, and linearisations.
"""

import dataclasses
import math

import jax
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal import dynamics, symbolic
from jaxmodal.dynamics.mechanics.rotations import rotation, rotation_vector
from jaxmodal.dynamics.parameters import parameter_names, parameters, regressor
from jaxmodal.runtime.errors import ArmError
from tests.support.spatial_dynamics_cases import ROUNDING, relative

ALONG, ABOUT = (
    jm.Support("translation", (0.0, 2.0, 0.0), 300.0),
    jm.Support("rotation", (0.0, 0.0, 0.5), 40.0),
)
LENGTH, REST = 0.8, 0.4


def rod(*supports, angle=REST, **more):
    """A rigid rod of 0.8 m on a joint about z, 2 kg at its tip, unstrained at 0.4 rad."""
    tip = jm.RigidBody(2.0, inertia=(0.01, 0.02, 0.03))
    return jm.SpatialLink(
        LENGTH, rigid=True, joint_angle=angle, body=tip, supports=supports, **more
    )


def test_rotation_vectors_of_rotations():
    """There and back, with the derivative of what does nothing, also where there is no rotation."""
    sizes = [0.0, 1e-9, 1e-3, 0.19, 0.21, 1.5, 3.1, math.pi - 1e-7, math.pi - 1e-13]
    axes = [[2.0, -1.0, 2.0], [-1.0, 2.0, 2.0], [2.0, 2.0, -1.0]]  # each component as the largest
    vectors = [size * np.array(axis) / 3.0 for size in sizes for axis in axes]

    @jax.jit
    def again(vector):
        def once(v):
            return (rotation_vector(rotation(v)),) * 2

        return jax.jacrev(once, has_aux=True)(vector)

    for vector in vectors:
        slope, found = again(vector)
        np.testing.assert_allclose(found, vector, rtol=1e-13, atol=1e-15)
        np.testing.assert_allclose(slope, np.eye(3), rtol=0.0, atol=1e-11)


def test_a_rod_on_springs_in_closed_form():
    """A spring across where the rod begins, and one about its axis, at angles far from where they are unstrained."""
    model = dynamics.flexible_arm(jm.SpatialArm((rod(ALONG, ABOUT),)))
    assert "supports at the tip of link 1" in str(model)
    q = np.array([[REST], [1.3], [-1.7]])  # less than half a turn from there
    rise = LENGTH * (np.sin(q) - math.sin(REST))
    energy = 150.0 * rise**2 + 20.0 * (q - REST) ** 2
    force = 300.0 * rise * LENGTH * np.cos(q) + 40.0 * (q - REST)
    zero = np.zeros_like(q)
    found = dynamics.energies(model, q, zero)
    np.testing.assert_allclose(found.elastic, energy[:, 0], rtol=ROUNDING, atol=1e-13)
    needed = dynamics.inverse_dynamics(model, q, zero, zero)
    np.testing.assert_allclose(needed, force, rtol=1e-13, atol=1e-12)
    law = dynamics.FeedForward(dynamics.Hold(q[1]), gravity_alone=True)
    held = jax.jit(lambda at, rate: law(0.0, at, rate, model))(q[1], zero[1])
    np.testing.assert_allclose(held, force[1], rtol=1e-13, atol=0.0)
    inertia = 2.0 * LENGTH**2 + 0.03
    moved = dynamics.forward_dynamics(model, q, zero, zero)
    np.testing.assert_allclose(moved, -force / inertia, rtol=1e-13, atol=1e-12)
    table = regressor(model, q, zero, zero)
    values = parameters(model)
    assert parameter_names(model)[-4:-2] == (
        "link1.support_stiffness(translation 1)",
        "link1.support_stiffness(rotation 2)",
    )
    np.testing.assert_allclose(table @ values, force, rtol=1e-13, atol=1e-12)


@pytest.mark.slow
def test_energy_is_kept_and_stiff_springs_are_followed():
    """A swing against the springs by both kinds of methods; a spring that explicit steps could not follow stays put."""
    model = dynamics.flexible_arm(jm.SpatialArm((rod(ALONG, ABOUT),)), gravity=(0.0, -9.81, 0.0))
    times = np.linspace(0.0, 0.5, 26)
    swung = dynamics.simulate(model, times, q=[-0.5], method="rk4", step=1e-3)
    assert swung.attrs["energy_balance_error"] < 1e-8
    hard = rod(jm.Support("translation", (0.0, 1.0, 0.0), 1e11))
    stuck = dynamics.flexible_arm(jm.SpatialArm((hard,)), gravity=(0.0, -9.81, 0.0))
    held = dynamics.simulate(stuck, times, q=[REST], method="linearly_implicit", step=5e-3)
    # 19.62 N on 1e11 N/m
    assert float(np.abs(held["joint_angle"].values - REST).max()) < 1e-8


@pytest.mark.slow
def test_a_base_that_floats_on_springs():
    """Six springs at the tip of a rigid arm hold its free base: M and K by hand."""
    base = jm.RigidBody(3.0, (0.1, 0.0, -0.2), (0.2, 0.3, 0.4))
    directions = np.linalg.qr(np.random.default_rng(3).standard_normal((3, 3)))[0]
    supports = [
        jm.Support(kind, tuple(d), k)
        for kind, ks in (("translation", (1e3, 2e3, 3e3)), ("rotation", (40.0, 50.0, 60.0)))
        for d, k in zip(directions.tolist(), ks, strict=True)
    ]
    link = rod(*supports, stator=base).replace(body=None)
    arm = jm.SpatialArm((link,), jm.RigidBody(1.0, inertia=(0.01, 0.02, 0.03)))
    place = np.array([0.2, -0.1, 0.3])
    model = dynamics.flexible_arm(arm, base="free", joint_position=place)
    q = np.concatenate([[REST], dynamics.base_pose()])
    small = dynamics.linearise(model, q, joints="locked")
    tip = place + LENGTH * np.array([math.cos(REST), math.sin(REST), 0.0])
    x, y, z = tip
    lever = np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]])  # of a turn about the base's point
    stiff = directions.T @ np.diag([1e3, 2e3, 3e3]) @ directions
    turning = directions.T @ np.diag([40.0, 50.0, 60.0]) @ directions
    reach = np.hstack([np.eye(3), lever])
    expected = reach.T @ stiff @ reach
    expected[3:, 3:] += turning
    np.testing.assert_allclose(small.stiffness, expected, rtol=1e-12, atol=1e-10)


@pytest.mark.slow
def test_a_base_that_is_driven_strains_supports():
    """The rod follows its base, and the spring, which stays in the ground, holds both back."""
    model = dynamics.flexible_arm(jm.SpatialArm((rod(ALONG),)), base="driven")
    q = np.concatenate([[REST], [0.0, 0.02, 0.0, 0.0, 0.0, 0.0]])
    needed = dynamics.inverse_dynamics(model, q, np.zeros(7), np.zeros(7))
    push, x = 300.0 * 0.02, LENGTH * math.cos(REST)
    expected = [push * x, 0.0, push, 0.0, 0.0, 0.0, push * x]
    np.testing.assert_allclose(needed, expected, rtol=1e-13, atol=1e-13)


SECTION = jm.rectangle(0.012, 0.03, "cowper")
BODY = jm.RigidBody(0.7, (0.01, -0.02, 0.03), [[4e-3, 5e-4, 0], [5e-4, 6e-3, 0], [0, 0, 5e-3]])
BEAM = jm.SpatialLink(
    *(0.6, 7e10, 2700.0, SECTION),
    poisson_ratio=0.33,
    section_roll=0.4,
    body=BODY,
    end_offset=(0.02, 0.01, -0.03),
)
FIRST = BEAM.replace(
    supports=(
        jm.Support("translation", (1.0, 2.0, -0.5), 3e4),
        jm.Support("rotation", (0.3, 1.0, 0.2), 900.0),
        jm.Support("translation", (1.0, 0.0, 0.0), 0.0),
    )
)
LAST = BEAM.replace(
    joint_axis=(0.2, 1.0, -0.4),
    joint_angle=0.9,
    supports=(jm.Support("translation", (0.0, 0.0, 1.0), 5e4),),
)
BENT = jm.SpatialArm((FIRST, LAST), jm.RigidBody(0.5, (0.02, 0.0, 0.0), (1e-3, 2e-3, 2e-3)))


@pytest.mark.slow
def test_small_motions_have_the_exact_frequencies_and_sags():
    """Five shapes of each kind; without the springs the first frequency is a third lower."""
    counts = dict.fromkeys(("stretch", "torsion", "bending_xy", "bending_xz"), 5)
    model = dynamics.flexible_arm(BENT, counts, gravity=(1e-3, 2e-3, -3e-3))
    q = np.zeros(model.num_coordinates)
    q[1] = 0.9
    light = dataclasses.replace(model, gravity=np.zeros(3))
    found = dynamics.linearise(light, q, joints="locked").natural_frequencies()[:5]
    exact = jm.natural_frequencies(BENT, 5, theory="euler_bernoulli")
    np.testing.assert_allclose(found, exact.omega, rtol=1e-6, atol=0.0)
    # where it hangs, beside first-order statics of the loads that are so small that this is all
    rest = dynamics.static_state(model, [0.0, 0.9])
    sag = np.asarray(dynamics.tip_position(model, rest)) - BENT.tip_position()
    hung = jm.static_equilibrium(BENT, gravity=(1e-3, 2e-3, -3e-3), theory="euler_bernoulli")
    assert relative(sag, np.asarray(hung.tip_displacement)[:3]) < 1e-4


def propped():
    """A planar beam on a spring at its tip."""
    held = jm.Link(0.5, 7e10, 2700.0, jm.rectangle(0.003, 0.04, "cowper"), poisson_ratio=0.33)
    return jm.Arm((held.replace(support_y_stiffness=500.0),), jm.Payload(0.2, 1e-4))


@pytest.mark.slow
def test_planar_arms_with_supports_move_as_arms_in_space():
    arm = propped()
    model = dynamics.flexible_arm(jm.to_spatial(arm), {"bending_xy": 4})
    found = dynamics.linearise(model, np.zeros(5), joints="locked").natural_frequencies()
    exact = jm.natural_frequencies(arm, 1, theory="euler_bernoulli").omega
    np.testing.assert_allclose(found[:1], exact, rtol=1e-6, atol=0.0)


def test_what_does_not_go_with_supports():
    hard = jm.Support("translation", (0.0, 0.0, 1.0), math.inf)
    with pytest.raises(ArmError, match=r"link1.support2.stiffness = inf: .* must be finite"):
        dynamics.flexible_arm(jm.SpatialArm((rod(ALONG, hard),)))
    model = dynamics.flexible_arm(jm.SpatialArm((rod(ALONG, ABOUT),)))
    with pytest.raises(ArmError, match="supports at the tip of link 1, and an arm that turns"):
        dynamics.turning_frequencies(model, [1.0])
    with pytest.raises(
        ArmError, match="supports at the tip of link 1, and a model that is written"
    ):
        symbolic.written_equations(model, ["B"])
    with pytest.raises(ArmError, match=r"frames = 'linear': .* 'rotation' beside supports"):
        model.posed(frames="linear", rotor_motion="reflected", torsion_spin="relative")
