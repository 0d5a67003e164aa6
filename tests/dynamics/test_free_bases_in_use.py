"""All that takes a model on a base that floats freely, files and the command, and what is refused.

What compiles: simulations of a small arm by each method, its linearisations, and that of a file.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from click.testing import CliRunner

import jaxmodal as jm
from jaxmodal.cli.commands import main
from jaxmodal.dynamics import (
    FeedForward,
    Hold,
    JointLimits,
    JointPD,
    RestToRest,
    SlopeLimit,
    base_pose,
    flexible_arm,
    inertia_matrix,
    linearise,
    linearise_along,
    link_positions,
    momenta,
    simulate,
    static_state,
    tip_motion,
    tip_position,
    trajectory,
    turning_frequencies,
)
from jaxmodal.dynamics.files import read_simulation
from jaxmodal.dynamics.integration.histories import coordinates_of, followed
from jaxmodal.dynamics.mechanics import equations, free_bases
from jaxmodal.dynamics.mechanics.rotations import of_quaternion, product
from jaxmodal.runtime.errors import ArmError
from tests.support.satellites import small, space_arm
from tests.support.spatial_dynamics_cases import ROUNDING, relative


@pytest.mark.slow
def test_all_that_takes_a_motion_takes_a_base_that_floats():
    """Motors at work, methods of fixed steps, the neighbours of a motion, where its tip and its links are."""
    model = small()
    law = JointPD(Hold([0.5]), 20.0, 4.0)
    times = np.linspace(0.0, 0.1, 3)
    q = static_state(model, [0.2])
    rate = np.array([0.1, 0.0, 0.0, 0.3, 0.0, -0.1, 0.4, 0.2, -0.3])
    exact = simulate(model, times, q, rate, torque=law)
    end = tip_of(exact)
    errors = {}
    for method, step in (("rk4", 1e-3), ("linearly_implicit", 1e-3), ("linearly_implicit", 5e-4)):
        found = simulate(model, times, q, rate, torque=law, method=method, step=step)
        errors[method, step] = np.abs(tip_of(found) - end).max()
    assert errors["rk4", 1e-3] < 1e-8
    # of second order, whatever its matrix leaves out
    ratio = errors["linearly_implicit", 1e-3] / errors["linearly_implicit", 5e-4]
    assert 3.0 < ratio < 5.0
    # the centre of mass falls, whatever the motors do
    mass = float(inertia_matrix(model, q)[-1 - 5, -1 - 5])
    fallen = exact["linear_momentum"].values - exact["linear_momentum"].values[0]
    assert np.allclose(fallen[:, 2], -mass * times, rtol=1e-10, atol=1e-10)
    assert np.allclose(fallen[:, :2], 0.0, rtol=0, atol=1e-10)
    along = linearise_along(model, exact)
    assert along.mass.shape == (3, 9, 9)
    space = along.state_space()
    assert space["output"].values.tolist() == ["theta1", "tip.x", "tip.y", "tip.z"]
    q, rate = coordinates_of(model, exact)
    assert link_positions(model, q).shape == (3, 1, 21, 3)
    moved = tip_motion(model, q, rate, np.zeros_like(rate))
    assert relative(moved[1], exact["tip_velocity"].values) < 1e-12


@pytest.mark.slow
def test_events_batches_and_derivatives():
    """A joint that reaches its limit, four motions as one, and the tip's derivative by the spin of the base."""
    model = small()
    q = static_state(model, [0.2])
    rate = np.array([0.5, 0.0, 0.0, 0.3, 0.0, -0.1, 0.4, 0.2, -0.3])
    limits = JointLimits(-1.0, 0.22)
    times = np.linspace(0.0, 0.1, 3)
    stopped = simulate(model, times, q, rate, method="rk4", events=[limits, SlopeLimit(0.5)])
    assert stopped.attrs["event"] == "JointLimits"
    assert abs(stopped.attrs["state_reached"][0] - 0.22) < 1e-9
    assert np.isnan(stopped["linear_momentum"].values[-1]).all()

    def tip_by(spin):
        moved = jnp.asarray(rate).at[-1].add(spin)
        return trajectory(model, q, moved, times, method="rk4", substeps=50).tip[-1]

    spins = np.array([-1e-3, 0.0, 1e-3, 0.5])
    # one program: four motions and the derivative of each
    by_spin = jax.vmap(lambda spin: jax.jvp(tip_by, (spin,), (jnp.ones(()),)))
    several, slopes = jax.jit(by_spin)(spins)
    # by the program of the motion that was stopped, with limits that are never reached
    far = [JointLimits(-1.0, 9.0), SlopeLimit(9.0)]
    one = simulate(model, times, q, rate, method="rk4", events=far)
    assert one.attrs["status"] == "finished"
    assert np.abs(several[1] - tip_of(one)).max() < 1e-12
    difference = (several[2] - several[0]) / 2e-3
    assert np.abs(slopes[1] - difference).max() < 1e-6 * np.abs(slopes[1]).max()


def tip_of(motion):
    return motion["tip_position"].values[-1]


@pytest.mark.slow
def test_a_neighbouring_motion_is_as_its_linearisation_has_it():
    """Displaced from a motion that turns and accelerates: the forces that it needs then, by derivatives in time."""
    model = small()
    rng = np.random.default_rng(8)
    q = np.concatenate([0.1 * rng.standard_normal(3), base_pose((1.0, 0.0, 2.0), (1.0, 0.3, 0.2))])
    rate, faster, way, speed, change = jnp.asarray(rng.standard_normal((5, 9)))
    found = linearise(model, q, rate, acceleration=faster)

    def forces(size):
        def place(time):
            second = free_bases.second_rates(model, rate, faster)
            path = free_bases.displaced(model, q, time * rate + 0.5 * time**2 * second)
            moved = way + time * speed + 0.5 * time**2 * change
            return free_bases.displaced(model, path, size * moved)

        def rates(time):
            here, by_time = jax.jvp(place, (time,), (1.0,))
            linear = of_quaternion(here[-4:]).T @ by_time[3:6]
            back = here[-4:] * np.array([1.0, -1.0, -1.0, -1.0])
            angular = 2.0 * product(back, by_time[-4:])[1:]
            return jnp.concatenate([by_time[:3], linear, angular])

        now, then = jax.jvp(rates, (0.0,), (1.0,))
        return equations.generalised_forces(model, place(0.0), now, then), (now, then)

    (_, undisturbed), (difference, _) = jax.jit(lambda: jax.jvp(forces, (0.0,), (1.0,)))()
    assert relative(undisturbed[0], rate) < ROUNDING
    assert relative(undisturbed[1], faster) < ROUNDING
    expected = found.mass @ change + found.damping @ speed + found.stiffness @ way
    assert relative(difference, expected) < 1e-12


TEXT = """
dimensions = 3

[[links]]
length = 1.0
youngs_modulus = 7e10
density = 2700.0
poisson_ratio = 0.33
section = { shape = "rectangle", depth = 0.012, width = 0.03 }
stator = { mass = 40.0, inertia = [4.0, 5.0, 6.0] }

[payload]
mass = 2.0

[dynamics]
base = "free"
joint_position = [0.5, 0.0, 0.0]
modes = { bending_xy = 1, bending_xz = 1 }
until = 0.1
every = 0.05
method = "rk4"
step = 1e-3
start_deg = [10.0]
start_position = [1.0, 0.0, 0.0]
start_rotation_deg = [0.0, 0.0, 90.0]
start_velocity = [0.1, 0.0, 0.0]
start_angular_velocity_deg = [0.0, 20.0, 0.0]

[dynamics.motors]
kind = "pd"
target_deg = [40.0]
duration = 0.1
proportional = 50.0
derivative = 5.0
"""


@pytest.mark.slow
def test_a_file_and_the_command_let_a_base_float(tmp_path):
    path = tmp_path / "satellite.toml"
    path.write_text(TEXT)
    model = flexible_arm(
        jm.read_arm(path),
        {"bending_xy": 1, "bending_xz": 1},
        base="free",
        joint_position=(0.5, 0.0, 0.0),
    )
    angle = np.radians(10.0)
    q = np.concatenate([[angle, 0.0, 0.0], base_pose((1.0, 0.0, 0.0), (0.0, 0.0, 0.5 * np.pi))])
    rate = np.array([0.0, 0.0, 0.0, 0.1, 0.0, 0.0, 0.0, np.radians(20.0), 0.0])
    move = RestToRest(np.array([angle]), np.radians([40.0]), 0.1)
    law = JointPD(move, np.array([50.0]), np.array([5.0]))
    expected = simulate(model, [0.0, 0.05, 0.1], q, rate, torque=law, method="rk4", step=1e-3)
    assert np.abs(expected["torque"].values).max() > 1.0
    wanted = read_simulation(path)
    found = wanted.run()
    assert wanted.target() is None
    for name in ("tip_position", "base_position", "base_quaternion", "angular_momentum"):
        np.testing.assert_array_equal(found[name], expected[name])
    out, plot, gif = (tmp_path / f"motion.{kind}" for kind in ("csv", "png", "gif"))
    arguments = ["--out", str(out), "--plot", str(plot), "--animate", str(gif)]
    result = CliRunner().invoke(main, ["simulate", str(path), *arguments])
    assert result.exit_code == 0, result.output
    assert "base at the end          " in result.stdout
    header, *_, last = out.read_text().splitlines()
    row = dict(zip(header.split(","), map(float, last.split(",")), strict=True))
    assert row["base_position_y [m]"] == expected["base_position"].values[-1, 1]
    assert row["base_quaternion_w [1]"] == expected["base_quaternion"].values[-1, 0]
    assert row["linear_momentum_x [kg m/s]"] == expected["linear_momentum"].values[-1, 0]
    assert plot.stat().st_size > 1000
    assert gif.stat().st_size > 1000


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('base = "free"', ""), r"dynamics\.joint_position = .* is where joint 1 is on a base"),
        (
            ('base = "free"\njoint_position = [0.5, 0.0, 0.0]', ""),
            r"dynamics\.start_position: is about a base that floats freely",
        ),
        (
            ("start_velocity = [0.1, 0.0, 0.0]", "start_velocity = 1.0"),
            r"three finite numbers, m/s",
        ),
        (
            ('base = "free"', 'base = "floating"'),
            r"base = 'floating': must be one of 'clamped', 'free'",
        ),
    ],
)
def test_files_that_are_not_allowed(tmp_path, change, message):
    path = tmp_path / "satellite.toml"
    path.write_text(TEXT.replace(*change))
    with pytest.raises(ArmError, match=message):
        read_simulation(path)


def test_bases_that_cannot_float():
    arm = space_arm()
    first, second = arm.links

    def made(base, **changes):
        flexible_arm(jm.SpatialArm((first.replace(**changes), second)), 1, base=base)

    with pytest.raises(ArmError, match=r"link1\.stator is the body of the base, and has no mass"):
        made("free", stator=None)
    with pytest.raises(ArmError, match=r"link1\.stator .* has no inertia about some axis"):
        made("free", stator=jm.RigidBody(3.0))
    floating = [jm.Spring(kind, e, 0.0) for kind in ("translation", "rotation") for e in np.eye(3)]
    for base in ("free", "clamped"):
        with pytest.raises(ArmError, match=r"link1\.joint_springs: those without stiffness"):
            made(base, joint_springs=floating)
    with pytest.raises(
        ArmError, match=r"base = 'free': floats, and base_stiffness of the arm holds it"
    ):
        flexible_arm(arm.replace(base_stiffness=(1e6,) * 6), base="free")
    with pytest.raises(ArmError, match=r"joint_position = \(1\.0,\): must be"):
        flexible_arm(arm, base="free", joint_position=(1.0,))
    with pytest.raises(ArmError, match="base = 'free': is a choice of arms in space"):
        flexible_arm(jm.examples.two_link_flexible(), base="free")


def test_states_that_no_base_has():
    model = small()
    q = static_state(model, [0.2])
    with pytest.raises(ArmError, match=r"position \(3\) and quaternion \(4\) of the base"):
        tip_position(model, np.zeros(3))
    with pytest.raises(ArmError, match=r"linear \(3\) and angular \(3\) of the base"):
        momenta(model, q, np.zeros(10))
    nowhere = np.zeros(10)
    for call in (
        lambda: tip_position(model, nowhere),
        lambda: linearise(model, nowhere),
        lambda: simulate(model, [0.0, 1.0], nowhere),
    ):
        with pytest.raises(ArmError, match=r"must be the quaternion \(w, x, y, z\)"):
            call()
    with pytest.raises(ArmError, match="position and quaternion of the base"):
        simulate(model, [0.0, 1.0], np.zeros(3))
    with pytest.raises(ArmError, match=r"rotation = .* a rotation vector"):
        base_pose(rotation=(1.0, 2.0))
    with pytest.raises(ArmError, match=r"must be a rotation, three orthogonal unit vectors"):
        base_pose(rotation=np.diag([1.0, 1.0, -1.0]))


@pytest.mark.slow
def test_torques_fed_forward_move_a_rigid_arm_that_floats_as_asked():
    """Without errors to correct: its base turns back by as much as it likes, in gravity too."""
    model = flexible_arm(space_arm(), 0, gravity=(0.3, 0.0, -1.0), base="free")
    asked = RestToRest([0.2, 0.1], [0.9, -0.7], 1.0)
    start = static_state(model, [0.2, 0.1])
    times = np.linspace(0.0, 1.0, 5)
    found = simulate(model, times, start, torque=FeedForward(asked), method="rk4", step=5e-3)
    expected = np.array([asked.angles(t) for t in times])
    assert np.allclose(found["joint_angle"], expected, rtol=0, atol=1e-8)
    assert np.abs(found["base_quaternion"][-1, 1:]).max() > 1e-3
    # what holds it while all falls is nothing
    holds = FeedForward(asked, gravity_alone=True)
    torques = jax.jit(lambda q: holds(0.3, q, np.zeros(model.num_rates), model))(start)
    assert np.abs(torques).max() < 1e-12


def test_what_needs_a_base_that_is_held_says_so():
    model = small()
    clamped = flexible_arm(jm.SpatialArm((space_arm().links[0],)), 1)
    with pytest.raises(ArmError, match="its base is clamped, and the ground takes up momenta"):
        momenta(clamped, *np.zeros((2, clamped.num_coordinates)))
    hold = Hold([0.0])
    for call in (
        lambda: turning_frequencies(model, [1.0]),
        lambda: followed(model, hold, [0.0]),
    ):
        with pytest.raises(
            ArmError, match=r"its base floats freely, and .* needs one that does not"
        ):
            call()


def test_a_pose_by_a_matrix_is_that_by_a_vector():
    """Turns about many axes, by half a turn among them, where a quaternion's first part vanishes."""
    rng = np.random.default_rng(1)
    for vector in (
        *rng.standard_normal((5, 3)),
        [np.pi, 0.0, 0.0],
        [0.0, -np.pi, 0.0],
        np.zeros(3),
    ):
        axes = np.asarray(of_quaternion(base_pose(rotation=vector)[-4:]))
        again = np.asarray(of_quaternion(base_pose(rotation=axes)[-4:]))
        assert np.abs(again - axes).max() < ROUNDING
        angle = np.linalg.norm(vector)
        axis = np.asarray(vector) / (angle or 1.0)
        turn = np.cross(np.eye(3), axis)
        exact = np.eye(3) + np.sin(angle) * turn + (1.0 - np.cos(angle)) * turn @ turn
        assert np.abs(axes - exact).max() < ROUNDING
