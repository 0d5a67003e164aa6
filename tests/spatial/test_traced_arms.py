"""Frequencies of arms in space under jit, vmap and grad: those of the concrete arm, with its derivatives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.runtime.statuses import Status
from tests.spatial.cases import bent_arm, references, standing_arm, tube

NAMES = ("payload.mass", "link2.joint_angle", "link2.joint_axis.z", "payload.inertia.xx")
VALUES = np.array([1.5, 0.9, -0.4, 6e-3])
SAME = 1e-12


def omega(values, modes=3):
    arm = jm.set_parameters(bent_arm(), dict(zip(NAMES, values, strict=True)))
    return jm.natural_frequencies(arm, modes).omega


@pytest.fixture(scope="module")
def table():
    return jm.sensitivities(bent_arm(), 3, addresses=NAMES)


def test_gradients_outside_and_inside_of_programs(table):
    expected = np.asarray(table.derivative)
    np.testing.assert_allclose(jax.jit(jax.jacrev(omega))(VALUES), expected, rtol=SAME)
    np.testing.assert_allclose(jax.jit(jax.jacfwd(omega))(VALUES), expected, rtol=SAME)

    def second(mass):
        arm = bent_arm()
        return jm.natural_frequencies(arm.replace(payload=arm.payload.replace(mass=mass)), 2).omega[
            1
        ]

    np.testing.assert_allclose(jax.grad(second)(1.5), expected[1, 0], rtol=SAME)


def test_compiled_frequencies_and_certificates_are_those_of_the_arm():
    concrete = jm.natural_frequencies(standing_arm(), 4)
    traced = jax.jit(lambda arm: jm.natural_frequencies(arm, 4))(standing_arm())
    np.testing.assert_array_equal(traced.omega, concrete.omega)
    np.testing.assert_array_equal(traced.status, concrete.status)
    np.testing.assert_array_equal(traced.count_below, concrete.count_below)
    np.testing.assert_array_equal(traced.bracket, concrete.bracket)


def test_a_gradient_by_an_arm_is_an_arm(table):
    gradient = jax.jit(jax.grad(lambda arm: jm.natural_frequencies(arm, 2).omega[1]))(bent_arm())
    found = [jm.get_parameter(gradient, name) for name in NAMES]
    np.testing.assert_allclose(found, np.asarray(table.derivative)[1], rtol=SAME)


def test_impossible_values_give_nan_and_say_so():
    def solve(mass):
        arm = bent_arm()
        arm = arm.replace(payload=arm.payload.replace(mass=mass))
        result = jm.natural_frequencies(arm, 2)
        return result.omega, result.status

    found, status = jax.vmap(solve)(jnp.array([1.5, -1.0]))
    np.testing.assert_array_equal(found[0], jm.natural_frequencies(bent_arm(), 2).omega)
    assert np.all(np.isnan(found[1]))
    np.testing.assert_array_equal(status[1], int(Status.invalid_input))
    slope = jax.jit(jax.jacfwd(lambda mass: solve(mass)[0]))
    assert np.all(np.isnan(slope(-1.0)))


def test_members_of_a_double_frequency_have_the_derivative_of_their_mean():
    """Also where the list ends between them."""
    payload = jm.RigidBody(1.0, inertia=(1e-3, 1e-3, 1e-3))
    arm = jm.SpatialArm((tube(),), payload)

    def lowest(moment, modes):
        body = payload.replace(inertia=payload.inertia.replace(yy=moment))
        return jm.natural_frequencies(arm.replace(payload=body), modes).omega

    both = np.asarray(jm.directional_derivatives(arm, {"payload.inertia.yy": 1.0}, 2))
    for modes in (1, 2):
        found = jax.jit(jax.jacfwd(lambda x, modes=modes: lowest(x, modes)))(1e-3)
        np.testing.assert_allclose(found, np.full(modes, np.mean(both)), rtol=1e-10)


def test_zero_frequencies_of_free_hinges_stay_zero():
    case = references()["S12"]

    def omega(length):
        arm = jm.set_parameters(case.arm, {"link1.length": length})
        return jm.natural_frequencies(arm, 3, theory=case.theory).omega

    by_length = jax.jit(jax.jacfwd(omega))(jm.get_parameter(case.arm, "link1.length"))
    np.testing.assert_array_equal(by_length[:2], 0.0)
    assert by_length[2] != 0.0


def test_what_is_refused():
    with pytest.raises(TypeError, match=r"second derivatives .* in space are not available"):
        jax.jit(jax.hessian(lambda values: omega(values)[0]))(VALUES)
    for call in (
        lambda arm: jm.count_below(arm, 10.0),
        lambda arm: jm.mode_shapes(arm, 2, stations=2).motion,
    ):
        with pytest.raises(jm.ArmError, match="only natural_frequencies accepts it"):
            jax.jit(call)(bent_arm())
    with pytest.raises(TypeError, match="use modal_quantities_batch"):
        jax.eval_shape(
            lambda x: jm.natural_frequencies_batch(bent_arm(), {"link1.length": x}).omega, VALUES
        )
    with pytest.raises(TypeError, match="the arm is traced"):
        jax.jit(lambda arm: jm.sensitivities(arm, 2).derivative)(bent_arm())
