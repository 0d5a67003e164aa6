"""Are the motions those of the reference runs, do their energies balance, and is a failure said and not hidden?

What compiles: the integration by one method for each arm's shape, way to pose it and kind of torque.
"""

import jax
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.dynamics import (
    FeedForward,
    Hold,
    JointPD,
    PiecewiseConstant,
    RestToRest,
    SampledTorque,
    Shaped,
    SineMotion,
    SineTorque,
    SpinUp,
    TipCircle,
    TipLine,
    bang_bang,
    energies,
    flexible_arm,
    forward_dynamics,
    inverse_dynamics,
    link_shapes,
    shaper,
    simulate,
    tip_position,
    trajectory,
    two_link_angles,
)
from tests.support.dynamics_cases import CASES, VARIANTS, model_of, uniform_link, vector_of

#: our integrations at rtol 1e-11 and the reference's differ by no more than its own runs at 3e-9 do, or this
SAME_MOTION = 2e-9
FAST = {("P1", 0, "full_rotation")}
#: every way to pose the equations where nothing drives P1 and P2, one of each other run: test_equations.py has them
#: all, at states
VARIANT = {
    **dict.fromkeys((("P2", 0), ("P3", 0), ("P8", 0)), "full_rotation"),
    **dict.fromkeys((("P4", 0), ("P5", 0), ("P6", 0), ("P7", 0)), "full_linear"),
}
TORQUES = FAST | {("P2", 0, "full_rotation")}
RUNS = [
    pytest.param(
        name,
        number,
        variant,
        marks=[] if (name, number, variant) in FAST else [pytest.mark.slow],
    )
    for name, case in CASES.items()
    for number, run in enumerate(case["simulations"])
    for variant in run["variants"]
    if variant == VARIANT.get((name, number), variant)
]


def torque_of(run):
    entry = run["torque"]
    if entry["kind"] == "piecewise_constant":
        return {"torque": PiecewiseConstant(entry["interval_edges_s"], entry["torques_N_m"])}
    if entry["kind"] == "sine":
        values = ("amplitude_N_m", "angular_frequency_rad_per_s", "phase_rad")
        return {"torque": SineTorque(*(np.array(entry[name]) for name in values))}
    if entry["kind"] == "joint_pd":
        gains = ("proportional_gain_N_m_per_rad", "derivative_gain_N_m_s_per_rad")
        reference = entry["reference"]
        assert reference["kind"] == "constant"
        motion = Hold(np.array(reference["joint_angles_rad"]))
        return {"torque": JointPD(motion, *(np.array(entry[name]) for name in gains))}
    if entry["kind"] == "locked_joints":
        return {"motion": Hold(np.array(run["initial_joint_angles_rad"]))}
    assert entry["kind"] == "none"
    return {}


@pytest.mark.parametrize(("name", "number", "variant"), RUNS)
def test_reference_runs(name, number, variant):
    run = CASES[name]["simulations"][number]
    expected = run["results"][variant]
    model = model_of(name).posed(*VARIANTS[variant])
    found = simulate(
        model,
        run["times_s"],
        vector_of(run, "initial_joint_angles_rad", "initial_modal_tip_deflections_m"),
        vector_of(
            run, "initial_joint_rates_rad_per_s", "initial_modal_tip_deflection_rates_m_per_s"
        ),
        rtol=1e-11,
        atol=1e-12,
        **torque_of(run),
    )
    assert found.attrs["status"] == "finished"
    assert found.attrs["energy_balance_error"] < 1e-10  # ten times the tolerance
    columns = {
        "joint_angle": expected["joint_angles_rad"],
        "tip_position": expected["tip_position_m"],
        "end_deflection": expected["link_end_deflections_m"],
        "kinetic_energy": expected["energies_J"]["kinetic"],
        "elastic_energy": expected["energies_J"]["elastic"],
        "gravity_energy": expected["energies_J"]["gravity"],
        "work": expected["work_of_joint_torques_J"],
        "dissipated": expected["energy_dissipated_J"],
    }
    for key, values in columns.items():
        if key == "work" and run["torque"]["kind"] == "locked_joints":
            continue
        scale = max(1.0, np.abs(values).max())
        np.testing.assert_allclose(
            found[key], values, rtol=0, atol=SAME_MOTION * scale, err_msg=key
        )
    end = vector_of(expected["end_state"], "joint_angles_rad", "modal_tip_deflections_m")
    state = np.concatenate([found["joint_angle"][-1], found["modal_coordinate"][-1]])
    np.testing.assert_allclose(state, end, rtol=0, atol=SAME_MOTION)
    if (name, number, variant) in TORQUES:
        assert_torques_come_back(model, found)


LEFT = [
    (name, number, variant)
    for name, case in CASES.items()
    for number, run in enumerate(case["simulations"])
    for variant in run["variants"]
    if variant != VARIANT.get((name, number), variant)
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "number", "variant"), LEFT)
def test_ends_of_the_other_reference_runs(name, number, variant):
    """Not integrated again, which would compile for each: where they end, tip and energies are ours."""
    expected = CASES[name]["simulations"][number]["results"][variant]
    model, end = model_of(name).posed(*VARIANTS[variant]), expected["end_state"]
    q = vector_of(end, "joint_angles_rad", "modal_tip_deflections_m")
    rate = vector_of(end, "joint_rates_rad_per_s", "modal_tip_deflection_rates_m_per_s")
    np.testing.assert_allclose(
        tip_position(model, q), expected["tip_position_m"][-1], rtol=0.0, atol=SAME_MOTION
    )
    for value, kind in zip(
        energies(model, q, rate), ("kinetic", "elastic", "gravity"), strict=True
    ):
        known = np.array(expected["energies_J"][kind])
        scale = max(1.0, np.abs(known).max())
        np.testing.assert_allclose(value, known[-1], rtol=0, atol=SAME_MOTION * scale, err_msg=kind)


def assert_torques_come_back(model, found):
    """Inverse dynamics of a forward simulation: the torques of the motors, and nothing on the modal coordinates."""
    q = np.concatenate([found["joint_angle"], found["modal_coordinate"]], axis=1)
    rate = np.concatenate([found["joint_rate"], found["modal_rate"]], axis=1)
    torques = found["torque"].values
    forces = inverse_dynamics(model, q, rate, forward_dynamics(model, q, rate, torques))
    expected = np.zeros_like(q)
    expected[:, : torques.shape[1]] = torques
    size = np.abs(q @ np.asarray(model.stiffness)).max()
    np.testing.assert_allclose(forces, expected, rtol=0, atol=1e-10 * max(1.0, size))


def moving_model(**more):
    arm = jm.Arm(
        (
            uniform_link(0.5, 1.0, 0.2, hub_inertia=0.1),
            uniform_link(0.5, 1.0, 0.2, hub_mass=1.0, hub_inertia=0.1),
        ),
        jm.Payload(0.1, 0.0005),
    )
    return flexible_arm(arm, 2, **more)


RELEASED = np.array([0.3, 0.8, 0.02, 0.01, 0.05, 0.002])


#: as many times as the reference runs, whose program serves without foreshortening
LONG = pytest.mark.parametrize(
    ("seconds", "foreshortening"),
    [(2.0, False), pytest.param(10.0, True, marks=pytest.mark.slow)],
)


@LONG
def test_energy_is_kept(seconds, foreshortening):
    """Free, undamped, with gravity: nothing is lost."""
    model = moving_model(gravity=(0.0, -9.81), foreshortening=foreshortening)
    found = simulate(model, np.linspace(0.0, seconds, 9), RELEASED, rtol=1e-12, atol=1e-13)
    assert found.attrs["status"] == "finished"
    assert found.attrs["energy_balance_error"] < 1e-9


@LONG
def test_angular_momentum_without_gravity_and_torque(seconds, foreshortening):
    """About the base joint: the momentum that belongs to theta_1, which turns the whole arm."""
    from jaxmodal.dynamics import inertia_matrix

    model = moving_model(foreshortening=foreshortening)
    rate = np.array([0.5, -1.0, 0.1, 0.0, 0.3, 0.01])
    times = np.linspace(0.0, seconds, 9)
    found = simulate(model, times, RELEASED, rate, rtol=1e-12, atol=1e-13)
    q = np.concatenate([found["joint_angle"], found["modal_coordinate"]], axis=1)
    speed = np.concatenate([found["joint_rate"], found["modal_rate"]], axis=1)
    momentum = np.einsum("tj,tj->t", np.asarray(inertia_matrix(model, q))[:, 0], speed)
    np.testing.assert_allclose(momentum, momentum[0], rtol=1e-9)


@pytest.mark.slow
def test_driven_and_damped_the_balance_closes():
    """PD with feed-forward, viscous and dry friction, structural damping."""
    model = moving_model(
        gravity=(0.0, -9.81),
        kelvin_voigt_time=1e-3,
        viscous_friction=0.05,
        coulomb_friction=0.02,
        coulomb_width=0.05,
    )
    motion = RestToRest(np.array([0.3, 0.8]), np.array([0.8, 0.2]), 0.5)
    law = JointPD(motion, 20.0, 2.0)
    found = simulate(
        model, [0.0, 0.5, 1.0], np.array([0.3, 0.8, 0, 0, 0, 0]), torque=law, rtol=1e-11
    )
    assert found.attrs["energy_balance_error"] < 1e-8
    assert found["dissipated"][-1] > 0.0
    assert_torques_come_back(model, found)


@pytest.mark.parametrize(
    ("method", "order"), [("rk4", 4), pytest.param("linearly_implicit", 2, marks=pytest.mark.slow)]
)
def test_fixed_steps_converge_with_their_order(method, order):
    """Against the reference run P2, through the switches of its torque."""
    run = CASES["P2"]["simulations"][0]
    exact = np.array(run["results"]["full_rotation"]["tip_position_m"])
    model = model_of("P2").posed(*VARIANTS["full_rotation"])

    def error(step):
        found = simulate(model, run["times_s"], method=method, step=step, **torque_of(run))
        assert found.attrs["status"] == "finished"
        return float(np.abs(found["tip_position"] - exact).max())

    coarse, fine = error(1e-3), error(5e-4)
    assert fine < 1e-3
    assert 2.0 ** (order - 0.5) < coarse / fine < 2.0 ** (order + 0.8)


@pytest.mark.slow
def test_truncated_inertia_is_a_status_with_time_and_state():
    """Undamped bang-bang of 0.2 N m, 1 s each way: the model of first order fails at 1.29 s, end slope 0.25."""
    model = model_of("P1").posed("first", "linear", False)
    found = simulate(model, np.linspace(0.0, 2.0, 21), torque=bang_bang([0.2, 0.2], 1.0))
    assert found.attrs["status"] == "inertia_not_definite"
    assert "inertia_order = 'full'" in found.attrs["message"]
    assert 1.28 < found.attrs["time_reached"] < 1.30
    slope = np.abs(np.asarray(model.tip_slope) * found.attrs["state_reached"][2:6].reshape(2, 2))
    assert 0.1 < slope.sum(axis=1).max() < 0.4
    assert np.all(np.isfinite(found["tip_position"][:13]))
    assert np.all(np.isnan(found["tip_position"][13:]))


@pytest.mark.slow
@pytest.mark.parametrize("method", ["rk4", "dopri8"])
def test_derivatives_through_a_simulation(method):
    """Of the tip's height by the initial state, the gain of a controller and the payload, against differences."""

    def height(values):
        link = uniform_link(1.0, 2.0, 0.3, hub_inertia=0.05)
        model = flexible_arm(jm.Arm((link,), jm.Payload(values[3])), shapes=SHAPES)
        law = JointPD(Hold(np.zeros(1)), values[2], 0.1)
        found = trajectory(
            model, values[:2], 0.0 * values[:2], np.array([0.0, 0.15, 0.3]), law,
            method=method, substeps=60, rtol=1e-11, atol=1e-12,
        )  # fmt: skip
        return found.tip[-1, 1]

    program = jax.jit(jax.value_and_grad(height))
    values = np.array([0.4, 0.03, 2.0, 0.1])
    slopes = np.asarray(program(values)[1])
    for k, slope in enumerate(slopes):
        step = 1e-4 * np.eye(4)[k]
        difference = (program(values + step)[0] - program(values - step)[0]) / 2e-4
        np.testing.assert_allclose(slope, difference, rtol=2e-6, atol=1e-8)


SHAPES = link_shapes(jm.Arm((uniform_link(1.0, 2.0, 0.3),)), 1, "polynomial")


def test_motions_and_their_derivatives():
    """Rates and accelerations are those of the angles; paths pass where they should."""
    lengths = (0.475, 0.435)
    circle = TipCircle((0.6, 0.2), 0.1, 2.0, lengths, elbow=-1.0, phase=0.3)
    line = TipLine((0.5, 0.1), (0.7, -0.2), 2.0, lengths)
    shaped = Shaped(RestToRest(np.zeros(2), np.ones(2), 0.5), *shaper([7.0, 20.0]))
    sine = SineMotion(np.zeros(2), np.ones(2), np.array([2.0, 3.0]))
    motions = (circle, line, shaped, sine, SpinUp(np.ones(2), 2.0))

    @jax.jit  # else each of their operations is a program
    def at(time):
        return [motion(time) for motion in motions], two_link_angles(2.0, 0.0, lengths)

    ends = (at(0.4 + h)[0] for h in (-1e-5, 0.0, 1e-5))
    for low, middle, high in zip(*ends, strict=True):
        for order in (1, 2):
            difference = (high[order - 1] - low[order - 1]) / 2e-5
            np.testing.assert_allclose(middle[order], difference, rtol=1e-6, atol=1e-6)
    (found, *_), beyond = at(0.4)
    angles = np.asarray(found[0])
    turned = np.cumsum(angles)
    reached = np.sum(np.array(lengths) * np.exp(1j * turned))
    expected = 0.6 + 0.2j + 0.1 * np.exp(1j * (2.0 * 0.4 + 0.3))
    assert abs(reached - expected) < 1e-14
    assert angles[1] < 0.0
    assert np.all(np.isnan(beyond))


@pytest.mark.slow
def test_a_shaped_motion_leaves_its_mode_at_rest():
    """One link turned by its motor: what swings after the move, with and without the shaper."""
    model = flexible_arm(jm.Arm((uniform_link(1.0, 2.0, 0.3),)), 1)
    omega = float(np.sqrt(model.stiffness[1, 1] / 0.3))
    plain = RestToRest(np.zeros(1), np.ones(1) * 0.05, 0.3)
    times = np.linspace(0.0, 3.0, 301)
    swings = []
    for motion in (plain, Shaped(plain, *shaper([omega]))):
        found = simulate(model, times, motion=motion, method="rk4", step=1e-3)
        swings.append(float(np.ptp(found["modal_coordinate"].values[200:])))
    assert swings[1] < 1e-3 * swings[0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"times": [0.0]}, "two ascending, finite times"),
        ({"times": [0.0, 0.2, 0.1]}, r"times\[2\] = 0\.1, after 0\.2: must be two ascending"),
        ({"times": [0.0, 0.2, 0.2]}, r"times\[2\] = 0\.2, after 0\.2: must be"),
        ({"times": [0.0, np.nan]}, r"times\[1\] = nan, after 0: must be two ascending, finite"),
        ({"times": [np.inf, 1.0]}, r"times\[0\] = inf: must be two ascending, finite"),
        ({"times": [0.0, 1.0, 0.5]}, "ascending"),
        ({"q": np.zeros(5)}, "must be 6 finite numbers"),
        ({"rate": np.full(6, np.inf)}, "rate = "),
        ({"method": "rk45"}, "Did you mean 'rk4'"),
        ({"rtol": 0.0}, "rtol = 0.0"),
        ({"torque": 3.0}, "must be a law"),
        ({"torque": lambda t, q, rate, model: q}, r"gives shape \(6,\)"),
        ({"motion": 3.0}, "must be a Motion"),
        ({"motion": Hold(np.zeros(3))}, r"angles of shape \(3,\)"),
        ({"motion": TipCircle((5.0, 0.0), 0.1, 1.0, (0.5, 0.5))}, "in reach"),
        ({"motion": Hold(np.zeros(2)), "torque": bang_bang([1, 1], 1)}, "one of the two"),
    ],
)
def test_arguments_that_are_none(arguments, words):
    given = {"times": [0.0, 1.0], **arguments}
    with pytest.raises(jm.ArmError, match=words):
        simulate(moving_model(), **given)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: PiecewiseConstant([0.0, 1.0], [[1.0], [2.0]]), "k \\+ 1 ascending"),
        (lambda: SampledTorque([0.0, 0.0], [[1.0], [2.0]]), "ascending times"),
        (lambda: shaper([0.0]), "0.0 rad/s"),
        (lambda: shaper([1.0], 1.0), "ratio 1.0"),
    ],
)
def test_laws_that_are_none(make, words):
    with pytest.raises(jm.ArmError, match=words):
        make()


@pytest.mark.slow
def test_feed_forward_moves_a_stiff_arm_as_told():
    """The torques of the rigid arm, gravity and friction included, on an arm that hardly bends."""
    links = [uniform_link(0.5, 1e5, 0.4, hub_inertia=0.01) for _ in range(2)]
    model = flexible_arm(
        jm.Arm(tuple(links)), 1, gravity=(0.0, -9.81), viscous_friction=0.1, kelvin_voigt_time=1e-4
    )
    motion = RestToRest(np.array([0.2, 0.3]), np.array([0.7, -0.3]), 1.0)
    start = np.array([0.2, 0.3, 0.0, 0.0])
    found = simulate(
        model, [0.0, 0.5, 1.0], start, torque=FeedForward(motion), method="kvaerno5", rtol=1e-7
    )
    np.testing.assert_allclose(found["joint_angle"][1], [0.45, 0.0], rtol=0.0, atol=2e-3)
    np.testing.assert_allclose(found["joint_angle"][2], [0.7, -0.3], rtol=0.0, atol=2e-3)


def test_motors_on_springs_begin_where_their_motion_does():
    """Without a start nothing is strained: the spring gives what the acceleration asks, J theta''/k, and no more."""
    rotor = {"rotor_inertia": 1e-4, "gear_ratio": 50.0, "motor": "held", "joint_stiffness": 500.0}
    link = jm.Link(0.5, 7e10, 2700.0, jm.rectangle(0.005, 0.04), **rotor)
    model = flexible_arm(jm.Arm((link,), jm.Payload(0.2)), 0)
    for motion in (RestToRest([0.7], [0.701], 0.5), SineMotion([0.3], [1e-3], [2.0])):
        found = simulate(model, [0.0, 0.01, 0.02], motion=motion, method="rk4", step=1e-3)
        begun = motion(0.0)
        np.testing.assert_allclose(found["joint_angle"][0], begun[0], rtol=1e-14, atol=0)
        np.testing.assert_allclose(found["joint_rate"][0], begun[1], rtol=1e-14, atol=1e-16)
        twist = (found["joint_angle"] - found["motor_angle"]).values
        inertia = 0.2 * 0.5**2 + 2700.0 * 2e-4 * 0.5**3 / 3.0
        most = inertia * np.abs(motion(0.02)[2]) / 500.0
        assert np.abs(twist).max() <= 2.0 * most
    moved = simulate(model, [0.0, 0.01], np.zeros(2), motion=motion, method="rk4", step=1e-3)
    assert moved["joint_angle"][0] == 0.0
