"""Does `jaxmodal equations` write what the Python calls write, and refuse the rest?"""

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.cli.equations import _FORMATS
from jaxmodal.dynamics import flexible_arm
from jaxmodal.symbolic import FORMS, write, written_equations
from tests.support.commands import run_command

EXAMPLE = "example:three_link_industrial"
TEXT = """
[[links]]
length = 0.5
youngs_modulus = 7e10
density = 2700.0
hub_inertia = 0.01
section = { shape = "rectangle", depth = 0.003, width = 0.04 }

[dynamics]
modes = 3
until = 0.1
gravity = [0.0, -9.81]
frames = "linear"
"""
IN_SPACE = """
dimensions = 3

[[links]]
length = 0.5
youngs_modulus = 7e10
density = 2700.0
poisson_ratio = 0.33
section = { shape = "rectangle", depth = 0.01, width = 0.05 }

[dynamics]
modes = { bending_xy = 1, torsion = 1 }
gravity = [0.0, 1.0, -9.81]
"""


def run(*arguments):
    return run_command("equations", *arguments)


def test_the_formats_are_those_of_the_library():
    assert dict(FORMS) == _FORMATS


def test_files_are_those_of_the_calls(tmp_path):
    out = tmp_path / "model.c"
    options = (
        "--links",
        2,
        "--link-modes",
        "2,1",
        "--inertia-order",
        "first",
        "--frames",
        "linear",
    )
    options = (*options, "--no-foreshortening", "--gravity", "0,-9.81", "--quantities", "h,B")
    result = run(EXAMPLE, *options, "--to", "c", "--out", out)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("wrote model.c, model.h, model_test.c: 5 coordinates, ")
    arm = jm.examples.three_link_industrial()
    arm = arm.replace(links=arm.links[:2])
    chosen = {"inertia_order": "first", "frames": "linear", "foreshortening": False}
    model = flexible_arm(arm, (2, 1), gravity=(0.0, -9.81), **chosen)
    texts = write(written_equations(model, ["B", "h"]), "c", "model")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == texts
    again = run(EXAMPLE, *options, "--to", "c", "--out", out)
    assert again.exit_code == 2
    assert "--force" in again.stderr
    assert run(EXAMPLE, *options, "--to", "c", "--out", out, "--force").exit_code == 0


def test_the_table_of_the_file_is_heard_and_options_stand_above_it(tmp_path):
    path = tmp_path / "arm.toml"
    path.write_text(TEXT)
    arm = jm.read_arm(path)
    model = flexible_arm(arm, 3, gravity=(0.0, -9.81), frames="linear")
    assert run(path).stdout == write(written_equations(model), "numpy", "model")["model.py"]
    model = flexible_arm(arm, 1, gravity=(0.0, -9.81))
    path.write_text(TEXT + "slope_limit = 0.1\njoint_limits_deg = [[-90, 90]]\n")  # of a simulation
    result = run(path, "--link-modes", 1, "--frames", "rotation", "--to", "jax")
    assert result.stdout == write(written_equations(model), "jax", "model")["model.py"]


@pytest.mark.parametrize(("name", "form"), [("model.tex", "latex"), ("model.m", "matlab")])
def test_the_language_follows_from_the_suffix(name, form, tmp_path):
    out = tmp_path / name
    result = run(EXAMPLE, "--links", 1, "--link-modes", 1, "--quantities", "K", "--out", out)
    assert result.exit_code == 0, result.output
    arm = jm.examples.three_link_industrial()
    model = flexible_arm(arm.replace(links=arm.links[:1]), 1)
    assert out.read_text() == write(written_equations(model, ["K"]), form, "model")[name]


def test_an_arm_in_space_is_written_as_its_file_says(tmp_path):
    path = tmp_path / "arm.toml"
    path.write_text(IN_SPACE)
    modes = {"bending_xy": 1, "torsion": 1}
    model = flexible_arm(jm.read_arm(path), modes, gravity=(0.0, 1.0, -9.81))
    expected = write(written_equations(model, ["B", "h"]), "numpy", "model")["model.py"]
    assert run(path, "--quantities", "B,h").stdout == expected
    result = run(path, "--gravity", "0,-9.81")
    assert result.exit_code == 2
    assert "three" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((EXAMPLE, "--links", 7), "--links 7: example:three_link_industrial has 3"),
        ((EXAMPLE, "--link-modes", "2,x"), "'2,x': give a whole number"),
        ((EXAMPLE, "--link-modes", "2,1"), "--link-modes 2,1: must be"),
        ((EXAMPLE, "--link-modes", -1), "--link-modes -1: must be"),
        ((EXAMPLE, "--gravity", "9.81"), "'9.81': give two numbers in m/s^2"),
        ((EXAMPLE, "--gravity", "down"), "'down': give two numbers in m/s^2"),
        ((EXAMPLE, "--shapes", "sines"), "--shapes sines: must be"),
        ((EXAMPLE, "--quantities", "B,z"), "--quantities z: must be"),
        ((EXAMPLE, "--to", "c"), "give --out model.c"),
        ((EXAMPLE, "--to", "c", "--out", "none/model.c"), "no folder"),
        (
            (EXAMPLE, "--to", "c", "--out", "model.py"),
            "ends in .c; for this one give --to numpy or jax",
        ),
        ((EXAMPLE, "--to", "numpy", "--out", "model.c"), "ends in .py; for this one give --to c"),
        ((EXAMPLE, "--out", "model.txt"), "give a file that ends in .c or .py or .m or .tex"),
        (
            (EXAMPLE, "--to", "c", "--out", "my-model.c"),
            "--out my-model.c: the function has the name of the file: name",
        ),
        (
            (EXAMPLE, "--to", "c", "--out", "g.c"),
            "--out g.c: the function has the name of the file: name",
        ),
        (("none.toml",), "none.toml"),
    ],
    ids=lambda value: None if isinstance(value, tuple) else value,
)
def test_bad_input(arguments, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run(*arguments)
    assert result.exit_code == 2
    assert words in " ".join(result.stderr.split())
    assert result.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_what_is_written_runs(tmp_path):
    out = tmp_path / "arm_model.py"
    assert run(EXAMPLE, "--links", 1, "--out", out).exit_code == 0
    names = {}
    exec(out.read_text(), names)
    found = names["arm_model"](np.zeros(3), np.ones(3))
    assert found["B"].shape == (3, 3)
    assert np.all(np.linalg.eigvalsh(found["B"]) > 0.0)
