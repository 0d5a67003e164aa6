"""Has the response its digits where the part of an arm beyond a joint is in resonance while that joint is held?"""

import mpmath
import numpy as np
import pytest

import jaxmodal as jm
from tests.response.arms import target
from tests.response.exact_chain import Chain
from tests.support import real_arms

PORTS = ("tip.across", "link_2@0.3.rotation", "joint_2.y", "joint_3.rotation")
LENGTH = "link1.length"


def _held(arm, joint, number):
    """A natural frequency, rad/s, of the links from a joint on while that joint is held."""
    first, *others = arm.links[joint - 1 :]
    rigid = {"joint_angle": 0.0, "joint_stiffness": np.inf}
    for name in ("joint_axial_stiffness", "joint_shear_stiffness"):
        if getattr(first, name) is not None:
            rigid[name] = np.inf
    part = arm.replace(links=(first.replace(**rigid), *others))
    return float(jm.natural_frequencies(part, number).omega[number - 1])


@pytest.mark.parametrize("loss_factor", [None, 1e-9])
@pytest.mark.parametrize(
    ("structure", "joint", "number"), [("springs", 3, 1), ("bodies", 3, 2), ("springs", 2, 2)]
)
def test_at_resonances_of_held_parts_against_40_digits(structure, joint, number, loss_factor):
    """The recursion itself is wrong by up to all digits there; the arm's lowest modes are 1 % and more away."""
    arm = real_arms.random_arm(1, structure)
    if loss_factor is not None:
        arm = arm.replace(links=tuple(x.replace(loss_factor=loss_factor) for x in arm.links))
    omega = _held(arm, joint, number)
    assert np.abs(np.asarray(jm.natural_frequencies(arm, 12).omega) / omega - 1.0).min() > 0.01
    compare(arm, omega * np.array([1.0, 1.0 + 1e-9]), 1e-11)


def test_where_numbers_grow_more_than_estimated():
    """Some means differ from the recursion by more than its estimated errors; another circle tells they are right."""
    arm = real_arms.random_arm(5, "everything")
    ports = ("tip.x", "link_2@0.3.y", "joint_2.x")
    compare(arm, np.array([_held(arm, 2, 1)]), 1e-12, ports)


@pytest.mark.parametrize(
    ("seed", "number", "allowed"), [(2, 3, 1e-11), pytest.param(0, 1, 1e-7, marks=pytest.mark.slow)]
)
def test_with_a_resonance_of_the_arm_beside(seed, number, allowed):
    """Nearer to its own resonance, 5e-5 and 7e-6 away, than any circle; what rounding moves that by is left to each."""
    arm = real_arms.random_arm(seed, "rotors")
    omega = _held(arm, 2, number)
    assert np.abs(np.asarray(jm.natural_frequencies(arm, 14).omega) / omega - 1.0).min() < 1e-4
    compare(arm, np.array([omega]), allowed)


@pytest.mark.parametrize("beside", [0.0, 1e-12, 1e-7, 1e-5])
def test_derivatives_at_resonances_of_held_parts_against_40_digits(beside):
    """By differences of the exact chain, to 1e-7 of the largest; dual numbers alone had no digit there and beside."""
    arm = real_arms.random_arm(1, "springs")
    omega = _held(arm, 3, 1) * (1.0 + beside)
    found = jm.response_sensitivities(arm, omega, PORTS[:2], PORTS[:2], addresses=[LENGTH])
    close(found.derivative[..., 0, 0].real, by_length(arm, omega, 2.0**-20))
    step = 2.0**-20
    ends = [exact(arm, omega * (1.0 + h)) for h in (step, -step)]
    close(found.by_frequency[..., 0].real, (ends[0] - ends[1]).T / (2 * step * omega))


def test_derivatives_beside_two_resonances_are_not_resolved_or_have_six_digits():
    """The arm's own, 5e-5 away, hinders means on circles; 1e-9 beside the held one 2e-5 was wrong in silence."""
    arm = real_arms.random_arm(2, "rotors")
    omega = _held(arm, 2, 3) * (1.0 + np.array([0.0, 1e-9, 1e-7]))
    found = jm.response_sensitivities(arm, omega, PORTS[:2], PORTS[:2], addresses=[LENGTH])
    values = np.moveaxis(found.derivative[..., 0].real, -1, 0)
    assert np.isfinite(values[-1]).all()
    for value, at in zip(values, omega, strict=True):
        truth = by_length(arm, at, 2.0**-36)
        wrong = np.abs(value - truth) / np.abs(truth).max()
        assert np.max(wrong, where=np.isfinite(wrong), initial=0.0) <= 1e-6


def by_length(arm, omega, step):
    """Derivative of the motions by the length of link 1, from the exact chain at two lengths."""
    length = jm.get_parameter(arm, LENGTH)
    ends = [exact(jm.set_parameters(arm, {LENGTH: length + h}), omega) for h in (step, -step)]
    return (ends[0] - ends[1]).T / (2 * step)


def exact(arm, omega):
    chain, targets = Chain(arm, omega), [target(arm, name) for name in PORTS[:2]]
    with mpmath.workdps(60):
        return np.array([[float(x.real) for x in chain.response(one, targets)] for one in targets])


def close(found, truth):
    assert np.max(np.abs(found - truth)) <= 1e-7 * np.max(np.abs(truth))


def compare(arm, omega, allowed, ports=PORTS):
    """Entries relative to the square root of the sizes of their ports."""
    found = jm.frequency_response(arm, omega, ports, ports)
    assert found.ok
    for k, each in enumerate(omega):
        chain = Chain(arm, float(each))
        targets = [target(arm, name) for name in ports]
        with mpmath.workdps(
            60
        ):  # the arm is far from resonance, the pivots of the held part are not
            exact = [chain.response(one, targets) for one in targets]
        for i, column in enumerate(exact):
            for j, truth in enumerate(column):
                size = mpmath.sqrt(abs(exact[i][i] * exact[j][j]))
                value = mpmath.mpmathify(complex(found.values[j, i, k]))
                assert abs(value - truth) <= allowed * size
