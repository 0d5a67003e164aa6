"""Do sums over modes know forces at rest: closed forms of beams in tension, the exact response of bent arms?"""

import numpy as np
import pytest

import jaxmodal as jm
from tests.response.test_axial_forces import CRITICAL, TIP, column, pressed
from tests.response.test_slopes_under_forces import under_loads

RIGIDITY, LINE, LENGTH, ETA = 7e10 * 0.04 * 0.01**3 / 12, 2700.0 * 4e-4, 1.3, 0.02
PLACES = (0.5, 0.3)
NAMES = [f"link_1@{x}.across" for x in PLACES]


@pytest.mark.parametrize("force", [2e3, -3.6 * CRITICAL])
def test_pinned_beam_in_closed_form(force):
    """Sines are its modes: E I q^4 + N q^2 = rho A omega^2, of which damping of the material knows the first part."""
    arm = column(force, joint_stiffness=0.0, support_y_stiffness=np.inf)
    model = jm.modal_superposition(arm, NAMES, NAMES, 6, theory="euler_bernoulli")
    q = np.pi * np.arange(1, 7) / LENGTH
    bending = RIGIDITY * q**4 / LINE
    omega2 = bending + force * q**2 / LINE
    shapes = np.sqrt(2 / (LINE * LENGTH)) * np.sin(np.outer(q * LENGTH, PLACES))
    np.testing.assert_allclose(model.omega**2, omega2, rtol=1e-10)
    np.testing.assert_allclose(
        model.driven[:, :1] * model.driven, shapes[:, :1] * shapes, rtol=1e-10, atol=1e-13
    )
    np.testing.assert_allclose(
        model.structural, np.diag(ETA * bending), rtol=1e-10, atol=1e-10 * bending[0]
    )
    # forces give shape^T shape/(omega_n^2 - omega^2) of all modes; what the sum leaves out it has at rest
    omega = np.array([0.0, 9.0, 60.0])
    many = np.pi * np.arange(1, 20001) / LENGTH
    sines = np.sin(np.outer(many * LENGTH, PLACES)) * np.sqrt(2 / (LINE * LENGTH))
    squares = RIGIDITY * many**4 / LINE + force * many**2 / LINE
    at_rest = (sines / squares[:, None]).T @ sines
    left = at_rest - (shapes / omega2[:, None]).T @ shapes
    np.testing.assert_allclose(model.static, at_rest, rtol=1e-11)
    np.testing.assert_allclose(model.residual, left, rtol=0.0, atol=1e-12 * at_rest.max())
    damped = 1.0 / (omega2[:, None] - omega**2 + 1j * ETA * bending[:, None])
    exact = np.einsum("kp,km,kw->pmw", shapes, shapes, damped) + left[..., None]
    np.testing.assert_allclose(model.receptance(omega), exact, rtol=1e-9)


@pytest.mark.parametrize(
    "arm",
    [
        pytest.param(pressed(4e4, -1e4), id="first stretched", marks=pytest.mark.slow),
        pytest.param(pressed(-2e4, 3e5), id="first pressed"),
        pytest.param(under_loads(), id="loads"),
    ],
)
def test_bent_arms_against_the_exact_response(arm):
    """With their own damping, which couples modes, between forces, torques of joints, and motions of the base."""
    inputs, outputs = ["joint_2.torque", TIP, "base.y"], [TIP, "tip_1.y", "link_2@0.3.rotation"]
    model = jm.modal_superposition(arm, inputs, outputs, 16)
    third = float(model.omega[2])
    error = jm.truncation_error(model, 0.01 * third, third)
    assert error.worst < 0.15
    finer = jm.modal_superposition(arm, inputs, outputs, 32)
    assert jm.truncation_error(finer, 0.01 * third, third).worst < 0.7 * error.worst
    decreed = jm.modal_superposition(arm, inputs, outputs, 16, damping_ratio=0.01)
    assert jm.truncation_error(decreed, 0.01 * third, third).worst < 1e-3
    of_forces = jm.modal_superposition(arm, inputs[:2], outputs, 3, damping_ratio=0.01)
    static = jm.static_compliance(arm, inputs[:2], outputs).values
    np.testing.assert_allclose(of_forces.static, static, rtol=1e-11)


def test_damping_of_modes_is_the_work_of_materials_and_dampers():
    """Little damping: roots of the exact determinant have the ratios of the sum, to the square of them."""
    for arm in (pressed(-2e4, 3e5), under_loads()):
        thin = [
            link.replace(
                loss_factor=1e-4 * (k + 1), kelvin_voigt_time=1e-8, joint_damping=1e-2,
                **dict.fromkeys(("joint_axial_damping", "joint_shear_damping")),
            )
            for k, link in enumerate(arm.links)
        ]  # fmt: skip
        arm = arm.replace(links=tuple(thin))
        model = jm.modal_superposition(arm, TIP, TIP, 4)
        exact = jm.damped_modes(arm, 4)
        np.testing.assert_allclose(model.damping_ratio, exact.damping_ratio, rtol=2e-3)


def test_effective_masses_add_up_to_the_total():
    arm = under_loads()
    shapes = jm.mode_shapes(arm, 40, stations=2)
    masses = np.asarray(shapes.effective_mass)[:, 1]
    free = np.asarray(jm.mode_shapes(arm.replace(loads=None), 40, stations=2).effective_mass)[:, 1]
    np.testing.assert_allclose(masses.sum(), free.sum(), rtol=5e-3)
    assert abs(masses[0] / free[0] - 1.0) > 1e-3


def test_state_space_and_how_many_modes_are_enough():
    arm = under_loads()
    system = jm.state_space(arm, TIP, TIP, 8, damping_ratio=0.01)
    assert system.error.worst < 0.02
    still = jm.static_compliance(arm, TIP, TIP).values
    np.testing.assert_allclose(system.frequency_response(0.0)[..., 0].real, still, rtol=1e-9)
    needed = jm.modes_needed(arm, TIP, TIP, 10.0, 400.0)
    model = jm.modal_superposition(arm, TIP, TIP, needed.num_modes, damping_ratio=0.0)
    assert jm.truncation_error(model, 10.0, 400.0).worst <= 0.01


def test_what_is_refused_by_name():
    with pytest.raises(jm.UncertifiedError, match="buckle"):
        jm.modal_superposition(column(-1.01 * CRITICAL), TIP, TIP, 2, theory="rayleigh")
    with pytest.raises(jm.ArmError, match=r"'base\.rotation': the arm is under an axial force"):
        jm.modal_superposition(column(10.0), "base.rotation", TIP, 2, theory="rayleigh")


def test_a_hinge_in_tension_is_a_pendulum():
    """It does not drift: a string's stiffness holds it, and the sum has a static part."""
    arm = column(3e3, joint_stiffness=0.0)
    model = jm.modal_superposition(
        arm, "tip.y", ["tip.y", "link_1@0.4.y"], 5, theory="euler_bernoulli"
    )
    assert not model.drifts
    np.testing.assert_allclose(model.static[:, 0], np.array([1.0, 0.4]) * LENGTH / 3e3, rtol=1e-12)
    loose = jm.modal_superposition(
        column(0.0, joint_stiffness=0.0), "tip.y", "tip.y", 5, theory="euler_bernoulli"
    )
    assert loose.drifts
