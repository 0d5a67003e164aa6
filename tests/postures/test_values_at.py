"""Are the masses and springs found with which an arm has a given frequency, and maps of resonance along them right?"""

import json

import numpy as np
import pytest

import jaxmodal as jm
from jaxmodal.postures import value_zeros
from jaxmodal.postures.resonance_lines import refined
from tests.support.commands import run_command

THREE = jm.examples.three_link_industrial().with_posture([0.7, -1.1])
SIX = jm.examples.six_axis_industrial()
#: what rounds the frequency asked for, over how much it depends on the value: of a payload of 1e-5 kg it is 1e-8
FAR, USUAL = 1e-7, 1e-11
BAND = (2 * np.pi * 40.0, 2 * np.pi * 50.0)


def bodies_and_springs():
    links = [link.replace(joint_stiffness=1e6) for link in THREE.links]
    links[1] = links[1].replace(
        rotor_inertia=0.5, gear_ratio=3.0, motor="beyond_spring", hub_mass=1.0
    )
    links[2] = links[2].replace(support_x_stiffness=1e5, support_y_stiffness=1e5)
    return THREE.replace(links=tuple(links), base_stiffness=[3e8, 2e8, 5e6])


@pytest.mark.parametrize(
    ("address", "values", "near"),
    [
        ("payload.mass", (1e-5, 1e7), FAR),
        ("payload.mass", (1.0, 30.0), USUAL),
        ("payload.inertia", (0.05, 20.0), USUAL),
        ("link2.hub_mass", (0.5, 10.0), USUAL),
        ("link2.rotor_inertia", (0.1, 5.0), USUAL),
        ("link2.joint_stiffness", (10.0, 1e11), FAR),
        ("link2.joint_stiffness", (1e5, 1e7), USUAL),
        ("base_stiffness.k33", (1e5, 1e7), USUAL),
        ("link3.support_x_stiffness", (1e4, 1e7), 1e-10),
    ],
)
def test_the_value_that_a_frequency_came_from_is_found(address, values, near):
    """In another arm, solved by itself; and with each value found, the mode told has the frequency."""
    for value, mode in zip(values, (2, 3), strict=True):
        arm = bodies_and_springs()
        there = jm.set_parameters(arm, {address: value})
        omega = float(jm.natural_frequencies(there, mode).omega[-1])
        found = jm.postures_at(arm, omega, address)
        assert found.ok
        known = np.asarray(found.value)[np.asarray(found.certified)]
        at = int(np.argmin(np.abs(known / value - 1.0)))
        assert abs(known[at] / value - 1.0) < near
        assert int(found.mode[at]) == mode
        for x, number in zip(known, np.asarray(found.mode), strict=False):
            other = jm.set_parameters(arm, {address: float(x)})
            again = jm.natural_frequencies(other, int(number)).omega[-1]
            assert abs(float(again) / omega - 1.0) < 1e-12


def test_a_gear_of_either_sign_is_found_between_limits():
    arm = bodies_and_springs()
    omega = float(jm.natural_frequencies(arm, 3).omega[-1])
    found = jm.postures_at(arm, omega, "link2.gear_ratio", limits=(-20.0, 20.0))
    assert found.ok
    assert np.nanmin(np.abs(np.asarray(found.value) - 3.0)) < 1e-10
    assert not jm.postures_at(arm, omega, "link2.gear_ratio", limits=(3.1, 3.2)).found.any()


@pytest.mark.parametrize("address", ["payload.mass", "link3.joint_stiffness"])
def test_as_many_values_as_the_count_changes_between_its_ends(address):
    """A mass lowers all frequencies and a spring raises them: the change of the count is the number of values."""
    arm = THREE
    ends = {"payload.mass": (1e-3, 1e4), "link3.joint_stiffness": (1e3, 1e9)}[address]
    rng, total = np.random.default_rng(4), 0
    omega = 2 * np.pi * rng.uniform(2.0, 60.0, 24)
    found = jm.postures_at(arm, omega, address, limits=ends)
    assert found.ok
    for k, w in enumerate(omega):
        counts = [
            int(jm.count_below(jm.set_parameters(arm, {address: x}), np.array([w]))[0])
            for x in ends
        ]
        assert abs(counts[1] - counts[0]) == int(found.found[k].sum())
        total += int(found.found[k].sum())
    assert total > 3


def test_many_postures_and_frequencies_have_a_row_each():
    postures = np.array([[0.3, 0.4], [1.0, -2.0]])
    found = jm.postures_at(THREE, [60.0, 150.0], "payload.mass", postures)
    assert found.value.shape == (2, 2)
    for k in range(2):
        alone = jm.postures_at(THREE.with_posture(postures[k]), [60.0, 150.0][k], "payload.mass")
        assert np.array_equal(found.value[k], alone.value, equal_nan=True)
    with pytest.raises(
        AttributeError, match=r"angle: .* values of payload.mass, in kg.*; read value"
    ):
        _ = found.angle
    assert "payload.mass [kg]" in str(found)
    ds = found.to_xarray()
    assert ds["value"].attrs["units"] == "kg"
    assert ds.attrs["joint"] == "payload.mass"


LEANING = SIX.replace(
    links=(
        *SIX.links[:-1],
        SIX.links[-1].replace(supports=(jm.Support("translation", (0, 1, 1), 0.0),)),
    )
)


@pytest.mark.parametrize(
    ("arm", "address", "value", "limits", "most"),
    [
        (SIX, "payload.mass", 7.5, None, 3),
        (SIX, "link3.joint_stiffness", 2e5, None, 1),
        (SIX, "link2.gear_ratio", -90.0, (-200.0, 0.0), 2),
        (SIX, "payload.inertia.xx", 0.2, (0.0, 0.32), 1),
        (SIX, "payload.inertia.xz", -0.05, (-0.07, 0.07), 2),
        (SIX, "link*.joint_stiffness", 8e5, None, 6),
        (LEANING, "link6.support1.stiffness", 3e5, None, 1),
    ],
)
def test_values_in_space(arm, address, value, limits, most):
    """With each value found an arm solved by itself has the frequency, and the one it came from is among them."""
    there = jm.set_parameters(arm, {address: value})
    omega = float(jm.natural_frequencies(there, 4).omega[-1])
    found = jm.postures_at(arm, omega, address, limits=limits)
    assert found.ok
    assert found.value.shape == (most,)
    at = int(np.nanargmin(np.abs(np.asarray(found.value) / value - 1.0)))
    assert abs(float(found.value[at]) / value - 1.0) < 1e-10
    assert int(found.mode[at]) == 4
    for x, mode in zip(np.asarray(found.value), np.asarray(found.mode), strict=True):
        if mode:
            other = jm.set_parameters(arm, {address: float(x)})
            again = jm.natural_frequencies(other, int(mode)).omega[-1]
            assert abs(float(again) / omega - 1.0) < 1e-12


def test_as_many_values_of_several_springs_as_the_count_changes_between_their_ends():
    """Of six equal springs, which all raise each frequency."""
    ends, omega = (100.0, 1e8), 2 * np.pi * np.array([3.0, 9.0, 14.0, 21.0, 33.0])
    found = jm.postures_at(SIX, omega, "link*.joint_stiffness", limits=ends)
    assert found.ok
    low, high = (
        jm.count_below(jm.set_parameters(SIX, {"link*.joint_stiffness": x}), omega) for x in ends
    )
    assert np.asarray(low - high).tolist() == np.asarray(found.found).sum(axis=1).tolist()
    assert np.asarray(found.found).sum() > 20


def test_a_map_along_the_payload_is_that_of_the_counts():
    """Borders as of the map along the joint, crossed the other way; counts between them are those of single arms."""
    found = jm.resonance_free(
        THREE, *BAND, joint="payload.mass", across=2, points=7, limits=(0.0, 40.0)
    )
    assert found.certified
    assert found.border.shape == (7, 4)
    rng, masses = np.random.default_rng(1), np.linspace(0.5, 39.5, 5)
    grid = found.on_grid(masses)
    for row in rng.integers(0, 7, 2):
        arm = THREE.with_posture([float(found.across_angle[row]), -1.1])
        for mass, number in zip(masses, grid[row], strict=True):
            loaded = jm.set_parameters(arm, {"payload.mass": float(mass)})
            low, high = (int(n) for n in jm.count_below(loaded, np.array(BAND)))
            assert high - low == number
    row, column = (int(i[0]) for i in np.nonzero(np.isfinite(found.border)))
    mass, angle = float(found.border[row, column]), float(found.across_angle[row])
    loaded = jm.set_parameters(THREE, {"payload.mass": mass})
    own = BAND[int(found.end[row, column])]
    angles = jm.postures_at(loaded, own, 2).angle
    assert (
        np.nanmin(np.abs(np.cos(angles) - np.cos(angle)) + np.abs(np.sin(angles) - np.sin(angle)))
        < 1e-8
    )
    fine = np.linspace(0.0, 40.0, 8001)
    share = (found.on_grid(fine) == 0).mean(axis=1)
    assert np.abs(share - np.asarray(found.free)).max() < 5 / 8000


def test_a_map_of_two_values_has_smooth_lines_and_a_picture(tmp_path):
    asked = {"across": "link2.joint_stiffness", "values": (1e5, 1e7), "limits": (0.0, 60.0)}
    found = jm.resonance_free(THREE, *BAND, joint="payload.mass", points=5, **asked)
    assert found.certified
    fine = refined(THREE, found)
    assert fine.border.shape[0] >= 5
    axes = found.plot()
    assert axes.get_xlabel() == "payload.mass [kg]"
    assert "link2.joint_stiffness" in axes.get_ylabel()
    assert jm.postures_at(THREE, BAND[0], "payload.mass").plot().get_xlabel() == "payload.mass [kg]"


@pytest.mark.parametrize(
    ("arm", "hertz", "address", "limits"),
    [
        (bodies_and_springs(), (13.0, 19.0), "link2.joint_stiffness", (1e4, 1e7)),
        (SIX, (12.0, 17.0), "payload.mass", (0.0, 60.0)),
        (SIX, (12.0, 17.0), "link*.joint_stiffness", (1e5, 1e7)),
        (SIX, (36.4, 40.0), "payload.inertia.yy", (0.05, 0.28)),
    ],
    ids=["spring", "space", "springs", "tensor"],
)
def test_counts_along_a_spring_and_in_space_are_those_of_single_arms(arm, hertz, address, limits):
    band = 2 * np.pi * hertz[0], 2 * np.pi * hertz[1]
    found = jm.resonance_free(arm, *band, address, 2, 3, values=(0.2, 1.5), limits=limits)
    assert found.certified
    assert np.isfinite(found.border).any()
    values = np.linspace(*limits, 4)
    for angle, row in zip(found.across_angle, found.on_grid(values), strict=True):
        for value, number in zip(values, row, strict=True):
            there = {address: float(value), "link2.joint_angle": float(angle)}
            low, high = (
                int(n) for n in jm.count_below(jm.set_parameters(arm, there), np.array(band))
            )
            assert high - low == number


def test_a_map_of_one_row_says_which_values_to_avoid():
    two = jm.Arm(THREE.links[:1])
    found = jm.resonance_free(two, 60.0, 90.0, "payload.mass", limits=(0.0, 100.0))
    assert found.border.shape[0] == 1
    assert "avoid, of payload.mass" in str(found)


@pytest.mark.parametrize(("low", "high"), [(0.0, np.inf), (0.2, 5.0)])
def test_zeros_of_polynomials_over_many_powers_of_ten(low, high):
    """Of (x - a)(x - b)(x - c), each within the span, or not."""
    roots = np.array([[1e-3, 1.0, 1e4], [0.5, 2.0, 3.0], [-1.0, 0.3, 1e6]])
    span = value_zeros.Span(low, high, 1.0)
    x = span.coordinate(value_zeros.places(3))
    values = np.prod(x[None, :, None] - roots[:, None, :], axis=2)
    found, crossing = value_zeros.zeros(value_zeros.through(values), span)
    for row, own in zip(np.where(crossing, found, np.nan), roots, strict=True):
        expected = own[(own > low) & (own < high)]
        assert row[np.isfinite(row)] == pytest.approx(expected, rel=1e-9, abs=0.0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"joint": "link2.length"}, "joint = 'link2.length': expected the number of a joint"),
        ({"joint": "link*.length"}, "expected the number of a joint"),
        ({"joint": "payload.weight"}, "joint = 'payload.weight'"),
        ({"joint": "payload.mass", "limits": (2.0, 1.0)}, "limits = .*from 0 on, in kg"),
        ({"joint": "payload.mass", "limits": (-1.0, 1.0)}, "limits = .*ascending"),
        ({"joint": "payload.mass", "postures": [np.nan, 0.0]}, "angle that is not finite"),
        ({"limits": (0.0, 1.0)}, "limits = .*of a value"),
    ],
)
def test_what_has_no_such_values_is_refused(changes, message):
    with pytest.raises((ValueError, jm.ArmError), match=message):
        jm.postures_at(THREE, **({"omega": 100.0} | changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"limits": (0.0, 0.33)}, "limits = .*principal moment"),
        ({"limits": (0.0, 0.3), "across": "link*.length", "values": (0.3, 0.4)}, None),
        (
            {"limits": (0.0, 0.3), "across": "payload.inertia.yy", "values": (0.1, 0.2)},
            "limits, values: with payload.inertia.xx = 0 and payload.inertia.yy = 0.1: .*moment",
        ),
        (
            {
                "joint": "link*.joint_stiffness",
                "limits": (1e4, 1e6),
                "across": "link2.joint_stiffness",
            },
            "sets link.*joint_stiffness as well",
        ),
        ({"joint": "link*.gear_ratio", "limits": (1.0, 2.0)}, "expected the number of a joint"),
    ],
)
def test_limits_of_tensors_and_of_several_values(changes, message):
    asked = {"joint": "payload.inertia.xx", "points": 2, "across": 3} | changes
    if message is None:
        assert jm.resonance_free(SIX, *BAND, **asked).certified
        return
    with pytest.raises((ValueError, jm.ArmError), match=message):
        jm.resonance_free(SIX, *BAND, **asked)


def test_values_that_need_limits_say_so():
    with pytest.raises(
        ValueError, match=r"expected the least and the largest payload\.inertia\.xx"
    ):
        jm.postures_at(SIX, 100.0, "payload.inertia.xx")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, "limits: payload.mass needs them"),
        ({"limits": (0.0, np.inf)}, "limits = .*finite, in kg"),
        (
            {"limits": (0.0, 1.0), "across": "payload.mass", "values": (0.0, 1.0)},
            "sets payload.mass as well",
        ),
    ],
)
def test_maps_that_are_none_are_refused(changes, message):
    with pytest.raises((ValueError, jm.ArmError), match=message):
        jm.resonance_free(THREE, *BAND, joint="payload.mass", **changes)


def test_commands_find_values():
    asked = ["example:three_link_industrial", "--posture-deg", "40,-60"]
    run = run_command(
        "postures", *asked, "--frequency", "30", "--joint", "payload.mass", "--format", "json"
    )
    assert run.exit_code == 0, run.output
    rows = json.loads(run.output)
    arm = jm.examples.three_link_industrial().with_posture(np.radians([40.0, -60.0]))
    own = jm.postures_at(arm, 2 * np.pi * 30.0, "payload.mass")
    assert [row["value"] for row in rows] == np.asarray(own.value)[np.asarray(own.found)].tolist()
    inertia = ["--joint", "payload.inertia.xx"]
    asked_six = ["postures", "example:six_axis_industrial", "--frequency", "37", *inertia]
    run = run_command(*asked_six, "--range", "payload.inertia.xx=0,0.3", "--format", "json")
    assert run.exit_code == 0, run.output
    own = jm.postures_at(SIX, 2 * np.pi * 37.0, "payload.inertia.xx", limits=(0.0, 0.3))
    assert [row["value"] for row in json.loads(run.output)] == own.value[own.found].tolist()
    for more, message in (
        ([], "give them, such as --range payload.inertia.xx=0,1"),
        (["--range", "payload.mass=0,1"], "--range payload.mass: is not that of --joint"),
    ):
        run = run_command(*asked_six, *more)
        assert run.exit_code == 2
        assert message in run.output
    ranges = [
        "--joint",
        "payload.mass",
        "--range",
        "payload.mass=0,20",
        "--across",
        "2",
        "--points",
        "3",
    ]
    run = run_command("resonance-map", *asked, "--band-hz", "30,40", *ranges)
    assert run.exit_code == 0, run.output
    assert "payload.mass [kg]" in run.output
    run = run_command("resonance-map", *asked, "--band-hz", "30,40", *ranges[:2])
    assert run.exit_code == 2
    assert "give them, such as --range payload.mass=0,20" in run.output
