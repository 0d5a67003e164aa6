"""Sums over modes of arms that drift and of bases that are accelerated, against closed forms and the exact response."""

import numpy as np
import pytest

import jaxmodal as jm
from tests.response.arms import bent
from tests.support.damped_cantilever import cantilever, pendulum

EB = "euler_bernoulli"
OUTPUTS = ["tip.x", "payload.rotation", "joint_2.relative_rotation", "link_1@0.3.across"]
FREE = {"joint_stiffness": 0.0, "joint_axial_stiffness": 0.0, "joint_shear_stiffness": 0.0}
LOADS, MOVED_BASE = ["tip.y", "joint_2.torque"], ["base.x", "base.rotation"]


def arm_of(kind):
    payload = jm.Payload(mass=0.5, centre_x=0.1)
    if kind == "free in space":
        second = {"joint_stiffness": 3e3, "joint_damping": 2.0}
        first = {**FREE, "joint_angle": 0.4}
    elif kind == "two free hinges":
        second = {"joint_stiffness": 0.0, "joint_damping": 0.3}
        first = {"joint_stiffness": 0.0, "joint_damping": 0.7, "joint_angle": 0.4}
    else:
        second = {"loss_factor": 0.01, "end_offset_y": 0.1}
        first = {"joint_stiffness": 1e4, "joint_damping": 1.7, "joint_angle": 0.4}
        first["base_offset_x"] = 0.1
    arm = bent(**second)
    return jm.Arm((arm.links[0].replace(**first), arm.links[1]), payload)


@pytest.mark.parametrize(
    ("kind", "inputs"),
    [
        ("free in space", LOADS),
        ("two free hinges", LOADS),
        ("held", MOVED_BASE),
        *(
            pytest.param(*each, marks=pytest.mark.slow)
            for each in (
                ("held", LOADS),
                ("two free hinges", MOVED_BASE),
                ("free in space", MOVED_BASE),
            )
        ),
    ],
)
def test_the_sum_tends_to_the_exact_response(kind, inputs):
    """What a residual leaves out falls with the fourth power of the frequency of the first mode left out."""
    arm = arm_of(kind)
    # relative to a base that lets go, an elbow does nothing at all
    outputs = [
        x for x in OUTPUTS if kind != "free in space" or "base" not in inputs[0] or "2" not in x
    ]
    few = jm.modal_superposition(arm, inputs, outputs, 12, damping_ratio=0.01)
    many = jm.modal_superposition(arm, inputs, outputs, 24, damping_ratio=0.01)
    first = few.omega[few.omega > 0.0][0]
    omega = first * np.array([0.01, 0.3, 0.9])
    errors = [jm.truncation_error(model, omega=omega).worst for model in (few, many)]
    assert errors[0] < 2e-5
    assert errors[1] < max(0.1 * errors[0], 1e-10)
    # the arm's own dampers, also at free hinges: the residual knows none, so the sum tends to them more slowly
    own = jm.modal_superposition(arm, inputs, outputs, 24)
    assert jm.truncation_error(own, omega=omega).worst < 1e-2
    # an error of one part in a thousand in the damping of the rigid motions would show here
    low = jm.truncation_error(own, omega=[1e-3 * first])
    assert low.worst < 1e-3


def test_a_free_beam_in_closed_form():
    """Middle of a free beam for a force there: the mass as a whole, and cosine and hyperbolic cosine of its halves."""
    arm = cantilever(**FREE)
    link = arm.links[0]
    mass, rigidity = (
        link.density * link.area * link.length,
        link.youngs_modulus * link.second_moment,
    )
    middle = "link_1@0.5.across"
    model = jm.modal_superposition(arm, middle, middle, 12, theory=EB)
    assert model.omega[:3].tolist() == [0.0, 0.0, 0.0]
    first = model.omega[3]
    omega = first * np.array([0.05, 0.4, 0.8])
    b = np.sqrt(omega) * (link.density * link.area / rigidity) ** 0.25
    # each half bears half of the force, does not turn there and is free at its end
    z = 0.5 * b * link.length
    c, s, ch, sh = np.cos(z), np.sin(z), np.cosh(z), np.sinh(z)
    truth = -(1.0 + c * ch) / (2.0 * rigidity * b**3 * (c * sh + s * ch))
    np.testing.assert_allclose(model.receptance(omega)[0, 0].real, truth, rtol=2e-5)
    heavy = model.receptance([1e-3 * first])[0, 0, 0] * -((1e-3 * first) ** 2) * mass
    np.testing.assert_allclose(heavy, 1.0, rtol=1e-5)


@pytest.mark.parametrize("quantity", ["receptance", "mobility", "accelerance"])
@pytest.mark.parametrize("seen_from", ["base", "ground"])
def test_an_oscillator_on_a_base_that_turns(quantity, seen_from):
    """``I (z + base)'' = -k z - c z'``, of one mode; seen from the ground the base is added."""
    stiffness, ratio = 50.0, 0.1
    arm, inertia = pendulum(stiffness)
    own = np.sqrt(stiffness / inertia)
    options = {"damping_ratio": ratio, "quantity": quantity, "seen_from": seen_from}
    system = jm.state_space(arm, "base.rotation", "tip.rotation", 1, theory=EB, **options)
    omega = own * np.array([0.2, 0.9, 3.0])
    truth = -1.0 / (own**2 - omega**2 + 2j * ratio * own * omega)
    if seen_from == "ground":
        truth = truth - 1.0 / omega**2
    truth = truth * (1j * omega) ** {"receptance": 0, "mobility": 1, "accelerance": 2}[quantity]
    found = system.frequency_response(omega)[0, 0]
    np.testing.assert_allclose(found, truth, rtol=1e-10)
    if quantity != "mobility" or seen_from == "base":
        assert system.error.worst < 1e-9
    places = 2 if seen_from == "base" or quantity == "accelerance" else 4
    assert system.A.shape == (places, places)


def test_seen_from_the_ground_it_is_the_transmissibility():
    arm = arm_of("held")
    omega = np.array([40.0, 130.0])
    exact = jm.frequency_response(arm, omega, "base.y", "tip.y", quantity="transmissibility").values
    model = jm.modal_superposition(arm, "base.y", "tip.y", 40, seen_from="ground")
    np.testing.assert_allclose(-(omega**2) * model.receptance(omega), exact, rtol=2e-3)
    needed = jm.modes_needed(arm, "base.y", "tip.y", 1.0, 400.0)
    assert 2 <= needed.num_modes <= 8
    assert "m/(m/s^2)" in str(model)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: jm.modal_superposition(arm_of("held"), "tip.x", "base.x", 2),
            "is the ground, whose",
        ),
        (
            lambda: jm.modal_superposition(
                cantilever(support_y_stiffness=1e3), "base.x", "tip.x", 2, theory=EB
            ),
            r"has a support, link1\.support_y_stiffness, which does not move",
        ),
        (
            lambda: jm.modal_superposition(arm_of("held"), "base.x", "tip.x", 2, seen_from="above"),
            "seen_from = 'above': expected 'base' or 'ground'",
        ),
        (
            lambda: jm.modal_superposition(
                cantilever(joint_stiffness=0.0), "tip.x", "tip.across", 3, theory=EB
            ).receptance([0.0, 1.0]),
            "omega holds 0: .* free joint",
        ),
        (
            lambda: (
                jm.modal_superposition(
                    cantilever(joint_stiffness=0.0), "tip.x", "tip.across", 3, theory=EB
                ).static
            ),
            "no static compliance: a constant input",
        ),
        (
            lambda: jm.modal_superposition(
                cantilever(joint_axial_stiffness=0.0, joint_axial_damping=1.0),
                "tip.x",
                "tip.x",
                3,
                theory=EB,
            ),
            r"link1\.joint_axial_damping: is parallel to a free spring",
        ),
    ],
)
def test_what_is_refused(call, words):
    with pytest.raises((jm.ArmError, ValueError), match=words):
        call()
