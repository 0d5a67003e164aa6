"""Linkages, arms whose last tip rigid supports pin to the ground: their motion as a mechanism, and at rest."""

import numpy as np
import pytest

import jaxmodal as jm


def linkage(pin, **crank):
    """A four-bar linkage, the ground its fourth bar."""
    section = jm.rectangle(0.01, 0.03, "cowper")

    def bar(length, **more):
        return jm.Link(length, 2.1e11, 7800.0, section, poisson_ratio=0.3, **more)

    hinge = {"joint_stiffness": 0.0}
    coupler = bar(0.6, joint_angle=-1.0, **hinge)
    return jm.Arm(
        (bar(0.2, joint_angle=1.2, **crank), coupler, bar(0.4, joint_angle=-1.5, **hinge, **pin))
    )


def inertia_of_mechanism(arm):
    """Twice the kinetic energy of rigid bars in the motion that leaves the last tip at rest, the crank at 1 rad/s."""
    lengths = np.array([float(x.length) for x in arm.links])
    across = 1j * lengths * np.exp(1j * np.cumsum([float(x.joint_angle) for x in arm.links]))
    rates = np.linalg.solve([across[1:].real, across[1:].imag], [-across[0].real, -across[0].imag])
    rates = np.array([1.0, *rates])
    ends = np.cumsum(rates * across)
    middles = ends - 0.5 * rates * across
    area, second = 0.01 * 0.03, 0.03 * 0.01**3 / 12.0
    about = 7800.0 * lengths * (area * lengths**2 / 12.0 + second)
    return np.sum(7800.0 * area * lengths * np.abs(middles) ** 2 + about * rates**2)


PINS = {
    "rigid": {"support_x_stiffness": np.inf, "support_y_stiffness": np.inf},
    "springs": {"support_x_stiffness": 1e6, "support_y_stiffness": 2e5},
}


def test_a_linkage_that_swings():
    """With a loose crank it moves as one rigid mechanism below its first frequency, and bears nothing at rest."""
    loose = linkage(PINS["rigid"], joint_stiffness=0.0)
    first = jm.natural_frequencies(loose, 2).omega[1]
    omega = np.array([1e-4, 1e-3]) * first
    found = jm.frequency_response(loose, omega, "joint_1.torque", "joint_1.torque").values
    inertia = -1.0 / (omega**2 * found[0, 0].real)
    np.testing.assert_allclose(inertia, inertia_of_mechanism(loose), rtol=1e-5, atol=0.0)
    with pytest.raises(jm.ArmError, match="nothing holds the arm under a static load"):
        jm.static_compliance(loose, "link_2@0.5.y", "tip.x")


@pytest.mark.parametrize("pin", PINS)
def test_a_linkage_at_rest(pin):
    """Supports hold what lies beyond two hinges: the static limit of the response, and of its modes with residual."""
    locked = linkage(PINS[pin])
    names = ["joint_2.rotation", "joint_2.relative_rotation", "link_2@0.5.y", "tip_2.x"]
    still = jm.static_compliance(locked, names, names).values
    first = float(jm.natural_frequencies(locked, 1).omega[0])
    low = jm.frequency_response(locked, 1e-6 * first, names, names).values.real
    np.testing.assert_allclose(low, still, rtol=0, atol=1e-11 * np.abs(still).max())
    model = jm.modal_superposition(locked, "link_2@0.5.y", names, 12)
    assert jm.truncation_error(model, omega=[0.3 * first]).worst < 1e-6


def test_a_linkage_in_space_at_rest():
    """Without its supports it swings freely: its response grows by 1e12 there, and held none of its digits."""
    locked = jm.to_spatial(linkage(PINS["rigid"]))
    names = ["joint_2.rz", "joint_2.relative_rotation", "link_2@0.5.y", "tip_2.x"]
    still = jm.static_compliance(locked, names, names).values
    first = float(jm.natural_frequencies(locked, 1).omega[0])
    low = jm.frequency_response(locked, 1e-6 * first, names, names).values.real
    np.testing.assert_allclose(low, still, rtol=0, atol=1e-11 * np.abs(still).max())
