"""Do maps of resonance along a value hold where both a row and the value change, and are they drawn and told?"""

import json

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.plots.figures import new_figure
from jaxmodal.plots.resonance_maps import draw_resonance_map
from jaxmodal.postures.resonance_lines import links, refined
from tests.support.commands import run_command

THREE = jm.examples.three_link_industrial().with_posture([0.7, -1.1])
SIX = jm.examples.six_axis_industrial()
BAND = (2 * np.pi * 10.0, 2 * np.pi * 14.0)
WIDE = (0.0, 400.0)


@pytest.fixture(scope="module")
def wide():
    return jm.resonance_free(THREE, *BAND, "payload_mass", points=5, values=(0.2, 1.2), limits=WIDE)


@pytest.mark.parametrize(
    ("arm", "hertz", "across", "values", "most"),
    [
        (THREE, (10.0, 14.0), "link2.length", (0.8, 1.6), 400.0),
        (SIX, (12.0, 17.0), "link2.joint_stiffness", (2e5, 2e6), 60.0),
    ],
    ids=["plane", "space"],
)
def test_each_row_has_its_own_arm(arm, hertz, across, values, most):
    """Counts of single arms that have the value of the row and one along it."""
    band = 2 * np.pi * hertz[0], 2 * np.pi * hertz[1]
    found = jm.resonance_free(
        arm, *band, "payload.mass", across, 3, values=values, limits=(0.0, most)
    )
    assert found.certified
    assert np.isfinite(found.border).any()
    masses = np.linspace(0.0, most, 4)
    for value, row in zip(found.across_angle, found.on_grid(masses), strict=True):
        for mass, number in zip(masses, row, strict=True):
            there = jm.set_parameters(arm, {"payload.mass": float(mass), across: float(value)})
            low, high = (int(n) for n in jm.count_below(there, np.array(band)))
            assert high - low == number


def test_rows_are_those_of_the_first_joint_that_turns(wide):
    assert wide.joint == "payload.mass"
    assert wide.across == 2
    assert wide.border.shape == (5, 4)
    ds = wide.to_xarray()
    assert ds.attrs["limits"] == list(WIDE)
    assert ds["border_value"].attrs["units"] == "kg"


def test_lines_of_a_value_end_at_borders_and_do_not_wrap(wide):
    assert wide.certified
    assert np.nanmax(np.asarray(wide.border)) > 180.0
    fine = refined(THREE, wide)
    border = np.asarray(fine.border)
    for link in links(fine, 0.004 * 400.0)[0]:
        for row, mass in zip(link.rows, link.angles, strict=True):
            assert np.nanmin(np.abs(border[row] - mass)) < 1e-9
    axes = draw_resonance_map(fine, new_figure(6.0, 5.0).add_subplot())
    x, y = np.concatenate([line.get_xydata() for line in axes.lines]).T
    assert np.nanmin(x) >= 0.0
    drawn = set(zip(x, y, strict=True))
    angles = np.degrees(np.asarray(fine.across_angle))
    rows, columns = np.nonzero(np.isfinite(border))
    joined = sum((border[i, k], angles[i]) in drawn for i, k in zip(rows, columns, strict=True))
    assert joined > 0.95 * rows.size


def test_one_row_is_drawn_with_its_values():
    one = jm.Arm(THREE.links[:1])
    found = jm.resonance_free(one, 60.0, 90.0, "payload.mass", limits=(0.0, 1000.0))
    border = np.asarray(found.border)[0]
    assert np.isfinite(border).sum() == 2
    axes = found.plot()
    texts = [text.get_text() for text in axes.texts]
    assert texts == [f"{mass:.4g}, mode 1" for mass in border[:2]]
    assert found.avoid == [(border[0], border[1])]


def test_values_are_told_to_nine_digits_and_numbers_without_a_unit():
    links_of = list(THREE.links)
    links_of[1] = links_of[1].replace(
        rotor_inertia=0.5, gear_ratio=3.0, motor="beyond_spring", joint_stiffness=1e6
    )
    arm = THREE.replace(links=tuple(links_of))
    omega = float(jm.natural_frequencies(arm, 3).omega[-1])
    found = jm.postures_at(arm, omega, "link2.gear_ratio", limits=(-20.0, 20.0))
    (table,) = found.tables()
    assert table.headings[0] == "link2.gear_ratio"
    told = [float(row[0]) for row in table.rows]
    known = np.asarray(found.value)[np.asarray(found.found)]
    assert told == pytest.approx(known.tolist(), rel=1e-8, abs=0.0)


def test_a_rigid_link_on_a_spring_bears_the_mass_of_the_closed_form():
    """omega^2 = k/(m l^2): no link says which mass is usual."""
    link = jm.SpatialLink(0.8, rigid=True, joint_stiffness=500.0)
    arm = jm.SpatialArm((link,), jm.RigidBody(1.0))
    found = jm.postures_at(arm, 12.0, "payload.mass")
    known = np.asarray(found.value)[np.asarray(found.certified)]
    assert known == pytest.approx([500.0 / (12.0**2 * 0.8**2)], rel=1e-12, abs=0.0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"joint": "payload.weight"}, "joint = 'payload.weight': .*Did you mean"),
        ({"joint": "link2.length"}, "joint = 'link2.length': expected the number of a joint"),
        ({"limits": (1.0, 0.0)}, "limits = .*ascending, finite, in kg"),
        ({"limits": (-1.0, 1.0)}, "limits = .*ascending, from 0 on, in kg"),
        ({"across": 9}, r"across = 9; expected a joint \(of 2, 3\), or the address of a parameter"),
        ({"across": 2, "values": (1.0, 1.0)}, "values = .*ascending, in rad"),
    ],
)
def test_what_has_no_map_is_refused(changes, message):
    asked = {"joint": "payload.mass", "limits": (0.0, 1.0)} | changes
    with pytest.raises((ValueError, jm.ArmError), match=message):
        jm.resonance_free(THREE, *BAND, **asked)


def test_degrees_for_radians_are_warned_of():
    with pytest.warns(jm.ImplausibleWarning, match=r"postures = \[0, 90\]: rad expected"):
        jm.postures_at(THREE, 100.0, "payload.mass", [0, 90])
    with pytest.warns(jm.ImplausibleWarning, match=r"values = \(-90, 90\): rad expected"):
        jm.resonance_free(THREE, *BAND, "payload.mass", 2, 2, values=(-90, 90), limits=(0.0, 1.0))


def run(*arguments):
    asked = [arguments[0], "example:three_link_industrial", "--posture-deg", "40,-60"]
    return run_command(*asked, *arguments[1:])


def test_commands_name_values_in_si_units():
    done = run("postures", "--frequency", "30", "--joint", "payload.mass", "--format", "csv")
    lines = done.stdout.splitlines()
    assert lines[0] == "joint,value,mode,status"
    arm = THREE.with_posture(np.radians([40.0, -60.0]))
    own = np.asarray(jm.postures_at(arm, 2 * np.pi * 30.0, "payload.mass").value)
    assert float(lines[1].split(",")[1]) == pytest.approx(own[0], rel=1e-12, abs=0.0)
    asked = ["--joint", "payload.mass", "--range", "payload.mass=0,400", "--points", "5"]
    done = run("resonance-map", "--band-hz", "10,14", *asked, "--format", "json")
    told = json.loads(done.stdout)
    assert (told["joint"], told["across"], told["limits"]) == ("payload.mass", 2, [0.0, 400.0])
    found = jm.resonance_free(arm, *BAND, "payload.mass", 2, 5, limits=WIDE)
    for row, border in zip(told["rows"], np.asarray(found.border), strict=True):
        assert row["border"] == pytest.approx(border[np.isfinite(border)].tolist(), rel=1e-12)
    done = run("resonance-map", "--band-hz", "10,14", *asked)
    assert "payload.mass from 0 to 400 kg, joint 2 turns" in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--joint", "payload.weight"], "--joint payload.weight: 'payload.weight' is not"),
        (
            [
                "--joint",
                "payload.mass",
                "--range",
                "payload.mass=0,2",
                "--range",
                "payload_mass=0,3",
            ],
            "--range payload_mass: is that of --joint a second time",
        ),
        (["--joint", "\N{SUPERSCRIPT TWO}"], "--joint \N{SUPERSCRIPT TWO}: "),
        (["--joint", "theta_2"], "--joint theta_2: is the angle of a joint"),
    ],
)
def test_commands_refuse_what_has_no_map(arguments, words):
    done = run("resonance-map", "--band-hz", "10,14", *arguments)
    assert done.exit_code == 2
    assert words in " ".join(done.output.split())
