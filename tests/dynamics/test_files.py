"""Does `[dynamics]` of an arm file, and the command that moves it, do what the Python calls do, and refuse the rest?"""

import copy
import importlib.util
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.dynamics import JointPD, RestToRest, flexible_arm, simulate
from jaxmodal.dynamics.files import read_simulation
from tests.support.commands import run_command

TEXT = """
[[links]]
length = 0.5
youngs_modulus = 7e10
density = 2700.0
hub_inertia = 0.01
section = { shape = "rectangle", depth = 0.003, width = 0.04 }

[dynamics]
modes = 1
until = 0.1
every = 0.05
method = "rk4"
step = 5e-4
gravity = [0.0, -9.81]
start_deg = [-90.0]

[dynamics.motors]
kind = "pd"
target_deg = [-80.0]
duration = 0.1
proportional = 5.0
derivative = 0.5
"""


def test_the_file_and_the_calls_are_the_same_simulation(tmp_path):
    path = tmp_path / "arm.toml"
    path.write_text(TEXT)
    found = read_simulation(path).run()
    model = flexible_arm(jm.read_arm(path), 1, gravity=(0.0, -9.81))
    start = np.radians([-90.0])
    law = JointPD(RestToRest(start, np.radians([-80.0]), 0.1), np.array([5.0]), np.array([0.5]))
    expected = simulate(model, [0.0, 0.05, 0.1], [*start, 0.0], torque=law, method="rk4", step=5e-4)
    np.testing.assert_array_equal(found["tip_position"], expected["tip_position"])

    out = tmp_path / "motion.csv"
    arguments = ["simulate", str(path), "--out", str(out)]
    result = run_command(*arguments)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("status finished, 0.1 s in 200 steps of rk4")
    header, *rows = out.read_text().splitlines()
    columns = dict(
        zip(header.split(","), np.array([row.split(",") for row in rows], float).T, strict=True)
    )
    np.testing.assert_array_equal(columns["tip_position_y [m]"], expected["tip_position"][:, 1])
    again = run_command(*arguments)
    assert again.exit_code == 2
    assert "--force" in again.stderr


@pytest.mark.parametrize("suffix", [".csv", ".nc"])
def test_a_file_is_written_whole_or_not_at_all(suffix, tmp_path, monkeypatch):
    """The disk is full halfway: what stood there stands, and no piece of the new file lies beside it."""
    arm, out = tmp_path / "arm.toml", tmp_path / f"motion{suffix}"
    arm.write_text(TEXT)
    out.write_text("mine")

    def full(_, path):
        path.write_text("half")
        raise OSError(28, "No space left on device")

    writers = {".csv": "_csv", ".nc": "_netcdf"}
    with monkeypatch.context() as patched:
        patched.setattr(sys.modules["jaxmodal.cli.simulate"], writers[suffix], full)
        arguments = ["simulate", str(arm), "--out", str(out), "--force"]
        result = run_command(*arguments)
    assert result.exit_code == 2
    assert "cannot be written (No space left on device)" in result.stderr
    assert out.read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["arm.toml", f"motion{suffix}"]
    assert run_command(*arguments).exit_code == 0
    assert out.stat().st_size > 500
    assert sorted(path.name for path in tmp_path.iterdir()) == ["arm.toml", f"motion{suffix}"]


def test_scipy_is_missed_before_the_work(tmp_path, monkeypatch):
    find = importlib.util.find_spec
    without = lambda name, *more: None if name == "scipy" else find(name, *more)  # noqa: E731
    monkeypatch.setattr(importlib.util, "find_spec", without)
    result = run_command("simulate", "none.toml", "--out", tmp_path / "a.nc")
    assert result.exit_code == 2
    assert "NetCDF needs SciPy, which is not installed" in result.stderr


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        ("dynamics.until", None, ["dynamics.until is missing"]),
        ("dynamics.until", -1.0, ["dynamics.until = -1.0", "greater than 0"]),
        ("dynamics.every", 0.03, ["every = 0.03", "divide until"]),
        ("dynamics.until", 1e308, ["every = 0.05: makes", "must be at most 1,000,000"]),
        ("dynamics.every", 1e-308, ["every = 1e-308: makes", "must be at most 1,000,000"]),
        ("dynamics.every", 5e-324, ["every = 5e-324: makes inf times"]),
        ("dynamics.until", 1e9, ["makes 20,000,000,001 times"]),
        ("dynamics.step", 1e-12, ["step = 1e-12: makes", "at most 10,000,000"]),
        ("dynamics.max_steps", 0.5, ["max_steps = 0.5", "whole number"]),
        ("dynamics.modes", 2.0, ["dynamics.modes = 2.0", "whole numbers"]),
        ("dynamics.shapes", 3, ["dynamics.shapes = 3"]),
        ("dynamics.gravity", ["a", "b"], ["dynamics.gravity = ['a', 'b']"]),
        (
            "dynamics.motors",
            {"kind": "sampled", "times": "x", "torques": [[1.0]]},
            ["motors.times = 'x'"],
        ),
        ("dynamics.mods", 2, ["dynamics.mods = 2", "Did you mean 'modes'"]),
        ("dynamics.method", "rk5", ["method = 'rk5'", "Did you mean"]),
        ("dynamics.start_deg", [0.0, 1.0], ["start_deg", "list of 1 angles"]),
        ("dynamics.motors.kind", "pid", ["dynamics.motors.kind = 'pid'", "'locked'"]),
        ("dynamics.motors.proportional", None, ["dynamics.motors.proportional is missing"]),
        ("dynamics.motors.proportional", [1.0, 2.0], ["one number or 1"]),
        ("dynamics.motors.feed_forward", 1, ["feed_forward = 1", "true or false"]),
        ("dynamics", 3, ["dynamics = 3: must be a table"]),
        ("dynamics", None, ["dynamics is missing", "until"]),
    ],
)
def test_files_that_cannot_be_moved(place, value, words, tmp_path):
    import json

    document = copy.deepcopy(tomllib.loads(TEXT))
    *parents, last = place.split(".")
    keys = document
    for parent in parents:
        keys = keys[parent]
    if value is None:
        del keys[last]
    else:
        keys[last] = value
    path = tmp_path / "arm.json"
    path.write_text(json.dumps(document))
    result = run_command("simulate", path)
    assert result.exit_code == 2
    for word in words:
        assert word in result.stderr
    assert result.stdout == ""


def test_a_file_may_name_a_robot(tmp_path):
    """Seen from its folder; the arm is the one that all commands read, moved as its table says."""
    robot = Path(__file__).parents[1] / "data" / "small_arm.urdf"
    (tmp_path / "small.urdf").write_text(robot.read_text())
    path = tmp_path / "robot.toml"
    path.write_text(
        'urdf = "small.urdf"\njoint_stiffness = { "*" = 2e4 }\n'
        "[dynamics]\nuntil = 0.1\ngravity = [0.0, 0.0, -9.81]\n"
    )
    found, arm = read_simulation(path), jm.read_arm(path)
    assert found.arm == arm == jm.read_urdf(tmp_path / "small.urdf", joint_stiffness={"*": 2e4})
    assert found.model.num_links == arm.num_links
    assert found.model.gravity[2] == -9.81
    path.write_text('urdf = "small.urdf"\njoint_stiffness = { "*" = 2e4 }\n')
    with pytest.raises(jm.ArmError, match=r"robot\.toml: dynamics is missing"):
        read_simulation(path)
