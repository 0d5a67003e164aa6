"""The command ``jaxmodal export``."""

import zipfile
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import jaxmodal as jm
from tests.exchange.cases import planar_arm
from tests.support.commands import run_command


@pytest.fixture
def arm_file(tmp_path):
    jm.write_arm(planar_arm(), tmp_path / "arm.toml")
    return str(tmp_path / "arm.toml")


def run(*arguments):
    return run_command("export", *arguments)


def test_mjcf_in_a_posture(arm_file, tmp_path):
    out = tmp_path / "out.xml"
    options = ("--pieces", "2,3", "--modes", 2, "--postures", 1, "--gravity", "0,-9.81,0")
    result = run(arm_file, "--to", "mjcf", "--out", out, *options, "--posture-deg", "10,-20")
    assert result.exit_code == 0, result.output
    assert "rigid pieces" in result.output
    root = ElementTree.parse(out).getroot()
    positions = [float(x) for x in root.find("keyframe/key").get("qpos").split()]
    np.testing.assert_allclose(positions[0], np.radians(10.0), rtol=1e-14, atol=0.0)
    assert root.find("option").get("gravity") == "0.0 -9.81 0.0"
    assert len(list(root.iter("body"))) == 1 + 3 + 4


def test_urdf_and_the_file_beside_it(arm_file, tmp_path):
    out = tmp_path / "out.urdf"
    result = run(arm_file, "--out", out, "--modes", 2, "--postures", 0, "--no-slides")
    assert result.exit_code == 0, result.output
    again = run_command("frequencies", tmp_path / "out.toml", "--modes", "2")
    assert again.exit_code == 0, again.output
    exists = run(arm_file, "--out", out)
    assert exists.exit_code == 2
    assert "exists already; give --force" in exists.output


def test_springs_beside_a_urdf_never_replace_the_arm(arm_file):
    place = Path(arm_file)
    before = place.read_text()
    result = run(arm_file, "--out", place.with_suffix(".urdf"), "--force")
    assert result.exit_code == 2
    assert f"springs go into {arm_file}, which is the ARM itself" in result.output
    assert place.read_text() == before


def test_fmu_begins_in_the_posture_of_the_arm(tmp_path):
    out = tmp_path / "out.fmu"
    result = run("example:two_link_flexible", "--out", out, "--no-build", "--link-modes", 1)
    assert result.exit_code == 0, result.output
    assert "torque1, torque2" in result.output
    with zipfile.ZipFile(out) as archive:
        described = ElementTree.fromstring(archive.read("modelDescription.xml"))
    starts = {v.get("name"): v.get("start") for v in described.iter("Float64")}
    angle = jm.examples.two_link_flexible().links[1].joint_angle
    assert float(starts["theta2"]) == float(angle)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--out", "arm.txt"), "give a file that ends in .xml or .urdf or .fmu"),
        (("--to", "mjcf", "--out", "arm.fmu"), "give a file that ends in .xml"),
        (("--out", "arm.fmu", "--pieces", "3"), "--pieces: belongs to mjcf and urdf, not to fmu"),
        (("--out", "arm.urdf", "--step", "1e-3"), "--step: belongs to fmu, not to urdf"),
        (("--out", "arm.xml", "--gravity", "0,1"), "gravity"),
        (("--out", "arm.xml", "--pieces", "1,2,3"), "one for each of the 2 links"),
        (("--out", "arm.xml", "--pieces", "\u0663"), "give a whole number, or one for each link"),
    ],
)
def test_what_is_refused(options, message, arm_file, tmp_path):
    placed = [str(tmp_path / o) if o.startswith("arm.") else o for o in options]
    result = run(arm_file, *placed)
    assert result.exit_code == 2
    assert message in result.output
    assert not [path for path in tmp_path.iterdir() if path.suffix != ".toml"]


def test_a_unit_of_an_arm_in_space_says_what_has_no_inertia(tmp_path):
    result = run("example:six_axis_industrial", "--out", tmp_path / "arm.fmu")
    assert result.exit_code == 2
    assert "motors 1, 2, 3, 4, 5, 6 must have inertia" in " ".join(result.output.split())
    assert not list(tmp_path.iterdir())


FLOATING = """
dimensions = 3
[[links]]
length = 0.5
rigid = true
joint_angle = 0.4
body = { mass = 4.0, inertia = [1.0, 1.0, 1.0] }
stator = { mass = 40.0, inertia = [4.0, 5.0, 6.0] }
[dynamics]
base = "free"
"""


def test_a_unit_of_an_arm_that_floats_begins_with_the_axes_of_the_ground(tmp_path):
    (tmp_path / "arm.toml").write_text(FLOATING)
    result = run(tmp_path / "arm.toml", "--out", tmp_path / "arm.fmu", "--no-build")
    assert result.exit_code == 0, result.output
    with zipfile.ZipFile(tmp_path / "arm.fmu") as archive:
        described = ElementTree.fromstring(archive.read("modelDescription.xml"))
    starts = {v.get("name"): v.get("start") for v in described.iter("Float64")}
    assert float(starts["theta1"]) == 0.4
    assert [float(starts[f"base.q{a}"]) for a in "wxyz"] == [1.0, 0.0, 0.0, 0.0]
