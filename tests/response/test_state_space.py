"""Do the matrices answer as the modes do, for python-control as for us, and in steps of time as in continuous time?"""

import numpy as np
import pytest
import scipy.linalg

import jaxmodal as jm
from tests.support.damped_cantilever import (
    AREA,
    DENSITY,
    LENGTH,
    MOMENT,
    YOUNG,
    cantilever,
    pendulum,
)

EB = "euler_bernoulli"
OMEGA = np.array([0.0, 12.0, 170.0, 172.3, 900.0, 4000.0])


@pytest.fixture(scope="module")
def arm():
    link = cantilever().links[0]
    return jm.Arm(
        (link, link.replace(joint_angle=0.8, joint_stiffness=800.0)), jm.Payload(mass=0.4)
    )


@pytest.fixture(scope="module")
def system(arm):
    return jm.state_space(
        arm, ["joint_2.torque", "tip.x"], ["tip.across", "joint_2.torque"], 6, damping_ratio=0.01
    )


def test_it_answers_as_the_modes(arm, system):
    modes = jm.modal_superposition(
        arm, ["joint_2.torque", "tip.x"], ["tip.across", "joint_2.torque"], 6, damping_ratio=0.01
    )
    receptance = modes.receptance(OMEGA)
    np.testing.assert_allclose(system.frequency_response(OMEGA), receptance, rtol=1e-11)
    np.testing.assert_array_equal(system.D, modes.residual)
    assert system.D[1, 0] > 0.0
    ratios = -system.poles.real / np.abs(system.poles)
    np.testing.assert_allclose(ratios, 0.01, rtol=1e-9)
    certified = np.asarray(jm.natural_frequencies(arm, 6).omega)
    np.testing.assert_allclose(np.sort(np.abs(system.poles))[::2], certified, rtol=1e-9)


@pytest.mark.parametrize(("quantity", "power"), [("mobility", 1), ("accelerance", 2)])
def test_rates_and_accelerations(arm, quantity, power):
    modes = jm.modal_superposition(
        arm, "tip.x", "tip.across", 6, damping_ratio=0.01, residual=False
    )
    system = jm.state_space(arm, "tip.x", "tip.across", 6, damping_ratio=0.01, quantity=quantity)
    truth = (1j * OMEGA) ** power * modes.receptance(OMEGA)
    np.testing.assert_allclose(
        system.frequency_response(OMEGA), truth, rtol=1e-11, atol=1e-9 * np.abs(truth).max()
    )


def test_python_control_gives_the_same(system):
    theirs = system.to_control()
    assert theirs.input_labels == ["joint_2_torque", "tip_2_force_x"]
    assert theirs.output_labels[0] == "tip_2_across"
    assert theirs.state_labels[0] == "mode1"
    for name in "ABCD":
        np.testing.assert_array_equal(getattr(theirs, name), getattr(system, name))
    found = theirs(1j * OMEGA)
    np.testing.assert_allclose(system.frequency_response(OMEGA), found, rtol=1e-11)
    step = system.discrete(1e-4)
    discrete = step.to_control()
    assert discrete.dt == 1e-4
    found = discrete(np.exp(1j * OMEGA * 1e-4))
    np.testing.assert_allclose(step.frequency_response(OMEGA), found, rtol=1e-9)


def test_steps_of_time_are_exact_at_the_samples(system):
    """The step response of the discrete system is that of the continuous one, by the exponential of its matrix."""
    step = 2e-3
    discrete = system.discrete(step)
    state, force = np.zeros(len(system.states)), np.array([1.0, -0.4])
    for count in range(1, 40):
        state = discrete.A @ state + discrete.B @ force
        grown = scipy.linalg.expm(system.A * step * count)
        truth = np.linalg.solve(system.A, (grown - np.eye(state.size)) @ system.B @ force)
        np.testing.assert_allclose(
            system.C @ state, system.C @ truth, rtol=1e-8, atol=1e-10 * np.abs(system.D).max()
        )


def test_step_response_of_an_oscillator():
    arm, inertia = pendulum()
    natural, ratio, step = np.sqrt(50.0 / inertia), 0.05, 0.01
    system = jm.state_space(
        arm, "joint_1.torque", "joint_1.rotation", 1, theory=EB, damping_ratio=ratio
    ).discrete(step)
    state, damped = np.zeros(2), natural * np.sqrt(1 - ratio**2)
    for count in range(1, 200):
        state = system.A @ state + system.B[:, 0]
        time = count * step
        swing = np.cos(damped * time) + ratio * natural / damped * np.sin(damped * time)
        truth = (1.0 - np.exp(-ratio * natural * time) * swing) / 50.0
        np.testing.assert_allclose((system.C @ state + system.D)[0], truth, rtol=1e-11)


def test_balanced_truncation(system):
    """The error stays below twice the sum of the Hankel singular values left out, and none is left at rest."""
    pytest.importorskip("slycot", reason="python-control truncates by slycot")
    small = system.reduced(8)
    assert len(small.states) == 8
    assert small.inputs == system.inputs
    np.testing.assert_allclose(
        small.frequency_response(0.0).real, system.frequency_response(0.0).real, rtol=1e-9
    )
    grammians = [
        scipy.linalg.solve_continuous_lyapunov(a, -right)
        for a, right in ((system.A, system.B @ system.B.T), (system.A.T, system.C.T @ system.C))
    ]
    hankel = np.sort(np.sqrt(np.abs(np.linalg.eigvals(grammians[0] @ grammians[1]))))[::-1]
    omega = np.unique(np.concatenate([np.abs(system.poles), np.linspace(0.0, 6000.0, 400)]))
    missed = np.linalg.norm(
        small.frequency_response(omega) - system.frequency_response(omega), 2, axis=(0, 1)
    )
    assert missed.max() <= 2.0 * hankel[8:].sum() * (1.0 + 1e-6)


def test_a_missing_library_is_named(system, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "slycot", None)
    with pytest.raises(ImportError, match=r"needs slycot.*jaxmodal\[control\]"):
        system.reduced(4)
    monkeypatch.setitem(__import__("sys").modules, "control", None)
    with pytest.raises(ImportError, match=r"needs control.*jaxmodal\[control\]"):
        system.to_control()


def test_dataset_and_table(system):
    data = system.to_xarray()
    assert (
        float(data.D.sel(output="joint_2.relative_rotation", input="tip_2.force_x"))
        == system.D[1, 1]
    )
    assert list(data.state.values[[0, 6]]) == ["mode1", "mode1.rate"]
    assert "12 states" in repr(system)
    assert "0.01" in str(system)
    assert "time step 0.001 s" in str(system.discrete(1e-3))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda s: s.discrete(0.0), "time_step = 0.0: expected a time in s greater than 0"),
        (lambda s: s.discrete(1e-3, "euler"), "method = 'euler': expected one of 'zoh'"),
        (lambda s: s.discrete(1e-3, "impulse"), "method = 'impulse': expected .*residual=False"),
        (lambda s: s.discrete(1e-3).discrete(1e-3), "has a time step of 0.001 s already"),
        (lambda s: s.discrete(1e-3).frequency_response(4000.0), "half the sampling frequency"),
        (lambda s: s.discrete(1e-3).reduced(4), "the system is discrete"),
        (lambda s: s.reduced(12), "num_states = 12; expected at most 11"),
        (lambda s: s.reduced(4, "best"), "expected 'matchdc' or 'truncate'"),
        (lambda s: s.frequency_response(-1.0), "at least 0"),
    ],
)
def test_bad_input(system, call, words):
    with pytest.raises(ValueError, match=words):
        call(system)


def test_bad_systems(arm):
    with pytest.raises(ValueError, match="quantity = 'velocity': expected one of 'receptance'"):
        jm.state_space(arm, "tip.x", "tip.x", quantity="velocity")
    with pytest.raises(ValueError, match="undamped mode has no balanced form"):
        jm.state_space(arm, "tip.x", "tip.x", 3).reduced(2)


def test_a_system_that_integrates_prints_and_is_refused_at_its_pole():
    """A free joint has two poles at 0: torque over inertia, twice integrated."""
    (link,) = cantilever().links
    arm = jm.Arm((link.replace(joint_stiffness=0.0),))
    system = jm.state_space(arm, "joint_1.torque", "joint_1.relative_rotation", 3, theory=EB)
    for each in (system, system.discrete(1e-5)):
        assert [row[0] for row in each.tables()[0].rows][:2] == ["0.0000", "0.0000"]
        with pytest.raises(ValueError, match=r"omega = 0.0: is a pole of the system"):
            each.frequency_response([1.0, 0.0])
    rigid = jm.state_space(
        arm, "joint_1.torque", "joint_1.relative_rotation", 1, theory=EB, residual=False
    )
    assert rigid.error is None
    inertia = DENSITY * AREA * LENGTH**3 / 3.0
    np.testing.assert_allclose(
        rigid.frequency_response(2.0), [[[-1.0 / (4.0 * inertia)]]], rtol=1e-10, atol=0.0
    )


def test_poles_that_are_gone_within_a_step_are_rows(system):
    rows = system.discrete(10.0, "zoh").tables()[0].rows
    strong = jm.state_space(
        cantilever(), "tip.across", "tip.across", 3, theory=EB, damping_ratio=1.5
    )
    assert len(strong.discrete(100.0).tables()[0].rows) == 6
    assert all(float(ratio) >= 0.0 for _, ratio in rows)


def test_an_arm_on_a_rigid_support():
    """A beam clamped at one end and held across at the other: in its middle 7 F L^3 / (768 E I) at rest."""
    arm = cantilever(support_y_stiffness=np.inf)
    middle = "link_1@0.5.across"
    system = jm.state_space(arm, middle, middle, 5, theory=EB, damping_ratio=0.01)
    truth = 7.0 * LENGTH**3 / (768.0 * YOUNG * MOMENT)
    np.testing.assert_allclose(system.frequency_response(0.0).real, [[[truth]]], rtol=1e-12)
    assert system.error.worst < 0.3
    assert (
        system.error.relative[..., system.error.omega < 0.3 * system.error.omega[-1]].max() < 2e-2
    )
