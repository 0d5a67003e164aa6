"""Are B, h, g, the inverse dynamics, energies and the tip's motion those of the reference cases, and consistent?

What compiles: the terms of one state as two programs, for each number of links and modes and each way to pose them;
inertia matrix and h to first order are the programs of test_explicit_two_links.py.
"""

import functools
import os

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

import jaxmodal as jm
from jaxmodal import dynamics
from jaxmodal.dynamics.mechanics import equations, recursion
from tests.support.dynamics_cases import (
    CASES,
    VARIANTS,
    model_of,
    state_of,
    uniform_link,
    vector_of,
)

DIGITS = 1e-11
"""The file gives 12 significant digits of each number; differences are over the largest entry, also of sums."""
SLOW_CASES = ("P3", "P5", "P6", "P7", "P8")
NAMED = [
    pytest.param(name, variant, marks=[pytest.mark.slow] if name in SLOW_CASES else [])
    for name in CASES
    for variant in VARIANTS
    if not (name == "P4" and variant != "full_rotation")
]


@jax.jit
def inertia_and_bias(model, q, rate):
    """B, h, and the table dB_ij/dq_k, which knows nothing of how h is found."""
    return (
        equations.inertia(model, q),
        equations.velocity_forces(model, q, rate),
        jax.jacfwd(lambda it: equations.inertia(model, it))(q),
    )


@jax.jit
def other_terms(model, q, rate, acceleration):
    return {
        "gravity_vector": equations.weight(model, q),
        "inverse_dynamics_generalised_forces": equations.generalised_forces(
            model, q, rate, acceleration
        ),
        "energies": equations.energies(model, q, rate),
        "tip": equations.tip_motion(model, q, rate, acceleration),
        "free": equations.accelerations(model, q, rate, np.zeros(model.num_links))[0],
    }


def christoffel(table, rate):
    """Eq (26) by the table of all derivatives of B."""
    forward = np.einsum("ijk,j,k->i", table, rate, rate)
    return forward - 0.5 * np.einsum("jki,j,k->i", table, rate, rate)


def assert_close(found, expected, scale=None):
    expected = np.asarray(expected)
    scale = np.abs(expected).max() if scale is None else scale
    assert np.abs(np.asarray(found) - expected).max() <= DIGITS * scale


@pytest.mark.parametrize(("name", "variant"), NAMED)
def test_reference_cases(name, variant):
    case = CASES[name]
    model = model_of(name).posed(*VARIANTS[variant])
    for entry in case["evaluations"]:
        q, rate = state_of(entry)
        acceleration = vector_of(
            entry,
            "joint_accelerations_rad_per_s2",
            "modal_tip_deflection_accelerations_m_per_s2",
        )
        expected, found = entry[variant], other_terms(model, q, rate, acceleration)
        # the table of a B of first order takes long to compile: one, among the slow cases
        tabulated = model.inertia_order == "full" or name == "P8"
        if tabulated:
            inertia, bias, table = map(np.asarray, inertia_and_bias(model, q, rate))
        else:
            inertia = np.asarray(dynamics.inertia_matrix(model, q))
            bias = np.asarray(dynamics.bias(model, q, rate))
        if "inertia_matrix" in expected:
            assert_close(inertia, expected["inertia_matrix"])
        else:
            assert_close(inertia @ acceleration, expected["inertia_matrix_times_accelerations"])
        assert_close(found["gravity_vector"], expected["gravity_vector"])
        # velocity forces may vanish: their scale is that of inertia times rates squared
        size = np.abs(inertia).max() * np.sum(rate**2)
        assert_close(bias, expected["bias_vector"], size)
        forces = "inverse_dynamics_generalised_forces"
        assert_close(found[forces], expected[forces])
        for part, key in zip(found["tip"], ("position_m", "velocity_m_per_s"), strict=False):
            assert_close(part, expected[f"tip_{key}"])
        assert_close(found["tip"][2], expected["tip_acceleration_m_per_s2"])
        # on a motion that nothing drives all forces add up to zero; no case has dry friction
        free = np.asarray(found["free"])
        if np.linalg.eigvalsh(inertia)[0] > 0.0:
            steady = np.asarray(model.stiffness) @ q + np.asarray(model.damping) @ rate
            left = inertia @ free + bias + found["gravity_vector"] + steady
            assert_close(left, 0.0 * left, np.abs(inertia).max() * np.abs(free).max())
        else:  # a B of first order at large deflections
            assert np.all(np.isnan(free))
        for part in ("kinetic", "elastic", "gravity"):
            value = expected["energies_J"][part]
            assert_close(getattr(found["energies"], part), value, max(abs(value), 1e-9))

        # what must hold whatever the numbers
        assert (
            np.array_equal(inertia, inertia.T) or np.abs(inertia - inertia.T).max() < 1e-15 * size
        )
        kinetic = 0.5 * rate @ inertia @ rate
        np.testing.assert_allclose(found["energies"].kinetic, kinetic, rtol=1e-12)
        if not tabulated:
            continue
        assert_close(bias, christoffel(table, rate), size)
        # the power of h is that of the changing inertia, which is why B' - 2 C is skew
        power = 0.5 * rate @ (table @ rate) @ rate
        np.testing.assert_allclose(rate @ bias, power, rtol=0.0, atol=1e-12 * size)


@functools.cache
def foreshortened():
    return model_of("P1").posed(foreshortening=True)


finite = st.floats(-1.0, 1.0)


@examples(max_examples=20)
@given(
    angles=st.tuples(st.floats(-3.2, 3.2), st.floats(-3.2, 3.2)),
    deflections=st.tuples(*[st.floats(-0.2, 0.2)] * 4),
    rates=st.tuples(*[finite] * 6),
)
def test_the_full_inertia_matrix_is_positive_definite_whatever_the_state(
    angles, deflections, rates
):
    q, rate = np.array([*angles, *deflections]), np.array(rates)
    inertia, bias, table = map(np.asarray, inertia_and_bias(foreshortened(), q, rate))
    assert np.linalg.eigvalsh(inertia)[0] > 0.0
    size = np.abs(inertia).max() * max(np.sum(rate**2), 1e-300)
    assert np.abs(bias - christoffel(table, rate)).max() <= 1e-12 * size


def test_the_truncated_inertia_matrix_loses_definiteness_and_says_so():
    model = model_of("P1").posed("first", "linear", False)
    q = np.array([0.0, 1.0, 0.5, 0.0, 0.5, 0.0])
    assert np.linalg.eigvalsh(dynamics.inertia_matrix(model, q))[0] < 0.0
    assert np.all(np.isnan(other_terms(model, q, *np.zeros((2, 6)))["free"]))
    many = np.broadcast_to(q, BATCH)  # the program of other tests
    whole = dynamics.forward_dynamics(foreshortened(), many, np.zeros(6), np.zeros(2))
    assert np.all(np.isfinite(whole))


def test_the_rigid_limit_is_the_textbook_arm():
    """P4 has no modes; closed form of the two-link arm, Spong and others."""
    model = model_of("P4")
    (a, b), l1, l2 = CASES["P4"]["arm"]["links"], 0.7, 0.5
    m1, m2 = a["mass_per_length_kg_per_m"] * l1, b["mass_per_length_kg_per_m"] * l2
    hub, payload = 0.3, 0.4
    angles, rate = np.array([0.6, -1.1]), np.array([1.3, -0.7])
    reach = (m2 * 0.5 + payload) * l2  # first moment of the second link
    cosine, sine = np.cos(angles[1]), np.sin(angles[1])
    outer = m2 * l2**2 / 3.0 + payload * l2**2 + 0.01 + 0.003
    inner = m1 * l1**2 / 3.0 + 0.02 + (hub + m2 + payload) * l1**2
    inertia = [
        [inner + outer + 2.0 * reach * l1 * cosine, outer + reach * l1 * cosine],
        [outer + reach * l1 * cosine, outer],
    ]
    twist = reach * l1 * sine
    forces = [-twist * (2.0 * rate[0] * rate[1] + rate[1] ** 2), twist * rate[0] ** 2]
    far = 9.81 * reach * np.cos(angles.sum())
    weight = [9.81 * (m1 * 0.5 + hub + m2 + payload) * l1 * np.cos(angles[0]) + far, far]
    np.testing.assert_allclose(dynamics.inertia_matrix(model, angles), inertia, rtol=1e-13)
    np.testing.assert_allclose(dynamics.bias(model, angles, rate), forces, rtol=1e-13)
    np.testing.assert_allclose(dynamics.gravity(model, angles), weight, rtol=1e-13)


@pytest.mark.parametrize("frames", ["linear", "rotation"])
def test_full_and_first_differ_with_the_square_of_the_deflections(frames):
    """Equal without deflection, for either choice of frames."""
    model, rng = model_of("P1").posed(frames=frames), np.random.default_rng(5)
    angles, shape = rng.uniform(-2, 2, 2), rng.uniform(-0.05, 0.05, 4)

    def gap(scale):
        q = np.concatenate([angles, scale * shape])
        full = np.asarray(inertia_and_bias(model, q, q)[0])
        first = np.asarray(dynamics.inertia_matrix(model.posed("first"), q))
        return np.abs(full - first).max() / np.abs(full).max()

    assert gap(0.0) < 1e-15
    np.testing.assert_allclose([gap(1.0) / gap(0.1), gap(0.1) / gap(0.01)], 100.0, rtol=0.1)


BATCH = (2, 3, 6)


def test_batches_of_states():
    """Leading axes are batches; what has fewer is taken for all of them."""
    model, rng = foreshortened(), np.random.default_rng(2)
    q = rng.uniform(-0.3, 0.3, BATCH)
    whole = dynamics.inertia_matrix(model, q)
    assert whole.shape == (2, 3, 6, 6)
    alone = inertia_and_bias(model, q[1, 2], np.zeros(6))[0]
    np.testing.assert_allclose(whole[1, 2], alone, rtol=1e-13)


def test_forward_and_inverse_dynamics_undo_each_other():
    model, rng = foreshortened(), np.random.default_rng(3)
    q, rate = rng.uniform(-0.1, 0.1, (2, *BATCH))
    torques = np.array([0.3, -0.2])
    acceleration = dynamics.forward_dynamics(model, q, rate, torques)
    assert acceleration.shape == BATCH
    forces = np.asarray(dynamics.inverse_dynamics(model, q, rate, acceleration))
    scale = np.abs(q @ np.asarray(model.stiffness)).max()
    expected = np.broadcast_to([*torques, 0.0, 0.0, 0.0, 0.0], BATCH)
    np.testing.assert_allclose(forces, expected, rtol=0.0, atol=1e-11 * scale)


@pytest.mark.parametrize("foreshortening", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_the_recursion_is_the_factorisation(foreshortening):
    """Four links with all that an arm may have: hubs, stators, rotors, an elastic joint, bodies, unequal modes."""
    body = {"tip_mass": 0.1, "tip_inertia": 0.003}
    rotor = {"rotor_inertia": 2e-5, "gear_ratio": 20.0, "motor": "held"}
    links = (
        uniform_link(0.5, 1.0, 0.2, hub_inertia=0.1, **rotor),
        uniform_link(0.4, 2.0, 0.3, stator_mass=0.2, stator_inertia=0.02, hub_mass=0.4, **rotor, **body),
        uniform_link(0.3, 0.7, 0.2, hub_inertia=0.01, joint_stiffness=30.0, **rotor),
        uniform_link(0.5, 1.5, 0.1, hub_mass=0.2, hub_inertia=0.004, **body),
    )  # fmt: skip
    arm = jm.attach_body(jm.Arm(links, jm.Payload(0.1, 5e-4)), 2, 0.13, 0.05, 0.001)
    model = dynamics.flexible_arm(
        arm, [2, 1, 2, 0], shapes="polynomial", foreshortening=foreshortening, gravity=(0.0, -9.81)
    )
    rng = np.random.default_rng(8)
    q = rng.uniform(-1, 1, model.num_coordinates) * np.array([1] * 4 + [0.02] * 5 + [1])
    rate, torques = rng.uniform(-1, 1, q.size), rng.uniform(-1, 1, 4)

    @jax.jit
    def both(q, rate, torques):
        found = equations.accelerations(model, q, rate, torques)[0]
        force = equations.applied(model, torques) - equations.resistance(model, q, rate)
        return found, equations.inertia(model, q), force

    found, inertia, force = map(np.asarray, both(q, rate, torques))
    assert recursion.pays(model)
    np.testing.assert_allclose(inertia @ found, force, rtol=0.0, atol=1e-11 * np.abs(force).max())
    expected = np.linalg.solve(inertia, force)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-11 * np.abs(expected).max())


#: what the tests otherwise compile without is where the fault is
AS_USERS_DO = {"xla_backend_optimization_level": 3}


def test_linear_frames_under_the_command_line_s_compiler_flags():
    """XLA's arctan is wrong for vectors of 512 bits, which those flags, here set for all tests, ask for."""
    assert "prefer_vector_width=512" in os.environ["XLA_FLAGS"]
    link = jm.Link(0.5, 7e10, 2000.0, jm.raw_section(area=1e-4, second_moment=1e-11))
    model = dynamics.flexible_arm(jm.Arm((link, link)), 1, coordinates="tip_deflection")
    model = model.posed(frames="linear", foreshortening=False)
    q = np.zeros((512, 4))
    q[:, 2] = np.linspace(-0.1, 0.1, 512)
    slope = float(model.tip_slope[0, 0]) * q[:, 2]
    expected = 0.5 + 1j * q[:, 2] + 0.5 * (1.0 + 1j * slope)
    program = jax.jit(lambda q: dynamics.tip_position(model, q)).lower(q).compile(AS_USERS_DO)
    found = np.asarray(program(q)) @ np.array([1.0, 1j])
    assert np.abs(found - expected).max() < 1e-14


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda m: dynamics.inertia_matrix(m, np.zeros(5)), "must have 6 entries: 2 joint angles"),
        (lambda m: dynamics.bias(m, np.zeros(6), np.full(6, np.nan)), "rate: holds a value"),
        (lambda m: dynamics.forward_dynamics(m, *np.zeros((2, 6)), np.zeros(3)), "torque for each"),
    ],
)
def test_states_that_do_not_fit(call, words):
    with pytest.raises(jm.ArmError, match=words):
        call(model_of("P1"))
