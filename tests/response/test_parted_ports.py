"""Ports that rigid supports part from each other: neither moves under a load at the other; what inertia couples."""

import jax
import mpmath
import numpy as np
import pytest

import jaxmodal as jm
from tests.response.arms import target
from tests.response.exact_chain import Chain
from tests.response.held_arms import CLAMPED, PINNED, undamped, without_supports
from tests.support.real_arms import steel


@pytest.mark.parametrize(("tip", "hinge"), [(CLAMPED, {}), (PINNED, {"joint_stiffness": 0.0})])
@pytest.mark.parametrize("in_space", [False, True])
def test_ports_that_supports_part_know_nothing_of_each_other(tip, hinge, in_space):
    """At resonances, too, where one of them is infinite: a link with its tip at rest keeps what lies beyond from it."""
    first, second = undamped(without_supports()).links
    first, second = first.replace(**tip), second.replace(**hinge)
    arm, alone = jm.Arm((first, second), jm.Payload(0.4, 2e-3)), jm.Arm((first,))
    roots = np.asarray(jm.natural_frequencies(arm, 5).omega)
    roots = roots[roots > 0.0]
    omega = np.concatenate([roots * (1.0 + x) for x in (0.0, 1e-12, 1e-9, 1e-4, 0.1)])
    arms = [jm.to_spatial(each) if in_space else each for each in (arm, alone)]
    places = ["link_1@0.4.y", "link_2@0.5.y", "tip.x"]
    found = jm.frequency_response(arms[0], omega, places, places)
    apart = np.asarray(found.status)[0, 1:]
    assert (apart == jm.Status.resolved).all()
    np.testing.assert_array_equal(np.asarray(found.values)[0, 1:], 0.0)
    np.testing.assert_array_equal(np.asarray(found.values)[1:, 0], 0.0)
    own = jm.frequency_response(arms[1], omega[-roots.size :], places[0], places[0])
    np.testing.assert_allclose(
        np.asarray(found.values)[0, 0, -roots.size :],
        np.asarray(own.values)[0, 0],
        rtol=1e-11,
        atol=0.0,
    )
    assert (np.asarray(found.status)[1, 1] == jm.Status.resonance).any()


@pytest.mark.parametrize("in_space", [False, True])
def test_derivatives_between_ports_that_supports_part_are_nothing(in_space):
    first, second = undamped(without_supports()).links
    arm = jm.Arm((first.replace(**CLAMPED), second), jm.Payload(0.4, 2e-3))
    roots = np.asarray(jm.natural_frequencies(arm, 4).omega)
    omega = np.concatenate([roots * (1.0 + x) for x in (1e-9, 1e-4)])
    found = jm.response_sensitivities(
        jm.to_spatial(arm) if in_space else arm,
        omega,
        ["link_1@0.4.y", "link_2@0.5.y"],
        "tip.x",
        addresses=["link1.length", "link2.youngs_modulus"],
    )
    np.testing.assert_array_equal(found.derivative[0, 0], 0.0)
    np.testing.assert_array_equal(found.by_frequency[0, 0], 0.0)
    assert np.all(np.abs(found.derivative[0, 1, 4:]).max(axis=-1) > 0.0)


def on_a_slide(angle):
    """One link whose tip moves along y alone."""
    return jm.Arm((steel(joint_angle=angle, support_x_stiffness=np.inf),))


@pytest.mark.parametrize(("in_space", "port"), [(False, "tip.along"), (True, "tip.link_x")])
def test_derivatives_of_a_port_that_a_support_holds_in_one_posture(in_space, port):
    """In the posture itself it is at rest, and its axis turns into the direction in which the tip moves."""
    arm = on_a_slide(0.0)
    arm = jm.to_spatial(arm) if in_space else arm
    found = jm.response_sensitivities(
        arm, [40.0, 900.0], "tip.y", port, addresses=["link1.joint_angle"]
    )
    np.testing.assert_array_equal(found.response.values, 0.0)
    expected = jm.frequency_response(arm, [40.0, 900.0], "tip.y", "tip.y").values
    np.testing.assert_allclose(found.derivative[..., 0], expected, rtol=1e-11, atol=0.0)


@pytest.mark.slow  # compiles the response and its derivative
def test_traced_responses_of_ports_that_supports_part():
    def along(angle):
        return jm.frequency_response(on_a_slide(angle), 40.0, "tip.y", "tip.along").values.real

    expected = jm.frequency_response(on_a_slide(0.0), 40.0, "tip.y", "tip.y").values
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        slope = jax.jit(jax.jacfwd(along))(0.0)
    np.testing.assert_allclose(slope, expected.real, rtol=1e-11, atol=0.0)

    first, second = undamped(without_supports()).links
    arm = jm.Arm((first.replace(**CLAMPED), second), jm.Payload(0.4, 2e-3))
    roots = np.asarray(jm.natural_frequencies(arm, 4).omega)
    omega = np.concatenate([roots * (1.0 + x) for x in (0.0, 1e-9, 1e-4, 0.1)])

    @jax.jit
    def across(omega):
        found = jm.frequency_response(arm, omega, ["link_1@0.4.y", "link_2@0.5.y"], "tip.x")
        return found.values, found.status

    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        values, status = across(omega)
    np.testing.assert_array_equal(values[0, 0], 0.0)
    assert (np.asarray(status)[0, 0] == jm.Status.resolved).all()
    assert np.all(np.abs(values[0, 1, -roots.size :]) > 0.0)


@pytest.mark.parametrize("in_space", [False, True])
def test_ports_that_inertia_alone_couples(in_space):
    """Past a tip that slides along x, a payload beside the axis bends the second link by its inertia: at low
    frequencies that is less than rounding."""
    first, second = steel(joint_angle=0.3), steel(joint_angle=-0.3)
    payload = jm.Payload(3.0, 0.01, 0.0, 0.01)
    bare = jm.Arm((first, second), payload)
    held = {"support_y_stiffness": np.inf, "support_torsional_stiffness": np.inf}
    arm = jm.Arm((first.replace(**held), second), payload)
    ports, supports = ["link_1@0.5.y", "link_2@0.5.y"], ["tip_1.y", "tip_1.rotation"]
    omega = np.asarray(jm.natural_frequencies(arm, 1).omega) * np.array([0.5, 1.3, 40.0])
    targets = [target(bare, name) for name in (*ports, *supports)]
    expected = []
    for each in omega:
        chain = Chain(bare, each)
        driven, *moved = (chain.response(target(bare, x), targets) for x in (ports[0], *supports))
        square = mpmath.matrix([[row[2 + k] for row in moved] for k in range(2)])
        forces = mpmath.lu_solve(square, mpmath.matrix(driven[2:]))
        given = sum(row[1] * f for row, f in zip(moved, forces, strict=True))
        expected.append(float(mpmath.re(driven[1] - given)))
    found = jm.frequency_response(jm.to_spatial(arm) if in_space else arm, omega, ports, ports)
    size = np.sqrt(np.abs(found.values[0, 0] * found.values[1, 1]))
    for one, other in ((0, 1), (1, 0)):
        error = (np.asarray(found.values)[one, other] - expected) / size
        np.testing.assert_allclose(error, 0.0, rtol=0.0, atol=1e-11)
    assert np.all(np.abs(expected / size) > 1e-9)
