"""Commands and arms in space: frequencies are given, and what is of planar arms alone says so."""

import dataclasses
import functools
import json
import math

import numpy as np
import pytest
import pyuff
from PIL import Image

import jaxmodal as jm
from tests.spatial.cases import bent_arm
from tests.support.commands import run_command


@pytest.fixture
def arm_file(tmp_path):
    path = tmp_path / "arm.toml"
    jm.write_arm(bent_arm(), path)
    return str(path)


def test_frequencies_in_a_posture(arm_file):
    arguments = ["frequencies", arm_file, "--modes", "3", "--posture-deg", "30,-40"]
    result = run_command(*arguments, "--format", "json")
    assert result.exit_code == 0, result.output
    (found,) = json.loads(result.output)
    posed = bent_arm().with_posture([math.radians(30.0), math.radians(-40.0)])
    expected = np.asarray(jm.natural_frequencies(posed, 3).frequencies_hz)
    np.testing.assert_allclose(found["frequencies_hz"], expected, rtol=1e-15)
    assert found["certified"] == [True] * 3
    assert found["name"] == "bent"


def test_a_posture_of_another_number_of_joints(arm_file):
    result = run_command("frequencies", arm_file, "--posture-deg", "30")
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
        result = run_command(*arguments)
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
    result = run_command(*arguments, *drawn)
    assert result.exit_code == 0, result.output
    assert "twist %" in result.output
    assert picture.stat().st_size > 1000
    assert gif.read_bytes()[:3] == b"GIF"
    shapes = jm.mode_shapes(bent_arm(), 2, stations=2)
    result = run_command(*arguments, "--format", "json")
    (found,) = json.loads(result.output)
    np.testing.assert_allclose(found["phi_x"], np.asarray(shapes.motion)[..., 3], rtol=1e-12)
    np.testing.assert_allclose(found["rotation"], np.asarray(shapes.rotation), rtol=1e-12)
    result = run_command(*arguments, "--format", "csv")
    head, *rows = result.output.splitlines()
    assert head.startswith("theory,mode,frequency_hz,link,station,x,y,z,dx,dy,dz,u,v,w,phi_x")
    assert len(rows) == 2 * 3 * 2


def test_sensitivities_of_some_addresses(arm_file, tmp_path):
    names, picture = ["link2.joint_axis.x", "payload.inertia.xx"], tmp_path / "bars.png"
    chosen = [part for name in names for part in ("--address", name)]
    arguments = ["sensitivities", arm_file, "--modes", "2", *chosen]
    result = run_command(*arguments, "--format", "json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.output)
    table = jm.sensitivities(bent_arm(), 2, addresses=names)
    np.testing.assert_allclose(found["derivative_hz"], np.asarray(table.derivative_hz), rtol=1e-12)
    result = run_command(*arguments, "--plot", picture)
    assert "link2.joint_axis.x" in result.output
    assert picture.stat().st_size > 1000


def test_a_response_between_ports(arm_file, tmp_path):
    """Six frequencies, damped, with a picture and a universal file of three axes."""
    picture, exchanged = tmp_path / "bode.png", tmp_path / "response.uff"
    ports = ["--input", "tip.force_z", "--output", "tip.z", "--output", "tip.rx"]
    band = ["--band-hz", "1,90", "--points", "6", "--loss-factor", "0.02"]
    files = ["--plot", str(picture), "--uff", str(exchanged)]
    result = run_command("response", arm_file, *ports, *band, *files, "--format", "json")
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
    wanted = ["--sensitivities", "--address", "link2.joint_axis.x", "--format", "json"]
    result = run_command("response", arm_file, *ports, *band, *wanted)
    assert result.exit_code == 0, result.output
    assert "link2.joint_axis.x" in result.stdout


MOVING = """
dimensions = 3

[[links]]
length = 0.4
rigid = true
hub = { mass = 0.5, inertia = [0.01, 0.01, 0.01] }
joint = { axis = [0, 0, 1], frame = [{ axis = [0, 1, 0], angle = -1.5707963267948966 }] }

[[links]]
length = 0.5
youngs_modulus = 7e10
density = 2700.0
poisson_ratio = 0.33
section = { shape = "rectangle", depth = 0.02, width = 0.004 }
joint = { axis = [0, 1, 0], angle = 1.2, rotor_inertia = 1e-5, gear_ratio = 50, motor = "held" }

[payload]
mass = 0.3

[dynamics]
modes = { bending_xy = 1, bending_xz = 1 }
gravity = [0, 0, -9.81]
until = 0.2
every = 0.02
method = "rk4"
step = 1e-3
second_order = false

[dynamics.motors]
kind = "pd"
target_deg = [60.0, 30.0]
duration = 0.2
proportional = [60.0, 60.0]
derivative = [3.0, 3.0]
"""


@pytest.mark.slow
def test_a_motion_with_its_pictures(tmp_path):
    """Three axes in the file, in the summary and in the animation; the tip is where the angles have it, and the sag."""
    file = tmp_path / "moving.toml"
    file.write_text(MOVING)
    out, plot, animation = (tmp_path / name for name in ("m.csv", "m.png", "m.gif"))
    options = ["--out", str(out), "--plot", str(plot), "--animate", str(animation)]
    result = run_command("simulate", file, *options)
    assert result.exit_code == 0, result.output
    lines = dict(line.split("  ", 1) for line in result.stdout.splitlines() if "  " in line)
    assert len(lines["tip at the end"].split(",")) == 3
    names, *rows = (line.split(",") for line in out.read_text().splitlines())
    last = dict(zip(names, map(float, rows[-1]), strict=True))
    turn, lean = last["joint_angle_1 [rad]"], last["joint_angle_2 [rad]"]
    rigid = 0.5 * np.sin(lean) * np.array([np.cos(turn), np.sin(turn), 0.0])
    rigid[2] = 0.4 + 0.5 * np.cos(lean)
    tip = [last[f"tip_position_{axis} [m]"] for axis in "xyz"]
    deflection = last["end_deflection_2 [m]"]
    # what the link gets shorter by is of second order
    assert abs(np.linalg.norm(tip - rigid) - deflection) < 2.0 * deflection**2
    assert abs(last["imbalance [J]"]) < 1e-6
    with Image.open(animation) as film:
        assert film.n_frames == 11
    assert plot.stat().st_size > 10000


def test_a_table_of_the_plane_is_refused_in_space(tmp_path):
    file = tmp_path / "moving.toml"
    file.write_text(MOVING.replace("gravity = [0, 0, -9.81]", "gravity = [0, -9.81]"))
    result = run_command("simulate", file)
    assert result.exit_code == 2
    assert "dynamics.gravity = [0, -9.81]: must be three finite numbers in m/s^2" in result.output
