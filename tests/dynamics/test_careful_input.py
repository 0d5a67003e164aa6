"""Is input that no model and no motion can be made of refused by name, before anything is built?

What compiles: a product, to see that laws may be batched.
"""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray
from dynamics_cases import CASES, arm_of, model_of

import jaxmodal as jm
from jaxmodal.dynamics import (
    FeedForward,
    Hold,
    JointPD,
    Limited,
    Linearisation,
    PiecewiseConstant,
    RestToRest,
    SampledTorque,
    Shaped,
    SineTorque,
    SpinUp,
    TipCircle,
    Together,
    assembly,
    bang_bang,
    bias,
    flexible_arm,
    inertia_matrix,
    linearise,
    linearise_along,
    link_shapes,
    shaper,
    simulate,
    simulation,
    static_state,
    trajectories,
    trajectory,
)
from jaxmodal.dynamics.parameters import identify, regressor
from jaxmodal.dynamics.shapes import sampled_shapes
from jaxmodal.dynamics.simulation import _checked_law as checked_law
from jaxmodal.dynamics.torques import Law, as_law
from jaxmodal.runtime import limits

ARM = arm_of(CASES["P1"])


@pytest.mark.parametrize("family", assembly.FAMILIES)
@pytest.mark.parametrize("coordinates", assembly.COORDINATES)
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
    assert named <= {*assembly.COORDINATES}


@pytest.fixture
def no_integration(monkeypatch):
    def worked(*_, **__):
        raise AssertionError("integrated before the arguments were looked at")

    monkeypatch.setattr(trajectories, "trajectory", worked)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"rtol": "x"}, "rtol = 'x': must be a number, finite and greater than 0"),
        ({"atol": None}, "atol = None: must be a number"),
        ({"atol": np.ones(2)}, "atol = .*: must be one number"),
        ({"step": "x"}, r"step = 'x': must be a number, finite and greater than 0 \(s\)"),
        ({"step": np.nan}, "step = nan: must be finite"),
        ({"max_steps": "x"}, "max_steps = 'x': must be a whole number from 1 to 10,000,000"),
        ({"max_steps": 0.5}, r"max_steps = 0\.5: must be a whole number"),
        ({"max_steps": 10**8}, "max_steps = 100000000: must be a whole number"),
        ({"times": "x"}, "times = 'x': must be two ascending"),
        ({"times": ["a", "b"]}, r"times = \['a', 'b'\]: must be two ascending"),
        ({"times": [[0, 1], [2]]}, r"times = \[\[0, 1\], \[2\]\]: must be two ascending"),
        ({"times": [-1e308, 1e308]}, "their difference must be finite"),
        ({"q": ["a"] * 6}, r"q = \['a', .*\]: must be 6 finite numbers"),
        ({"rate": "still"}, "rate = 'still': must be 6 finite numbers"),
        ({"step": 1e-12, "method": "rk4"}, r"step = 1e-12: makes 1e\+12 steps; must be at most 10,000,000"),
        ({"step": 1e-308, "method": "rk4"}, "at most 10,000,000"),
        ({"step": 5e-324, "method": "linearly_implicit"}, "makes inf steps"),
        ({"times": np.arange(1001.0), "step": 5e-5, "method": "rk4"}, r"makes 2e\+07 steps"),
    ],
)  # fmt: skip
def test_motions_that_are_none(arguments, words, no_integration):
    with pytest.raises(jm.ArmError, match=words):
        simulate(model_of("P1"), **({"times": [0.0, 1.0]} | arguments))


def test_a_motion_has_so_many_times(no_integration):
    with pytest.raises(jm.ArmError, match="makes 1,000,001 times; must be at most 1,000,000"):
        simulate(model_of("P1"), np.arange(limits.TIMES + 1.0))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: SampledTorque("x", [[1.0], [2.0]]), "times = 'x': must be k ascending times"),
        (lambda: SampledTorque(["a", "b"], [[1.0], [2.0]]), r"times = \['a', 'b'\]: must be"),
        (lambda: SampledTorque([0, 1], [[1.0], [2.0, 3.0]]), "torques = .*rows of finite torques"),
        (lambda: SampledTorque([0, 1], "x"), "torques = 'x': must be rows"),
        (lambda: SampledTorque(3, 4), r"times: of shape \(\)"),
        (lambda: SampledTorque(jnp.ones(2), [[1.0], [2.0]]), "must be ascending times"),
        (lambda: SampledTorque([0, np.nan], [[1.0], [2.0]]), "must be ascending times"),
        (lambda: PiecewiseConstant("x", [[1.0]]), r"edges = 'x': must be k \+ 1 ascending times"),
        (lambda: PiecewiseConstant([0, 1], [["a"]]), "torques = .*rows of finite torques"),
        (lambda: PiecewiseConstant([0, 1, 2], [[1.0], [1.0, 2.0]]), "rows of finite torques"),
        (lambda: PiecewiseConstant([0, np.inf], [[1.0]]), r"k \+ 1 ascending"),
        (lambda: PiecewiseConstant([], []), r"k \+ 1 ascending"),
        (lambda: bang_bang(["a"], 1.0), "torques = .*: must be a finite torque"),
        (lambda: bang_bang([1.0], "x"), "half = 'x': must be a number"),
        (lambda: bang_bang([1.0], 0.0), r"half = 0\.0: must be finite and greater than 0"),
        (lambda: shaper([1.0] * 40), r"frequencies: of shape \(40,\); must be a row of at most 12"),
        (lambda: shaper([[1.0]]), r"frequencies: of shape \(1, 1\); must be a row"),
        (lambda: shaper(["a"]), "frequencies = .*: must be angular frequencies"),
        (lambda: shaper([1.0], [0.1, 0.2]), "damping_ratios: of shape"),
    ],
)
def test_torques_that_are_none(make, words):
    with pytest.raises(jm.ArmError, match=words):
        make()


@pytest.mark.parametrize("law", [SampledTorque, PiecewiseConstant])
def test_leaves_of_any_kind_make_a_law_again(law):
    """What JAX puts in the place of values while it looks at trees, and values that are traced or batched."""
    leaves, tree = jax.tree.flatten(
        law(np.arange(3.0), np.ones((3 - (law is PiecewiseConstant), 2)))
    )
    for leaf in (None, object(), True, 0, "times"):
        assert vars(tree.unflatten([leaf] * len(leaves)))["torques"] is leaf
    rows = leaves[1]
    many = jax.vmap(lambda size: law(leaves[0], size * rows))(jnp.arange(4.0))
    assert many.torques.shape == (4, *rows.shape)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda m: linearise(m, ["a"] * 6), "q = .*: must be 6 finite numbers"),
        (lambda m: static_state(m, "ab"), "angles = 'ab': must be 2 finite numbers"),
        (lambda m: inertia_matrix(m, ["a"] * 6), "q = .*: must be numbers"),
        (lambda m: inertia_matrix(m, np.zeros(6) * 1j), "q = .*: must be numbers"),
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
    second = ARM.links[1].replace(joint_stiffness=50.0, rotor_inertia=1e-3, gear_ratio=2.0)
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


MODEL = flexible_arm(ARM, 1)


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


TWO, MODEL = np.ones(2), flexible_arm(ARM, 1)


@pytest.mark.parametrize(
    ("law", "words"),
    [
        (JointPD(RestToRest(0.0 * TWO, TWO, -1.0), 1.0, 1.0), "RestToRest: duration = -1.0"),
        (JointPD(RestToRest(0.0 * TWO, TWO, 0.0), 1.0, 1.0), "finite and greater than 0"),
        (Limited(FeedForward(SpinUp(TWO, np.nan)), 1.0), "SpinUp: duration = nan"),
        (Together((JointPD(SpinUp(TWO, "1"), 1.0, 1.0),)), "SpinUp: duration = '1': must be num"),
        (JointPD(SpinUp(TWO, 1.0), "1", 1.0), "JointPD: proportional = '1': must be numbers"),
        (
            JointPD(SpinUp(TWO, 1.0), [1.0, np.nan], 1.0),
            r"JointPD: proportional = \[1.0, nan\]: .* fin",
        ),
        (
            JointPD(SpinUp(TWO, 1.0), 1.0, np.inf),
            "JointPD: derivative = inf: must be finite, one f",
        ),
        (JointPD(Hold(np.nan), 1.0, 1.0), "Hold: where = nan: must be finite"),
        (SineTorque(np.nan, 1.0), "SineTorque: amplitude = nan: must be finite"),
        (JointPD([0.3, 0.2], 1.0, 1.0), r"JointPD: motion = \[0.3, 0.2\]: must be a Motion"),
        (FeedForward(SineTorque(1.0, 1.0)), "FeedForward: motion = SineTorque.*: must be a Motion"),
        (Together(SineTorque(1.0, 1.0)), "Together: laws = SineTorque.*: must be a tuple of laws"),
        (Limited(None, 1.0), "Limited: law = None: must be a law such as JointPD"),
        (
            FeedForward(Shaped(Hold(TWO), [0.0, 0.1], [1.0])),
            r"delays of shape \(2,\) with weights of",
        ),
        (
            FeedForward(TipCircle((1, 0, 2), 0.1, 1.0, (1, 1))),
            "centre = .*: must be two finite numbers",
        ),
        (lambda t: jnp.ones(2), r"takes \(t\); must take four arguments \(time, q, rate, model\)"),
        (
            lambda *_: jnp.array([1j, 0.0]),
            "torque: gives .*; must be 2 real numbers, the torque of",
        ),
        (Limited(SineTorque(1.0, 1.0), -5.0), r"Limited: limit = -5.0: must be at least 0 \(N m\)"),
        (Limited(SineTorque(1.0, 1.0), np.nan), "Limited: limit = nan: must be at least 0"),
        (FeedForward(TipCircle((1, 0), 0.1, 1.0, (1, 1), 0.5)), "elbow = 0.5: must be 1, which"),
        (
            FeedForward(TipCircle((1, 0), 0.1, 1.0, (1, -1))),
            r"lengths = \(1, -1\): must be two, fin",
        ),
        (
            JointPD(RestToRest(TWO, np.ones(3), 1.0), 1.0, 1.0),
            r"torque = JointPD\(...\): its numbers do not go .* each of the 2 joints",
        ),
    ],
)
def test_laws_of_no_time_or_other_joints_are_refused(law, words, no_integration):
    with pytest.raises(jm.ArmError, match=words):
        simulate(MODEL, [0.0, 0.1], torque=law)


def test_a_limit_may_be_infinite_and_a_sum_empty():
    assert checked_law(MODEL, Limited(SineTorque(TWO, 1.0), np.inf)) is not None
    assert checked_law(MODEL, Together(())) is not None
    assert Together(()).switches.size == 0


def test_functions_are_laws_within_laws():
    """And may give lists. Compiled for itself; of both nothing but an error of JAX came."""

    def pushed(time, q, rate, model):
        return [7.0, -1.0]

    law = Together([Limited(pushed, np.array([5.0, 5.0])), pushed])
    found = simulate(MODEL, [0.0, 0.01], torque=law, method="rk4", step=0.01)
    np.testing.assert_array_equal(found["torque"], [[12.0, -2.0]] * 2)


def test_torques_that_are_not_finite_at_the_start_are_refused():
    """Of a function nothing is known before; compiled for itself. It was told as a halt of the integration."""
    with pytest.raises(
        jm.ArmError, match=r"gives \[nan, 1.0\] N m at the start, t = 2 s; must be fin"
    ):
        simulate(
            MODEL, [2.0, 2.1], torque=lambda *_: jnp.array([jnp.nan, 1.0]), method="rk4", step=0.1
        )


def test_motions_of_no_time_or_other_joints_are_refused():
    for motion, words in (
        (RestToRest(TWO, 0.0 * TWO, -1.0), "RestToRest: duration = -1.0"),
        (RestToRest(TWO, np.ones(3), 1.0), r"motion = RestToRest\(...\): its numbers do not go"),
    ):
        with pytest.raises(jm.ArmError, match=words):
            simulate(MODEL, [0.0, 0.1], motion=motion)


@dataclasses.dataclass(frozen=True)
class OwnLaw(Law):
    """A caller's own, whose fields are what the caller likes."""

    act: Any
    model: Any = MODEL
    kind: str = "soft"
    family: type = RestToRest
    duration: Any = None

    def __call__(self, time, q, rate, model):
        return self.act(time)


def test_laws_of_ones_own_hold_what_they_like_and_their_errors_speak_for_themselves():
    """Text, models, a duration that means something else; motions inside them are looked at."""
    assert checked_law(MODEL, OwnLaw(lambda _: jnp.zeros(2))) is not None

    def stopped(_):
        raise jm.ArmError("gain = -1: must be positive.")

    for law in (OwnLaw(stopped), Together((OwnLaw(stopped),))):
        with pytest.raises(jm.ArmError, match=r"^gain = -1: must be positive\."):
            simulate(MODEL, [0.0, 0.1], torque=law)
    with pytest.raises(jax.errors.ConcretizationTypeError):
        simulate(MODEL, [0.0, 0.1], torque=OwnLaw(lambda time: jnp.zeros(2) * float(time)))
    with pytest.raises(jm.ArmError, match=r"RestToRest: duration = -1\.0"):
        simulate(MODEL, [0.0, 0.1], torque=OwnLaw(RestToRest(TWO, TWO, -1.0)))


@pytest.mark.parametrize("substeps", [0, -1, 2.0, True])
def test_a_trajectory_takes_at_least_one_whole_step(substeps):
    """Of none the arm stood still, and the status was ok."""
    state = np.zeros(MODEL.num_coordinates)
    with pytest.raises(jm.ArmError, match=rf"substeps = {substeps}: must be a whole number from 1"):
        trajectory(MODEL, state, state, [0.0, 0.1], method="rk4", substeps=substeps)
    assert simulation._substeps(np.array([0.0, 1e-300]), 1e100) == 1


def test_a_law_with_attributes_is_as_it_is_at_each_call():
    """Programs are kept by their laws: one that may have changed is not taken for what it was."""

    class Gain(Law):
        def __init__(self, size):
            self.size = size

        def __call__(self, time, q, rate, model):
            return self.size * jnp.ones(model.num_links)

    @dataclasses.dataclass(frozen=True)
    class Steps(Law):
        at: np.ndarray

        @property
        def switches(self):
            return self.at

    def key(law):
        return jax.tree.structure(as_law(law))

    gain, steps, compiled = Gain(1.0), Steps(np.array([0.5])), jax.jit(key)
    assert key(gain) != key(gain)
    assert key(gain.__call__) != key(gain.__call__)
    assert key(key) == key(key)
    assert key(compiled) == key(compiled)
    np.testing.assert_array_equal(as_law(steps).switches, [0.5])
