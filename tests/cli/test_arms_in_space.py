"""Commands and arms in space: frequencies are given, and what is of planar arms alone says so."""

import json
import math

import numpy as np
import pytest
from click.testing import CliRunner

import jaxmodal as jm
from jaxmodal.cli.commands import main
from tests.spatial.cases import bent_arm


@pytest.fixture
def arm_file(tmp_path):
    path = tmp_path / "arm.toml"
    jm.write_arm(bent_arm(), path)
    return str(path)


def test_frequencies_in_a_posture(arm_file):
    arguments = ["frequencies", arm_file, "--modes", "3", "--posture-deg", "30,-40"]
    result = CliRunner().invoke(main, [*arguments, "--format", "json"])
    assert result.exit_code == 0, result.output
    (found,) = json.loads(result.output)
    posed = bent_arm().with_posture([math.radians(30.0), math.radians(-40.0)])
    expected = np.asarray(jm.natural_frequencies(posed, 3).frequencies_hz)
    np.testing.assert_allclose(found["frequencies_hz"], expected, rtol=1e-15)
    assert found["certified"] == [True] * 3
    assert found["name"] == "bent"


def test_a_posture_of_another_number_of_joints(arm_file):
    result = CliRunner().invoke(main, ["frequencies", arm_file, "--posture-deg", "30"])
    assert result.exit_code == 2
    assert "takes 2 angles (theta_2 to theta_n) or 3" in result.output


@pytest.mark.parametrize(
    "command", [["modes"], ["sensitivities"], ["check"], ["postures", "--frequency", "1"]]
)
def test_commands_of_planar_arms_say_what_takes_arms_in_space(arm_file, command):
    name, *options = command
    result = CliRunner().invoke(main, [name, arm_file, *options])
    assert result.exit_code == 2
    assert "must be an Arm, which is planar" in result.output
    assert "jaxmodal frequencies" in result.output
