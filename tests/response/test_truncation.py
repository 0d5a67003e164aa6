"""Is the error of a sum over modes what it says, against the exact response and closed forms?"""

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.response.modal.truncation import relative_errors
from tests.support.damped_cantilever import cantilever, deflection, pendulum

EB = "euler_bernoulli"
ELBOW = ["tip.across", "joint_2.torque"]


def bent(**damping):
    link = cantilever().links[0]
    second = link.replace(joint_angle=0.8, joint_stiffness=800.0, **damping)
    return jm.Arm((link, second), jm.Payload(mass=0.4))


def test_what_is_not_a_number_is_no_small_error():
    nan = np.full((1, 1, 1), np.nan)
    assert np.isnan(relative_errors(nan, nan)).all()
    assert relative_errors(0.0 * np.ones(1), 0.0 * np.ones(1)).tolist() == [0.0]


def test_the_error_is_the_distance_from_the_closed_form():
    """Rayleigh's stiffness part makes one modulus complex, so the damped arm has a closed form."""
    model = jm.modal_superposition(
        cantilever(), "tip.across", "link_1@0.4.across", 5, theory=EB, rayleigh=(0.0, 1e-6)
    )
    omega = np.array([30.0, 500.0, 2000.0, 9000.0])
    found = jm.truncation_error(model, omega=omega)
    truth = deflection(omega, 0.4, 0.0, 1e-6)[0]
    # of the modes left out the damping is known to beta omega (omega/omega_6)^2
    distance = np.abs(model.receptance(omega)[0, 0] - truth)
    np.testing.assert_allclose(found.error[0, 0], distance, rtol=2e-2, atol=1e-14 * abs(truth[0]))
    assert np.all(found.relative <= 1.0)


@pytest.mark.parametrize(
    "damping",
    [
        {"loss_factor": 0.02, "joint_damping": 0.3},
        {"kelvin_voigt_time": 3e-5},
    ],
)
def test_the_sum_with_the_arms_own_damping_tends_to_the_exact_response(damping):
    arm = bent(**damping)
    worst = [
        jm.truncation_error(
            jm.modal_superposition(arm, ELBOW, ELBOW, count), omega_max=1500.0
        ).worst
        for count in (4, 11, 30)
    ]
    assert worst[0] > 1.5 * worst[1] > 1.5**2 * worst[2]
    assert worst[2] < 0.02


def test_the_damping_between_modes():
    """A rigid link on a spring and damper: the ratio is c / (2 sqrt(k J))."""
    arm, inertia = pendulum()
    arm = jm.Arm((arm.links[0].replace(joint_damping=0.7),))
    model = jm.modal_superposition(arm, "joint_1.torque", "joint_1.torque", 1, theory=EB)
    ratio = 0.7 / (2.0 * np.sqrt(50.0 * inertia))
    np.testing.assert_allclose(model.damping_ratio, ratio, rtol=1e-12)
    # and material that fills a whole arm of rigid joints: eta/2, and tau omega/2
    for name, value in (("loss_factor", 0.03), ("kelvin_voigt_time", 2e-5)):
        arm = cantilever(**{name: value})
        model = jm.modal_superposition(arm, "tip.across", "tip.across", 6, theory=EB)
        truth = 0.015 if name == "loss_factor" else 1e-5 * model.omega
        np.testing.assert_allclose(model.damping_ratio, truth, rtol=1e-10)
        between = model.viscous_equivalent - np.diag(np.diag(model.viscous_equivalent))
        assert np.abs(between).max() < 1e-9 * np.diag(model.viscous_equivalent).max()


def test_state_space_knows_its_error():
    """The error of the matrices is that of the modes they are made of; in a band it grows towards the last mode."""
    arm = bent()
    few, many = (jm.state_space(arm, ELBOW, ELBOW, n, damping_ratio=0.01).error for n in (6, 12))
    assert many.relative[..., many.omega < few.omega[-1] / 2].max() < 0.2 * few.worst
    modes = jm.modal_superposition(arm, ELBOW, ELBOW, 6, damping_ratio=0.01)
    np.testing.assert_allclose(jm.truncation_error(modes).worst, few.worst, rtol=1e-6)
    assert few.worst_omega > 0.5 * few.omega[-1]
    assert "at most" in str(few)


def test_modes_needed():
    """With one mode fewer the error is above, and both figures are those of sums of so many modes."""
    arm, high = bent(), 2.0 * np.pi * 200.0
    found = jm.modes_needed(arm, "tip.across", "tip.across", 1.0, high, tolerance=0.001)
    assert found.without_residual > found.num_modes
    for count, wanted in ((found.num_modes, True), (found.num_modes - 1, False)):
        model = jm.modal_superposition(arm, "tip.across", "tip.across", count, damping_ratio=1e-5)
        error = jm.truncation_error(model, 1.0, high).worst
        assert (error <= 0.001) == wanted
        np.testing.assert_allclose(found.worst[count - 1], error, rtol=0.1)
    assert f"{found.num_modes} modes are enough for 0.1 %" in str(found)


@pytest.mark.filterwarnings("error")
def test_an_output_that_is_held_has_no_error():
    """A prop under the tip: what is known to be at rest adds nothing to the error of the others."""
    arm = jm.Arm((cantilever(joint_angle=0.4, support_y_stiffness=np.inf).links[0],))
    into, held = "link_1@0.5.across", ["tip.y", "payload.y", "link_1@1.y", "joint_1.x"]
    alone = jm.modal_superposition(arm, into, into, 4, theory=EB, damping_ratio=0.01)
    both = jm.modal_superposition(arm, into, [into, *held], 4, theory=EB, damping_ratio=0.01)
    worst = jm.truncation_error(alone).worst
    np.testing.assert_allclose(jm.truncation_error(both).worst, worst, rtol=1e-6)
    assert not jm.truncation_error(both).relative[1:].any()
    assert jm.state_space(arm, into, held, 4, theory=EB).error.worst == 0.0
    needed = jm.modes_needed(arm, into, [into, *held], 1.0, 2e3, 0.01, theory=EB)
    assert needed.num_modes == jm.modes_needed(arm, into, into, 1.0, 2e3, 0.01, theory=EB).num_modes


def test_an_output_that_is_rounding_has_no_error():
    """A straight arm that stands at an angle: forces across it move nothing along it but by rounding."""
    arm = cantilever(joint_angle=0.4)
    outputs = ["link_1@0.5.across", "tip.along"]
    model = jm.modal_superposition(arm, "tip.across", outputs, 4, theory=EB, damping_ratio=0.01)
    assert jm.truncation_error(model).relative[1].max() < 0.01


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda m, a: jm.truncation_error(m, 5.0, 5.0), "omega_min = 5.0, omega_max = 5.0"),
        (lambda m, a: jm.truncation_error(m, omega=0.0), "greater than 0"),
        (lambda m, a: jm.modes_needed(a, "tip.x", "tip.x", 3.0, 1.0), "a band needs"),
        (lambda m, a: jm.modes_needed(a, "tip.x", "tip.x", 1.0, 9.0, 2.0), "tolerance = 2.0"),
        (
            lambda m, a: jm.modes_needed(a, "tip.z", "tip.x", 1.0, 9.0),
            "port 'tip.z': this arm has no direction 'z'",
        ),
    ],
)
def test_bad_input(call, words):
    arm = cantilever()
    model = jm.modal_superposition(arm, "tip.across", "tip.across", 3, theory=EB)
    with pytest.raises(ValueError, match=words):
        call(model, arm)
