"""The first hour with an arm of one's own: from its file to the lightest design, by commands, and what they say.

The arm is geared: aluminium tubes, harmonic drives (N m/arcmin), rotors behind 1:100 gears (kg cm^2), a payload whose
centre lies off the axis. Each step reads what the one before has left, as a person at a terminal would.
"""

import json
import re
import shutil
from pathlib import Path

import pytest
import xarray as xr

import jaxmodal as jm
from tests.support.commands import run_command

ARM = Path(__file__).parent / "data" / "geared_two_link.toml"
SWEEP = """
name = "posture and payload"
arm = "arm.toml"
num_modes = 2
[[axes]]
parameter = "theta_2"
unit = "degree"
linspace = { start = 0, stop = 120, num = 5 }
[[axes]]
parameter = "payload_mass"
values = [0, 2, 4]
"""
PROBLEM = """
name = "lightest tubes"
arm = "arm.toml"
[[variables]]
parameter = "link1.section.wall_thickness"
lower = 0.001
upper = 0.006
[objective]
minimise = "mass"
[[constraints]]
kind = "frequency"
mode = 1
at_least_hz = 8.0
"""


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """A folder with the three files that a person would write."""
    folder = tmp_path_factory.mktemp("desk")
    shutil.copy(ARM, folder / "arm.toml")
    (folder / "sweep.toml").write_text(SWEEP)
    (folder / "lightest.toml").write_text(PROBLEM)
    return folder


@pytest.fixture
def say(desk, monkeypatch):
    """Run a command in that folder; it must succeed, without a remark."""
    monkeypatch.chdir(desk)

    def run(*words):
        result = run_command(*words)
        assert result.exit_code == 0, result.output
        assert "warning" not in result.stderr
        return result.stdout

    return run


def hertz_of(say, *options):
    (found,) = json.loads(
        say("frequencies", "arm.toml", "--modes", 3, *options, "--format", "json")
    )
    assert found["certified"] == [True] * 3
    return found["frequencies_hz"]


def test_the_file_is_understood(say):
    text = say("check", "arm.toml")
    for part in (
        "31 N m/arcmin",
        "13 N m/arcmin",
        "60°",
        "payload.centre_y",
        "no implausible values",
    ):
        assert part in text
    arm = jm.read_arm("arm.toml")
    assert float(arm.links[0].rotor_inertia) == 1.69e-4
    assert [float(link.length) for link in arm.links] == [0.9, 0.7]


def test_frequencies_and_pictures(say, desk):
    text = say("frequencies", "arm.toml", "--modes", 3)
    assert text.startswith("geared two-link arm (timoshenko, posture 60°)\n")
    shown = [float(x) for x in re.findall(r"│ +(\d+\.\d+) │ certified", text)]
    assert shown == pytest.approx(hertz_of(say), rel=1e-4)
    say("modes", "arm.toml", "--modes", 2, "--plot", "modes.png")
    assert (desk / "modes.png").read_bytes()[1:4] == b"PNG"


def test_what_matters_most_does(say, desk):
    """The first parameter of the list changes the first frequency by what the list says."""
    text = say("sensitivities", "arm.toml", "--modes", 1, "--top", 3, "--plot", "bars.png")
    rows = re.findall(r"│ (\S+) +│ +(\S+) │ (\S+) +│ (% per \S+) +│ +(\S+) │", text)
    assert len(rows) == 3
    assert (desk / "bars.png").exists()
    arm = jm.read_arm("arm.toml")
    name, value, unit, _, per_cent = rows[0]
    changed = [
        jm.set_parameters(arm, {name: float(jm.get_parameter(arm, name)) * (1.0 + step)})
        for step in (-1e-4, 1e-4)
    ]
    low, high = (float(jm.natural_frequencies(x, 1).omega[0]) for x in changed)
    assert unit == "m", "no angle, so per cent for per cent"
    assert (high / low - 1.0) / 2e-4 == pytest.approx(float(per_cent), abs=1e-3)
    assert float(value) == pytest.approx(float(jm.get_parameter(arm, name)), rel=1e-5)


def test_a_sweep_over_posture_and_payload(say):
    assert "5 values, 0 to 120 degree" in say("sweep", "plan", "sweep.toml")
    text = say("sweep", "run", "sweep.toml", "--no-plot")
    assert "30 of 30 modes certified" in text
    with xr.open_zarr("sweep.zarr") as data:
        own = data.frequency.sel(theta_2=60.0, payload_mass=4.0).values
    assert own == pytest.approx(hertz_of(say)[:2], rel=1e-9)


def test_angles_to_avoid(say):
    """A drive shakes the arm between 8 and 8.6 Hz: the borders have these frequencies, and only they."""
    text = say("resonance-map", "arm.toml", "--band-hz", "8,8.6")
    avoid = re.search(r"avoid, of joint 2: (.*)", text)[1]
    ends = [float(x) for x in re.findall(r"(-?[\d.]+)°", avoid)]
    borders = [float(x) for x in re.findall(r"│ +(-?\d+\.\d{6}) │", text)]
    assert ends == pytest.approx(borders, abs=0.05)
    found = [hertz_of(say, "--posture-deg", angle)[0] for angle in borders]
    assert found == pytest.approx([8.6, 8.0, 8.0, 8.6], rel=1e-6)


@pytest.mark.slow  # compiles what optimisations need
def test_the_lightest_arm(say, desk):
    text = say("optimise", "lightest.toml", "--no-plot")
    assert "converged" in text
    new = jm.read_arm(desk / "lightest_arm.toml")
    old = jm.read_arm(desk / "arm.toml")
    hertz = float(jm.natural_frequencies(new, 1).frequencies_hz[0])
    assert hertz == pytest.approx(8.0, rel=1e-5), "the limit is what holds it"
    assert float(new.total_mass) < float(old.total_mass)
    wall = float(new.links[0].section.wall_thickness)
    assert f"{wall:.6g}" in text
    thinner = jm.set_parameters(old, {"link1.section.wall_thickness": 0.98 * wall})
    assert float(jm.natural_frequencies(thinner, 1).frequencies_hz[0]) < 8.0
