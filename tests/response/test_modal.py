"""Is the sum over modes the response, with what it leaves out at rest, and how does it say what it cannot take?"""

import numpy as np
import pytest

import jaxmodal as jm
from tests.support.damped_cantilever import (
    AREA,
    LENGTH,
    MOMENT,
    YOUNG,
    cantilever,
    deflection,
    pendulum,
)
from tests.support.real_arms import random_arm

EB = "euler_bernoulli"
PORTS = ["tip.across", "link_1@0.4.across", "tip.rotation"]
DAMPING = (3.0, 2e-6)


def exact(omega):
    """Receptances at `PORTS` for a force across the tip, shape (3, frequencies), with `DAMPING`."""
    tip, middle = deflection(omega, 1.0, *DAMPING), deflection(omega, 0.4, *DAMPING)
    return np.stack([tip[0], middle[0], tip[1]])


def test_static_compliance_of_a_cantilever():
    found = jm.static_compliance(cantilever(), PORTS, PORTS, theory="timoshenko").values
    bending, a = 1.0 / (YOUNG * MOMENT), 0.4 * LENGTH
    sliding = 1.0 / (0.85 * YOUNG / 2.6 * AREA)
    cross = bending * a**2 * (3 * LENGTH - a) / 6 + sliding * a
    truth = [
        [bending * LENGTH**3 / 3 + sliding * LENGTH, cross, bending * LENGTH**2 / 2],
        [cross, bending * a**3 / 3 + sliding * a, bending * a * a / 2],
        [bending * LENGTH**2 / 2, bending * a * a / 2, bending * LENGTH],
    ]
    # a moment at the tip turns sections, whose middles stay on the bent line: a^2/2, not a L - a^2/2
    np.testing.assert_allclose(found, truth, rtol=4e-15)


def test_static_compliance_of_a_bent_arm_with_springs():
    """An L: the second link across the first, a spring at each joint, a force along each link of the tip."""
    a, b = 0.7, 0.4
    first = cantilever(joint_stiffness=900.0).links[0].replace(length=a)
    second = first.replace(length=b, joint_angle=np.pi / 2, joint_stiffness=300.0)
    arm = jm.Arm((first, second))
    found = jm.static_compliance(
        arm, ["tip.along", "joint_2.torque"], ["tip.along", "tip.across"], theory=EB
    ).values
    bending, axial = 1.0 / (YOUNG * MOMENT), 1.0 / (YOUNG * AREA)
    # along the second link means across the first: its tip moves by its own bending, and by the first spring
    along = bending * a**3 / 3 + a**2 / 900.0 + axial * b
    # it passes the elbow, where the first link's end turns by a^2/2 of its bending, and the tip back by b times as much
    cross = bending * b * a**2 / 2 + a * b / 900.0
    np.testing.assert_allclose(found[0, 0], along, rtol=1e-14)
    np.testing.assert_allclose(found[1, 0], cross, rtol=1e-14)
    np.testing.assert_allclose(found[:, 1], [0.0, b / 300.0], rtol=1e-14, atol=1e-18)


@pytest.mark.parametrize("structure", ["springs", "offsets", "bodies"])
def test_modes_add_up_to_the_static_compliance(structure):
    """Of arms with every feature: what is left out falls as more modes are taken, and is never negative at one port."""
    arm = random_arm(7, structure)
    names = ["tip.x", "joint_2.rotation", "link_3@0.3.across", "payload.y", "tip_1.along"]
    few, many = (jm.modal_superposition(arm, names, names, count) for count in (8, 32))
    static = jm.static_compliance(arm, names, names).values
    np.testing.assert_allclose(static, static.T, rtol=1e-12, atol=1e-13 * np.abs(static).max())
    for model in (few, many):
        np.testing.assert_allclose(model.static, static, rtol=1e-12, atol=1e-12 * static.max())
        assert np.linalg.eigvalsh(model.residual).min() > -1e-12 * static.max()
    scale = np.sqrt(np.outer(np.diag(static), np.diag(static)))
    left = [np.abs(np.diag(m.residual) / np.diag(scale)) for m in (few, many)]
    assert np.all(left[1] <= left[0] + 1e-13)
    assert left[1][:4].max() < 0.05  # along a stiff link heavy bodies let few modes act


def test_the_sum_tends_to_the_closed_form():
    """With Rayleigh damping, complex: at and beside resonances, displacements and a slope."""
    omega = np.array([1.0, 20.0, 150.0, 777.0, 2000.0])
    truth = exact(omega)
    errors = []
    for count in (10, 20, 40):
        model = jm.modal_superposition(
            cantilever(), "tip.across", PORTS, count, theory=EB, rayleigh=DAMPING
        )
        found = model.receptance(omega)[:, 0]
        errors.append(np.max(np.abs(found - truth) / np.abs(truth)))
    assert errors[0] < 1e-3
    # frequencies grow with k^2: of a slope, k times a deflection, terms of k^-7 are left out, that add up to k^-6
    # where signs agree, and the next power of (omega/omega_k)^2 is far off
    assert errors[1] < errors[0] / 20
    assert errors[2] < errors[1] / 20


def test_without_the_residual_the_sum_is_far_slower():
    with_it, without = (
        jm.modal_superposition(cantilever(), PORTS[2], PORTS[2], 10, theory=EB, residual=flag)
        for flag in (True, False)
    )
    assert np.all(without.residual == 0.0)
    static = LENGTH / (YOUNG * MOMENT)
    assert abs(with_it.receptance(0.0)[0, 0, 0] - static) < 1e-12 * static
    assert abs(without.receptance(0.0)[0, 0, 0] - static) > 1e-2 * static


def test_one_mode_is_an_oscillator():
    """A rigid link on a spring, in every kind of damping."""
    arm, inertia = pendulum()
    omega = np.array([0.0, 3.0, 10.0, 40.0])
    natural = np.sqrt(50.0 / inertia)
    for ratio, given in (
        (0.02, {"damping_ratio": 0.02}),
        (1.7, {"damping_ratio": [1.7]}),
        (0.5 * (0.3 / natural + 1e-3 * natural), {"rayleigh": (0.3, 1e-3)}),
    ):
        model = jm.modal_superposition(
            arm, "joint_1.moment", "joint_1.rotation", 1, theory=EB, **given
        )
        truth = 1.0 / (50.0 - inertia * omega**2 + 2j * ratio * inertia * natural * omega)
        np.testing.assert_allclose(model.receptance(omega)[0, 0], truth, rtol=1e-13)
        np.testing.assert_allclose(model.damping_ratio, ratio, rtol=1e-13)
        assert abs(model.residual[0, 0]) < 1e-15


def test_undamped_modes_have_infinite_peaks():
    model = jm.modal_superposition(cantilever(), "tip.across", "tip.across", 3, theory=EB)
    found = np.abs(model.receptance(model.omega)[0, 0])
    assert not np.any(np.isfinite(found))
    assert "static residual" in str(model)
    assert "certified" in str(model)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"damping_ratio": -0.01}, "damping_ratio = -0.01: expected one number of at least 0"),
        ({"damping_ratio": [0.1, 0.2]}, "one for each of the 3 modes"),
        ({"damping_ratio": 0.1j}, "something other than real numbers"),
        ({"rayleigh": (1.0, -1e-5)}, "two numbers of at least 0"),
        ({"rayleigh": (1.0, 1.0), "damping_ratio": 0.1}, "give one of them"),
        ({"num_modes": 0}, "num_modes = 0"),
        ({"outputs": "tpi.across"}, "Did you mean 'tip.across'"),
        ({"inputs": []}, "one port or more"),
        ({"outputs": "base.x"}, "take it as an input"),
    ],
)
def test_bad_input(changes, words):
    given = {"inputs": "tip.across", "outputs": "tip.across", "num_modes": 3} | changes
    with pytest.raises(ValueError, match=words):
        jm.modal_superposition(cantilever(), theory=EB, **given)


def test_arms_without_an_answer():
    free = cantilever(joint_stiffness=0.0)
    with pytest.raises(jm.ArmError, match=r"link1\.joint_stiffness = 0: nothing holds"):
        jm.static_compliance(free, "tip.across", "tip.across", theory=EB)
    with pytest.raises(jm.UncertifiedError, match="ask for fewer"):
        jm.modal_superposition(pendulum()[0], "tip.across", "tip.across", 2, theory=EB)


@pytest.mark.parametrize("omega", [-1.0, np.nan, [], [[1.0]], 1j])
def test_bad_frequencies(omega):
    model = jm.modal_superposition(pendulum()[0], "tip.across", "tip.across", 1, theory=EB)
    with pytest.raises(ValueError, match="omega = "):
        model.receptance(omega)


def geared(**changes):
    """Two links whose joints have rotors behind gears: how far a spring gives depends on the frequency."""
    link = cantilever(
        joint_stiffness=2e3, rotor_inertia=4e-5, gear_ratio=50.0, motor="beyond_spring", **changes
    ).links[0]
    return jm.Arm((link, link.replace(joint_angle=0.7)))


@pytest.mark.parametrize("count", [2, 5])
def test_geared_joints_beside_resonances(count):
    """So near to a resonance one mode is nearly all, with as many modes as links and with more."""
    arm, port = geared(), "joint_2.torque"
    model = jm.modal_superposition(arm, port, port, count, theory=EB, damping_ratio=0.0)
    omega = model.omega * (1.0 - 1e-5)
    exact = jm.frequency_response(arm, omega, port, port, theory=EB).values
    # of the modes left out an eighth at most, over 1e5 beside the mode at hand
    np.testing.assert_allclose(model.receptance(omega), exact, rtol=1e-4)


def test_dampers_at_geared_joints():
    """Poles of the state space against the roots of the exact determinant: dampers this light couple modes little."""
    arm = geared(joint_damping=0.05)
    model = jm.state_space(arm, "joint_2.torque", "joint_2.torque", 5, theory=EB)
    poles = model.poles[model.poles.imag > 0.0]
    poles = poles[np.argsort(poles.imag)]
    roots = jm.damped_modes(arm, 5, theory=EB).roots
    np.testing.assert_allclose(-poles.real, roots.imag, rtol=1e-4)


def test_a_damper_of_a_free_slide_is_refused():
    """As in space: its motion is rigid, and the damping of modes projects strains."""
    rod = jm.Link(1.0, 7e10, 2700.0, jm.circle(0.02), joint_axial_stiffness=0.0)
    arm = jm.Arm((rod, rod.replace(joint_axial_stiffness=None)))
    slide = arm.replace(links=(rod.replace(joint_axial_damping=2.0), arm.links[1]))
    assert jm.modal_superposition(arm, "tip.y", "tip.y", 3, theory="rayleigh").omega[0] == 0.0
    with pytest.raises(jm.ArmError, match=r"link1\.joint_axial_damping: is parallel to a free"):
        jm.modal_superposition(slide, "tip.y", "tip.y", 3, theory="rayleigh")
