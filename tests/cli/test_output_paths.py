"""A place that cannot be written is refused before a command works, not after."""

import subprocess
import sys
from pathlib import Path

import click
import pytest

import benchmarks.reproduction.reproduce
import benchmarks.studies.optimisation_gallery
import benchmarks.studies.sweep_gallery
import design_opt.solvers.optimise
import jaxmodal.dynamics
import jaxmodal.dynamics.files
import jaxmodal.frequencies.one_arm
import jaxmodal.modes.mode_shapes
import jaxmodal.postures.resonance_maps
import sweeps
import sweeps.commands.report  # before a test replaces what it imports
from jaxmodal.cli.commands import main
from tests.support.commands import run_command

ARM = "example:three_link_industrial"


BEFORE = "the command worked before it looked at the place"


def worked(*_, **__):
    raise AssertionError(BEFORE)


@pytest.fixture(autouse=True)
def no_work(monkeypatch):
    for module, name in (
        (jaxmodal.modes.mode_shapes, "mode_shapes"),
        (jaxmodal.dynamics.files, "read_simulation"),
        (jaxmodal.postures.resonance_maps, "resonance_free"),
        (benchmarks.reproduction.reproduce, "reproduce"),
        (sweeps, "run"),
        (benchmarks.studies.sweep_gallery, "make_gallery"),
        (jaxmodal.dynamics, "turning_frequencies"),
        (design_opt.solvers.optimise, "optimise"),
        (benchmarks.studies.optimisation_gallery, "make_gallery"),
    ):
        monkeypatch.setattr(module, name, worked)


@pytest.mark.parametrize(
    "command",
    [
        "modes {arm} --plot a.png",
        "resonance-map {arm} --band-hz 5,6 --plot a.png",
        "reproduce --out a",
        "sweep run example:three_link_payload --out a.zarr",
        "sweep gallery --out a",
        "simulate arm.toml --out a.csv",
        "campbell {arm} --rates 0,3 --plot a.png",
        "optimise example:three_link_stiffest --out a",
        "optimise --gallery a",
    ],
)
def test_with_a_place_that_can_be_written_they_would_work(command, tmp_path, monkeypatch):
    """So what stands above is what they call, and the tests below would notice work."""
    monkeypatch.chdir(tmp_path)
    answer = run_command(*command.format(arm=ARM).split())
    assert str(answer.exception) == BEFORE, answer.output


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("modes {arm} --plot none/a.png", "--plot none/a.png: cannot be written (there is no folder none)"),
        ("modes {arm} --plot folder", "ends in .png or .pdf or .svg"),
        ("modes {arm} --plot a.txt", "ends in .png or .pdf or .svg"),
        ("modes {arm} --animate a.mp4", "--animate a.mp4: give a file that ends in .gif"),
        ("resonance-map {arm} --band-hz 5,6 --plot none/a.png", "--plot none/a.png: cannot be written"),
        ("resonance-map {arm} --band-hz 5,6 --plot a.xls", "ends in .png"),
        ("reproduce --out file/a", "--out file/a: cannot be written (file is no folder)"),
        ("sweep run example:three_link_payload --out file/a.zarr", "file is no folder"),
        ("sweep gallery --out file/a", "file is no folder"),
        ("sweep export a.zarr --out none/a.csv", "--out none/a.csv: cannot be written"),
        ("sweep export a.zarr --out a.xls", "ends in .nc or .csv"),
        ("sweep plot a.zarr --out none/a", "cannot be written (there is no folder none)"),
        ("simulate arm.toml --out none/a.csv", "--out none/a.csv: cannot be written (there is no folder none)"),
        ("simulate arm.toml --out none/a.nc", "--out none/a.nc: cannot be written (there is no folder none)"),
        ("simulate arm.toml --out a.txt", "--out a.txt: give a file that ends in .csv or .nc"),
        ("campbell {arm} --rates 0,3 --plot none/a.png", "--plot none/a.png: cannot be written"),
        ("optimise example:three_link_stiffest --out file/a", "file is no folder"),
        ("optimise --gallery file/a", "file is no folder"),
        ("examples two_link_flexible --out none/arm.toml", "--out none/arm.toml: cannot be written"),
    ],
)  # fmt: skip
def test_places_are_refused_first(command, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("folder.png").mkdir()
    Path("file").write_text("mine")
    answer = run_command(*command.format(arm=ARM).split())
    assert answer.exit_code == 2, answer.output
    assert isinstance(answer.exception, SystemExit)
    assert answer.stdout == ""
    text = answer.stderr.replace(f"{tmp_path}/", "")
    assert words in text
    assert sorted(path.name for path in Path().iterdir()) == ["file", "folder.png"]


def test_a_folder_is_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("folder.png").mkdir()
    answer = run_command("modes", ARM, "--plot", "folder.png")
    assert answer.exit_code == 2
    assert "is a directory" in answer.stderr


def commands_of(group, *words):
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        if isinstance(command, click.Group):
            yield from commands_of(command, *words, name)
        else:
            yield (*words, name), command


#: files that a command writes and does not draw; a store and the files of a search are gone on with
WRITTEN = {
    (words, option.opts[0])
    for words, command in commands_of(main)
    for option in command.params
    if isinstance(option.type, click.Path)
    and option.type.file_okay
    and not option.type.dir_okay
    and option.callback is not None
    and option.opts[0] not in ("--plot", "--animate", "--nyquist")
}


@pytest.mark.parametrize(("words", "option"), sorted(WRITTEN))
def test_a_file_that_exists_is_replaced_with_force_alone(words, option, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = dict(commands_of(main))[words]
    assert any("--force" in known.opts for known in command.params)
    refusals = []
    for suffix in (".toml", ".csv", ".html", ".uff", ".json", ".xml", ".py"):
        place = Path(f"kept{suffix}")
        place.write_text("mine")
        asked = ["two_link_flexible"] if words == ("examples",) else [ARM] * 2
        asked = asked[: sum(isinstance(x, click.Argument) for x in command.params)]
        answer = run_command(*words, *asked, option, place)
        refusals.append(f"{option} {place}: exists already; give --force" in answer.stderr)
        assert place.read_text() == "mine"
    assert any(refusals)


def test_a_search_does_not_write_over_an_arm(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine_arm.toml").write_text("mine")
    asked = ["optimise", "example:three_link_stiffest", "--out", "mine"]
    answer = run_command(*asked)
    assert answer.exit_code == 2
    assert "Error: --out mine_arm.toml: exists already; give --force" in answer.stderr
    Path("three_link_stiffest_arm.toml").write_text("mine")
    answer = run_command(*asked[:2])
    assert "Error: without --out three_link_stiffest_arm.toml: exists already" in answer.stderr


@pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="only some systems have a disk that is always full"
)
@pytest.mark.parametrize(
    "words",
    [("frequencies", ARM, "--modes", "1"), pytest.param(("--help",), marks=pytest.mark.slow)],
)
def test_standard_output_on_a_full_disk_is_one_message(words):
    command = [sys.executable, "-m", "jaxmodal", *words]
    with open("/dev/full", "w") as full:
        answer = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert answer.returncode == 2
    assert answer.stderr.startswith("Error: a result cannot be written (No space left on device)")
    assert answer.stderr.count("\n") == 1
