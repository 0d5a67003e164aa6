"""Arms in space in motion, beside 40-digit cases, printed tables, planar arms and the exact frequencies.

What compiles: for each case one program of all terms or one linearisation, and one simulation of a small arm.
"""

import dataclasses
import functools

import jax
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.dynamics import (
    FlexibleArm,
    Hold,
    JointPD,
    SlopeLimit,
    SpatialFlexibleArm,
    SpinUp,
    flexible_arm,
    forward_dynamics,
    inverse_dynamics,
    linearise,
    link_positions,
    simulate,
    static_state,
    tip_position,
    tip_rotation,
)
from jaxmodal.dynamics.mechanics import equations
from jaxmodal.runtime.errors import ArmError
from tests.spatial.cases import bent_arm
from tests.support.spatial_dynamics_cases import (
    CANCELLED,
    CASES,
    HELD,
    ROUNDING,
    all_terms,
    locked_frequencies,
    model_of,
    relative,
)


def cases(*fast, having="evaluations"):
    """The cases that have something, those that compile what others do not in every run, the others when it is slow."""
    return [
        name if name in fast else pytest.param(name, marks=pytest.mark.slow)
        for name in HELD
        if having in CASES[name]
    ]


# the six links of P3 are of the kinds of P5, and their written equations are in every run (tests/symbolic)
@pytest.mark.parametrize("name", cases("P5", "P6", "P9"))
def test_every_term_of_the_reference_cases(name):
    case, model = CASES[name], model_of(name)
    assert model.layout.names == tuple(case["coordinates"])
    assert relative(model.stiffness, case["stiffness_matrix"]) < ROUNDING
    assert relative(model.damping, case["damping_matrix"]) < ROUNDING
    for state in case["evaluations"]:
        q, rate, torques = (np.array(state[key]) for key in ("q", "v", "torques"))
        found = jax.device_get(all_terms(model, q, rate, torques))
        assert relative(found["mass_matrix"], state["mass_matrix"]) < ROUNDING
        assert relative(found["bias"], state["bias"]) < CANCELLED
        for key in ("gravity_vector", "tip_position", "tip_rotation"):
            assert relative(found[key], state[key]) < ROUNDING
        for energy, key in zip(found["energies"], ("kinetic", "elastic", "gravity"), strict=True):
            expected = state[f"{key}_energy"]
            assert abs(energy - expected) <= CANCELLED * max(abs(expected), 1e-9)
        # what float64 leaves of a solve with a matrix of this condition
        solved = np.finfo(float).eps * state["float64_differs_by"]["condition_number"]
        for way in ("acceleration", "recursion"):
            assert relative(found[way], state["acceleration"]) < max(solved, CANCELLED)
        scale = np.abs(model.stiffness @ q).max() + np.abs(torques).max()
        assert np.abs(found["forces"] - found["applied"]).max() < 1e-10 * scale


def lost(every, omega):
    """What eigenvalues in float64 lose: squared frequencies are known to rounding of the largest."""
    return np.finfo(float).eps * (every[-1] / omega) ** 2


#: derivatives of the Coriolis forces by the rates
turning = jax.jit(jax.jacfwd(equations.velocity_forces, argnums=2))


@pytest.mark.parametrize("name", cases("P7", "P9", having="linearisations"))
def test_frequencies_of_small_motions_of_the_reference_cases(name):
    for state in CASES[name]["linearisations"]:
        model, q = model_of(name), np.array(state["q"])
        expected = np.array(state["omega_rad_per_s"])
        if "rate" in state:
            rate = np.zeros(q.size)
            rate[0] = state["rate"]
            found = linearise(model, q, rate, "locked").eigenvalues()
            omega = np.sort(found.imag[found.imag > 0.0])[: expected.size]
            assert np.abs(found.real).max() < 1e-12 * expected.max()
            assert relative(omega / expected, np.ones(expected.size)) < 1e-12
            assert relative(turning(model, q, rate), state["gyroscopic_matrix"]) < ROUNDING
            continue
        if "static" in state["about"]:
            found = static_state(model, q[model.layout.driven])
            assert relative(found, q) < 1e-13
        else:
            model = dataclasses.replace(model, gravity=np.zeros(3))
        every = linearise(model, q, joints="locked").natural_frequencies()
        omega = every[: expected.size]
        assert np.all(np.abs(omega / expected - 1.0) < 1e-12 + lost(every, expected))


@pytest.mark.parametrize("name", cases(having="trajectory"))
def test_trajectories_of_the_reference_cases(name):
    wanted, model = CASES[name]["trajectory"], model_of(name)
    times = np.array([point["time"] for point in wanted["points"]])
    drive = {}
    if "torques_constant" in wanted:
        torques = np.array(wanted["torques_constant"])
        drive["torque"] = lambda time, q, rate, model: torques
    else:
        drive["motion"] = SpinUp([wanted["w0"]], wanted["T"])
    start = wanted["points"][0]
    motion = simulate(model, times, start["q"], start["v"], rtol=1e-11, atol=1e-13, **drive)
    assert motion.attrs["status"] == "finished"
    assert motion.attrs["energy_balance_error"] < 1e-10
    for k, point in enumerate(wanted["points"]):
        for parts, key in (
            (("joint_angle", "modal_coordinate", "motor_angle"), "q"),
            (("joint_rate", "modal_rate", "motor_rate"), "v"),
        ):
            found = [motion[name].values[k] for name in parts[:2]]
            if any(model.elastic):
                found.append(motion[parts[2]].values[k][np.array(model.elastic)])
            # two formulations of the reference agree to 1e-10 and better
            assert np.allclose(np.concatenate(found), point[key], rtol=5e-9, atol=5e-9)


def flat_link(**changes):
    values = {"length": 0.6, "youngs_modulus": 7e10, "density": 2700.0, "poisson_ratio": 0.33}
    return jm.Link(**values | {"section": jm.rectangle(0.004, 0.03, 0.85)} | changes)


def flat_arm():
    """Two links with a hub, a body, a held rotor and a payload."""
    near = flat_link(hub_mass=0.2, hub_inertia=1e-3, tip_mass=0.1, tip_inertia=2e-4)
    far = flat_link(length=0.4, rotor_inertia=2e-5, gear_ratio=30.0, motor="held")
    return jm.Arm((near, far), payload=jm.Payload(0.3, 1e-3))


def test_a_planar_arm_in_space_is_the_planar_arm():
    """Random states in the plane: forces and accelerations of both kinds, whose code differs, are the same."""
    arm = flat_arm()
    planar = flexible_arm(arm, 2, shapes="polynomial", gravity=(1.0, -9.0))
    in_space = flexible_arm(
        jm.to_spatial(arm), {"bending_xy": 2}, shapes="polynomial", gravity=(1.0, -9.0, 0.0)
    )
    assert isinstance(planar, FlexibleArm)
    assert isinstance(in_space, SpatialFlexibleArm)
    rng = np.random.default_rng(4)
    q, rate = 0.3 * rng.standard_normal((2, 3, 6))
    torques = rng.standard_normal((3, 2))
    for found, expected in (
        (in_space.stiffness, planar.stiffness),
        (inverse_dynamics(in_space, q, rate, rate), inverse_dynamics(planar, q, rate, rate)),
        (forward_dynamics(in_space, q, rate, torques), forward_dynamics(planar, q, rate, torques)),
        (tip_position(in_space, q)[:, :2], tip_position(planar, q)),
        (tip_rotation(in_space, q)[:, :2, :2], tip_rotation(planar, q)),
        (link_positions(in_space, q)[..., :2], link_positions(planar, q)),
    ):
        assert relative(found, expected) < 1e-12


@pytest.mark.slow
def test_frequencies_converge_to_the_exact_ones_of_the_arm():
    """Bent, twisted, stretched, with a rolled section: eight shapes of each hold six modes to 1e-9, three do not."""
    section = jm.rectangle(0.012, 0.03, "cowper")
    body = jm.RigidBody(0.7, (0.01, -0.02, 0.03), [[4e-3, 5e-4, 0], [5e-4, 6e-3, 0], [0, 0, 5e-3]])
    link = jm.SpatialLink(
        0.6, 7e10, 2700.0, section, poisson_ratio=0.33, body=body, section_roll=0.4
    )
    arm = jm.SpatialArm(
        (
            link,
            link.replace(
                joint_angle=0.9,
                joint_axis=(0.2, 1.0, -0.4),
                base_offset=(0.02, 0.05, 0.0),
                end_offset=(0.03, 0.0, -0.06),
                body=None,
                joint_frame=(jm.Rotation((1.0, 0.0, 0.0), 0.6),),
            ),
        ),
        payload=body,
    )
    exact = np.asarray(jm.natural_frequencies(arm, 6, theory="euler_bernoulli").omega)
    excess = []
    for count in (3, 8):
        every = dict.fromkeys(("stretch", "torsion", "bending_xy", "bending_xz"), count)
        q = np.zeros(2 + 8 * count)
        q[1] = 0.9
        found = linearise(flexible_arm(arm, every), q, joints="locked").natural_frequencies()
        rounding = 1e-12 + lost(found, exact)
        assert np.all(found[:6] > exact * (1.0 - rounding))
        excess.append(np.max(found[:6] / exact - 1.0 - rounding))
    assert excess[0] > 1e-5
    assert excess[1] < 1e-9


def test_springs_without_rotors_are_locked_and_moved_and_take_no_torque():
    """The space-station arm of the examples, springs and no rotor: the exact frequencies of its posture."""
    arm = jm.examples.canadarm2_like()
    model = flexible_arm(arm, {"bending_xy": 4, "bending_xz": 4, "torsion": 3, "stretch": 3})
    exact = np.asarray(jm.natural_frequencies(arm, 4, theory="euler_bernoulli").omega)
    found = locked_frequencies(model, [float(link.joint_angle) for link in arm.links])
    assert np.all(np.abs(found[:4] / exact - 1.0) < 1e-7 + lost(found, exact))
    with pytest.raises(ArmError, match=r"motors .* must have inertia to move freely"):
        linearise(model, np.zeros(model.num_coordinates))


@pytest.mark.slow
def test_springs_of_joints_in_every_direction():
    """The exact frequencies of an arm whose joints give way in and about any direction, and both ways to solve."""
    counts = {"bending_xy": 4, "bending_xz": 4, "torsion": 3, "stretch": 3}
    arm = bent_arm()
    model = flexible_arm(arm, counts)
    assert model.layout.names[-19:-17] == ("link2.bending_xz4", "link2.spring1")
    q = np.zeros(model.num_coordinates)
    angles = [float(link.joint_angle) for link in arm.links]
    q[:3], q[model.layout.driven] = angles, angles
    found = linearise(model, q, joints="locked").natural_frequencies()
    exact = np.asarray(jm.natural_frequencies(arm, 6, theory="euler_bernoulli").omega)
    assert np.all(found[:6] > exact * (1.0 - 1e-12 - lost(found, exact)))
    assert np.all(found[:6] < exact * (1.0 + 1e-6 + lost(found, exact)))
    rotors = {"rotor_inertia": 1e-4, "gear_ratio": 30.0, "motor": "held"}
    driven = arm.replace(links=tuple(link.replace(**rotors) for link in arm.links))
    model = flexible_arm(driven, counts, gravity=(0.3, 1.0, -9.0))
    rng = np.random.default_rng(7)
    q, rate = np.array([[0.02], [0.1]]) * rng.standard_normal((2, model.num_coordinates))
    terms = jax.device_get(all_terms(model, q, rate, np.ones(3)))
    condition = np.linalg.cond(terms["mass_matrix"])
    solved = np.finfo(float).eps * condition
    assert relative(terms["recursion"], terms["acceleration"]) < solved


@functools.cache
def wrist():
    """A bar on a turning base, and a second bar that gives way about its joint."""
    bar = jm.SpatialLink(0.5, 7e10, 2700.0, jm.rectangle(0.01, 0.02, "cowper"), poisson_ratio=0.33)
    second = bar.replace(
        joint_axis=(0.0, 1.0, 0.0),
        joint_stiffness=300.0,
        rotor_inertia=1e-5,
        gear_ratio=50.0,
        motor="held",
    )
    return jm.SpatialArm((bar, second), payload=jm.RigidBody(0.5))


@pytest.mark.slow
def test_a_simulation_names_axes_deformations_and_choices():
    model = flexible_arm(wrist(), 1, gravity=(0, 0, -9.81), damping_ratio=0.02)
    assert model.layout.names == (
        *("theta1", "theta2"),
        *(f"link{k}.{name}1" for k in (1, 2) for name in ("torsion", "bending_xy", "bending_xz")),
        "motor2",
    )
    start = static_state(model, [0.3, 0.5])
    law = JointPD(Hold([0.3, 0.5]), [50.0, 50.0], [5.0, 5.0])
    motion = simulate(
        model, np.linspace(0.0, 0.05, 6), start, torque=law, method="linearly_implicit", step=1e-3
    )
    assert motion.attrs["status"] == "finished"
    assert list(motion["axis"].values) == ["x", "y", "z"]
    assert list(motion["deformation_of_coordinate"].values[:3]) == [
        *("torsion", "bending_xy", "bending_xz")
    ]
    assert motion.attrs["second_order"] == "true"
    assert motion.attrs["rotor_motion"] == "carried"
    assert np.allclose(
        motion["tip_position"][0], tip_position(model, start), rtol=1e-14, atol=1e-14
    )
    margin = jax.jit(SlopeLimit(0.1))(0.0, start, start, model)
    assert 0.0 < float(margin) < 0.1
    assert "flexible arm in space: 2 links, 6 modal coordinates, 1 elastic joints" in str(model)


def test_a_bent_link_that_twists_moves_as_curvature_has_it():
    """Constant curvature and twist are a helix, which second order meets to the third power, first to the second."""
    bar = jm.SpatialLink(1.0, 7e10, 2700.0, jm.circle(0.01), poisson_ratio=0.3)
    counts = {"torsion": 1, "bending_xz": 1}
    model = flexible_arm(jm.SpatialArm((bar,)), counts, shapes="monomial")
    plain = model.posed(second_order=False)
    errors = {}
    for size in (0.1, 0.05):
        twist, bend = size, 0.7 * size
        # p' = R e_x, R' = R [k], with w = bend x^2/2 at first, so that the rotation about y is -bend x
        curvature = np.array([twist, -bend, 0.0])
        angle = np.linalg.norm(curvature)
        turn = np.cross(np.eye(3), curvature / angle)
        integral = np.eye(3) + (1 - np.cos(angle)) / angle * turn
        integral = integral + (1 - np.sin(angle) / angle) * turn @ turn
        helix = integral[:, 0]
        q = np.array([0.0, twist, 0.5 * bend])
        errors[size] = [
            np.linalg.norm(np.asarray(tip_position(each, q)) - helix) for each in (model, plain)
        ]
    second, first = np.array(errors[0.1]) / np.array(errors[0.05])
    assert 7.5 < second < 8.5
    assert 3.7 < first < 4.3


def test_dampers_act_beside_their_springs():
    """Over the joint angle, a further spring and the motor: that of the joint's spring sees their difference."""
    spring = jm.Spring("rotation", (1.0, 0.0, 0.0), 900.0, damping=0.7)
    bar = jm.SpatialLink(
        0.5,
        rigid=True,
        body=jm.RigidBody(1.0),
        joint_stiffness=400.0,
        joint_damping=0.3,
        rotor_inertia=1e-3,
        gear_ratio=2.0,
        motor="held",
        joint_springs=(spring,),
    )
    model = flexible_arm(jm.SpatialArm((bar,)), viscous_friction=0.05)
    assert model.layout.names == ("theta1", "link1.spring1", "motor1")
    twist, further, motor = np.array([1.0, 0.0, -1.0]), np.eye(3)[1], np.eye(3)[2]
    squares = np.array([np.outer(each, each) for each in (twist, further, motor)])
    stiffness = np.tensordot([400.0, 900.0, 0.0], squares, 1)
    damping = np.tensordot([0.3, 0.7, 0.05], squares, 1)
    assert relative(model.stiffness, stiffness) < ROUNDING
    assert relative(model.damping, damping) < ROUNDING


def test_linear_frames_need_what_does_not_turn():
    model = flexible_arm(wrist(), 1)
    with pytest.raises(ArmError, match="frames = 'linear': stretches the axes of links"):
        model.posed(frames="linear")
    usual = model.posed("linear", True, False, "reflected", "relative")
    assert usual.frames == "linear"
    assert not usual.second_order


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"modes": {"bending": 2}}, r"'bending' is unknown; must be a whole number"),
        ({"modes": [2]}, r"modes = \[2\]: must be one entry, or 2, one for each link"),
        ({"modes": -1}, r"modes = -1: must be a whole number"),
        ({"shapes": "sines"}, r"shapes = 'sines': must be one of 'polynomial'"),
        ({"shapes": {"twist": "monomial"}}, r"'twist' is no deformation"),
        ({"gravity": (0.0, -9.81)}, r"gravity = \(0.0, -9.81\): must be three finite numbers"),
        ({"rotor_motion": "free"}, r"rotor_motion = 'free': must be one of 'carried'"),
        ({"torsion_spin": "none"}, r"torsion_spin = 'none': must be one of 'absolute'"),
        ({"inertia_order": "second"}, r"inertia_order = 'second': must be one of 'full', 'first'"),
        ({"inertia_order": "first", "base": "driven"}, r"'first': is of arms whose base does not"),
        ({"torsional_inertia": [1.0]}, r"torsional_inertia: 1 values; must be one, or 2"),
        ({"torsional_inertia": -1.0}, r"torsional_inertia\[1\] = -1.0: must be"),
    ],
)
def test_choices_that_are_not_allowed(change, message):
    with pytest.raises(ArmError, match=message):
        flexible_arm(wrist(), **change)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"loss_factor": 0.1}, r"link2.loss_factor = 0.1: has no meaning in time"),
        ({"joint_stiffness": 0.0}, r"link2.joint_stiffness = 0.0: every joint turns"),
    ],
)
def test_arms_that_motions_do_not_know(change, message):
    first, second = wrist().links
    with pytest.raises(ArmError, match=message):
        flexible_arm(jm.SpatialArm((first, second.replace(**change))))


def test_a_joint_that_moves_nothing_is_refused_and_an_infinite_spring_is_rigid():
    first, _ = wrist().links
    empty = jm.SpatialLink(0.2, rigid=True, joint_axis=(0.0, 1.0, 0.0))
    with pytest.raises(ArmError, match="link2: joint 2 moves nothing that has mass"):
        flexible_arm(jm.SpatialArm((first, empty)))
    rotor = {"rotor_inertia": 1e-4, "gear_ratio": 2.0, "motor": "held"}
    flexible_arm(jm.SpatialArm((first, empty.replace(**rotor))))
    rigid = jm.Spring("rotation", (1.0, 0.0, 0.0), np.inf)
    stiff = first.replace(joint_springs=(rigid,), joint_angle=0.7, joint_limits=(0.5, 1.0))
    assert flexible_arm(jm.SpatialArm((stiff,))).springs == (0,)


def test_choices_of_space_are_refused_in_the_plane():
    with pytest.raises(ArmError, match="rotor_motion = 'reflected': is a choice of arms in space"):
        flexible_arm(jm.examples.two_link_flexible(), rotor_motion="reflected")
