"""Is a file in another format told by what it is, by every reader and every command, and what to do with it?"""

import io
import json
import re
import time

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.runtime import limits
from tests.support.commands import run_command
from tests.test_limits import READERS

URDF = """<?xml version="1.0"?>
<!-- a <sketch/> of an arm -->
<robot name="small_arm">
  <link name="base"/>
  <link name="boom"/>
  <joint name="yaw" type="revolute"><parent link="base"/><child link="boom"/><axis xyz="0 0 2"/></joint>
</robot>
"""
BOOM = (
    '<link name="boom"><inertial><mass value="1"/><inertia ixx="0.2" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.2"/>'
    "</inertial></link>"
)
#: a command for each place where a file is taken, with what it needs besides
COMMANDS = {
    **{
        name: [name, "{}"]
        for name in ("frequencies", "modes", "check", "statics", "buckling", "sensitivities")
    },
    "response": ["response", "{}", "--input", "tip.x", "--output", "tip.x"],
    "postures": ["postures", "{}", "--frequency", "1"],
    "resonance-map": ["resonance-map", "{}", "--band-hz", "1,2"],
    "equations": ["equations", "{}"],
    "simulate": ["simulate", "{}"],
    "campbell": ["campbell", "{}", "--rates", "0,3"],
    "sweep run": ["sweep", "run", "{}"],
    "sweep plan": ["sweep", "plan", "{}"],
    "optimise": ["optimise", "{}"],
}


def array_file():
    file = io.BytesIO()
    np.save(file, np.zeros(3))
    return file.getvalue()


#: contents, and what the message says
FORMATS = {
    "URDF": (
        URDF.encode(),
        r"is a URDF .XML., .*ends in \.urdf, .*read_urdf .docs/robots",
    ),
    "byte order mark": (b"\xef\xbb\xbf" + URDF.encode(), "is a URDF"),
    "SDF": (b"<?xml version='1.0'?>\n<!DOCTYPE sdf>\n<sdf version='1.6'/>", "is XML .*<sdf>"),
    "XML in pieces": (b"\n <!-- never ends", "is XML, neither TOML nor JSON"),
    "netCDF": (b"CDF\x01\x00\x00\x00", "is a netCDF file, not text"),
    "HDF5": (b"\x89HDF\r\n\x1a\n", "is an HDF5 or netCDF file"),
    "xlsx": (b"PK\x03\x04\x14\x00", "is a zip archive, as .xlsx"),
    "array": (array_file(), "is an array of NumPy"),
    "picture": (b"\x89PNG\r\n\x1a\n", "is a picture .PNG."),
}
#: those that a reader of arms takes under .urdf, and what it says of others there
ROBOTS = ("URDF", "byte order mark")
OF_ROBOTS = {
    "SDF": "is XML .its first element is <sdf>., and no URDF",
    "XML in pieces": "is not XML: .*line 2",
}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", READERS)
def test_readers_say_what_a_file_is(name, format, tmp_path):
    read, _, error, _, suffix = READERS[name]
    content, words = FORMATS[format]
    for end in {suffix, ".urdf", ".xml"}:
        path = tmp_path / f"input{end}"
        path.write_bytes(content)
        expected = words
        if read is jm.read_arm and end == ".urdf":
            if format in ROBOTS:
                assert read(path, check=False).links[0].name == "yaw"
                continue
            expected = OF_ROBOTS.get(format, words)
        with pytest.raises(error, match=expected) as refused:
            read(path)
        assert str(refused.value).startswith(str(path))
        assert "line 1" not in str(refused.value)


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_say_of_what_else_that_it_is_a_urdf(name, tmp_path):
    path = tmp_path / "small.xml"
    path.write_text(URDF)
    shown = run_command(*([part.format(path) for part in COMMANDS[name]]))
    assert (shown.exit_code, shown.stdout) == (2, "")
    assert f"Error: {path}: is a URDF (XML)" in " ".join(shown.stderr.split())
    assert [each.name for each in tmp_path.iterdir()] == ["small.xml"]


#: what commands say of a URDF in which nothing gives way, under its own suffix
GIVEN = {
    **dict.fromkeys(
        (
            *("frequencies", "modes", "response", "sensitivities", "buckling", "campbell"),
            *("postures", "resonance-map"),
        ),
        "nothing gives way, .*convert .*--joint-stiffness .*=",
    ),
    "simulate": r"is a robot \(a URDF\), which says nothing of a motion; write a file with urdf =",
    **dict.fromkeys(("sweep run", "sweep plan", "optimise"), r"is a URDF \(XML\)"),
}


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - {"check", "statics", "equations"}))
def test_commands_tell_what_a_urdf_needs(name, tmp_path):
    path = tmp_path / "small.urdf"
    path.write_text(URDF)
    shown = run_command(*([part.format(path) for part in COMMANDS[name]]))
    assert (shown.exit_code, shown.stdout) == (2, "")
    said = " ".join(shown.stderr.split())
    assert said.startswith(f"Error: {path}: ")
    assert re.search(GIVEN[name], said)
    assert [each.name for each in tmp_path.iterdir()] == ["small.urdf"]


def test_equations_take_a_urdf_whose_joints_move_masses(tmp_path):
    path = tmp_path / "small.urdf"
    path.write_text(URDF)
    shown = run_command("equations", path)
    assert shown.exit_code == 2
    assert "link1: joint 1 moves nothing that has mass" in shown.stderr
    body = '<inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" iyz="0" ixz="0"/></inertial>'
    heavy = re.sub(r'<link name="(\w+)"\s*/>', rf'<link name="\1">{body}</link>', URDF)
    assert heavy != URDF
    path.write_text(heavy)
    shown = run_command("equations", path, "--quantities", "B,h,g")
    assert shown.exit_code == 0, shown.output
    assert "def model(" in shown.stdout


def test_a_rigid_urdf_stands_under_its_weight(tmp_path):
    path = tmp_path / "small.urdf"
    path.write_text(URDF)
    shown = run_command("statics", path, "--gravity", "0,0,-9.81")
    assert shown.exit_code == 0, shown.output
    assert "joint torque" in shown.stdout


def test_a_rigid_urdf_is_checked_and_moves_with_a_stiffness(tmp_path):
    path = tmp_path / "small.urdf"
    path.write_text(URDF.replace('<link name="boom"/>', BOOM))
    shown = run_command("check", path)
    assert shown.exit_code == 0
    assert "nothing gives way" in shown.output
    out = str(tmp_path / "arm.toml")
    made = run_command("convert", path, "--out", out, "--joint-stiffness", "*=2e4")
    assert made.exit_code == 0
    found = run_command("frequencies", out, "--modes", "1", "--format", "json")
    (hertz,) = json.loads(found.stdout)[0]["frequencies_hz"]
    assert hertz == pytest.approx(np.sqrt(2e4 / 0.2) / (2.0 * np.pi), rel=1e-12)


def test_xml_takes_no_time_to_tell(tmp_path):
    path = tmp_path / "long.xml"
    for part in ("<!-- x -->", "<!", "<?", "<a>", "<!--"):
        path.write_text("<" + part * ((limits.FILE_BYTES - 10) // len(part)))
        start = time.process_time()
        with pytest.raises(jm.ArmError, match="is XML"):
            jm.read_arm(path)
        path.write_text((part * (limits.FILE_BYTES // len(part)))[: limits.FILE_BYTES])
        with pytest.raises(jm.ArmError, match="is XML"):
            jm.read_arm(path)
        assert time.process_time() - start < 2.0
