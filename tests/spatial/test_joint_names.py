"""Joints by their names: what the number of the link says, the name says everywhere."""

import re
from pathlib import Path

import numpy as np
import pytest

import design_opt
import jaxmodal as jm
import sweeps
from tests.support.commands import run_command

SMALL = Path(__file__).parent.parent / "data" / "small_arm.urdf"


@pytest.fixture(scope="module")
def arm():
    return jm.read_urdf(SMALL, joint_stiffness={"*": 2e4}, positions={"pitch": 0.3})


def renamed(arm, **names):
    """The arm with other names, by link."""
    links = [
        link.replace(name=names.get(f"link{k}", link.name))
        for k, link in enumerate(arm.links, start=1)
    ]
    return arm.replace(links=tuple(links))


def test_a_name_is_the_angle_of_its_joint_and_stands_for_the_link(arm):
    assert jm.resolve_address(arm, "pitch") == ["link2.joint_angle"]
    assert jm.resolve_address(arm, "bend.joint_stiffness") == ["link4.joint_stiffness"]
    assert jm.get_parameter(arm, "pitch") == 0.3
    changed = jm.set_parameters(arm, {"pitch": 0.5, "bend.joint_stiffness": 3e3})
    by_number = {"link2.joint_angle": 0.5, "link4.joint_stiffness": 3e3}
    assert changed == jm.set_parameters(arm, by_number)
    with pytest.raises(jm.ArmError, match=r"'link2\.joint_angle' is given twice, by 'theta_2'"):
        jm.set_parameters(arm, {"theta_2": 0.1, "pitch": 0.2})


def test_names_with_dots_and_names_that_begin_alike_are_told_apart(arm):
    named = renamed(arm, link1="left", link2="left.elbow", link3="left.elbow.length")
    assert jm.resolve_address(named, "left") == ["link1.joint_angle"]
    assert jm.resolve_address(named, "left.length") == ["link1.length"]
    assert jm.resolve_address(named, "left.elbow") == ["link2.joint_angle"]
    assert jm.resolve_address(named, "left.elbow.length") == ["link3.joint_angle"]


@pytest.mark.parametrize("name", ["link3", "link3.x", "theta_3", "payload", "loads.x"])
def test_addresses_by_number_are_never_taken_for_names(arm, name):
    named = renamed(arm, link2=name)
    assert jm.resolve_address(named, "link3.joint_angle") == ["link3.joint_angle"]
    assert jm.resolve_address(named, "theta_3") == ["link3.joint_angle"]
    if name != "theta_3":
        with pytest.raises(jm.ArmError, match="is not a parameter of this arm"):
            jm.resolve_address(named, name)


def test_a_name_of_several_joints_is_refused_by_their_numbers(arm):
    named = renamed(arm, link1="elbow", link3="elbow", link4="elbow")
    message = r"'elbow\.length': joints 1, 3 and 4 have the name 'elbow'; give the number, such as 'link1\.length'"
    with pytest.raises(jm.ArmError, match=message):
        jm.resolve_address(named, "elbow.length")
    with pytest.raises(jm.ArmError, match=r"joints 1, 3, 4 have this name; .*'theta_1'"):
        named.with_posture({"elbow": 0.1})
    assert jm.resolve_address(named, "pitch") == ["link2.joint_angle"]


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("pich", "Did you mean 'pitch'"),
        ("pitch.joint_stifness", r"it has no 'link2\.joint_stifness'.*'pitch\.joint_stiffness'"),
    ],
)
def test_unknown_names_suggest_names(arm, address, message):
    with pytest.raises(jm.ArmError, match=f"'{address}' is not a parameter of this arm.*{message}"):
        jm.resolve_address(arm, address)


def test_postures_by_name_leave_the_other_joints_as_they_are(arm):
    assert arm.with_posture({"bend": 0.7}) == arm.with_posture([0.0, 0.3, 0.0, 0.7])
    assert arm.with_posture_deg({"theta_1": 30.0, "bend": -20.0}) == arm.with_posture(
        [np.radians(30.0), 0.3, 0.0, np.radians(-20.0)]
    )
    planar = jm.examples.three_link_industrial()
    assert planar.with_posture({"theta_3": 0.2}) == planar.with_posture(
        [planar.links[1].joint_angle, 0.2]
    )
    for posture, message in (
        ({"bent": 1.0}, "posture.'bent'. = 1.0: is no joint; there are yaw, .*Did you mean 'bend'"),
        ({"pitch": 1.0, "theta_2": 1.0}, "joint 2 is given twice"),
        ({"pitch": float("nan")}, r"link2\.joint_angle = nan"),
        ({3: 1.0}, "posture.3. = 1.0: is no joint"),
    ):
        with pytest.raises(jm.ArmError, match=message):
            arm.with_posture(posture)


def test_batches_sensitivities_and_sweeps_take_names(arm, tmp_path):
    angles = [0.0, 0.4, 0.8]
    by_name, by_number = (
        jm.natural_frequencies_batch(arm, {name: angles}, 3).omega
        for name in ("pitch", "link2.joint_angle")
    )
    assert np.array_equal(by_name, by_number)
    names, numbers = (
        ["pitch", "yaw.joint_stiffness"],
        ["link2.joint_angle", "link1.joint_stiffness"],
    )
    found, expected = (jm.sensitivities(arm, 3, addresses=x) for x in (names, numbers))
    assert np.array_equal(found.derivative, expected.derivative)
    assert found.addresses == tuple(numbers)
    assert re.search(r"│ pitch +│", str(found))
    assert re.search(r"│ yaw.joint_stiffness +│", str(found))

    axis = sweeps.linspace("pitch", 0.0, 90.0, 3, unit="degree")
    both = sweeps.zipped(
        sweeps.axis("yaw.joint_stiffness", [1e4, 2e4]), sweeps.axis("bend", [0.1, 0.2]), name="both"
    )
    sweep = sweeps.Sweep(arm, [axis, both], sensitivity_to=["roll"], outputs=["sensitivity"])
    assert [(c.name, c.address, c.unit) for c in sweep.columns] == [
        ("pitch", "link2.joint_angle", "degree"),
        ("yaw_joint_stiffness", "link1.joint_stiffness", "N m/rad"),
        ("bend", "link4.joint_angle", "rad"),
    ]
    assert sweep.sensitivity_to == ("link3.joint_angle",)
    jm.write_arm(arm, tmp_path / "arm.toml")
    space = {"start": 0.0, "stop": 90.0, "num": 3}
    axes = [{"parameter": "pitch", "unit": "degree", "linspace": space}]
    again = sweeps.sweep_from_dict(
        {"arm": "arm.toml", "axes": axes, "num_modes": 2}, folder=tmp_path
    )
    frequencies = sweeps.run(again).frequency
    assert frequencies.dims == ("pitch", "mode")
    posed = jm.natural_frequencies(arm.with_posture_deg({"pitch": 45.0}), 2).frequencies_hz
    np.testing.assert_allclose(frequencies.sel(pitch=45.0), posed, rtol=1e-12)


@pytest.mark.parametrize(
    ("parameter", "unit", "message"),
    [
        (
            "pich",
            None,
            "axes.1.: axis over .pich.: .pich. is not a parameter of this arm. Did you mean 'pitch'",
        ),
        ("pitch", "m", "axis 'pitch': unit = 'm': must be 'rad' or 'degree'"),
        ("pitch.joint_stiffness", "degree", "unit = 'degree': must be 'N m/rad'"),
    ],
)
def test_axes_over_names_that_do_not_fit_are_refused_by_the_sweep(arm, parameter, unit, message):
    axis = sweeps.axis(parameter, [1.0, 2.0], unit=unit)
    with pytest.raises(sweeps.SweepError, match=message):
        sweeps.Sweep(arm, [axis])


def test_variables_and_postures_of_problems_take_names(arm, tmp_path):
    jm.write_arm(arm, tmp_path / "arm.toml")
    document = {
        "arm": "arm.toml",
        "variables": [{"parameter": "yaw.joint_stiffness", "lower": 1e4, "upper": 4e4}],
        "postures": {"work": {"grid_deg": {"pitch": [0, 60, 2], "theta_4": [0, 30, 2]}}},
        "objective": {"maximise": "frequency", "postures": "work"},
    }
    problem, _ = design_opt.problem_from_dict(document, folder=tmp_path)
    (variable,) = problem.space.variables
    assert variable.addresses == ("link1.joint_stiffness",)
    assert (variable.name, variable.unit) == ("yaw.joint_stiffness", "N m/rad")
    expected = [[0, p, 0, b] for p in (0.0, 60.0) for b in (0.0, 30.0)]
    np.testing.assert_allclose(np.degrees(problem.sets["work"]), expected, rtol=0.0, atol=1e-12)
    document["postures"]["work"]["grid_deg"]["theta_2"] = [0, 1, 2]
    with pytest.raises(design_opt.ProblemError, match="one joint is given twice"):
        design_opt.problem_from_dict(document, folder=tmp_path)


def test_the_command_line_takes_postures_by_name(arm, tmp_path):
    file = tmp_path / "arm.toml"
    jm.write_arm(arm, file)

    def run(posture):
        options = ["--modes", "2", "--no-cache", "--posture-deg", posture]
        return run_command("frequencies", file, *options)

    degrees = float(np.degrees(0.3))
    by_name, by_number = run("bend=20, theta_1=5"), run(f"5,{degrees!r},0,20")
    assert by_name.exit_code == 0, by_name.output
    assert by_name.stdout == by_number.stdout
    for posture, message in (
        ("bent=20", "bent=20: .*is no joint.*Did you mean 'bend'"),
        ("bend=x", "is not a list of angles; .*elbow=90"),
        ("bend=1,bend=2", "names 'bend' twice"),
        ("bend=1,2", "is not a list of angles"),
    ):
        result = run(posture)
        assert result.exit_code == 2
        assert re.search(message, " ".join(result.stderr.split())), result.stderr
