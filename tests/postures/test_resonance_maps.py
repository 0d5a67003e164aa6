"""Are the borders of the resonance-free postures where the counts change, and is the picture drawn?"""

import json
from pathlib import Path

import jax
import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.plots.resonance_maps import plot_resonance_map
from tests.support.commands import run_command

THREE = jm.examples.three_link_industrial()
BAND = (2 * np.pi * 40.0, 2 * np.pi * 50.0)


@pytest.fixture(scope="module")
def three():
    return jm.resonance_free(THREE, *BAND, points=13)


def inside(arm, band):
    low, high = (int(n) for n in jm.count_below(arm, np.array(band)))
    return high - low


def test_the_number_of_modes_is_that_of_the_counts(three):
    """At random postures, and at both sides of every border of some rows."""
    assert three.certified
    rng = np.random.default_rng(0)
    across = np.asarray(three.across_angle)
    turn = np.sort(rng.uniform(-np.pi, np.pi, 4))
    grid = three.on_grid(turn)
    assert grid.shape == (13, 4)
    for row in (1, 4, 9):
        for angle, number in zip(turn, grid[row], strict=True):
            assert inside(THREE.with_posture([angle, across[row]]), BAND) == number
        borders = np.asarray(three.border)[row]
        for k in np.flatnonzero(np.isfinite(borders)):
            both = [
                inside(THREE.with_posture([borders[k] + side * 1e-9, across[row]]), BAND)
                for side in (-1.0, 1.0)
            ]
            assert both == [int(n) for n in three.modes_inside[row, k : k + 2]]
            assert abs(both[0] - both[1]) == 1


def test_borders_belong_to_an_end_and_a_mode(three):
    exists = np.isfinite(np.asarray(three.border))
    assert exists.any()
    assert set(np.asarray(three.end)[exists]) == {0, 1}
    assert np.all(np.asarray(three.end)[~exists] == -1)
    row, column = (int(i[0]) for i in np.nonzero(exists))
    angles = [float(three.border[row, column]), float(three.across_angle[row])]
    mode, end = int(three.border_mode[row, column]), int(three.end[row, column])
    omega = jm.natural_frequencies(THREE.with_posture(angles), 5).omega[mode - 1]
    assert abs(float(omega) / BAND[end] - 1.0) < 1e-11


def test_the_free_share_is_that_of_many_postures(three):
    """Against a fine grid of the row: as far off as its step can be for each border."""
    fine = np.linspace(-np.pi, np.pi, 20_001)
    share = (three.on_grid(fine) == 0).mean(axis=1)
    assert np.abs(share - np.asarray(three.free)).max() < 9 / 20_000


@pytest.mark.parametrize("angles", [[3.2], [0.0, np.nan], [[0.0]], 0.0])
def test_angles_outside_the_map_are_refused(three, angles):
    with pytest.raises(ValueError, match=r"angles = .*of joint 2 .*from -3\.14159 to 3\.14159 rad"):
        three.on_grid(angles)


def test_a_two_link_arm_has_one_row():
    arm = jm.examples.two_link_flexible()
    found = jm.resonance_free(arm, 2 * np.pi * 0.21, 2 * np.pi * 0.24)
    assert found.border.shape == (1, 8)
    assert found.across == 0
    angles = np.asarray(found.border)[0, :4]
    assert np.allclose(angles, -angles[::-1], atol=1e-12), "the mirror image"
    assert inside(arm.with_posture([0.5 * (angles[2] + angles[3])]), np.asarray(found.band)) == 1
    picture = plot_resonance_map(found).axes[0]
    assert np.allclose([line.get_xdata()[0] for line in picture.lines], np.degrees(angles))


GEARED = jm.read_arm(Path(__file__).parent.parent / "data" / "geared_two_link.toml")
SHAKEN = (2 * np.pi * 8.0, 2 * np.pi * 8.6)
LIMITS = np.radians([-60.0, 150.0])


def test_a_parameter_may_stand_across():
    """Borders of each payload are angles with the band's end; between them the counts; the payload is off the axis."""
    found = jm.resonance_free(
        GEARED, *SHAKEN, across="payload.mass", values=(0.0, 6.0), points=5, limits=LIMITS
    )
    assert (found.across, found.certified) == ("payload.mass", True)
    masses = np.asarray(found.across_angle)
    np.testing.assert_array_equal(masses, [0.0, 1.5, 3.0, 4.5, 6.0])
    borders, ends = np.asarray(found.border), np.asarray(found.end)
    assert np.isfinite(borders).sum() >= 4
    for row, place in zip(*np.nonzero(np.isfinite(borders)), strict=True):
        arm = jm.set_parameters(GEARED, {"payload.mass": masses[row]})
        held = arm.with_posture([borders[row, place]])
        omega = jm.natural_frequencies(held, 3).omega[found.border_mode[row, place] - 1]
        assert abs(float(omega) / SHAKEN[ends[row, place]] - 1.0) < 1e-11
        both = [
            inside(arm.with_posture([borders[row, place] + side * 1e-9]), SHAKEN)
            for side in (-1.0, 1.0)
        ]
        assert both == [int(n) for n in found.modes_inside[row, place : place + 2]]


def test_limits_cut_a_turn():
    """Angles to avoid end at a limit, and shares are those of the range."""
    arm = jm.set_parameters(GEARED, {"payload.mass": 4.0})
    whole = jm.resonance_free(arm, *SHAKEN)
    found = jm.resonance_free(arm, *SHAKEN, limits=LIMITS)
    assert found.avoid[0][0] == pytest.approx(-60.0)
    assert found.avoid[1] == whole.avoid[1]
    avoided = sum(high - low for low, high in found.avoid)
    assert float(found.free[0]) == pytest.approx(1.0 - avoided / 210.0)
    assert "within -60° to 150°" in str(found)


def test_a_map_of_a_joint_and_a_parameter_of_an_arm_without_shear_data():
    """theta_3 is a joint by another name; stiffness has a unit on its axis; lines say which mode they are."""
    link = jm.Link(1.0, 7e10, 2700.0, jm.circle(0.03), joint_stiffness=1e3)
    arm = jm.Arm((link, link))
    found = jm.resonance_free(
        *(arm, 10.0, 16.0), across="link2.joint_stiffness", values=(200.0, 2000.0), points=4,
        theory="bending_only",
    )  # fmt: skip
    assert found.certified
    assert np.isfinite(np.asarray(found.border)).any()
    axes = plot_resonance_map(found).axes[0]
    assert axes.get_ylabel() == "link2.joint_stiffness [N m/rad]"
    (legend,) = axes.figure.legends
    assert any(text.get_text().startswith("mode 1 at ") for text in legend.get_texts())
    assert found.to_xarray()["across_value"].attrs["units"] == "N m/rad"
    again = jm.resonance_free(THREE, *BAND, across="theta_3", points=3)
    assert again.across == 3


def test_the_picture_is_written(three, tmp_path):
    for name in ("map.png", "map.svg"):
        figure = plot_resonance_map(three, tmp_path / name)
        assert (tmp_path / name).stat().st_size > 5000
    assert "40" in figure.axes[0].get_title()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"omega_min": 0.0}, "omega_min = 0.0"),
        ({"omega_max": 1.0}, "omega_max = 1.0"),
        ({"across": 2}, r"another joint than 2 \(of 3\), or"),
        ({"across": 7}, r"another joint than 2 \(of 3\), or"),
        ({"joint": 5}, "joint = 5"),
        ({"points": 1}, "points = 1"),
        ({"across": "payload.mass"}, "payload.mass needs them.*in kg"),
        ({"across": "payload.mas", "values": (0, 1)}, "Did you mean 'payload.mass'"),
        ({"across": "payload.mass", "values": (-1, 1)}, "payload.mass = -1.0"),
        (
            {"across": "payload.mass", "values": (1, 0)},
            "the first and the last value, ascending, in kg",
        ),
        ({"across": "theta_2"}, r"another joint than 2 \(of 3\), or"),
        ({"limits": (1.0, 0.0)}, "two angles in rad"),
        ({"limits": (-4.0, 0.0)}, "from -pi to pi"),
    ],
)
def test_bad_maps_are_refused(changes, words):
    with pytest.raises(ValueError, match=words):
        jm.resonance_free(THREE, **({"omega_min": BAND[0], "omega_max": BAND[1]} | changes))


def test_traced_arms_are_refused():
    def free(mass):
        return jm.resonance_free(jm.set_parameters(THREE, {"payload.mass": mass}), *BAND).border

    with pytest.raises(ValueError, match="arm: holds traced values"):
        jax.eval_shape(free, 1.0)


def test_the_command_postures():
    arguments = ["postures", "example:three_link_industrial", "--frequency", "45"]
    done = run_command(*arguments, "--posture-deg", "0,90", "--format", "json")
    assert done.exit_code == 0, done.output
    rows = json.loads(done.stdout)
    assert len(rows) == 4
    for row in rows:
        arm = THREE.with_posture(np.radians([row["angle_deg"], 90.0]).tolist())
        hertz = jm.natural_frequencies(arm, 5).frequencies_hz[row["mode"] - 1]
        assert abs(float(hertz) / 45.0 - 1.0) < 1e-11
    lines = run_command(*arguments, "--posture-deg", "0,90", "--format", "csv").stdout.splitlines()
    assert lines[0] == "joint,angle_deg,mode,status"
    assert len(lines) == 5
    assert "certified" in run_command(*arguments, "--posture-deg", "0,90").stdout
    none = run_command("postures", "example:three_link_industrial", "--frequency", "15")
    assert none.exit_code == 0
    assert "no posture" in none.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["postures", "example:two_link_flexible", "--frequency", "-1"], "--frequency -1.0"),
        (
            ["postures", "example:two_link_flexible", "--frequency", "1", "--joint", "3"],
            "--joint 3: expected",
        ),
        (["resonance-map", "example:two_link_flexible", "--band-hz", "5,4"], "'5,4'"),
        (["resonance-map", "example:two_link_flexible", "--band-hz", "a,b"], "'a,b'"),
        (["resonance-map", "example:two_link_flexible", "--band-hz", "4"], "'4'"),
    ],
)
def test_bad_commands_end_with_status_2(arguments, words):
    done = run_command(*arguments)
    assert done.exit_code == 2
    assert words in done.stderr


def test_the_command_resonance_map(tmp_path):
    out = tmp_path / "map.png"
    arguments = ["resonance-map", "example:three_link_industrial", "--band-hz", "40,50"]
    done = run_command(*arguments, "--points", "13", "--plot", str(out))
    assert done.exit_code == 0, done.output
    assert "all certified" in done.stdout
    assert out.exists()
    file = str(Path(__file__).parent.parent / "data" / "geared_two_link.toml")
    shaken = ["resonance-map", file, "--band-hz", "8,8.6", "--across", "payload.mass"]
    done = run_command(
        *shaken, "--range", "payload.mass=0,6", "--points", "5", "--range=theta_2=-60,150"
    )
    assert "within -60° to 150°, payload.mass [kg] from 0 to 6" in done.stdout
    assert "free of resonance; 6 borders, all certified" in done.stdout
    for wrong in (
        ["--range=payload.mass=6,0"],
        ["--range", "payload.mass=0,6", "--range=theta_2=-200,0"],
    ):
        done = run_command(*shaken, *wrong)
        assert done.exit_code == 2
        assert wrong[-1].rpartition("=")[2] in done.stderr
