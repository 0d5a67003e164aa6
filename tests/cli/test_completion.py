"""Does TAB show commands, options, choices, files, examples, ports and addresses, without loading the package?"""

import json
import os
import shutil
import subprocess
import sys

import click
import pytest

from jaxmodal.cli import completing
from jaxmodal.cli.commands import main
from tests.support.commands import run_command

ARM = """
[[links]]
length = 0.5
youngs_modulus = 2.1e11
density = 7800
section = { shape = "rectangle", depth = 0.01, width = 0.05 }
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("ZDOTDIR", raising=False)
    (tmp_path / "home").mkdir()
    (tmp_path / "arm.toml").write_text(ARM)
    (tmp_path / "notes.txt").write_text("")
    (tmp_path / "my folder").mkdir()
    (tmp_path / "cells.zarr").mkdir()
    return tmp_path


@pytest.fixture
def asked(monkeypatch):
    """What was asked of jaxmodal, which answers in this process."""
    calls = []

    def answer(*arguments):
        calls.append(arguments)
        answer = run_command("completion", *arguments)
        return json.loads(answer.stdout) if answer.exit_code == 0 else None

    monkeypatch.setattr(completing, "_asked", answer)
    return calls


def shown(line):
    return [word for word, _ in completing.completions(line)]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("jaxmodal freq", ["frequencies"]),
        ("/usr/bin/jaxmodal --strict sens", ["sensitivities"]),
        ("cd x && jaxmodal sweep ver", ["verify"]),
        ("jaxmodal frequencies --the", ["--theory"]),
        ("jaxmodal frequencies --stri", ["--strict"]),
        ("jaxmodal frequencies --theory ray", ["rayleigh"]),
        ("jaxmodal frequencies --theory=ray", ["--theory=rayleigh"]),
        ("jaxmodal modes --modes 3 --theory ray", ["rayleigh"]),
        ("jaxmodal sweep plot x.zarr --kind ma", ["maps"]),
        ("jaxmodal frequencies ", ["example:", "arm.toml", "cells.zarr/", "home/", "my folder/"]),
        ("jaxmodal frequencies my", ["my folder/"]),
        ("jaxmodal frequencies arm.toml a", ["arm.toml"]),
        ("jaxmodal frequencies example:two", ["example:two_link_flexible"]),
        ("jaxmodal examples two", ["two_link_flexible"]),
        ("jaxmodal sweep status c", ["cells.zarr"]),
        ("jaxmodal sweep run example:three_link_pay", ["example:three_link_payload"]),
        ("jaxmodal optimise --show three_link_l", ["three_link_lightest"]),
        ("jaxmodal response arm.toml --input tip.a", ["tip.along", "tip.across"]),
        (
            "jaxmodal response arm.toml --input link_1@0.5.a",
            ["link_1@0.5.along", "link_1@0.5.across"],
        ),
        ("jaxmodal sensitivities arm.toml --address link1.youngs", ["link1.youngs_modulus"]),
        ("jaxmodal sensitivities arm.toml --address link*.youngs", ["link*.youngs_modulus"]),
        ("jaxmodal worst example:two_link_flexible --range theta_2", ["theta_2="]),
        ("jaxmodal response --input tip.a", []),
        ("jaxmodal response none.toml --input tip.a", []),
        ("jaxmodal frequencies --modes 3", []),
        ("jaxmodal nonsense ", main.list_commands(click.Context(main))),
    ],
)
def test_what_tab_shows(line, words, asked):
    assert [word for word in shown(line) if word != "cache/"] == words


def test_every_command_and_option_is_known(asked):
    known = completing.table()["commands"]
    found = {}

    def below(name, command):
        found[name] = {
            option
            for parameter in command.params
            if isinstance(parameter, click.Option) and not parameter.hidden
            for option in (*parameter.opts, *parameter.secondary_opts)
        }
        if isinstance(command, click.Group):
            for word in command.list_commands(click.Context(command)):
                inner = command.get_command(click.Context(command), word)
                below(f"{name} {word}".strip(), inner)

    below("", main)
    listed = {
        name: {word for option in about["options"] for word in option["names"]} - {"--help"}
        for name, about in known.items()
    }
    assert listed == found
    asked_for = [x for about in known.values() for x in (*about["arguments"], *about["options"])]
    kinds = {each["kind"] for each in asked_for if each.get("kind")}
    assert kinds <= {*completing._SUFFIXES, "choice", "folder", "arms", "sweeps", "problems"} | {
        *("port", "address", "address=")
    }


def test_answers_are_kept_until_a_file_changes(asked, folder):
    for _ in range(2):
        shown("jaxmodal sensitivities arm.toml --address link1.l")
    assert asked == [("--table",), ("--of", "arm.toml")]
    (folder / "arm.toml").write_text(ARM + ARM)
    assert "link2.length" in shown("jaxmodal sensitivities arm.toml --address link2.l")
    assert asked[2:] == [("--of", "arm.toml")]


def test_the_last_word_of_a_line():
    assert completing.split("a | b 'c d' e\\ f g") == (["b", "c d", "e f"], "g")
    assert completing.split("jaxmodal ") == (["jaxmodal"], "")
    assert completing.split("jaxmodal x'y z") == (["jaxmodal"], "xy z")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_one_command_installs_it(shell, folder):
    start = {"bash": ".bashrc", "zsh": ".zshrc"}.get(shell)
    if start:
        (folder / "home" / start).write_text("alias ll='ls -l'")
    for _ in range(2):  # again changes nothing
        result = run_command("completion", "--install", env={"SHELL": f"/bin/{shell}"})
        assert result.exit_code == 0, result.output
    if start:
        first, second = (folder / "home" / start).read_text().splitlines()
        assert first == "alias ll='ls -l'"
        assert second.startswith(f"source {folder}/home/.config/jaxmodal/completion.{shell}")
    printed = run_command("completion", shell).stdout
    places = [p for p in (folder / "home").rglob("*") if p.is_file() and p.name != start]
    assert [place.read_text() for place in places] == [printed]
    refused = run_command("completion", env={"SHELL": "/bin/tcsh"})
    assert refused.exit_code == 2
    assert "'tcsh': give bash, zsh or fish" in refused.stderr


BASH = """
source ./script
for line in "$@"; do
    COMP_LINE=$line COMP_POINT=${#line}
    _jaxmodal_completion
    printf '%s|' "${COMPREPLY[@]}"; echo
done
"""


@pytest.mark.slow
def test_a_shell_asks_without_the_package(folder):
    """As bash calls it: with no package installed at all (-I -S) the answer comes of what was kept."""
    (folder / "script").write_text(run_command("completion", "bash").stdout)
    lines = ["jaxmodal freq", "jaxmodal frequencies example:two", "jaxmodal modes my"]
    environment = dict(os.environ)
    for _ in range(2):
        answer = subprocess.run(
            ["bash", "-c", BASH, "bash", *lines], capture_output=True, text=True, env=environment
        )
        assert answer.stdout.splitlines() == ["frequencies|", "two_link_flexible|", "my\\ folder/|"]
        environment["PYTHONPATH"] = ""
    if shutil.which("fish"):
        (folder / "script").write_text(run_command("completion", "fish").stdout)
        asked = "source ./script; complete -C 'jaxmodal frequencies --theory ray'"
        answer = subprocess.run(["fish", "-c", asked], capture_output=True, text=True)
        assert answer.stdout.split() == ["rayleigh"]
    loaded = subprocess.run(
        [sys.executable, "-I", "-S", "-X", "importtime", completing.__file__, "jaxmodal sw"],
        capture_output=True,
        text=True,
    )
    assert loaded.stdout.startswith("sweep\t")
    assert "jax" not in loaded.stderr
    assert "numpy" not in loaded.stderr
