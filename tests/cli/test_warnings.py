"""Do commands say what looks like a wrong unit: once, on standard error, and not where told not to?"""

import re
import warnings

import click
import pytest

import jaxmodal as jm
from jaxmodal.cli.commands import main
from tests.support.commands import run_command

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
    result = run_command(*COMMANDS[name])
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
    result = run_command(*arguments)
    assert result.exit_code == 0
    assert result.stderr == ""


def test_the_same_file_twice_is_remarked_once():
    first, *rest = COMMANDS["frequencies"]
    result = run_command(first, "arm.toml", *rest)
    assert result.stderr.count("link1.density") == 1


def test_check_shows_its_remarks_among_its_results():
    result = run_command("check", "arm.toml")
    assert "link1.density = 7.8" in result.stdout
    assert result.stderr == ""


def test_readers_warn_in_python():
    with pytest.warns(jm.ImplausibleWarning, match=r"arm.toml: link1.density = 7.8") as given:
        arm = jm.read_arm("arm.toml")
    assert len(given) == 1
    assert jm.read_arm("arm.toml", check=False) == arm  # a warning would be an error here
    assert len(jm.check_arm(arm).remarks) == 2


def test_a_simulation_warns_too(files):
    (files / "motion.toml").write_text(ARM + RUNS)
    from jaxmodal.dynamics.files import read_simulation

    with pytest.warns(jm.ImplausibleWarning, match=r"motion.toml: link1.density"):
        read_simulation(files / "motion.toml")


def commands(group, before=()):
    """Every command with the words that call it; those of a group stand behind its name."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if not isinstance(command, click.Group) or command.invoke_without_command:
            yield (*before, name), command
        if isinstance(command, click.Group):
            yield from commands(command, (*before, name))


ALL = {" ".join(words): command for words, command in commands(main)}
#: by name, what is run of a whole command: all that read an arm, a sweep or a problem
STRICT = COMMANDS | {
    "check": ["check", "arm.toml"],
    "sensitivities": ["sensitivities", *COMMANDS["frequencies"][1:]],
    "statics": ["statics", "arm.toml", "--theory", "euler_bernoulli", "--gravity", "0,-9.81"],
    "response": [
        *("response", "arm.toml", "--theory", "euler_bernoulli", "--points", "2"),
        *("--input", "tip.x", "--output", "tip.y"),
    ],
    "equations": ["equations", "arm.toml", "--link-modes", "1"],
}


def test_all_commands_are_looked_at():
    assert {"frequencies", "check", "cache clear", "sweep run", "sweep plan", "optimise"} <= set(
        ALL
    )
    assert len(ALL) > 20


@pytest.mark.parametrize(
    ("name", "place"), [(name, k) for name in ALL for k in range(len(name.split()) + 1)]
)
def test_every_command_has_the_option_strict(name, place, monkeypatch):
    """Whatever it does: with a warning it ends with 1, without one as before."""
    command, said = ALL[name], []

    def work(**_):
        click.echo("result")
        for text in said:
            warnings.warn(text, jm.ImplausibleWarning, stacklevel=1)

    monkeypatch.setattr(command, "params", [])
    monkeypatch.setattr(command, "callback", work)
    arguments = name.split()
    arguments.insert(place, "--strict")
    for said[:], status in (([], 0), (["link1.length = 900", "link1.density = 7.8"], 1)):
        result = run_command(*arguments)
        assert (result.exit_code, result.stdout) == (status, "result\n"), result.output
        verdict = "--strict: 2 warnings were given, so the exit status is 1."
        assert result.stderr.splitlines()[-1:] == [verdict] * status
        assert run_command(*name.split()).exit_code == 0
    assert run_command(*arguments, "--help").exit_code == 0


def without_times(text: str) -> str:
    """Without the seconds that a plan measures: two runs need not take the same."""
    return re.sub(r"\b[\d.]+ (s|min|h)\b", "some time", text)


@pytest.mark.parametrize("name", STRICT)
def test_strict_changes_the_exit_status_and_no_result(name):
    plain, strict = (run_command(*STRICT[name], *more) for more in ((), ("--strict",)))
    assert plain.exit_code in (0, 1), plain.output
    assert strict.exit_code == 1
    assert without_times(strict.stdout) == without_times(plain.stdout) != ""
    if plain.exit_code == 0:
        assert strict.stderr.splitlines()[-1].startswith("--strict: ")
    assert run_command("--strict", *STRICT[name], "--modes", "x").exit_code == 2


def test_files_are_written_whole_under_strict(files):
    written = []
    for folder, more in (("plain", ()), ("strict", ("--strict",))):
        (files / folder).mkdir()
        path = files / folder / "code.py"
        run = run_command("equations", "arm.toml", "--link-modes", "1", "--out", path, *more)
        assert run.exit_code == bool(more), run.output
        written.append(path.read_bytes())
    assert written[0] == written[1] != b""


def test_nothing_to_remark_is_no_warning(files):
    plausible = ARM.replace("7.8\n", "7800\n").replace("joint_angle =", "joint_angle_deg =")
    (files / "arm.toml").write_text(plausible)
    for name in ("frequencies", "check"):
        result = run_command(*STRICT[name], "--strict")
        assert (result.exit_code, result.stderr) == (0, "")
    result = run_command(*STRICT["statics"], "--strict", "--tip-force", "0,1e6")
    assert (result.exit_code, result.stderr.count("warning: ")) == (1, 1)
    assert "too much for small deflections" in result.stderr


def test_what_is_not_warned_of_does_not_count():
    result = run_command(*STRICT["frequencies"], "--strict", "--no-check")
    assert (result.exit_code, result.stderr) == (0, "")


@pytest.mark.parametrize("command", ["statics", "buckling"])
def test_gravity_in_another_unit(command):
    """In space too, where no table of the file holds it."""
    name = "six_axis_industrial" if command == "buckling" else "three_link_industrial"
    vector = "0,0,-9810" if command == "buckling" else "0,-9810"
    result = run_command(command, f"example:{name}", "--gravity", vector)
    assert f"warning: --gravity {vector}: m/s^2 expected" in result.stderr
    assert "if this is in mm/s^2, write 9.81" in result.stderr
    unchecked = run_command("--no-check", command, f"example:{name}", "--gravity", vector)
    assert "m/s^2 expected" not in unchecked.stderr


def test_every_command_with_gravity_warns_of_its_unit():
    context = click.Context(main)
    found = set()
    for name in main.list_commands(context):
        command = main.get_command(context, name)
        for option in command.params:
            if option.name == "gravity":
                found.add(name)
                inner = click.Context(command)
                with pytest.warns(jm.ImplausibleWarning, match=r"if this is in mm/s\^2"):
                    option.process_value(inner, "0,-9810")
                assert option.process_value(inner, "0,-9.81") == (0.0, -9.81)
    assert found >= {"statics", "buckling", "frequencies", "equations", "move", "export"}
