"""Do commands say what looks like a wrong unit: once, on standard error, and not where told not to?"""

import pytest
from click.testing import CliRunner

import jaxmodal as jm
from jaxmodal.cli.commands import main

ARM = """
[[links]]
length = 0.5
youngs_modulus = 2.1e11
density = 7.8
section = { shape = "rectangle", depth = 0.01, width = 0.05 }

[[links]]
length = 0.5
youngs_modulus = 2.1e11
density = 7800
section = { shape = "rectangle", depth = 0.01, width = 0.05 }
joint_angle = 60
"""
SWEEP = """
arm = "arm.toml"
theories = ["euler_bernoulli"]
num_modes = 1
[[axes]]
parameter = "theta_2"
linspace = { start = 0, stop = 90, num = 3 }
"""
RUNS = """
[dynamics]
modes = 1
until = 1e-3
every = 1e-3
"""
COMMANDS = {
    "frequencies": ["frequencies", "arm.toml", "--theory", "euler_bernoulli", "--modes", "1"],
    "modes": ["modes", "arm.toml", "--theory", "euler_bernoulli", "--modes", "1"],
    "postures": ["postures", "arm.toml", "--theory", "euler_bernoulli", "--frequency", "1e4"],
    "resonance-map": ["resonance-map", "arm.toml", "--theory", "rayleigh", "--band-hz", "1e4,1e5"],
    "sweep plan": ["sweep", "plan", "sweep.toml"],
}


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm.toml").write_text(ARM)
    (tmp_path / "sweep.toml").write_text(SWEEP)
    return tmp_path


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_warns_once_and_not_in_its_results(name):
    result = CliRunner().invoke(main, COMMANDS[name])
    assert result.exit_code in (0, 1), result.output
    assert result.stderr.count("link1.density = 7.8") == 1
    assert "write 7800" in result.stderr
    assert result.stderr.count("joint_angle_deg") == 1
    assert "warning" not in result.stdout
    if name == "sweep plan":
        assert "axis 'theta_2'" in result.stderr
        assert "unit = 'degree'" in result.stderr


@pytest.mark.parametrize("place", [0, 99])
@pytest.mark.parametrize("name", ["frequencies", "sweep plan"])
def test_no_check_silences_it_wherever_it_stands(name, place):
    arguments = list(COMMANDS[name])
    arguments.insert(place, "--no-check")
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0
    assert result.stderr == ""


def test_the_same_file_twice_is_remarked_once():
    first, *rest = COMMANDS["frequencies"]
    result = CliRunner().invoke(main, [first, "arm.toml", *rest])
    assert result.stderr.count("link1.density") == 1


def test_check_shows_its_remarks_among_its_results():
    result = CliRunner().invoke(main, ["check", "arm.toml"])
    assert "link1.density = 7.8" in result.stdout
    assert result.stderr == ""


def test_readers_warn_in_python():
    with pytest.warns(jm.ImplausibleWarning, match=r"arm.toml: link1.density = 7.8") as given:
        arm = jm.read_arm("arm.toml")
    assert len(given) == 1
    assert jm.read_arm("arm.toml", check=False) == arm  # a warning would be an error here
    assert len(jm.check(arm).remarks) == 2


def test_a_simulation_warns_too(files):
    (files / "motion.toml").write_text(ARM + RUNS)
    from jaxmodal.dynamics.files import read_simulation

    with pytest.warns(jm.ImplausibleWarning, match=r"motion.toml: link1.density"):
        read_simulation(files / "motion.toml")
