"""Problem files, the command ``jaxmodal optimise``, histories and pictures, end to end."""

import doctest
import importlib
import os
import pkgutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import design_opt
import jaxmodal as jm
from design_opt import ProblemError, optimise, problem_names, read_problem
from design_opt.output.plots import pictures
from tests.support.commands import run_command

PROBLEM = """\
name = "One tube"

[arm]
[[arm.links]]
length = 1.0
youngs_modulus = 7e10
density = 2700.0
poisson_ratio = 0.33
section = { shape = "hollow_circle", outer_diameter = 0.08, wall_thickness = 0.004, shear_coefficient = "cowper" }
[arm.payload]
mass = 3.0

[[variables]]
parameter = "link*.section.wall_thickness"
tied = false
lower = 0.001
upper = 0.02

[[variables]]
parameter = ["link1.section.outer_diameter"]
lower = 0.05
upper = 0.12

[objective]
minimise = "mass"

[[constraints]]
kind = "frequency"
mode = 1
at_least_hz = 20.0

[[constraints]]
kind = "wall"
depth_over_wall = 40.0
"""
PACKAGE = Path(design_opt.__file__).parent
MODULES = [
    "design_opt",
    *sorted(module.name for module in pkgutil.walk_packages(design_opt.__path__, "design_opt.")),
]


def invoke(*arguments):
    return run_command("optimise", *arguments)


@pytest.fixture
def problem_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = Path("tube.toml")
    path.write_text(PROBLEM)
    return path


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


@pytest.mark.parametrize("name", problem_names())
def test_built_in_problems_are_read(name):
    problem, options = read_problem(f"example:{name}")
    assert problem.name
    assert problem.space.size >= 2
    assert options.method == "slsqp"


def test_the_command_writes_the_arm_the_history_and_pictures(problem_file):
    result = invoke(problem_file)
    assert result.exit_code == 0, result.output
    for words in ("converged", "depth/wall <= 40", "active: f1 >= 20 Hz", "2 of 2 certified"):
        assert words in result.stdout
    assert sorted(path.name for path in Path().iterdir()) == [
        "tube.nc",
        "tube.toml",
        "tube_arm.toml",
        "tube_history.png",
        "tube_sections.png",
    ]
    assert problem_file.read_text() == PROBLEM
    arm = jm.read_arm("tube_arm.toml")
    assert float(jm.natural_frequencies(arm, 1).frequencies_hz[0]) == pytest.approx(20.0, rel=1e-6)
    ds = xr.open_dataset("tube.nc")
    assert ds.attrs["status"] == "converged"
    assert ds.value.dims == ("step", "variable")
    last = ds.isel(step=-1)
    assert float(last.kkt_residual) < 1e-6
    assert float(last.objective_value[0]) == pytest.approx(float(arm.total_mass), rel=1e-6)
    assert float(last.lowest_frequency.sel(postures="own", mode=1)) == pytest.approx(20.0, rel=1e-6)
    assert list(ds.unit.values) == ["m", "m"]


def test_an_interrupted_command_goes_on(problem_file):
    first = invoke(problem_file, "--max-iterations", 2, "--no-plot")
    assert first.exit_code == 1, first.output
    assert "iteration_limit" in first.stdout
    assert Path("tube.checkpoint.json").exists()
    second = invoke(problem_file, "--no-plot")
    assert second.exit_code == 0, second.output
    assert "goes on from" in second.stderr
    assert not Path("tube.checkpoint.json").exists()


@pytest.mark.slow
def test_ctrl_c_keeps_the_best_feasible_design(tmp_path):
    """SIGINT in the middle of the search: exit 130, the best design on disk, and the same command goes on."""
    command = [sys.executable, "-m", "jaxmodal", "optimise", "example:two_link_front", "--no-plot"]
    environment = os.environ | {"PYTHONPATH": str(PACKAGE.parent)}
    options = {"cwd": tmp_path, "env": environment, "text": True, "stderr": subprocess.PIPE}
    # children of a shell's background job ignore SIGINT unless, as here, their parent heeds it
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        process = subprocess.Popen([*command, "--starts", "500"], stdout=subprocess.PIPE, **options)
    finally:
        signal.signal(signal.SIGINT, before)
    checkpoint = tmp_path / "two_link_front.checkpoint.json"
    while not checkpoint.exists() and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 130, err
    assert "the search is kept in two_link_front.checkpoint.json" in " ".join((out + err).split())
    assert "Traceback" not in err
    kept = jm.read_arm(tmp_path / "two_link_front_arm.toml")
    today = jm.examples.two_link_flexible()
    assert float(kept.total_mass) <= float(today.total_mass) * (1.0 + 1e-6)
    assert checkpoint.exists()
    again = subprocess.run(command, stdout=subprocess.PIPE, check=False, **options)
    assert again.returncode == 0, again.stderr
    assert "goes on from" in again.stderr
    assert "converged" in again.stdout
    assert not checkpoint.exists()


BAD_FILES = {
    "not TOML": (PROBLEM.replace('name = "One tube"', "name = "), ["tube.toml", "TOML"]),
    "unknown key": (PROBLEM + '\n[solvr]\nmethod = "slsqp"\n', ["solvr", "solver"]),
    "no objective": (PROBLEM.replace("[objective]\nminimise", "[solver]\nmethod"), ["objective"]),
    "unknown objective": (PROBLEM.replace('"mass"', '"mas"'), ["minimise mas", "minimise mass"]),
    "unknown constraint": (PROBLEM.replace('"wall"', '"walls"'), ["walls", "wall"]),
    "unknown option of a constraint": (
        PROBLEM.replace("depth_over_wall", "depth_over_wal"),
        ["depth_over_wal", "depth_over_wall", "constraints[2]"],
    ),
    "contradictory bounds": (
        PROBLEM.replace("upper = 0.02", "upper = 0.0001"),
        ["variables[1]", "lower", "upper"],
    ),
    "unknown address": (PROBLEM.replace('outer_diameter"]', 'diameter"]'), ["diameter"]),
    "unknown method": (PROBLEM + '\n[solver]\nmethod = "mma"\n', ["mma", "slsqp"]),
    "grid without numbers": (
        PROBLEM + "\n[postures.work]\ngrid_deg = { theta_3 = [0, 1, 2] }\n",
        ["theta_3"],
    ),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files_are_refused_with_one_message(name, problem_file):
    text, words = BAD_FILES[name]
    problem_file.write_text(text)
    result = invoke(problem_file)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    for word in words:
        assert word in result.stderr


def test_arguments_of_the_command():
    assert "three_link_stiffest" in invoke("--list").stdout
    assert 'maximise = "frequency"' in invoke("--show", "three_link_stiffest").stdout
    assert invoke().exit_code == 2
    wrong = invoke("example:three_link_stifest")
    assert wrong.exit_code == 2
    assert "three_link_stiffest" in wrong.stderr
    assert "cannot be read" in invoke("nowhere.toml").stderr
    assert run_command("optimize", "--list").stdout == invoke("--list").stdout


def test_pictures_show_what_the_result_holds():
    arm = jm.examples.two_link_flexible()
    problem = design_opt.Problem(
        arm,
        design_opt.per_link(arm, "link*.section.depth", 0.0003, 0.002),
        design_opt.MaximiseFrequency(1, "fold"),
        [design_opt.MassLimit(at_most="today")],
        postures={"fold": design_opt.workspace((0, 180, 10))},
    )
    result = optimise(problem)
    assert result.status == jm.Status.converged
    drawn = pictures(result)
    assert sorted(drawn) == ["history", "postures", "sections"]
    after = next(line for line in drawn["postures"].axes[0].lines if line.get_label() == "f1 after")
    assert np.asarray(after.get_ydata()) == pytest.approx(result.report.hz["fold"][:, 0])
    marked = next(line for line in drawn["postures"].axes[0].lines if line.get_marker() == "o")
    assert marked.get_label() == f"least {result.report.hz['fold'][:, 0].min():.4g} Hz"
    residual = drawn["history"].axes[1].lines[0]
    assert len(residual.get_ydata()) == len(result.steps)
    assert len(drawn["sections"].axes) == 2


@pytest.mark.parametrize(
    ("objective", "word"),
    [
        (design_opt.MaximiseFrequency(1, "work"), "least"),
        (
            design_opt.MinimiseResponse(input="tip.x", output="tip.y", at_hz=1.0, postures="work"),
            "largest",
        ),
    ],
)
def test_maps_over_postures_have_contours_and_the_worst_value_with_its_unit(objective, word):
    """Where small values are good, the worst is the largest; the least was marked."""
    arm = jm.examples.three_link_industrial()
    problem = design_opt.Problem(
        arm,
        design_opt.per_link(arm, "link*.section.depth", 0.1, 0.2),
        objective,
        [design_opt.MassLimit(at_most="today")],
        postures={"work": design_opt.workspace((10, 150, 4), (20, 140, 5))},
    )
    result = optimise(problem, max_iterations=1)
    figure = pictures(result)["postures"]
    before = figure.axes[0]
    mesh, contour = before.collections
    drawn = np.asarray(mesh.get_array())
    assert drawn.shape == (5, 4)
    worst = drawn.min() if word == "least" else drawn.max()
    unit = "Hz" if word == "least" else "m/N"
    assert before.get_title() == f"before: {word} {worst:.4g} {unit}"
    assert contour.get_paths()
    assert any(text.get_text().endswith(unit) for text in before.texts)
    row, column = np.argwhere(drawn == worst)[0]
    angles = np.linspace(10, 150, 4)[column], np.linspace(20, 140, 5)[row]
    (mark,) = before.lines
    assert mark.get_xydata()[0] == pytest.approx(angles)
    assert (before.get_xlabel(), before.get_ylabel()) == ("θ₂ [°]", "θ₃ [°]")


def test_unknown_built_in_problem_is_refused():
    with pytest.raises(ProblemError, match="three_link_gap"):
        read_problem("example:three_link_gape")
