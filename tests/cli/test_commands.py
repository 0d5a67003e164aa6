"""The command line, end to end: output, errors and exit statuses."""

import csv
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import jaxmodal
import jaxmodal.frequencies.one_arm
from jaxmodal import examples
from jaxmodal.cli.compiling import late_progress
from jaxmodal.cli.frequencies import certified_table
from jaxmodal.dynamic_stiffness.beams import THEORIES
from jaxmodal.runtime.statuses import Status
from tests.support.commands import assert_refused, run_command

ROOT = Path(__file__).parent.parent.parent

GOOD_ARM = """\
name = "one [steel] link"
[[links]]
length = 0.5
youngs_modulus = 2.1e11
poisson_ratio = 0.3
density = 7800.0
section = { shape = "rectangle", depth = 0.01, width = 0.05, shear_coefficient = 0.85 }
"""


def subprocess_command(*arguments, **options):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "JAX_ENABLE_X64": "0"}
    command = [sys.executable, "-m", "jaxmodal", *map(str, arguments)]
    return subprocess.Popen(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


@pytest.fixture
def arm_file(tmp_path):
    path = tmp_path / "arm.toml"
    path.write_text(GOOD_ARM)
    return path


# ---- frequencies ----


def test_json_is_an_array_in_the_order_of_the_arguments(arm_file):
    result = run_command(
        "frequencies", "example:two_link_flexible", arm_file, "--modes", 3, "--format", "json"
    )
    assert result.exit_code == 0, result.output
    two_link, one_link = json.loads(result.stdout)
    assert (two_link["name"], one_link["name"]) == ("two-link flexible arm", "one [steel] link")
    for arm in (two_link, one_link):
        assert arm["theory"] == "timoshenko"
        assert arm["certified"] == [True] * 3
        assert arm["status"] == ["certified"] * 3
        assert arm["multiplicity"] == [1, 1, 1]
        assert arm["count_below"] == [0, 1, 2]
        assert arm["count_above"] == [1, 2, 3]
        for frequency, (low, high) in zip(arm["frequencies_hz"], arm["bracket_hz"], strict=True):
            assert low < frequency < high


def test_json_is_an_array_for_one_arm_and_round_trips(arm_file):
    result = run_command("frequencies", arm_file, "--modes", 2, "--format", "json")
    (printed,) = json.loads(result.stdout)
    solved = jaxmodal.frequencies.one_arm.natural_frequencies(
        jaxmodal.read_arm(arm_file), num_modes=2
    )
    assert printed["frequencies_hz"] == [float(value) for value in solved.frequencies_hz]


@pytest.mark.parametrize("theory", THEORIES)
def test_every_theory_is_offered(theory, arm_file):
    result = run_command(
        "frequencies", arm_file, "--theory", theory, "--modes", 2, "--format", "json"
    )
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)[0]["theory"] == theory


def test_euler_bernoulli_cantilever_has_the_handbook_frequency(arm_file):
    result = run_command(
        "frequencies", arm_file, "--theory", "bending_only", "--modes", 1, "--format", "json"
    )
    stiffness, mass_per_length = 2.1e11 * 0.05 * 0.01**3 / 12.0, 7800.0 * 0.05 * 0.01
    handbook = 1.875104068711961**2 * math.sqrt(stiffness / mass_per_length) / 0.5**2
    (frequency,) = json.loads(result.stdout)[0]["frequencies_hz"]
    assert frequency == pytest.approx(handbook / (2.0 * math.pi), rel=1e-12)


@pytest.mark.parametrize("option", [["--posture-deg", "-45,90"], ["--posture-deg=-45,90"]])
def test_a_negative_first_angle_works_with_a_space_and_with_an_equals_sign(option):
    result = run_command(
        "frequencies", "example:three_link_industrial", *option, "--modes", 2, "--format", "json"
    )
    assert result.exit_code == 0, result.output
    (arm,) = json.loads(result.stdout)
    assert arm["joint_angles_deg"] == pytest.approx([0.0, -45.0, 90.0], rel=1e-15)
    # Table 9 of the paper, to its printed digits
    assert [round(arm["frequencies_hz"][0], 4), round(arm["frequencies_hz"][1], 3)] == [
        6.1701,
        25.222,
    ]


def test_all_n_angles_are_accepted_and_the_first_changes_nothing():
    runs = [
        run_command("frequencies", "example:two_link_flexible", "--posture-deg", posture)
        for posture in ("45", "-30,45")
    ]
    assert [run.exit_code for run in runs] == [0, 0]
    assert runs[0].stdout.splitlines()[1:] == runs[1].stdout.splitlines()[1:]


def test_the_table_shows_names_as_they_are_and_every_mode(arm_file):
    result = run_command("frequencies", arm_file, "--modes", 4)
    assert result.exit_code == 0, result.output
    assert "one [steel] link" in result.stdout
    assert result.stdout.count(" certified ") == 4


def test_csv_has_a_row_for_each_mode(arm_file):
    result = run_command("frequencies", arm_file, arm_file, "--modes", 3, "--format", "csv")
    rows = list(csv.DictReader(result.stdout.splitlines()))
    assert [row["mode"] for row in rows] == ["1", "2", "3"] * 2
    assert {row["certified"] for row in rows} == {"true"}
    assert float(rows[0]["frequency_hz"]) > 0.0


def test_an_arm_without_name_is_called_by_its_file(tmp_path):
    path = tmp_path / "boom.v2.toml"
    path.write_text(GOOD_ARM.partition("\n")[2])
    result = run_command("frequencies", path, "--modes", 1, "--format", "json")
    assert json.loads(result.stdout)[0]["name"] == "boom.v2"


@pytest.fixture
def half_certified(monkeypatch):
    """An engine that certifies the first of two modes and finds no number for the second."""
    result = SimpleNamespace(
        frequencies_hz=np.array([1.5, np.nan]),
        certified=np.array([True, False]),
        status=np.array([Status.certified, Status.not_converged]),
        count_below=np.array([0, 1]),
        count_above=np.array([1, 2]),
        bracket=np.array([[9.0, 10.0], [10.0, np.inf]]),
        multiplicity=np.array([1, 1]),
        residual_ratio=np.array([1.0, np.nan]),
        evaluations=np.array(7),
    )
    monkeypatch.setattr(
        jaxmodal.frequencies.one_arm,
        "natural_frequencies",
        lambda arm, num_modes, theory, throw: result,
    )


@pytest.mark.parametrize("output_format", ["table", "json", "csv"])
def test_exit_status_1_when_some_are_not_certified(half_certified, arm_file, output_format):
    result = run_command("frequencies", arm_file, "--format", output_format)
    assert result.exit_code == 1
    assert "not_converged" in result.stdout
    assert Status.not_converged.remedy in result.stderr


def test_json_writes_null_where_there_is_no_number(half_certified, arm_file):
    result = run_command("frequencies", arm_file, "--format", "json")
    (arm,) = json.loads(result.stdout, parse_constant=lambda name: pytest.fail(name))
    assert arm["frequencies_hz"] == [1.5, None]
    assert arm["certified"] == [True, False]
    assert arm["status"] == ["certified", "not_converged"]


# ---- bad input: status 2, nothing on standard output ----


def with_line(old, new):
    changed = GOOD_ARM.replace(old, new)
    assert changed != GOOD_ARM
    return changed


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (with_line("length = 0.5", "length = -0.5"), ["length", "-0.5"]),
        (with_line("length = 0.5", "length = 0.0"), ["length", "0.0"]),
        (with_line("length = 0.5", "length = nan"), ["length", "nan"]),
        (with_line("length = 0.5\n", ""), ["length"]),
        (with_line("length", "lenght"), ["lenght", "'length'"]),
        (with_line("density = 7800.0", "density = 0.0"), ["density", "massless"]),
        (with_line("[[links]]", "[[links"), ["TOML"]),
        ("", ["links"]),
    ],
)
def test_a_bad_arm_file_is_named_with_the_field(tmp_path, arm_file, text, words):
    path = tmp_path / "bad.toml"
    path.write_text(text)
    assert_refused(
        run_command("frequencies", arm_file, path, "--format", "json"), "bad.toml", *words
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--modes", "0"], ["--modes", "0", "1<=x<=1000"]),
        (["--modes", "many"], ["--modes", "many"]),
        (["--theory", "euler"], ["--theory", "euler", "timoshenko", "bending_only"]),
        (["--posture-deg", "45,up"], ["--posture-deg", "45,up", "degrees"]),
        (["--posture-deg", "nan"], ["--posture-deg", "nan"]),
        (["--posture-deg", "10,20,30"], ["--posture-deg 10,20,30", "1 link"]),
        (["--format", "xml"], ["--format", "xml", "json"]),
        (["--mode", "3"], ["--mode", "--modes"]),
    ],
)
def test_a_bad_option_is_named_with_what_is_allowed(arm_file, arguments, words):
    assert_refused(run_command("frequencies", arm_file, *arguments), *words)


def test_missing_files_and_examples_are_refused_with_a_way_out(tmp_path):
    assert_refused(run_command("frequencies", tmp_path / "none.toml"), "none.toml", "No such file")
    assert_refused(run_command("frequencies", tmp_path), "cannot be read")
    assert_refused(run_command("frequencies", "example:two_link"), "two_link_flexible")
    assert_refused(run_command("frequencies", "two_link_flexible"), "example:two_link_flexible")
    assert_refused(run_command("frequencies"), "ARM")
    assert_refused(run_command("check", tmp_path / "none.toml"), "none.toml")


def test_timoshenko_without_shear_data_says_what_to_add(tmp_path):
    path = tmp_path / "raw.toml"
    section = with_line(
        GOOD_ARM.splitlines()[-1], "section = { area = 5e-4, second_moment = 4e-9 }"
    )
    path.write_text(section)
    assert_refused(run_command("frequencies", path), "raw.toml", "shear_coefficient")
    assert run_command("frequencies", path, "--theory", "rayleigh", "--modes", 1).exit_code == 0


# ---- check and examples ----


def test_check_shows_masses_slenderness_and_cutoff():
    result = run_command("check", "example:three_link_industrial")
    assert result.exit_code == 0, result.output
    for words in ("135.19 kg", "hollow_rectangle", "26.73", "cut-off", "no implausible values"):
        assert words in result.stdout


def test_check_warns_of_implausible_units(tmp_path):
    path = tmp_path / "units.toml"
    path.write_text(with_line("7800.0", "7.8").replace("2.1e11", "210.0"))
    result = run_command("check", path)
    assert result.exit_code == 0
    assert "warning: link1.density = 7.8" in result.stdout
    assert "warning: link1.youngs_modulus = 210" in result.stdout


def test_examples_are_listed_and_printed():
    listed = run_command("examples")
    assert listed.exit_code == 0
    for name in examples.names():
        assert name in listed.stdout
        printed = run_command("examples", name)
        assert printed.stdout == examples.toml_text(name)


def test_an_example_is_written_and_no_other_file_lost(tmp_path):
    path = tmp_path / "arm.toml"
    written = run_command("examples", "two_link_flexible", "--out", path)
    assert (written.exit_code, written.stdout) == (0, "")
    assert jaxmodal.read_arm(path) == examples.load("two_link_flexible")
    assert (
        run_command("examples", "two_link_flexible", "--out", path).exit_code == 0
    )  # the same bytes
    path.write_text("mine")
    assert_refused(run_command("examples", "two_link_flexible", "--out", path), "--force")
    assert path.read_text() == "mine"
    assert run_command("examples", "two_link_flexible", "--out", path, "--force").exit_code == 0
    assert jaxmodal.read_arm(path).num_links == 2


def test_bad_uses_of_examples_are_refused(tmp_path):
    assert_refused(run_command("examples", "two_link"), "two_link_flexible")
    assert_refused(run_command("examples", "--out", tmp_path / "arm.toml"), "NAME")
    missing = tmp_path / "none" / "arm.toml"
    assert_refused(
        run_command("examples", "two_link_flexible", "--out", missing), "cannot be written"
    )


def test_version_and_help():
    assert jaxmodal.__version__ in run_command("--version").stdout
    overview = run_command("--help").stdout
    for command in ("frequencies", "reproduce", "check", "examples"):
        assert command in overview
        assert run_command(command, "--help").exit_code == 0


# ---- the process ----


def test_the_process_turns_double_precision_on_itself(arm_file):
    process = subprocess_command("frequencies", arm_file, "--modes", 2, "--format", "json")
    stdout, stderr = process.communicate(timeout=300)
    assert process.returncode == 0, stderr
    inside = run_command("frequencies", arm_file, "--modes", 2, "--format", "json")
    assert json.loads(stdout)[0]["frequencies_hz"] == json.loads(inside.stdout)[0]["frequencies_hz"]


@pytest.mark.parametrize(
    "arguments",
    [["examples"], pytest.param(["examples", "two_link_flexible"], marks=pytest.mark.slow)],
)
def test_a_closed_pipe_prints_no_traceback(arguments):
    process = subprocess_command(*arguments)
    process.stdout.close()
    stderr = process.stderr.read()
    process.wait(timeout=300)
    process.stderr.close()
    assert "Traceback" not in stderr
    assert "BrokenPipeError" not in stderr
    assert process.returncode == 1


def test_progress_stays_silent_where_nobody_looks(capsys):
    with late_progress("steps") as advance:
        advance(1, 2)
    captured = capsys.readouterr()
    assert captured.out + captured.err == ""


def test_a_table_names_a_repeated_frequency():
    arm = {"name": "a", "theory": "timoshenko", "frequencies_hz": [37.0, 37.0]}
    found = arm | {"status": ["certified"] * 2, "multiplicity": [2, 2]}
    table = certified_table(found, examples.two_link_flexible(), 5)
    assert table.text().count("2-fold") == 2
