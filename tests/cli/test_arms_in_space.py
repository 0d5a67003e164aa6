"""Commands and arms in space: frequencies are given, and what is of planar arms alone says so."""

import dataclasses
import functools
import json
import math

import numpy as np
import pytest
import pyuff
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


def test_the_only_angle_of_an_arm_is_idle_unless_something_holds_the_arm_elsewhere(tmp_path):
    """On an elastic base or with a support to the ground it counts, and the message does not deny it."""
    tube = jm.Link(0.5, 7e10, 2700.0, jm.circle(0.02, shear_coefficient=0.9), poisson_ratio=0.3)
    clamped = jm.to_spatial(jm.Arm((tube,)))
    arms = {
        "clamped": (clamped, True),
        "elastic": (
            dataclasses.replace(clamped, base_stiffness=[1e6, 1e5, 1e5, 1e4, 1e3, 1e3]),
            False,
        ),
        "planar": (jm.Arm((tube,)), True),
        "supported": (jm.Arm((tube.replace(support_x_stiffness=1e4),)), False),
    }
    for name, (arm, idle) in arms.items():
        jm.write_arm(arm, tmp_path / f"{name}.toml")
        arguments = ["frequencies", str(tmp_path / f"{name}.toml"), "--posture-deg", "1,2"]
        result = CliRunner().invoke(main, arguments)
        assert result.exit_code == 2
        assert "has 1 link and takes 1 angle" in result.output
        assert ("changes no frequency" in result.output) == idle, name
        turned = arm.with_posture([1.0])
        first, second = (float(jm.natural_frequencies(x, 1).omega[0]) for x in (arm, turned))
        assert np.isclose(first, second, rtol=1e-9) == idle, name


def test_modes_as_table_json_and_csv(arm_file, tmp_path, monkeypatch):
    from jaxmodal.plots import modes

    monkeypatch.setattr(modes, "animate_mode", functools.partial(modes.animate_mode, frames=2))
    picture, gif = tmp_path / "modes.png", tmp_path / "mode.gif"
    arguments = ["modes", arm_file, "--modes", "2", "--stations", "2"]
    drawn = ["--plot", str(picture), "--animate", str(gif)]
    result = CliRunner().invoke(main, [*arguments, *drawn])
    assert result.exit_code == 0, result.output
    assert "twist %" in result.output
    assert picture.stat().st_size > 1000
    assert gif.read_bytes()[:3] == b"GIF"
    shapes = jm.mode_shapes(bent_arm(), 2, stations=2)
    result = CliRunner().invoke(main, [*arguments, "--format", "json"])
    (found,) = json.loads(result.output)
    np.testing.assert_allclose(found["phi_x"], np.asarray(shapes.motion)[..., 3], rtol=1e-12)
    np.testing.assert_allclose(found["rotation"], np.asarray(shapes.rotation), rtol=1e-12)
    result = CliRunner().invoke(main, [*arguments, "--format", "csv"])
    head, *rows = result.output.splitlines()
    assert head.startswith("theory,mode,frequency_hz,link,station,x,y,z,dx,dy,dz,u,v,w,phi_x")
    assert len(rows) == 2 * 3 * 2


def test_sensitivities_of_some_addresses(arm_file, tmp_path):
    names, picture = ["link2.joint_axis.x", "payload.inertia.xx"], tmp_path / "bars.png"
    chosen = [part for name in names for part in ("--address", name)]
    arguments = ["sensitivities", arm_file, "--modes", "2", *chosen]
    result = CliRunner().invoke(main, [*arguments, "--format", "json"])
    assert result.exit_code == 0, result.output
    found = json.loads(result.output)
    table = jm.sensitivities(bent_arm(), 2, addresses=names)
    np.testing.assert_allclose(found["derivative_hz"], np.asarray(table.derivative_hz), rtol=1e-12)
    result = CliRunner().invoke(main, [*arguments, "--plot", str(picture)])
    assert "link2.joint_axis.x" in result.output
    assert picture.stat().st_size > 1000


def test_commands_of_planar_arms_say_what_takes_arms_in_space(arm_file):
    result = CliRunner().invoke(main, ["postures", arm_file, "--frequency", "1"])
    assert result.exit_code == 2
    assert "is an arm in space, and `jaxmodal postures` takes planar arms alone" in result.output
    assert (
        "check, convert, frequencies, modes, response, sensitivities, statics, buckling, worst, simulate, sweep and "
        "optimise take" in result.output
    )


def test_a_response_between_ports(arm_file, tmp_path):
    """Six frequencies, damped, with a picture and a universal file of three axes."""
    picture, exchanged = tmp_path / "bode.png", tmp_path / "response.uff"
    ports = ["--input", "tip.force_z", "--output", "tip.z", "--output", "tip.rx"]
    band = ["--from-hz", "1", "--to-hz", "90", "--points", "6", "--loss-factor", "0.02"]
    files = ["--plot", str(picture), "--uff", str(exchanged)]
    result = CliRunner().invoke(
        main, ["response", arm_file, *ports, *band, *files, "--format", "json"]
    )
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    arm = bent_arm()
    arm = arm.replace(links=tuple(link.replace(loss_factor=0.02) for link in arm.links))
    omega = 2 * np.pi * np.geomspace(1.0, 90.0, 6)
    expected = jm.frequency_response(arm, omega, "tip.force_z", ["tip.z", "tip.rx"]).values[:, 0]
    values = [np.array(x["real"]) + 1j * np.array(x["imag"]) for x in found["responses"]]
    np.testing.assert_allclose(values, expected, rtol=1e-13, atol=0.0)
    assert picture.stat().st_size > 1000
    sets = pyuff.UFF(str(exchanged)).read_sets()
    assert [(x["rsp_dir"], x["ref_dir"]) for x in sets] == [(3, 3), (4, 3)]
    result = CliRunner().invoke(main, ["response", arm_file, *ports, "--sensitivities"])
    assert result.exit_code == 2
    assert "--sensitivities: " in result.output
    assert "arm in space" in result.output
