"""Are the derivatives of the frequencies exact? Scaling laws, differences, both modes of JAX, clusters."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmodal as jm
from tests.support.commands import run_command
from tests.support.compiled_programs import names_of_programs
from tests.support.frequencies_of_rows import (
    AD_VS_FD,
    DOUBLE_ROOT_DEG,
    HESSIAN_VS_FD,
    NUM_MODES,
    differences,
    far_off,
    industrial,
    of_cells,
    omega_of,
    one_by_one,
)
from tests.support.problems import problems

SCALING = 1e-11
"""Laws of dimension: sums of all logarithmic sensitivities that one change of units makes."""

FORWARD_VS_REVERSE = 1e-12

PARAMETERS = {
    "link1.length": 1.5,
    "link2.joint_angle": 0.7,
    "link1.section.depth": 0.15,
    "link3.section.wall_thickness": 0.01,
    "link2.section.shear_coefficient": 0.44,
    "link3.tip_mass": 35.0,
    "link3.tip_inertia": 0.5,
    "link2.density": 2700.0,
    "link3.poisson_ratio": 0.34,
    "payload.mass": 2.0,
    "link2.joint_stiffness": 1e6,
}


@pytest.fixture(scope="module", params=["timoshenko", "euler_bernoulli"])
def derivatives(request):
    given = industrial(45, -30), list(PARAMETERS), NUM_MODES, request.param
    x, omega = np.array(list(PARAMETERS.values())), omega_of(*given)
    return omega, x, np.asarray(jax.jacfwd(omega)(x)), of_cells(*given)


def test_derivatives_of_a_concrete_arm_compile_nothing():
    """Where a program knew of an arm, each name and each list of addresses was another one."""
    link = jm.Link(0.4, 7e10, 2700.0, jm.rectangle(0.02, 0.03, 0.85), poisson_ratio=0.3)
    arm = jm.Arm((link, link.replace(joint_angle=0.3)), name="another arm")
    with names_of_programs() as programs:
        table = jm.sensitivities(arm, 2)
        along = jm.directional_derivatives(arm, {"link2.length": 2.0}, 2)
        still = jm.directional_derivatives(arm, {}, 2)
    assert programs == []
    by_length = np.asarray(table.derivative)[:, table.addresses.index("link2.length")]
    np.testing.assert_allclose(along, 2.0 * by_length, rtol=1e-12)
    np.testing.assert_array_equal(still, 0.0)


def test_forward_against_reverse(derivatives):
    omega, x, forward, _ = derivatives
    reverse = np.asarray(jax.jacrev(omega)(x))
    assert far_off(reverse, forward, x) <= FORWARD_VS_REVERSE


def test_against_differences(derivatives):
    _, x, forward, omegas = derivatives
    expected = differences(omegas, x, 1e-3 * x)
    assert far_off(forward, expected, x) <= AD_VS_FD


@pytest.mark.parametrize(
    "name",
    [
        "P08",
        *(
            pytest.param(n, marks=pytest.mark.slow)
            for n in ("P12", "P19", "P22", "P28", "P29", "P31")
        ),
    ],
)
def test_against_differences_for_the_oracle_arms(name):
    """Every parameter; beyond the cut-off (P19), at it (P22), with soft joints (P28, P29, P31).

    By the table in NumPy; in three arms through the search by JAX as well, which takes the same formulas.
    """
    problem = problems()[name]
    value = {a: float(jm.get_parameter(problem.arm, a)) for a in jm.list_addresses(problem.arm)}
    names = [a for a in value if np.isfinite(value[a]) and (value[a] != 0 or "angle" in a)]
    x = np.array([value[a] for a in names])
    given = problem.arm, names, problem.num_modes, problem.model
    found = jm.sensitivities(problem.arm, problem.num_modes, theory=problem.model, addresses=names)
    # short steps: P19 has two modes 3e-4 apart, where the error of the differences falls with the
    # fourth power of the step down to 7e-9 at 1e-5
    steps = 2e-5 * np.where(x == 0, 1.0, np.abs(x))
    expected = differences(of_cells(*given), x, steps)
    scale = np.where(x == 0, 1.0, x)
    assert far_off(np.asarray(found.derivative), expected, scale) <= AD_VS_FD
    if name in ("P08", "P19", "P28"):
        reverse = np.asarray(jax.jacrev(omega_of(*given))(x))
        assert far_off(reverse, expected, scale) <= AD_VS_FD


@pytest.mark.slow
@pytest.mark.parametrize("derivatives", ["timoshenko"], indirect=True)
def test_hessian_against_differences_of_gradients(derivatives):
    """Along three random directions, to each of which every entry adds; gradients in NumPy, by the table."""
    omega, x, gradient, _ = derivatives
    arm, names = industrial(45, -30), list(PARAMETERS)

    def tabulated(row):
        at = jm.set_parameters(arm, dict(zip(names, row.tolist(), strict=True)))
        return np.asarray(jm.sensitivities(at, NUM_MODES, addresses=names).derivative)

    assert far_off(tabulated(x), gradient, x) <= SCALING
    hessian = np.asarray(jax.jit(jax.jacfwd(jax.jacrev(omega)))(x))
    scaled = hessian * x[:, None] * x[None, :]
    largest = np.max(np.abs(scaled), axis=(1, 2))
    for direction in np.random.default_rng(3).uniform(-1.0, 1.0, (3, len(x))):
        along = one_by_one(lambda step, d=direction: tabulated(x * (1.0 + step[0] * d)))
        expected = differences(along, np.zeros(1), [3e-4])[..., 0]
        off = np.max(np.abs(scaled @ direction - expected * x), axis=1)
        assert np.max(off / largest) <= HESSIAN_VS_FD
    skew = np.abs(scaled - scaled.transpose(0, 2, 1))
    assert np.max(skew) <= 1e-11 * np.max(np.abs(scaled))


@pytest.mark.slow
def test_second_derivative_by_a_law_of_dimension():
    """omega = C L^-2 of a slender cantilever: the second derivative is 6 omega / L^2."""
    arm = jm.Arm((jm.Link(2.0, 7e10, 2700.0, jm.rectangle(0.02, 0.05)),))

    def omega(length):
        changed = jm.set_parameters(arm, {"link1.length": length})
        return jm.natural_frequencies(changed, 1, theory="bending_only").omega[0]

    expected = 6 * float(omega(2.0)) / 4
    assert float(jax.grad(jax.grad(omega))(2.0)) == pytest.approx(expected, rel=SCALING)


@pytest.mark.slow
def test_vmap_of_grad():
    arm = industrial(45, -30)

    def third(angle):
        changed = jm.set_parameters(arm, {"link3.joint_angle": angle})
        return jm.natural_frequencies(changed, NUM_MODES).omega[2]

    angles = np.array([0.1, -2.0, 3.0])
    batch = jax.jit(jax.vmap(jax.grad(third)))(angles)
    at = [jm.set_parameters(arm, {"link3.joint_angle": angle}) for angle in angles]
    single = [jm.sensitivities(one, NUM_MODES, addresses=["link3.joint_angle"]) for one in at]
    assert np.allclose(batch, [float(one.derivative[2, 0]) for one in single], rtol=1e-11)


@pytest.fixture(scope="module")
def table():
    return {
        theory: jm.sensitivities(industrial(45, -30), 6, theory=theory) for theory in jm.THEORIES
    }


def sums(table, suffixes):
    chosen = [a.rsplit(".", 1)[1] in suffixes for a in table.addresses]
    return np.asarray(table.logarithmic)[:, np.array(chosen)].sum(axis=1)


@pytest.mark.parametrize("theory", jm.THEORIES)
def test_scaling_laws(table, theory):
    """Elasticity times c: sqrt(c). Density and bodies times c: 1/sqrt(c). All lengths times c: 1/c."""
    one = table[theory]
    assert np.allclose(sums(one, ["youngs_modulus"]), 0.5, rtol=SCALING)
    assert np.allclose(sums(one, ["density", "tip_mass", "tip_inertia"]), -0.5, rtol=SCALING)
    lengths = sums(one, ["length", "depth", "width", "wall_thickness"])
    bodies = 3 * sums(one, ["tip_mass"]) + 5 * sums(one, ["tip_inertia"])
    assert np.allclose(lengths + bodies, -1.0, rtol=SCALING)


def test_theories_without_shear_do_not_depend_on_it(table):
    for theory in ("rayleigh", "euler_bernoulli", "bending_only"):
        assert np.all(sums(table[theory], ["shear_coefficient", "poisson_ratio"]) == 0)
    assert np.all(sums(table["timoshenko"], ["shear_coefficient"]) > 0)


def test_angle_of_the_base_changes_nothing(table):
    for one in table.values():
        assert np.all(np.asarray(one.derivative)[:, one.addresses.index("link1.joint_angle")] == 0)


def test_address_of_every_link_adds_up():
    arm = industrial(45, -30)
    links = jm.sensitivities(arm, 3, addresses=[f"link{i}.length" for i in (1, 2, 3)])
    every = jm.sensitivities(arm, 3, addresses=["link*.length"])
    assert np.allclose(every.derivative[:, 0], np.sum(links.derivative, axis=1), rtol=1e-13)
    assert np.allclose(every.logarithmic[:, 0], np.sum(links.logarithmic, axis=1), rtol=1e-13)


def test_dataset(table):
    data = table["timoshenko"].to_xarray()
    assert data.logarithmic.dims == ("mode", "parameter")
    chosen = data.sel(parameter="link2.length")
    assert chosen.unit == "m"
    assert np.allclose(chosen.derivative_hz * 1.5 / chosen.frequency, chosen.logarithmic)


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"repeated": "any"}, ValueError, "repeated = 'any'"),
        ({"cluster_tolerance": 0.0}, ValueError, "cluster_tolerance = 0.0"),
        ({"addresses": ["link1.lenght"]}, jm.ArmError, "link1.length"),
    ],
)
def test_unusable_arguments_are_refused(changes, error, words):
    with pytest.raises(error, match=words):
        jm.sensitivities(jm.examples.two_link_flexible(), 1, **changes)


@pytest.mark.parametrize("traced", [jax.grad, jax.jit, lambda f: lambda x: jax.vmap(f)(x[None])])
def test_batches_cannot_be_differentiated_and_say_what_can(traced):
    arm = jm.examples.two_link_flexible()

    def of_values(angle):
        cells = {"link2.joint_angle": jnp.stack([angle, angle])}
        return jm.natural_frequencies_batch(arm, cells, 1).omega[0, 0]

    def of_arm(mass):
        cells = {"link2.joint_angle": np.zeros(2)}
        return jm.natural_frequencies_batch(arm.with_payload(mass), cells, 1).omega[0, 0]

    for function in (of_values, of_arm):
        with pytest.raises(TypeError, match="modal_quantities_batch"):
            traced(function)(jnp.array(0.3))


def test_traced_arms_are_sent_to_the_frequencies():
    def traced(mass):
        return jm.sensitivities(jm.examples.two_link_flexible().with_payload(mass), 1).derivative

    with pytest.raises(TypeError, match="natural_frequencies"):
        jax.jit(traced)(1.0)


def test_command():
    common = [
        "sensitivities",
        "example:two_link_flexible",
        "--modes",
        "2",
        "--address",
        "link*.length",
    ]
    result = run_command(*common)
    assert result.exit_code == 0, result.output
    assert "link*.length" in result.output
    plain = json.loads(run_command(*common, "--format", "json").output)
    own = jm.sensitivities(jm.examples.two_link_flexible(), 2, addresses=["link*.length"])
    assert plain["logarithmic"] == np.asarray(own.logarithmic).tolist()
    rows = run_command(*common, "--format", "csv").output.splitlines()
    assert len(rows) == 3


def test_command_refuses_a_double_root():
    posture = ",".join(map(str, DOUBLE_ROOT_DEG))
    common = ["sensitivities", "example:three_link_industrial", "--modes", "3"]
    result = run_command(*common, f"--posture-deg={posture}")
    assert result.exit_code == 2
    assert "modes 2 to 3" in result.output
    result = run_command(*common, f"--posture-deg={posture}", "--repeated", "mean")
    assert result.exit_code == 0
    assert "(mean)" in result.output
