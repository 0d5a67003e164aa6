"""A new user's hour with a robot: from its URDF to frequencies, pictures, what matters, the worst posture, a sweep.

Every step is a command as one types it; what it says is read, and held against the library.
"""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import jaxmodal as jm
import sweeps
from tests.support.commands import run_command

SMALL = Path(__file__).parent / "data" / "small_arm.urdf"
SPRINGS = {"yaw": 2e4, "pitch": 1.5e4, "roll": 3e3, "bend": 2e3}
SWEEP = """arm = "arm.toml"
num_modes = 2
[[axes]]
parameter = "pitch"
linspace = { start = -60, stop = 60, num = 7 }
unit = "degree"

[[axes]]
parameter = "bend"
linspace = { start = -90, stop = 90, num = 7 }
unit = "degree"
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hour")
    shutil.copy(SMALL, folder / "robot.urdf")
    return folder


@pytest.fixture
def type_in(place, monkeypatch):
    monkeypatch.chdir(place)

    def run(line, status=0):
        found = run_command(*line.split())
        assert found.exit_code == status, found.output
        return found

    return run


def robot():
    return jm.read_urdf(SMALL, joint_stiffness=SPRINGS)


def numbers(text):
    return [float(x) for x in re.findall(r"-?\d+\.\d+", text)]


@pytest.mark.filterwarnings("ignore::jaxmodal.ImplausibleWarning")
def test_an_hour_with_a_robot(type_in, place):
    # nothing gives way in the file as it is, which is said with the way on
    refused = type_in("frequencies robot.urdf", 2)
    assert "--joint-stiffness" in refused.stderr
    springs = " ".join(f"--joint-stiffness {name}={value:g}" for name, value in SPRINGS.items())
    made = type_in(f"convert robot.urdf --out arm.toml {springs}")
    assert "sections and materials of column, boom, wrist_a, wrist_b: taken as rigid" in made.output
    arm = jm.read_arm(place / "arm.toml")
    assert arm == robot()
    assert "no implausible values found" in type_in("check arm.toml").output

    # frequencies of a posture by the names of joints, as the issue of the file has them
    posture = "--posture-deg yaw=17.188734,pitch=-34.377468,roll=28.64789,bend=45.836624"
    shown = type_in(f"frequencies arm.toml --modes 4 {posture} --digits 9").stdout
    assert shown.count("certified") == 4
    expected = [16.08785978, 21.20520931, 48.41938925, 79.5964111]
    rows = [line for line in shown.splitlines() if "certified" in line]
    found = [numbers(line)[0] for line in rows]
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=0)

    # pictures of the modes, and which share of the energy is where
    modes = type_in("modes arm.toml --modes 2 --plot modes.png").stdout
    assert "joints %" in modes
    assert (place / "modes.png").stat().st_size > 20_000

    # what matters: a kilogram more at the wrist lowers the first frequency by so much
    table = json.loads(type_in("sensitivities arm.toml --modes 1 --format json").stdout)
    at = table["addresses"].index("link4.hub.mass")
    heavier = jm.set_parameters(arm, {"link4.hub.mass": float(arm.links[3].hub.mass) + 1e-4})
    change = (
        float(jm.natural_frequencies(heavier, 1).frequencies_hz[0]) - table["frequencies_hz"][0]
    )
    np.testing.assert_allclose(table["derivative_hz"][0][at], change / 1e-4, rtol=1e-3, atol=0)
    grouped = type_in("sensitivities arm.toml --modes 1 --top 5").stdout
    assert re.search(r"joints\s+│ pitch.joint_stiffness", grouped)

    # the worst posture within the limits of the file, at or below every cell of a sweep over it
    worst = type_in("worst arm.toml").stdout
    lowest = next(line for line in worst.splitlines() if "lowest" in line and "certified" in line)
    (place / "sweep.toml").write_text(SWEEP)
    type_in("sweep run sweep.toml --out cells.zarr")
    with sweeps.open_result(place / "cells.zarr") as ds:
        cells = ds.frequency.sel(mode=1).values
        assert bool(ds.certified.all())
    assert numbers(lowest)[0] <= cells.min() * (1.0 + 1e-4)
    type_in("sweep plot cells.zarr --kind maps --out map.png")
    assert (place / "map.png").stat().st_size > 20_000

    # what it carries: the ground bears its weight, less what stands on the ground
    rest = json.loads(type_in("statics arm.toml --gravity 0,0,-9.81 --format json").stdout)
    stands = float(arm.links[0].stator.mass) if arm.links[0].stator else 0.0
    weight = 9.81 * (float(arm.total_mass) - stands)
    np.testing.assert_allclose(rest["base_reaction"][2], weight, rtol=1e-12, atol=0)

    # how its tool answers with dampers in its joints: a peak at the first frequency
    (place / "dampers.toml").write_text('joint_damping = { "*" = 2.0 }')
    type_in(f"convert robot.urdf --out damped.toml --properties dampers.toml {springs}")
    command = "response damped.toml --input tip.z --output tip.z --band-hz 5,30"
    peaks = type_in(command).stdout
    assert any(abs(x - table["frequencies_hz"][0]) < 0.05 for x in numbers(peaks))
