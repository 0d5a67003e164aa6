"""A concrete arm is solved at once in NumPy: the same answers as the compiled solver, and nothing is compiled."""

import json
import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.arithmetic.operations import Arithmetic
from jaxmodal.arm.arrays import beam_arrays, invalid_values
from jaxmodal.dynamic_stiffness.beams import prepared_values
from jaxmodal.dynamic_stiffness.condensation import evaluate
from jaxmodal.frequencies import host_solver, models
from jaxmodal.frequencies.certificate import ABOUT, TOLERANCE
from jaxmodal.frequencies.programs import padded_problem, solve_padded
from tests.support.problems import problems

ULP = 2.0**-52
#: one to four links, so that all share the compiled search of four; repeated and clustered modes, soft joints
COMPARED = ["P01", "P07", "P11", "P25", "P28", "P33"]
MODES = 12


@pytest.mark.parametrize("key", COMPARED)
def test_the_host_and_the_compiled_search_agree(key):
    problem = problems()[key]
    beams, flags = prepared_values(problem.arm, problem.model)
    host = host_solver.solve_on_host(models.PlanarModel(beams, flags), np.arange(1, MODES + 1))
    columns = jax.device_put(beams)
    padded = padded_problem(columns, jnp.asarray(False), 0, MODES, lanes=16)
    compiled = jax.tree_util.tree_map(
        lambda x: np.asarray(x)[:MODES] if np.ndim(x) else x, solve_padded(padded, flags)
    )
    np.testing.assert_allclose(host.omega, compiled.omega, rtol=4 * ULP)
    np.testing.assert_array_equal(host.converged, compiled.converged)
    for name in ("status", "count_below", "count_above", "group"):
        one, other = getattr(host.certificate, name), getattr(compiled.certificate, name)
        np.testing.assert_array_equal(one, other, err_msg=name)
    brackets = host.certificate.bracket, compiled.certificate.bracket
    np.testing.assert_allclose(*brackets, rtol=ABOUT * TOLERANCE, atol=0.0)  # about estimates


@pytest.mark.parametrize("arithmetic", [Arithmetic.float64, Arithmetic.double_double])
def test_one_frequency_is_that_of_every_cell(arithmetic):
    beams, flags = prepared_values(jm.examples.three_link_industrial(), "timoshenko")
    cells = jax.tree_util.tree_map(lambda x: np.stack([x, x * 1.01], axis=1), beams)
    found = evaluate(cells, flags, np.float64(300.0), arithmetic)
    each = evaluate(cells, flags, np.full(2, 300.0), arithmetic)
    jax.tree_util.tree_map(np.testing.assert_array_equal, vars(found), vars(each))
    first = evaluate(beams, flags, np.float64(300.0), arithmetic)
    assert (found.count[0], found.sign[0]) == (first.count, first.sign)
    assert found.log_abs[0] == pytest.approx(float(first.log_abs), rel=1e-12)


@pytest.mark.parametrize("arithmetic", [Arithmetic.float64, Arithmetic.double_double])
def test_links_that_are_not_in_use_do_not_count(arithmetic):
    arm = jm.examples.three_link_industrial()
    short = arm.replace(links=arm.links[:2])
    omega = np.array([10.0, 500.0])
    padded, alone = (prepared_values(x, "timoshenko") for x in (arm, short))
    found = evaluate(*padded, omega, arithmetic, 2)
    jax.tree_util.tree_map(
        np.testing.assert_array_equal, vars(found), vars(evaluate(*alone, omega, arithmetic))
    )


PROGRAM = """
import json, sys
import jax
jax.config.update("jax_enable_x64", True)
compiled = [0]

def listen(name, seconds, **_):
    compiled[0] += name == "/jax/core/compile/backend_compile_duration"

jax.monitoring.register_event_duration_secs_listener(listen)
import numpy as np
import jaxmodal as jm

arms = [jm.examples.three_link_industrial()]
plain = jm.examples.two_link_flexible().links
arms.append(jax.tree_util.tree_map(jax.device_put, jm.Arm(plain)))  # as a transformation returns an arm
spring = jm.Link(0.4, 7e10, 2700.0, jm.circle(0.03, "cowper"), poisson_ratio=0.3, joint_stiffness=1e3,
                 joint_axial_stiffness=1e7, joint_shear_stiffness=1e7, hub_mass=0.1, end_offset_x=0.02,
                 rotor_inertia=1e-4, gear_ratio=50.0, motor="beyond_spring", nonstructural_mass=0.2)
arms.append(jm.Arm((*plain, spring), jm.Payload(1.0, 0.1, centre_x=0.05)))
turned = jm.SpatialLink(0.4, 7e10, 2700.0, jm.rectangle(0.03, 0.02, "cowper"), poisson_ratio=0.3, joint_angle=0.7,
                        joint_axis=(0.0, 1.0, 1.0), joint_stiffness=1e3, body=jm.RigidBody(0.1, (0.0, 0.0, 0.02)))
in_space = jm.SpatialArm((turned, turned), jm.RigidBody(1.0, inertia=(0.01, 0.01, 0.01)))
found = {}

def count(name, call):
    before = compiled[0]
    result = call()
    found.setdefault(name, []).append(compiled[0] - before)
    return result

for arm in [*arms, in_space]:
    result = count("natural_frequencies", lambda: jm.natural_frequencies(arm, 6))
    omega = np.asarray(result.omega)
    if arm is in_space:
        continue
    count("what a result says", lambda: (result.frequencies_hz, result.certified, result.multiplicity))
    shapes = count("mode_shapes", lambda: jm.mode_shapes(arm, 6))
    count("what shapes say", lambda: (shapes.rayleigh_quotient, shapes.effective_mass))
    count("modal_assurance", lambda: jm.modal_assurance(shapes, shapes))
    count("count_below", lambda: jm.count_below(arm, [0.0, 10.0, 1e3]))
    checked = count("certify", lambda: jm.certify(arm, omega))
    count("what a certificate says", lambda: (checked.ok, checked.left_out))
    count("frequencies_in_band", lambda: jm.frequencies_in_band(arm, 0.0, 1.001 * omega[3]))
    count("postures", lambda: jm.postures_at(arm, float(omega[1]), 2))
    if arm is arms[1]:
        continue
    count("sensitivities", lambda: jm.sensitivities(arm, 4))
    count("directional", lambda: jm.directional_derivatives(arm, {"link1.length": 1.0}, 4))
    if arm is not arms[0]:
        continue

    def first(mass):
        return jm.natural_frequencies(jm.set_parameters(arm, {"payload.mass": mass}), 6).omega[0]

    value, _ = count("gradient", lambda: jax.value_and_grad(first)(arm.payload.mass))
    assert value == omega[0]  # to the bit: only rates go through JAX
print(json.dumps(found))
"""


def test_a_concrete_arm_needs_no_compiled_program():
    environment = {k: v for k, v in os.environ.items() if k != "JAX_COMPILATION_CACHE_DIR"}
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment, check=True
    )
    found = json.loads(ran.stdout)
    most = {name: max(numbers) for name, numbers in found.items()}
    assert most.pop("sensitivities") <= 1
    assert most.pop("directional") <= 1
    # the arm's arrays, what their rates make of frequencies, and the reverse of both; the rest is what JAX itself does
    # with the address and the index of the caller
    assert most.pop("gradient") <= 12
    assert set(most.values()) == {0}, most


@pytest.mark.parametrize(
    "solve",
    [
        lambda arm: jm.natural_frequencies(arm, 3, throw=False),
        lambda arm: jm.mode_shapes(arm, 3, throw=False),
        lambda arm: jm.count_below(arm, np.array([[1.0, 20.0]])),
        lambda arm: jm.certify(arm, np.array([10.0, 40.0])),
        beam_arrays,
    ],
)
def test_what_is_returned_has_the_shapes_and_types_of_the_compiled_answer(solve):
    arm = jm.examples.two_link_flexible()
    concrete = jax.tree_util.tree_leaves(solve(arm))
    traced = jax.make_jaxpr(solve)(arm).out_avals
    assert all(isinstance(x, jax.Array) for x in concrete)
    assert [(x.shape, x.dtype) for x in concrete] == [(x.shape, x.dtype) for x in traced]


def test_every_trial_is_counted(monkeypatch):
    tried = []
    evaluate = models.evaluate

    def counted(beams, flags, omega, arithmetic):
        tried.append(omega.size)
        return evaluate(beams, flags, omega, arithmetic)

    monkeypatch.setattr(models, "evaluate", counted)
    result = jm.natural_frequencies(jm.examples.two_link_flexible(), 5)
    assert int(result.evaluations) == sum(tried)


@pytest.mark.parametrize("beside", [None, 1e-9, 1e-13])
def test_double_double_is_asked_once_where_float64_was_right(monkeypatch, beside):
    """Not where two modes all but coincide; the answer is that of counts at both sides, four last digits apart."""
    arm = jm.examples.six_axis_industrial()
    if beside is not None:  # a round tube bends alike in all planes, but for a body beside its axis
        tube = jm.hollow_circle(0.08, 0.003, "cowper")
        body = jm.RigidBody(2.0, (0.0, 30.0 * beside, 0.0), inertia=(4e-3, 4e-3, 4e-3))
        arm = jm.SpatialArm(
            (jm.SpatialLink(0.5, 7e10, 2700.0, tube, poisson_ratio=0.33, body=body),)
        )
    asked, evaluated = [], host_solver._evaluated

    def counted(model, omega, arithmetic):
        asked.append(arithmetic)
        return evaluated(model, omega, arithmetic)

    monkeypatch.setattr(host_solver, "_evaluated", counted)
    found = jm.natural_frequencies(arm, 4)
    times = asked.count(Arithmetic.double_double)
    assert times == 1 if beside is None else times > 1
    monkeypatch.setattr(host_solver, "_SAME", -1.0)  # never enough
    longer = jm.natural_frequencies(arm, 4)
    assert asked.count(Arithmetic.double_double) - times > 1
    assert found.ok
    assert longer.ok
    np.testing.assert_allclose(found.omega, longer.omega, rtol=2 * ULP, atol=0.0)
    np.testing.assert_array_equal(found.count_above, longer.count_above)
    assert np.all(np.asarray(found.residual_ratio) < 2.0) or beside is not None


def test_values_that_are_arrays_of_jax_give_the_same_bits():
    arm = jm.examples.three_link_industrial()
    as_arrays = jax.tree_util.tree_map(jnp.asarray, arm)
    one, other = (jm.natural_frequencies(x, 6) for x in (arm, as_arrays))
    np.testing.assert_array_equal(one.omega, other.omega)
    assert bool(invalid_values(as_arrays)) is False


def test_a_concrete_arm_inside_jit_is_a_constant():
    arm = jm.examples.two_link_flexible()
    scaled = jax.jit(lambda s: s * jm.natural_frequencies(arm, 2).omega)(2.0)
    np.testing.assert_array_equal(scaled, 2.0 * np.asarray(jm.natural_frequencies(arm, 2).omega))


def test_many_modes_and_high_bands():
    arm = jm.examples.three_link_industrial()
    many = jm.natural_frequencies(arm, 120)
    low, high = (0.5 * float(many.omega[k - 1] + many.omega[k]) for k in (100, 104))
    band = jm.frequencies_in_band(arm, low, high)
    assert band.first_mode == 101
    np.testing.assert_allclose(band.omega, many.omega[100:104], rtol=4 * ULP)
