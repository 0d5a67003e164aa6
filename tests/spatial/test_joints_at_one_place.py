"""Are angles in a row refused where joints share a place, and do the addresses in the message turn these joints?"""

import json
import re

import numpy as np
import pytest
from click.testing import CliRunner

import design_opt as do
import jaxmodal as jm
import sweeps
from design_opt.problem.files import problem_from_dict
from jaxmodal.cli.commands import main

TUBE = jm.hollow_circle(0.1, 0.004, "cowper")
LINK = {"youngs_modulus": 7e10, "density": 2700.0, "poisson_ratio": 0.33, "section": TUBE}
THETA = (0.1, 0.3, -0.2, 0.4, 0.5, 0.6)
#: six rows; the fifth joint is at the place of the sixth, as in a wrist
D_A_ALPHA = (
    *((0.4, 0.0, 1.5), (0.0, 0.5, 0.0), (0.0, 0.1, 1.5), (0.5, 0.0, -1.5)),
    *((0.0, 0.0, 1.5), (0.1, 0.0, 0.0)),
)
ADDRESSES = (
    *(f"link{number}.joint_angle" for number in (1, 2, 3, 4, 5)),
    "link5.joint_frame1.angle",
)


def six_rows(theta=THETA):
    links = [*[LINK] * 4, {"joint_stiffness": 2e4}, LINK]
    rows = [(angle, *rest) for angle, rest in zip(theta, D_A_ALPHA, strict=True)]
    return jm.arm_from_denavit_hartenberg(rows, links, payload=jm.RigidBody(2.0), name="six rows")


def origins():
    """The first two of three joints share the place of the base."""
    joints = [jm.JointOrigin(axis=axis) for axis in ((0, 0, 1), (0, 1, 0))]
    joints.append(jm.JointOrigin((0.0, 0.0, 0.5), axis=(0, 1, 0)))
    return jm.arm_from_joint_origins(joints, [{"joint_stiffness": 1e4}, LINK, LINK], (0, 0, 0.5))


def wrist_file(tmp_path):
    path = tmp_path / "six.toml"
    jm.write_arm(six_rows(), path)
    return str(path)


def test_the_addresses_are_those_of_the_rows():
    arm = six_rows()
    assert arm.angle_addresses == ADDRESSES
    wanted = tuple(angle + 0.1 * k for k, angle in enumerate(THETA, start=1))
    turned = jm.set_parameters(arm, dict(zip(ADDRESSES, wanted, strict=True)))
    truth = jm.natural_frequencies(six_rows(wanted), 6).omega
    np.testing.assert_allclose(jm.natural_frequencies(turned, 6).omega, truth, rtol=1e-12)
    assert origins().angle_addresses == (
        "link1.joint_angle",
        "link1.joint_frame1.angle",
        "link2.joint_angle",
    )
    assert jm.examples.two_link_flexible().angle_addresses == ADDRESSES[:2]


@pytest.mark.parametrize("make", [six_rows, origins])
def test_no_count_of_angles_in_a_row_is_taken(make, tmp_path):
    arm = make()
    n = arm.num_links
    jm.write_arm(arm, tmp_path / "arm.toml")
    words = re.escape(", ".join(arm.angle_addresses))
    for each in (arm, jm.read_arm(tmp_path / "arm.toml")):
        assert each.angle_addresses == arm.angle_addresses
        for count in (n - 1, n, n + 1):
            for pose in (each.with_posture, each.with_posture_deg):
                with pytest.raises(jm.ArmError, match=rf"joints .* share a place.*{words}"):
                    pose([10.0] * count)


def test_a_turn_that_is_no_joint_is_no_angle_of_a_posture():
    frame = [jm.Rotation((0, 0, 1), -1.1), jm.Rotation((1, 0, 0), 0.2)]
    link = jm.SpatialLink(0.5, joint_frame=frame, **LINK)
    arm = jm.SpatialArm((link, link)).with_posture([0.7])
    assert float(arm.links[1].joint_angle) == 0.7
    with pytest.raises(jm.ArmError, match="joint = 1: must be True"):
        jm.Rotation((0, 0, 1), 0.1, joint=1)


def test_names_by_number_are_taken_before_the_shared_place_and_refused_behind():
    arm = six_rows()
    for k, address in enumerate(ADDRESSES[:5], start=1):
        assert jm.get_parameter(arm, f"theta_{k}") == jm.get_parameter(arm, address)
    for ask in (
        lambda: jm.get_parameter(origins(), "theta_2"),
        lambda: jm.set_parameters(arm, {"theta_6": 0.1}),
        lambda: jm.set_parameters(origins(), {"theta_3": 0.1}),
        lambda: jm.natural_frequencies_batch(origins(), {"theta_2": [0.1, 0.2]}, 2),
        lambda: jm.sensitivities(origins(), 2, addresses=["theta_2"]),
    ):
        with pytest.raises(
            jm.ArmError, match=r"'theta_\d': joints of this arm share a place.*link"
        ):
            ask()
    found = jm.natural_frequencies_batch(arm, {ADDRESSES[5]: [THETA[5], 0.1]}, 2)
    np.testing.assert_allclose(found.omega[0], jm.natural_frequencies(arm, 2).omega, rtol=1e-12)


def test_sweeps_and_posture_sets_refuse_them():
    arm, angles = origins(), [0.1, 0.2]
    for axes in (
        [sweeps.axis("theta_2", angles)],
        [sweeps.axis("theta_2", angles, name="shoulder")],
        [sweeps.zipped(sweeps.axis("theta_2", angles), name="both")],
    ):
        with pytest.raises(sweeps.SweepError, match="'theta_2': joints of this arm share a place"):
            sweeps.Sweep(arm, axes, num_modes=2)
    with pytest.raises(sweeps.SweepError, match="sensitivity_to: 'theta_2': joints"):
        sweeps.Sweep(
            arm,
            [sweeps.axis("link2.joint_angle", angles)],
            num_modes=2,
            outputs=["sensitivity"],
            sensitivity_to=["theta_2"],
        )
    assert sweeps.Sweep(arm, [sweeps.axis("link1.joint_frame1.angle", angles)], num_modes=2).shape
    variables = [do.Variable("link2.section.outer_diameter", 0.09, 0.12)]
    with pytest.raises(do.ProblemError, match="postures: 'work': joints of this arm share a place"):
        do.Problem(
            arm,
            variables,
            do.MaximiseFrequency(1, postures="work"),
            [],
            postures={"work": [[0.1, 0.2]]},
        )


def test_a_grid_in_a_file_of_optimisation_is_refused(tmp_path):
    path = wrist_file(tmp_path)
    problem = {
        "arm": path,
        "variables": [{"parameter": "link2.section.outer_diameter", "lower": 0.09, "upper": 0.12}],
        "objective": {"maximise": "frequency", "mode": 1, "postures": "work"},
        "postures": {"work": {"grid_deg": {"theta_6": [-90, 90, 3]}}},
    }
    words = "postures: 'work': joints of this arm share a place.*link5.joint_frame1.angle"
    with pytest.raises(do.ProblemError, match=words):
        problem_from_dict(problem)


@pytest.mark.parametrize("given", ["10,20,30,40", "10,20,30,40,50", "10,20,30,40,50,60"])
@pytest.mark.parametrize(
    "command", [("frequencies",), ("modes",), ("sensitivities",)], ids=lambda c: c[0]
)
def test_commands_refuse_them(tmp_path, command, given):
    run = CliRunner().invoke(main, [*command, wrist_file(tmp_path), "--posture-deg", given])
    assert (run.exit_code, run.stdout) == (2, "")
    words = " ".join(run.stderr.split())
    assert words.startswith(f"Error: --posture-deg {given}: joints of this arm share a place")
    assert ADDRESSES[5] in words


def test_commands_show_the_angles_of_all_joints(tmp_path):
    path = wrist_file(tmp_path)
    shown = CliRunner().invoke(main, ["frequencies", path, "--modes", "1"])
    assert shown.exit_code == 0, shown.output
    texts = [f"{angle:.6g}°" for angle in np.degrees(THETA[1:])]
    assert f"posture {', '.join(texts)}" in " ".join(shown.stdout.split())
    plain = CliRunner().invoke(main, ["frequencies", path, "--modes", "1", "--format", "json"])
    angles = json.loads(plain.stdout)[0]["joint_angles_deg"]
    np.testing.assert_allclose(angles, np.degrees(THETA), rtol=1e-14)
