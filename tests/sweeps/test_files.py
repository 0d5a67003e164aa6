"""Sweeps in files: they say what Python does, built-in ones can be read, and what is wrong is refused with its name."""

import tomllib

import pytest

import jaxmodal as jm
import sweeps
from sweeps.definition.descriptions import differences
from sweeps.definition.files import sweep_text

TWO_LINK = "example:two_link_flexible"

GOOD = """\
name = "a sweep"
arm = "example:two_link_flexible"
theories = ["timoshenko", "rayleigh"]
num_modes = 4
outputs = ["multiplicity"]

[[axes]]
parameter = "theta_2"
unit = "degree"
linspace = { start = 0, stop = 180, num = 5 }

[[axes]]
name = "load"
zip = [
    { parameter = "payload.mass", values = [0, 1] },
    { parameter = "payload.inertia", values = [0.0, 0.1] },
]

[[axes]]
random = { method = "sobol", num = 4, seed = 1, ranges = [{ parameter = "link1.length", low = 0.4, high = 0.6 }] }
"""


def test_a_file_and_python_define_the_same_sweep(tmp_path):
    path = tmp_path / "sweep.toml"
    path.write_text(GOOD)
    load = sweeps.zipped(
        sweeps.axis("payload.mass", [0, 1]), sweeps.axis("payload.inertia", [0, 0.1]), name="load"
    )
    lengths = sweeps.random_design(
        [sweeps.Range("link1.length", 0.4, 0.6)], 4, seed=1, method="sobol"
    )
    written = sweeps.Sweep(
        TWO_LINK,
        [sweeps.linspace("theta_2", 0, 180, 5, unit="degree"), load, lengths],
        theories=["timoshenko", "rayleigh"],
        num_modes=4,
        outputs=["multiplicity"],
    )
    read = sweeps.read_sweep(path)
    assert differences(read.description(), written.description()) == []
    assert read.name == "a sweep"
    assert sweeps.read_sweep(path, points=7).shape == (7, 2, 4)


def test_an_arm_is_read_beside_the_file_or_inside_it(tmp_path):
    arm = jm.examples.two_link_flexible()
    jm.write_arm(arm, tmp_path / "arm.toml")
    document = tomllib.loads(GOOD)
    beside = sweeps.sweep_from_dict(document | {"arm": "arm.toml"}, folder=tmp_path)
    inside = sweeps.sweep_from_dict(document | {"arm": arm.to_dict()})
    named = sweeps.sweep_from_dict(document)
    assert beside.fingerprint == inside.fingerprint == named.fingerprint


@pytest.mark.parametrize("name", sweeps.sweep_names())
def test_every_built_in_sweep_can_be_read(name):
    assert sweeps.read_sweep(f"example:{name}").name
    assert sweep_text(name).startswith("#")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("num_modes = 4", "num_mode = 4", ("num_mode = 4", "Did you mean 'num_modes'")),
        ('arm = "example:two_link_flexible"\n', "", ("arm is missing",)),
        ("arm =", "arm = 3 #", ("arm = 3",)),
        ('unit = "degree"', 'units = "degree"', ("axes[1]", "Did you mean 'unit'")),
        ('parameter = "theta_2"', 'parameter = "theta2"', ("axes[1]", "theta_2")),
        ("num = 5 }", "num = 5, seed = 2 }", ("axes[1]", "seed = 2")),
        ("start = 0, ", "", ("axes[1]", "start is missing")),
        ("linspace = {", "values = [1]\nlinspace = {", ("values and linspace are given",)),
        ("linspace = { start = 0, stop = 180, num = 5 }", "", ("axes[1]", "none is given")),
        (
            "linspace = { start = 0, stop = 180, num = 5 }",
            "linspace = 5",
            ("linspace = 5", "stop = "),
        ),
        (
            "linspace = {",
            "linspace_deg = {",
            ("linspace_deg = {", 'write linspace, and unit = "degree"'),
        ),
        ('name = "load"\n', "", ("axes[2]", "name is missing")),
        ("zip = [", "zip = 3 #", ("is not TOML",)),
        ("values = [0, 1] }", "values = [0] }", ("axes[2]", "differ in length")),
        ("seed = 1, ", "", ("axes[3]", "seed is missing")),
        ("low = 0.4", "lo = 0.4", ("axes[3]", "Did you mean 'low'")),
        ('method = "sobol"', "method = 3", ("axes[3]", "method = 3")),
        ('theories = ["timoshenko", "rayleigh"]', "theories = 3", ("theories = 3",)),
        ('outputs = ["multiplicity"]', 'outputs = "certifed"', ("Did you mean 'certified'",)),
    ],
)
def test_a_wrong_file_is_refused_with_its_name(tmp_path, old, new, words):
    path = tmp_path / "sweep.toml"
    assert old in GOOD
    path.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(sweeps.SweepError) as refused:
        sweeps.read_sweep(path)
    assert str(refused.value).startswith(str(path))
    for word in words:
        assert word in str(refused.value)


def test_axes_that_are_no_tables_are_refused():
    document = {"arm": TWO_LINK}
    for axes, words in [
        (3, "one table or more"),
        ([], "one table or more"),
        ([3], "must be a table"),
        ([{"name": "a", "zip": 3}], "zip = 3"),
        ([{"random": 3}], "random = 3"),
        ([{"random": {"num": 1, "seed": 1, "ranges": 3}}], "ranges = 3"),
    ]:
        with pytest.raises(sweeps.SweepError, match=words):
            sweeps.sweep_from_dict(document | {"axes": axes})
    with pytest.raises(sweeps.SweepError, match=r"arm: links = 3"):
        sweeps.sweep_from_dict(
            {"arm": {"links": 3}, "axes": [{"parameter": "theta_2", "values": [0]}]}
        )


def test_files_that_cannot_be_read_are_refused(tmp_path):
    with pytest.raises(sweeps.SweepError, match="cannot be read"):
        sweeps.read_sweep(tmp_path / "none.toml")
    with pytest.raises(sweeps.SweepError, match="example:three_link_payload"):
        sweeps.read_sweep("three_link_payload")
    with pytest.raises(sweeps.SweepError, match="Did you mean 'three_link_payload'"):
        sweeps.read_sweep("example:three_link_payloads")
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe")
    with pytest.raises(sweeps.SweepError, match="UTF-8"):
        sweeps.read_sweep(binary)
