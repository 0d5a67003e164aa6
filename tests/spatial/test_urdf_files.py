"""Robots by files that name a URDF, and by commands."""

import numpy as np
import pytest

import jaxmodal as jm
import sweeps
from tests.spatial.test_urdf import ALUMINIUM, POSITIONS, SMALL, SPRINGS, TUBE
from tests.support.commands import run_command

PROPERTIES = """
tip = "gripper"
positions_deg = { pitch = -30 }
joint_stiffness_nm_per_arcmin = { "*" = 3 }
materials = { "*" = { youngs_modulus_gpa = 70, density = 2700, poisson_ratio = 0.33 } }
payload = { mass = 0.5 }
section_roll_deg = { boom = 30 }
rotors = { pitch = { inertia_kg_cm2 = 0.3, gear_ratio = 120, motor = "held" } }

[sections.boom]
shape = "hollow_circle"
outer_diameter_mm = 80
wall_thickness_mm = 3
shear_coefficient = "cowper"
"""


def expected_arm():
    return jm.read_urdf(
        SMALL,
        tip="gripper",
        positions={"pitch": np.radians(-30.0)},
        joint_stiffness={"*": 3.0 * (10800.0 / np.pi)},
        materials={"*": ALUMINIUM},
        sections={"boom": TUBE},
        payload=jm.RigidBody(0.5),
        section_roll={"boom": np.radians(30.0)},
        rotors={"pitch": {"inertia": 0.3 / 1e4, "gear_ratio": 120.0, "motor": "held"}},
    )


def test_a_file_that_names_a_urdf_is_an_arm_everywhere(tmp_path):
    (tmp_path / "small_arm.urdf").write_bytes(SMALL.read_bytes())
    file = tmp_path / "robot.toml"
    file.write_text('urdf = "small_arm.urdf"\n' + PROPERTIES)
    arm = jm.read_arm(file)
    assert arm == expected_arm()
    axes = [{"parameter": "theta_2", "values": [0.0]}]
    assert sweeps.sweep_from_dict({"arm": "robot.toml", "axes": axes}, folder=tmp_path).arm == arm
    for text, message in (
        ("tips = 'x'", "tips = 'x': is not a known key. Did you mean 'tip'"),
        ("tip = 3", "tip = 3: must be text"),
        ("joint_stiffness = 3", "joint_stiffness = 3: must be a table"),
        ("[sections.boom]\nshape = 'disc'", r"sections\..*disc"),
        ("[materials.x]\nmodulus = 3", r"materials\.x\.modulus = 3: is not a known key"),
        ("rotors = { yaw = 3 }", r"rotors\.yaw\.yaw = 3"),
        ("rotors = { yaw = { ratio = 3 } }", r"rotors\.yaw\.ratio = 3: is not a known key"),
        ("[joint_stiffness]\nelbow = 3", "fits no name"),
    ):
        file.write_text('urdf = "small_arm.urdf"\n' + text)
        with pytest.raises(jm.ArmError, match=message):
            jm.read_arm(file)


def run(*arguments):
    return run_command(*arguments, "--no-cache")


def test_convert_writes_the_arm_and_tells_of_the_file(tmp_path):
    table, out = tmp_path / "robot.toml", tmp_path / "arm.toml"
    table.write_text(PROPERTIES)
    result = run("convert", SMALL, "--properties", table, "--out", out)
    assert result.exit_code == 0, result.output
    assert jm.read_arm(out) == expected_arm()
    assert "fixed to 'boom': 'camera'" in result.stdout
    assert "wrote" in result.stderr
    assert run("convert", SMALL, "--out", out).exit_code == 2
    given = [x for name, k in SPRINGS.items() for x in ("--joint-stiffness", f"{name}={k}")]
    result = run("convert", SMALL, "--out", out, "--force", *given)
    assert jm.read_arm(out) == jm.read_urdf(SMALL, joint_stiffness=SPRINGS)
    for arguments, message in (
        (("--joint-stiffness", "yaw"), "is not the name of a joint and a number"),
        (("--joint-stiffness", "yow=3"), "Did you mean 'yaw'"),
        (("--joint-stiffness", "yaw=3", "--joint-stiffness", "yaw=4"), "yaw is given twice"),
        (("--tip", "griper"), "Did you mean 'gripper'"),
    ):
        result = run("convert", SMALL, "--out", tmp_path / "new.toml", *arguments)
        assert result.exit_code == 2
        assert message in result.stderr
        assert not (tmp_path / "new.toml").exists()
    result = run("convert", "example:six_axis_industrial", "--out", out, "--force")
    assert jm.read_arm(out) == jm.examples.six_axis_industrial()
    assert (
        run(
            "convert", "example:six_axis_industrial", "--out", out, "--force", "--tip", "x"
        ).exit_code
        == 2
    )


def test_commands_take_a_urdf(tmp_path):
    result = run("check", SMALL)
    assert result.exit_code == 0
    assert "total mass 26 kg" in result.stdout
    file = tmp_path / "robot.toml"
    file.write_text(
        f'urdf = "{SMALL}"\njoint_stiffness = {{ yaw = 2e4, pitch = 1.5e4, roll = 3e3, bend = 2e3 }}\n'
    )
    degrees = ",".join(f"{np.degrees(x):.15g}" for x in POSITIONS.values())
    result = run("frequencies", file, "--posture-deg", degrees, "--digits", "9")
    assert result.exit_code == 0  # four springs, four modes
    assert result.stdout.count("certified") == 4
    for text in ("16.0878598", "21.2052093", "48.419389", "79.5964111"):
        assert text in result.stdout
