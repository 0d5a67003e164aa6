"""The command `jaxmodal campbell`: a printed table of blades by a file, its formats, its picture, what it refuses.

What compiles: nothing beside `test_turning`, relative rest and a linearisation of a blade of as many shapes.
"""

import csv
import io
import json

import numpy as np
import pytest

from jaxmodal import dynamics
from jaxmodal.dynamics import turning_frequencies
from tests.support.commands import run_command

#: a blade that flaps alone, without spin of its sections; over its unit sqrt(EI/(m L^4)) its rates are 0 and 12
BLADE = """
dimensions = 3

[[links]]
length = 2.0
youngs_modulus = 1e10
density = 1000.0
poisson_ratio = 0.3
area = 1e-4
second_moment_y = 1e-9
second_moment_z = 1e-9
torsion_constant = 2e-9

[dynamics]
modes = { bending_xz = 10 }
torsional_inertia = 0.0
"""
UNIT = np.sqrt(1e10 * 1e-9 / (0.1 * 2.0**4))
#: frequencies of flapping in that unit at both rates, as printed
PRINTED = np.array([[3.516, 22.034, 61.697], [13.17, 37.603, 79.614]])


def called(*words):
    return run_command("campbell", *words)


@pytest.fixture
def blade(tmp_path):
    path = tmp_path / "blade.toml"
    path.write_text(BLADE)
    return path


def test_a_blade_flaps_as_printed_in_every_format(blade, tmp_path, monkeypatch):
    """Solved once: the formats are of one result."""
    solved = []

    def once(*asked):
        if not solved:
            solved.append(turning_frequencies(*asked))
        return solved[0]

    monkeypatch.setattr(dynamics, "turning_frequencies", once)
    picture = tmp_path / "campbell.png"
    words = [blade, "--rates", f"0,{float(12 * UNIT)!r}", "--points", 2, "--modes", 3]
    shown = called(*words, "--format", "json", "--plot", picture, "--order", "1", "--order", "3")
    assert shown.exit_code == 0, shown.output
    found = json.loads(shown.stdout)
    assert found["settled"] == [True, True]
    assert np.allclose(found["rate_rad_per_s"], [0.0, 12 * UNIT], rtol=1e-14, atol=0)
    hertz = np.array(found["frequency_hz"])
    # to the last digit of print
    assert np.abs(2 * np.pi * hertz / UNIT - PRINTED).max() < 1e-3
    assert picture.stat().st_size > 1000
    shown = called(*words, "--format", "csv")
    header, *rows = csv.reader(io.StringIO(shown.stdout))
    assert header[:4] == ["rate_rad_per_s", *(f"frequency_hz_{k}" for k in (1, 2, 3))]
    assert np.allclose(np.array(rows, float)[:, 1:4], hertz, rtol=1e-14, atol=0)
    shown = called(*words)
    assert "mode 3 [Hz]" in shown.stdout
    assert f"{hertz[1, 0]:.5g}" in shown.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--rates", "3,0"], "'3,0' is no range of rates"),
        (["--rates", "0,3", "--order", "0"], "0.0 is not in the range x>0.0"),
        (["--rates", "0,3", "--plot", "a.txt"], "ends in .png"),
        (["--rates", "0,3", "--modes", "40"], "--modes 40: must be a whole number from 1 to 10"),
        ([], "Missing option '--rates'"),
    ],
)
def test_options_that_are_not_allowed(blade, words, message):
    shown = called(blade, *words)
    assert shown.exit_code == 2
    assert message in " ".join(shown.output.split())


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("gravity = [0.0, -9.81, 0.0]", "is not along the axis of the first joint"),
        ('base = "free"', "an arm turns steadily on a base that does not move"),
        ("mode = 3", "dynamics.mode = 3: is not a known key"),
    ],
)
def test_arms_that_do_not_turn_steadily(blade, more, message):
    text = BLADE
    if "base" in more:
        text = text.replace(
            "[dynamics]", "stator = { mass = 4.0, inertia = [1.0, 1.0, 1.0] }\n\n[dynamics]"
        )
    blade.write_text(text + more)
    shown = called(blade, "--rates", "0,3")
    assert shown.exit_code == 2
    assert message in " ".join(shown.output.split())


def test_rates_without_relative_rest_are_said(blade):
    """A blade so soft that it hangs through under its weight, along the axis about which it turns."""
    blade.write_text(BLADE.replace("1e10", "1e4") + "gravity = [0.0, 0.0, -9.81]\n")
    shown = called(blade, "--rates", "0,0.1", "--points", 2, "--modes", 1, "--format", "json")
    assert shown.exit_code == 1, shown.output
    assert "no relative rest found at 1 of 2 rates, from 0.1 rad/s" in shown.stderr
    (still,), (turning,) = json.loads(shown.stdout)["frequency_hz"]
    assert still > 0.0
    assert turning is None
