"""Driven arms on rigid supports: forces that hold the tips, in 40 digits and at certified resonances."""

import itertools

import jax
import mpmath
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.response.driven import held_tips
from jaxmodal.statics.beam_arrays import SUPPORTS
from tests.response.arms import target
from tests.response.exact_chain import Chain
from tests.response.held_arms import (
    HELD,
    OUTPUTS,
    held,
    held_in_40_digits,
    undamped,
    without_supports,
)


@pytest.mark.parametrize("damped", [True, False])
def test_against_40_digits(damped):
    arm, bare = held(), without_supports()
    if not damped:
        arm, bare = undamped(arm), undamped(bare)
    first, *_, fourth = np.asarray(jm.natural_frequencies(arm, 4).omega)
    for omega in (1e-3 * first, 0.5 * first, 0.97 * fourth):
        for source in ("link_2@0.5.y", "base.x"):
            quantity = "transmissibility" if source == "base.x" else "receptance"
            found = jm.frequency_response(arm, omega, source, OUTPUTS, quantity=quantity).values
            truth = held_in_40_digits(bare, omega, source)
            np.testing.assert_allclose(found[:, 0], truth, rtol=0, atol=3e-13 * np.abs(truth).max())


def test_at_resonances_of_the_arm_on_some_of_its_supports():
    """Forces of the supports found one after the other have no digits there; derivatives are those of the plane."""
    arm, bare = undamped(held()), undamped(without_supports())
    in_space = jm.to_spatial(arm)
    outputs = ["link_2@0.5.y", "link_1@0.5.x"]
    rigid = [(k, name) for k in range(2) for name in SUPPORTS if getattr(arm.links[k], name)]
    assert len(rigid) == 3
    for count in (1, 2):
        for removed in itertools.combinations(rigid, count):
            part = jm.set_parameters(arm, {f"link{k + 1}.{name}": 0.0 for k, name in removed})
            # where one is away the first frequency, where two are the second
            omega = float(jm.natural_frequencies(part, count).omega[-1])
            truth = held_in_40_digits(bare, omega, outputs[0], outputs=outputs)
            largest = np.abs(truth).max()
            for asked in (arm, in_space):
                found = jm.frequency_response(asked, omega, outputs[:1], outputs).values
                np.testing.assert_allclose(found[:, 0], truth, rtol=0, atol=1e-11 * largest)
            by_length, flat = (
                jm.response_sensitivities(
                    x, omega, outputs[0], outputs, addresses=["link1.length"]
                ).derivative
                for x in (in_space, arm)
            )
            largest = np.abs(flat).max()
            np.testing.assert_allclose(by_length, flat, rtol=0, atol=1e-8 * largest)


def test_resonances_statuses_and_static_limit():
    arm = undamped(held())
    omega = np.asarray(jm.natural_frequencies(arm, 4).omega)
    at = jm.frequency_response(arm, omega, "tip.rotation", "tip.rotation")
    assert (at.status == jm.Status.resonance).all()
    beside = jm.frequency_response(
        arm, omega * (1.0 + 1e-9), "tip.rotation", ["tip.rotation", "tip.x"]
    )
    assert beside.ok
    assert not beside.values[1].any()  # where it is held
    assert not beside.values.imag.any()
    low = jm.frequency_response(arm, 1e-6 * omega[0], "tip.rotation", OUTPUTS).values
    still = jm.static_compliance(arm, "tip.rotation", OUTPUTS).values
    np.testing.assert_allclose(low.real, still, rtol=1e-10)


def test_damped_modes_against_40_digits():
    """The determinant of the arm without supports times that of its receptances where it is held."""
    bare = without_supports()
    found = jm.damped_modes(held(), 3)
    assert found.ok

    def determinant(omega):
        chain = Chain(bare, omega)
        targets = [target(bare, name) for name in HELD]
        receptances = mpmath.matrix([list(chain.response(x, targets)) for x in targets])
        return chain.determinant() * mpmath.det(receptances)

    for root in found.roots[[0, 2]]:
        near = mpmath.mpmathify(complex(root))
        starts = (near, near * (1 + mpmath.mpf("1e-7")))
        exact = mpmath.findroot(
            determinant, starts, solver="secant", tol=1e-25, verify=False, maxsteps=4
        )
        assert abs(complex(exact) - root) < 1e-12 * abs(root)


def test_many_arms_and_sums_over_modes():
    arm = held()
    lengths = [0.4, 0.5]
    omega = np.array([300.0, 900.0, 2000.0])
    many = jm.frequency_response(
        arm, omega, "link_2@0.5.y", OUTPUTS, parameters={"link2.length": lengths}
    )
    for k, length in enumerate(lengths):
        one = jm.frequency_response(
            jm.set_parameters(arm, {"link2.length": length}), omega, "link_2@0.5.y", OUTPUTS
        )
        np.testing.assert_allclose(many.values[k], one.values, rtol=1e-11)
    model = jm.modal_superposition(undamped(arm), "link_2@0.5.y", OUTPUTS, 24)
    assert jm.truncation_error(model, omega=omega[:2]).worst < 1e-6


@pytest.mark.parametrize("waves", [pytest.param(0.7, marks=pytest.mark.slow), 6.0])
def test_what_lies_beside_rigid_supports_has_no_effect(waves, monkeypatch):
    """Values, derivatives and damped modes, whose determinants have factors of the dampers."""
    arm, omega = held(), [30.0, 1700.0, 5100.0]

    def numbers():
        asked = arm, omega, "link_2@0.5.y", OUTPUTS
        slopes = jm.response_sensitivities(*asked, addresses=["link1.length", "link2.density"])
        modes = jm.damped_sensitivities(arm, 2, addresses=["link1.length"])
        return slopes.response.values, slopes.derivative, modes.modes.roots, modes.derivative

    usual = numbers()
    monkeypatch.setattr(held_tips, "SLOWEST", waves)
    for one, other in zip(usual, numbers(), strict=True):
        np.testing.assert_allclose(other, one, rtol=0, atol=1e-10 * np.abs(one).max())


@pytest.mark.slow  # compiles the response
def test_traced_responses_tell_resonances_and_have_their_digits():
    """Where the arm on some of its supports is in resonance nine digits: no mean over circles helps a traced one."""
    arm = undamped(held())
    rigid = [
        f"link{k + 1}.{name}" for k in range(2) for name in SUPPORTS if getattr(arm.links[k], name)
    ]
    fewer = [jm.set_parameters(arm, {name: 0.0}) for name in rigid]
    own, *others = (np.asarray(jm.natural_frequencies(x, 3).omega) for x in (arm, *fewer))
    omega = np.concatenate([own, *others])

    @jax.jit
    def traced(omega):
        found = jm.frequency_response(arm, omega, "link_2@0.5.y", OUTPUTS[:2])
        return found.values, found.status

    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        values, status = traced(omega)
    alone = jm.frequency_response(arm, omega, "link_2@0.5.y", OUTPUTS[:2])
    np.testing.assert_array_equal(status, alone.status)
    assert (alone.status[..., :3] == jm.Status.resonance).all()
    size = np.abs(alone.values[..., 3:]).max(axis=0)
    found = np.asarray(values)[..., 3:]
    np.testing.assert_allclose(found / size, alone.values[..., 3:] / size, rtol=0, atol=1e-9)


def test_a_rigid_support_does_not_vary():
    with pytest.raises(jm.ArmError, match=r"'link2\.support_x_stiffness' is rigid in this arm"):
        jm.frequency_response(
            held(), 3.0, "tip.x", "tip.x", parameters={"link2.support_x_stiffness": [1e5, 1e6]}
        )
