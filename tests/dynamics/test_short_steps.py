"""Is it said before an integration that explicit steps will be very many, and nothing where they are few?

Warnings are errors in the tests, so a simulation that is warned of ends there. What compiles: the program that
describes a trajectory, of a rod and of an arm with two flexible links, and one integration of the rod.
"""

import logging
import math
import warnings

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal import dynamics
from jaxmodal.dynamics.drives.torques import as_law
from jaxmodal.dynamics.integration import short_steps
from jaxmodal.dynamics.integration.flow import Driven
from jaxmodal.dynamics.integration.short_steps import fastest_rate, warn_of_short_steps
from tests.dynamics.test_supports import BEAM, LENGTH, REST, rod

STIFF = 1e9
#: of a rod with 2 kg and 0.03 kg m^2 at its tip, on a spring across it
RATE = LENGTH * math.cos(REST) * math.sqrt(STIFF / (2.0 * LENGTH**2 + 0.03))


def test_a_stiff_support_is_warned_of_before_steps_are_taken():
    """By the closed form of its frequency."""
    model = dynamics.flexible_arm(rod(support_y_stiffness=STIFF), gravity=(0.0, -9.81))
    times = np.linspace(0.0, 10.0, 11)
    digits = math.floor(math.log10(10.0 * RATE / 4.5)) - 1
    least = round(10.0 * RATE / 4.5, -digits)
    words = rf"'dopri8': takes at least {least:,.0f} steps here.*'linearly_implicit'"
    with pytest.raises(jm.StiffMotionWarning, match=words) as given:
        dynamics.simulate(model, times, q=[REST])
    assert f"at {RATE:.3g} rad/s at the start." in str(given.value)
    with pytest.raises(jm.StiffMotionWarning, match=r"it ends before that, at max_steps\."):
        dynamics.simulate(model, times, q=[REST], max_steps=500)


def said(monkeypatch, method, times, rate=1000.0, per_run=None, max_steps=10**6):
    """The warning about a motion with a fastest rate in rad/s; None without one."""
    monkeypatch.setattr(short_steps, "fastest_rate", lambda *_: rate)
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        warn_of_short_steps(None, None, times, per_run or times.size, method, max_steps)
    return str(given[0].message) if given else None


def test_few_steps_are_not_warned_of(monkeypatch):
    """Ten thousand, or four between output times; none of a method without such steps, or where nothing is known."""
    some, many = (
        np.linspace(3.0, 93.0, 11),
        np.linspace(3.0, 93.0, 6001),
    )  # 90,000 rad, 20,000 steps
    assert "takes at least 20,000 steps here, and up to 230,000 " in said(
        monkeypatch, "dopri8", some
    )
    assert "takes at least 28,000 steps here, and up to 1,800,000 " in said(
        monkeypatch, "tsit5", some
    )
    assert said(monkeypatch, "dopri8", some, rate=510.0) is not None
    assert said(monkeypatch, "dopri8", some, rate=490.0) is None
    assert said(monkeypatch, "dopri8", many) is None
    assert said(monkeypatch, "dopri8", many, rate=1300.0) is not None
    assert said(monkeypatch, "dopri8", some, rate=np.nan) is None
    for method in ("kvaerno5", "rk4", "linearly_implicit"):
        assert said(monkeypatch, method, some) is None


def test_the_most_steps_are_those_of_each_run(monkeypatch):
    """Of ten intervals in runs of two, five times as many."""
    times = np.linspace(0.0, 90.0, 11)
    assert "ends before" in said(monkeypatch, "dopri8", times, per_run=3, max_steps=3900)
    assert "ends before" not in said(monkeypatch, "dopri8", times, per_run=3, max_steps=4100)


@pytest.mark.slow
@pytest.mark.parametrize(("method", "solver"), [("dopri8", "Dopri8"), ("tsit5", "Tsit5")])
def test_steps_of_an_oscillator_lie_between_the_numbers_told(method, solver):
    """Counted: damped in all degrees and pushed slowly, then without damping and excited."""
    made = getattr(diffrax, solver)()
    rate, span = 1000.0, 2.0

    def slopes(time, state, damping):
        force = jnp.cos(time) - rate**2 * state[0] - damping * state[1]
        return jnp.stack([state[1], force])

    @jax.jit
    def steps(place, damping):
        tolerances = diffrax.PIDController(rtol=1e-9, atol=1e-11)
        start = jnp.stack([place, 0.0 * place])
        return diffrax.diffeqsolve(
            *(diffrax.ODETerm(slopes), made, 0.0, span, None, start, damping),
            stepsize_controller=tolerances,
            max_steps=100_000,
        ).stats["num_steps"]

    reached = []
    for ratio in (0.2, 0.4, 0.6, 0.8, 0.9, 1.0, 1.2, 2.0, 5.0):
        fastest = rate * (ratio + math.sqrt(max(ratio**2 - 1.0, 0.0)) if ratio > 1.0 else 1.0)
        reached.append(span * fastest / int(steps(1e-6, 2.0 * ratio * rate)))
    followed = [span * rate / int(steps(place, 0.0)) for place in (1e-5, 1e-4, 1e-2, 1.0)]
    assert 0.85 < max(reached) / short_steps._REACH[method] < 1.0
    assert 1.0 < min(followed) / short_steps._FOLLOWED[method] < 1.2


@pytest.mark.slow
def test_nothing_is_said_and_nothing_is_compiled_for_it(caplog):
    """Of a short time; what tells it is the program that describes a trajectory."""
    model = dynamics.flexible_arm(rod(support_y_stiffness=STIFF), gravity=(0.0, -9.81))
    times = np.linspace(0.0, 1e-3, 11)
    with pytest.raises(jm.StiffMotionWarning):
        dynamics.simulate(model, 1e4 * times, q=[REST], max_steps=500)
    with caplog.at_level(logging.WARNING, logger="jax"), jax.log_compiles():
        moved = dynamics.simulate(model, times, q=[REST], max_steps=500)
    assert moved.attrs["status"] == "finished"
    assert "jit(_integrated)" in caplog.text
    assert "jit(_described)" not in caplog.text


@pytest.mark.slow
@pytest.mark.parametrize("locked", [False, True])
def test_the_fastest_motion_is_that_of_the_linearised_arm(locked):
    """Two flexible links in gravity with dampers, one on a stiff support: free, and with their motors held."""
    second = BEAM.replace(joint_angle=0.9, support_y_stiffness=1e6)
    arm = jm.Arm((BEAM.replace(joint_angle=0.3), second), jm.Payload(0.2, 1e-4))
    model = dynamics.flexible_arm(arm, 2, gravity=(0.5, -9.81), kelvin_voigt_time=1e-3)
    q = dynamics.static_state(model, [0.3, 0.9])
    motion = dynamics.Hold(q[:2]) if locked else None
    system = Driven(model, as_law(None), motion)
    state = np.concatenate([q, np.zeros(8)])
    if not locked:  # at rest as well: the torques that hold the arm there
        held = dynamics.inverse_dynamics(model, q, 0 * q, 0 * q)[model.layout.driven]
        system = system._replace(law=as_law(lambda *_: jnp.asarray(held)))
    found = fastest_rate(system, state, np.linspace(0.0, 1.0, 5))
    small = dynamics.linearise(model, q, joints="locked" if locked else "free")
    expected = np.abs(small.eigenvalues()).max()
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=0.0)
