"""What a base that floats freely does by closed forms, and with the exact frequencies of the engine.

What compiles: simulations of a rigid body, linearisations of it and of an arm.
"""

import numpy as np
import pytest
from scipy.special import ellipj

import jaxmodal as jm
from jaxmodal.dynamics import (
    Hold,
    base_pose,
    flexible_arm,
    forward_dynamics,
    linearise,
    simulate,
    static_state,
)
from jaxmodal.dynamics.mechanics.rotations import of_quaternion
from tests.support.satellites import SATELLITE, space_arm


def rigid_body(moments):
    """A body with such principal moments about its centre, where its point is, and a link on it of no mass to speak of.

    The link carries a part of the body, held by its motor, so that both are one.
    """
    share = jm.RigidBody(3.0, (0.0, 0.0, 0.0), 0.75 * np.array(moments))
    rest = jm.RigidBody(1.0, (0.0, 0.0, 0.0), 0.25 * np.array(moments))
    link = jm.SpatialLink(0.0, rigid=True, stator=share, body=rest)
    return flexible_arm(jm.SpatialArm((link,)), base="free")


def turned(model, spin, velocity=(0.0, 0.0, 0.0), until=10.0):
    """The body of `rigid_body` from a rotation, with such velocities in its axes, at eleven times."""
    q = np.concatenate([[0.0], base_pose((1.0, 2.0, 3.0), (0.2, 0.7, -0.4))])
    rate = np.concatenate([[0.0], velocity, spin])
    times = np.linspace(0.0, until, 11)
    return simulate(model, times, q, rate, motion=Hold([0.0]), rtol=1e-12, atol=1e-13)


@pytest.mark.slow
def test_a_free_body_turns_as_elliptic_functions_have_it():
    """Euler's equations with three moments, 10 s and some turns: Landau and Lifshitz, Mechanics, section 37."""
    first, second, third = moments = np.array([0.5, 0.8, 1.1])
    spin = np.array([0.9, 0.0, 1.7])
    found = turned(rigid_body(moments), spin)
    twice, square = moments @ spin**2, np.sum((moments * spin) ** 2)
    assert square > twice * second
    pace = np.sqrt((third - second) * (square - twice * first) / np.prod(moments))
    parameter = (second - first) * (twice * third - square)
    parameter /= (third - second) * (square - twice * first)
    sn, cn, dn, _ = ellipj(pace * found["time"].values, parameter)
    middle = np.sqrt((twice * third - square) / (second * (third - second)))
    exact = np.stack([spin[0] * cn, middle * sn, spin[2] * dn], axis=1)
    assert np.abs(found["base_angular_velocity"].values - exact).max() < 1e-10
    assert pace * 10.0 > 2.0 * np.pi
    # its angular momentum stands still in the ground, as the quaternions turn it there
    axes = np.array([of_quaternion(part) for part in found["base_quaternion"].values])
    momentum = np.einsum("tij,tj->ti", axes, moments * exact)
    assert np.abs(momentum - momentum[0]).max() < 1e-10


def test_a_symmetric_top_precesses():
    """It turns about its momentum at L/A, and against that about its own axis: its pose after 10 s, and its drift."""
    across, along = 0.8, 1.3
    spin, velocity = np.array([0.6, 0.0, 2.0]), np.array([0.1, -0.2, 0.3])
    found = turned(rigid_body((across, across, along)), spin, velocity)
    start = np.asarray(of_quaternion(found["base_quaternion"][0].values))
    momentum = start @ (np.array([across, across, along]) * spin)
    for k, time in enumerate(found["time"].values):
        own = np.array([0.0, 0.0, (1.0 - along / across) * spin[2] * time])
        exact = exactly(momentum / across * time) @ start @ exactly(own)
        axes = np.asarray(of_quaternion(found["base_quaternion"][k].values))
        assert np.abs(axes - exact).max() < 1e-10
        place = np.array([1.0, 2.0, 3.0]) + time * start @ velocity
        assert np.abs(found["base_position"][k].values - place).max() < 1e-10


def exactly(vector):
    """The rotation of a vector, however long."""
    return np.asarray(of_quaternion(base_pose(rotation=vector)[-4:]))


def test_a_body_that_spins_about_its_axes():
    """Linearised about steady spins: it nutates about the largest and the smallest, and tumbles about the other."""
    moments, pace = np.array([0.5, 0.8, 1.1]), 2.0
    model = rigid_body(moments)
    q = np.concatenate([[0.0], base_pose((0.5, 0.0, 0.0), (0.1, 0.2, 0.3))])
    for axis in range(3):
        rate = np.zeros(7)
        rate[4 + axis] = pace
        own, others = moments[axis], np.delete(moments, axis)
        # s^2 of Euler's equations near the spin
        square = -np.prod(own - others) / np.prod(others) * pace**2
        root = np.emath.sqrt(square)
        values = linearise(model, q, rate, "locked").eigenvalues()
        assert np.abs(values - root).min() < 1e-7
        assert np.abs(values + root).min() < 1e-7
        # beside that, places and axes that are displaced: seen from axes that turn they turn at the pace, or stand
        rest = np.abs(np.abs(values.imag) - pace) < 1e-6
        assert np.sum(rest) + np.sum(np.abs(values) < 1e-6) == 10


def test_a_reaction_wheel_turns_its_satellite():
    """A torque on the wheel turns both, each against the other, by their moments of inertia."""
    wheel = jm.SpatialLink(
        0.0,
        rigid=True,
        stator=jm.RigidBody(50.0, (0.0, 0.0, 0.0), (4.0, 5.0, 6.0)),
        body=jm.RigidBody(2.0, (0.0, 0.0, 0.0), (0.02, 0.02, 0.03)),
    )
    model = flexible_arm(jm.SpatialArm((wheel,)), base="free")
    found = np.asarray(forward_dynamics(model, static_state(model, [0.4]), np.zeros(7), [0.6]))
    expected = np.zeros(7)
    expected[0], expected[6] = 0.6 * (1.0 / 0.03 + 1.0 / 6.0), -0.6 / 6.0
    assert np.allclose(found, expected, rtol=1e-12, atol=1e-12)


def exact_frequencies(count):
    """Of `space_arm` with locked joints, by the engine: its satellite is there a first link on six free springs."""
    floating = [jm.Spring(kind, e, 0.0) for kind in ("translation", "rotation") for e in np.eye(3)]
    carrier = jm.SpatialLink(0.0, rigid=True, hub=SATELLITE, joint_springs=floating)
    arm = space_arm()
    first, second = arm.links
    whole = arm.replace(links=(carrier, first.replace(stator=None), second))
    return np.asarray(jm.natural_frequencies(whole, count, theory="euler_bernoulli").omega)


@pytest.mark.slow
def test_frequencies_converge_to_the_exact_ones_of_an_arm_that_floats():
    """Six are 0, and eight others come down as shapes are added, wherever the base is and whatever its point."""
    exact = exact_frequencies(14)
    assert np.all(exact[:6] == 0.0)
    excess = []
    for count in (2, 4, 8):
        every = dict.fromkeys(("stretch", "torsion", "bending_xy", "bending_xz"), count)
        model = flexible_arm(space_arm(), every, base="free", joint_position=(0.2, 0.1, -0.3))
        q = static_state(model, [0.4, 0.7])
        q[-7:] = base_pose((1.0, 2.0, 3.0), (0.3, -2.0, 0.5))
        found = linearise(model, q, joints="locked").natural_frequencies()
        assert np.all(found[:6] == 0.0)
        lost = np.finfo(float).eps * (found[-1] / exact[6:]) ** 2
        assert np.all(found[6:14] > exact[6:] * (1.0 - 1e-12 - lost))
        excess.append(np.max(found[6:14] / exact[6:] - 1.0 - lost))
    assert excess[0] > 1e-2
    assert excess[1] < 1e-3
    assert excess[2] < 1e-9
    # free joints are zeros more
    assert np.all(linearise(model, q).natural_frequencies()[:8] == 0.0)
