"""Is input that no model and no motion can be made of refused by name, before anything is built?

Nothing compiles here.
"""

import jax
import numpy as np
import pytest
import xarray

import jaxmodal as jm
from jaxmodal.dynamics import (
    Linearisation,
    bias,
    flexible_arm,
    inertia_matrix,
    linearise,
    linearise_along,
    link_shapes,
    simulate,
    static_state,
    trajectory,
)
from jaxmodal.dynamics.assembly.flexible_arms import COORDINATES, FAMILIES
from jaxmodal.dynamics.parameters import identify, regressor
from jaxmodal.dynamics.shapes import polynomial_shapes, sampled_shapes
from jaxmodal.runtime import limits
from tests.support.dynamics_cases import CASES, arm_of, model_of

ARM = arm_of(CASES["P1"])


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("coordinates", COORDINATES)
def test_every_family_has_links_without_modes(family, coordinates):
    model = flexible_arm(ARM, [0, 2], shapes=family, coordinates=coordinates)
    assert model.modes == (0, 2)
    np.testing.assert_array_equal(model.tip[0], 0.0)
    assert flexible_arm(ARM, 0, shapes=family).num_coordinates == 2


def test_products_that_overflow_are_said():
    stiff = ARM.links[1].replace(youngs_modulus=1e300, length=1e-9)
    for arm, more in (
        (ARM.replace(links=(ARM.links[0], stiff)), {}),
        (ARM, {"damping_ratio": 1e308}),
    ):
        with pytest.raises(jm.ArmError, match=r"arm: its (stiffness|damping) is not finite"):
            flexible_arm(arm, 2, **more)


def test_an_arm_in_motion_has_so_many_coordinates():
    links = (ARM.links[0],) * 40
    assert flexible_arm(jm.Arm(links), 9, shapes="monomial").num_coordinates == limits.COORDINATES
    for modes in (10, 30):
        with pytest.raises(jm.ArmError, match="generalised coordinates; at most 400: take fewer"):
            flexible_arm(jm.Arm(links), modes)


def test_whole_numbers_of_numpy_are_numbers_of_modes():
    assert flexible_arm(ARM, np.int64(2)).modes == (2, 2)
    assert flexible_arm(ARM, np.array([2, 1])).modes == (2, 1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"modes": 2.0}, r"modes = 2\.0: must be whole numbers from 0 \(rigid\) to 30"),
        ({"modes": [1, 2.5]}, r"modes = \[1, 2\.5\]: must be whole"),
        ({"modes": "ab"}, "modes = 'ab': must be whole"),
        ({"modes": 10**9}, "modes = 1000000000: must be whole"),
        ({"shapes": 3}, "shapes = 3: must be one of 'clamped_mass'.* or a list of 2 LinkShapes"),
        ({"shapes": ["polynomial"] * 2}, r"shapes = \['polynomial', 'polynomial'\]: must be one of"),
        ({"shapes": link_shapes(ARM, 1)[0]}, r"shapes = LinkShapes\(.*a list of 2 LinkShapes"),
        ({"gravity": ["a", "b"]}, r"gravity = \['a', 'b'\]: must be two numbers in m/s\^2"),
        ({"gravity": [[1, 2], [3]]}, r"gravity = \[\[1, 2\], \[3\]\]: must be two numbers"),
        ({"gravity": [0, 1j]}, r"gravity = \[0, 1j\]: must be two numbers"),
        ({"kelvin_voigt_time": [[1, 2], [3]]}, r"kelvin_voigt_time\[1\] = \[1, 2\]: must be a number"),
        ({"damping_ratio": np.zeros((2, 3))}, r"damping_ratio\[1\] = .*: must be one number"),
        ({"coulomb_width": np.ones(2)}, "coulomb_width = .*: must be one number"),
        ({"frames": np.zeros(2)}, "frames = .*: must be one of 'rotation', 'linear'"),
    ],
)  # fmt: skip
def test_models_that_are_none(arguments, words):
    with pytest.raises(jm.ArmError, match=words):
        flexible_arm(ARM, **arguments)


@pytest.mark.parametrize("bodies", [3, [1, 2]])
def test_bodies_that_are_none(bodies):
    with pytest.raises(jm.ArmError, match=r"bodies = .*: must be a list of 2 EndBody"):
        link_shapes(ARM, 2, bodies=bodies)


def test_gravity_may_be_traced_in_a_tuple():
    found = jax.eval_shape(lambda g: flexible_arm(ARM, 1, gravity=(0.0, g)).gravity, -9.81)
    assert found.shape == (2,)


def test_a_node_at_the_end_names_coordinates_that_exist():
    xi = np.linspace(0.0, 1.0, 21)
    node = sampled_shapes(xi, (xi**2 * (1.0 - xi))[:, None])
    with pytest.raises(jm.ArmError, match="choose coordinates = 'as_given'") as refused:
        node.in_tip_deflections()
    named = set(str(refused.value).split("'")[1::2])
    assert named <= set(COORDINATES)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda m: linearise(m, ["a"] * 6), "q = .*: must be 6 finite numbers"),
        (lambda m: static_state(m, "ab"), "angles = 'ab': must be 2 finite numbers"),
        (lambda m: inertia_matrix(m, ["a"] * 6), "q = .*: must be numbers"),
        (lambda m: inertia_matrix(m, np.zeros(6) * 1j), "q = .*: must be numbers"),
        (lambda m: regressor(ARM, *np.zeros((3, 6))), "must be a FlexibleArm"),
        (lambda m: regressor(m, np.full(6, np.nan), *np.zeros((2, 6))), "q: holds a value that is"),
        (lambda m: regressor(m, "x", np.zeros(6), np.zeros(6)), "q = 'x': must be numbers"),
        (lambda m: identify("x", np.zeros(3)), "matrix = 'x': must be numbers"),
        (lambda m: identify(1.0, np.zeros(3)), r"matrix: of shape \(\)"),
        (lambda m: identify(np.eye(3), [1.0, np.nan, 0.0]), "forces: hold values that are not"),
    ],
)
def test_states_that_are_none(call, words):
    with pytest.raises(jm.ArmError, match=words):
        call(model_of("P1"))


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"damping_ratio": 0.01}, "model: has structural damping .*damping_ratio = 0"),
        ({"kelvin_voigt_time": [0.0, 1e-3]}, "model: has structural damping .*kelvin_voigt_time = 0"),
    ],
)  # fmt: skip
def test_damping_that_is_no_parameter(more, words):
    with pytest.raises(jm.ArmError, match=words):
        regressor(flexible_arm(ARM, 1, **more), *np.zeros((3, 4)))


def test_springs_that_are_no_parameter():
    second = ARM.links[1].replace(
        joint_stiffness=50.0, rotor_inertia=1e-3, gear_ratio=2.0, motor="held"
    )
    model = flexible_arm(ARM.replace(links=(ARM.links[0], second)), 1, viscous_friction=0.1)
    with pytest.raises(jm.ArmError, match=r"model: joint 2 has a spring .*leave joint_stiffness"):
        regressor(model, *np.zeros((3, 5)))


def test_small_motions_with_a_truncated_inertia_that_is_not_definite():
    """As the inertia of first order is at large deflections."""
    names = ("theta1", "link1.mode1")
    mass, still = np.diag([1.0, -0.5]), np.zeros((2, 2))
    small = Linearisation(mass, still, np.eye(2), np.eye(2), names)
    for call in (small.natural_frequencies, small.state_space):
        with pytest.raises(jm.ArmError, match=r"mass: is not positive definite, .*-0\.5.*'full'"):
            call()


@pytest.mark.parametrize("fastest", [1e6, 1e11, 1e13])
def test_a_fast_mode_hides_no_instability(fastest):
    """A stiff rod of 0.5 m upright, -3 g/(2 l) = -29.43, beside a mode; a free joint has 0 whatever is beside it."""
    mix = np.array([[1.0, 0.3], [0.0, 1.0]])
    names, still = ("theta1", "link1.mode1"), np.zeros((2, 2))
    for slow in (-29.43, 0.0, 29.43):
        mass, stiffness = mix.T @ mix, mix.T @ np.diag([slow, fastest]) @ mix
        small = Linearisation(mass, still, stiffness, np.eye(2), names)
        along = small._replace(mass=np.stack([mass] * 2), stiffness=np.stack([stiffness, mass]))
        for system in (small, along):
            if slow < 0.0:
                with pytest.raises(jm.ArmError, match=r"not stable: a squared frequency is -29\.4"):
                    system.natural_frequencies()
            else:
                squares = system.natural_frequencies() ** 2
                assert abs(np.ravel(squares)[0] - slow) < 1e-15 * fastest + 1e-9


def test_a_rigid_link_has_no_shapes():
    rigid = ARM.replace(links=(ARM.links[0], ARM.links[1].replace(rigid=True)))
    with pytest.raises(jm.ArmError, match=r"shapes\[2\]: has 2 shapes, and link 2 .* is rigid"):
        flexible_arm(rigid, shapes=[polynomial_shapes(2)] * 2)
    assert flexible_arm(rigid, shapes=list(link_shapes(rigid, 2, "polynomial"))).modes == (2, 0)


XI = np.linspace(0.0, 1.0, 21)


@pytest.mark.parametrize(
    ("deflections", "tolerance", "words"),
    [
        (np.full((21, 1), np.nan), 1e-8, "deflections: hold a value that is not finite"),
        (np.stack([XI**2, 0.0 * XI], axis=1), 1e-8, "deflections: hold .* a shape of zeros"),
        ((XI**2)[:, None], "close", "tolerance = 'close': must be a number"),
    ],
)
def test_samples_that_are_no_shapes(deflections, tolerance, words):
    with pytest.raises(jm.ArmError, match=words):
        sampled_shapes(XI, deflections, tolerance)


TWO, MODEL = np.ones(2), flexible_arm(ARM, 1)


def a_motion():
    """A dataset with the names of a motion of `MODEL`, at rest."""
    n, m = MODEL.num_links, sum(MODEL.modes)
    joints = dict.fromkeys(
        ("joint_angle", "joint_rate", "torque"), (("time", "joint"), np.zeros((4, n)))
    )
    modes = dict.fromkeys(
        ("modal_coordinate", "modal_rate"), (("time", "coordinate"), np.zeros((4, m)))
    )
    return xarray.Dataset(joints | modes, {"time": np.arange(4.0)})


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: simulate(ARM, [0.0, 1.0]), "must be a FlexibleArm"),
        (lambda: inertia_matrix(ARM, np.zeros(4)), "must be a FlexibleArm"),
        (lambda: trajectory(ARM, TWO, TWO, TWO), "must be a FlexibleArm"),
        (lambda: trajectory(MODEL, TWO, TWO, TWO, method="rk5"), "method = 'rk5': must be one of"),
        (
            lambda: bias(MODEL, np.zeros((3, 4)), np.zeros((2, 4))),
            r"\(2, 4\); must be as many states",
        ),
        (lambda: linearise(ARM, [0.0]), "must be a FlexibleArm"),
        (lambda: linearise_along(ARM, a_motion()), "must be a FlexibleArm"),
        (lambda: static_state(ARM, [0.0]), "must be a FlexibleArm"),
        (lambda: linearise_along(MODEL, None), "motion = None: must be a dataset"),
        (lambda: linearise_along(MODEL, {}), "motion = {}: must be a dataset"),
        (lambda: linearise_along(MODEL, a_motion().drop_vars("torque")), "motion: has no torque"),
        (lambda: linearise_along(MODEL, a_motion().isel(time=3)), "motion: has no axis time"),
        (lambda: simulate(MODEL, [0.0, 1.0], progress=3), "progress = 3: must be a function"),
        (lambda: simulate(MODEL, [0.0, 1.0], torque=lambda *a: "x"), "torque: gives 'x'"),
    ],
)
def test_other_things_in_place_of_models_and_motions(call, words):
    with pytest.raises(jm.ArmError, match=words):
        call()
