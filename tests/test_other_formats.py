"""Is a file in another format told by what it is, by every reader and every command, and what to do with it?"""

import io
import time

import numpy as np
import pytest
from click.testing import CliRunner
from test_limits import READERS

import jaxmodal as jm
from jaxmodal.cli.commands import main
from jaxmodal.runtime import limits

URDF = """<?xml version="1.0"?>
<!-- a <sketch/> of an arm -->
<robot name="small_arm">
  <link name="base"/>
  <link name="boom"/>
  <joint name="yaw" type="revolute"><parent link="base"/><child link="boom"/><axis xyz="0 0 2"/></joint>
</robot>
"""
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
        "is a URDF .XML., a robot of links and joints.*joint_origin = .*arm-files",
    ),
    "byte order mark": (b"\xef\xbb\xbf" + URDF.encode(), "is a URDF"),
    "SDF": (b"<?xml version='1.0'?>\n<!DOCTYPE sdf>\n<sdf version='1.6'/>", "is XML .*<sdf>"),
    "XML in pieces": (b"\n <!-- never ends", "is XML, neither TOML nor JSON"),
    "netCDF": (b"CDF\x01\x00\x00\x00", "is a netCDF file, and no text"),
    "HDF5": (b"\x89HDF\r\n\x1a\n", "is an HDF5 or netCDF file"),
    "xlsx": (b"PK\x03\x04\x14\x00", "is a zip archive, as .xlsx"),
    "array": (array_file(), "is an array of NumPy"),
    "picture": (b"\x89PNG\r\n\x1a\n", "is a picture .PNG."),
}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", READERS)
def test_readers_say_what_a_file_is(name, format, tmp_path):
    read, _, error, _, suffix = READERS[name]
    content, words = FORMATS[format]
    for end in {suffix, ".urdf", ".xml"}:
        path = tmp_path / f"input{end}"
        path.write_bytes(content)
        with pytest.raises(error, match=words) as refused:
            read(path)
        assert str(refused.value).startswith(str(path))
        assert "line 1" not in str(refused.value)


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_say_that_a_file_is_a_urdf(name, tmp_path):
    path = tmp_path / "small.urdf"
    path.write_text(URDF)
    shown = CliRunner().invoke(main, [part.format(path) for part in COMMANDS[name]])
    assert (shown.exit_code, shown.stdout) == (2, "")
    assert f"Error: {path}: is a URDF (XML)" in " ".join(shown.stderr.split())
    assert [each.name for each in tmp_path.iterdir()] == ["small.urdf"]


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
