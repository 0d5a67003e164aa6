"""Is it said before an integration that explicit steps will be very many, and nothing where they are few?

Warnings are errors in the tests, so a simulation that is warned of ends there. What compiles: the program that
describes a trajectory, of a rod and of an arm with two flexible links, and one integration of the rod.
"""

import logging
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal import dynamics
from jaxmodal.dynamics.drives.torques import as_law
from jaxmodal.dynamics.integration.flow import Driven
from jaxmodal.dynamics.integration.short_steps import fastest_rate
from tests.dynamics.test_supports import BEAM, LENGTH, REST, rod

STIFF = 1e9
#: of a rod with 2 kg and 0.03 kg m^2 at its tip, on a spring across it
RATE = LENGTH * math.cos(REST) * math.sqrt(STIFF / (2.0 * LENGTH**2 + 0.03))


def test_a_stiff_support_is_warned_of_before_steps_are_taken():
    """By the closed form of its frequency."""
    model = dynamics.flexible_arm(rod(support_y_stiffness=STIFF), gravity=(0.0, -9.81))
    times = np.linspace(0.0, 10.0, 11)
    digits = math.floor(math.log10(10.0 * RATE / 4.0)) - 1
    least = round(10.0 * RATE / 4.0, -digits)
    words = rf"'dopri8': takes at least {least:,.0f} steps here.*'linearly_implicit'"
    with pytest.raises(jm.StiffMotionWarning, match=words) as given:
        dynamics.simulate(model, times, q=[REST])
    assert f"at {RATE:.3g} rad/s at the start." in str(given.value)
    with pytest.raises(jm.StiffMotionWarning, match=r"it ends before that, at max_steps\."):
        dynamics.simulate(model, times, q=[REST], max_steps=500)


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
