"""Are motions, torques and laws that make no sense refused by name, before anything is integrated?

What compiles: functions as laws, of which nothing is known before they are called.
"""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.dynamics import (
    FeedForward,
    Hold,
    JointPD,
    Limited,
    PiecewiseConstant,
    RestToRest,
    SampledTorque,
    Shaped,
    SineTorque,
    SpinUp,
    TipCircle,
    Together,
    bang_bang,
    flexible_arm,
    shaper,
    simulate,
    trajectory,
)
from jaxmodal.dynamics.drives.torques import Law, as_law
from jaxmodal.dynamics.integration import simulation, trajectories
from jaxmodal.dynamics.integration.simulation import _checked_law as checked_law
from jaxmodal.runtime import limits
from tests.support.dynamics_cases import CASES, arm_of, model_of

ARM = arm_of(CASES["P1"])
TWO, MODEL = np.ones(2), flexible_arm(ARM, 1)


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
        (lambda: shaper([1.0] * 40), r"omega: of shape \(40,\); must be a row of at most 12"),
        (lambda: shaper([[1.0]]), r"omega: of shape \(1, 1\); must be a row"),
        (lambda: shaper(["a"]), "omega = .*: must be angular frequencies"),
        (lambda: shaper([1.0], [0.1, 0.2]), "damping_ratio: of shape"),
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
