"""Rigid arms in space whose equations a textbook has: three joints with point masses, and the heavy top.

What compiles: all terms of one arm, one simulation.
"""

import jax
import numpy as np
import pytest
import scipy.special

import jaxmodal as jm
from jaxmodal.dynamics import flexible_arm, simulate
from tests.support.spatial_dynamics_cases import all_terms, relative

GRAVITY = 9.81


def positions(q, upper=0.9, fore=0.7):
    """Ends of upper arm and forearm: an upright axis, then shoulder and elbow about y, which lower them."""
    turn, shoulder, elbow = q[0], q[1], q[1] + q[2]
    out = upper * np.cos(shoulder)
    first = [out * np.cos(turn), out * np.sin(turn), -upper * np.sin(shoulder)]
    out = out + fore * np.cos(elbow)
    last = [out * np.cos(turn), out * np.sin(turn), first[2] - fore * np.sin(elbow)]
    return np.array([first, last])


def jacobians(q):
    """Of both places by the joints, (2, 3, 3), from the closed form."""
    turn, shoulder, elbow = q[0], q[1], q[1] + q[2]
    c, s = np.cos(turn), np.sin(turn)
    found = np.zeros((2, 3, 3), dtype=np.asarray(q).dtype)
    parts = [(0.9, shoulder), (0.7, elbow)]
    for point in range(2):
        for number, (length, angle) in enumerate(parts[: point + 1]):
            out, down = length * np.cos(angle), length * np.sin(angle)
            found[point, :, 0] += [-out * s, out * c, 0.0 * c]
            by_angle = np.array([-down * c, -down * s, -out])
            found[point, :, 1] += by_angle
            if number == 1:
                found[point, :, 2] += by_angle
    return found


def test_an_elbow_arm_with_point_masses():
    """Inertia, Coriolis forces and gravity of the closed form; accelerations of it solved."""
    masses = np.array([2.0, 1.3])
    links = (
        jm.SpatialLink(0.0, rigid=True),
        jm.SpatialLink(0.9, rigid=True, joint_axis=(0, 1, 0), body=jm.RigidBody(masses[0])),
        jm.SpatialLink(0.7, rigid=True, joint_axis=(0, 1, 0)),
    )
    arm = jm.SpatialArm(links, payload=jm.RigidBody(masses[1]))
    model = flexible_arm(arm, gravity=(0.0, 0.0, -GRAVITY))
    rng = np.random.default_rng(3)
    for q, rate, torques in rng.uniform(-1.2, 1.2, (5, 3, 3)):
        rows = jacobians(q)
        step = 1e-30
        assert np.allclose(
            positions(q + 1j * step * rate).imag / step, rows @ rate, rtol=0.0, atol=1e-14
        )
        inertia = np.einsum("p,pai,paj->ij", masses, rows, rows)
        change = jacobians(q + 1j * step * rate).imag / step @ rate
        bias = np.einsum("p,pai,pa->i", masses, rows, change)
        weight = GRAVITY * np.einsum("p,pi->i", masses, rows[:, 2])
        found = jax.device_get(all_terms(model, q, rate, torques))
        assert relative(found["mass_matrix"], inertia) < 4e-15
        assert (
            relative(found["bias"], bias)
            < 4e-15 * np.abs(inertia).max() / np.abs(bias).max() + 4e-15
        )
        assert relative(found["gravity_vector"], weight) < 4e-15
        assert relative(found["tip_position"], positions(q)[1]) < 4e-15
        expected = np.linalg.solve(inertia, torques - bias - weight)
        for way in ("acceleration", "recursion"):
            assert relative(found[way], expected) < 1e-15 * np.linalg.cond(inertia) + 1e-14


@pytest.mark.slow
def test_a_heavy_symmetric_top_nutates_as_elliptic_functions_say():
    """Let go with spin alone: the cosine of its slant is that of Euler, Lagrange and Jacobi for three nutations."""
    mass, centre, across, along = 1.5, 0.2, 0.03, 0.012
    about_point = across + mass * centre**2
    top = jm.RigidBody(mass, centre=(0.0, 0.0, centre), inertia=(across, across, along))
    links = (
        jm.SpatialLink(0.0, rigid=True),
        jm.SpatialLink(0.0, rigid=True, joint_axis=(1, 0, 0)),
        jm.SpatialLink(0.0, rigid=True, hub=top),
    )
    model = flexible_arm(jm.SpatialArm(links), gravity=(0.0, 0.0, -GRAVITY))
    slant, spin = 0.6, 60.0
    # constants of the motion, by the moment of inertia across; at the start it does not precess
    start = np.cos(slant)
    a = along * spin / about_point
    b = a * start
    beta = 2.0 * mass * GRAVITY * centre / about_point
    alpha = beta * start
    low, high, beyond = np.sort(
        np.roots([beta, -(alpha + a**2), 2.0 * a * b - beta, alpha - b**2]).real
    )
    assert abs(high - start) < 1e-12
    modulus = (high - low) / (beyond - low)
    rate = 0.5 * np.sqrt(beta * (beyond - low))
    quarter = scipy.special.ellipk(modulus)
    times = np.linspace(0.0, 6.0 * quarter / rate, 61)
    expected = low + (high - low) * scipy.special.ellipj(rate * times + quarter, modulus)[0] ** 2
    moved = simulate(model, times, [0.0, slant, 0.0], [0.0, 0.0, spin], rtol=1e-11, atol=1e-13)
    assert moved.attrs["status"] == "finished"
    found = np.cos(moved["joint_angle"].values[:, 1])
    assert np.ptp(found) > 0.05
    assert np.allclose(found, expected, rtol=0.0, atol=1e-9)
