"""What is given as a file and is none of that kind: files of other kinds, folders, stores, pipes with a name."""

import itertools
import json
import os
import threading
import time

import pytest

import jaxmodal as jm
from benchmarks.fuzz_readers import ARM, MOVING, PROBLEM, SWEEP, toml_document
from jaxmodal.runtime import limits
from tests.support.commands import run_command
from tests.test_limits import READERS

#: what files of each kind say of themselves, and the command that takes them
KINDS = {
    "arm": (ARM, "an arm", "frequencies"),
    "sweep": (SWEEP, "a sweep", "sweep run"),
    "problem": (PROBLEM, "a problem of optimisation", "optimise"),
}
#: a command for each kind, and a key that its files have
COMMANDS = {
    "arm": ("frequencies", "modes", "check", "statics", "equations", "simulate", "sensitivities"),
    "sweep": ("sweep run", "sweep plan"),
    "problem": ("optimise",),
}


@pytest.mark.parametrize(("given", "expected"), list(itertools.permutations(KINDS, 2)))
def test_a_file_of_another_kind_is_told_so(given, expected, tmp_path):
    document, what, command = KINDS[given]
    path = tmp_path / f"{given}.toml"
    path.write_text(toml_document(document))
    for asked in COMMANDS[expected]:
        result = run_command(*asked.split(), path)
        assert result.exit_code == 2, result.output
        assert f"{path}: is {what}" in result.output, asked
        assert f"{KINDS[expected][1]} is expected" in result.output
        assert f"`jaxmodal {command}` takes it" in result.output


@pytest.mark.parametrize("name", ["arm", "dynamics", "sweep", "problem"])
def test_tables_of_another_kind_are_told_so(name):
    own = {"arm": "arm", "dynamics": "arm", "sweep": "sweep", "problem": "problem"}[name]
    _, read, error, _, _ = READERS[name]
    for kind, (document, what, _) in KINDS.items():
        if kind != own:
            with pytest.raises(error, match=f"is {what}"):
                read(document)


def test_a_checkpoint_and_a_store_are_no_arms(tmp_path):
    path = tmp_path / "a.checkpoint.json"
    path.write_text(json.dumps({"format": 2, "fingerprint": "", "steps": []}))
    with pytest.raises(jm.ArmError, match="is a checkpoint of an optimisation"):
        jm.read_arm(path)
    store = tmp_path / "a.zarr"
    store.mkdir()
    with pytest.raises(jm.ArmError, match=r"a\.zarr: cannot be read \(Is a directory\)"):
        jm.read_arm(store)
    (store / "zarr.json").write_text("{}")
    with pytest.raises(
        jm.ArmError, match="is the store of a sweep, not a file; `jaxmodal sweep status`"
    ):
        jm.read_arm(store)


URDF = """<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"
ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j" type="revolute"><parent link="a"/><child link="b"/>
<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
#: a file of every kind by name: what it holds, what it is called and which command takes it
FILES = {
    "arm.toml": (toml_document(ARM), "an arm (it has links)", "frequencies"),
    "arm.json": (json.dumps(ARM), "an arm (it has links)", "frequencies"),
    "robot_arm.toml": ('urdf = "robot.urdf"', "an arm (it has urdf)", "frequencies"),
    "sweep.toml": (toml_document(SWEEP), "a sweep (it has axes)", "sweep run"),
    "problem.toml": (
        toml_document(PROBLEM),
        "a problem of optimisation (it has objective)",
        "optimise",
    ),
    "a.checkpoint.json": (
        json.dumps({"format": 2, "steps": []}),
        "a checkpoint of an optimisation (it has steps)",
        "optimise PROBLEM",
    ),
    "move.csv": ("time,joint_1\n0,0\n0.1,1\n", "a table of numbers, such as a move", "move ARM"),
    "measured.csv": (
        "frequency_hz,mode\n30,1\n",
        "a table of measurements (it has frequency_hz)",
        "fit ARM",
    ),
    "measured.uff": ("    -1\n    58\n    -1\n", "a universal file", "fit ARM"),
    "robot.urdf": (URDF, "a robot's URDF", "convert"),
    "cells.zarr": (None, "the store of a sweep", "sweep status"),
}
#: by what is asked: the words, and the files that it takes or of which it says something of its own
ASKED = {
    "frequencies {}": ("arm.toml", "arm.json", "robot_arm.toml", "robot.urdf"),
    "simulate {}": ("arm.toml", "arm.json", "robot_arm.toml", "robot.urdf"),
    "explore {} --out page.html": (
        *("arm.toml", "arm.json", "robot_arm.toml", "robot.urdf", "cells.zarr"),
    ),
    "move example:two_link_flexible {}": ("move.csv",),
    "speeds example:two_link_flexible --order 1:2 --move {}": ("move.csv",),
    "fit example:two_link_flexible --fit link1.density {}": ("measured.csv", "measured.uff"),
    "sweep plan {}": ("sweep.toml", "robot.urdf"),
    "sweep run {}": ("sweep.toml", "robot.urdf"),
    "sweep script {} --slurm": ("sweep.toml", "robot.urdf"),
    "optimise {}": ("problem.toml", "robot.urdf"),
    "convert robot.urdf --out out.toml --properties {}": (
        "robot_arm.toml",
        "robot.urdf",
        "cells.zarr",
    ),
    "sweep status {}": ("cells.zarr",),
    "sweep verify {}": ("cells.zarr",),
    "sweep plot {} --out picture": ("cells.zarr",),
    "sweep export {} --out cells.nc": ("cells.zarr",),
    "sweep merge new.zarr {}": ("cells.zarr",),
}


@pytest.mark.parametrize("asked", ASKED)
def test_every_command_tells_files_of_every_other_kind(asked, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, (text, _, _) in FILES.items():
        if text is None:
            (tmp_path / name).mkdir()
            (tmp_path / name / "zarr.json").write_text("{}")
        else:
            (tmp_path / name).write_text(text)
    for name, (_, what, command) in FILES.items():
        if name not in ASKED[asked]:
            result = run_command(*asked.format(name).split())
            assert result.exit_code == 2, (name, result.output)
            assert f"{name}: is {what}" in result.stderr, name
            assert f"`jaxmodal {command}` takes it" in result.stderr, name


def test_a_file_with_a_slip_stays_of_its_kind(tmp_path):
    path = tmp_path / "arm.toml"
    path.write_text(toml_document(ARM) + "\nname is Ann\n")
    result = run_command("frequencies", path)
    assert "arm.toml: is not TOML: " in result.stderr


def test_an_arm_that_moves_is_an_arm(tmp_path):
    path = tmp_path / "moving.toml"
    path.write_text(toml_document(MOVING))
    assert run_command("check", path).exit_code == 0


@pytest.fixture
def pipe(tmp_path):
    if not hasattr(os, "mkfifo"):
        pytest.skip("no FIFOs here")
    path = tmp_path / "pipe.toml"
    os.mkfifo(path)
    return path


@pytest.mark.parametrize("name", READERS)
def test_a_pipe_that_nobody_writes_to_is_waited_for_so_long(name, pipe, monkeypatch):
    monkeypatch.setattr(limits, "PIPE_SECONDS", 0.1)
    read, _, error, _, _ = READERS[name]
    before = time.monotonic()
    with pytest.raises(error, match=r"pipe\.toml: is a FIFO, and nobody wrote to it for 0\.1 s"):
        read(pipe)
    assert time.monotonic() - before < 5.0


def test_what_is_written_to_a_pipe_is_read_whole(pipe):
    text = toml_document(ARM)

    def write():
        with pipe.open("w") as file:
            for place in range(0, len(text), 50):
                file.write(text[place : place + 50])
                file.flush()

    writer = threading.Thread(target=write)
    writer.start()
    assert jm.read_arm(pipe, check=False) == jm.arm_from_dict(ARM)
    writer.join()


def test_nothing_is_written_to_a_pipe(pipe, tmp_path):
    picture = tmp_path / "pipe.png"
    os.mkfifo(picture)
    for arguments in (
        ("examples", "two_link_flexible", "--out", str(pipe)),
        ("modes", "example:two_link_flexible", "--plot", str(picture)),
    ):
        result = run_command(*arguments)
        assert result.exit_code == 2, result.output
        assert "is a FIFO; give the name of a file" in result.output


@pytest.mark.skipif(not os.path.exists("/dev/stdin"), reason="no name for standard input here")
def test_standard_input_is_read_however_long_its_writer_takes(tmp_path, monkeypatch):
    """From a pipe without a name, for which the patience with a FIFO does not hold, and from a file."""
    monkeypatch.setattr(limits, "PIPE_SECONDS", 0.02)
    path = tmp_path / "arm.toml"
    path.write_text(toml_document(ARM))
    expected = run_command("check", path)
    source, sink = os.pipe()

    def write():
        time.sleep(0.2)
        os.write(sink, path.read_bytes())
        os.close(sink)

    writer = threading.Thread(target=write)
    writer.start()
    for given in (source, os.open(path, os.O_RDONLY)):
        before = os.dup(0)
        os.dup2(given, 0)
        os.close(given)
        try:
            result = run_command("check", "/dev/stdin")
        finally:
            os.dup2(before, 0)
            os.close(before)
        assert (result.exit_code, result.stderr) == (0, "")
        assert result.stdout.replace("/dev/stdin", str(path)) == expected.stdout
    writer.join()
