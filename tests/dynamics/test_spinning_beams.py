"""Do beams that are spun up bend as the literature says, by their linear equation and by the whole one?

What compiles: the linearisation of a beam with twelve shapes; the slow tests, the integration by fixed steps.
"""

import numpy as np
import pytest
import scipy.integrate
import scipy.linalg

import jaxmodal as jm
from jaxmodal.dynamics import SpinUp, flexible_arm, linearise, simulate
from tests.support.dynamics_cases import uniform_link

SLOWEST = 6


def linear_spin_up(model, rates, duration):
    """Deflections of a straight beam spun up, to first order in them: smallest tip deflection for each rate, and when.

    K is that of the linearisation at a steady rate, which is K_0 + Omega^2 K_1; SciPy integrates.
    """
    size = model.num_coordinates
    still, spun = (
        linearise(model, None, [turning] + [0.0] * (size - 1), joints="locked")
        for turning in (0.0, 1.0)
    )
    gram, change = np.asarray(model.gram)[0, 1, 2 : 1 + size], spun.stiffness - still.stiffness
    rates = np.asarray(rates)[:, None]
    # the slowest modes at half the rate: the others would only make small steps
    kept = np.stack(
        [
            scipy.linalg.eigh(still.stiffness + 0.25 * rate**2 * change, still.mass)[1][:, :SLOWEST]
            for rate in rates[:, 0]
        ]
    )
    steady, changed = (kept.mT @ table @ kept for table in (still.stiffness, change))
    moments = gram @ kept
    turn = 2.0 * np.pi / duration

    def slope(t, y):
        inside, (at, speed) = t < duration, y.reshape(2, *moments.shape)
        omega = rates / duration * (t - np.sin(turn * t) / turn) if inside else rates
        gain = rates / duration * (1.0 - np.cos(turn * t)) if inside else 0.0
        pull = (steady + omega[..., None] ** 2 * changed) @ at[..., None]
        return np.concatenate([speed, -pull[..., 0] - gain * moments], axis=None)

    times = np.linspace(0.0, duration + 3.0, 3001)
    found = scipy.integrate.solve_ivp(
        slope, times[[0, -1]], np.zeros(2 * moments.size), "DOP853", times, rtol=1e-8, atol=1e-10
    )
    motion = found.y[: moments.size].reshape(*moments.shape, -1)
    tips = np.einsum("rk,rkt->rt", model.tip[0] @ kept, motion)
    return tips.min(axis=1), times[tips.argmin(axis=1)]


def classical_arm():
    return jm.Arm((uniform_link(10.0, 1.4e4, 1.2),))


def test_spin_up_of_the_classical_beam_by_its_linear_equation():
    """10 m, EI 1.4e4, rho A 1.2, to 6 rad/s in 15 s: deepest tip deflection -0.5744 m at 6.76 s."""
    model = flexible_arm(classical_arm(), 12, shapes="polynomial")  # the program of the other beam
    (deepest,), (when,) = linear_spin_up(model, [6.0], 15.0)
    np.testing.assert_allclose(deepest, -0.5744, rtol=0.0, atol=6e-5)
    np.testing.assert_allclose(when, 6.76, rtol=0.0, atol=0.01)


@pytest.mark.slow
def test_spin_up_of_the_classical_beam():
    """The nonlinear motion differs from those figures by the square of deflection over length."""
    times = np.linspace(0.0, 15.0, 751)
    motion = SpinUp(np.array([6.0]), 15.0)
    model = flexible_arm(classical_arm(), 3, shapes="clamped_free")
    found = simulate(model, times, motion=motion, method="rk4", step=5e-3)
    deflection = found["end_deflection"].values[:, 0]
    np.testing.assert_allclose(deflection.min(), -0.5744, rtol=0.0574**2)
    np.testing.assert_allclose(times[deflection.argmin()], 6.76, rtol=0.0, atol=0.03)


LAGS = [(0.6, 0.08554), (2.0, 0.28024), (3.0, 0.41155), (8.0, 0.93561), (10.0, 1.08824)]


def test_peak_lags_of_the_linear_equation():
    """8 m beam, 15 s: five digits at five rates; twelve polynomials, for the layer at the clamp is thin at 10 rad/s."""
    model = flexible_arm(jm.Arm((spinning_link(),)), 12, shapes="polynomial")
    found, _ = linear_spin_up(model, [rate for rate, _ in LAGS], 15.0)
    np.testing.assert_allclose(found, [-lag for _, lag in LAGS], rtol=0.0, atol=2e-5)


@pytest.mark.slow
@pytest.mark.parametrize(("rate", "lag"), LAGS)
def test_peak_lag_of_the_spinning_beam(rate, lag):
    """The linear in-plane equation of the reference, to the order of the square of the deflection over the length.

    What stands before that square is of order one and comes from no other source; this allows 2.
    """
    arm = jm.Arm((spinning_link(),))
    model = flexible_arm(arm, 3, shapes="clamped_free")
    times = np.linspace(0.0, 16.0, 1601)
    found = simulate(model, times, motion=SpinUp(np.array([rate]), 15.0), method="rk4", step=5e-3)
    peak = -found["end_deflection"].values.min()
    np.testing.assert_allclose(peak, lag, rtol=2.0 * (lag / 8.0) ** 2)
    rigid = simulate(
        model.posed(foreshortening=False),
        times,
        motion=SpinUp(np.array([rate]), 15.0),
        method="rk4",
        step=5e-3,
    )
    diverged = not np.nanmax(np.abs(rigid["end_deflection"])) < 4.0
    assert diverged == (rate >= 3.0)


def spinning_link():
    return jm.Link(8.0, 6.8952e10, 2766.7, jm.raw_section(area=7.2968e-5, second_moment=8.2189e-9))
