"""Joints that slide: where they are, what their positions do everywhere a posture is given, what they refuse."""

import math

import jax
import numpy as np
import pytest

import design_opt
import jaxmodal as jm
import sweeps
from design_opt.problem.designs import degrees
from tests.spatial.rigid_chains import frequencies_hz
from tests.spatial.test_joint_frames import frames_of_rows
from tests.spatial.test_urdf import path_of
from tests.spatial.urdf_trees import Tree
from tests.support.commands import run_command

FILE = path_of("urdf/prismatic")
SPRINGS = {"swivel": 1e4, "lift": 1e6, "elbow": 8e3}
POSITIONS = {"swivel": 0.4, "lift": 0.3, "elbow": 0.2}
VALUES = {
    "joint_stiffness": {"swivel": 1e4, "elbow": 8e3},
    "slide_stiffness": {"lift": 1e6},
}


@pytest.fixture(scope="module")
def arm():
    return jm.read_urdf(FILE, positions=POSITIONS, **VALUES)


def expected_hz(**positions):
    """Of the file, by another reading and the mass matrix of its joints."""
    return frequencies_hz(Tree(FILE, POSITIONS | positions).chain(list(SPRINGS), SPRINGS))


@pytest.mark.parametrize("name", ["lift", "lift.joint_position", "link2.base_offset.x"])
def test_a_position_is_an_address_of_its_own_everywhere(arm, name):
    assert jm.resolve_address(arm, name) == ["link2.base_offset.x"]
    assert jm.get_parameter(arm, name) == 0.3
    moved = jm.set_parameters(arm, {name: 0.7})
    found = jm.natural_frequencies(moved, 3)
    assert found.certified.all()
    np.testing.assert_allclose(found.frequencies_hz, expected_hz(lift=0.7), rtol=1e-11)
    cells = {name: [0.15, 0.7], "elbow": [0.2, 1.1]}
    batch = jm.natural_frequencies_batch(arm, cells, 3).frequencies_hz
    np.testing.assert_allclose(batch[0], expected_hz(lift=0.15), rtol=1e-11)
    np.testing.assert_allclose(batch[1], expected_hz(lift=0.7, elbow=1.1), rtol=1e-11)


def test_postures_take_positions_by_name_in_metres(arm):
    expected = jm.set_parameters(arm, {"lift": 0.5, "elbow": math.radians(20.0)})
    assert arm.with_posture_deg({"lift": 0.5, "elbow": 20.0}) == expected
    assert arm.with_posture({"lift": 0.5, "elbow": math.radians(20.0)}) == expected
    # a list has them in order
    assert arm.joints == (1, 2, 3)
    assert arm.with_posture([0.5, math.radians(20.0)]) == expected
    assert arm.with_posture_deg([0.5, 20.0]) == expected
    turned = jm.set_parameters(expected, {"swivel": math.radians(30.0)})
    assert arm.with_posture_deg([30.0, 0.5, 20.0]) == turned
    with pytest.raises(
        jm.ArmError,
        match=r"posture = \[0\.1\]: has 1 value; an arm of 3 joints takes 2 \(all but the first\) or 3, in rad, of "
        r"joint 2 in m\.",
    ):
        arm.with_posture([0.1])
    with pytest.raises(
        jm.ArmError, match=r"'theta_2'. = 0\.1: is no joint; there are swivel, lift"
    ):
        arm.with_posture({"theta_2": 0.1})
    traced = jax.jit(lambda way: arm.with_posture({"lift": way}).links[1].base_offset.x)(0.6)
    assert float(traced) == 0.6


def test_a_joint_that_slides_has_no_angle(arm):
    for address in ("theta_2", "link2.joint_angle", "lift.joint_angle", "lift.joint_stiffness"):
        with pytest.raises(jm.ArmError, match="is not a parameter of this arm"):
            jm.set_parameters(arm, {address: 0.1})
    assert jm.resolve_address(arm, "link*.joint_angle") == [
        "link1.joint_angle",
        "link3.joint_angle",
    ]
    assert not any(
        x in jm.list_addresses(arm) for x in ("link2.joint_angle", "link2.joint_stiffness")
    )


def test_derivatives_by_a_position_are_those_of_differences(arm):
    table = jm.sensitivities(arm, 3, addresses=["lift"])
    step = 1e-4
    rate = (expected_hz(lift=0.3 + step) - expected_hz(lift=0.3 - step)) / (2.0 * step)
    np.testing.assert_allclose(table.derivative_hz[:, 0], rate, rtol=1e-5, atol=1e-6)


def test_worst_postures_and_sweeps_go_over_the_limits_of_a_slide(arm):
    found = jm.extremes(arm, starts=32, climbs=2)
    assert found.addresses == ("link2.base_offset.x", "link3.joint_angle")
    np.testing.assert_array_equal(found.ranges[0], [0.1, 0.8])
    assert found.certified
    ways, turns = np.linspace(0.1, 0.8, 8), np.linspace(-np.pi, np.pi, 13)
    lowest = min(expected_hz(lift=way, elbow=turn)[0] for way in ways for turn in turns)
    assert found.lowest.frequency_hz <= lowest * (1.0 + 1e-9)
    axis = sweeps.over_limits(arm, "lift", 3)
    sweep = sweeps.Sweep(arm, [axis], num_modes=2)
    assert [(c.name, c.address, c.unit) for c in sweep.columns] == [
        ("lift", "link2.base_offset.x", "m")
    ]
    frequencies = sweeps.run(sweep).frequency
    np.testing.assert_allclose(frequencies[1], expected_hz(lift=0.45)[:2], rtol=1e-11)
    with pytest.warns(
        jm.ImplausibleWarning, match=r"axis 'lift': .*base_offset.x = 0 m to 1 m: .*'lift', 0.1 m"
    ):
        sweeps.Sweep(arm, [sweeps.linspace("lift", 0.0, 1.0, 2)])
    with pytest.warns(
        jm.ImplausibleWarning, match=r"base_offset.x = 0.9 m: .*joint 'lift', 0.1 m to 0.8 m"
    ):
        arm.with_posture({"lift": 0.9})
    links = [link.replace(joint_limits=None) for link in arm.links]
    free = arm.replace(links=tuple(links))
    with pytest.raises(ValueError, match=r"joint 2 slides and has no limits; .*'lift': .0.0, 0.5."):
        jm.extremes(free)
    with pytest.raises(
        sweeps.SweepError, match=r"no limits; give its link joint_limits, or take linspace\."
    ):
        sweeps.over_limits(free, "lift", 3)


def test_the_command_line_takes_positions_by_name(tmp_path, arm):
    jm.write_arm(arm, tmp_path / "arm.toml")
    again = jm.read_arm(tmp_path / "arm.toml")
    assert again == arm
    found, expected = (jm.natural_frequencies(x, 3).omega for x in (again, arm))
    assert np.array_equal(found, expected)

    result = run_command("frequencies", tmp_path / "arm.toml", "--posture-deg", "lift=0.5,elbow=30")
    assert result.exit_code == 0, result.output
    assert "posture lift 0.5 m, 30°" in result.stdout
    assert f"{expected_hz(lift=0.5, elbow=math.radians(30.0))[0]:.3f}" in result.stdout
    options = ["--range", "lift=0.2,0.4", "--starts", "16", "--format", "csv"]
    result = run_command("worst", tmp_path / "arm.toml", *options)
    assert result.exit_code == 0, result.output
    header, lowest, _ = result.stdout.splitlines()
    assert header.endswith("link2.base_offset.x")
    assert 0.2 <= float(lowest.rpartition(",")[2]) <= 0.4


def test_what_the_tip_does_is_the_jacobian(arm):
    step = 1e-6
    places = [arm.with_posture({"lift": 0.3 + x}).tip_position() for x in (-step, step)]
    column = arm.jacobian()[:, 1]
    np.testing.assert_allclose(
        column[:3], (places[1] - places[0]) / (2 * step), rtol=0.0, atol=1e-9
    )
    np.testing.assert_array_equal(column[3:], 0.0)
    assert np.linalg.norm(column[:3]) == pytest.approx(1.0)


BODY = {"body": jm.RigidBody(1.5, (0.02, -0.03, 0.05), (5e-3, 6e-3, 4e-3))}
#: an arm of SCARA's kind, whose last joint slides and turns: theta, d, a, alpha, offset, prismatic
SCARA = (
    (0.3, 0.4, 0.35, 0.0, 0.0, False),
    (0.8, 0.0, 0.3, math.pi, 0.1, False),
    (0.5, 0.12, 0.05, 0.2, 0.0, True),
    (-0.4, 0.06, 0.0, 0.0, 0.0, False),
)


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_rows_slide_where_they_are_prismatic(convention):
    rigid = {"rigid": True, "joint_stiffness": 3e4}
    links = [rigid | BODY, rigid | BODY, dict(BODY), rigid | BODY]
    end = {"tip": (0.1, 0.0, 0.05)} if convention == "modified" else {}
    names = [link | {"name": f"q{k}"} for k, link in enumerate(links, start=1)]
    arm = jm.arm_from_denavit_hartenberg(SCARA, names, convention, **end)
    for way in (0.12, 0.3):
        rows = [(theta + offset, d, a, alpha) for theta, d, a, alpha, offset, _ in SCARA]
        rows[2] = (rows[2][0], way, *rows[2][2:])
        at = frames_of_rows(rows, convention)[-1]
        tip = at[:3, 3] if convention == "standard" else (at @ [0.1, 0.0, 0.05, 1.0])[:3]
        moved = arm.with_posture({"q3": way})
        start = arm.frames()[0].joint
        np.testing.assert_allclose(
            moved.tip_position() - start, tip - _first(rows, convention), rtol=0.0, atol=1e-12
        )
        # the same arm with the slide as a rigid joint, whose d is that
        held = [(*row[:5], False) for row in SCARA]
        held[2] = (SCARA[2][0], way, *SCARA[2][2:5], False)
        stiff = [*links[:2], BODY | {"rigid": True, "along": "straight"}, links[3]]
        other = jm.arm_from_denavit_hartenberg(held, stiff, convention, **end)
        found, expected = (jm.natural_frequencies(x, 3).omega for x in (moved, other))
        np.testing.assert_allclose(found, expected, rtol=1e-11)


def _first(rows, convention):
    """The place of joint 1, from which frames of an arm are seen."""
    return np.zeros(3) if convention == "standard" else np.array([rows[0][2], 0.0, 0.0])


def test_rows_and_origins_in_files_slide(tmp_path):
    text = """
tip = [0.2, 0.0, 0.0]

[[links]]
joint_origin = { xyz = [0.0, 0.0, 0.3], axis = [0.0, 0.0, 1.0] }
rigid = true
joint_stiffness = 2e4
body = { mass = 3.0 }

[[links]]
name = "slider"
joint_origin = { xyz_mm = [200.0, 0.0, 0.0], axis = [1.0, 0.0, 0.0], prismatic = true }
joint_position_mm = 150.0
joint_limits_mm = [0.0, 400.0]
joint_velocity_limit = 0.5
body = { mass = 1.0 }
"""
    (tmp_path / "arm.toml").write_text(text)
    arm = jm.read_arm(tmp_path / "arm.toml")
    link = arm.links[1]
    assert (float(link.base_offset.x), link.joint_limits) == (0.15, (0.0, 0.4))
    # 3 kg at 0.2 m, and 1 kg at 0.2 + 0.2 + 0.15 m, on the spring
    inertia = 3.0 * 0.2**2 + 1.0 * 0.55**2
    found = float(jm.natural_frequencies(arm, 1).frequencies_hz[0])
    assert found == pytest.approx(math.sqrt(2e4 / inertia) / (2.0 * math.pi), rel=1e-12)
    rows = """
[[links]]
denavit_hartenberg = { theta = 0.0, d = 0.3, a = 0.2, alpha = 0.0 }
rigid = true
joint_stiffness = 2e4

[[links]]
name = "slider"
denavit_hartenberg = { d = 0.15, a = 0.1, alpha = 0.0, prismatic = true }
body = { mass = 1.0 }
"""
    (tmp_path / "rows.toml").write_text(rows)
    arm = jm.read_arm(tmp_path / "rows.toml")
    found = float(jm.natural_frequencies(arm, 1).frequencies_hz[0])
    assert found == pytest.approx(math.sqrt(2e4 / 0.3**2) / (2.0 * math.pi), rel=1e-12)
    np.testing.assert_allclose(arm.tip_position(), [0.3, 0.0, 0.45], rtol=0.0, atol=1e-15)


TUBE = {
    "section": jm.hollow_circle(0.05, 0.003, "cowper"),
    "materials": {"*": {"youngs_modulus": 7e10, "density": 2700.0, "poisson_ratio": 0.3}},
}
LINK = {"rigid": True, "prismatic": True}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"joint_angle": 0.1}, "joint_angle = 0.1: .* this one is prismatic; leave it out"),
        ({"joint_stiffness": 1e4}, "joint_stiffness = 10000.0: .*joint_springs along"),
        ({"hub": jm.RigidBody(1.0)}, "hub = .*: .*; give body, which slides with the link"),
        (
            {"rotor_inertia": 1e-4, "gear_ratio": 3.0, "motor": "held"},
            "rotor_inertia = 0.0001: belongs to a joint that turns",
        ),
        ({"joint_limits": (1.0, 0.0)}, r"joint_limits = .* largest position \(m\), such as"),
        ({"joint_velocity_limit": 0.0}, r"must be greater than 0 \(m/s\)"),
        ({"prismatic": "yes"}, "prismatic = 'yes': must be true or false"),
    ],
)
def test_links_that_slide_refuse_what_turns(values, message):
    with pytest.raises(jm.ArmError, match=message):
        jm.SpatialLink(0.0, **LINK | values)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"joint_stiffness": {"lift": 1e6}}, "'lift' slides, .*; give slide_stiffness, N/m"),
        ({"slide_stiffness": {"elbow": 1e4}}, "'elbow' turns; give joint_stiffness, N m/rad"),
        ({"slide_stiffness": {"lft": 1e4}}, "fits no name; there are lift. Did you mean 'lift'"),
        (
            {"slide_stiffness": {"lift": -1.0}},
            r"slide_stiffness\['lift'\]: stiffness = -1.0: must be 0",
        ),
        (
            {"rotors": {"lift": {"inertia": 1e-5, "gear_ratio": 100}}},
            "'lift' does not turn between the base and the tip",
        ),
    ],
)
def test_robots_refuse_of_slides_what_turns_by_name(values, message):
    with pytest.raises(jm.ArmError, match=f"prismatic.urdf: .*{message}"):
        jm.read_urdf(FILE, **values)


@pytest.mark.parametrize(
    ("row", "link", "message"),
    [
        ((0, 0.1, 0, 0, 0, 1), {}, "rows1.prismatic = 1: must be True or False"),
        ((0, 0.1, 0, 0, 0, True, 3), {}, "rows1 = .*: must be .theta, d, a, alpha."),
        (
            (0, 0.1, 0, 0, 0, True),
            {"along": "d"},
            "link1.along = 'd': d of a prismatic row is the way that it slides",
        ),
        (
            (0, 0.1, 0, 0, 0, True),
            {"section": TUBE["section"]},
            "link1.section = .*the next joint is at the same place",
        ),
        ((0, 0.1, 0, 0, 0, True), {"prismatic": True}, "prismatic = True: follows from the row"),
    ],
)
def test_rows_that_slide_refuse(row, link, message):
    with pytest.raises(jm.ArmError, match=message):
        jm.arm_from_denavit_hartenberg([row], [link])


def test_a_robot_tells_of_its_slides():
    report = jm.urdf_report(FILE, positions=POSITIONS, **VALUES)
    text = str(report)
    for part in ("0.3 m", "0.1 to 0.8 m", "1e+06 N/m"):
        assert part in text
    assert "held" not in text
    assert "slide_stiffness of lift: taken as rigid" in str(jm.urdf_report(FILE))
    assert jm.check_arm(report.arm).remarks == ()
    # fingers beyond the last joint that turns are held, unless the tip is one
    gripper = path_of("urdf/gripper")
    text = str(jm.urdf_report(gripper, positions={"open": 0.01}))
    assert "joint 'open' is prismatic and held at 0.01 m" in text
    arm = jm.read_urdf(gripper, tip="finger", check=False)
    assert [link.name for link in arm.links] == ["shoulder", "elbow", "open"]
    assert arm.joints == (1, 2, 3)


@pytest.mark.slow
def test_a_slide_is_a_variable_of_a_design(arm):
    problem = design_opt.Problem(
        arm, [design_opt.Variable("lift", 0.1, 0.8)], [design_opt.MaximiseFrequency(1)]
    )
    found = design_opt.optimise(problem)
    assert found.values["lift"] == pytest.approx(0.1, abs=1e-6)
    assert found.report.objectives[0] == pytest.approx(expected_hz(lift=0.1)[0], rel=1e-6)


@pytest.mark.slow
def test_postures_of_designs_have_positions_of_slides(tmp_path):
    """In lists and in grids, in metres; a spring at its best for the worst of them."""
    jm.write_arm(jm.read_urdf(FILE, positions=POSITIONS, **VALUES), tmp_path / "arm.toml")
    text = """
arm = "arm.toml"
[[variables]]
parameter = "link3.hub.mass"
lower = 1.0
upper = 2.0
[objective]
maximise = "frequency"
postures = "grid"
[postures.grid]
grid_deg = { lift = [0.15, 0.7, 2], elbow = [20, 60, 2] }
[postures.list]
list_deg = [[0.15, 20], [0.7, 60]]
[[constraints]]
kind = "frequency"
mode = 1
at_least_hz = 0.1
postures = "list"
"""
    (tmp_path / "problem.toml").write_text(text)
    problem, _ = design_opt.read_problem(tmp_path / "problem.toml")
    every = [(way, math.radians(angle)) for way in (0.15, 0.7) for angle in (20.0, 60.0)]
    swivel = POSITIONS["swivel"]
    np.testing.assert_allclose(problem.sets["grid"], [(swivel, *at) for at in every], rtol=1e-15)
    both = [every[0], every[3]]
    np.testing.assert_allclose(problem.sets["list"], [(swivel, *at) for at in both], rtol=1e-15)
    before = design_opt.optimise(problem, max_iterations=1).evaluator.today_hz
    for name, postures in (("grid", every), ("list", both)):
        expected = [expected_hz(lift=way, elbow=angle)[0] for way, angle in postures]
        np.testing.assert_allclose(before[name][:, 0], expected, rtol=1e-9)
    shown = degrees(problem.arm, problem.sets["list"][1], problem.sets["list"])
    assert shown == "(0.7 m, 60°)"  # the swivel changes no frequency, and is the same in all


def test_an_arm_prints_its_joints_offsets_sections_and_masses(arm):
    text = str(arm)
    for part in ("0.3 m", "1e+06 N/m", "8000 N m/rad", "hub 10, stator 20", "total mass 37 kg"):
        assert part in text, part
    text = str(jm.examples.six_axis_industrial())
    for part in (
        "hollow_rectangle, 140 x 180 x 8 mm",
        "end 0, 0, -0.15",
        "base 0, 0, -0.12",
        "900000 N m/rad",
        "payload: 20 kg",
        f"total mass {float(jm.examples.six_axis_industrial().total_mass):.6g} kg",
    ):
        assert part in text, part
