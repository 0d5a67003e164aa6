"""The spinning beam and the station's arm: their data, their motions beside other equations, what a report says."""

import numpy as np
import pytest
from numpy.polynomial import Polynomial
from scipy.integrate import solve_ivp

import jaxmodal as jm
from benchmarks.reproduction import spatial_arm_motions as motions
from benchmarks.reproduction.spatial_arm_report import _statements


def linear_peak(rate, shortened):
    """Of the beam as a Ritz model in its turning axes, x^2 to x^4, its equations linear in the deflection.

    M a'' + (K + W^2 (S - M)) a = -W' p, where S is the stiffness by tension, the integral of N(x) v'^2/W^2.
    """
    length, line, rigidity = 8.0, 2.7667e3 * 7.2968e-5, 6.8952e10 * 8.2189e-9
    x, w = np.polynomial.legendre.leggauss(12)
    x, w = 0.5 * length * (x + 1.0), 0.5 * length * w
    shapes = [Polynomial.basis(k) / length**k for k in (2, 3, 4)]
    value, slope, curve = (np.array([p.deriv(m)(x) for p in shapes]) for m in (0, 1, 2))
    mass, stiff = (line * value * w) @ value.T, (rigidity * curve * w) @ curve.T
    tension = (0.5 * line * (length**2 - x**2) * slope * w) @ slope.T
    push = (line * x * w) @ value.T
    end = np.array([p(length) for p in shapes])

    def spin(t):
        part = np.clip(t / 15.0, 0.0, 1.0)
        speed = rate * (part - np.sin(2 * np.pi * part) / (2 * np.pi))
        return speed, rate / 15.0 * (1.0 - np.cos(2 * np.pi * part))

    def flow(t, state):
        speed, change = spin(t)
        held = stiff + speed**2 * (tension * shortened - mass)
        return np.concatenate([state[3:], np.linalg.solve(mass, -change * push - held @ state[:3])])

    found = solve_ivp(flow, (0.0, 20.0), np.zeros(6), rtol=1e-9, atol=1e-12, t_eval=motions.TIMES)
    return np.abs(end @ found.y[:3]).max()


@pytest.mark.slow
@pytest.mark.parametrize("shortened", [True, False])
def test_a_beam_spun_up_is_that_of_linear_theory(shortened):
    """At 0.6 rad/s it is away by a hundredth of its length: terms of third order are 1e-4 of that."""
    found = motions.spun_up(0.6, shortened)
    np.testing.assert_allclose(found.peak, linear_peak(0.6, shortened), rtol=3e-4, atol=0)
    fast = motions.spun_up(8.0, shortened)
    assert np.isfinite(fast.peak) == shortened


def test_the_station_arm_has_what_is_printed():
    arm = jm.examples.space_station_arm()
    assert len(arm.joints) == 7
    booms = [link for link in arm.links if not link.rigid]
    assert len(booms) == 2
    for boom in booms:
        values = boom.section_values
        young = float(boom.youngs_modulus)
        for second in (values.second_moment_y, values.second_moment_z):
            np.testing.assert_allclose(young * float(second), 3.8e6, rtol=1e-6, atol=0)
        np.testing.assert_allclose(young * float(values.area), 2.84e7, rtol=1e-6, atol=0)
        assert float(boom.shear_modulus) == 2.7e10
        polar = float(
            boom.density * (values.second_moment_y + values.second_moment_z) * boom.length
        )
        np.testing.assert_allclose(polar, 15.41, rtol=1e-5, atol=0)
    assert float(booms[1].base_offset.y) == 0.475
    for link in arm.links:
        np.testing.assert_allclose(
            float(link.rotor_inertia * link.gear_ratio**2), 5.0, rtol=1e-14, atol=0
        )
    angles = [abs(float(link.joint_angle)) for link in arm.links[1:5]]
    np.testing.assert_allclose(angles, 0.4 * np.pi, rtol=1e-14, atol=0)
    assert jm.natural_frequencies(arm, 8).certified.all()


def test_a_statement_that_does_not_hold_is_told():
    still = np.zeros(3)
    runs = [motions.SpunUp(rate, 0.1, 0.0, still) for rate in motions.RATES]
    falls = [motions.Fall(rotor, np.full(7, 1.0), None) for rotor in motions.ROTORS]
    assert [holds for _, _, holds in _statements(runs, runs, falls)] == [False] * 4
