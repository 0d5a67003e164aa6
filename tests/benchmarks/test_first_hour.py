"""The kept first hour: are its commands those of the script, and does what they said read well?"""

import re
from pathlib import Path

import numpy as np
import pytest

import jaxmodal as jm
from benchmarks import first_hour

KEPT = Path(__file__).parent.parent.parent / "results" / "first_hour"


def test_a_folder_without_the_library_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit):
        first_hour.main(["--older", str(tmp_path), "--out", str(tmp_path / "out")])
    assert "no checkout of jaxmodal" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_kept_session_has_every_command_and_what_was_wanted():
    text = (KEPT / "session.md").read_text()
    said = dict(re.findall(r"^\$ (.*)\n((?:.*\n)*?)```$", text, re.MULTILINE))
    assert tuple(said) == first_hour.COMMANDS
    assert not re.search(r"Traceback|Error|exit status|NOT ", text)
    arm = jm.read_arm(first_hour.ARM)
    for hertz in np.asarray(jm.natural_frequencies(arm, 4).frequencies_hz):
        assert f"{hertz:#.5g}" in said["jaxmodal frequencies arm.toml --modes 4"]
    assert "joint_angle_deg" in said["jaxmodal frequencies degrees.toml --modes 1"]
    for command, output in said.items():
        assert ("warning" in output) == ("degrees.toml" in command), command
    assert "1612 of 1612 modes certified" in said["jaxmodal sweep run sweep.toml"]
    assert "converged" in said["jaxmodal optimise lightest.toml"]


def test_the_files_on_the_desk_are_one_arm(tmp_path):
    """In SI units alone the arm is the same; with degrees taken for rad it is not."""
    first_hour.write_desk(tmp_path, first_hour.in_si())
    known = jm.read_arm(first_hour.ARM)
    assert jm.read_arm(tmp_path / "arm.toml") == known
    with pytest.warns(jm.ImplausibleWarning, match="joint_angle"):
        assert float(jm.read_arm(tmp_path / "degrees.toml").links[1].joint_angle) == 60.0


def test_pictures_stand_side_by_side(tmp_path):
    image = pytest.importorskip("PIL.Image")
    image.new("RGB", (300, 100), "red").save(tmp_path / "old.png")
    image.new("RGB", (600, 400), "blue").save(tmp_path / "new.png")
    first_hour.side_by_side(tmp_path / "old.png", tmp_path / "new.png", tmp_path / "pair.png")
    pair = image.open(tmp_path / "pair.png").convert("RGB")
    left, right = (pair.getpixel((x, 100)) for x in (100, pair.width - 100))
    assert left[0] > 200 > left[2]
    assert right[2] > 200 > right[0]
